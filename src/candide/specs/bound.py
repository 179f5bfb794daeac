"""A spec resolved to the columns of a table: the family of the columns, the class prior, what is fitted on top."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Literal

import numpy as np

from ..families import Family
from ..kernels.layouts import Floats
from ..lazy_dataclass import dataclass
from ..statistics.base import Budget
from .class_prior import ClassPrior


@dataclass(frozen=True)
class BoundSpec:
    """A family for the columns, a prior for the classes, and what is fitted on rows left out."""

    family: Family
    prior: ClassPrior = ClassPrior()
    prior_in_score: bool = True  # False: scores that are not log p(x, class), where a prior has no place
    alpha: Literal["evidence", "loo"] | None = None  # how the pseudo-count is chosen; None: it is the family's
    calibrate: str | None = None
    order: int | None = None  # stacking: on how many other columns a column may depend in a view; None: no stacking
    # A regression is fitted to many rows: of texts on top of the stacked views, of tables as one more of them.
    refine: bool | Literal["auto"] = False  # "auto": if it pays
    budget: Budget | None = None  # of the training rows that are kept; None: none are
    target: Floats | None = None  # p(class) where the model is used, if it is not that of the training rows
    n_threads: int | None = None  # None: all cores

    def chooses_like(self, other: BoundSpec) -> bool:
        """Whether what is chosen and fitted by looking at rows again would be the same."""
        return _alike(self._choices, other._choices)

    @property
    def _choices(self) -> tuple[Any, ...]:
        return self.family, self.prior, self.alpha, self.calibrate, self.order, self.refine

    @property
    def looks_back(self) -> bool:
        """Whether something is chosen or fitted by looking at rows again."""
        return self.corrects or self.alpha == "loo"

    @property
    def corrects(self) -> bool:
        """Return whether scores are corrected with weights or a calibration fitted on left-out rows."""
        return self.calibrate is not None or self.order is not None


def _alike(a: Any, b: Any) -> bool:
    """Return whether settings that may contain arrays are equal."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    if type(a) is type(b) and is_dataclass(a):
        return all(_alike(getattr(a, field.name), getattr(b, field.name)) for field in fields(a))
    if type(a) is type(b) and isinstance(a, tuple):
        return len(a) == len(b) and all(map(_alike, a, b))
    return bool(a == b)
