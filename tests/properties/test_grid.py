"""Grids add: in any order, in any parts, whatever the columns hold and however their cells had to pair up."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import tries

from candide.exceptions import ForgetError
from candide.kernels import Kernels
from candide.kernels.counting import Cells, merge_cells
from candide.kernels.layouts import Array, Dense, Floats
from candide.statistics import Grid

from .compare import assert_alike
from .test_kernel_grid import shapes

N_ROWS, N_CLASSES = 6000, 3
SEEDS = st.integers(0, 10**6)
some = tries(12)


class Rows:
    """Columns of many shapes, long enough for binades to fill, dealt out in parts."""

    def __init__(self, seed: int, weights: str = "whole") -> None:
        self.rng = np.random.default_rng(seed)
        self.X = shapes(self.rng, N_ROWS)
        self.classes = self.rng.integers(0, N_CLASSES, N_ROWS).astype(np.int32)
        whole = self.rng.integers(0, 4, N_ROWS).astype(np.float64)
        self.weight = whole if weights == "whole" else self.rng.random(N_ROWS)

    def grid(self, rows: Array | slice = slice(None)) -> Grid:
        return Grid.observe(Dense.of(self.X[rows]), self.classes[rows], self.weight[rows], N_CLASSES, Kernels(1))

    def parts(self, n: int) -> list[Array]:
        """Of unlike sizes, in any order, some perhaps of one end of the columns only."""
        order = self.rng.permutation(N_ROWS) if self.rng.random() < 0.5 else np.argsort(self.X[:, 0])
        return [order[place] for place in np.split(np.arange(N_ROWS), np.sort(self.rng.integers(0, N_ROWS, n - 1)))]


def assert_rest(left: Grid, rest: Grid, whole: Grid) -> None:
    """``left`` holds what ``rest`` holds, in those cells of ``whole`` that are not empty then."""
    for j in range(whole.n_columns):
        cells, theirs, mine = whole.column(j), rest.column(j), left.column(j)
        count = np.zeros((len(cells.low), N_CLASSES))
        np.add.at(count, np.searchsorted(cells.low, theirs.low, side="right") - 1, theirs.count)
        kept = count.any(axis=1)
        np.testing.assert_array_equal(mine.low, cells.low[kept])
        np.testing.assert_array_equal(mine.high, cells.high[kept])
        np.testing.assert_array_equal(mine.count, count[kept])


@some
@given(seed=SEEDS, n=st.integers(1, 5))
def test_parts_in_any_order_are_the_whole(seed: int, n: int) -> None:
    """Bit for bit, with whole weights; some binades have paired up."""
    rows = Rows(seed)
    grids = [rows.grid(part) for part in rows.parts(n)]
    whole = rows.grid()
    assert len({*whole.shift.tolist()}) > 2
    assert_alike(reduce(Grid.merge, grids), whole)
    assert_alike(reduce(Grid.merge, grids[::-1]), whole)
    # As a tree: (1 + 2) + (3 + 4) + …
    pairs = [reduce(Grid.merge, grids[i : i + 2]) for i in range(0, n, 2)]
    assert_alike(reduce(lambda a, b: b.merge(a), pairs), whole)


@some
@given(seed=SEEDS)
def test_fractions_add_up_to_rounding(seed: int) -> None:
    rows = Rows(seed, "fraction")
    assert_alike(reduce(Grid.merge, [rows.grid(part) for part in rows.parts(4)]), rows.grid(), rtol=1e-12)


@some
@given(seed=SEEDS, factor=st.sampled_from([1.0, 0.5, 0.125]))
def test_forgetting_leaves_the_counts_of_the_rest(seed: int, factor: float) -> None:
    """The shifts stay: what is left is the rest with its cells paired up as they were in the whole."""
    rows = Rows(seed)
    first, second = rows.parts(2)
    a, b = rows.grid(first).discount(factor), rows.grid(second).discount(factor)
    whole = a.merge(b)
    left = whole.forget(b)
    assert_rest(left, a, whole)
    np.testing.assert_array_equal(left.observed(), a.observed())
    np.testing.assert_array_equal(left.rows, a.rows)


@some
@given(seed=SEEDS)
def test_forgotten_fractions_leave_no_trace(seed: int) -> None:
    """What rounding leaves in a cell is no weight."""
    rows = Rows(seed, "fraction")
    first, second = rows.parts(2)
    a, b = rows.grid(first), rows.grid(second)
    left = a.merge(b).forget(b)
    np.testing.assert_allclose(left.observed(), a.observed(), rtol=1e-10)
    assert not len(a.merge(b).forget(b).forget(left).key)


@some
@given(seed=SEEDS)
def test_all_forgotten_is_as_new(seed: int) -> None:
    """Not even a shift is left."""
    rows = Rows(seed)
    first, second = rows.parts(2)
    a, b = rows.grid(first), rows.grid(second)
    assert_alike(a.merge(b).forget(a).forget(b).merge(a), a)


@some
@given(seed=SEEDS)
def test_cells_know_their_rows(seed: int) -> None:
    """The weight of each cell and class is that of the rows between its bounds."""
    rows = Rows(seed)
    grid = reduce(Grid.merge, [rows.grid(part) for part in rows.parts(3)])
    for j, column in enumerate(rows.X.T):
        cells = grid.column(j)
        seen = np.flatnonzero(~np.isnan(column) & (rows.weight > 0))
        place = np.searchsorted(cells.low, column[seen], side="right") - 1
        assert (column[seen] <= cells.high[place]).all()
        count: Floats = np.zeros_like(cells.count)
        np.add.at(count, (place, rows.classes[seen]), rows.weight[seen])
        np.testing.assert_array_equal(cells.count, count)
        np.testing.assert_array_equal(grid.observed()[:, j], count.sum(axis=0))


@some
@given(seed=SEEDS, keep=st.sampled_from([None, 3, 100]))
def test_pairing_twice_is_pairing_once(seed: int, keep: int | None) -> None:
    """Cells that keep to the limit stay as they are."""
    rng = np.random.default_rng(seed)
    key = np.sort(rng.integers(1 << 62, (1 << 62) + (1 << 54), 2000).astype(np.uint64))
    cells = Cells(np.zeros(len(key), dtype=np.int64), key, np.zeros(len(key), dtype=np.uint8))
    once, place = merge_cells(cells, keep)
    again, same = merge_cells(once, keep)
    np.testing.assert_array_equal(once.key, again.key)
    np.testing.assert_array_equal(once.shift, again.shift)
    np.testing.assert_array_equal(same, np.arange(len(once.key)))
    wide = once.shift[place].astype(np.uint64)
    np.testing.assert_array_equal(key >> wide, once.key[place] >> wide)


@some
@given(seed=SEEDS)
def test_what_was_never_learned_is_refused(seed: int) -> None:
    """A number that nobody saw, one too many of a cell, or of another class."""
    rows = Rows(seed)
    grid = rows.grid()
    for strange in (rows.grid().merge(rows.grid()), rows.grid().reindex(np.array([1, 2, 0]), N_CLASSES)):
        with pytest.raises(ForgetError, match="not in the training data"):
            grid.forget(strange)
    rows.X[0], rows.weight[0] = 123.456, 1.0
    with pytest.raises(ForgetError, match="not in the training data"):
        grid.forget(rows.grid(slice(0, 1)))
