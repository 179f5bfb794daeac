"""How to look at the data, and what is believed about the classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..encoding.index import Index
from ..exceptions import ParameterError
from ..families import Family
from ..kernels.data import Floats


@dataclass(frozen=True)
class ClassPrior:
    """p(class): fitted (shares of the classes, smoothed by ``pseudo`` per class), uniform, or given in the order of the
    sorted classes.

    ``class_weight`` multiplies the prior of each class, "balanced" makes the fitted prior uniform. It never touches the
    counts, so the same state serves any weighting.
    """

    given: Floats | None = None
    fitted: bool = True
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None
    pseudo: float | Floats = 0.0

    def check(self, classes: Index) -> None:
        """A given prior must fit the classes."""
        if np.ndim(self.pseudo) and np.shape(self.pseudo) != (len(classes),):
            raise ParameterError(
                f"the class prior has {np.size(self.pseudo)} pseudo-counts for {len(classes)} classes "
                f"({_listed(classes)}); give one per class, in sorted order, or one for all"
            )
        if self.given is None:
            return
        if self.given.shape != (len(classes),):
            raise ParameterError(
                f"Number of priors must match number of classes: got {self.given.size} priors for {len(classes)} "
                f"classes ({_listed(classes)}); give one per class, in sorted order"
            )
        if not (self.given >= 0).all():
            raise ParameterError(f"Priors must be non-negative: got {self.given.tolist()}; give probabilities")
        if not np.isclose(self.given.sum(), 1.0):
            raise ParameterError(
                f"The sum of the priors should be 1.: got {self.given.tolist()}, which sum to {self.given.sum():g}; "
                "divide them by their sum"
            )

    def check_weights(self, classes: Index) -> None:
        """Weights that name a class that is not there, while one that is has none: most likely a slip."""
        if self.class_weight is None or isinstance(self.class_weight, str):
            return
        known = classes.labels.tolist()
        strange = [label for label in self.class_weight if label not in known]
        if strange and any(label not in self.class_weight for label in known):
            raise ParameterError(
                f"class_weight names {strange[0]!r}, which is no class of y ({_listed(classes)}); name the classes as "
                "they are in y"
            )

    def probability(self, classes: Index, rows: Floats) -> Floats:
        """p(class), class weights included. ``rows`` may be several states of the model: classes are the last axis."""
        prior = self._unweighted(classes, rows)
        if self.class_weight is None:
            return prior
        weighted = prior * self.weight(classes, rows)
        if not weighted.any(axis=-1).all():
            raise ParameterError(
                f"class_weight is {self.class_weight!r}, which leaves no class a probability above 0; give at least "
                f"one of the classes ({_listed(classes)}) a positive weight"
            )
        return np.asarray(weighted / weighted.sum(axis=-1, keepdims=True))

    def _unweighted(self, classes: Index, rows: Floats) -> Floats:
        if self.given is not None:
            self.check(classes)
            return np.broadcast_to(self.given, np.shape(rows))
        even = np.full(np.shape(rows), 1.0 / len(classes))
        if not self.fitted:
            return even
        counts = self.counts(classes, rows)
        total = counts.sum(axis=-1, keepdims=True)
        return np.asarray(np.divide(counts, total, out=even, where=total > 0))

    def counts(self, classes: Index, rows: Floats) -> Floats:
        """Rows of each class with the pseudo-counts: their shares are the fitted prior."""
        if np.ndim(self.pseudo):
            self.check(classes)
        return np.asarray(rows + self.pseudo)

    @property
    def follows_rows(self) -> bool:
        """Whether it is learned from the rows. "balanced" undoes what they say."""
        return self.given is None and self.fitted and not self.balanced

    @property
    def balanced(self) -> bool:
        """Whether the rows set the weights of the classes."""
        return isinstance(self.class_weight, str)

    def weight(self, classes: Index, rows: Floats) -> Floats:
        """The factor of each class, 1 where none is given."""
        if self.class_weight is None:
            return np.ones(len(classes))
        if isinstance(self.class_weight, str):
            present = rows > 0
            whole = rows.sum(axis=-1, keepdims=True) / np.maximum(1, present.sum(axis=-1, keepdims=True))
            return np.where(present, whole / np.where(present, rows, 1.0), 1.0)
        return np.array([float(self.class_weight.get(label, 1.0)) for label in classes.labels.tolist()])


def _listed(classes: Index) -> str:
    shown = ", ".join(map(repr, classes.labels[:5].tolist()))
    return f"{shown}, …" if len(classes) > 5 else shown


@dataclass(frozen=True)
class Plan:
    """A family for the columns and a prior for the classes."""

    family: Family
    prior: ClassPrior = ClassPrior()
    prior_in_score: bool = True  # False: scores that are not log p(x, class), where a prior has no place
    alpha: Literal["evidence", "loo"] | None = None  # how the pseudo-count is chosen; None: it is the family's
    calibrate: str | None = None
    sample_bytes: int = 0  # room for training rows per class, for what must look at rows again
    target: Floats | None = None  # p(class) where the model is used, if it is not that of the training rows

    @property
    def looks_back(self) -> bool:
        """Whether something is chosen or fitted by looking at rows again."""
        return self.calibrate is not None or self.alpha == "loo"
