"""Tables that are odd or wrong, and settings that contradict: a defined answer, or an error that says what to do."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_array, dok_array
from tiers import every, fitted_once, late

from candide import NaiveBayes, diagnostics
from candide.exceptions import CandideError, ForgetError, InputError, MergeError, ParameterError

pl = late("polars")

N = 40
CLASSES = np.arange(N) % 2
Y = np.where(CLASSES == 0, "no", "yes")
X = pd.DataFrame(
    {
        "size": np.random.default_rng(0).normal(CLASSES, 0.7).round(2),
        "count": np.random.default_rng(1).poisson(2 + CLASSES),
        "word": np.array(["a", "b", "c"], dtype=object)[(CLASSES + np.random.default_rng(2).integers(0, 2, N)) % 3],
    }
)
PLAIN: dict[str, Any] = {"stacking": None, "calibrate": None}
BOTH = pytest.mark.parametrize("how", [PLAIN, {}], ids=["plain", "all"])


@fitted_once
def fit(table: Any = X, y: Any = Y, **settings: Any) -> Any:
    return NaiveBayes(n_threads=1, **settings).fit(table, y)


def check(probability: Any) -> Any:
    """Rows of probabilities."""
    assert np.isfinite(probability).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-9)
    return probability


def refused(call: Any, *words: str, error: type[CandideError] = InputError) -> None:
    with pytest.raises(error, match=".*".join(map(re.escape, words))):
        call()


# Cells and columns.


def test_two_columns_of_one_name() -> None:
    refused(lambda: fit(pd.concat([X, X[["size"]]], axis=1)), "'size'", "a unique name")


def test_cells_that_hold_several_things() -> None:
    refused(lambda: fit(X.assign(tags=[{"a": 1}] * N)), "column 'tags' contains a dict at row 0", "several columns")
    refused(lambda: fit().predict(X.assign(word=[["a"]] * N)), "column 'word' contains a list at row 0")


@BOTH
def test_columns_of_nothing(how: dict[str, Any]) -> None:
    model = fit(X.assign(none=None, nan=np.nan), **how)
    np.testing.assert_allclose(
        model.predict_proba(X.assign(none=None, nan=np.nan)), fit(**how).predict_proba(X), rtol=1e-9, atol=1e-12
    )
    assert model.summary()["note"].tolist()[3:5] == ["only missing values"] * 2
    # Of a column that nobody knew, no value tells anything.
    check(model.predict_proba(X.assign(none="x", nan=3.0)))


@BOTH
def test_columns_of_nothing_at_predict_only(how: dict[str, Any]) -> None:
    model = fit(**how)
    for missing in ({"size": None}, {"word": np.nan}, {"size": np.nan, "count": None, "word": None}):
        check(model.predict_proba(X.assign(**missing)))


@BOTH
def test_a_column_that_comes_alive(how: dict[str, Any]) -> None:
    for name in ("size", "word"):
        model = fit(X.assign(**{name: None}), **how).partial_fit(X, Y).refit()
        check(model.predict_proba(X))
        both = fit(pd.concat([X.assign(**{name: None}), X]), np.tile(Y, 2), **how)
        np.testing.assert_allclose(model.predict_proba(X), both.predict_proba(X), rtol=0, atol=1e-9)


def test_a_column_that_comes_alive_before_the_blend_is_made_again() -> None:
    for settings in ({}, {"subsample": 0}):
        model = fit(X.assign(word="same"), **settings).partial_fit(X[:2], Y[:2])
        assert model.staleness_ == 0.05
        check(model.predict_proba(X))
        check(np.exp(model.leave_one_out(X[:2], Y[:2])))
        assert len(model.summary()["own_weight"]) >= 3


@BOTH
def test_a_table_that_tells_nothing_predicts_the_shares(how: dict[str, Any]) -> None:
    table = pd.DataFrame({"k": [1.0] * N, "w": ["x"] * N, "none": [None] * N})
    model = fit(table, np.arange(N) % 4 == 0, **how)
    others = pd.DataFrame({"k": [1.0, 2.0], "w": ["x", "y"], "none": [None, 3]})
    np.testing.assert_allclose(model.predict_proba(others), [[0.75, 0.25]] * 2, rtol=1e-9)
    assert np.isfinite(model.loo_.log_loss)


def test_infinities() -> None:
    bad = X.assign(size=[*range(N - 1), -np.inf])
    for call in (lambda: fit(bad), lambda: fit().predict(bad), lambda: fit().partial_fit(bad, Y)):
        refused(call, f"column 'size' is infinite at row {N - 1}")


EXTREMES = {
    "large": np.linspace(-1e300, 1e300, N),
    "largest": np.where(CLASSES == 0, -1.7e308, 1.7e308) * np.linspace(0.9, 1, N),
    "small": np.arange(N) * 1e-300,
    "smallest": np.arange(N) * 5e-324,
    "all scales": 10.0 ** np.linspace(-300, 300, N),
    "one outlier": np.append(np.arange(N - 1.0), 1e300),
    "offset": 1e15 + np.arange(N) / 8,
}


@every("name", EXTREMES)
def test_extreme_numbers_in_the_plain_model(name: str) -> None:
    check_extreme_numbers(name, PLAIN)


# The largest, and numbers of all scales, stand for the others.
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ("largest", "all scales") else pytest.mark.slow) for name in EXTREMES],
)
def test_extreme_numbers(name: str) -> None:
    check_extreme_numbers(name, {})


def check_extreme_numbers(name: str, how: dict[str, Any]) -> None:
    table = X.assign(size=EXTREMES[name])
    model = fit(table, **how)
    for rows in (table, X, X.assign(size=1.7e308), X.assign(size=-1.7e308)):
        check(model.predict_proba(rows))
    check(np.exp(model.leave_one_out(table, Y)))
    assert np.isfinite(model.loo_.log_loss)
    assert np.isfinite(diagnostics.impute(model, X.assign(size=np.nan))["size"]).all()
    assert np.isfinite(model.sample(5, random_state=0)[0]["size"]).all()
    model.summary(), model.parameters(), diagnostics.typicality(model, table)


def test_distributions_of_numbers_whose_squares_overflow() -> None:
    table = X.assign(size=np.linspace(1.0, 1e300, N))
    for family in ("gaussian", "student", "power", "lognormal", "poisson"):
        words = "column 'size'", "below about 1e150"
        refused(lambda family=family: fit(table, columns={"size": family}), *words, error=ParameterError)
    for family in ("kernel", "bins"):
        check(fit(table, columns={"size": family}).predict_proba(table))


def test_very_many_different_texts() -> None:
    n = 2_000
    table = {"id": np.array([f"k{i}" for i in range(n)], dtype=object), "x": np.arange(n) % 7}
    y = np.arange(n) % 7 > 3
    model = fit(table, y, order=0)
    assert "identifier" in model.summary()["note"][0]
    assert model.score(table, y) == 1.0
    asked = fit(table, y, columns={"id": "categorical"}, **PLAIN)
    check(asked.predict_proba({"id": ["k5", "new"], "x": [1, 5]}))


def test_numbered_rows() -> None:
    model = fit(X.assign(row=np.arange(N)))
    assert "numbered" in model.summary()["note"][3]


def test_mixed_types() -> None:
    cells: list[Any] = [1, "a", None, 2.5, True, "b", 1.0, "1"] * 5
    model = fit({"cell": cells}, **PLAIN)
    check(model.predict_proba({"cell": ["a", 1, 2.5, "1", None, "q"]}))
    # Among texts, numbers are texts: 1, 1.0 and "1" are one value.
    one, real, text = model.predict_proba({"cell": [1, 1.0, "1"]})
    assert one.tolist() == real.tolist() == text.tolist()
    refused(lambda: model.predict({"cell": ["a", dt.date(2020, 1, 1)]}), "at row 1, but it is a column of categories")


def test_texts_in_a_column_of_numbers() -> None:
    refused(lambda: fit(X.assign(size=["n/a", *X["size"][1:]])), "column 'size'", "1 text value", "'n/a' at row 0")
    words = "column 'size' contains 'old' at row 3, but it is a column of numbers"
    odd = X.assign(size=[*X["size"][:3], "old", *X["size"][4:]])
    for call in (lambda: fit().predict(odd), lambda: fit().partial_fit(odd, Y), lambda: fit().forget(odd, Y)):
        refused(call, words, "schema={'size': 'category'}")
    # Numbers written as text are numbers where numbers were learned.
    np.testing.assert_array_equal(fit().predict_proba(X.assign(size=X["size"].astype(str))), fit().predict_proba(X))


def test_numbers_in_a_column_of_categories() -> None:
    words = "column 'word' contains 3.5 at row 0, but it is a column of categories such as 'a'"
    refused(lambda: fit().predict_proba(X.assign(word=3.5)), words, "pass strings")


# Which columns there are.


@BOTH
def test_absent_columns(how: dict[str, Any]) -> None:
    for call in (lambda: fit(**how).predict(X[["size"]]), lambda: fit(**how).partial_fit(X[["word", "size"]], Y)):
        refused(call, "'count'", "missing", "absent='missing'")
    # Weights for rows that lack a column are fitted on the rows kept, if any; those for rows with null cells are not.
    model = fit(absent="missing", subsample=0, **how)
    for names in (["size"], ["word", "size"]):
        lacking = {name: None for name in X if name not in names}
        np.testing.assert_array_equal(model.predict_proba(X[names]), model.predict_proba(X.assign(**lacking)))
    refused(
        lambda: model.predict(pd.DataFrame({"other": [1]})),
        "'size'",
        "are missing, and the model was not trained on a column 'other'",
    )


def test_an_absent_date() -> None:
    table = X.assign(day=pd.date_range("2024-01-01", periods=N, freq="31h"))
    model = fit(table, absent="missing", subsample=0)
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(table.assign(day=None)))


def test_further_columns_are_passed_over() -> None:
    model = fit()
    further = X.assign(more=1, tags=[[1]] * N, endless=np.inf)
    np.testing.assert_array_equal(model.predict_proba(further), model.predict_proba(X))
    np.testing.assert_array_equal(model.predict_proba(dict(further)), model.predict_proba(X))
    assert model.partial_fit(further, Y).class_count_.sum() == 2 * N


def test_columns_in_another_order() -> None:
    model, other = fit(), X[["word", "size", "count"]]
    for table in (other, dict(other), pl.from_pandas(other)):
        np.testing.assert_array_equal(model.predict_proba(table), model.predict_proba(X))
    assert model.partial_fit(other, Y).forget(other, Y).class_count_.sum() == N


def test_another_number_of_columns_without_names() -> None:
    for model in (fit(), fit(X.to_numpy())):
        for table in (X.to_numpy()[:, :2], np.ones((3, 5))):
            words = f"X has {table.shape[1]} features, but NaiveBayes is expecting 3 features"
            refused(lambda model=model, table=table: model.predict(table), words)


# Rows and labels.


def test_no_rows_and_no_columns() -> None:
    for call in (lambda: fit(X[:0], Y[:0]), lambda: fit().predict(X[:0]), lambda: fit({}, [])):
        refused(call, "0 sample(s)")
    refused(lambda: fit(X[[]]), "0 feature(s)")


@BOTH
def test_few_rows(how: dict[str, Any]) -> None:
    assert fit(X[:1], Y[:1], **how).predict_proba(X).tolist() == [[1.0]] * N
    for n in (2, 3, 5):
        model = fit(X[:n], Y[:n], **how)
        check(model.predict_proba(X))
        assert np.isfinite(model.loo_.log_loss)
        (
            model.summary(),
            diagnostics.typicality(model, X),
            model.predict_set(X),
            diagnostics.impute(model, X),
            model.sample(3, 0),
        )


@BOTH
def test_one_class(how: dict[str, Any]) -> None:
    model = fit(y=["same"] * N, **how)
    assert model.predict_proba(X).tolist() == [[1.0]] * N
    assert model.loo_.accuracy == 1.0


@BOTH
def test_a_class_for_every_row(how: dict[str, Any]) -> None:
    model = fit(y=np.arange(N), **how)
    assert check(model.predict_proba(X)).shape == (N, N)


@BOTH
def test_more_classes_than_rows(how: dict[str, Any]) -> None:
    """Declared classes that nobody saw have no share."""
    model = NaiveBayes(n_threads=1, **how).partial_fit(X[:4], CLASSES[:4], classes=np.arange(10))
    found = check(model.predict_proba(X))
    assert found.shape == (N, 10)
    assert not found[:, 2:].any()
    smoothed = NaiveBayes(n_threads=1, class_prior="smoothed", **how).partial_fit(X[:4], CLASSES[:4], classes=range(10))
    assert (check(smoothed.predict_proba(X)) > 0).all()


def test_labels() -> None:
    table = X.assign(label=[None, *Y[1:]])
    refused(lambda: fit(table, "label", unlabeled="error"), "row 0", "label")
    refused(lambda: fit(y=[np.nan, *CLASSES[1:]], unlabeled="error"), "row 0", "label")
    refused(lambda: fit(table, "income"), "y is 'income', but X has no such column", "'size', 'count', 'word', 'label'")
    refused(lambda: fit(X.to_numpy(), "income"), "columns have no names")
    refused(lambda: fit(y=None), "requires y")
    refused(lambda: fit(y=Y[:5]), "5")


# Types.


def test_booleans_with_nulls() -> None:
    cells = [True, None, False, True] * 10
    tables = [{"flag": cells}, pl.DataFrame({"flag": cells}), pd.DataFrame({"flag": pd.array(cells, dtype="boolean")})]
    found = [check(fit(table).predict_proba({"flag": [None, True, False]})) for table in tables]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-12)


def test_dates_and_durations() -> None:
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) * 37 + 24 * 200 * CLASSES, unit="h")
    model = fit(pd.DataFrame({"day": day}))
    assert model.n_features_in_ == 1
    assert model.summary()["column"].tolist()[:4] == ["day", "day.month", "day.weekday", "day.hour"]
    assert model.score(pd.DataFrame({"day": day}), Y) > 0.9
    check(model.predict_proba(pd.DataFrame({"day": [pd.NaT, pd.Timestamp("1900-01-01")]})))
    durations = pd.DataFrame({"took": pd.to_timedelta(np.arange(N) + 100 * CLASSES, unit="s")})
    assert fit(durations).score(durations, Y) > 0.9


def test_models_of_dates_with_and_without_times() -> None:
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=N, freq="D")})
    hours = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=N, freq="5h")})
    refused(lambda: fit(days).merge(fit(hours)), "day.hour", error=MergeError)
    check(fit(days).partial_fit(hours, Y).predict_proba(hours))


def test_whole_numbers_as_categories() -> None:
    table = X.assign(count=X["count"] * 1000)
    model = fit(table, columns={"count": "categorical"}, **PLAIN)
    assert model.summary()["family"][1] == "categorical"
    with pytest.warns(UserWarning, match="none of 40 rows has a known"):
        check(model.predict_proba(table.assign(count=7)))
    for same in (table.assign(count=table["count"].astype(float)), table.to_numpy()):
        np.testing.assert_array_equal(model.predict_proba(same), model.predict_proba(table))


def test_types_of_numbers() -> None:
    table = X[["size", "count"]]
    wide = fit(table.astype("float32").astype("float64"))
    narrow = fit(table.astype("float32"))
    np.testing.assert_allclose(narrow.predict_proba(table), wide.predict_proba(table), rtol=1e-12)
    values = np.asfortranarray(table.to_numpy())
    values.flags.writeable = False
    np.testing.assert_array_equal(fit(values).predict_proba(values), fit(values.copy()).predict_proba(values.copy()))
    weight = np.ones(N)
    weight.flags.writeable = False
    NaiveBayes().fit(values, Y, sample_weight=weight)


@pytest.mark.parametrize("make", [csr_array, csc_array, dok_array], ids=lambda make: make.__name__)
def test_sparse(make: Any) -> None:
    values = np.where(X[["size", "count"]] > 1, X[["size", "count"]], 0.0)
    dense, sparse = fit(values), fit(make(values))
    np.testing.assert_array_equal(sparse.predict_proba(make(values)), dense.predict_proba(values))
    np.testing.assert_array_equal(dense.predict_proba(make(values)), dense.predict_proba(values))


# Settings.

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "order without blend": ({"order": 1, "stacking": None}, "order=1 adds views, which require stacking"),
    "no smoothing": ({"alpha": 0}, "alpha is 0, but NaiveBayes requires smoothing"),
    "negative alpha": ({"alpha": -1}, "alpha is -1"),
    "text alpha": ({"alpha": "much"}, "alpha is 'much'"),
    "family": ({"columns": "gauss"}, "columns contains 'gauss'; expected one of auto, gaussian"),
    "family of a column": ({"columns": {"size": "gauss"}}, "columns contains 'gauss'"),
    "no family": ({"columns": None}, "columns contains None"),
    "column": ({"columns": {"sise": "kernel"}}, "columns has the key 'sise', but X has no such column"),
    "twice": ({"columns": {"size": "kernel", ("size", "count"): "bins"}}, "column 'size' matches two keys"),
    "numbers": ({"columns": {"word": "gaussian"}}, "column 'word' contains categories, but 'gaussian' needs numbers"),
    "two values": ({"columns": {"word": "bernoulli"}}, "contains 3 distinct values, but 'bernoulli' allows only two"),
    "option": ({"columns": {"size": ("bins", {"foo": 1})}}, "'bins' has no option 'foo'"),
    "method": ({"columns": {"size": ("bins", {"method": "foo"})}}, "method of 'bins' is 'foo'; expected one of"),
    "options": ({"columns": {"size": ("bins", 3)}}, "columns contains ('bins', 3)"),
    "block of one": ({"columns": {"size": "multinomial"}}, "'multinomial' to the single column 'size'"),
    "stacking": ({"stacking": True}, "stacking is True; expected 'auto' or None"),
    "order": ({"order": 3}, "order is 3; expected 'auto', 0, 1 or 2"),
    "order as flag": ({"order": True}, "order is True"),
    "calibrate": ({"calibrate": "yes"}, "calibrate is 'yes'"),
    "missing": ({"missing": "drop"}, "missing is 'drop'; expected one of auto, ignore, category, error"),
    "unseen": ({"unseen": None}, "unseen is None; expected one of ignore, smooth"),
    "absent": ({"absent": "yes"}, "absent is 'yes'; expected one of error, missing"),
    "compute_loo": ({"compute_loo": "yes"}, "compute_loo is 'yes'; expected True or False"),
    "subsample": ({"subsample": "no"}, "subsample is 'no'; expected 'auto', the number of training rows"),
    "fit_prior": ({"fit_prior": "no"}, "fit_prior is 'no'; expected True or False"),
    "class_prior": ({"class_prior": [0.2, 0.3, 0.5]}, "got 3 priors for 2 classes"),
    "class_weight": ({"class_weight": "heavy"}, "class_weight is 'heavy'"),
    "n_threads": ({"n_threads": 0}, "n_threads is 0"),
}


@every("case", WRONG)
def test_wrong_settings(case: str) -> None:
    settings, words = WRONG[case]
    model = NaiveBayes(**settings)
    before = dict(vars(model))
    refused(lambda: model.fit(X, Y), words, error=ParameterError)
    assert vars(model) == before


def test_missing_cells_as_an_error() -> None:
    hole = X.assign(size=[None, *X["size"][1:]], word=["a", None, *X["word"][2:]])
    refused(lambda: fit(hole, missing="error"), "column 'size' is missing at row 0", "missing='auto'")
    check(fit(missing="error").predict_proba(X))


def test_a_block_of_texts() -> None:
    refused(lambda: fit(columns={("size", "word"): "multivariate_normal"}), "'word'", "categories", error=CandideError)


# An error leaves the model as it was.


class Unchanged:
    """Every attribute is the object that it was, and predictions are what they were."""

    def __init__(self, model: Any) -> None:
        self.model, self.before, self.said = model, dict(vars(model)), model.predict_proba(X)

    def check(self) -> None:
        now = vars(self.model)
        assert now.keys() == self.before.keys()
        assert all(now[name] is self.before[name] for name in now)
        np.testing.assert_array_equal(self.model.predict_proba(X), self.said)


BAD: dict[str, tuple[Any, Any]] = {
    "infinite": (X.assign(size=np.inf), Y),
    "texts for numbers": (X.assign(size=[*X["size"][:-1], "old"]), Y),
    "unhashable": (X.assign(word=[["a"]] * N), Y),
    "no rows": (X[:0], Y[:0]),
    "no label": (X, [None] * N),
    "too few labels": (X, Y[:3]),
    "absent label": (X, "income"),
    "other labels": (X, np.arange(N) / 3),
}


@every("verb", ["fit", "partial_fit", "forget"])
@every("case", BAD)
def test_bad_rows_change_nothing(verb: str, case: str) -> None:
    model = fit()
    unchanged = Unchanged(model)
    with pytest.raises(CandideError):
        getattr(model, verb)(*BAD[case])
    unchanged.check()


@pytest.mark.parametrize("verb", ["partial_fit", "forget"])
def test_absent_columns_change_nothing(verb: str) -> None:
    model = fit()
    unchanged = Unchanged(model)
    refused(lambda: getattr(model, verb)(X[["size"]], Y), "missing")
    unchanged.check()


def test_forgetting_what_was_never_learned_changes_nothing() -> None:
    model = fit()
    unchanged = Unchanged(model)
    for table, y in ((X.assign(size=77.0), Y), (X.assign(word="new"), Y), (X, np.full(N, "other")), (X, Y)):
        refused(lambda table=table, y=y: model.forget(table, y), "the model is unchanged", error=ForgetError)
    unchanged.check()


def test_merging_what_does_not_add_changes_nothing() -> None:
    model = fit()
    unchanged = Unchanged(model)
    strangers = [
        fit(X[["size", "count"]]),
        fit(X.rename(columns={"size": "length"})),
        fit(X.assign(word=1.5 * np.arange(N))),
        fit(columns={("size", "count"): "multivariate_normal"}),
        fit(columns={"count": "categorical"}),
        fit(y=CLASSES),
        3,
    ]
    for stranger in strangers:
        with pytest.raises(CandideError):
            model.merge(stranger)
        unchanged.check()


def test_settings_that_would_count_other_things() -> None:
    model = fit().set_params(columns={"count": "categorical"})
    unchanged = Unchanged(model)
    for call in (lambda: model.partial_fit(X, Y), model.refit):
        refused(call, "columns is now", "restore the old value, or fit again", error=ParameterError)
        unchanged.check()
    assert fit().set_params(columns={"size": "kernel"}).refit().summary()["note"][0] == "by request"
    assert model.fit(X, Y).summary()["note"][1] == "by request"
