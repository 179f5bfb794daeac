"""Grids and codes: native kernels do what their reference says, which does what a count by hand says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import ReferenceKernels
from tiers import every, tries

from candide.exceptions import InputError
from candide.kernels import Kernels
from candide.kernels.counting import GridTable, cell_bounds, keys_of
from candide.kernels.layouts import Array, Dense, Floats

from .layouts import DENSE, Problem, problem, problems

NATIVE, REFERENCE = Kernels(2), ReferenceKernels()
dense_layouts = pytest.mark.parametrize("layout", DENSE)
few = tries(15)
LIMITS = st.sampled_from([1, 2, 3, 7, 16, 1024])

ODD = [0.0, -0.0, 5e-324, -5e-324, 1e-310, -1e-310, 2.3e-308, 1.0, -1.0, 1e300, -1.7e308, np.nan, 1 + 2**-52, 3.5]


def assert_same(got: GridTable, meant: GridTable, rtol: float = 0.0) -> None:
    """The same cells, and the same weights in them."""
    for name in ("offsets", "key", "shift"):
        np.testing.assert_array_equal(getattr(got, name), getattr(meant, name))
    assert got.weight.shape == meant.weight.shape
    np.testing.assert_array_equal(got.weight.indptr, meant.weight.indptr)
    np.testing.assert_array_equal(got.weight.indices, meant.weight.indices)
    np.testing.assert_allclose(got.weight.data, meant.weight.data, rtol=rtol)


def by_hand(values: Floats, limit: int) -> list[tuple[int, int]]:
    """Cells of one column and their shifts: shift by shift, binade by binade."""
    cells = []
    keys = {int(key) for key in keys_of(values[~np.isnan(values)])}
    for binade in sorted({key >> 52 for key in keys}):
        inside, shift = {key for key in keys if key >> 52 == binade}, 0
        while len({key >> shift for key in inside}) > limit:
            shift += 1
        cells += [(cell << shift, shift) for cell in sorted({key >> shift for key in inside})]
    return cells


@dense_layouts
@few
@given(made=problems(["none", "whole"], low=-3), limit=LIMITS)
def test_grids_agree_exactly(layout: str, made: Problem, limit: int) -> None:
    """In every layout and type, with whole weights."""
    data = DENSE[layout](made.X * (1.0 if "u" in layout else 1.3))
    assert_same(NATIVE.grid(data, *made.groups, limit), REFERENCE.grid(data, *made.groups, limit))


@few
@given(made=problems(["fraction"], low=-3), limit=LIMITS)
def test_weights_agree_to_rounding(made: Problem, limit: int) -> None:
    data = Dense.of(made.X * 1.1)
    assert_same(NATIVE.grid(data, *made.groups, limit), REFERENCE.grid(data, *made.groups, limit), 1e-12)


@given(values=st.lists(st.sampled_from(ODD) | st.floats(allow_infinity=False), min_size=1), limit=LIMITS)
@pytest.mark.parametrize("kernels", [NATIVE, REFERENCE], ids=["native", "reference"])
def test_shifts_are_the_smallest_that_do(kernels: Kernels, values: list[float], limit: int) -> None:
    """Zero of either sign, subnormal and huge numbers, and whatever else a double can be."""
    x = np.array(values)
    table = kernels.grid(Dense.of(x[:, None]), np.zeros(len(x), dtype=np.int32), None, 1, limit)
    assert list(zip(table.key.tolist(), table.shift.tolist(), strict=True)) == by_hand(x, limit)
    assert table.weight.sum() == (~np.isnan(x)).sum()


@given(values=st.lists(st.sampled_from(ODD) | st.floats(allow_infinity=False), min_size=1), limit=LIMITS)
def test_bounds_contain_what_was_put_there(values: list[float], limit: int) -> None:
    """Every number lies within the bounds of one cell, whose weight is the number of those."""
    x = np.array(values)
    table = NATIVE.grid(Dense.of(x[:, None]), np.zeros(len(x), dtype=np.int32), None, 1, limit)
    low, high = cell_bounds(table.key, table.shift)
    assert (low <= high).all()
    assert (high[:-1] < low[1:]).all()
    inside = (low <= x[:, None]) & (x[:, None] <= high)
    np.testing.assert_array_equal(inside.sum(axis=1), ~np.isnan(x))
    np.testing.assert_array_equal(inside.sum(axis=0), table.weight.toarray()[:, 0])


def shapes(rng: np.random.Generator, n: int) -> Floats:
    """Continuous, offset, heavy-tailed, clustered, whole, constant and missing columns."""
    normal = rng.normal(size=n)
    clusters = np.where(rng.random(n) < 0.5, 1e-12, 1e12) * (1 + normal * 1e-3)
    columns = [normal, 1e9 + normal, rng.standard_cauchy(n), clusters, rng.integers(0, 3000, n), normal * 0 + 7]
    return np.column_stack([*columns, np.where(rng.random(n) < 0.3, np.nan, normal), np.full(n, np.nan)])


@pytest.mark.parametrize("n_classes", [1, 2, 16, 17, 500])
@pytest.mark.parametrize("limit", [5, 1024])
def test_large_grids_agree(n_classes: int, limit: int) -> None:
    """Enough numbers for binades to fill, with few classes and many."""
    made = problem(1, 40_000, 1, n_classes, "whole")
    data = Dense.of(shapes(made.rng, 40_000))
    assert_same(NATIVE.grid(data, *made.groups, limit), REFERENCE.grid(data, *made.groups, limit))


@pytest.mark.parametrize("n_classes", [2, 40])
def test_grids_do_not_depend_on_threads(n_classes: int) -> None:
    """Rows enough for shards, and weights whose sums round differently in every order."""
    made = problem(2, 300_000, 1, n_classes, "fraction")
    for data in (Dense.of(made.rng.normal(size=(300_000, 2))), Dense.of(made.rng.random((300_000, 1)) + 3)):
        alone = Kernels(1).grid(data, *made.groups, 1024)
        for n_threads in (2, 3, 7):
            assert_same(Kernels(n_threads).grid(data, *made.groups, 1024), alone)
        assert_same(REFERENCE.grid(data, *made.groups, 1024), alone, 1e-12)


def cuts_of(rng: np.random.Generator, n_columns: int) -> list[Floats]:
    """None, few and many, some of them equal to cells."""
    return [np.unique(rng.integers(-8, 16, rng.integers(0, 40)) / 2) for _ in range(n_columns)]


@dense_layouts
@few
@given(made=problems(["none"], low=-3))
def test_codes_agree(layout: str, made: Problem) -> None:
    """How many cuts are at most the cell."""
    data, cuts = DENSE[layout](made.X), cuts_of(made.rng, made.X.shape[1])
    got, meant = (kernels.cell_codes(data, cuts) for kernels in (NATIVE, REFERENCE))
    assert got.dtype == meant.dtype == np.int32
    assert got.flags.c_contiguous
    assert meant.flags.c_contiguous
    np.testing.assert_array_equal(got, meant)


@pytest.mark.parametrize("n_cuts", [0, 1, 2, 3, 7, 8, 63, 64, 1000])
def test_codes_of_odd_numbers(n_cuts: int) -> None:
    """Numbers of every size against cuts between them; zeros of either sign are equal."""
    x = np.concatenate([ODD, np.random.default_rng(n_cuts).standard_cauchy(200)])
    cuts = np.sort(np.random.default_rng(n_cuts + 1).choice(x[~np.isnan(x)], n_cuts))
    codes = NATIVE.cell_codes(Dense.of((x,)), [cuts])[:, 0]
    assert codes.tolist() == [-1 if np.isnan(value) else int((cuts <= value).sum()) for value in x]


def calls() -> dict[str, Any]:
    return {
        "grid": lambda kernels, data: kernels.grid(data, np.zeros(data.n_rows, dtype=np.int32), None, 1, 4),
        "codes": lambda kernels, data: kernels.cell_codes(data, [np.zeros(1)] * data.n_columns),
    }


@pytest.mark.parametrize("call", calls())
@every("kernels", [NATIVE, REFERENCE])
@every("infinity", [np.inf, -np.inf])
@every("dtype", ["f8", "f4"])
def test_infinities_are_refused_with_their_place(call: str, kernels: Kernels, infinity: float, dtype: str) -> None:
    X: Array = np.zeros((3, 2), dtype=dtype)
    X[2, 1] = infinity
    with pytest.raises(InputError, match="column 1 is infinite at row 2"):
        calls()[call](kernels, Dense.of(X))


def test_many_infinities_and_many_classes() -> None:
    """Rows that are looked at twice are refused as others are."""
    X = np.full((5000, 1), np.inf)
    X[0] = 1.0
    with pytest.raises(InputError, match="infinite at row 1;"):
        NATIVE.grid(Dense.of(X), np.arange(5000, dtype=np.int32), None, 5000, 1024)
