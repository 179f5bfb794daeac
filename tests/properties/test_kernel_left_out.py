"""Kernels kernels that score rows without themselves do what their reference says, in every layout, to rounding."""

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
from candide.kernels.layouts import Floats
from candide.kernels.tables import LinearTable, NormalTable, PickTable, StudentTable

from .layouts import DENSE, LAYOUTS, Problem, problems
from .layouts import problem as large
from .members import normal_posterior, others_of, shared_posterior, totals

NATIVE, REFERENCE = Kernels(2), ReferenceKernels()
BOTH = pytest.mark.parametrize("kernels", [NATIVE, REFERENCE], ids=["native", "reference"])
WEIGHTS = ["none", "whole", "fraction"]
PSEUDO = ["none", "tiny", "one", "large", "columns", "cells"]

few = tries(15)


def pseudo_counts(problem: Problem, how: str) -> float | Floats:
    """One for all cells, one per column, or one per class and column."""
    numbers = {"none": 0.0, "tiny": 1e-10, "one": 1.0, "large": 30.0}
    if how in numbers:
        return numbers[how]
    cells = np.exp(problem.table())
    return cells if how == "cells" else cells[0]


def assert_close(got: Any, meant: Any) -> None:
    """Scores of numbers of about unit size."""
    np.testing.assert_allclose(got, meant, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("threshold", [None, 2.5])
@few
@given(problem=problems(["none"], low=-2), absent=st.booleans())
@every("layout", LAYOUTS)
def test_own_linear_scores_agree(layout: str, threshold: float | None, problem: Problem, absent: bool) -> None:
    """One score a row out of those of all classes."""
    data = LAYOUTS[layout](np.abs(problem.X) if threshold is None else problem.X)
    table = LinearTable(problem.table(), problem.table() if absent else None)
    args = (data, problem.classes, table, problem.table(1)[:, 0], threshold)
    assert_close(*(k.own_linear_scores(*args) for k in (NATIVE, REFERENCE)))


@few
@given(problem=problems(["none"]), room=st.integers(0, 8))
@every("layout", DENSE)
def test_own_code_scores_agree(layout: str, problem: Problem, room: int) -> None:
    """Codes beyond a column's slots take its last one; missing ones add nothing."""
    codes = DENSE[layout](np.where(problem.X == 5, -1.0, problem.X) if "u" not in layout else problem.X)
    offsets = np.arange(problem.X.shape[1] + 1, dtype=np.int64) * (1 + room)
    table = PickTable(problem.rng.normal(size=(int(offsets[-1]), problem.n_classes)))
    assert_close(*(k.own_code_scores(codes, problem.classes, offsets, table) for k in (NATIVE, REFERENCE)))
    other, base = PickTable(problem.rng.normal(size=table.rows.shape)), problem.table(1)[:, 0]
    args = (codes, problem.classes, offsets, table, other, base)
    for got, meant in zip(*(k.left_out_code_scores(*args) for k in (NATIVE, REFERENCE)), strict=True):
        assert_close(got, meant)


@few
@given(problem=problems(WEIGHTS), pseudo=st.sampled_from(PSEUDO), more=st.sampled_from([0, 1e4]))
@every("layout", LAYOUTS)
def test_left_out_counts_agree(layout: str, problem: Problem, pseudo: str, more: float) -> None:
    """With counts that leave nothing behind, and with totals of which the rows are a small part."""
    data = LAYOUTS[layout](problem.X)
    table, base = LinearTable(problem.table(), problem.table()), problem.table(1)[:, 0]
    rows = data, problem.classes, problem.weight
    args = (*rows, table, base, totals(problem, data) + more, pseudo_counts(problem, pseudo))
    got, meant = (kernels.left_out_counts(*args) for kernels in (NATIVE, REFERENCE))
    assert_close(got[0], meant[0])
    for sums, expected in zip(got[1], meant[1], strict=True):
        assert_close(sums, expected)


@pytest.mark.parametrize("threshold", [None, 2.5])
@few
@given(problem=problems(["none"], low=-2), absent=st.booleans())
@every("layout", LAYOUTS)
def test_left_out_linear_scores_agree(layout: str, threshold: float | None, problem: Problem, absent: bool) -> None:
    """All classes by one table, the own class by another."""
    data = LAYOUTS[layout](np.abs(problem.X) if threshold is None else problem.X)
    table, own = (LinearTable(problem.table(), problem.table() if absent else None) for _ in range(2))
    base, own_base = problem.table(1)[:, 0], problem.table(1)[:, 0]
    args = (data, problem.classes, table, base, own, own_base, threshold)
    for got, meant in zip(*(kernels.left_out_linear(*args) for kernels in (NATIVE, REFERENCE)), strict=True):
        assert_close(got, meant)


@few
@given(problem=problems(WEIGHTS))
def test_own_scores_are_changed_alike(problem: Problem) -> None:
    """Put in their places and added to, by row and by class."""
    scores = problem.rng.normal(size=(len(problem.classes), problem.n_classes))
    values, by_class = problem.rng.normal(size=len(scores)), problem.rng.normal(size=problem.n_classes)
    results = []
    for kernels in (NATIVE, REFERENCE):
        own = scores.copy()
        kernels.put_own(own, problem.classes, problem.weight, values, by_class)
        kernels.add_own(own, problem.classes, values, by_class=False)
        kernels.add_own(own, problem.classes, by_class, by_class=True)
        results.append(own)
    assert_close(*results)


@pytest.mark.parametrize("student", [False, True])
@few
@given(problem=problems(WEIGHTS, low=-2), prior=st.sampled_from([0.0, 0.5]), extra=st.sampled_from([0.0, 1.0]))
@every("layout", LAYOUTS)
def test_own_normal_scores_agree(layout: str, student: bool, problem: Problem, prior: float, extra: float) -> None:
    """Also in which rows leave too little behind."""
    data = LAYOUTS[layout](problem.X)
    posterior = normal_posterior(problem, data, prior)
    args = (data, problem.classes, problem.weight, posterior, extra, 0.1)
    assert_close(*(k.own_normal_scores(*args, student=student) for k in (NATIVE, REFERENCE)))


@few
@given(problem=problems(WEIGHTS), pseudo=st.sampled_from(PSEUDO[1:]), scale=st.sampled_from([1.0, 1.3, 5.0]))
@every("layout", LAYOUTS)
def test_own_rising_scores_agree(layout: str, problem: Problem, pseudo: str, scale: float) -> None:
    """Counts few and many, whole and not."""
    data = LAYOUTS[layout](problem.X * scale)
    args = (data, problem.classes, problem.weight, totals(problem, data), pseudo_counts(problem, pseudo))
    assert_close(*(k.own_rising_scores(*args) for k in (NATIVE, REFERENCE)))


@few
@given(problem=problems(WEIGHTS), pseudo=st.sampled_from(PSEUDO))
@every("layout", LAYOUTS)
def test_left_out_complements_agree(layout: str, problem: Problem, pseudo: str) -> None:
    """With and without counts that leave nothing behind."""
    data = LAYOUTS[layout](np.maximum(problem.X - 2, 0))
    args = (data, problem.classes, problem.weight, others_of(problem, data), pseudo_counts(problem, pseudo))
    for got, meant in zip(NATIVE.left_out_complement(*args), REFERENCE.left_out_complement(*args), strict=True):
        assert_close(got, meant)


@few
@given(problem=problems(WEIGHTS, low=-2), prior=st.sampled_from([0.0, 0.5]), extra=st.sampled_from([0.0, 1.0]))
@every("layout", LAYOUTS)
def test_left_out_shared_scores_agree(layout: str, problem: Problem, prior: float, extra: float) -> None:
    """Also in which rows leave too little behind."""
    data = LAYOUTS[layout](problem.X)
    args = (data, problem.classes, problem.weight, *shared_posterior(problem, data, prior), extra, 0.1)
    base = problem.table(1)[:, 0]
    assert_close(*(k.left_out_shared(*args, base) for k in (NATIVE, REFERENCE)))


def test_very_many_columns() -> None:
    """More than the factors whose product stays within the numbers, all of them tiny or all huge."""
    X = np.random.default_rng(0).normal(size=(3, 20_000))
    classes, ones = np.zeros(3, np.int32), np.ones((1, 20_000))
    for scale in (1e-200, 1.0, 1e200):
        posterior = NormalTable(50.0 * ones, 0.0 * ones, 25.0 * ones, scale * 100.0 * ones)
        data = LAYOUTS["c-f8"](X * np.sqrt(scale))
        args = (data, classes, None, posterior, 1.0, 0.0)
        assert_close(*(k.own_normal_scores(*args, student=False) for k in (NATIVE, REFERENCE)))


@pytest.mark.parametrize("layout", ["c-f8", "csr-f8-i4"])
def test_results_do_not_depend_on_threads(layout: str) -> None:
    """Bit for bit, on tables large enough to be shared out."""
    made = large(7, 3_000, 60, 3, "fraction")
    data, own = LAYOUTS[layout](made.X), (made.classes, made.weight)
    table, posterior, base = (
        np.exp(made.table()) + 100,
        normal_posterior(made, LAYOUTS["c-f8"](made.X), 0.5),
        np.ones(3),
    )

    def results(n_threads: int) -> list[bytes]:
        kernels = Kernels(n_threads)
        found = [
            kernels.own_linear_scores(data, made.classes, LinearTable(table, table), base, None),
            *kernels.left_out_counts(data, *own, LinearTable(table), base, table, 1.0)[1],
            *kernels.left_out_counts(data, *own, LinearTable(table, table), base, table, table)[1],
            *kernels.left_out_linear(data, made.classes, LinearTable(table), base, LinearTable(table), base, None),
            kernels.own_normal_scores(data, *own, posterior, 0.0, 0.1, student=False),
            kernels.own_normal_scores(data, *own, posterior, 0.0, 0.1, student=True),
            kernels.own_rising_scores(data, *own, table, 1.0),
            kernels.own_rising_scores(data, *own, table, table),
            kernels.rising_scores(data, table, base),
            kernels.student_scores(data, StudentTable(*posterior), base),
            *kernels.left_out_complement(data, *own, table, 1.0),
            *kernels.left_out_complement(data, made.classes, None, table, table),
            kernels.left_out_shared(data, *own, posterior[1], posterior[0], table[0], table[1], 0.0, 0.1, base),
        ]
        return [part.tobytes() for part in found]

    assert results(1) == results(2) == results(5)


@BOTH
@pytest.mark.parametrize("layout", ["c-f8", "fortran", "columns", "csr-f8-i4"])
def test_negative_and_infinite_counts_are_refused(layout: str, kernels: Any) -> None:
    """As by the kernels that score under all classes."""
    classes, ones = np.zeros(2, np.int32), np.ones((1, 2))
    calls = {
        "own_linear_scores": (LinearTable(ones), np.zeros(1), None),
        "left_out_counts": (None, LinearTable(ones), np.zeros(1), ones, 1.0),
        "left_out_linear": (LinearTable(ones), np.zeros(1), LinearTable(ones), np.zeros(1), None),
        "own_rising_scores": (None, ones, 1.0),
        "left_out_complement": (None, ones, 1.0),
    }
    for cell, message in ((-1.0, "column 1 is -1 at row 1"), (np.inf, "column 1 is infinite at row 1")):
        data = LAYOUTS[layout](np.array([[1.0, 2.0], [1.0, cell]]))
        for name, args in calls.items():
            with pytest.raises(InputError, match=message):
                getattr(kernels, name)(data, classes, *args)
