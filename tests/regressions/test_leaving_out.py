"""Where leaving rows out goes wrong if one is not careful."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from tiers import every

from candide import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from candide.exceptions import ForgetError, ParameterError
from candide.kernels.layouts import Array, Floats

MODELS = [GaussianNB, BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB, PoissonNB]


def without(model: Any, X: Floats, y: Array, i: int) -> Floats:
    """Row ``i`` by a model refitted on the others."""
    rest = np.arange(len(y)) != i
    return np.asarray(type(model)(**model.get_params()).fit(X[rest], y[rest]).predict_log_proba(X[i : i + 1])[0])


@pytest.mark.parametrize("make", MODELS)
def test_a_class_of_one_row_is_impossible_without_it(make: Any) -> None:
    """Its prior leaves with it, unless the prior is fixed or smoothed; nothing is NaN."""
    X, y = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]), np.array(["many", "many", "one"])
    scores = make().fit(X, y).leave_one_out(X, y)
    assert not np.isnan(scores).any()
    np.testing.assert_allclose(np.exp(scores).sum(axis=1), 1.0)
    if make is not ComplementNB:  # its scores know no prior
        assert np.isneginf(scores[2, 1])
    assert np.isfinite(make().fit(X, y).leave_one_out(X, y, class_prior="fixed")).all()


@pytest.mark.parametrize("settings", [{}, {"class_prior": "smoothed"}, {"class_prior": [0.5, 0.3, 0.2]}], ids=str)
@pytest.mark.parametrize("weight", [None, np.array([1.0, 0.5, 2.0, 1.5])], ids=["alike", "weighted"])
def test_balanced_weights_are_those_of_the_other_rows(settings: dict[str, Any], weight: Floats | None) -> None:
    """Also where a class has one row, and where a class that was declared has none."""
    X, y = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0], [1.0, 1.0]]), np.array(["many", "many", "many", "one"])
    model = MultinomialNB(class_weight="balanced", **settings).partial_fit(X, y, ["many", "none", "one"], weight)
    one_by_one = model.cross_val_log_proba(X, y, groups=np.arange(4), sample_weight=weight)
    np.testing.assert_allclose(model.leave_one_out(X, y, weight), one_by_one, rtol=1e-12, atol=1e-12)


def test_knowing_nothing_is_always_wrong_if_the_prior_leaves_too() -> None:
    """Balanced classes and a column that says nothing: the class of the missing row is the rarer one."""
    X, y = np.zeros((40, 1)), np.repeat([0, 1], 20)
    model = BernoulliNB().fit(X, y)
    removed = model.leave_one_out(X, y).argmax(axis=1)
    assert (removed == y).mean() == 0.0
    fixed = np.exp(model.with_class_prior("uniform").leave_one_out(X, y, class_prior="fixed"))
    np.testing.assert_allclose(fixed[np.arange(40), y], 0.5, atol=0.02)


def test_duplicates_fool_it_and_groups_do_not() -> None:
    """Labels by chance, every row twice: the twin that stays behind gives the answer away."""
    rng = np.random.default_rng(0)
    half, labels = (rng.random((150, 400)) < 0.02).astype(float), rng.integers(0, 2, 150)
    X, y, pairs = np.vstack([half, half]), np.tile(labels, 2), np.tile(np.arange(150), 2)
    model = MultinomialNB(alpha=0.01).fit(X, y)
    left_out = (model.leave_one_out(X, y).argmax(axis=1) == y).mean()
    by_group = (model.cross_val_log_proba(X, y, groups=pairs).argmax(axis=1) == y).mean()
    assert left_out > 0.9
    assert by_group < 0.6


@pytest.mark.parametrize(("outlier", "var_smoothing"), [(1e3, 0.0), (1e3, 1e-9), (1e8, 0.0), (1e8, 1e-9), (1e12, 0.0)])
def test_one_row_carries_the_variance(outlier: float, var_smoothing: float) -> None:
    """What is left of the scatter has no digits; it is computed anew."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    X[4, 0] = outlier
    model = GaussianNB(var_smoothing=var_smoothing).fit(X, y)
    # The floor stays while the row is out: a refit would take it from smaller columns.
    refit = GaussianNB(var_smoothing=0.0).fit(np.delete(X, 4, axis=0), np.delete(y, 4))
    expected = _score(X[4], refit.theta_, refit.var_ + model.epsilon_, [14, 15])
    np.testing.assert_allclose(model.leave_one_out(X, y)[4], expected, rtol=1e-9)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_a_large_offset_costs_no_more_than_its_digits(offset: float) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 3
    near = GaussianNB(var_smoothing=0).fit(X, y).leave_one_out(X, y)
    far = GaussianNB(var_smoothing=0).fit(X + offset, y).leave_one_out(X + offset, y)
    np.testing.assert_allclose(far, near, rtol=0, atol=1e-15 * offset * 100)


