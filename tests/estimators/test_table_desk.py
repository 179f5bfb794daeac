"""Everything of the statistician's desk, on tables."""

from __future__ import annotations

import copy
import datetime as dt
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from tiers import every, late

from candide import NaiveBayes, diagnostics, merge
from candide.exceptions import InputError, ParameterError
from candide.kernels.layouts import Array

pl = late("polars")


def made(n: int, seed: int = 0) -> tuple[pd.DataFrame, Array]:
    rng = np.random.default_rng(seed)
    high = rng.random(n) < 0.4
    job = np.where(rng.random(n) < 0.25 + 0.5 * high, "smith", "cook").astype(object)
    age = rng.normal(30 + 10 * high, 6).round()
    age[rng.random(n) < 0.1], job[rng.random(n) < 0.1] = np.nan, None
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    table = pd.DataFrame(
        {"age": age, "job": job, "member": rng.random(n) < 0.5, "since": days, "visits": rng.poisson(3, n)}
    )
    return table, np.where(high, "high", "low")


X, Y = made(200)
Z, _ = made(20, seed=1)


@cache
def the_model() -> NaiveBayes:
    return NaiveBayes().fit(X, Y)


@cache
def bare() -> NaiveBayes:
    """Without training rows."""
    return NaiveBayes(subsample=0, compute_loo=True).fit(X, Y)


def test_decisions() -> None:
    probability = the_model().predict_proba(Z)
    assert the_model().decide(Z).tolist() == the_model().predict(Z).tolist()
    unsure = the_model().decide(Z, abstain=0.8) == "unsure"
    np.testing.assert_array_equal(unsure, probability.max(axis=1) < 0.8)
    costly = the_model().decide(Z, costs={("high", "low"): 20})
    np.testing.assert_array_equal(costly == "high", 20 * probability[:, 0] > probability[:, 1])


def test_label_sets_cover_new_rows() -> None:
    table, y = made(1500, seed=2)
    for coverage in (0.9, 0.95):
        inside = the_model().predict_set(table, coverage)[np.arange(1500), (y == "low").astype(int)]
        assert abs(inside.mean() - coverage) < 0.06


def test_typicality() -> None:
    table, _ = made(400, seed=3)
    usual = diagnostics.typicality(the_model(), table)
    assert 0.4 < usual.mean() < 0.6
    assert diagnostics.typicality(the_model(), Z.assign(age=400.0, visits=90)).max() < 0.05
    # A word that nobody knows counts against a row, though it says nothing about the class.
    with pytest.warns(UserWarning, match="none of 20 rows has a known"):
        strange = diagnostics.typicality(the_model(), Z.assign(job="xyzzy"))
    assert strange.mean() < diagnostics.typicality(the_model(), Z.assign(job="cook")).mean()


FRAMES: dict[str, Any] = {
    "pandas": lambda table: table,
    "polars": lambda table: pl.from_pandas(table),
    "pyarrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
}


@every("name", FRAMES)
def test_holes_are_filled_in_the_frame_that_they_are_in(name: str) -> None:
    frame = FRAMES[name](Z)
    filled = diagnostics.impute(the_model(), frame)
    assert type(filled) is type(frame)
    again = filled if name == "pandas" else filled.to_pandas()
    assert list(again.columns) == list(Z.columns)
    assert not again.isna().any().any()
    assert set(again["job"][Z["job"].isna()]) <= {"cook", "smith"}
    known = Z["age"].notna()
    assert again["age"][known].tolist() == Z["age"][known].tolist()
    assert again[["member", "visits"]].to_numpy().tolist() == Z[["member", "visits"]].to_numpy().tolist()


def test_holes_of_other_kinds() -> None:
    moments = Z["since"].where(np.arange(20) > 2)
    flags = pd.array([None, *Z["member"][1:]], dtype="boolean")
    table = Z.assign(since=moments, member=flags, more="kept")[["more", "member", "since", "visits", "job", "age"]]
    table.index = np.arange(20) * 3
    filled = diagnostics.impute(the_model(), table)
    assert list(filled.columns) == list(table.columns)
    assert filled.index.tolist() == table.index.tolist()
    assert (filled["more"] == "kept").all()
    assert filled["member"].tolist()[0] in (True, False)
    assert filled["since"].dtype.kind == "M"
    assert filled["since"].between(pd.Timestamp("2024-01-01"), pd.Timestamp("2024-12-31")).all()


def test_holes_of_other_containers() -> None:
    filled = diagnostics.impute(the_model(), {name: Z[name].tolist() for name in Z})
    assert list(filled) == list(Z)
    assert not np.isnan(filled["age"]).any()
    assert None not in list(filled["job"])
    numbers = X[["age", "visits"]].to_numpy()
    model = NaiveBayes(order=0).fit(numbers, Y)
    dense = diagnostics.impute(model, numbers)
    assert dense.dtype == np.float64
    assert not np.isnan(dense).any()
    sparse = diagnostics.impute(model, csr_array(numbers))
    assert sparse.format == "csr"
    np.testing.assert_array_equal(sparse.toarray(), dense)
    objects = diagnostics.impute(NaiveBayes(order=0).fit(X[["age", "job"]].to_numpy(), Y), Z[["age", "job"]].to_numpy())
    assert objects.dtype == object
    assert not pd.isna(objects).any()


