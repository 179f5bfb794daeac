"""A sample depends on the set of rows alone: not on their order, their parts, or how they lie in memory."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
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
from candide.statistics.hashing import ABOVE_ALL, row_hashes
from candide.statistics.kept_rows import row_bytes
from candide.storage.encoder import Encoder

from .layouts import LAYOUTS, Problem, problems
from .strategies import FORMS, N_COLUMNS, Rows, numbers

N_CLASSES = 3
ROOMY = 1 << 20
CELLS = [0.0, 0.0, 1.0, 2.0, 4.0, np.nan]

forms = pytest.mark.parametrize("form", FORMS)
budgets = st.sampled_from([0, 24, 50, 100, 200, ROOMY])


@st.composite
def tables(draw: Any) -> Rows:
    """Few enough values for rows to be there twice; perhaps no rows at all."""
    n = draw(st.integers(0, 30))
    return Rows(
        numbers(draw, (n, N_COLUMNS), CELLS),
        numbers(draw, (n,), list(range(N_CLASSES))).astype(np.int32),
        numbers(draw, (n,), [1.0, 1.0, 0.0, 0.75, 3.0]),
    )


def sample_of(table: Rows, form: str, budget: int = ROOMY) -> Sample:
    return Sample.of(FORMS[form](table.X), table.y, table.weight, N_CLASSES, budget)


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
@given(table=tables(), budget=budgets, seed=st.integers(0, 1000))
def test_parts_in_any_order_make_the_same_sample(form: str, table: Rows, budget: int, seed: int) -> None:
    """However the rows are dealt out and merged, the sample is that of all rows at once."""
    rng = np.random.default_rng(seed)
    order, deal = rng.permutation(len(table.y)), rng.integers(0, 4, len(table.y))
    parts = [sample_of(table.take(order[deal == part]), form, budget) for part in range(4)]
    assert_identical(merged(parts, rng), sample_of(table, form, budget))


def counted(table: Rows, data: Data | Columns) -> dict[tuple[int, int, float], tuple[int, int]]:
    """For each class, hash and weight how many copies, and how many bytes."""
    keys = list(zip(table.y.tolist(), row_hashes(data).tolist(), table.weight.tolist(), strict=True))
    room = dict(zip(keys, row_bytes(data).tolist(), strict=True))
    return {key: (n, room[key]) for key, n in sorted(Counter(keys).items()) if key[2] > 0}


def within(entries: dict[tuple[int, int, float], tuple[int, int]], budget: int) -> tuple[list[Any], list[int]]:
    """Entries of a class by hash, hash after hash, as long as they fit; and the first hash that does not."""
    kept, threshold, spent = [], [int(ABOVE_ALL)] * N_CLASSES, [0] * N_CLASSES
    for (c, row), group in groupby(entries, key=lambda key: key[:2]):
        keys = list(group)
        spent[c] += sum(entries[key][1] for key in keys)
        if spent[c] <= budget:
            kept += [(*key, entries[key][0]) for key in keys]
        else:
            threshold[c] = min(threshold[c], row)
    return kept, threshold


@forms
@given(table=tables(), budget=budgets)
def test_a_sample_is_what_fits_in_order_of_hash(form: str, table: Rows, budget: int) -> None:
    """The rule, said in plain Python; and the cells kept are those of the hashes kept."""
    sample = sample_of(table, form, budget)
    kept, threshold = within(counted(table, FORMS[form](table.X)), budget)
    assert list(zip(*(part.tolist() for part in sample.entries), strict=True)) == kept
    assert sample.threshold.tolist() == threshold
    np.testing.assert_array_equal(row_hashes(sample.data), sample.entries.hashes)
    np.testing.assert_array_equal(sample.rows, np.bincount(table.y, table.weight, minlength=N_CLASSES))


@forms
@given(table=tables(), budget=budgets, seed=st.integers(0, 1000))
def test_what_is_forgotten_leaves_the_rest(form: str, table: Rows, budget: int, seed: int) -> None:
    """Below the thresholds the rest is all there; thresholds stay, unless nothing of a class is left."""
    gone = np.random.default_rng(seed).random(len(table.y)) < 0.6
    whole, rest = sample_of(table, form, budget), sample_of(table.take(~gone), form)
    after = whole.forget(sample_of(table.take(gone), form, budget))
    np.testing.assert_array_equal(after.threshold, np.where(rest.rows > 0, whole.threshold, ABOVE_ALL))
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
        with pytest.raises(ForgetError, match="nothing was changed"):
            whole.forget(strange)
    else:
        assert whole.forget(strange).multiplicity.sum() == whole.multiplicity.sum() - strange.multiplicity.sum()


def elements(table: Rows, form: str) -> list[Any]:
    some = table.take(table.weight > 0)
    return list(zip(some.y.tolist(), row_hashes(FORMS[form](some.X)).tolist(), some.weight.tolist(), strict=True))


@forms
@given(table=tables(), budget=budgets, factor=st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_discounts_change_weights_alone(form: str, table: Rows, budget: int, factor: float) -> None:
    """A discounted sample is the sample of rows of less weight."""
    lighter = Rows(table.X, table.y, table.weight * factor)
    assert_identical(sample_of(table, form, budget).discount(factor), sample_of(lighter, form, budget))


@forms
@given(table=tables(), budget=budgets, positions=st.permutations(range(4)).map(lambda p: np.array([*p[:2], -1])))
def test_classes_move_with_their_thresholds(form: str, table: Rows, budget: int, positions: Array) -> None:
    """A sample with its classes moved is the sample of rows whose classes were moved."""
    known = table.take(positions[table.y] >= 0)
    moved = Sample.of(FORMS[form](known.X), positions[known.y].astype(np.int32), known.weight, 4, budget)
    assert_identical(sample_of(table, form, budget).reindex(positions, 4), moved)


@given(table=tables(), budget=budgets)
def test_case_weights_add_up_to_the_rows(table: Rows, budget: int) -> None:
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
def test_tables_are_kept_as_the_cells_they_are(table: Rows, budget: int) -> None:
    """Coded labels leave the same sample as the labels themselves."""
    assert_identical(sample_of(table, "table", budget), sample_of(table, "both", budget))
