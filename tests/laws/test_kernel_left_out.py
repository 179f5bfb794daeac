"""Kernels that score rows without themselves: native equals reference in every layout, and both equal a plain loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from candide.exceptions import InputError
from candide.kernels.base import LinearTable, NormalTable, PickTable
from candide.kernels.data import Data, Floats
from candide.kernels.native import Native
from candide.kernels.reference import Reference

from .layouts import DENSE, LAYOUTS, Problem, problems

NATIVE, REFERENCE = Native(2), Reference()
BOTH = pytest.mark.parametrize("kernels", [NATIVE, REFERENCE], ids=["native", "reference"])
WEIGHTS = ["none", "whole", "fraction"]

every_layout = pytest.mark.parametrize("layout", LAYOUTS)
few = settings(max_examples=15)


def assert_close(got: Any, meant: Any) -> None:
    """Scores of numbers of about unit size."""
    np.testing.assert_allclose(got, meant, rtol=1e-11, atol=1e-11)


def row_weights(problem: Problem) -> Floats:
    return np.ones(len(problem.X)) if problem.weight is None else problem.weight


def totals(problem: Problem, data: Data) -> Floats:
    """Weighted sums of the cells of each class, which contain every row."""
    sums = np.zeros((problem.n_classes, problem.X.shape[1]))
    np.add.at(sums, problem.classes, np.nan_to_num(data.floats()) * row_weights(problem)[:, None])
    return sums


@every_layout
@pytest.mark.parametrize("threshold", [None, 2.5])
@few
@given(problem=problems(["none"], low=-2), absent=st.booleans())
def test_own_linear_scores_agree(layout: str, threshold: float | None, problem: Problem, absent: bool) -> None:
    """One score a row out of those of all classes."""
    data = LAYOUTS[layout](np.abs(problem.X) if threshold is None else problem.X)
    table = LinearTable(problem.table(), problem.table() if absent else None)
    args = (data, problem.classes, table, problem.table(1)[:, 0], threshold)
    assert_close(*(k.own_linear_scores(*args) for k in (NATIVE, REFERENCE)))


@pytest.mark.parametrize("layout", DENSE)
@few
@given(problem=problems(["none"]), room=st.integers(0, 8))
def test_own_code_scores_agree(layout: str, problem: Problem, room: int) -> None:
    """Codes beyond a column's slots take its last one; missing ones add nothing."""
    codes = DENSE[layout](np.where(problem.X == 5, -1.0, problem.X) if "u" not in layout else problem.X)
    offsets = np.arange(problem.X.shape[1] + 1, dtype=np.int64) * (1 + room)
    table = PickTable(problem.rng.normal(size=(int(offsets[-1]), problem.n_classes)))
    assert_close(*(k.own_code_scores(codes, problem.classes, offsets, table) for k in (NATIVE, REFERENCE)))


@every_layout
@few
@given(problem=problems(WEIGHTS), pseudo_count=st.sampled_from([0.0, 1.0]))
def test_own_log_sums_agree(layout: str, problem: Problem, pseudo_count: float) -> None:
    """With and without counts that leave nothing behind."""
    data = LAYOUTS[layout](problem.X)
    args = (data, problem.classes, problem.weight, totals(problem, data) + pseudo_count)
    for got, meant in zip(NATIVE.own_log_sums(*args), REFERENCE.own_log_sums(*args), strict=True):
        assert_close(got, meant)


@BOTH
@few
@given(problem=problems(WEIGHTS))
def test_own_log_sums_are_those_of_the_other_rows(kernels: Any, problem: Problem) -> None:
    """Totals made again without the row, whose zeros are exact."""
    data = LAYOUTS["c-f8"](problem.X)
    sums, zeros = kernels.own_log_sums(data, problem.classes, problem.weight, totals(problem, data))
    for i, x in enumerate(np.nan_to_num(problem.X)):
        others = (problem.classes == problem.classes[i]) & (np.arange(len(problem.X)) != i)
        left = (row_weights(problem)[others, None] * np.nan_to_num(problem.X[others])).sum(axis=0)
        log = np.log(left, out=np.zeros_like(left), where=left > 0)
        assert_close((sums[i], zeros[i]), (x @ log, x @ (left == 0)))


