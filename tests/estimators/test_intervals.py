"""Credible intervals of parameters, and how uncertain log-odds are because parameters are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tiers import every

import candide
from candide import diagnostics
from candide.exceptions import ParameterError
from candide.kernels.layouts import Floats
from candide.priors import Beta, Dirichlet, Normal, NormalInverseGamma

RANDOM = np.random.default_rng(3)
COUNTS = RANDOM.poisson([[0.5, 2.0, 4.0]], (24, 3)).astype(float)
MEASURES = RANDOM.normal([[0.0, 10.0]], [[1.0, 3.0]], (24, 2))
y = np.arange(24) % 3 % 2  # 16 and 8 rows
INVERSE = NormalInverseGamma([1.0, 8.0], 0.5, [1.5, 2.0], [1.0, 6.0])
MODELS: list[tuple[str, dict[str, Any]]] = [
    ("GaussianNB", {}),
    ("GaussianNB", {"variance": "shared"}),
    ("GaussianNB", {"estimate": "map"}),
    ("GaussianNB", {"estimate": "predictive"}),
    ("GaussianNB", {"parameter_prior": INVERSE, "variance": "shared"}),
    ("GaussianNB", {"parameter_prior": Normal([0.0, 9.0], 2.0, [4.0, 5.0])}),
    ("BernoulliNB", {}),
    ("BernoulliNB", {"parameter_prior": Beta(0.4, 2.0)}),
    ("BernoulliNB", {"estimate": "mle"}),
    ("MultinomialNB", {"alpha": 0.5}),
    ("MultinomialNB", {"estimate": "predictive"}),
    ("MultinomialNB", {"alpha": 0}),
    ("CategoricalNB", {}),
    ("CategoricalNB", {"unseen": "smooth", "alpha": 0.5}),
    ("CategoricalNB", {"estimate": "mle"}),
    ("CategoricalNB", {"parameter_prior": Dirichlet(0.3), "categories": "seen"}),
    ("PoissonNB", {}),
    ("PoissonNB", {"estimate": "mle"}),
    ("PoissonNB", {"estimate": "predictive", "alpha": 0.3}),
]
all_models = pytest.mark.parametrize(("name", "settings"), MODELS, ids=str)


def cells_of(name: str) -> Floats:
    return MEASURES if name == "GaussianNB" else COUNTS


def fitted(name: str, settings: dict[str, Any]) -> Any:
    return getattr(candide, name)(**settings).fit(cells_of(name), y)


def ends(table: Any) -> list[tuple[str, Floats, Floats]]:
    """The parameter that an interval belongs to, and the interval."""
    if "low" in table:
        return [("probability" if "probability" in table else "rate", table["low"], table["high"])]
    return [(what, table[f"{what}_low"], table[f"{what}_high"]) for what in ("mean", "variance")]


@all_models
def test_intervals_stand_beside_parameters(name: str, settings: dict[str, Any]) -> None:
    model = fitted(name, settings)
    parameters, table = model.parameters(), diagnostics.intervals(model)
    for column, values in parameters.items():
        assert table[column].tolist() == values.tolist()
    for what, low, high in ends(table):
        assert (low <= high).all()
        value = table.get(what, table.get("location", low) if what == "mean" else low)
        # Jeffreys' prior does not believe in shares of 0 and 1, which are maximum likelihood's.
        on_border = np.isin(value, (0.0, 1.0)) & (settings.get("alpha") == 0 or settings.get("estimate") == "mle")
        assert (((low <= value) & (value <= high)) | on_border).all(), what


@all_models
def test_wider_intervals_hold_more(name: str, settings: dict[str, Any]) -> None:
    model = fitted(name, settings)
    narrow, wide = (ends(diagnostics.intervals(model, level)) for level in (0.5, 0.99))
    for (_, low, high), (_, wide_low, wide_high) in zip(narrow, wide, strict=True):
        assert ((wide_low <= low) & (high <= wide_high)).all()


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_classical_intervals_of_normals(level: float) -> None:
    """Student's t for the mean, chi-square for the variance; pooled over classes where they share it."""
    table = diagnostics.intervals(candide.GaussianNB().fit(MEASURES, y), level)
    shared = diagnostics.intervals(candide.GaussianNB(variance="shared").fit(MEASURES, y), level)
    pooled = sum(MEASURES[y == c].var(axis=0) * (y == c).sum() for c in (0, 1))
    for i, (c, j) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        x, tails = MEASURES[y == c, j], [(1 + level) / 2, (1 - level) / 2]
        n = len(x)
        mean = stats.t.interval(level, n - 1, x.mean(), x.std(ddof=1) / np.sqrt(n))
        np.testing.assert_allclose([table["mean_low"][i], table["mean_high"][i]], mean, rtol=1e-9)
        variance = n * x.var() / stats.chi2.ppf(tails, n - 1)
        np.testing.assert_allclose([table["variance_low"][i], table["variance_high"][i]], variance, rtol=1e-9)
        mean = stats.t.interval(level, 22, x.mean(), np.sqrt(pooled[j] / 22 / n))
        np.testing.assert_allclose([shared["mean_low"][i], shared["mean_high"][i]], mean, rtol=1e-9)
        variance = pooled[j] / stats.chi2.ppf(tails, 22)
        np.testing.assert_allclose([shared["variance_low"][i], shared["variance_high"][i]], variance, rtol=1e-9)


