"""Kernels kernels that learn do what their reference says: counts exactly, sums to rounding, in every layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import ReferenceKernels
from tiers import every, tries

from candide.kernels import Kernels
from candide.kernels.layouts import Dense

from .compare import dense
from .layouts import DENSE, DTYPES, LAYOUTS, Problem, problems

NATIVE, REFERENCE = Kernels(2), ReferenceKernels()
TOLERANCE = 1e-12  # of sums, relative to the sum of magnitudes

dense_layouts = pytest.mark.parametrize("layout", DENSE)
few = tries(15)


def assert_same_tally(got: Any, meant: Any, atol: float) -> None:
    """Totals, missing weights and findings agree."""
    shape = meant.total.shape
    np.testing.assert_allclose(dense(got.total, shape), meant.total, rtol=0, atol=atol)
    np.testing.assert_allclose(dense(got.missing, shape), dense(meant.missing, shape), rtol=0, atol=atol)
    assert (got.missing is None, got.infinite) == (meant.missing is None, meant.infinite)


@pytest.mark.parametrize("threshold", [None, 0.0, 2.5])
@few
@given(problem=problems(["none", "whole"]))
@every("layout", LAYOUTS)
def test_whole_tallies_are_exact(layout: str, threshold: float | None, problem: Problem) -> None:
    """Sums of whole cells with whole weights."""
    data = LAYOUTS[layout](problem.X)
    got, meant = (k.tally(data, *problem.groups, threshold) for k in (NATIVE, REFERENCE))
    assert_same_tally(got, meant, atol=0)


@few
@given(problem=problems(["none", "fraction"], low=-2))
@every("layout", LAYOUTS)
def test_tallies_agree_to_rounding(layout: str, problem: Problem) -> None:
    """Sums of cells of either sign with weights that are not whole; negative cells are reported."""
    data = LAYOUTS[layout](problem.X)
    got, meant = (k.tally(data, *problem.groups, None) for k in (NATIVE, REFERENCE))
    assert_same_tally(got, meant, atol=TOLERANCE * 6 * len(problem.X))
    assert got.negative == meant.negative


@pytest.mark.parametrize("offset", [0.0, 100.0])
@few
@given(problem=problems(["none", "whole", "fraction"], low=-2))
@every("layout", LAYOUTS)
def test_moments_agree_to_rounding(layout: str, offset: float, problem: Problem) -> None:
    """Weights exactly where they are whole; means and scatters to rounding."""
    data = LAYOUTS[layout](problem.X + offset)
    got, meant = (k.moments(data, *problem.groups) for k in (NATIVE, REFERENCE))
    np.testing.assert_allclose(got.weight, meant.weight, rtol=TOLERANCE, atol=TOLERANCE)
    known = meant.weight > 1e-9
    scale = (1 + offset) * len(problem.X)
    np.testing.assert_allclose(got.mean[known], meant.mean[known], rtol=TOLERANCE, atol=TOLERANCE * scale)
    np.testing.assert_allclose(got.scatter, meant.scatter, rtol=1e-11, atol=TOLERANCE * scale**2)


@dense_layouts
@few
@given(problem=problems(["none", "whole"]), room=st.integers(0, 3))
def test_codes_are_counted_exactly(layout: str, problem: Problem, room: int) -> None:
    """Codes that are missing (NaN or below 0) count nowhere; slots may be left empty."""
    codes = DENSE[layout](np.where(problem.X == 5, -1.0, problem.X) if "u" not in layout else problem.X)
    offsets = np.arange(problem.X.shape[1] + 1, dtype=np.int64) * (6 + room)
    got, meant = (k.count_codes(codes, *problem.groups, offsets) for k in (NATIVE, REFERENCE))
    np.testing.assert_array_equal(got, meant)


@dense_layouts
@few
@given(problem=problems(["none"], low=-3))
def test_scans_agree(layout: str, problem: Problem) -> None:
    """Lowest and highest whole value, number of holes, first fraction, infinity and huge value of each column."""
    data = DENSE[layout](problem.X)
    assert NATIVE.scan(data) == REFERENCE.scan(data)


@dense_layouts
@few
@given(problem=problems(["none"], low=-3))
def test_hashes_agree(layout: str, problem: Problem) -> None:
    """Those of rows with holes and with both zeros, in whatever type and order they lie."""
    data = DENSE[layout](np.where(problem.X == 1, -0.0, problem.X))
    keys = np.random.default_rng(0).integers(0, 1 << 63, data.n_columns, dtype=np.uint64)
    got = NATIVE.hash_rows(data, keys)
    np.testing.assert_array_equal(got, REFERENCE.hash_rows(data, keys))
    np.testing.assert_array_equal(got, NATIVE.hash_rows(Dense.of(data.floats()), keys))


@given(
    values=st.lists(st.sampled_from([0.0, -1.0, 7.0, 0.5, -2.25, np.nan, np.inf, -np.inf, 2.0**53, 2.0**60, -1e300]))
)
def test_scans_agree_on_odd_values(values: list[float]) -> None:
    """Fractions, infinities and numbers too large to be codes, wherever they stand."""
    data = Dense.of(np.array([values, values[::-1]], dtype=np.float64).T)
    assert NATIVE.scan(data) == REFERENCE.scan(data)


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype[0] != "f"])
@pytest.mark.parametrize("step", [1, 2, -1])
@few
@given(seed=st.integers(0, 10**6), n=st.integers(1, 200), span=st.sampled_from([2, 3, 100, 10**6, 2**62]))
def test_labels_are_encoded_alike(dtype: str, step: int, seed: int, n: int, span: int) -> None:
    """Distinct labels in order and the position of each row's label; None means the caller must sort."""
    low, high = (0, 1) if dtype == "?" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    rng = np.random.default_rng(seed)
    values = np.array(rng.integers(max(low, -span), min(high, span), n, endpoint=True), dtype=dtype)[::step]
    got = NATIVE.encode_labels(values)
    if got is None:
        assert span > 100  # wide labels may be left to a sort
        return
    meant = REFERENCE.encode_labels(values)
    assert meant is not None
    np.testing.assert_array_equal(got[0], meant[0])
    np.testing.assert_array_equal(got[1], meant[1])