def normal_posterior(problem: Problem, data: Data, prior: float) -> NormalTable:
    """Of cells with ``prior`` rows of scatter 1 around 0."""
    x, w = data.floats(), row_weights(problem)[:, None] * ~np.isnan(data.floats())
    member = (np.arange(problem.n_classes)[:, None] == problem.classes).astype(float)
    weight = member @ w
    strength = weight + prior
    with np.errstate(invalid="ignore", divide="ignore"):
        location = member @ (w * np.nan_to_num(x)) / strength
    scatter = member @ (w * np.nan_to_num(x - location[problem.classes]) ** 2)
    return NormalTable(strength, location, prior + weight / 2, prior + (scatter + prior * location**2) / 2)


@every_layout
@pytest.mark.parametrize("student", [False, True])
@few
@given(problem=problems(WEIGHTS, low=-2), prior=st.sampled_from([0.0, 0.5]), extra=st.sampled_from([0.0, 1.0]))
def test_own_normal_scores_agree(layout: str, student: bool, problem: Problem, prior: float, extra: float) -> None:
    """Also in which rows leave too little behind."""
    data = LAYOUTS[layout](problem.X)
    posterior = normal_posterior(problem, data, prior)
    args = (data, problem.classes, problem.weight, posterior, extra, 0.1)
    assert_close(*(k.own_normal_scores(*args, student=student) for k in (NATIVE, REFERENCE)))


@BOTH
@pytest.mark.parametrize("student", [False, True])
@few
@given(problem=problems(WEIGHTS, low=-2))
def test_own_normal_scores_are_those_of_the_other_rows(kernels: Any, student: bool, problem: Problem) -> None:
    """The posterior made again without the row."""
    data = LAYOUTS["c-f8"](problem.X)
    posterior = normal_posterior(problem, data, 0.5)
    got = kernels.own_normal_scores(data, problem.classes, problem.weight, posterior, 1.0, 0.1, student=student)
    weight = row_weights(problem)
    for i, x in enumerate(problem.X):
        without = replace(problem, weight=np.where(np.arange(len(weight)) == i, 0.0, weight))
        strength, location, shape, scale = (part[problem.classes[i]] for part in normal_posterior(without, data, 0.5))
        if student:
            cells = stats.t.logpdf(x, 2 * shape, location, np.sqrt(scale * (strength + 1) / (shape * strength)))
        else:
            cells = stats.norm.logpdf(x, location, np.sqrt(scale / (shape + 1.0) + 0.1))
        np.testing.assert_allclose(got[i], np.nansum(cells), rtol=1e-9, atol=1e-9)


@every_layout
@few
@given(problem=problems(WEIGHTS), pseudo_count=st.sampled_from([0.01, 30.0]), scale=st.sampled_from([1.0, 1.3, 5.0]))
def test_own_rising_scores_agree(layout: str, problem: Problem, pseudo_count: float, scale: float) -> None:
    """Counts few and many, whole and not."""
    data = LAYOUTS[layout](problem.X * scale)
    args = (data, problem.classes, problem.weight, totals(problem, data) + pseudo_count)
    assert_close(*(k.own_rising_scores(*args) for k in (NATIVE, REFERENCE)))


def others_of(problem: Problem, data: Data) -> Floats:
    """The counts of all classes but one."""
    sums = totals(problem, data)
    return np.array([np.delete(sums, c, axis=0).sum(axis=0) for c in range(len(sums))])


