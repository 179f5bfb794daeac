"""What a grid promises about single columns, single rows, and the odd ends of the doubles."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from storage.storing import decoded
from tiers import every

from candide.exceptions import ForgetError
from candide.kernels import Kernels
from candide.kernels.layouts import Array, Dense, Floats
from candide.statistics import Grid
from candide.statistics.base import Statistics


def observe(X: Array, classes: list[int] | Array | None = None, weight: Floats | None = None, n: int = 1) -> Grid:
    """One or more columns."""
    X = X if X.ndim == 2 else X[:, None]
    positions = np.zeros(len(X), dtype=np.int32) if classes is None else np.asarray(classes, dtype=np.int32)
    return Grid.observe(Dense.of(X), positions, weight, n, Kernels(1))


def test_a_grid_is_a_statistic() -> None:
    assert isinstance(observe(np.ones(1)), Statistics)


def test_few_numbers_stay_what_they_are() -> None:
    """A thousand values in a binade are a thousand cells of one number each."""
    x = 1 + np.arange(1000) / 1024
    cells = observe(np.repeat(x, 3)).column(0)
    np.testing.assert_array_equal(cells.low, x)
    np.testing.assert_array_equal(cells.high, x)
    np.testing.assert_array_equal(cells.count, np.full((1000, 1), 3.0))


def test_zero_has_no_sign() -> None:
    assert observe(np.array([0.0, -0.0])).column(0).low.tolist() == [0.0]
    assert not np.signbit(observe(np.array([-0.0])).column(0).low).any()


def test_zero_is_in_no_cell_below_it() -> None:
    """Not even in that of the subnormal numbers next to it."""
    tiny = -np.arange(1, 5000) * 5e-324
    cells = observe(tiny).column(0)
    assert len(cells.low) <= 1024
    assert cells.high[-1] == -5e-324


@every("offset", [0.0, 1e9, -1e9])
@every("scale", [1.0, 1e-290, 1e290])
def test_resolution_follows_the_column(offset: float, scale: float) -> None:
    """Where numbers are dense, cells hold no more than a few thousandths of them."""
    x = (offset + np.random.default_rng(0).normal(size=50_000)) * scale
    cells = observe(x).column(0)
    assert (cells.high - cells.low).max() <= np.ptp(x) / 100
    assert cells.count.max() <= 0.01 * len(x)


def test_two_clusters_are_both_resolved() -> None:
    """Nine orders of magnitude apart: each has the cells of its own binade."""
    rng = np.random.default_rng(1)
    x = np.concatenate([1.5 + rng.random(5000) * 1e-3, 1.5e9 + rng.random(5000)])
    cells = observe(x).column(0)
    for part in (cells.low < 2, cells.low > 2):
        assert 500 < part.sum() <= 1024


def test_nothing_but_holes() -> None:
    """A column may be empty; so may the table."""
    grid = observe(np.full((5, 2), np.nan))
    assert grid.n_columns == 2
    assert grid.column(1).count.shape == (0, 1)
    assert grid.observed().tolist() == [[0.0, 0.0]]
    assert grid.merge(grid).forget(grid).rows.tolist() == [5.0]
    assert observe(np.zeros((0, 3))).n_columns == 3


def test_rows_without_weight_occupy_nothing() -> None:
    grid = observe(np.array([1.0, 2.0]), weight=np.array([0.0, 2.0]))
    assert grid.column(0).low.tolist() == [2.0]


def test_many_classes_take_no_more_room_than_rows() -> None:
    """Ten thousand classes: only what was seen is kept."""
    rng = np.random.default_rng(2)
    classes = rng.integers(0, 10_000, 30_000)
    grid = observe(rng.normal(size=(30_000, 3)), classes, n=10_000)
    assert grid.count.nnz <= 90_000
    doubled = grid.merge(grid)
    np.testing.assert_array_equal(doubled.observed(), 2 * np.bincount(classes, minlength=10_000)[:, None].repeat(3, 1))
    assert doubled.count.nnz == grid.count.nnz


@every("dtype", ["f4", "i8", "i1", "u2", "?"])
def test_types_are_read_as_they_are(dtype: str) -> None:
    """The same cells as those of the numbers as doubles."""
    x = np.random.default_rng(3).normal(size=300).astype(dtype) if dtype == "f4" else np.arange(300).astype(dtype)
    for part in ("key", "shift"):
        np.testing.assert_array_equal(getattr(observe(x), part), getattr(observe(x.astype(np.float64)), part))


def test_views_and_locked_arrays_are_read_in_place() -> None:
    room = np.random.default_rng(4).normal(size=(40, 6))
    room.flags.writeable = False
    for view in (room[::3, ::2], room[::-1, 1::3], room.T[:5, ::-1]):
        got, meant = observe(view), observe(np.ascontiguousarray(view))
        np.testing.assert_array_equal(got.key, meant.key)


def test_columns_can_stand_alone() -> None:
    """As in the whole, and classes may be taken more than once or together."""
    X = np.array([[1.0, np.nan], [2.0, 3.0], [2.0, 5.0]])
    grid = observe(X, [0, 1, 1], n=2)
    assert grid.only(1).column(0).low.tolist() == grid.column(1).low.tolist() == [3.0, 5.0]
    assert grid.take(np.array([1, 1, 0])).observed().tolist() == [[2.0, 2.0], [2.0, 2.0], [1.0, 0.0]]
    assert grid.together().observed().tolist() == [[3.0, 2.0]]


def test_without_keeps_places() -> None:
    """An emptied cell stays where it was; forgetting lets it go."""
    both, one = observe(np.array([1.0, 2.0])), observe(np.array([2.0]))
    assert both.without(one).column(0).count.tolist() == [[1.0], [0.0]]
    assert both.forget(one).column(0).count.tolist() == [[1.0]]


def test_missing_cells_are_not_made_up() -> None:
    """Rows forgotten with a hole where they had a number would leave more numbers than rows."""
    with pytest.raises(ForgetError, match="missing"):
        observe(np.array([1.0])).forget(observe(np.array([np.nan])))


def test_a_refusal_changes_nothing() -> None:
    grid = observe(np.array([1.0, 2.0]))
    before = pickle.dumps(grid)
    with pytest.raises(ForgetError, match="the weight of a cell"):
        grid.forget(observe(np.array([3.0])))
    assert pickle.dumps(grid) == before


def test_a_grid_is_saved_as_plain_arrays() -> None:
    grid = observe(np.array([1.0, 2.0, np.nan]), [0, 1, 1], n=3)
    np.testing.assert_array_equal(decoded(grid).count.toarray(), grid.count.toarray())
