"""Decisions, sets of labels, unusual rows and filled holes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.sparse import csr_array
from tiers import every, late

import candide
from candide import diagnostics
from candide.exceptions import ParameterError
from candide.kernels.layouts import Array, Floats

pl = late("polars")

RANDOM = np.random.default_rng(77)
X = RANDOM.poisson([[0.5, 2.0, 4.0]], (60, 3)).astype(float)
y = np.array(["ant", "bee", "cat"])[RANDOM.choice(3, 60, p=[0.5, 0.3, 0.2])]
LABELS = ["ant", "bee", "cat"]
RATES = np.array([[1.0, 2.0, 4.0], [2.0, 2.0, 3.0], [2.0, 3.0, 4.0]])


def drawn(n: int) -> tuple[Floats, Array]:
    """Rows of three classes that overlap."""
    classes = RANDOM.choice(3, n, p=[0.5, 0.3, 0.2])
    return RANDOM.poisson(RATES[classes]).astype(float), classes


# Deciding.


def cheapest(probability: Floats, costs: Floats) -> list[str]:
    """By brute force; the first of equals."""
    expected = [[sum(p * costs[t, a] for t, p in enumerate(row)) for a in range(3)] for row in probability]
    return [LABELS[int(np.argmin(row))] for row in expected]


@pytest.mark.parametrize("calibrate", [None, "temperature"])
def test_the_cheapest_answer(calibrate: str | None) -> None:
    model = candide.PoissonNB(calibrate=calibrate).fit(X, y)
    probability = model.predict_proba(X)
    for _ in range(5):
        costs = RANDOM.random((3, 3)) * 10
        assert model.decide(X, costs=costs).tolist() == cheapest(probability, costs)
        pairs = {(LABELS[t], LABELS[a]): costs[t, a] for t in range(3) for a in range(3)}
        assert model.decide(X, costs=pairs).tolist() == cheapest(probability, costs)
    assert model.decide(X).tolist() == model.predict(X).tolist()
    assert model.decide(X, costs=1 - np.eye(3)).tolist() == model.predict(X).tolist()


def test_pairs_that_are_left_out_cost_one() -> None:
    model = candide.PoissonNB().fit(X, y)
    costs = 1 - np.eye(3)
    costs[2, 0] = 20
    assert model.decide(X, costs={("cat", "ant"): 20}).tolist() == cheapest(model.predict_proba(X), costs)


def test_no_answer() -> None:
    model = candide.PoissonNB().fit(X, y)
    probability, best = model.predict_proba(X), model.predict(X)
    sure = probability.max(axis=1) >= 0.7
    assert 0 < sure.sum() < 60
    assert model.decide(X, abstain=0.7).tolist() == np.where(sure, best, "unsure").tolist()
    costs = RANDOM.random((3, 3)) * 10
    expected = (probability @ costs).min(axis=1)
    level = float(np.median(expected))
    answers = np.where(expected > level, None, cheapest(probability, costs))
    assert model.decide(X, costs=costs, abstain=level, unsure=None).tolist() == answers.tolist()


@every(
    "settings,said",
    [
        ({"costs": np.ones((2, 2))}, r"costs has shape \(2, 2\) for 3 classes"),
        ({"costs": "much"}, "costs"),
        ({"costs": {("ant", "dog"): 1}}, "costs has the key 'dog', which is not a class"),
        ({"costs": {"ant": 1}}, r"costs has the key 'ant'; expected pairs of labels"),
        ({"costs": np.full((3, 3), np.nan)}, "expected a finite number"),
        ({"abstain": 0.5, "unsure": "ant"}, "'ant', which is a class of this model"),
    ],
)
def test_decisions_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        candide.PoissonNB().fit(X, y).decide(X, **settings)


# Sets of labels.


@every("calibrate", [None, "temperature", "isotonic"])
@every("coverage", [0.8, 0.95])
def test_sets_hold_the_truth_as_often_as_asked(calibrate: str | None, coverage: float) -> None:
    model = candide.PoissonNB(calibrate=calibrate, subsample=100_000).fit(*drawn(1000))
    rows, classes = drawn(5000)
    held = model.predict_set(rows, coverage)
    assert held[np.arange(5000), classes].mean() == pytest.approx(coverage, abs=0.03)
    assert held[np.arange(5000), model.predict(rows)].all()
    assert (held <= model.predict_set(rows, 0.99)).all()
    assert model.predict_set(rows, 1.0).all()


def test_sets_hold_every_class_as_often_as_asked() -> None:
    model = candide.PoissonNB(subsample=100_000).fit(*drawn(1500))
    rows, classes = drawn(6000)
    held = model.predict_set(rows, 0.9, by_class=True)[np.arange(6000), classes]
    np.testing.assert_allclose([held[classes == c].mean() for c in range(3)], 0.9, atol=0.04)


@every("coverage", [0, -1, 1.5, np.nan])
def test_coverage_refused(coverage: float) -> None:
    with pytest.raises(ParameterError, match="coverage is"):
        candide.PoissonNB(subsample=100_000).fit(X, y).predict_set(X, coverage)


def test_rows_must_have_been_kept() -> None:
    model = candide.PoissonNB().fit(X, y)
    for asked in (model.predict_set, partial(diagnostics.typicality, model)):
        with pytest.raises(ParameterError, match=r"needs training rows.*subsample=100_000"):
            asked(X)


# Unusual rows.

MODELS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("GaussianNB", {}, {}),
    ("GaussianNB", {"estimate": "predictive"}, {}),
    ("BernoulliNB", {}, {}),
    ("CategoricalNB", {}, {}),
    ("PoissonNB", {}, {}),
    ("MultinomialNB", {}, {"length": 60}),
]
FAR = {"GaussianNB": 200.0, "BernoulliNB": 1.0, "CategoricalNB": 9.0, "PoissonNB": 60.0, "MultinomialNB": 60.0}


@pytest.mark.parametrize(("name", "settings", "how"), MODELS, ids=str)
def test_new_rows_are_as_usual_as_any(name: str, settings: dict[str, Any], how: dict[str, Any]) -> None:
    """Rows drawn from a model have a typicality that is about uniform; far out, none."""
    classes = RANDOM.integers(0, 2, 400)
    often = np.repeat([[0.1, 0.4], [0.15, 0.5]], 6, axis=1)[classes]
    cells = RANDOM.binomial(1 if name == "BernoulliNB" else 4, often).astype(float)
    world = getattr(candide, name)(**settings).fit(cells, classes)
    model = getattr(candide, name)(subsample=100_000, **settings).fit(*world.sample(2000, 1, **how))
    usual = diagnostics.typicality(model, world.sample(1000, 2, **how)[0])
    assert stats.kstest(usual, "uniform").statistic < 0.08
    far = np.zeros((1, 12))
    far[0, :6] = FAR[name] / (6 if name == "MultinomialNB" else 1)
    assert diagnostics.typicality(model, far)[0] < 0.01


@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
def test_values_never_seen_are_unusual(unseen: str) -> None:
    """Though a prediction passes over them."""
    colours = RANDOM.choice(["red", "green", "blue"], (300, 4), p=[0.6, 0.3, 0.1])
    model = candide.CategoricalNB(unseen=unseen, subsample=100_000).fit(colours, RANDOM.integers(0, 2, 300))
    strange = [["mauve"] * 4, ["red", "mauve", "red", "red"], [None, None, None, "mauve"]]
    assert (diagnostics.typicality(model, strange) < 0.05).all()
    assert (diagnostics.typicality(model, [["red"] * 4, ["red", None, None, None]]) > 0.5).all()


def test_typicality_is_a_share_of_rows() -> None:
    model = candide.PoissonNB(subsample=100_000).fit(X, y)
    usual = diagnostics.typicality(model, X)
    assert ((usual >= 0) & (usual <= 1)).all()
    weighted = candide.PoissonNB(subsample=100_000).fit(np.vstack([X, X]), np.tile(y, 2))
    np.testing.assert_allclose(diagnostics.typicality(weighted, X), usual, atol=0.15)
    np.testing.assert_allclose(diagnostics.typicality(model, csr_array(X)), usual, rtol=1e-12)
    assert np.isfinite(diagnostics.typicality(model, np.full((1, 3), np.nan))).all()


# Holes filled.


def holed(cells: Floats) -> Floats:
    out = cells.astype(float)
    out[::3, 0], out[1::4, 2], out[5] = np.nan, np.nan, np.nan
    return out


def mixture(model: Any, rows: Floats, parameter: Floats) -> Floats:
    return np.asarray(model.predict_proba(rows) @ parameter)


@every("name", ["GaussianNB", "PoissonNB", "BernoulliNB", "MultinomialNB", "CategoricalNB"])
@every("estimate", [None, "predictive"])
def test_holes_hold_what_is_expected(name: str, estimate: str | None) -> None:
    model, rows = getattr(candide, name)(estimate=estimate).fit(X, y), holed(X)
    filled, missing = diagnostics.impute(model, rows), np.isnan(rows)
    np.testing.assert_array_equal(filled[~missing].astype(float), rows[~missing])
    if name == "CategoricalNB":
        shares = [mixture(model, rows, np.exp(table)) for table in model.feature_log_prob_]
        expected = np.stack([share.argmax(axis=1) for share in shares], axis=1)
    elif name == "BernoulliNB":
        expected = mixture(model, rows, np.exp(model.feature_log_prob_)) > 0.5
    elif name == "MultinomialNB":
        share = model.parameters()["probability"].reshape(3, 3)
        tokens = np.nansum(rows, axis=1, keepdims=True) / np.maximum((~missing) @ share.T, 1e-300)
        expected = np.einsum("ic,ic,cj->ij", model.predict_proba(rows), np.nan_to_num(tokens), share)
    else:
        expected = mixture(model, rows, model.theta_ if name == "GaussianNB" else model.rate_)
    np.testing.assert_allclose(filled[missing].astype(float), expected[missing], rtol=1e-9)


def test_holes_in_texts() -> None:
    frame = pd.DataFrame({"colour": ["red", "red", "blue", None], "size": ["s", None, "l", "l"]})
    model = candide.CategoricalNB().fit(frame, ["a", "a", "b", "b"])
    filled = diagnostics.impute(model, frame)
    assert isinstance(filled, pd.DataFrame)
    assert filled.to_dict("list") == {"colour": ["red", "red", "blue", "blue"], "size": ["s", "s", "l", "l"]}


def test_frames_come_back_as_frames() -> None:
    """Names, order of rows and numbers stay."""
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": [3, 4, 5]}, index=[7, 8, 9])
    filled = diagnostics.impute(candide.GaussianNB().fit(frame, [0, 1, 1]), frame)
    assert filled.index.tolist() == [7, 8, 9]
    assert filled["a"].tolist() == [1.0, 2.0, 2.0]
    thin = pl.DataFrame({"a": ["x", "y", None]})
    assert diagnostics.impute(candide.CategoricalNB().fit(thin, [0, 1, 1]), thin)["a"].to_list() == ["x", "y", "y"]
    codes = diagnostics.impute(
        candide.CategoricalNB().fit([[0, 1], [1, 2], [2, 2]], [0, 1, 1]), [[np.nan, 1], [1, np.nan]]
    )
    assert codes.dtype == np.float64


@every("name", ["GaussianNB", "PoissonNB", "BernoulliNB", "MultinomialNB"])
def test_holes_in_sparse_rows(name: str) -> None:
    """Stored holes are filled, and what is not stored stays so."""
    model, rows = getattr(candide, name)().fit(csr_array(X), y), csr_array(holed(X))
    filled = diagnostics.impute(model, rows)
    assert filled.shape == rows.shape
    assert filled.nnz == rows.nnz
    np.testing.assert_allclose(filled.toarray(), diagnostics.impute(model, holed(X)), rtol=1e-9)
    assert np.isnan(rows.data).any()


def test_a_column_that_nobody_observed_stays_missing() -> None:
    rows = np.array([[1.0, np.nan], [2.0, np.nan]])
    assert np.isnan(diagnostics.impute(candide.GaussianNB().fit(rows, [0, 1]), rows)[:, 1]).all()
    texts = [["red", None], ["blue", None]]
    filled = diagnostics.impute(candide.CategoricalNB().fit(texts, [0, 1]), texts)
    assert filled[:, 0].tolist() == ["red", "blue"]
    assert pd.isna(filled[:, 1]).all()


def test_texts_of_all_lengths_are_as_usual() -> None:
    """Against training texts of about their length."""
    rng = np.random.default_rng(3)
    shares, topic = rng.dirichlet(np.full(100, 0.3), 2), rng.integers(0, 2, 2000)
    lengths = rng.integers(10, 300, 2000)
    texts = np.array([rng.multinomial(n, shares[c]) for n, c in zip(lengths, topic, strict=True)])
    model = candide.MultinomialNB(subsample=100_000).fit(texts, topic)
    for length in (20, 60, 250):
        new = diagnostics.typicality(model, rng.multinomial(length, shares[rng.integers(0, 2, 300)]))
        assert (new < 0.05).mean() < 0.15
        assert (new > 0.95).mean() < 0.15
        assert (diagnostics.typicality(model, rng.multinomial(length, np.full(100, 0.01), 20)) < 0.05).all()


def test_costs_of_a_table_go_by_its_labels() -> None:
    model = candide.GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"])
    costs = pd.DataFrame([[0, 9], [1, 0]], index=["b", "a"], columns=["b", "a"])
    by_pair = {("b", "a"): 9, ("a", "b"): 1}
    rows = np.linspace(0, 6, 50)[:, None]
    assert model.decide(rows, costs=costs).tolist() == model.decide(rows, costs=by_pair).tolist()
    with pytest.raises(ParameterError, match=r"costs has rows \['x', 'y'\]"):
        model.decide(rows, costs=costs.set_axis(["x", "y"], axis=0))


@pytest.mark.parametrize("settings", [{"abstain": True}, {"abstain": True, "costs": np.ones((3, 3))}])
def test_a_flag_is_no_number(settings: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="abstain is True"):
        candide.GaussianNB().fit(X, y).decide(X, **settings)


@every("settings", [{"coverage": "a"}, {"coverage": True}, {"coverage": None}, {"by_class": "yes"}])
def test_sets_are_asked_for_in_numbers(settings: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"coverage is|by_class is"):
        candide.GaussianNB(subsample=100_000).fit(X, y).predict_set(X, **settings)


@every("method", ["temperature", "platt", "beta", "isotonic"])
def test_what_cannot_be_stays_impossible(method: str) -> None:
    """A class that was declared and never seen."""
    model = candide.GaussianNB(calibrate=method).partial_fit(X, y, classes=[*np.unique(y), "zebra"])
    assert (model.predict_proba(X)[:, -1] == 0).all()


@every("name", ["BernoulliNB", "CategoricalNB", "GaussianNB", "MultinomialNB"])
def test_a_model_that_has_forgotten_all_knows_nothing(name: str) -> None:
    model = getattr(candide, name)(calibrate="beta").fit(X, y).discount(0)
    np.testing.assert_allclose(model.predict_proba(X[:2]), 1 / 3)
