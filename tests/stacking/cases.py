"""Rows for views: codes that depend on each other, some missing or unseen, with numbers, classes and weights."""

from __future__ import annotations

import numpy as np

from candide.kernels.layouts import Array, Floats
from candide.stacking.views import BinnedRows, LabeledRows

# Codes of each column, besides missing and unseen.
SIZES = np.array([4, 2, 7, 3, 5])
KINDS = {
    "plain": {},
    "weights": {"weighted": True},
    "copies": {"weighted": True, "copies": True},
    "many classes": {"n_classes": 7},
    "a class of one row": {"lonely": True},
    "one class": {"n_classes": 1},
}


def make_cases(
    n_rows: int = 40, n_classes: int = 3, *, weighted: bool = False, copies: bool = False, lonely: bool = False
) -> LabeledRows:
    """Rows whose last class may have one row alone; with copies, only a part of a row's weight leaves."""
    rng = np.random.default_rng(n_rows + n_classes)
    classes = rng.integers(0, n_classes - lonely, n_rows).astype(np.int32)
    if lonely:
        classes[n_rows // 2] = n_classes - 1
    codes = (rng.integers(0, SIZES, (n_rows, len(SIZES))) + classes[:, None]) % SIZES
    codes[:, 1] = (codes[:, 0] + codes[:, 2]) % 2
    codes = np.where(rng.random(codes.shape) < 0.1, SIZES, codes)
    numbers = rng.normal(size=(n_rows, 3)) @ rng.normal(size=(3, 3)) + classes[:, None]
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    weight = rng.uniform(0.2, 3.0, n_rows) if weighted else np.ones(n_rows)
    case_weight = weight * rng.integers(1, 4, n_rows) if copies else weight
    return LabeledRows(BinnedRows(codes.astype(np.int32), numbers), classes, case_weight, weight)


def unseen_rows() -> BinnedRows:
    """Rows with codes that no case has."""
    codes = np.tile(SIZES + 1, (3, 1))
    codes[1:, 0] = 0
    codes[2:, 2] = 3
    return BinnedRows(codes.astype(np.int32), np.full((3, 3), np.nan))


def log_prior(cases: LabeledRows, n_classes: int) -> Floats:
    count = np.bincount(cases.classes, cases.case_weight, minlength=n_classes)
    return np.log((count + 1) / (count.sum() + n_classes))


def without(cases: LabeledRows, row: int) -> LabeledRows:
    """The cases with one copy of a row taken out."""
    case_weight = cases.case_weight.copy()
    case_weight[row] = max(case_weight[row] - cases.weight[row], 0.0)
    return cases._replace(case_weight=case_weight)


def identity_maps() -> list[Array]:
    return [np.arange(size + 2) for size in SIZES]
