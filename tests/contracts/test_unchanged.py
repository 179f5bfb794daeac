"""An error leaves a fitted model exactly as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tiers import every

import candide
from candide.exceptions import CandideError, ForgetError, InputError, MergeError, ParameterError
from candide.priors import Beta, Dirichlet, Gamma, NormalInverseGamma

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
COUNTS = ["MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
COLUMNS = ["a", "b"]
X = pd.DataFrame([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 1.0], [3.0, 2.0]], columns=COLUMNS)
y = np.array([0, 1, 0, 1, 1])
TALL = np.ones((5, 2))
PRIORS: dict[str, Any] = {
    "GaussianNB": NormalInverseGamma(TALL, 1.0, 1.0, 1.0),
    "BernoulliNB": Beta(TALL, 1.0),
    "PoissonNB": Gamma(1.0, TALL),
    **dict.fromkeys(["MultinomialNB", "ComplementNB", "CategoricalNB"], Dirichlet(TALL)),
}
NAN, INF = float("nan"), float("inf")


class Unchanged:
    """Compares a model before and after: predictions, and every attribute of the object itself."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.before = dict(vars(model))
        self.said = model.predict_joint_log_proba(X), model.predict(X), model.class_count_.copy()

    def check(self) -> None:
        now = vars(self.model)
        assert now.keys() == self.before.keys()
        assert all(now[name] is self.before[name] for name in now)
        after = self.model.predict_joint_log_proba(X), self.model.predict(X), self.model.class_count_
        for a, b in zip(self.said, after, strict=True):
            np.testing.assert_array_equal(a, b)


def frame(rows: Any, columns: list[str] = COLUMNS) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns)


BAD = {
    "infinite value": (X.replace(3.0, INF), y),
    "other names": (frame(X.to_numpy(), ["a", "z"]), y),
    "one column less": (X[["a"]], y),
    "no rows": (X[:0], y[:0]),
    "no row with a label": (X, [NAN] * 5),
    "continuous label": (X, [0.5, 1, 0, 1, 1]),
    "mixed labels": (X, [0, "a", 0, 1, 1]),
    "too few labels": (X, y[:3]),
    "table of labels": (X, np.ones((5, 2))),
    "no labels": (X, None),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("verb", ["fit", "partial_fit", "forget"])
@every("case", BAD)
def test_bad_rows(name: str, verb: str, case: str) -> None:
    if verb == "fit" and case in ("other names", "one column less"):
        return  # fit learns new columns
    model = getattr(candide, name)().fit(X, y)
    unchanged = Unchanged(model)
    with pytest.raises(ValueError, match=r"\w"):
        getattr(model, verb)(*BAD[case])
    unchanged.check()


@pytest.mark.parametrize("name", NAMES)
@every("verb", ["fit", "partial_fit", "forget"])
@every("weight", [[1, 1, -1, 1, 1], [1, 1, NAN, 1, 1], [0] * 5, [1, 2], list("abcde")])
def test_bad_weights(name: str, verb: str, weight: list[Any]) -> None:
    model = getattr(candide, name)().fit(X, y)
    unchanged = Unchanged(model)
    with pytest.raises(InputError):
        getattr(model, verb)(X, y, sample_weight=weight)
    unchanged.check()


@every("name", COUNTS)
@every("verb", ["fit", "partial_fit", "forget"])
def test_negative_counts(name: str, verb: str) -> None:
    model = getattr(candide, name)().fit(X, y)
    unchanged = Unchanged(model)
    with pytest.raises(InputError, match="Negative values"):
        getattr(model, verb)(-X, y)
    unchanged.check()


@every("name", NAMES)
@every("verb", ["fit", "partial_fit"])
def test_bad_parameter_set_later(name: str, verb: str) -> None:
    """The bad parameter stays, as set_params put it there; what was learned stays too."""
    option = "var_smoothing" if name == "GaussianNB" else "alpha"
    model = getattr(candide, name)().fit(X, y).set_params(**{option: -1})
    unchanged = Unchanged(model)
    with pytest.raises(ParameterError):
        getattr(model, verb)(X, y)
    unchanged.check()


@every("name", NAMES)
def test_given_prior_and_new_class(name: str) -> None:
    option = {"priors" if name == "GaussianNB" else "class_prior": [0.3, 0.7]}
    model = getattr(candide, name)(**option).fit(X, y)
    unchanged = Unchanged(model)
    with pytest.raises(ParameterError, match="got 2 priors for 3 classes"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ParameterError, match="got 2 priors for 3 classes"):
        model.merge(getattr(candide, name)().fit(X, y + 1))
    unchanged.check()


@every("name", NAMES)
def test_other_classes_than_the_prior_has(name: str) -> None:
    """A row per class for other classes than there are."""
    model = getattr(candide, name)().fit(X, y)
    state = Unchanged(model)
    model.set_params(parameter_prior=PRIORS[name])
    state.before["parameter_prior"] = model.parameter_prior
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ParameterError, match=r"has shape \(5, 2\) for 2 classes; pass one"):
            learn(X, y)
        state.check()


@every("name", NAMES)
def test_other_classes_after_the_first_call(name: str) -> None:
    model = getattr(candide, name)().partial_fit(X, y, classes=[0, 1])
    unchanged = Unchanged(model)
    with pytest.raises(ParameterError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(InputError, match="do not exist in the initial classes"):
        model.partial_fit(X, y + 1)
    unchanged.check()


@every("name", NAMES)
def test_forgetting_what_was_never_learned(name: str) -> None:
    model = getattr(candide, name)().fit(X, y)
    unchanged = Unchanged(model)
    with pytest.raises(ForgetError, match="the model is unchanged"):
        model.forget(X, y + 7)
    with pytest.raises(ForgetError, match="the model is unchanged"):
        model.forget(X, y, sample_weight=[2, 1, 1, 1, 1])
    with pytest.raises(ForgetError, match="the model is unchanged"):
        model.forget(X, y)
    unchanged.check()


@every("name", NAMES)
def test_merging_what_cannot_be_added(name: str) -> None:
    kind = getattr(candide, name)
    model = kind().fit(X, y)
    unchanged = Unchanged(model)
    other = candide.GaussianNB if name != "GaussianNB" else candide.PoissonNB
    strangers = [other().fit(X, y), kind().fit(X[["a"]], y), kind().fit(frame(X.to_numpy(), ["b", "a"]), y), 3, None]
    for stranger in strangers:
        with pytest.raises(MergeError):
            model.merge(stranger)
    with pytest.raises(ValueError, match="not fitted"):
        model.merge(kind())
    with pytest.raises(CandideError, match="labels have different types"):
        model.merge(kind().fit(X, y.astype(str)))
    unchanged.check()


def test_merging_other_thresholds() -> None:
    model = candide.BernoulliNB().fit(X, y)
    unchanged = Unchanged(model)
    with pytest.raises(MergeError, match=r"binarize is 0\.0 .* and 1\.0 .*train both with the same settings"):
        model.merge(candide.BernoulliNB(binarize=1.0).fit(X, y))
    unchanged.check()


@every("name", NAMES)
def test_failed_first_fit_leaves_an_unfitted_model(name: str) -> None:
    model = getattr(candide, name)()
    with pytest.raises(InputError):
        model.fit(X, None)
    assert set(vars(model)) == set(model.get_params())
    with pytest.raises(ValueError, match="not fitted"):
        model.predict(X)
