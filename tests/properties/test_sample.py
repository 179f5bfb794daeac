"""A sample depends on the set of rows alone: not on their order, their parts, or how they lie in memory."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import every

from candide.data.columns import Columns
from candide.exceptions import ForgetError
from candide.kernels.layouts import Array, Data, Dense
from candide.statistics import Sample
from candide.statistics.base import Budget
from candide.statistics.hashing import ABOVE_ALL, group_hashes, row_hashes
from candide.statistics.kept_rows import row_bytes
from candide.storage.encoder import Encoder

from .layouts import LAYOUTS, Problem, problems
from .strategies import FORMS, N_COLUMNS, Rows, numbers

N_CLASSES = 3
ROOMY = Budget(1 << 20)
CELLS = [0.0, 0.0, 1.0, 2.0, 4.0, np.nan]

forms = pytest.mark.parametrize("form", FORMS)
budgets = st.sampled_from(
    [*map(Budget, (0, 24, 50, 100, 200, 500)), *(Budget(n, "rows") for n in (0, 1, 5, 12)), ROOMY]
)


@st.composite
def tables(draw: Any) -> Rows:
    """Few enough values for rows to be there twice; perhaps no rows at all."""
    n = draw(st.integers(0, 30))
    return Rows(
        numbers(draw, (n, N_COLUMNS), CELLS),
        numbers(draw, (n,), list(range(N_CLASSES))).astype(np.int32),
        numbers(draw, (n,), [1.0, 1.0, 0.0, 0.75, 3.0]),
    )


def sample_of(table: Rows, form: str, budget: Budget = ROOMY, groups: Array | None = None) -> Sample:
    return Sample.of(FORMS[form](table.X), table.y, table.weight, N_CLASSES, budget, groups=groups)


def assert_identical(a: Sample, b: Sample) -> None:
    """Equal to the bit, types included."""
    left, right = Encoder(), Encoder()
    assert left.tree(a, "sample") == right.tree(b, "sample")
    for name in left.arrays:
        _same(left.arrays[name], right.arrays[name], name)


def _same(a: Any, b: Any, name: str) -> None:
    assert type(a) is type(b)
    if isinstance(a, tuple):
        for one, other in zip(a, b, strict=True):
            _same(one, other, name)
        return
    np.testing.assert_array_equal(a, b, err_msg=name)
    assert np.asarray(a).dtype == np.asarray(b).dtype


def merged(samples: list[Sample], rng: np.random.Generator) -> Sample:
    """Any two of them at a time, until one is left."""
    left = list(samples)
    while len(left) > 1:
        rng.shuffle(left)  # type: ignore[arg-type]
        left.append(left.pop().merge(left.pop()))
    return left[0]


@forms
@pytest.mark.parametrize("grouped", [False, True], ids=["alone", "groups"])
@given(table=tables(), budget=budgets, seed=st.integers(0, 1000))
def test_parts_in_any_order_make_the_same_sample(
    form: str, grouped: bool, table: Rows, budget: Budget, seed: int
) -> None:
    """However the rows are dealt out and merged, the sample is that of all rows at once."""
    rng = np.random.default_rng(seed)
    groups = group_hashes(np.array([None, "a", "b", "c"])[rng.integers(0, 4, len(table.y))], len(table.y))
    order, deal = rng.permutation(len(table.y)), rng.integers(0, 4, len(table.y))

    def of(rows: Array) -> Sample:
        return sample_of(table.take(rows), form, budget, groups[rows] if grouped and groups is not None else None)

    parts = [of(order[deal == part]) for part in range(4)]
    assert_identical(merged(parts, rng), of(np.arange(len(table.y))))


@forms
@given(table=tables(), budget=budgets, seed=st.integers(0, 1000), n_batches=st.integers(1, 30))
def test_a_stream_makes_the_same_sample(form: str, table: Rows, budget: Budget, seed: int, n_batches: int) -> None:
    """Batches in any order, each without the rows that the sample so far would not keep."""
    rng = np.random.default_rng(seed)
    whole = sample_of(table.take(np.zeros(0, dtype=np.int64)), form, budget)
    for rows in np.array_split(rng.permutation(len(table.y)), n_batches):
        batch = table.take(rows)
        more = Sample.of(FORMS[form](batch.X), batch.y, batch.weight, N_CLASSES, budget, whole.threshold)
        whole = whole.merge(more)
    assert_identical(whole, sample_of(table, form, budget))


def counted(table: Rows, data: Data | Columns, budget: Budget) -> dict[tuple[int, int, float], tuple[int, int]]:
    """For each class, hash and weight how many copies, and the cost of one."""
    keys = list(zip(table.y.tolist(), row_hashes(data).tolist(), table.weight.tolist(), strict=True))
    costs = dict(zip(keys, row_bytes(data).tolist() if budget.unit == "bytes" else [1] * len(keys), strict=True))
    return {key: (n, costs[key]) for key, n in sorted(Counter(keys).items()) if key[2] > 0}


def level_of(costs: list[int], shared: int) -> Fraction:
    """The most that each class may cost, so that all together cost what they share."""
    level = Fraction(0)
    while (open_classes := [cost for cost in costs if cost > level]) and shared > 0:
        step = min(min(open_classes) - level, Fraction(shared, 1) / len(open_classes))
        level, shared = level + step, shared - step * len(open_classes)  # type: ignore[assignment]
    return level


def thresholds_of(entries: dict[tuple[int, int, float], tuple[int, int]], budget: Budget) -> tuple[list[int], int]:
    """The rule of the class's docstring, by trying one hash after the other."""
    floor, overall = [int(ABOVE_ALL)] * N_CLASSES, int(ABOVE_ALL)
    if sum(cost for _, cost in entries.values()) <= budget.size:
        return floor, overall

    def upto(k: int, hash_: int) -> int:
        return sum(cost for (own, row, _), (_, cost) in entries.items() if own == k and row <= hash_)

    half = budget.size // 2
    level = level_of([upto(k, overall) for k in range(N_CLASSES)], half)
    for row in sorted({row for _, row, _ in entries}, reverse=True):
        for k in range(N_CLASSES):
            if upto(k, row) > level and any(key[:2] == (k, row) for key in entries):
                floor[k] = row
        if sum(max(Fraction(0), upto(k, row) - level) for k in range(N_CLASSES)) > budget.size - half:
            overall = row
    return floor, overall


