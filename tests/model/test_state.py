"""States by hand: their classes are aligned, their rows added and taken away."""

import numpy as np
import pytest

from candide.data.index import Index
from candide.exceptions import ForgetError, InputError, ParameterError
from candide.kernels.layouts import Dense
from candide.model.state import State, join
from candide.statistics import Counts, Sample
from candide.statistics.base import Budget


def state(labels, rows, *, declared=None, closed=False, kept=True, group=None):
    """As many rows [[1.0]] as ``rows`` says, class by class."""
    classes, rows = Index(np.asarray(labels)), np.asarray(rows, dtype=int)
    positions = np.repeat(np.arange(len(rows)), rows).astype(np.int32)
    groups = None if group is None else np.full(len(positions), group, dtype=np.uint64)
    data = Dense.of(np.ones((len(positions), 1)))
    sample = Sample.of(data, positions, None, len(rows), Budget(10_000), groups=groups) if kept else None
    mask = np.zeros(len(rows), dtype=bool) if declared is None else np.asarray(declared, dtype=bool)
    return State(classes, mask, Counts(rows + 0.0, rows[:, None] + 0.0, None), closed, sample)


def content(found):
    sample = None if found.sample is None else (found.sample.rows.tolist(), found.sample.classes.tolist())
    return found.classes.labels.tolist(), found.declared.tolist(), found.statistics.total[:, 0].tolist(), sample


def test_merge_aligns_classes():
    a, b = state(["a", "c"], [2, 1], declared=[True, False]), state(["b", "c"], [1, 3], declared=[False, True])
    labels, declared, total, sample = content(a.merge(b))
    assert (labels, declared, total) == (["a", "b", "c"], [True, False, True], [2.0, 1.0, 4.0])
    assert sample == ([2.0, 1.0, 4.0], [0, 1, 2])
    assert content(b.merge(a)) == (labels, declared, total, sample)


def test_merge_keeps_rows_only_if_both_states_do():
    a, b = state(["a"], [2]), state(["a"], [1], kept=False)
    assert a.merge(a).sample is not None
    for merged in (a.merge(b), b.merge(a), b.merge(b)):
        assert merged.sample is None
        assert merged.rows.tolist() in ([3.0], [2.0])


@pytest.mark.parametrize(("a", "b"), [(False, False), (False, True), (True, False), (True, True)])
def test_a_merged_list_of_classes_is_closed_if_both_are(a, b):
    one, other = state(["a"], [1], closed=a), state(["a"], [1], closed=b)
    assert one.merge(other).closed == (a and b)
    assert one.learn(other).closed == a


def test_learning_in_place_writes_into_the_sums():
    one, batch = state(["a", "b"], [1, 2]), state(["a", "b"], [1, 1])
    before = one.statistics.total
    assert one.learn(batch).statistics.total is not before
    assert before.tolist() == [[1.0], [2.0]]
    assert one.learn(batch, in_place=True).statistics.total is before
    assert before.tolist() == [[2.0], [3.0]]


def test_a_closed_list_refuses_new_classes():
    one = state(["a", "b"], [1, 1], closed=True)
    assert content(one.learn(state(["b"], [2])))[2] == [1.0, 3.0]
    with pytest.raises(InputError, match=r"\['c'\] in y do not exist"):
        one.learn(state(["b", "c"], [2, 1]))
    assert one.merge(state(["c"], [1])).classes.labels.tolist() == ["a", "b", "c"]


def test_declared_classes_may_have_no_rows():
    found = state(["b"], [2]).declare(Index(np.array(["a", "b"])))
    assert (found.closed, *content(found)[:3]) == (True, ["a", "b"], [True, True], [0.0, 2.0])
    with pytest.raises(InputError, match="do not exist"):
        state(["b", "c"], [2, 1]).declare(Index(np.array(["a", "b"])))


def test_equal_classes_need_no_copy():
    one = state(["a", "b"], [1, 2])
    assert one.among(one.classes) is one
    assert one.among(Index(np.array(["a", "b"]))) is one
    wider = one.among(Index(np.array(["a", "b", "c"])))
    assert content(wider) == (["a", "b", "c"], [False] * 3, [1.0, 2.0, 0.0], ([1.0, 2.0, 0.0], [0, 1]))
    assert state(["a"], [1], kept=False).among(Index(np.array(["a", "c"]))).sample is None


def test_labels_of_one_type_are_joined():
    numbers, texts = Index(np.array([1, 2])), Index(np.array(["1"]))
    assert join(numbers, Index(np.array([0.5]))).labels.tolist() == [0.5, 1.0, 2.0]
    with pytest.raises(InputError, match="labels have different types: 1 and '1'"):
        join(numbers, texts)


def test_forgetting_takes_rows_away():
    found = state(["a", "b", "c"], [3, 1, 2], declared=[False, True, False]).forget(state(["b", "c"], [1, 1]))
    assert content(found) == (["a", "b", "c"], [False, True, False], [3.0, 0.0, 1.0], ([3.0, 0.0, 1.0], [0, 2]))


def test_a_class_leaves_with_its_last_row_unless_it_is_declared():
    whole = state(["a", "b", "c", "d"], [1, 2, 1, 3], declared=[False, False, True, True])
    found = whole.forget(state(["a", "c"], [1, 1]))
    assert content(found) == (["b", "c", "d"], [False, True, True], [2.0, 0.0, 3.0], ([2.0, 0.0, 3.0], [0, 2]))
    untouched = state(["a", "b"], [1, 2])
    assert untouched.without_empty_classes() is untouched


@pytest.mark.parametrize(("whole", "part"), [(True, False), (False, True), (False, False)])
def test_forgetting_keeps_rows_only_if_both_states_do(whole, part):
    found = state(["a"], [3], kept=whole).forget(state(["a"], [1], kept=part))
    assert (found.rows.tolist(), found.sample) == ([2.0], None)


def test_what_cannot_be_forgotten():
    one = state(["a", "b"], [1, 2])
    with pytest.raises(ForgetError, match="class 'c' is unknown to the model"):
        one.forget(state(["b", "c"], [1, 1]))
    with pytest.raises(ForgetError, match="would make the weight of a class negative"):
        one.forget(state(["b"], [3]))
    with pytest.raises(ForgetError, match="without classes"):
        one.forget(one)


def test_rows_are_forgotten_in_the_group_in_which_they_were_learned():
    one = state(["a", "b"], [2, 1], group=5)
    gone = one.in_same_groups(state(["a"], [1]))
    assert gone.classes == one.classes
    assert gone.sample.entries.hashes.tolist() == one.sample.entries.hashes[:1].tolist()
    assert content(one.forget(state(["a"], [1])))[3] == ([1.0, 1.0], [0, 1])
    assert one.in_same_groups(state(["a"], [1], kept=False)).sample is None


def test_discounts_are_factors_from_zero_to_one():
    one = state(["a", "b"], [1, 2])
    for factor in (0, 0.5, 1):
        found = one.discount(factor)
        np.testing.assert_array_equal(found.rows, one.rows * factor)
        np.testing.assert_array_equal(found.sample.rows, one.rows * factor)
    assert state(["a"], [1], kept=False).discount(0.5).sample is None
    for factor in (-0.1, 1.1, np.nan):
        with pytest.raises(ParameterError, match="from 0 to 1"):
            one.discount(factor)
