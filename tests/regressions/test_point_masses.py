"""A value that holds a large share of a column is a point mass: in models, parameters, pictures and reports."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from candide import NaiveBayes, diagnostics


def _losses(n: int = 2000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Nine of ten cells are 0; the other values tell the class by intervals of width 100 between 1000 and 2000."""
    rng = np.random.default_rng(seed)
    loss = np.where(rng.random(n) < 0.9, 0.0, rng.uniform(1000.0, 2000.0, n).round())
    said = (loss // 100).astype(int) % 2
    label = np.where(loss == 0, rng.integers(0, 2, n), np.where(rng.random(n) < 0.95, said, 1 - said))
    return pd.DataFrame({"loss": loss}), np.array(["no", "yes"])[label]


@pytest.fixture(scope="module")
def model() -> NaiveBayes:
    return NaiveBayes().fit(*_losses())


def _shares(model: NaiveBayes) -> dict[tuple[float, float], float]:
    """p(low to high | "no")."""
    rows = model.parameters()
    own = rows["class"] == "no"
    pairs = zip(rows["low"][own], rows["high"][own], strict=True)
    return dict(zip(pairs, rows["probability"][own], strict=True))


def test_the_parameters_have_the_value_by_itself(model: NaiveBayes) -> None:
    shares = _shares(model)
    assert shares[0.0, 0.0] == pytest.approx(0.9, abs=0.03)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert sum(p for (low, _), p in shares.items() if low < 500) < 0.93


def test_numbers_beside_it_have_another_score(model: NaiveBayes) -> None:
    column = model.model_.classifier.likelihood.models[0]
    from candide.data.columns import Column

    at, beside = np.exp(column.scores(Column("loss", "number", np.array([0.0, 1.0]))))[:, 0]
    assert at == pytest.approx(0.9, abs=0.03)
    assert beside < 1e-3


def test_the_summary_names_it(model: NaiveBayes) -> None:
    assert "point mass at 0 (9" in str(model.summary()["parameters"][0])


def test_a_telling_value_is_no_range() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 1000)
    x = np.where(rng.random(1000) < 0.3 + 0.5 * y, 40.0, rng.uniform(1.0, 99.0, 1000))
    found = diagnostics.top_features(NaiveBayes().fit(pd.DataFrame({"hours": x}), y))
    assert ("40" in found["value"][found["class"] == 1].tolist()[:1]) is True


def test_the_other_values_keep_their_resolution(model: NaiveBayes) -> None:
    """Bins and kernels are made of the rest alone: intervals within the last tenth of the rows are told apart."""
    values = np.arange(1050.0, 2000.0, 100.0)
    answers = model.predict(pd.DataFrame({"loss": values}))
    assert answers.tolist() == ["no", "yes"] * 5


def test_draws_have_the_exact_value(model: NaiveBayes) -> None:
    column = model.model_.classifier.likelihood.models[0]
    drawn = column.sample(np.zeros(500, dtype=np.int32), np.random.default_rng(0))
    assert (drawn == 0.0).mean() == pytest.approx(0.9, abs=0.05)
    assert ((drawn > 0.0) & (drawn < 10.0)).mean() < 0.01


def test_merging_and_forgetting_find_the_same_point_masses() -> None:
    X, y = _losses()
    more, labels = _losses(400, seed=5)
    more["loss"] = np.where(more["loss"] == 0, 7.0, more["loss"])
    whole = NaiveBayes().fit(X, y)
    parts = NaiveBayes().fit(X[:700], y[:700]).merge(NaiveBayes().fit(X[700:], y[700:]))
    forgot = NaiveBayes().fit(pd.concat([X, more]), np.concatenate([y, labels])).forget(more, labels)
    assert (0.0, 0.0) in _shares(whole)
    assert _shares(parts) == _shares(whole) == _shares(forgot)


def test_a_second_point_mass_beside_the_first() -> None:
    X, y = _losses()
    X["loss"] = np.where(np.arange(len(X)) % 3 == 0, -1.0, X["loss"])
    shares = _shares(NaiveBayes().fit(X, y))
    assert {(-1.0, -1.0), (0.0, 0.0)} <= set(shares)


@pytest.mark.parametrize("family", ["bins", "kernel"])
def test_families_by_request_have_it_too(family: str) -> None:
    X, y = _losses()
    assert _shares(NaiveBayes(columns=family).fit(X, y))[0.0, 0.0] == pytest.approx(0.9, abs=0.03)


def test_columns_without_one_have_none() -> None:
    rng = np.random.default_rng(2)
    X = pd.DataFrame(
        {
            "normal": rng.normal(size=600),
            "rounded": rng.normal(size=600).round(1),
            "scale": rng.choice(8, 600, p=[0.4, 0.03, 0.2, 0.1, 0.1, 0.1, 0.04, 0.03]),
        }
    )
    rows = NaiveBayes(columns="bins").fit(X, rng.integers(0, 2, 600)).parameters()
    assert (rows["low"] < rows["high"]).all()


@pytest.mark.parametrize("copies", [1, 5])
def test_single_rows_are_no_point_masses(copies: int) -> None:
    hours, team = [30.0, 2.0, 28.0, 1.0, 35.0, 3.0], ["repair", "accounts"] * 3
    model = NaiveBayes().fit({"hours": hours * copies}, team * copies)
    assert "point mass" not in model.summary()["parameters"][0]
    assert model.predict({"hours": [20.0]}).tolist() == ["repair"]


def test_the_picture_draws_a_stem_and_the_density_of_the_rest(model: NaiveBayes) -> None:
    from candide import plot

    shown = plot.densities(model, "loss")
    table = shown.table
    assert "mass" in table
    apart = np.isfinite(table["mass"])
    assert set(table["value"][apart].tolist()) == {0.0}
    assert table["mass"][apart][0] == pytest.approx(0.9, abs=0.03)
    own = ~apart & (table["family"] == table["family"][0])
    near = own & (table["value"] < 800)
    assert near.any()
    assert table["density"][near].max() < 1e-4


def test_the_report_draws_it_apart(model: NaiveBayes) -> None:
    page = model.report().html()
    assert "Point mass: the share of each class that has exactly this value." in page
    assert "= 0" in page
