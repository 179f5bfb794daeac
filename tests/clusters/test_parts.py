"""Sums of many places: each place counts once, whoever reports it how often."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from properties.compare import assert_alike

from candide import MultinomialNB, TextNB
from candide.exceptions import InputError
from candide.model.accumulator import PartialState, RowCounts, merge_partial_states
from candide.sources import spark

ROWS = np.arange(24.0).reshape(8, 3)
LABELS = np.array([*"aabbccab"])


def part(*places: int) -> PartialState:
    """What places counted, of which each has one row."""
    rows = list(places)
    state = MultinomialNB(subsample=100_000).fit(ROWS[rows], LABELS[rows]).model_.classifier.state
    return PartialState(state, frozenset(places), len(rows))


def total(part: PartialState) -> float:
    assert part.state is not None
    return float(part.state.statistics.total.sum())


def test_all_places_once() -> None:
    whole = merge_partial_states(map(part, range(8)))
    assert whole.partitions == frozenset(range(8))
    assert whole.row_counts == RowCounts(8, 0, 8)
    assert total(whole) == ROWS.sum()
    assert whole.state.classes.labels.tolist() == [*"abc"]


def test_a_place_that_reports_twice_counts_once() -> None:
    whole = merge_partial_states([part(0), part(1), part(0), part(1), part(2)])
    assert whole.row_counts == RowCounts(3, 0, 3)
    assert total(whole) == ROWS[:3].sum()


def test_order_and_grouping_do_not_matter() -> None:
    for order in itertools.permutations(range(4)):
        first, second, third, fourth = map(part, order)
        for whole in (
            merge_partial_states([first, second, third, fourth]),
            merge_partial_states([merge_partial_states([first, second]), merge_partial_states([third, fourth])]),
        ):
            assert total(whole) == ROWS[:4].sum()
            assert len(whole.state.sample.classes) == 4


def test_a_late_part_of_a_sum_that_is_there_already() -> None:
    """In whatever order they come."""
    for parts in itertools.permutations([part(0, 1), part(1), part(2)]):
        whole = merge_partial_states(parts)
        assert whole.row_counts == RowCounts(3, 0, 3)
        assert total(whole) == ROWS[:3].sum()


def test_sums_that_overlap_are_refused() -> None:
    """No place could be taken out of one of them again."""
    with pytest.raises(RuntimeError, match=r"partitions \[1\] were counted twice"):
        merge_partial_states([part(0, 1), part(1, 2)])


def test_places_without_rows() -> None:
    empty = PartialState(None, frozenset([7]), 0, 0)
    assert merge_partial_states([empty, PartialState(None, frozenset([8]), 3, 3)]) == PartialState(
        None, frozenset([7, 8]), 3, 3
    )
    whole = merge_partial_states([empty, part(0), empty])
    assert whole.row_counts == RowCounts(1, 0, 2)
    assert total(whole) == ROWS[0].sum()


def test_nothing_at_all() -> None:
    assert merge_partial_states([]) == PartialState(None, frozenset())


def test_states_are_compressed_on_their_way() -> None:
    """Counts of buckets become a fraction, and come out as they were; an error is raised where it arrives."""
    state = TextNB().fit([f"word {i} of some text" for i in range(500)], ["a", "b"] * 250).model_.state
    sent = spark._dumped(PartialState(state, frozenset([3]), 500))
    assert 4 * len(sent) < len(pickle.dumps(state, protocol=5))
    (found,) = spark._loaded([sent])
    assert (found.partitions, found.n_rows) == ({3}, 500)
    for one, before in zip(found.state.statistics.feature_sets, state.statistics.feature_sets, strict=True):
        assert (one.counts.total != before.counts.total).sum() == 0
    assert_alike(found.state.sample, state.sample)
    with pytest.raises(InputError, match="partition 3: wrong"):
        spark._loaded([sent, spark._dumped(InputError("partition 3: wrong"))])
