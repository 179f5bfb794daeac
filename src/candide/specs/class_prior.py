"""The class prior: fitted, uniform or given, and multiplied by class weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ..data.index import Index
from ..exceptions import ParameterError
from ..kernels.layouts import Floats
from ..lazy import dataclass


@dataclass(frozen=True)
class ClassPrior:
    """p(class): fitted, uniform, or given in the order of the sorted classes or by label.

    The fitted prior is the class frequencies, smoothed by ``pseudo`` per class.

    ``class_weight`` multiplies the prior of each class, "balanced" makes the fitted prior uniform. Class weights do not
    change the counts, so they can be changed without a new fit.
    """

    given: Floats | Mapping[Any, float] | None = None
    fitted: bool = True
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None
    pseudo: float | Floats = 0.0

    def check(self, classes: Index, rows: Floats) -> None:
        """Raise an error if given probabilities or weights do not match the classes, or rule out all of them."""
        if not self.is_as_in_training or not isinstance(self.pseudo, float):
            self.probability(classes, rows)

    def _check_given(self, classes: Index) -> None:
        if np.ndim(self.pseudo) and np.shape(self.pseudo) != (len(classes),):
            raise ParameterError(
                f"the class prior has {np.size(self.pseudo)} pseudo-counts for {len(classes)} classes "
                f"({_listed(classes)}); pass one per class, in sorted order, or a single number"
            )
        if self.given is not None:
            _check_shares(_in_order(self.given, classes), classes)

    def check_weights(self, classes: Index) -> None:
        """Raise an error for weights of an unknown class if another class has none, which is most likely a mistake."""
        if self.class_weight is None or isinstance(self.class_weight, str):
            return
        known = classes.labels.tolist()
        strange = [label for label in self.class_weight if label not in known]
        if strange and any(label not in self.class_weight for label in known):
            raise ParameterError(
                f"class_weight has the key {strange[0]!r}, which is not a class of y ({_listed(classes)}); use the "
                "labels in y as keys"
            )

    def probability(self, classes: Index, rows: Floats) -> Floats:
        """Return p(class), including class weights. ``rows`` may contain several states; classes are the last axis."""
        prior = self._unweighted(classes, rows)
        if self.class_weight is None:
            return prior
        weighted = prior * self.weight(classes, rows)
        if not weighted.any(axis=-1).all():
            raise ParameterError(
                f"class_weight is {self.class_weight!r}, so every class has probability 0; give at least one of the "
                f"classes ({_listed(classes)}) a positive weight"
            )
        return np.asarray(weighted / weighted.sum(axis=-1, keepdims=True))

    def _unweighted(self, classes: Index, rows: Floats) -> Floats:
        if self.given is not None:
            self._check_given(classes)
            return np.broadcast_to(_in_order(self.given, classes), np.shape(rows))
        even = 1.0 / len(classes)
        if not self.fitted:
            return np.full(np.shape(rows), even)
        counts = self.counts(classes, rows)
        total = counts.sum(axis=-1, keepdims=True)
        known = total > 0
        if known.all():
            return np.asarray(counts / total)
        return np.where(known, counts / np.where(known, total, 1.0), even)

    def counts(self, classes: Index, rows: Floats) -> Floats:
        """Return the rows of each class plus pseudo-counts, which are proportional to the fitted prior."""
        if np.ndim(self.pseudo):
            self._check_given(classes)
        return np.asarray(rows + self.pseudo)

    @property
    def as_in_training(self) -> ClassPrior:
        """The prior fitted to the class frequencies of training, without given probabilities or weights."""
        return ClassPrior(pseudo=self.pseudo)

    @property
    def is_as_in_training(self) -> bool:
        """Whether the prior is that of ``as_in_training``."""
        return self.given is None and self.fitted and self.class_weight is None

    @property
    def follows_rows(self) -> bool:
        """Whether the prior depends on class frequencies, which "balanced" weights cancel."""
        return self.given is None and self.fitted and not self.balanced

    @property
    def balanced(self) -> bool:
        """Whether class weights are computed from class frequencies."""
        return isinstance(self.class_weight, str)

    def weight(self, classes: Index, rows: Floats) -> Floats:
        """Return the factor of each class; 1 if none is given."""
        if self.class_weight is None:
            return np.ones(len(classes))
        if isinstance(self.class_weight, str):
            counts = self.counts(classes, rows)
            present = counts > 0
            whole = counts.sum(axis=-1, keepdims=True) / np.maximum(1, present.sum(axis=-1, keepdims=True))
            return np.where(present, whole / np.where(present, counts, 1.0), 1.0)
        return np.array([float(self.class_weight.get(label, 1.0)) for label in classes.labels.tolist()])


def _in_order(given: Floats | Mapping[Any, float], classes: Index) -> Floats:
    """Return the given probabilities in the order of the classes."""
    if not isinstance(given, Mapping):
        return given
    known = classes.labels.tolist()
    if set(given) != set(known):
        raise ParameterError(f"the class prior has the keys {list(given)}; expected the classes {_listed(classes)}")
    return np.array([given[label] for label in known], dtype=np.float64)


def _check_shares(given: Floats, classes: Index) -> None:
    if given.shape != (len(classes),):
        raise ParameterError(
            f"Number of priors must match number of classes: got {given.size} priors for {len(classes)} classes "
            f"({_listed(classes)}); pass one per class, in sorted order"
        )
    if not (given >= 0).all():
        raise ParameterError(f"Priors must be non-negative: got {given.tolist()}; pass probabilities")
    if not np.isclose(given.sum(), 1.0):
        raise ParameterError(
            f"The sum of the priors should be 1. Got {given.tolist()}, which sum to {given.sum():g}; divide them by "
            "their sum"
        )


def _listed(classes: Index) -> str:
    shown = ", ".join(map(repr, classes.labels[:5].tolist()))
    return f"{shown}, …" if len(classes) > 5 else shown