def test_a_word_of_one_row_keeps_its_column() -> None:
    """Left out, nobody has it; the number of words, and so the smoothing, stays."""
    X, y = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [3.0, 0.0, 0.0]]), np.array([0, 1, 1])
    model = MultinomialNB().fit(X, y)
    np.testing.assert_allclose(model.leave_one_out(X, y)[1], without(model, X, y, 1), rtol=1e-12)


PREDICTIVE = [partial(make, estimate="predictive") for make in (MultinomialNB, PoissonNB)]


@pytest.mark.parametrize("make", [ComplementNB, MultinomialNB, PoissonNB, *PREDICTIVE])
@every("alpha", [1e-10, 1e-12, [1e-10, 1e-11, 1e-9]])
def test_tiny_pseudo_counts_are_not_lost_beside_large_counts(make: Any, alpha: Any) -> None:
    """A word that one row alone has, 2000 times: without the row its count is the pseudo-count, and not 0."""
    X = np.array([[2000.0, 1.0, 2.0], [0.0, 3.0, 1.0], [0.0, 2.0, 2.0], [0.0, 1.0, 4.0]])
    y = np.array([0, 0, 1, 1])
    model = make(alpha=alpha).fit(X, y)
    for i, scores in enumerate(model.leave_one_out(X, y)):
        assert np.isfinite(scores).all()
        np.testing.assert_allclose(scores, without(model, X, y, i), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
@pytest.mark.parametrize("alpha", [0.0, 1e-10, 0.5])
def test_categories_of_rows_with_weights_of_their_own(alpha: float, unseen: str) -> None:
    """So many weights that none has a table of its own; values that one row alone has, and missing ones."""
    rng = np.random.default_rng(3)
    X, y, weight = rng.integers(0, 12, (120, 3)).astype(float), np.arange(120) % 3, rng.random(120) + 0.1
    X[rng.random(X.shape) < 0.1] = np.nan
    X[0, 0], X[1, 1] = 5_000, 40
    model = CategoricalNB(alpha=alpha, unseen=unseen).fit(X, y, weight)
    one_by_one = model.cross_val_log_proba(X, y, groups=np.arange(120), sample_weight=weight)
    np.testing.assert_allclose(model.leave_one_out(X, y, weight), one_by_one, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("make", MODELS)
def test_more_rows_than_were_learned_are_refused(make: Any) -> None:
    X, y = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]), np.array([0, 1, 1])
    model = make().fit(X, y)
    with pytest.raises(ForgetError, match="not in the training data"):
        model.leave_one_out(np.vstack([X, X]), np.concatenate([y, y]))
    with pytest.raises(ForgetError, match="not in the training data"):
        model.cross_val_log_proba(np.vstack([X, X]), np.concatenate([y, y]), n_folds=2)


def test_few_rows_make_few_folds() -> None:
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1])
    model = GaussianNB().fit(X, y)
    one_by_one = model.cross_val_log_proba(X, y, groups=np.arange(3))
    np.testing.assert_array_equal(model.cross_val_log_proba(X, y), one_by_one)


@pytest.mark.parametrize(
    ("n_rows", "asked", "said"),
    [
        (3, {"groups": [0, 1, 1], "n_folds": 2}, "n_folds is 2, but with groups every group is a fold"),
        (3, {"groups": ["a", None, "a"]}, r"types \(NoneType, str\), which cannot be sorted"),
        (3, {"groups": [0, 1]}, "one group per row"),
        (3, {"n_folds": 4}, "from 2 to the number of rows, 3"),
        (1, {}, "expected at least 2"),
    ],
)
def test_folds_that_cannot_be(n_rows: int, asked: dict[str, Any], said: str) -> None:
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1])
    with pytest.raises(ParameterError, match=said):
        GaussianNB().fit(X, y).cross_val_log_proba(X[:n_rows], y[:n_rows], **asked)


def _score(x: Floats, mean: Floats, variance: Floats, counts: list[int]) -> Floats:
    log_density = -0.5 * (np.log(2 * np.pi * variance) + (x - mean) ** 2 / variance).sum(axis=1)
    joint = np.log(np.array(counts) / sum(counts)) + log_density
    return np.asarray(joint - np.logaddexp.reduce(joint))
