"""Models from given parameters, and from tables of counts: what rows would have taught."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tiers import every, late

import candide
from candide import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB, diagnostics
from candide.exceptions import CandideError, InputError, ParameterError
from candide.priors import Beta, Dirichlet, Gamma, NormalInverseGamma

pl = late("polars")

RANDOM = np.random.default_rng(3)
N_ROWS, CLASSES = 60, np.array(["north", "east", "south"])
LABELS = CLASSES[RANDOM.integers(0, 3, N_ROWS)]
COUNTS = RANDOM.integers(0, 5, (N_ROWS, 4))
PRESENT = COUNTS > 1
MEASURES = RANDOM.normal(size=(N_ROWS, 4)) + COUNTS
WORDS = np.array(["tin", "oak", "jade", "ash", "elm"], dtype=object)[COUNTS]
CLASS_COUNT = [int((c == LABELS).sum()) for c in CLASSES]


def by_class(values: np.ndarray) -> list[np.ndarray]:
    return [values[c == LABELS] for c in CLASSES]


def sums_of(values: np.ndarray) -> np.ndarray:
    return np.array([part.sum(axis=0) for part in by_class(values)])


def value_tables(values: list[list[Any]]) -> list[np.ndarray]:
    """For each column, how often each class has each of its values."""
    parts = by_class(WORDS)
    return [np.array([[(part[:, j] == v).sum() for v in column] for part in parts]) for j, column in enumerate(values)]


def counted(name: str, **settings: Any) -> tuple[Any, Any, Any]:
    """A model from counts (classes unsorted), its fitted twin, and the rows."""
    given = {"classes": CLASSES, **settings}
    if name == "GaussianNB":
        parts = by_class(MEASURES)
        mean, variance = [p.mean(axis=0) for p in parts], [p.var(axis=0, ddof=1) for p in parts]
        model = GaussianNB.from_counts(CLASS_COUNT, mean, variance, ddof=1, **given)
        return model, GaussianNB(ddof=1, **settings), MEASURES
    if name == "BernoulliNB":
        return BernoulliNB.from_counts(sums_of(PRESENT), CLASS_COUNT, **given), BernoulliNB(**settings), PRESENT
    if name == "CategoricalNB":
        values = [["oak", "tin", "jade", "elm", "ash"]] * 4
        model = CategoricalNB.from_counts(value_tables(values), categories=values, **given)
        return model, CategoricalNB(**settings), WORDS
    kind = getattr(candide, name)
    return kind.from_counts(sums_of(COUNTS), CLASS_COUNT, **given), kind(**settings), COUNTS


NAMES = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "PoissonNB"]
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in NAMES),
    *((name, {"alpha": 0.5, "class_weight": {"east": 3.0}}) for name in NAMES if name != "GaussianNB"),
    *((name, {"alpha": "evidence"}) for name in NAMES if name not in ("GaussianNB", "ComplementNB")),
    ("GaussianNB", {"variance": "shared", "var_smoothing": 0.1}),
    ("MultinomialNB", {"estimate": "predictive", "class_prior": "smoothed"}),
    ("BernoulliNB", {"class_prior": Dirichlet(2.0)}),
]


def assert_same(a: Any, b: Any, rows: Any) -> None:
    np.testing.assert_array_equal(a.classes_, b.classes_)
    np.testing.assert_allclose(a.class_count_, b.class_count_)
    np.testing.assert_allclose(a.class_prior_, b.class_prior_)
    np.testing.assert_allclose(a.predict_log_proba(rows), b.predict_log_proba(rows), rtol=1e-9, atol=1e-12)
    for (name, mine), theirs in zip(a.parameters().items(), b.parameters().values(), strict=True):
        same = np.testing.assert_allclose if mine.dtype.kind == "f" else np.testing.assert_array_equal
        same(mine, theirs, err_msg=name)


@every("name,settings", SETTINGS)
def test_counts_are_as_good_as_rows(name: str, settings: dict[str, Any]) -> None:
    model, twin, rows = counted(name, **settings)
    assert_same(model, twin.fit(rows, LABELS), rows)


@every("name", NAMES)
def test_counted_models_learn_forget_and_merge(name: str) -> None:
    model, twin, rows = counted(name)
    more, labels = rows[:20], np.roll(LABELS, 1)[:20]
    twin.fit(rows, LABELS).partial_fit(more, labels)
    assert_same(model.partial_fit(more, labels), twin, rows)
    assert_same(model.forget(rows[:9], LABELS[:9]), twin.forget(rows[:9], LABELS[:9]), rows)
    assert_same(candide.merge([model, counted(name)[0]]), candide.merge([twin, counted(name)[0]]), rows)


@every("name", NAMES)
def test_a_class_vanishes_with_its_last_row(name: str) -> None:
    model, _, rows = counted(name)
    gone = LABELS == "east"
    assert model.forget(rows[gone], LABELS[gone]).classes_.tolist() == ["north", "south"]


# Parameters come back.

SHARES = RANDOM.dirichlet(np.ones(5), 3)
ORDER = np.argsort(CLASSES)


def test_bernoulli_parameters_come_back() -> None:
    given = RANDOM.random((3, 4))
    given[0, 0], given[1, 1] = 0.0, 1.0
    model = BernoulliNB.from_parameters(given, classes=CLASSES)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), given[ORDER], rtol=1e-15)
    np.testing.assert_allclose(model.parameters()["probability"].reshape(3, 4), given[ORDER], rtol=1e-15)
    np.testing.assert_array_equal(model.class_prior_, np.full(3, 1 / 3))


def test_multinomial_parameters_come_back() -> None:
    model = MultinomialNB.from_parameters(SHARES, classes=CLASSES)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), SHARES[ORDER], rtol=1e-14)


def test_complement_is_the_mean_of_the_others() -> None:
    model = ComplementNB.from_parameters(SHARES, classes=CLASSES)
    others = (SHARES.sum(axis=0) - SHARES) / 2
    np.testing.assert_allclose(np.exp(-model.feature_log_prob_), others[ORDER], rtol=1e-14)


def test_poisson_and_gaussian_parameters_come_back_bit_for_bit() -> None:
    rate, mean, variance = RANDOM.random((3, 4)), RANDOM.normal(size=(3, 4)), RANDOM.random((3, 4)) * 1e-20
    rate[0, 0] = variance[2, 3] = 0.0
    np.testing.assert_array_equal(PoissonNB.from_parameters(rate, classes=CLASSES).rate_, rate[ORDER])
    model = GaussianNB.from_parameters(mean, variance, classes=CLASSES)
    np.testing.assert_array_equal(model.theta_, mean[ORDER])
    np.testing.assert_array_equal(model.var_, variance[ORDER])


def test_categorical_parameters_come_back() -> None:
    tables = [SHARES, np.array([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])]
    values = [["e", "d", "c", "b", "a"], [7, 2, 5]]
    model = CategoricalNB.from_parameters(tables, values, classes=CLASSES, feature_names=["letter", "number"])
    found = model.parameters()
    for given, column, name in zip(tables, values, ("letter", "number"), strict=True):
        for i, label in enumerate(CLASSES):
            for j, value in enumerate(column):
                place = (found["class"] == label) & (found["column"] == name) & (found["value"] == value)
                assert found["probability"][place] == pytest.approx(given[i, j], rel=1e-14)
    assert [column.tolist() for column in model.categories_] == [sorted(values[0]), sorted(values[1])]


def test_categories_are_codes_by_default() -> None:
    model = CategoricalNB.from_parameters([[[0.2, 0.8], [0.6, 0.4]]])
    assert model.categories_[0].tolist() == [0, 1]
    np.testing.assert_allclose(model.predict_proba([[1]]), [[2 / 3, 1 / 3]])


@pytest.mark.parametrize("value", [np.array([0.001, 0.999]), {"well": 0.999, "ill": 0.001}])
def test_class_prior_by_order_and_by_label(value: Any) -> None:
    model = BernoulliNB.from_parameters([[0.99], [0.05]], classes=["well", "ill"][::-1], class_prior=value)
    expected = 0.001 * 0.99 / (0.001 * 0.99 + 0.999 * 0.05)
    assert model.classes_.tolist() == ["ill", "well"]
    assert model.predict_proba([[1]])[0, 0] == pytest.approx(expected, rel=1e-14)
    turned = GaussianNB.from_parameters([[0.0], [1.0]], [[1.0]] * 2, classes=["well", "ill"], class_prior=[0.9, 0.1])
    np.testing.assert_array_equal(turned.class_prior_, [0.1, 0.9])


def test_a_dirichlet_follows_the_order_of_the_classes() -> None:
    model = MultinomialNB.from_counts([[1, 2], [3, 4]], [4, 6], classes=["b", "a"], class_prior=Dirichlet([1.0, 9.0]))
    np.testing.assert_allclose(model.class_prior_, [15 / 20, 5 / 20])


BY_CLASS = np.array([[0.5, 1.0, 2.0, 3.0], [4.0, 1.5, 0.2, 0.1], [2.0, 2.5, 0.7, 6.0]])  # in the order of CLASSES


@every(
    "name,setting,make",
    [
        *((name, "alpha", np.asarray) for name in NAMES if name != "GaussianNB"),
        ("MultinomialNB", "alpha", np.ndarray.tolist),
        ("BernoulliNB", "parameter_prior", lambda rows: Beta(rows, 2.0)),
        ("PoissonNB", "parameter_prior", lambda rows: Gamma([1.0, 2.0, 3.0, 4.0], rows)),
        ("GaussianNB", "parameter_prior", lambda rows: NormalInverseGamma(rows, 2.0, 1.5, rows)),
    ],
)
def test_rows_of_a_setting_follow_the_order_of_the_classes(name: str, setting: str, make: Any) -> None:
    model, _, rows = counted(name, **{setting: make(BY_CLASS)})
    twin = getattr(candide, name)(**{setting: make(BY_CLASS[np.argsort(CLASSES)])})
    assert_same(model, twin.fit(rows, LABELS), rows)


def test_pseudo_counts_follow_the_order_of_the_values() -> None:
    table, values, alpha = [[3, 1, 0], [0, 2, 2]], ["sun", "rain", "snow"], np.array([1.0, 2.0, 7.0])
    expected = (np.array(table) + alpha) / (np.array([[4], [4]]) + 10)
    for prior in (Dirichlet(alpha), [Dirichlet(alpha)], {"sky": Dirichlet(alpha)}):
        given = {"parameter_prior": prior, "feature_names": ["sky"]}
        model = CategoricalNB.from_counts([table], categories=[values], **given)
        places = model.categories_[0].tolist()
        shares = np.exp(model.feature_log_prob_[0])[:, [places.index(v) for v in values]]
        np.testing.assert_allclose(shares, expected)


# Small print.


def test_feature_names_are_those_of_the_frame() -> None:
    model = PoissonNB.from_parameters([[1.0, 2.0], [3.0, 4.0]], feature_names=["day", "night"])
    assert model.feature_names_in_.tolist() == ["day", "night"]
    assert set(model.parameters()["column"]) == {"day", "night"}
    model.predict(pd.DataFrame({"day": [1], "night": [2]}))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame({"night": [1], "day": [2]}))


@every("frame", [pd.DataFrame, late("polars", "DataFrame")])
def test_a_frame_names_the_columns(frame: Any) -> None:
    table = frame({"day": [0.25, 0.5], "night": [0.75, 0.5]})
    for model in (
        BernoulliNB.from_parameters(table),
        BernoulliNB.from_counts(table, [1, 1]),
        MultinomialNB.from_parameters(table),
        ComplementNB.from_counts(table),
        PoissonNB.from_counts(table, [2, 3]),
        GaussianNB.from_parameters(table, table),
        GaussianNB.from_counts([2, 3], table, table),
    ):
        assert model.feature_names_in_.tolist() == ["day", "night"]
    assert BernoulliNB.from_parameters(table, feature_names=["a", "b"]).feature_names_in_.tolist() == ["a", "b"]
    assert not hasattr(PoissonNB.from_parameters(pd.DataFrame([[1.0, 2.0]])), "feature_names_in_")
    weather = CategoricalNB.from_counts([frame({"sun": [3, 0], "rain": [1, 2]})])
    assert weather.categories_[0].tolist() == ["rain", "sun"]
    assert CategoricalNB.from_counts([pd.DataFrame([[1, 2]])]).categories_[0].tolist() == [0, 1]


@every("estimate", ["mean", "map", "predictive"])
def test_the_variances_of_the_table_are_unbiased_whatever_the_estimate(estimate: str) -> None:
    """``ddof`` says how to read the table."""
    model, _, rows = counted("GaussianNB", estimate=estimate)
    assert_same(model, GaussianNB(estimate=estimate).fit(rows, LABELS), rows)


def test_a_value_that_nobody_saw_takes_part_in_the_smoothing() -> None:
    tables, values = [[[2, 1, 0], [0, 3, 0]]], [["sun", "rain", "snow"]]
    model = CategoricalNB.from_counts(tables, categories=values)
    places = model.categories_[0].tolist()
    shares = np.exp(model.feature_log_prob_[0])[:, [places.index(v) for v in values[0]]]
    np.testing.assert_allclose(shares, [[3 / 6, 2 / 6, 1 / 6], [1 / 6, 4 / 6, 1 / 6]])
    model.forget([["rain"]], [1])
    np.testing.assert_allclose(
        np.exp(model.feature_log_prob_[0])[1].max(), 3 / 5
    )  # of rain; there are three values yet
    codes = CategoricalNB.from_counts(tables)
    twin = CategoricalNB(min_categories=3).fit([[0], [0], [1], [1], [1], [1]], [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(codes.predict_proba([[0], [1], [2]]), twin.predict_proba([[0], [1], [2]]))


def test_codes_that_are_not_listed_do_not_count() -> None:
    model = CategoricalNB.from_counts([[[2, 1], [0, 3]]], categories=[[0, 50]])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[3 / 5, 2 / 5], [1 / 5, 4 / 5]])


def test_rows_of_a_class_may_outnumber_its_values() -> None:
    """Missing cells: 4 rows, of which 3 have a value."""
    rows = [["a"], ["a"], ["b"], [None], ["b"]]
    model = CategoricalNB.from_counts([[[2, 1], [0, 1]]], [4, 1], [["a", "b"]])
    assert_same(model, CategoricalNB().fit(rows, [0, 0, 0, 0, 1]), rows)


def test_what_was_given_may_change_afterwards() -> None:
    given = np.array([[1.0, 2.0], [3.0, 4.0]])
    model = PoissonNB.from_parameters(given)
    given[:] = 0
    np.testing.assert_array_equal(model.rate_, [[1, 2], [3, 4]])


def test_a_class_without_rows_stays() -> None:
    model = MultinomialNB.from_counts([[3, 1], [0, 0]], [2, 0])
    np.testing.assert_array_equal(model.class_prior_, [1, 0])
    assert model.forget([[1, 0]], [0], sample_weight=[1]).classes_.tolist() == [0, 1]


def test_text_as_a_table_of_counts_needs_no_class_count() -> None:
    np.testing.assert_array_equal(MultinomialNB.from_counts([[3, 1], [5, 7]]).class_prior_, [0.5, 0.5])


GIVEN = {
    "bernoulli": lambda: BernoulliNB.from_parameters([[0.5, 0.1], [0.25, 0.75]]),
    "categorical": lambda: CategoricalNB.from_parameters([[[0.5, 0.5], [0.25, 0.75]]] * 2),
    "multinomial": lambda: MultinomialNB.from_parameters([[0.5, 0.5], [0.25, 0.75]]),
    "poisson": lambda: PoissonNB.from_parameters([[0.5, 0.5], [0.25, 0.75]]),
    "gaussian": lambda: GaussianNB.from_parameters([[0.5, 0.5], [0.25, 0.75]], [[1.0, 2.0]] * 2),
}


@every("make", GIVEN.values())
def test_given_parameters_are_certain(make: Any) -> None:
    for model in (make(), pickle.loads(pickle.dumps(make())), make().with_class_prior([0.1, 0.9])):
        for verb in ("intervals", "log_odds", "log_marginal_likelihood", "bayes_factors"):
            with pytest.raises(ParameterError, match=f"{verb} describes .* created from given parameters; use"):
                getattr(diagnostics, verb)(model, *([[[1, 0]]] if verb == "log_odds" else []))
    taught = make().partial_fit([[1, 0], [0, 1]], [0, 1])
    assert np.isfinite(diagnostics.log_odds(taught, [[1, 0]]).value).all()
    assert "low" in diagnostics.intervals(taught) or "mean_low" in diagnostics.intervals(taught)


TWO = [[0.5, 0.5], [0.25, 0.75]]
FRAME = pd.DataFrame(TWO, columns=["a", "b"])
WRONG: list[tuple[str, Any, str]] = [
    ("flat", lambda: BernoulliNB.from_parameters([0.5, 0.5]), r"shape \(2,\); expected one row per class"),
    ("text", lambda: PoissonNB.from_parameters([["x"]]), "rate is not a table of numbers"),
    ("ragged", lambda: PoissonNB.from_parameters([[1], [1, 2]]), "pass rows of equal length"),
    ("large", lambda: BernoulliNB.from_parameters([[0.5], [1.5]]), "contains 1.5 at row 1, column 0; .* from 0 to 1"),
    ("nan", lambda: PoissonNB.from_parameters([[np.nan]]), "contains nan at row 0, column 0; .* non-negative"),
    ("mean", lambda: GaussianNB.from_parameters([[np.inf]], [[1]]), "mean contains inf .* finite numbers"),
    ("variance", lambda: GaussianNB.from_parameters([[0]], [[-1]]), "variance contains -1 .* non-negative"),
    ("shapes", lambda: GaussianNB.from_parameters(TWO, [[1], [1]]), "pass tables of the same shape"),
    ("sum", lambda: MultinomialNB.from_parameters([[0.5, 0.4]]), "row 0 of probability sums to 0.9; .* from_counts"),
    ("sum", lambda: CategoricalNB.from_parameters([TWO, [[0.5, 0.5], [1, 1]]]), "row 1 of table 1 sums to 2"),
    ("negative", lambda: MultinomialNB.from_counts([[1, -2]]), "count contains -2 at row 0, column 1"),
    (
        "more",
        lambda: BernoulliNB.from_counts([[5]], [4]),
        "contains 5 at row 0, column 0, but that class has only 4 rows",
    ),
    ("rows", lambda: BernoulliNB.from_counts([[5]], [5, 6]), r"class_count has shape \(2,\) for 1 classes"),
    ("rows", lambda: PoissonNB.from_counts([[5]], [-1]), "class_count contains -1 at row 0"),
    ("rows", lambda: PoissonNB.from_counts([[5]], [0]), "0 for every class"),
    (
        "rows",
        lambda: PoissonNB.from_counts([[5], [1]], [0, 1]),
        "row 0 of total contains counts, but its class_count is 0",
    ),
    ("rows", lambda: CategoricalNB.from_counts([[[2, 3]]], [4]), "row 0 of table 0 sums to 5, .* has only 4 rows"),
    ("ddof", lambda: GaussianNB.from_counts([1, 2], [[0], [1]], [[1], [1]], ddof=1), "needs more rows than ddof"),
    ("rows", lambda: GaussianNB.from_counts([0, 2], TWO, TWO), "row 0 of mean or variance .* class_count is 0"),
    (
        "names",
        lambda: GaussianNB.from_parameters(FRAME, FRAME[["b", "a"]]),
        "have different column names",
    ),
    ("tables", lambda: CategoricalNB.from_counts([]), "found no tables; expected one table per column"),
    ("tables", lambda: CategoricalNB.from_parameters([TWO, [[1.0]]]), "tables of 1 and 2 rows"),
    ("values", lambda: CategoricalNB.from_parameters([TWO], []), "categories has 0 lists for 1 columns"),
    ("values", lambda: CategoricalNB.from_parameters([TWO], [["a"]]), "its table of counts has 2 columns"),
    ("values", lambda: CategoricalNB.from_parameters([TWO], [["a", "a"]]), "expected distinct values"),
    (
        "values",
        lambda: CategoricalNB.from_parameters([TWO], [["a", None]]),
        "a missing value; missing values are not counted",
    ),
    ("labels", lambda: BernoulliNB.from_parameters(TWO, classes=["a"]), "classes has 1 labels for 2 rows"),
    ("labels", lambda: BernoulliNB.from_parameters(TWO, classes=["a", "a"]), "classes contains 'a' twice"),
    ("names", lambda: BernoulliNB.from_parameters(TWO, feature_names=["a"]), "pass one string per column"),
    ("names", lambda: BernoulliNB.from_parameters(TWO, feature_names=["a", "a"]), "unique names"),
    ("prior", lambda: BernoulliNB.from_parameters(TWO, class_prior=[0.5, 0.4]), "sum of the priors should be 1"),
    ("prior", lambda: BernoulliNB.from_parameters(TWO, class_prior=[1.0]), "got 1 priors for 2"),
    ("prior", lambda: BernoulliNB.from_parameters(TWO, class_prior={"x": 1.0}), "expected the classes"),
    (
        "prior",
        lambda: GaussianNB.from_counts([2, 2], TWO, TWO, priors=[0.5, 0.5]),
        "pass the class prior as class_prior",
    ),
    ("looking back", lambda: MultinomialNB.from_counts(TWO, calibrate="platt"), "need training rows"),
    ("looking back", lambda: MultinomialNB.from_counts(TWO, alpha="loo"), "need training rows"),
    ("looking back", lambda: MultinomialNB.from_counts(TWO, compute_loo=True), "need training rows"),
]


@pytest.mark.parametrize(("make", "message"), [pytest.param(make, text, id=name) for name, make, text in WRONG])
def test_what_cannot_be_is_refused(make: Any, message: str) -> None:
    with pytest.raises(CandideError, match=message) as caught:
        make()
    assert isinstance(caught.value, (InputError, ParameterError))