def test_a_class_without_cells_takes_no_degree_of_freedom() -> None:
    """The variance that it shares is that of the other classes, and its mean is unknown."""
    X, labels = np.append(MEASURES[:, 0], np.nan)[:, None], np.append(y, 2)
    two = diagnostics.intervals(candide.GaussianNB(variance="shared").fit(X[:-1], y))
    three = diagnostics.intervals(candide.GaussianNB(variance="shared").fit(X, labels))
    for end in ("mean_low", "mean_high", "variance_low", "variance_high"):
        np.testing.assert_allclose(three[end][:2], two[end], rtol=1e-12)
    assert (three["mean_low"][2], three["mean_high"][2]) == (-np.inf, np.inf)
    assert three["variance_low"][2] == three["variance_low"][0]


def assert_beta(table: Any, a: Floats, b: Floats) -> None:
    expected = stats.beta.interval(0.95, a.ravel(), b.ravel())
    np.testing.assert_allclose((table["low"], table["high"]), expected, rtol=1e-9)


BELIEFS: list[tuple[dict[str, Any], float]] = [({"alpha": 0.7}, 0.7), ({"estimate": "mle"}, 0.5), ({"alpha": 0}, 0.5)]


@every("settings,pseudo", BELIEFS)
def test_intervals_of_shares(settings: dict[str, Any], pseudo: float) -> None:
    """Without a prior, under Jeffreys'."""
    on = np.array([(COUNTS[y == c] > 0).sum(axis=0) for c in (0, 1)])
    rows = np.array([[16], [8]])
    assert_beta(diagnostics.intervals(candide.BernoulliNB(**settings).fit(COUNTS, y)), on + pseudo, rows - on + pseudo)
    total = np.array([COUNTS[y == c].sum(axis=0) for c in (0, 1)]) + pseudo
    rest = total.sum(axis=1, keepdims=True) - total
    assert_beta(diagnostics.intervals(candide.MultinomialNB(**settings).fit(COUNTS, y)), total, rest)


@every("unseen,more", [("ignore", 0), ("smooth", 1)])
@every("settings,pseudo", BELIEFS)
def test_intervals_of_values(unseen: str, more: int, settings: dict[str, Any], pseudo: float) -> None:
    """Texts and codes; with room for an unseen value if there is any in the model."""
    frame = pd.DataFrame({"colour": ["red", "red", "blue", None], "size": [0, 3, 3, 1]})
    table = diagnostics.intervals(candide.CategoricalNB(unseen=unseen, **settings).fit(frame, ["a", "a", "a", "b"]))
    keys = list(zip(table["class"], table["column"], table["value"], strict=True))
    for (label, column, value), low, high in zip(keys, table["low"], table["high"], strict=True):
        cells = frame[column][:3] if label == "a" else frame[column][3:]
        n_values = (2 if column == "colour" else 4) + more
        count, total = (cells == value).sum() + pseudo, cells.notna().sum() + pseudo * n_values
        np.testing.assert_allclose((low, high), stats.beta.interval(0.95, count, total - count), rtol=1e-9)


def test_intervals_of_rates() -> None:
    total = np.array([COUNTS[y == c].sum(axis=0) for c in (0, 1)])
    table = diagnostics.intervals(candide.PoissonNB(alpha=0.7, beta=2.0).fit(COUNTS, y))
    expected = stats.gamma.interval(0.95, (total + 0.7).ravel(), scale=1 / np.repeat([18.0, 10.0], 3))
    np.testing.assert_allclose((table["low"], table["high"]), expected, rtol=1e-9)


@every("level", [0, 1, "a", None])
def test_levels(level: Any) -> None:
    with pytest.raises(ParameterError, match="level is"):
        diagnostics.intervals(fitted("BernoulliNB", {}), level)


def test_names_of_columns() -> None:
    frame = pd.DataFrame(COUNTS, columns=["a", "b", "c"])
    assert diagnostics.intervals(candide.PoissonNB().fit(frame, y))["column"].tolist() == ["a", "b", "c"] * 2


@every("name", ["BernoulliNB", "CategoricalNB", "PoissonNB"])
def test_one_column_without_a_prior_leaves_the_others_theirs(name: str) -> None:
    """Jeffreys' prior takes the place of none column by column."""
    alpha = np.array([2.0, 0.0, 3.0])
    mixed, without = (diagnostics.intervals(fitted(name, {"alpha": values})) for values in (alpha, 0.0))
    with_prior = diagnostics.intervals(fitted(name, {"alpha": np.where(alpha > 0, alpha, 1.0)}))
    second = mixed["column"] == "x1"
    for end in ("low", "high"):
        np.testing.assert_allclose(mixed[end][~second], with_prior[end][~second], rtol=1e-12)
        np.testing.assert_allclose(mixed[end][second], without[end][second], rtol=1e-12)


def test_a_rate_without_believed_events_keeps_the_believed_rows() -> None:
    table = diagnostics.intervals(candide.PoissonNB(alpha=0, beta=5.0).fit(COUNTS, y), 0.9)
    events, rows = COUNTS[y == 0][:, 0].sum(), 16
    np.testing.assert_allclose(table["low"][0], stats.gamma(events + 0.5, scale=1 / (rows + 5.0)).ppf(0.05))
