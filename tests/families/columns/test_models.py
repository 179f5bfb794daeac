"""What models of columns say: densities, draws, guesses, tables; numbers from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from candide import CategoricalNB
from candide.data.columns import Column
from candide.families.columns import candidates_for_numbers, choose, named_column
from candide.families.columns.transforms import BoxCox, YeoJohnson

from .rows import Rows, names, numbers

ONE = Rows(np.random.default_rng(0).gamma(2.0, 3.0, 80), np.zeros(80, dtype=np.int32), np.ones(80), 1)


def number(*values: float) -> Column:
    return Column("x", "number", np.array(values))


def density(model: Any, x: float) -> float:
    return float(np.exp(model.scores(number(x))[0, 0]))


@pytest.mark.parametrize("family", ["bins", "kernel", "gaussian", "student", "lognormal", "power"])
def test_densities_integrate_to_one(family: str) -> None:
    model: Any = named_column(family, **ONE.parts())
    if family in ("bins", "kernel"):
        edges = np.concatenate([[ONE.values.min()], model.cuts, [ONE.values.max()]])
        inside = (edges[1:] + edges[:-1]) / 2
        whole = np.exp(model.scores(number(*inside))[:, 0]) @ np.diff(edges)
    else:
        low = 0.0 if family in ("lognormal", "power") else -np.inf
        whole = sum(quad(lambda x: density(model, x), a, b, limit=200)[0] for a, b in ((low, 6.0), (6.0, np.inf)))
    # A power has an end, beyond which a little of the normal distribution lies.
    assert whole == pytest.approx(1.0, abs=1e-3 if family == "power" else 1e-6)


def test_normals_are_those_of_scipy() -> None:
    x, at = ONE.values, np.array([0.5, 3.0, 20.0])
    logs = np.log(x)
    expected = {
        "gaussian": stats.norm(x.mean(), np.sqrt(x.var() * (1 + 1e-9))).logpdf(at),
        "lognormal": stats.lognorm(np.sqrt(logs.var() * (1 + 1e-9)), scale=np.exp(logs.mean())).logpdf(at),
    }
    for family, values in expected.items():
        np.testing.assert_allclose(named_column(family, **ONE.parts()).scores(number(*at))[:, 0], values, rtol=1e-9)


def test_poisson_is_that_of_scipy() -> None:
    rows = numbers(3, n_classes=2, distinct=12)
    model: Any = named_column("poisson", **rows.parts())
    expected = stats.poisson(model.likelihood.rate[:, 0]).logpmf(np.arange(5.0)[:, None])
    np.testing.assert_allclose(model.scores(number(*range(5))), expected, rtol=1e-10)


def test_powers_are_those_of_scipy() -> None:
    model: Any = named_column("power", **ONE.parts())
    assert isinstance(model.transform, BoxCox)
    assert model.transform.power == pytest.approx(stats.boxcox(ONE.values)[1], abs=1e-4)
    standard = (ONE.values - ONE.values.mean()) / ONE.values.std()
    model = named_column("power", **ONE._replace(values=ONE.values - 5.0).parts())
    assert isinstance(model.transform, YeoJohnson)
    assert model.transform.power == pytest.approx(stats.yeojohnson(standard)[1], abs=1e-4)


@pytest.mark.parametrize("change", [BoxCox(0.0, 1.0), BoxCox(-0.7), BoxCox(2.5), YeoJohnson(0.4, 1.0, 3.0)])
def test_changes_of_scale_have_inverses_and_slopes(change: Any) -> None:
    x = np.array([0.1, 0.9, 1.0, 4.0, 30.0])
    np.testing.assert_allclose(change.inverse(change(x)), x, rtol=1e-9)
    step = 1e-6 * x
    np.testing.assert_allclose(
        np.exp(change.log_slope(x)), (change(x + step) - change(x - step)) / (2 * step), rtol=1e-6
    )


def class_means(rows: Rows) -> np.ndarray[Any, Any]:
    weight = np.bincount(rows.classes, rows.weight)
    return np.bincount(rows.classes, rows.weight * rows.values) / weight


@pytest.mark.parametrize("family", ["gaussian", "student", "lognormal", "power", "poisson"])
def test_draws_have_the_means_of_the_classes(family: str) -> None:
    rows = numbers(8, n_rows=3000, n_classes=2, distinct=40 if family == "poisson" else 0)
    model = named_column(family, **rows.parts())
    drawn = model.sample(np.repeat(np.arange(2, dtype=np.int32), 20_000), np.random.default_rng(1)).reshape(2, -1)
    np.testing.assert_allclose(drawn.mean(axis=1), class_means(rows), rtol=0.1)
    np.testing.assert_allclose(model.expected(np.eye(2)), class_means(rows), rtol=1e-9)


@pytest.mark.parametrize("family", ["bins", "kernel"])
def test_draws_have_the_shares_of_the_codes(family: str) -> None:
    rows = numbers(8, n_rows=3000, n_classes=2)
    model: Any = named_column(family, **rows.parts())
    drawn = model.sample(np.ones(50_000, dtype=np.int32), np.random.default_rng(1))
    share = np.bincount(model.codes(number(*drawn)), minlength=len(model.count)) / 50_000
    np.testing.assert_allclose(share, np.exp(model.table()[:, 1]), atol=0.01)
    np.testing.assert_allclose(model.expected(np.eye(2)), class_means(rows), rtol=0.1)


def test_categories_are_the_textbook_s() -> None:
    rows = names(9)
    rows = rows._replace(values=np.maximum(rows.values, 0))
    model: Any = named_column("categorical", **rows.parts(), alpha=1.0, unseen="ignore")
    labels = np.asarray(rows.labels)
    book = CategoricalNB(categories="seen").fit(labels[rows.values][:, None], rows.classes, rows.weight)
    log_prior = book.class_log_prior_
    joint = model.scores(rows.column()) + log_prior
    expected = book.predict_log_proba(labels[rows.values][:, None])
    np.testing.assert_allclose(joint - np.logaddexp.reduce(joint, axis=1)[:, None], expected, atol=1e-12)


def test_labels_are_known_by_name_not_by_code() -> None:
    rows = names(10)
    smooth: Any = named_column("categorical", **rows.parts(), alpha=0.5, treat_missing="ignore")
    ignore: Any = named_column("categorical", **rows.parts(), alpha=0.5, treat_missing="category", unseen="ignore")
    column = Column("x", "category", np.array([1, 0, 2, -1]), np.array(["label 1", "label 0", "new"], dtype=object))
    assert smooth.codes(column).tolist() == [0, 1, smooth.unseen, -1]
    assert ignore.codes(column).tolist() == [0, 1, -1, ignore.missing]
    assert not ignore.scores(column)[2].any()
    assert not smooth.scores(column)[3].any()
    n, weight = len(np.asarray(rows.labels)), rows.parts()["count"].sum(axis=1)
    np.testing.assert_allclose(np.exp(smooth.scores(column)[2]), 0.5 / (weight + 0.5 * (n + 1)))


def test_numbers_as_names() -> None:
    rows = numbers(4, distinct=5)
    model: Any = named_column("categorical", **rows.parts(), alpha=1.0)
    assert model.codes(number(0.0, 2.0, 2.5, 77.0, np.nan)).tolist() == [0, 2, model.unseen, model.unseen, -1]
    assert model.expected(np.eye(3)).tolist() == [model.labels[c] for c in model.count.argmax(axis=0)]
    assert set(model.sample(np.zeros(50, dtype=np.int32), np.random.default_rng(0))) <= set(model.labels)


@pytest.mark.parametrize("family", ["bins", "kernel", "gaussian", "student", "power", "categorical"])
def test_tables_of_parameters(family: str) -> None:
    rows = numbers(4, distinct=5)
    table = named_column(family, **rows.parts()).parameters()
    assert {"class", "column", "count"} <= set(table)
    assert len({len(column) for column in table.values()}) == 1
    if "probability" in table:
        whole = np.bincount(table["class"], table["probability"])
        assert (whole <= 1 + 1e-12).all()
        assert (whole > 0.5).all()


@pytest.mark.parametrize("family", ["bins", "kernel", "gaussian", "student", "poisson", "power", "categorical"])
def test_holes_say_nothing_or_what_their_share_says(family: str) -> None:
    rows = numbers(4, distinct=9, holes=True)
    holes = Column("x", "missing", np.full(2, np.nan))
    assert not named_column(family, **rows.parts(), treat_missing="ignore").scores(holes).any()
    scores = named_column(family, **rows.parts(), treat_missing="category").scores(holes)
    share = rows.parts()["missing"] / np.bincount(rows.classes, rows.weight)
    assert scores.argmax(axis=1).tolist() == [share.argmax()] * 2


def test_numbers_outside_the_scale_say_nothing() -> None:
    assert not named_column("lognormal", **ONE.parts()).scores(number(-1.0, 0.0)).any()
    assert not named_column("poisson", **numbers(3, distinct=9).parts()).scores(number(-1.0)).any()


@pytest.mark.parametrize("value", [0.0, 5.0, -1e9])
@pytest.mark.parametrize("family", ["bins", "kernel", "gaussian", "student", "power", "categorical"])
def test_constant_columns_are_finite(family: str, value: float) -> None:
    rows = Rows(np.full(9, value), np.arange(9, dtype=np.int32) % 2, np.ones(9), 2)
    model = named_column(family, **rows.parts())
    scores = model.scores(number(value, value + 1.0))
    assert np.isfinite(scores).all()
    assert np.isfinite(model.class_loss(np.log([0.5, 0.5])))
    np.testing.assert_allclose(scores[0, 0], scores[0, 1], atol=0.2)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e100, 1e250])
def test_any_scale_will_do(scale: float) -> None:
    rows = numbers(2, n_classes=2)
    plain, scaled = rows.parts(), rows._replace(values=rows.values * scale).parts()
    log_prior = np.log([0.5, 0.5])
    for family in ("bins", "kernel", *(("student", "lognormal", "power") if 1e-150 < scale < 1e150 else ())):
        assert choose(candidates_for_numbers(**scaled), log_prior)[0].family in (
            "bins",
            "kernel",
            "gaussian",
            "student",
        )
        losses = [named_column(family, **parts).class_loss(log_prior) for parts in (plain, scaled)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-6), family
