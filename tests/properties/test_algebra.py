"""Statistics add: merge, forget, discount and reindex keep their laws for every kind of statistic."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from storage.storing import decoded

from .compare import assert_alike
from .strategies import STATISTICS

statistics = pytest.mark.parametrize("name", STATISTICS)
FACTORS = st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0])


def empty(statistic: Any) -> Any:
    """A statistic of no rows that knows the same columns."""
    return statistic.reindex(np.full(3, -1), 3)


def draw(data: Any, name: str, n: int) -> list[Any]:
    """Some statistics of one kind."""
    return [data.draw(STATISTICS[name]) for _ in range(n)]


@statistics
@given(data=st.data())
def test_merge_is_associative(name: str, data: Any) -> None:
    """(a + b) + c = a + (b + c)."""
    a, b, c = draw(data, name, 3)
    assert_alike(a.merge(b).merge(c), a.merge(b.merge(c)), scale=10)


@statistics
@given(data=st.data())
def test_merge_is_commutative(name: str, data: Any) -> None:
    """a + b = b + a."""
    a, b = draw(data, name, 2)
    assert_alike(a.merge(b), b.merge(a), scale=10)


@statistics
@given(data=st.data())
def test_nothing_added_changes_nothing(name: str, data: Any) -> None:
    """a + 0 = 0 + a = a, with the empty statistic of any other."""
    a, b = draw(data, name, 2)
    for zero in (empty(a), empty(b), a.discount(0.0)):
        assert_alike(a.merge(zero), a, scale=0)
        assert_alike(zero.merge(a), a, scale=0)
        assert_alike(a.forget(zero), a, scale=0)


@statistics
@given(data=st.data())
def test_forget_undoes_merge(name: str, data: Any) -> None:
    """(a + b) - b = a, types of labels included."""
    a, b = draw(data, name, 2)
    assert_alike(a.merge(b).forget(b), a, scale=10)
    assert_alike(a.merge(b).forget(a), b, scale=10)
    assert not a.forget(a).rows.any()


@statistics
@given(data=st.data(), factor=FACTORS)
def test_discount_is_linear(name: str, data: Any, factor: float) -> None:
    """f(a + b) = fa + fb."""
    a, b = draw(data, name, 2)
    assert_alike(a.merge(b).discount(factor), a.discount(factor).merge(b.discount(factor)), scale=10)


@statistics
@given(data=st.data(), first=FACTORS, second=FACTORS)
def test_discounts_multiply(name: str, data: Any, first: float, second: float) -> None:
    """Discounts one after the other are their product, and 1 is no discount."""
    (a,) = draw(data, name, 1)
    assert_alike(a.discount(first).discount(second), a.discount(first * second), scale=10)
    assert_alike(a.discount(1.0), a, scale=0)
    np.testing.assert_array_equal(a.discount(first).rows, a.rows * first)


@statistics
@given(data=st.data(), factor=st.floats(1e-3, 1.0))
def test_discounted_rows_are_forgotten_with_their_discounted_weight(name: str, data: Any, factor: float) -> None:
    """f(a + b) - fb = fa for any factor."""
    a, b = draw(data, name, 2)
    left = a.merge(b).discount(factor).forget(b.discount(factor))
    assert_alike(left, a.discount(factor), scale=10, rtol=1e-9)


@statistics
@given(data=st.data(), positions=st.permutations(range(5)).map(lambda p: np.array(p[:3])))
def test_reindexing_can_be_undone(name: str, data: Any, positions: Any) -> None:
    """Classes moved among five places and back stand where they were."""
    (a,) = draw(data, name, 1)
    back = np.full(5, -1)
    back[positions] = np.arange(3)
    moved = a.reindex(positions, 5)
    np.testing.assert_array_equal(moved.rows[positions], a.rows)
    assert_alike(moved.reindex(back, 3), a, scale=0)


@statistics
@given(data=st.data(), positions=st.permutations(range(4)).map(lambda p: np.array(p[:3])))
def test_reindexing_commutes_with_merge(name: str, data: Any, positions: Any) -> None:
    """Moving classes before a merge or after it is the same."""
    a, b = draw(data, name, 2)
    assert_alike(a.merge(b).reindex(positions, 4), a.reindex(positions, 4).merge(b.reindex(positions, 4)), scale=10)


@statistics
@given(data=st.data())
def test_dropped_classes_leave_the_others_alone(name: str, data: Any) -> None:
    """Without class 1, and with nothing in its place, the others add up to the whole again."""
    (a,) = draw(data, name, 1)
    without = a.reindex(np.array([0, -1, 2]), 3)
    only = a.reindex(np.array([-1, 1, -1]), 3)
    assert without.rows[1] == 0
    assert_alike(without.merge(only), a, scale=0)


@statistics
@given(data=st.data())
def test_files_hold_everything(name: str, data: Any) -> None:
    """A model file keeps a statistic, and so does a pickle."""
    (a,) = draw(data, name, 1)
    assert_alike(decoded(a), a, scale=0)
    assert_alike(pickle.loads(pickle.dumps(a)), a, scale=0)


@statistics
@given(data=st.data())
def test_verbs_leave_their_operands_alone(name: str, data: Any) -> None:
    """Statistics are values: no verb changes what it is given."""
    a, b = draw(data, name, 2)
    before = pickle.dumps((a, b))
    a.merge(b).forget(b).discount(0.5).reindex(np.array([2, 1, 0]), 3)
    assert_alike(a, pickle.loads(before)[0], scale=0)
    assert_alike(b, pickle.loads(before)[1], scale=0)


@pytest.mark.parametrize("left", [1.0, 3.0, 2.0**40])
@pytest.mark.parametrize("sparse", [False, True])
def test_whole_counts_are_exact_up_to_two_to_the_53(left: float, sparse: bool) -> None:
    """However much is removed, what is left of whole counts is exact."""
    from scipy.sparse import csr_array

    from candide.statistics import Counts

    def counts(n: float) -> Counts:
        total = np.array([[n, 1.0]])
        return Counts(np.array([n]), csr_array(total) if sparse else total, None)

    removed = counts(2.0**53 - left)
    after = counts(2.0**53).forget(Counts(removed.rows, removed.total - counts(0.0).total, None))
    assert after.rows.tolist() == [left]
    assert after.dense().tolist() == [[left, 1.0]]