@forms
@given(table=tables(), budget=budgets)
def test_a_sample_is_what_lies_below_the_thresholds(form: str, table: Rows, budget: Budget) -> None:
    """The rule, said in plain Python; and the cells kept are those of the hashes kept."""
    sample, entries = sample_of(table, form, budget), counted(table, FORMS[form](table.X), budget)
    floor, overall = thresholds_of(entries, budget)
    assert (sample.thresholds.floor.tolist(), int(sample.thresholds.overall)) == (floor, overall)
    kept = [(*key, n) for key, (n, _) in entries.items() if key[1] < max(floor[key[0]], overall)]
    assert list(zip(*(part.tolist() for part in sample.entries), strict=True)) == kept
    assert sum(entries[key][1] for *key_, _ in kept for key in [tuple(key_)]) <= budget.size  # type: ignore[index]
    np.testing.assert_array_equal(row_hashes(sample.data), sample.entries.hashes)
    np.testing.assert_array_equal(sample.rows, np.bincount(table.y, table.weight, minlength=N_CLASSES))


@forms
@given(table=tables(), budget=budgets, seed=st.integers(0, 1000))
def test_what_is_forgotten_leaves_the_rest(form: str, table: Rows, budget: Budget, seed: int) -> None:
    """Below the thresholds the rest is all there; thresholds stay, unless nothing of a class is left."""
    gone = np.random.default_rng(seed).random(len(table.y)) < 0.6
    whole, rest = sample_of(table, form, budget), sample_of(table.take(~gone), form)
    after = whole.forget(sample_of(table.take(gone), form, budget))
    floor, overall = whole.thresholds
    np.testing.assert_array_equal(after.thresholds.floor, np.where(rest.rows > 0, floor, ABOVE_ALL))
    assert after.thresholds.overall == (overall if rest.rows.any() else ABOVE_ALL)
    below = np.flatnonzero(rest.entries.hashes < whole.threshold[rest.classes])
    for mine, expected in zip(after.entries, rest.entries.take(below), strict=True):
        np.testing.assert_array_equal(mine, expected)
    np.testing.assert_array_equal(after.rows, rest.rows)
    np.testing.assert_array_equal(row_hashes(after.data), after.entries.hashes)


@forms
@given(table=tables(), other=tables())
def test_rows_that_are_not_there_are_refused(form: str, table: Rows, other: Rows) -> None:
    """Within the budget, exactly those with a copy too many."""
    whole, strange = sample_of(table, form), sample_of(other, form)
    missing = Counter(elements(other, form)) - Counter(elements(table, form))
    if missing:
        with pytest.raises(ForgetError, match="the model is unchanged"):
            whole.forget(strange)
    else:
        assert whole.forget(strange).multiplicity.sum() == whole.multiplicity.sum() - strange.multiplicity.sum()


def elements(table: Rows, form: str) -> list[Any]:
    some = table.take(table.weight > 0)
    return list(zip(some.y.tolist(), row_hashes(FORMS[form](some.X)).tolist(), some.weight.tolist(), strict=True))


