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
    """p(class): fitted (shares of the classes), uniform, or given in the order of the sorted classes.

    ``class_weight`` multiplies the prior of each class, "balanced" makes the fitted prior uniform. It never touches the
    counts, so the same state serves any weighting.
    """

    given: Floats | None = None
    fitted: bool = True
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None

    def check(self, classes: Index) -> None:
        """A given prior must fit the classes."""
        if self.given is None:
            return
        if self.given.shape != (len(classes),):
            raise ParameterError(
                f"Number of priors must match number of classes: got {self.given.size} priors for {len(classes)} "
                f"classes ({', '.join(map(repr, classes.labels[:5].tolist()))} …); give one per class, in sorted order"
            )
        if not (self.given >= 0).all():
            raise ParameterError(f"Priors must be non-negative: got {self.given.tolist()}")
        if not np.isclose(self.given.sum(), 1.0):
            raise ParameterError(f"The sum of the priors should be 1.: got {self.given.tolist()}, which sum to "
                                 f"{self.given.sum():g}; divide them by their sum")  # fmt: skip

    def probability(self, classes: Index, rows: Floats) -> Floats:
        """p(class), before any class weight."""
        if self.given is not None:
            self.check(classes)
            return self.given
        total = rows.sum()
        if not self.fitted or total <= 0:
            return np.full(len(classes), 1.0 / len(classes))
        return rows / total

    def log_weight(self, classes: Index, rows: Floats) -> Floats:
        """log of the class weights, 0 where there are none."""
        if self.class_weight is None:
            return np.zeros(len(classes))
        if isinstance(self.class_weight, str):
            present = rows > 0
            return np.where(present, np.log(rows.sum() / np.where(present, rows, 1.0) / max(1, present.sum())), 0.0)
        table = {label: self.class_weight[label] for label in classes.labels.tolist() if label in self.class_weight}
        with np.errstate(divide="ignore"):
            return np.log([float(table.get(label, 1.0)) for label in classes.labels.tolist()])


@dataclass(frozen=True)
class Plan:
    """A family for the columns and a prior for the classes."""

    family: Family
    prior: ClassPrior = ClassPrior()
    prior_in_score: bool = True  # False: scores that are not log p(x, class), where a prior has no place
