"""Shares of words by hand, dense and sparse, and rows left out against models without them."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import gammaln
from tiers import every

from candide.families import Batch, Multinomial, multinomial
from candide.kernels import Kernels
from candide.kernels.layouts import Dense, Sparse
from candide.priors import Dirichlet
from candide.statistics import Counts

KERNELS = Kernels(1)
# Class 1 lacks words 0 and 2, no class has word 3, class 2 has no words at all.
TOTAL = np.array([[3.0, 1.0, 0.5, 0.0], [0.0, 5.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
ROWS = np.array([2.0, 1.0, 0.0])
X = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 3.0], [0.0] * 4])
OFFSET = np.log([0.5, 0.3, 0.2])


def counts(form=np.asarray, total=TOTAL):
    return Counts(ROWS[: len(total)], form(total), None)


def shares(part):
    """Even where a class has nothing."""
    whole = part.sum(axis=1, keepdims=True)
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 1 / part.shape[1])


def expected_scores(x, part, offset=OFFSET):
    """Scores with a count of 1 instead of 0, and minus the number of the words that are impossible."""
    whole = part.sum(axis=1, keepdims=True)
    log_share = np.log(np.where(part > 0, part, 1.0)) - np.log(np.where(whole > 0, whole, part.shape[1]))
    return offset + x @ log_share.T, -(x @ (shares(part) == 0).T.astype(float))


PSEUDO = [
    (Dirichlet(1.0), "mean", 1.0),
    (Dirichlet(0.25), "mean", 0.25),
    (Dirichlet(3.0), "map", 2.0),
    (Dirichlet(1.0), "map", 0.0),
    (Dirichlet(1.0), "mle", 0.0),
    (Dirichlet(np.array([0.5, 1.0, 2.0, 4.0])), "mean", np.array([0.5, 1.0, 2.0, 4.0])),
    (Dirichlet(np.array([1.0, 1.0, 2.0, 4.0])), "map", np.array([0.0, 0.0, 1.0, 3.0])),
    (Dirichlet(np.array([[0.5, 1.0, 2.0, 4.0]] * 2 + [[1.0] * 4])), "mean",
     np.array([[0.5, 1.0, 2.0, 4.0]] * 2 + [[1.0] * 4])),
]  # fmt: skip


@every("prior,estimate,pseudo", PSEUDO)
@every("form", [np.asarray, csr_array])
def test_scores(prior, estimate, pseudo, form):
    found = Multinomial(prior, estimate).likelihood(counts(form))
    finite, order = expected_scores(X, TOTAL + pseudo)
    for data in (Dense.of(X), Sparse.of(csr_array(X))):
        np.testing.assert_allclose(found.scores(data, OFFSET, KERNELS), finite, rtol=1e-12, atol=1e-14)
        limits = found.limits(data, KERNELS)
        assert bool(limits) == bool((shares(TOTAL + pseudo) == 0).any())
        for limit in limits:
            np.testing.assert_allclose(limit, order, rtol=1e-12, atol=1e-14)


@every("prior,estimate,pseudo", PSEUDO)
def test_shares(prior, estimate, pseudo):
    family = Multinomial(prior, estimate)
    found = family.likelihood(counts())
    np.testing.assert_allclose(found.shares(), shares(TOTAL + pseudo), rtol=1e-14)


def test_only_large_tables_with_common_pseudo_counts_are_factored(monkeypatch):
    calls = []
    monkeypatch.setattr(Multinomial, "_sparse", lambda self, statistics: calls.append(self))
    Multinomial().likelihood(counts(csr_array))
    Multinomial(Dirichlet(1.0), "map").likelihood(counts(csr_array))
    assert len(calls) == 2
    Multinomial().likelihood(counts())
    Multinomial(Dirichlet(0.5), "map").likelihood(counts(csr_array))
    Multinomial(Dirichlet(np.ones((3, 4)))).likelihood(counts(csr_array))
    assert len(calls) == 2


def polya(x, start):
    whole, length = start.sum(axis=-1), x.sum(axis=-1)
    return gammaln(whole) - gammaln(whole + length) + (gammaln(start + x) - gammaln(start)).sum(axis=-1)


@every("concentration", [0.5, np.array([0.5, 1.0, 2.0, 4.0])])
def test_predictive_scores(concentration):
    found = Multinomial(Dirichlet(concentration), "predictive").likelihood(counts())
    expected = OFFSET + polya(X[:, None], TOTAL + concentration)
    np.testing.assert_allclose(found.scores(Dense.of(X), OFFSET, KERNELS), expected, rtol=1e-12, atol=1e-12)


TEXTS = np.array([[1.0, 0, 2, 0], [0, 1, 1, 0], [2, 0, 0, 1], [0, 3, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]])
CLASSES = np.array([0, 0, 0, 1, 1, 2], dtype=np.int32)  # class 2 has one text
WEIGHTS = [None, np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0]), np.array([1.0, 0.0, 2.0, 1.0, 1.0, 1.0])]
FORMS = [(np.asarray, Dense.of), (csr_array, lambda x: Sparse.of(csr_array(x))), (csr_array, Dense.of)]


def texts_left_out(family, weight, form, data):
    w = np.ones(len(TEXTS)) if weight is None else weight
    total = (np.eye(3)[:, CLASSES] * w) @ TEXTS
    statistics = Counts(np.bincount(CLASSES, w), form(total), None)
    batch = Batch(data(TEXTS), CLASSES, weight, 3)
    return family.left_out(batch, statistics, family.likelihood(statistics), OFFSET, KERNELS), total, w


@every("prior,estimate,pseudo", PSEUDO)
@every("weight", WEIGHTS)
@every("form,data", FORMS)
def test_texts_left_out(prior, estimate, pseudo, weight, form, data):
    found, total, w = texts_left_out(Multinomial(prior, estimate), weight, form, data)
    for i, text in enumerate(TEXTS):
        others = total.copy()
        others[CLASSES[i]] -= w[i] * text
        finite, order = expected_scores(text, others + pseudo)
        np.testing.assert_allclose(found.finite[i], finite, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.limits[0][i] if found.limits else np.zeros(3), order, rtol=1e-12, atol=1e-14)


@every("prior,pseudo", [(Dirichlet(0.5), -0.5)])
@every("weight", WEIGHTS)
def test_texts_left_out_of_modes_on_the_border(prior, pseudo, weight):
    """A pseudo-count below 0 takes words away: a word that is left with none is impossible."""
    found, total, w = texts_left_out(Multinomial(prior, "map"), weight, np.asarray, Dense.of)
    for i, text in enumerate(TEXTS):
        others = total.copy()
        others[CLASSES[i]] -= w[i] * text
        finite, _ = expected_scores(text, np.maximum(others + pseudo, 0.0))
        np.testing.assert_allclose(found.finite[i], finite, rtol=1e-12, atol=1e-14)


@every("concentration", [0.5, np.array([0.5, 1.0, 2.0, 4.0])])
@every("weight", WEIGHTS)
def test_predictive_scores_of_texts_left_out(concentration, weight):
    family = Multinomial(Dirichlet(concentration), "predictive")
    found, total, w = texts_left_out(family, weight, np.asarray, Dense.of)
    for i, text in enumerate(TEXTS):
        others = total.copy()
        others[CLASSES[i]] -= w[i] * text
        expected = OFFSET + polya(text, others + concentration)
        np.testing.assert_allclose(found.finite[i], expected, rtol=1e-12)


def test_only_modes_on_the_border_remove_rows_one_by_one(monkeypatch):
    """All others have a closed form."""

    def removed(*_):
        raise AssertionError

    monkeypatch.setattr(multinomial, "own_by_removal", removed)
    for prior, estimate, _ in PSEUDO:
        texts_left_out(Multinomial(prior, estimate), None, np.asarray, Dense.of)
    texts_left_out(Multinomial(Dirichlet(0.5), "predictive"), None, np.asarray, Dense.of)
    with pytest.raises(AssertionError):
        texts_left_out(Multinomial(Dirichlet(0.5), "map"), None, np.asarray, Dense.of)
