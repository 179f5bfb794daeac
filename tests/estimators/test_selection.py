"""Which model does best on rows that it has not seen."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.validation import check_is_fitted
from tiers import every

import candide
from candide import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from candide.estimators.functions import Judged, _ranked
from candide.exceptions import InputError, ParameterError
from candide.stacking.calibration import METHODS, cross_fitted

RANDOM = np.random.default_rng(11)
X = RANDOM.poisson(2.0, (60, 5)) + 2 * (np.arange(60)[:, None] % 3 == np.arange(5))
y = np.arange(60) % 3
MODELS: dict[str, Any] = {
    "presence": BernoulliNB(binarize=2),
    "words": MultinomialNB(alpha=0.5),
    "complement": ComplementNB(),
    "events": PoissonNB(),
    "normal": GaussianNB(var_smoothing=0),
    "student": GaussianNB(estimate="predictive", variance="shared"),
}


def loss(log_probability: np.ndarray) -> np.ndarray:
    return -log_probability[np.arange(len(y)), y]


def refitted(model: Any, folds: np.ndarray) -> np.ndarray:
    """Log probabilities of each fold by a model fitted without it, under the class prior of all rows."""
    out = np.empty((len(y), 3))
    for fold in np.unique(folds):
        rest = folds != fold
        fitted = clone(model).fit(X[rest], y[rest])
        if type(model) is not ComplementNB:
            fitted = fitted.with_class_prior(np.bincount(y) / len(y))
        out[~rest] = fitted.predict_log_proba(X[~rest])
    return out


@every("method", ["leave_one_out", "folds"])
@every("name", sorted(set(MODELS) - {"student"}))  # whose empirical prior stays while rows are out
def test_figures_are_those_of_refits(name: str, method: Any) -> None:
    folds = np.arange(60) if method == "leave_one_out" else np.arange(60) * 5 // 60
    scores = refitted(MODELS[name], folds)
    amount = X.sum(axis=1).astype(float) if name in ("words", "complement") else None
    own = {} if method == "leave_one_out" else {"folds": folds}
    tempered = cross_fitted("temperature", scores, y.astype(np.int32), np.ones(60), amount, **own)
    found = candide.select({name: MODELS[name]}, X, y, method=method)
    assert found["raw_log_loss"][0] == pytest.approx(loss(scores).mean(), rel=1e-9)
    assert found["log_loss"][0] == pytest.approx(loss(tempered).mean(), rel=1e-5)
    assert found["log_loss_error"][0] == pytest.approx(loss(tempered).std(ddof=1) / np.sqrt(60), rel=1e-4)
    assert found["accuracy"][0] == (scores.argmax(axis=1) == y).mean()


def test_the_table_is_in_order() -> None:
    found = candide.select(MODELS, X, y)
    assert list(found) == [
        "model",
        *("log_loss", "log_loss_error", "accuracy", "accuracy_error", "behind", "behind_error", "raw_log_loss"),
    ]
    assert (np.diff(found["log_loss"]) >= 0).all()
    np.testing.assert_allclose(found["behind"], found["log_loss"] - found["log_loss"][0])
    assert list(found.models) == found["model"].tolist()
    assert set(found.models) == set(MODELS)


def test_best_is_fitted_on_all_rows_and_candidates_stay_as_they_are() -> None:
    found = candide.select(MODELS, X, y)
    winner = MODELS[found["model"][0]]
    assert not hasattr(winner, "classes_")
    np.testing.assert_array_equal(found.best.predict_proba(X), clone(winner).fit(X, y).predict_proba(X))
    for model in found.models.values():
        check_is_fitted(model)


@every("copied", [lambda table: pickle.loads(pickle.dumps(table)), copy.deepcopy, copy.copy])
def test_selections_can_be_copied(copied: Any) -> None:
    found = candide.select(MODELS, X, y)
    again = copied(found)
    assert repr(again) == repr(found)
    np.testing.assert_array_equal(again.best.predict(X), found.best.predict(X))


def by_counts(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Texts of which all words occur in both classes, in other shares."""
    random = np.random.default_rng(0)
    classes = random.integers(0, 2, n)
    shares = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    return np.array([random.multinomial(30, shares[c]) for c in classes]), classes


