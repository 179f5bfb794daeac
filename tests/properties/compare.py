"""When two statistics are alike: counts exactly, moments to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.kernels.layouts import Array
from candide.statistics import BlockMoments, CategoryCounts, Counts, Grid, Moments, Sample
from candide.statistics.hashing import row_hashes

# Rounding of means and scatters of numbers of about unit size.
ROUNDING = 1e-9


def dense(values: Any, shape: tuple[int, ...]) -> Array:
    """A table that may be sparse, or None where all is 0, as an array."""
    if values is None:
        return np.zeros(shape)
    return values if isinstance(values, np.ndarray) else values.toarray()


def assert_alike(a: Any, b: Any, *, scale: float = 1.0, rtol: float = 0.0) -> None:
    """Both statistics say the same. ``rtol`` loosens counts, for weights that are not whole."""
    assert type(a) is type(b)
    np.testing.assert_allclose(a.rows, b.rows, rtol=rtol)
    judges = {
        Counts: _counts, CategoryCounts: _categories, Moments: _moments, BlockMoments: _moments, Sample: _samples,
        Grid: _grids,
    }  # fmt: skip
    judges[type(a)](a, b, scale, rtol)


def _counts(a: Counts, b: Counts, scale: float, rtol: float) -> None:
    np.testing.assert_allclose(a.dense(), b.dense(), rtol=rtol)
    np.testing.assert_allclose(dense(a.missing, a.total.shape), dense(b.missing, b.total.shape), rtol=rtol)


def _categories(a: CategoryCounts, b: CategoryCounts, scale: float, rtol: float) -> None:
    assert [labels.tolist() for labels in a.labels] == [labels.tolist() for labels in b.labels]
    assert [labels.dtype.kind for labels in a.labels] == [labels.dtype.kind for labels in b.labels]
    np.testing.assert_allclose(a.count, b.count, rtol=rtol)


def _moments(a: Any, b: Any, scale: float, rtol: float) -> None:
    np.testing.assert_allclose(a.weight, b.weight, rtol=rtol)
    seen = a.weight > 0
    np.testing.assert_allclose(a.mean[seen], b.mean[seen], rtol=0, atol=ROUNDING * scale)
    np.testing.assert_allclose(a.scatter[seen], b.scatter[seen], rtol=ROUNDING, atol=ROUNDING * scale**2)


def _samples(a: Sample, b: Sample, scale: float, rtol: float) -> None:
    np.testing.assert_array_equal(a.threshold, b.threshold)
    np.testing.assert_array_equal(a.classes, b.classes)
    np.testing.assert_array_equal(a.multiplicity, b.multiplicity)
    np.testing.assert_allclose(a.weight, b.weight, rtol=rtol)
    # Equal hashes are equal rows; sparse storage stays after dense rows alone are left.
    np.testing.assert_array_equal(row_hashes(a.data), row_hashes(b.data))


def _grids(a: Grid, b: Grid, scale: float, rtol: float) -> None:
    for part in ("offsets", "key", "shift"):
        np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
    for part in ("indptr", "indices"):
        np.testing.assert_array_equal(getattr(a.count, part), getattr(b.count, part))
    np.testing.assert_allclose(a.count.data, b.count.data, rtol=rtol)