@forms
@given(table=tables(), budget=budgets, factor=st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_discounts_change_weights_alone(form: str, table: Rows, budget: Budget, factor: float) -> None:
    """A discounted sample is the sample of rows of less weight."""
    lighter = Rows(table.X, table.y, table.weight * factor)
    assert_identical(sample_of(table, form, budget).discount(factor), sample_of(lighter, form, budget))


@forms
@given(table=tables(), budget=budgets, positions=st.permutations(range(4)).map(lambda p: np.array([*p[:2], -1])))
def test_classes_move_with_their_thresholds(form: str, table: Rows, budget: Budget, positions: Array) -> None:
    """A sample with its classes moved, and one without rows dropped, is the sample of rows whose classes were moved."""
    known = table = table.take(positions[table.y] >= 0)
    moved = Sample.of(FORMS[form](known.X), positions[known.y].astype(np.int32), known.weight, 4, budget)
    assert_identical(sample_of(table, form, budget).reindex(positions, 4), moved)


@given(table=tables(), budget=budgets)
def test_case_weights_add_up_to_the_rows(table: Rows, budget: Budget) -> None:
    """Of every class that has an entry."""
    sample = sample_of(table, "numbers", budget)
    total = np.bincount(sample.classes, sample.case_weight(sample.rows), minlength=N_CLASSES)
    np.testing.assert_allclose(total, np.where(sample.represented() > 0, sample.rows, 0.0))


@given(table=problems(["none", "whole", "fraction"]))
@every("layout", LAYOUTS)
def test_the_layout_does_not_matter(layout: str, table: Problem) -> None:
    """Types, strides and sparse storage of equal rows give equal entries and cells."""
    data = LAYOUTS[layout](table.X)
    a = Sample.of(data, *table.groups, ROOMY)
    b = Sample.of(Dense.of(data.floats()), *table.groups, ROOMY)
    for mine, other in zip(a.entries, b.entries, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(a.data.floats(), b.data.floats())
    assert a.data.values.dtype == np.float64


@given(table=tables(), seed=st.integers(0, 1000))
def test_dense_and_sparse_rows_mix(table: Rows, seed: int) -> None:
    """Sparse wins, and nothing else changes."""
    half = np.random.default_rng(seed).random(len(table.y)) < 0.5
    both = sample_of(table.take(half), "numbers").merge(sample_of(table.take(~half), "sparse"))
    assert_identical(both, sample_of(table, "sparse"))


@given(table=tables(), seed=st.integers(0, 1000))
def test_columns_settle(table: Rows, seed: int) -> None:
    """Numbers and texts in one column live side by side, and leave no trace of each other."""
    half = np.random.default_rng(seed).random(len(table.y)) < 0.5
    a, b = sample_of(table.take(half), "numbers"), sample_of(table.take(~half), "texts")
    assert_identical(a.merge(b), b.merge(a))
    assert_identical(a.merge(b).forget(b), a)
    assert_identical(b.merge(a).forget(a), b)


@given(table=tables(), budget=budgets)
def test_tables_are_kept_as_the_cells_they_are(table: Rows, budget: Budget) -> None:
    """Coded labels leave the same sample as the labels themselves."""
    assert_identical(sample_of(table, "table", budget), sample_of(table, "both", budget))


@given(
    table=tables(),
    budget=budgets,
    seed=st.integers(0, 1000),
    steps=st.lists(st.tuples(st.sampled_from(["learn", "forget"]), st.integers(0, 29)), max_size=30),
)
def test_rows_come_and_go(table: Rows, budget: Budget, seed: int, steps: list[tuple[str, int]]) -> None:
    """In any order: the sample stays within its budget, complete below its thresholds, and whole if it always was."""
    table = table.take(table.weight > 0)
    there = np.random.default_rng(seed).random(len(table.y)) < 0.5
    sample, ever = sample_of(table.take(there), "numbers", budget), there.copy()
    for what, i in steps:
        if i >= len(table.y) or there[i] == (what == "learn"):
            continue
        row = sample_of(table.take(np.array([i])), "numbers", budget)
        sample = sample.merge(row) if what == "learn" else sample.forget(row)
        there[i] = what == "learn"
        ever |= there
        rest = sample_of(table.take(there), "numbers")
        np.testing.assert_array_equal(sample.rows, rest.rows)
        below = np.flatnonzero(rest.entries.hashes < sample.threshold[rest.classes])
        for mine, expected in zip(sample.entries, rest.entries.take(below), strict=True):
            np.testing.assert_array_equal(mine, expected)
        spent = row_bytes(sample.data).sum() if budget.unit == "bytes" else len(sample.classes)
        assert spent <= budget.size
    everything = sample_of(table.take(ever), "numbers", budget)
    if everything.thresholds.overall == ABOVE_ALL:
        assert_identical(sample, sample_of(table.take(there), "numbers", budget))


def test_thousands_of_classes_stay_within_one_budget() -> None:
    rng = np.random.default_rng(0)
    X, classes = Dense.of(rng.normal(size=(30_000, 2))), rng.zipf(1.3, 30_000).clip(max=5_000).astype(np.int32) - 1
    seen = np.bincount(classes, minlength=5_000)
    for size, used in ((100, 0.5), (3_000, 0.5), (20_000, 0.9)):
        kept = Sample.of(X, classes, None, 5_000, Budget(size, "rows"))
        assert used * size <= len(kept.classes) <= size
        level = level_of(seen.tolist(), size // 2)
        assert (np.bincount(kept.classes, minlength=5_000) >= np.minimum(seen, int(level))).all()
