"""Kernels kernels that score do what their reference says, in every layout, to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import ReferenceKernels
from scipy.sparse import csr_array, random_array
from tiers import every, tries

from candide.exceptions import InputError
from candide.kernels import Kernels
from candide.kernels.layouts import Dense
from candide.kernels.tables import FactoredTable, LinearTable, PickTable, StudentTable

from .layouts import DENSE, LAYOUTS, Problem, problems

NATIVE, REFERENCE = Kernels(2), ReferenceKernels()

few = tries(15)


def assert_close(got: Any, meant: Any) -> None:
    """Scores of numbers of about unit size."""
    np.testing.assert_allclose(got, meant, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("threshold", [None, 2.5])
@few
@given(problem=problems(["none"], low=-2), absent=st.booleans())
@every("layout", LAYOUTS)
def test_linear_scores_agree(layout: str, threshold: float | None, problem: Problem, absent: bool) -> None:
    """With and without a term for missing cells; without a threshold the cells are counts."""
    data = LAYOUTS[layout](np.abs(problem.X) if threshold is None else problem.X)
    table = LinearTable(problem.table(), problem.table() if absent else None)
    base = problem.table(1)[:, 0]
    assert_close(*(k.linear_scores(data, table, base, threshold) for k in (NATIVE, REFERENCE)))


@pytest.mark.parametrize("threshold", [None, 0.0])
@few
@given(problem=problems(["none"]))
@every("layout", LAYOUTS)
def test_factored_scores_agree(layout: str, threshold: float | None, problem: Problem) -> None:
    """Tables kept as a sum of a column's part, a class's part and a sparse rest."""
    data = LAYOUTS[layout](problem.X)
    shape = (problem.X.shape[1], problem.n_classes)
    stored = csr_array(random_array(shape, density=0.4, random_state=problem.rng))
    parts = (stored.data, stored.indices.astype(np.int64), stored.indptr.astype(np.int64))
    table = FactoredTable(problem.table()[0], problem.table(1)[:, 0], csr_array(parts, shape=shape))
    base = problem.table(1)[:, 0]
    assert_close(*(k.factored_scores(data, table, base, threshold) for k in (NATIVE, REFERENCE)))


@few
@given(problem=problems(["none"], low=-2))
@every("layout", LAYOUTS)
def test_quadratic_scores_agree(layout: str, problem: Problem) -> None:
    """Squared distances, with a constant in place of each missing cell."""
    data = LAYOUTS[layout](problem.X)
    args = (np.abs(problem.table()), problem.table(), problem.table(), problem.table(1)[:, 0])
    assert_close(*(k.quadratic_scores(data, *args) for k in (NATIVE, REFERENCE)))


@few
@given(problem=problems(["none"], low=-2), spread=st.sampled_from([1e-9, 1.0, 1e9]))
@every("layout", LAYOUTS)
def test_student_scores_agree(layout: str, problem: Problem, spread: float) -> None:
    """Distances from very small to very large, with a constant in place of each missing cell."""
    data = LAYOUTS[layout](problem.X)
    spreads = np.abs(problem.table()) * spread
    table = StudentTable(problem.table(), spreads, np.abs(problem.table()), problem.table())
    base = problem.table(1)[:, 0]
    assert_close(*(k.student_scores(data, table, base) for k in (NATIVE, REFERENCE)))


@few
@given(
    problem=problems(["none"]), start=st.sampled_from([1e-300, 1e-3, 3.0, 1e4]), scale=st.sampled_from([1.0, 1.3, 5.0])
)
@every("layout", LAYOUTS)
def test_rising_scores_agree(layout: str, problem: Problem, start: float, scale: float) -> None:
    """Counts few and many, whole and not, with and without a table of them."""
    data = LAYOUTS[layout](problem.X * scale)
    starts, base = np.exp(problem.table()) * start, problem.table(1)[:, 0]
    np.testing.assert_allclose(
        *(k.rising_scores(data, starts, base) for k in (NATIVE, REFERENCE)), rtol=1e-11, atol=1e-9
    )


@few
@given(problem=problems(["none"]), room=st.integers(0, 8))
@every("layout", DENSE)
def test_code_scores_agree(layout: str, problem: Problem, room: int) -> None:
    """Codes beyond a column's slots take its last one; missing ones add nothing."""
    codes = DENSE[layout](np.where(problem.X == 5, -1.0, problem.X) if "u" not in layout else problem.X)
    offsets = np.arange(problem.X.shape[1] + 1, dtype=np.int64) * (1 + room)
    table = PickTable(problem.rng.normal(size=(int(offsets[-1]), problem.n_classes)))
    base = problem.table(1)[:, 0]
    assert_close(*(k.code_scores(codes, offsets, table, base) for k in (NATIVE, REFERENCE)))