def by_presence(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns that are on or off; how much is there if they are on says nothing."""
    random = np.random.default_rng(0)
    classes = random.integers(0, 2, n)
    on = random.random((n, 6)) < np.where(classes[:, None] == 0, 0.3, 0.6)
    return on * random.geometric(0.2, (n, 6)), classes


@every("make,expected", [(by_counts, "MultinomialNB()"), (by_presence, "BernoulliNB()")])
@every("method", ["leave_one_out", "folds"])
def test_the_model_that_made_the_data_wins(make: Any, expected: str, method: Any) -> None:
    found = candide.select([BernoulliNB(), MultinomialNB()], *make(400), method=method)
    assert found["model"][0] == expected
    assert found["behind"][1] > 3 * found["behind_error"][1]


def test_raw_log_loss_would_choose_the_least_sure() -> None:
    """Every word five times: many pseudo-counts make naive Bayes overdo it less, and know less."""
    random = np.random.default_rng(0)
    classes, common = random.integers(0, 2, 400), random.dirichlet(np.full(30, 0.3))
    shares = common * np.exp(random.normal(size=(2, 30)) * 0.4)
    texts = np.array([random.multinomial(20, share / share.sum()) for share in shares[classes]])
    models = {"sure": MultinomialNB(), "vague": MultinomialNB(alpha=1000)}
    found = candide.select(models, np.repeat(texts, 5, axis=1), classes)
    assert found["raw_log_loss"][0] > 2 * found["raw_log_loss"][1]
    assert found["model"][0] == "sure"
    assert found["behind"][1] > 3 * found["behind_error"][1]


def test_twins_fool_leave_one_out_but_not_folds() -> None:
    """Random words, random labels, every text twice: there is nothing to learn but the twin."""
    random = np.random.default_rng(0)
    texts, labels = (random.random((80, 300)) < 0.02).astype(float), random.integers(0, 2, 80)
    rows, twice, text = np.repeat(texts, 2, axis=0), np.repeat(labels, 2), np.repeat(np.arange(80), 2)
    models = {"memory": MultinomialNB(alpha=0.01), "none": MultinomialNB(alpha=100)}
    alone = candide.select(models, rows, twice)
    together = candide.select(models, rows, twice, method="folds", groups=text)
    assert alone["model"][0] == "memory"
    assert alone["log_loss"][0] < 0.2
    assert together["log_loss"].min() > 0.6


RELATED: dict[str, Any] = {
    **{method: GaussianNB(calibrate=method) for method in METHODS},
    "separate": BernoulliNB(alpha="loo"),
    "shared": MultinomialNB(alpha="loo"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "separate" else name for name in RELATED]
)
def test_nothing_is_learned_from_relatives(name: str) -> None:
    """Noise, every row five times: whatever is chosen or fitted on a row's copies looks better than a coin."""
    groups = np.repeat(np.arange(60), 5)

    def judged(seed: int) -> float:
        random = np.random.default_rng(seed)
        noise, labels = (random.random((60, 12)) < 0.3).astype(float), random.integers(0, 2, 60)
        found = candide.select({name: RELATED[name]}, noise[groups], labels[groups], method="folds", groups=groups)
        return float(found["log_loss"][0])

    assert np.mean([judged(seed) for seed in range(2)]) > np.log(2.0)


@pytest.mark.parametrize("name", RELATED)
def test_equal_rows_of_a_group_are_one_heavy_row(name: str) -> None:
    groups = np.repeat(np.arange(60), 3)
    heavy = candide.select(
        {name: RELATED[name]}, X, y, sample_weight=np.full(60, 3.0), method="folds", groups=groups[::3]
    )
    repeated = candide.select({name: RELATED[name]}, X[groups], y[groups], method="folds", groups=groups)
    # The penalty of a calibration and its imagined rows weigh less among more rows.
    assert heavy["log_loss"][0] == pytest.approx(repeated["log_loss"][0], rel=0.05)


def test_groups_of_one_row_are_no_groups() -> None:
    calibrated = {method: GaussianNB(calibrate=method) for method in METHODS}
    alone = candide.select(calibrated, X, y)
    grouped = candide.select(calibrated, X, y, method="folds", groups=np.arange(60))
    np.testing.assert_array_equal(alone["model"], grouped["model"])
    np.testing.assert_allclose(alone["log_loss"], grouped["log_loss"], rtol=1e-6)


def test_a_weighted_row_is_a_group_of_equal_rows() -> None:
    times = np.arange(60) % 4
    groups = np.repeat(np.arange(60), times)
    weighted = candide.select(MODELS, X, y, sample_weight=times)
    repeated = candide.select(MODELS, X[groups], y[groups], method="folds", groups=groups)
    figures = [dict(zip(t["model"], t["raw_log_loss"], strict=True)) for t in (weighted, repeated)]
    assert figures[0] == pytest.approx(figures[1], rel=1e-6)


def test_calibrated_models_are_judged_by_their_own_method() -> None:
    found = candide.select({"own": MultinomialNB(calibrate="platt"), "none": MultinomialNB()}, X, y)
    scores = MultinomialNB().fit(X, y).leave_one_out(X, y, class_prior="fixed")
    out_of_fold = cross_fitted("platt", scores, y.astype(np.int32), np.ones(60), X.sum(axis=1).astype(float))
    figures = dict(zip(found["model"], found["log_loss"], strict=True))
    assert figures["own"] == pytest.approx(loss(out_of_fold).mean())
    assert figures["none"] != pytest.approx(figures["own"])
    np.testing.assert_allclose(found["raw_log_loss"], loss(scores).mean())


@pytest.mark.parametrize("method", ["leave_one_out", "folds"])
def test_pseudo_counts_are_chosen_without_the_rows_they_are_judged_on(method: Any) -> None:
    """Pure noise in many columns: each α chosen on all rows looks better than it is."""
    random = np.random.default_rng(1)
    noise, classes = random.integers(0, 4, (50, 12)), random.integers(0, 2, 50)
    chosen = candide.select([CategoricalNB(alpha="loo", compute_loo=True)], noise, classes, method=method)
    assert chosen["log_loss"][0] > chosen.best.loo_.optimistic.log_loss
    assert chosen["log_loss"][0] == pytest.approx(chosen.best.loo_.log_loss, abs=0.5)


@pytest.mark.parametrize(
    "options", [{}, {"method": "folds", "groups": np.arange(60) // 4}], ids=["are supported", "folds"]
)
@pytest.mark.parametrize("labels", [y, np.array(["ant", "bee", "cat"])[y]], ids=["numbers", "texts"])
def test_rows_of_weight_0_are_not_there(options: dict[str, Any], labels: Any) -> None:
    """Not even if no other row is of their class."""
    weight = (np.arange(60) % 5 > 0).astype(float)
    others = np.where(weight > 0, labels, np.array(["nobody" if labels.dtype.kind == "U" else 99]))
    kept = np.flatnonzero(weight)
    found = candide.select(MODELS, X, others, sample_weight=weight, **options)
    if options:
        options = {**options, "groups": options["groups"][kept]}
    expected = candide.select(MODELS, X[kept], labels[kept], **options)
    assert found["model"].tolist() == expected["model"].tolist()
    for measure in ("log_loss", "log_loss_error", "accuracy", "behind", "raw_log_loss"):
        np.testing.assert_allclose(found[measure], expected[measure], rtol=1e-6, atol=1e-12)


def test_standard_errors_by_hand() -> None:
    """Losses 1, 2, 3 and 2, 2, 5: differences 1, 0, 2 with mean 1 and standard deviation 1."""
    ones, right = np.ones(3), np.array([1.0, 0.0, 0.0])
    a = Judged(np.array([1.0, 2.0, 3.0]), np.array([9.0, 9.0, 9.0]), right, ones)
    b = Judged(np.array([2.0, 2.0, 5.0]), np.array([1.0, 1.0, 4.0]), right, ones)
    found = _ranked({"b": GaussianNB(), "a": GaussianNB()}, {"b": b, "a": a})
    assert found["model"].tolist() == ["a", "b"]
    np.testing.assert_allclose(found["log_loss"], [2, 3])
    np.testing.assert_allclose(found["log_loss_error"], [1 / np.sqrt(3), np.sqrt(3) / np.sqrt(3)])
    np.testing.assert_allclose(found["accuracy"], [1 / 3, 1 / 3])
    np.testing.assert_allclose(found["accuracy_error"], np.sqrt([1 / 9, 1 / 9]))
    np.testing.assert_allclose(found["behind"], [0, 1])
    np.testing.assert_allclose(found["behind_error"], [0, 1 / np.sqrt(3)])
    np.testing.assert_allclose(found["raw_log_loss"], [9, 2])


def test_an_infinite_loss_comes_last() -> None:
    """Without smoothing, a row left out may be impossible under its own class."""
    rows, classes = [[3, 0, 1], [2, 0, 0], [0, 1, 2], [0, 2, 2], [0, 1, 3], [0, 2, 1]], [0, 0, 0, 1, 1, 1]
    found = candide.select([MultinomialNB(alpha=0), MultinomialNB(estimate="mle"), MultinomialNB()], rows, classes)
    assert found["model"][0] == "MultinomialNB()"
    assert np.isinf(found["log_loss"][1:]).all()
    assert np.isinf(found["behind"][1:]).all()


def test_names() -> None:
    found = candide.select([GaussianNB(), GaussianNB(), GaussianNB(ddof=1), GaussianNB()], *load_iris(return_X_y=True))
    assert sorted(found["model"]) == ["GaussianNB()", "GaussianNB() (2)", "GaussianNB() (3)", "GaussianNB(ddof=1)"]


def test_errors_name_the_model() -> None:
    with pytest.raises(InputError, match=r"^words: .*[Nn]egative"):
        candide.select({"normal": GaussianNB(), "words": MultinomialNB()}, X - 3.0, y)


@every("options", [{"groups": np.arange(60) // 4}, {"n_folds": 3}])
def test_groups_and_numbers_of_folds_imply_folds(options: dict[str, Any]) -> None:
    found, expected = (candide.select(MODELS, X, y, **options, **more) for more in ({}, {"method": "folds"}))
    assert found["log_loss"].tolist() == expected["log_loss"].tolist()
    assert found["log_loss"].tolist() != candide.select(MODELS, X, y)["log_loss"].tolist()


@every(
    "models,options,message",
    [
        ([], {}, r"models is \[\]; expected a list"),
        (GaussianNB(), {}, "expected a list of estimators"),
        ([GaussianNB], {}, "candide estimators as values"),
        ({1: GaussianNB()}, {}, "expected strings as names"),
        ([GaussianNB()], {"method": "loo"}, "expected one of leave_one_out, folds"),
        ([GaussianNB()], {"method": "leave_one_out", "n_folds": 3}, "require method='folds'"),
        ([GaussianNB()], {"method": "leave_one_out", "groups": y}, "require method='folds'"),
        ([GaussianNB()], {"method": "folds", "n_folds": 1}, "n_folds is 1"),
    ],
)
def test_what_cannot_be_is_refused(models: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        candide.select(models, X, y, **options)