def test_guesses_follow_the_class() -> None:
    """What is observed tells of the class, and the class of ages."""
    model = NaiveBayes(order=0).fit(X, Y)
    sure = pd.concat([Z[:1].assign(job="smith"), Z[:1].assign(job="cook")]).assign(age=np.nan)
    smith, cook = diagnostics.impute(model, sure)["age"]
    assert smith > cook + 2


@pytest.mark.parametrize("columns", ["auto", {("age", "visits"): "multivariate_normal"}], ids=str)
def test_columns_without_a_model_of_their_own(columns: Any) -> None:
    """Constant, numbered or in a block: they are filled by what is usual."""
    table = X.assign(k=3.0, w="same", row=np.arange(200))
    filled = diagnostics.impute(
        NaiveBayes(columns, order=0).fit(table, Y), table[:4].assign(k=np.nan, w=None, row=None, age=np.nan)
    )
    assert filled["k"].tolist() == [3.0] * 4
    assert filled["w"].tolist() == ["same"] * 4
    assert filled["row"].between(0, 199).all()
    assert filled["age"].between(20, 50).all()


def test_what_nobody_observed_stays_empty() -> None:
    model = NaiveBayes(order=0).fit(X.assign(none=None), Y)
    assert diagnostics.impute(model, Z.assign(none=None))["none"].isna().all()


@every("name", FRAMES)
def test_samples_are_tables_like_that_of_training(name: str) -> None:
    model = NaiveBayes(order=0).fit(FRAMES[name](X), Y)
    table, y = model.sample(300, random_state=0)
    assert type(table) is type(FRAMES[name](X))
    again = table if name == "pandas" else table.to_pandas()
    assert list(again.columns) == list(X.columns)
    assert again["since"].dtype.kind == "M"
    assert set(again["job"]) == {"cook", "smith"}
    assert again["age"][y == "high"].mean() > again["age"][y == "low"].mean() + 5
    assert model.score(table, y) > 0.6
    assert model.partial_fit(table, y).class_count_.sum() == 500


def test_samples_without_frames() -> None:
    table, _ = NaiveBayes(order=0).fit({"a": X["age"], "b": X["job"]}, Y).sample(5, random_state=0)
    assert list(table) == ["a", "b"]
    numbers, _ = NaiveBayes(order=0).fit(X[["age", "visits"]].to_numpy(), Y).sample(5, random_state=0)
    assert numbers.shape == (5, 2)
    assert numbers.dtype == np.float64
    same = [the_model().sample(4, random_state=7)[0].to_dict() for _ in range(2)]
    assert same[0] == same[1]


def test_another_class_prior() -> None:
    uniform, odds = the_model().with_class_prior("uniform"), the_model().class_count_
    log = the_model().predict_log_proba(Z) - np.log(odds / odds.sum())
    expected = np.exp(log) / np.exp(log).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(uniform.predict_proba(Z), expected, rtol=1e-9)
    assert uniform.class_prior_.tolist() == [0.5, 0.5]
    back = uniform.with_class_prior(odds / odds.sum())
    np.testing.assert_allclose(back.predict_proba(Z), the_model().predict_proba(Z), rtol=1e-9)


def test_a_class_prior_that_suits_other_rows() -> None:
    table, y = made(1500, seed=5)
    rows = np.flatnonzero((y == "high") | (np.random.default_rng(0).random(1500) < 0.2))
    adapted = the_model().adapt_class_prior(table.iloc[rows])
    assert abs(adapted.class_prior_[0] - (y[rows] == "high").mean()) < 0.1


def test_class_weights_and_given_priors() -> None:
    balanced = NaiveBayes(class_weight="balanced").fit(X, Y)
    np.testing.assert_allclose(
        balanced.predict_proba(Z), the_model().with_class_prior("uniform").predict_proba(Z), rtol=1e-9
    )
    given = NaiveBayes(class_prior={"high": 0.9, "low": 0.1}).fit(X, Y)
    expected = the_model().with_class_prior([0.9, 0.1]).predict_proba(Z)
    np.testing.assert_allclose(given.predict_proba(Z), expected, rtol=1e-9)
    assert (NaiveBayes(class_weight={"high": 1e9}).fit(X, Y).predict(Z) == "high").all()


def test_the_report_is_honest() -> None:
    table, y = made(3000, seed=6)
    report = the_model().loo_
    loss = -the_model().predict_log_proba(table)[np.arange(3000), (y == "low").astype(int)].mean()
    assert abs(report.log_loss - loss) < 0.1
    assert report.log_loss >= report.optimistic.log_loss - 0.02
    assert the_model().leave_one_out(X, Y).shape == (200, 2)


