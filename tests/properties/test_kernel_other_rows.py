"""A row scored without itself has the score that the other rows alone give it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import ReferenceKernels
from scipy import stats
from scipy.special import gammaln
from tiers import tries

from candide.kernels import Kernels
from candide.kernels.tables import LinearTable, NormalTable

from .layouts import LAYOUTS, Problem, problems
from .members import normal_posterior, others_of, shared_posterior, totals, without

BOTH = pytest.mark.parametrize("kernels", [Kernels(2), ReferenceKernels()], ids=["native", "reference"])
WEIGHTS = ["none", "whole", "fraction"]
TINY = st.sampled_from([0.0, 1e-10])

few = tries(15)


def assert_close(got: Any, meant: Any) -> None:
    """Scores of numbers of about unit size, from totals of up to a hundred rows."""
    np.testing.assert_allclose(got, meant, rtol=1e-9, atol=1e-9)


@BOTH
@few
@given(problem=problems(WEIGHTS), pseudo=TINY)
def test_sums_of_logarithms_are_those_of_the_other_rows(kernels: Any, problem: Problem, pseudo: float) -> None:
    """Totals made again without the row, whose zeros are exact."""
    data = LAYOUTS["c-f8"](problem.X)
    rows, table = (data, problem.classes, problem.weight), LinearTable(problem.table())
    base = np.zeros(problem.n_classes)
    sums, zeros, cells = kernels.left_out_counts(*rows, table, base, totals(problem, data), pseudo)[1]
    for i, x in enumerate(np.nan_to_num(problem.X)):
        left = totals(without(problem, i), data)[problem.classes[i]] + pseudo
        log = np.log(left, out=np.zeros_like(left), where=left > 0)
        assert_close((sums[i], zeros[i], cells[i]), (x @ log, x @ (left == 0), x.sum()))


@BOTH
@pytest.mark.parametrize("student", [False, True])
@few
@given(problem=problems(WEIGHTS, low=-2))
def test_own_normal_scores_are_those_of_the_other_rows(kernels: Any, student: bool, problem: Problem) -> None:
    """The posterior made again without the row."""
    data = LAYOUTS["c-f8"](problem.X)
    posterior = normal_posterior(problem, data, 0.5)
    got = kernels.own_normal_scores(data, problem.classes, problem.weight, posterior, 1.0, 0.1, student=student)
    for i, x in enumerate(problem.X):
        strength, location, shape, scale = (
            part[problem.classes[i]] for part in normal_posterior(without(problem, i), data, 0.5)
        )
        if student:
            cells = stats.t.logpdf(x, 2 * shape, location, np.sqrt(scale * (strength + 1) / (shape * strength)))
        else:
            cells = stats.norm.logpdf(x, location, np.sqrt(scale / (shape + 1.0) + 0.1))
        assert_close(got[i], np.nansum(cells))


@BOTH
@few
@given(problem=problems(WEIGHTS), prior=st.sampled_from([1e-12, 0.01, 30.0]))
def test_own_rising_scores_are_those_of_the_other_rows(kernels: Any, problem: Problem, prior: float) -> None:
    """Totals made again without the row."""
    data = LAYOUTS["c-f8"](problem.X)
    scores = kernels.own_rising_scores(data, problem.classes, problem.weight, totals(problem, data), prior)
    for i, x in enumerate(np.nan_to_num(problem.X)):
        start = totals(without(problem, i), data)[problem.classes[i]] + prior
        assert_close(scores[i], (gammaln(start + x) - gammaln(start)).sum())


@BOTH
@few
@given(problem=problems(WEIGHTS), pseudo=TINY)
def test_left_out_complements_are_those_of_the_other_rows(kernels: Any, problem: Problem, pseudo: float) -> None:
    """Counts made again without the row."""
    data = LAYOUTS["c-f8"](problem.X)
    got = kernels.left_out_complement(data, problem.classes, problem.weight, others_of(problem, data), pseudo)
    for i, x in enumerate(np.nan_to_num(problem.X)):
        left = others_of(without(problem, i), data) + pseudo
        log = np.log(left, out=np.zeros_like(left), where=left > 0)
        assert_close((got.sums[i], got.zeros[i]), (log @ x, (left == 0) @ x))


@BOTH
@few
@given(problem=problems(WEIGHTS, low=-2))
def test_left_out_shared_scores_are_those_of_the_other_rows(kernels: Any, problem: Problem) -> None:
    """The posterior made again without the row."""
    data = LAYOUTS["c-f8"](problem.X)
    none = np.zeros(problem.n_classes)
    posterior = shared_posterior(problem, data, 0.5)
    got = kernels.left_out_shared(data, problem.classes, problem.weight, *posterior, 1.0, 0.1, none)
    for i, x in enumerate(problem.X):
        location, _, shape, scale = shared_posterior(without(problem, i), data, 0.5)
        cells = stats.norm.logpdf(x, location, np.sqrt(scale / (shape + 1.0) + 0.1))
        assert_close(got[i], np.nansum(cells, axis=1))


@BOTH
@pytest.mark.parametrize("student", [False, True])
def test_rows_that_leave_too_little_behind_have_no_score(kernels: Any, student: bool) -> None:
    """A class of one row, one whose variance is all of one row's making, a column that nobody saw."""
    posterior = NormalTable(*(np.array(part) for part in (
        [[1.0], [1e6], [2.0], [9.0]], [[0.0], [0.0], [np.nan], [0.0]], [[0.5], [5e5], [1.0], [4.5]],
        [[1.0], [0.5], [1.0], [3.0]],
    )))  # fmt: skip
    data = LAYOUTS["c-f8"](np.array([[0.0], [1.0], [1.0], [1.0], [np.nan]]))
    classes = np.array([0, 1, 2, 3, 2], np.int32)
    for weight in (None, np.ones(5)):
        scores = kernels.own_normal_scores(data, classes, weight, posterior, 0.0, 0.0, student=student)
        np.testing.assert_array_equal(np.isnan(scores), [True, True, True, False, False])
    args = (posterior.location, posterior.strength, np.array([4.5]), np.array([1e-9]), 0.0, 0.0, np.zeros(4))
    shared = kernels.left_out_shared(data, classes, None, *args)
    assert np.isnan(shared[:4]).all()
    np.testing.assert_array_equal(shared[4], np.zeros(4))