@every_layout
@few
@given(problem=problems(WEIGHTS), pseudo_count=st.sampled_from([0.0, 1.0]))
def test_left_out_complements_agree(layout: str, problem: Problem, pseudo_count: float) -> None:
    """With and without counts that leave nothing behind."""
    data = LAYOUTS[layout](np.maximum(problem.X - 2, 0))
    args = (data, problem.classes, problem.weight, others_of(problem, data) + pseudo_count)
    for got, meant in zip(NATIVE.left_out_complement(*args), REFERENCE.left_out_complement(*args), strict=True):
        assert_close(got, meant)


@BOTH
@few
@given(problem=problems(WEIGHTS))
def test_left_out_complements_are_those_of_the_other_rows(kernels: Any, problem: Problem) -> None:
    """Counts made again without the row."""
    data = LAYOUTS["c-f8"](problem.X)
    got = kernels.left_out_complement(data, problem.classes, problem.weight, others_of(problem, data))
    weight = row_weights(problem)
    for i, x in enumerate(np.nan_to_num(problem.X)):
        left = others_of(replace(problem, weight=np.where(np.arange(len(weight)) == i, 0.0, weight)), data)
        log = np.log(left, out=np.zeros_like(left), where=left > 0)
        assert_close((got.sums[i], got.zeros[i]), (log @ x, (left == 0) @ x))


def shared_posterior(problem: Problem, data: Data, prior: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Locations and strengths of classes; shapes and scales of columns."""
    own = normal_posterior(problem, data, prior)
    return own.location, own.strength, own.shape.sum(axis=0), own.scale.sum(axis=0)


@every_layout
@few
@given(problem=problems(WEIGHTS, low=-2), prior=st.sampled_from([0.0, 0.5]), extra=st.sampled_from([0.0, 1.0]))
def test_left_out_shared_scores_agree(layout: str, problem: Problem, prior: float, extra: float) -> None:
    """Also in which rows leave too little behind."""
    data = LAYOUTS[layout](problem.X)
    args = (data, problem.classes, problem.weight, *shared_posterior(problem, data, prior), extra, 0.1)
    base = problem.table(1)[:, 0]
    assert_close(*(k.left_out_shared(*args, base) for k in (NATIVE, REFERENCE)))


@BOTH
@few
@given(problem=problems(WEIGHTS, low=-2))
def test_left_out_shared_scores_are_those_of_the_other_rows(kernels: Any, problem: Problem) -> None:
    """The posterior made again without the row."""
    data = LAYOUTS["c-f8"](problem.X)
    none, weight = np.zeros(problem.n_classes), row_weights(problem)
    posterior = shared_posterior(problem, data, 0.5)
    got = kernels.left_out_shared(data, problem.classes, problem.weight, *posterior, 1.0, 0.1, none)
    for i, x in enumerate(problem.X):
        without = replace(problem, weight=np.where(np.arange(len(weight)) == i, 0.0, weight))
        location, _, shape, scale = shared_posterior(without, data, 0.5)
        cells = stats.norm.logpdf(x, location, np.sqrt(scale / (shape + 1.0) + 0.1))
        np.testing.assert_allclose(got[i], np.nansum(cells, axis=1), rtol=1e-9, atol=1e-9)


@BOTH
@pytest.mark.parametrize("layout", ["c-f8", "fortran", "columns", "csr-f8-i4"])
def test_negative_and_infinite_counts_are_refused(layout: str, kernels: Any) -> None:
    """As by the kernels that score under all classes."""
    classes, ones = np.zeros(2, np.int32), np.ones((1, 2))
    calls = {
        "own_linear_scores": (LinearTable(ones), np.zeros(1), None),
        "own_log_sums": (None, ones),
        "own_rising_scores": (None, ones),
        "left_out_complement": (None, ones),
    }
    for cell, message in ((-1.0, "column 1 is -1 at row 1"), (np.inf, "column 1 is infinite at row 1")):
        data = LAYOUTS[layout](np.array([[1.0, 2.0], [1.0, cell]]))
        for name, args in calls.items():
            with pytest.raises(InputError, match=message):
                getattr(kernels, name)(data, classes, *args)