@pytest.mark.parametrize("layout", ["c-f8", "c-f4", "fortran", "strided", "columns", "csr-f8-i4", "csr-f4-i8"])
@every("kernels", [NATIVE, REFERENCE])
def test_infinite_cells_are_refused(layout: str, kernels: Any) -> None:
    """An infinity is found wherever it stands, and named."""
    data = LAYOUTS[layout](np.array([[1.0, 2.0], [np.inf, 1.0]]))
    ones = np.ones((2, 2))
    with pytest.raises(InputError, match="column 0 is infinite at row 1"):
        kernels.linear_scores(data, LinearTable(ones), np.zeros(2), None)
    with pytest.raises(InputError, match="column 0 is infinite at row 1"):
        kernels.quadratic_scores(data, ones, ones, ones, np.zeros(2))
    with pytest.raises(InputError, match="column 0 is infinite at row 1"):
        kernels.student_scores(data, StudentTable(ones, ones, ones, ones), np.zeros(2))
    with pytest.raises(InputError, match="column 0 is infinite at row 1"):
        kernels.rising_scores(data, ones, np.zeros(2))
    assert kernels.tally(data, np.zeros(2, np.int32), None, 1, None).infinite


SCORES = st.sampled_from([0.0, -1.0, 2.5, -700.0, 800.0, -1e308, -np.inf, np.inf])


@given(rows=st.integers(1, 9).flatmap(lambda n: st.lists(st.lists(SCORES, min_size=n, max_size=n), min_size=1)))
def test_normalising_and_choosing_agree(rows: list[list[float]]) -> None:
    """Rows without a finite largest score are left alone and counted; the first of equals is best."""
    scores = np.array(rows)
    decided = np.isfinite(scores.max(axis=1))
    for logarithm in (False, True):
        got, meant = scores.copy(), scores.copy()
        undecided = [k.normalize(s, logarithm=logarithm) for k, s in ((NATIVE, got), (REFERENCE, meant))]
        assert undecided == [(~decided).sum()] * 2
        np.testing.assert_allclose(got, meant, rtol=1e-12, atol=1e-300)
    (best, left), (meant_best, meant_left) = (k.best(scores) for k in (NATIVE, REFERENCE))
    assert left == meant_left == (~decided).sum()
    np.testing.assert_array_equal(best[decided], meant_best[decided])


def test_empty_tables_score_nothing() -> None:
    """No rows, no scores; no error either."""
    data = Dense.of(np.empty((0, 3)))
    assert NATIVE.linear_scores(data, LinearTable(np.ones((2, 3))), np.zeros(2), None).shape == (0, 2)
    assert REFERENCE.linear_scores(data, LinearTable(np.ones((2, 3))), np.zeros(2), None).shape == (0, 2)


@pytest.mark.parametrize("kernels", [NATIVE, REFERENCE], ids=["native", "reference"])
@pytest.mark.parametrize("row", [[np.nan, 1.0], [1.0, np.nan], [-np.inf, np.nan]], ids=str)
def test_a_score_that_is_no_number_decides_nothing(kernels: Any, row: list[float]) -> None:
    """Overflow can make inf - inf: such rows are left alone and counted."""
    scores = np.array([row, [0.0, 0.0]])
    assert kernels.best(scores)[1] == 1
    assert kernels.normalize(scores, logarithm=False) == 1
    np.testing.assert_array_equal(scores, [row, [0.5, 0.5]])


def test_equals_share_whatever_their_size() -> None:
    """Two equal scores are one half each, also where adding log 2 to them changes nothing."""
    for score in (0.0, -1e5, 1e17, -1e308):
        got = np.full((1, 2), score)
        NATIVE.normalize(got, logarithm=True)
        np.testing.assert_allclose(got, np.log(0.5), rtol=1e-12)
