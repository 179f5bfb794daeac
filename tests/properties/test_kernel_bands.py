"""Kernels of tokens in bands of evidence: native is reference at any number of threads, left out is without."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import ReferenceKernels
from scipy.sparse import csr_array
from scipy.stats import chi2_contingency

from candide.exceptions import InputError
from candide.kernels import Kernels
from candide.kernels.layouts import Floats, Positions, Sparse
from candide.kernels.token_bins import KNOTS, TokenBins

NATIVE, REFERENCE = Kernels(2), ReferenceKernels()
BOTH = pytest.mark.parametrize("kernels", [NATIVE, REFERENCE], ids=["native", "reference"])
WEIGHTS = {"none": [1.0], "whole": [0.0, 1.0, 2.0], "fraction": [0.0, 0.3, 1.0, 2.7]}


class Problem(NamedTuple):
    """Texts as rows of codes, of which the first are in the sums of the table."""

    held: Floats  # (rows, codes) 0 or 1
    rows: Sparse
    classes: Positions
    weight: Floats | None
    folds: Positions
    table: TokenBins

    @property
    def row_weight(self) -> Floats:
        return np.ones(len(self.held)) if self.weight is None else self.weight


def sums_of(held: Floats, classes: Positions, weight: Floats, n_classes: int) -> Floats:
    """Weights of texts, (classes, codes)."""
    return (np.arange(n_classes)[:, None] == classes) * weight @ held


def problem(
    n_rows: int, n_codes: int, n_classes: int, seed: int, weights: str = "none", complement: bool = True,
    knots: tuple[float, ...] = KNOTS, index: Any = np.int32,
) -> Problem:  # fmt: skip
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, n_classes, n_rows).astype(np.int32)
    # Some tokens are everywhere, some rare, some in a few classes alone.
    often = rng.random(n_codes) ** 2 * np.where(rng.random((n_classes, n_codes)) < 0.5, 1.0, 0.1)
    held = (rng.random((n_rows, n_codes)) < often[classes]).astype(np.float64)
    weight = None if weights == "none" else rng.choice(WEIGHTS[weights], n_rows)
    sums = sums_of(held, classes, np.ones(n_rows) if weight is None else weight, n_classes)
    alpha = float(rng.choice([0.01, 0.5, 3.0]))
    table = TokenBins.of(csr_array(sums) if seed % 2 else sums, alpha, knots, complement)
    stored = csr_array(held)
    order = [rng.permutation(part) for part in np.split(stored.indices, stored.indptr[1:-1])]
    indices = np.concatenate([*order, np.zeros(0, int)]).astype(index)
    rows = Sparse(stored.indptr.astype(index), indices, rng.integers(1, 9, len(indices)), n_codes)
    folds = rng.integers(0, rng.integers(1, n_rows + 1), n_rows).astype(np.int32) if n_rows else np.zeros(0, np.int32)
    return Problem(held, rows, classes, weight, folds, table)


def results(kernels: Any, p: Problem) -> list[Floats]:
    return [
        kernels.token_bin_scores(p.rows, p.table),
        kernels.token_bin_left_out(p.rows, p.classes, p.weight, p.table),
        kernels.token_bin_fold_scores(p.rows, p.classes, p.weight, p.folds, p.table),
    ]


@BOTH
@pytest.mark.parametrize("seed", range(12))
def test_tokens_that_no_row_holds_may_be_left_out(kernels: Any, seed: int) -> None:
    """Of the table that few rows are scored by; what the classes hold of other tokens stays in their sizes."""
    p = problem(20, 30, 2 + seed % 3, seed, ["none", "whole", "fraction"][seed % 3], complement=seed % 2 == 0)
    few = np.arange(3)
    sums = sums_of(p.held, p.classes, p.row_weight, p.table.n_classes)
    codes = np.flatnonzero(p.held[few].any(axis=0))
    table = TokenBins.of_some(csr_array(sums) if seed % 2 else sums, codes, p.table.alpha, p.table.complement)
    assert len(table.weight) < len(p.table.weight)
    weight, folds = None if p.weight is None else p.weight[few], few.astype(np.int32) // 2
    own = p.classes[few], weight, folds
    ours, whole = (
        results(kernels, Problem(held, Sparse.of(csr_array(held)), *own, one))
        for held, one in ((p.held[few][:, codes], table), (p.held[few], p.table))
    )
    for mine, theirs in zip(ours, whole, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("as_rows", [np.array, csr_array], ids=["dense", "sparse"])
@given(n_classes=st.integers(1, 5), n_codes=st.integers(0, 200), seed=st.integers(0, 1000))
def test_tables_hold_the_sums(as_rows: Any, n_classes: int, n_codes: int, seed: int) -> None:
    """Of codes that some class has, and no others; the heaviest first."""
    rng = np.random.default_rng(seed)
    sums = rng.choice([0.0, 0.0, 0.0, 1.0, 2.5, 70_000.0], (n_classes, n_codes))
    codes, table = TokenBins.of_seen(as_rows(sums), 1.0)
    np.testing.assert_array_equal(codes, np.flatnonzero(sums.any(axis=0)))
    held = np.zeros((n_classes, len(codes)))
    held[table.classes, np.repeat(np.arange(len(codes)), np.diff(table.indptr))] = table.count
    np.testing.assert_array_equal(held[:, table.place], sums[:, codes])
    assert (table.count > 0).all()
    np.testing.assert_array_equal(table.weight, held.sum(axis=0))
    np.testing.assert_array_equal(table.size, sums.sum(axis=1))
    # Of whole numbers as far as they are told apart, equals in the order of their codes.
    told = np.minimum(np.floor(table.weight), 1 << 16)
    assert (np.diff(told) <= 0).all()
    assert (np.diff(np.argsort(table.place))[np.diff(told) == 0] > 0).all()
    everywhere = TokenBins.of(as_rows(sums), 1.0).place
    np.testing.assert_array_equal(everywhere[codes], table.place)
    assert (np.delete(everywhere, codes) == -1).all()


def spelled_out(sums: Floats, held: Floats, whole: TokenBins, size: Floats | None = None) -> Floats:
    """The scores of one text by sums that may lack it, (views, classes), from the formulas as they are written.

    Sizes of classes are those of the whole, unless others are given. What cancels among classes, log alpha for every
    token and log of its weight plus alpha, is taken out.
    """
    tokens, alpha, size = np.flatnonzero(held * sums.sum(axis=0)), whole.alpha, whole.size if size is None else size
    share, views = size / (size.sum() or 1.0), np.zeros((whole.n_views, len(sums)))
    for j in tokens:
        t, every = sums[:, j], sums[:, j].sum()
        g2 = 2 * (xlogx(t).sum() - xlogx(every) - (t[t > 0] * np.log(share[t > 0])).sum())
        room = alpha * len(whole.weight)
        plain = np.log((t + alpha) / (size + room)) - np.log(alpha)
        others = np.log((every - t + alpha) / (size.sum() - size + room)) - np.log(every + alpha)
        for band, part in enumerate(hats(g2 / max(1, len(sums) - 1), whole.knots)):
            views[band] += part * plain
            if whole.complement:
                views[whole.n_bins + band] -= part * others
    return views / np.sqrt(1 + len(tokens))


def hats(evidence: float, knots: tuple[float, ...]) -> Floats:
    """What each band has of a token: all beyond the first and the last knot, between two by the logarithm."""
    parts = np.zeros(len(knots))
    band = sum(evidence >= knot for knot in knots) - 1
    if 0 <= band < len(knots) - 1:
        parts[band + 1] = np.log(evidence / knots[band]) / np.log(knots[band + 1] / knots[band])
        parts[band] = 1.0 - parts[band + 1]
    else:
        parts[band if band >= 0 else 0] = 1.0
    return parts


def xlogx(t: Any) -> Any:
    return t * np.log(np.where(t > 0, t, 1.0))


@given(
    n_rows=st.integers(0, 12), n_codes=st.integers(1, 40), n_classes=st.integers(1, 20), seed=st.integers(0, 1000),
    weights=st.sampled_from(list(WEIGHTS)), complement=st.booleans(),
    knots=st.sampled_from([(2.0,), (1.0, 3.0), KNOTS, (0.1, 0.2, 0.4)]), index=st.sampled_from([np.int32, np.int64]),
)  # fmt: skip
def test_native_is_reference(n_rows: int, n_codes: int, n_classes: int, seed: int, weights: str, complement: bool,
                             knots: tuple[float, ...], index: Any) -> None:  # fmt: skip
    made = problem(n_rows, n_codes, n_classes, seed, weights, complement, knots, index)
    for got, meant in zip(results(NATIVE, made), results(REFERENCE, made), strict=True):
        assert got.shape == (made.table.n_views, n_rows, n_classes)
        np.testing.assert_allclose(got, meant, rtol=1e-10, atol=1e-10)


@BOTH
@given(
    n_rows=st.integers(1, 20), n_classes=st.integers(1, 5), seed=st.integers(0, 1000),
    weights=st.sampled_from(list(WEIGHTS)), complement=st.booleans(),
)  # fmt: skip
def test_left_out_is_without_the_row(
    kernels: Any, n_rows: int, n_classes: int, seed: int, weights: str, complement: bool
) -> None:
    """Sums made again without it, but for the sizes of the classes."""
    made = problem(n_rows, 12, n_classes, seed, weights, complement)
    got = kernels.token_bin_left_out(made.rows, made.classes, made.weight, made.table)
    for r in range(n_rows):
        weight = np.where(np.arange(n_rows) == r, 0.0, made.row_weight)
        sums = sums_of(made.held, made.classes, weight, n_classes)
        np.testing.assert_allclose(got[:, r], spelled_out(sums, made.held[r], made.table), rtol=1e-9, atol=1e-9)


@BOTH
@given(
    n_rows=st.integers(1, 20), n_classes=st.integers(1, 5), seed=st.integers(0, 1000),
    weights=st.sampled_from(list(WEIGHTS)), complement=st.booleans(),
)  # fmt: skip
def test_fold_scores_are_without_the_fold(
    kernels: Any, n_rows: int, n_classes: int, seed: int, weights: str, complement: bool
) -> None:
    """Sums made again without it, but for the number of tokens."""
    made = problem(n_rows, 12, n_classes, seed, weights, complement)
    got = kernels.token_bin_fold_scores(made.rows, made.classes, made.weight, made.folds, made.table)
    for r in range(n_rows):
        weight = np.where(made.folds == made.folds[r], 0.0, made.row_weight)
        sums = sums_of(made.held, made.classes, weight, n_classes)
        meant = spelled_out(sums, made.held[r], made.table, sums.sum(axis=1))
        np.testing.assert_allclose(got[:, r], meant, rtol=1e-9, atol=1e-9)


@BOTH
@pytest.mark.parametrize("n_classes", [1, 2, 3, 30])
def test_new_rows_by_all_sums(kernels: Any, n_classes: int) -> None:
    """As written; rows of weight 0 that are left out are new ones too."""
    made = problem(50, 30, n_classes, 1)
    sums = sums_of(made.held, made.classes, made.row_weight, n_classes)
    got = kernels.token_bin_scores(made.rows, made.table)
    for r, held in enumerate(made.held):
        np.testing.assert_allclose(got[:, r], spelled_out(sums, held, made.table), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(kernels.token_bin_left_out(made.rows, made.classes, np.zeros(50), made.table), got)


def test_evidence_is_the_likelihood_ratio() -> None:
    """Of a token's classes against those of all the others, when it is one of very many: scipy's G-test."""
    sums = np.array([[5.0, 40_000_000.0], [1.0, 30_000_000.0], [9.0, 30_000_000.0]])
    meant = chi2_contingency(sums, lambda_="log-likelihood").statistic
    table = TokenBins.of(sums, 1.0)
    np.testing.assert_allclose(table.evidence[table.place[0]], meant, rtol=1e-5)


@pytest.mark.parametrize(
    ("factor", "level"), [(8.0, 0.0), (4.0, 0.0), (1.0, 0.5), (0.5, 0.75), (0.25, 1.0), (0.1, 1.0)]
)
def test_a_token_is_shared_by_two_bands(factor: float, level: float) -> None:
    """By the logarithm of its evidence between their knots: a quarter of some factor of it, and four times that."""
    sums = np.array([[8.0, 1.0, 10.0], [1.0, 8.0, 10.0]])
    evidence = factor * TokenBins.of(sums, 1.0).evidence.max()
    table = TokenBins.of(sums, 1.0, (evidence / 4.0, evidence * 4.0))
    assert table.level.max() == pytest.approx(level, abs=1e-12)


def every_score(kernels: Any, rows: Sparse, classes: Positions, table: TokenBins) -> list[Floats]:
    """Of each row as new, left out alone, and with all others."""
    folds = np.zeros(rows.n_rows, np.int32)
    return results(kernels, Problem(np.zeros(0), rows, classes, None, folds, table))


@BOTH
def test_texts_without_tokens_and_tokens_that_nobody_holds(kernels: Any) -> None:
    """They say nothing, and count for nothing."""
    table = TokenBins.of(np.array([[4.0, 0.0, 1.0], [1.0, 0.0, 6.0], [2.0, 0.0, 2.0]]), 0.5, complement=True)
    rows = Sparse.of(csr_array(np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])))
    classes = np.zeros(4, np.int32)
    for scores in every_score(kernels, rows, classes, table):
        np.testing.assert_array_equal(scores[:, :2], np.zeros((8, 2, 3)))
        np.testing.assert_array_equal(scores[:, 2], scores[:, 3])


@BOTH
def test_a_token_of_the_row_alone_is_unknown_without_it(kernels: Any) -> None:
    """Also if weights leave a rest that is rounding."""
    weight = 0.1 + 0.2
    table = TokenBins.of(np.array([[weight, 5.0], [0.0, 5.0]]), 1.0)
    rows = Sparse.of(csr_array(np.array([[1.0, 1.0], [0.0, 1.0]])))
    how, none = (rows, np.zeros(2, np.int32), np.full(2, 0.3)), np.zeros(2, np.int32)
    for scores in (kernels.token_bin_left_out(*how, table), kernels.token_bin_fold_scores(*how, none, table)):
        np.testing.assert_array_equal(scores[:, 0], scores[:, 1])


@BOTH
def test_a_table_of_nothing(kernels: Any) -> None:
    table = TokenBins.of(csr_array((3, 4)), 1.0, complement=True)
    rows = Sparse.of(csr_array(np.ones((2, 4))))
    for scores in every_score(kernels, rows, np.zeros(2, np.int32), table):
        np.testing.assert_array_equal(scores, np.zeros((8, 2, 3)))


@pytest.mark.parametrize(("n_classes", "complement"), [(2, False), (5, True)])
def test_threads_change_nothing(n_classes: int, complement: bool) -> None:
    made = problem(600, 200, n_classes, 3, "fraction", complement)
    for n_threads in (2, 3, 7):
        for got, meant in zip(results(Kernels(n_threads), made), results(Kernels(1), made), strict=True):
            np.testing.assert_array_equal(got, meant)


@pytest.mark.parametrize("code", [-1, 3, 2**31 - 1])
def test_codes_that_the_table_lacks_are_refused(code: int) -> None:
    table = TokenBins.of(np.ones((2, 3)), 1.0)
    rows = Sparse(np.array([0, 2], np.int32), np.array([0, code], np.int32), np.ones(2), 3)
    for call in (
        lambda: NATIVE.token_bin_scores(rows, table),
        lambda: NATIVE.token_bin_left_out(rows, np.zeros(1, np.int32), None, table),
        lambda: NATIVE.token_bin_fold_scores(rows, np.zeros(1, np.int32), None, np.zeros(1, np.int32), table),
    ):
        with pytest.raises(InputError, match="malformed"):
            call()