def test_without_training_rows() -> None:
    np.testing.assert_array_equal(bare().predict_proba(Z), the_model().predict_proba(Z))
    assert bare().model_.classifier.state.sample is None
    assert bare().loo_.log_loss == the_model().loo_.log_loss
    for call in (bare().predict_set, partial(diagnostics.typicality, bare())):
        with pytest.raises(ParameterError, match="subsample=100_000"):
            call(Z)
    with pytest.raises(ParameterError, match="subsample=100_000"):
        copy.deepcopy(bare()).refit()


@pytest.mark.filterwarnings("ignore:.*cannot be refitted, because this model keeps no training rows")
def test_learning_without_training_rows() -> None:
    """The columns follow, the weights stay, and their age is told."""
    model = copy.deepcopy(bare()).partial_fit(*made(50, seed=7))
    assert model.staleness_ == 0.25
    assert np.isfinite(model.predict_proba(Z)).all()
    assert merge([bare(), bare()]).class_count_.tolist() == (2 * bare().class_count_).tolist()
    assert np.isfinite(copy.deepcopy(bare()).discount(0.5).predict_proba(Z)).all()
    assert np.isfinite(copy.deepcopy(bare()).forget(X[:50], Y[:50]).predict_proba(Z)).all()
    with pytest.raises(InputError, match="subsample=100_000, or with stacking=None"):
        copy.deepcopy(bare()).partial_fit(Z, np.full(20, "new"))
    plain = NaiveBayes(subsample=0, stacking=None).fit(X, Y).partial_fit(Z, np.full(20, "new"))
    assert plain.predict_proba(Z).shape == (20, 3)


def test_without_evaluation() -> None:
    model = NaiveBayes(compute_loo=False).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(Z), the_model().predict_proba(Z))
    assert not hasattr(model, "loo_")
    assert NaiveBayes(compute_loo=False, stacking=None, calibrate=None).fit(X, Y).model_.classifier.state.sample is None


def test_made_again() -> None:
    model = copy.deepcopy(the_model()).partial_fit(X[:5], Y[:5])
    assert model.staleness_ == 0.025
    before = model.predict_proba(Z)
    assert model.refit().staleness_ == 0.0
    assert np.abs(model.predict_proba(Z) - before).max() > 0
    plain = copy.deepcopy(the_model()).set_params(stacking=None, calibrate=None).refit()
    expected = NaiveBayes(stacking=None, calibrate=None).fit(X, Y).predict_proba(Z)
    np.testing.assert_allclose(plain.predict_proba(Z), expected, rtol=1e-12)


def test_calibrations_on_top() -> None:
    for method in ("temperature", "platt", "beta", "isotonic"):
        model = NaiveBayes(order=0, calibrate=method).fit(X, Y)
        np.testing.assert_allclose(model.predict_proba(Z).sum(axis=1), 1.0)
        assert model.calibration_
    assert the_model().calibration_ == {}
    assert "temperature" in NaiveBayes(stacking=None).fit(X, Y).calibration_


def test_densities() -> None:
    joint = the_model().predict_joint_log_proba(Z)
    np.testing.assert_allclose(diagnostics.log_density(the_model(), Z), np.logaddexp.reduce(joint, axis=1), rtol=1e-12)
    assert np.isfinite(diagnostics.log_likelihood(the_model(), X, Y))


def test_what_chosen_models_cannot_tell() -> None:
    for call in (
        lambda: diagnostics.log_marginal_likelihood(the_model()),
        lambda: diagnostics.bayes_factors(the_model()),
        lambda: diagnostics.intervals(the_model()),
        lambda: diagnostics.log_odds(the_model(), Z),
    ):
        with pytest.raises(ParameterError):
            call()


def test_summary() -> None:
    table = the_model().summary()
    parts = ["since", "since.month", "since.weekday"]
    assert table["column"].tolist()[:7] == ["age", "job", "member", *parts, "visits"]
    assert ((table["own_weight"] >= 0) & np.isfinite(table["own_weight"])).all()
    assert table["missing"][0] == pytest.approx(X["age"].isna().mean())
    assert table["bits"][0] > table["bits"][2]
    plain = NaiveBayes(stacking=None).fit(X, Y).summary()
    assert plain["own_weight"].tolist() == [1.0] * 7


def test_parameters() -> None:
    table = the_model().parameters()
    assert set(table["class"]) == {"high", "low"}
    assert set(table["column"]) <= set(the_model().summary()["column"])
    assert the_model().n_parameters_ > 10


def test_dates_of_all_kinds_are_filled() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(i * i)) for i in range(60)]
    cells: list[Any] = [None, *days[1:]]
    model = NaiveBayes(order=0).fit(
        {"day": days, "took": [dt.timedelta(seconds=i) for i in range(60)]}, np.arange(60) > 30
    )
    filled = diagnostics.impute(model, {"day": cells, "took": [None, *(dt.timedelta(seconds=i) for i in range(1, 60))]})
    assert isinstance(filled["day"][0], dt.date)
    assert days[0] <= filled["day"][0] <= days[-1]
    assert dt.timedelta(0) <= filled["took"][0] <= dt.timedelta(seconds=60)
