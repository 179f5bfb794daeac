"""Parameters outside of what a model allows are refused when it learns, never when it is made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiers import every

import candide
from candide.exceptions import ParameterError

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
DISCRETE = NAMES[1:]
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 1.0]])
y = np.array([0, 1, 0, 1])
NAN, INF = float("nan"), float("inf")


def refused(name: str, option: str, value: Any, *said: str) -> None:
    """Found and allowed are both named, for fit and for partial_fit, and nothing is learned."""
    for verb in ("fit", "partial_fit"):
        model = getattr(candide, name)(**{option: value})
        with pytest.raises(ParameterError) as caught:
            getattr(model, verb)(X, y)
        missing = [part for part in said if part not in str(caught.value)]
        assert not missing, f"{missing} not in {caught.value}"
        assert set(vars(model)) == set(model.get_params())


@every("value", ["a", -1, NAN, INF, True, [1]])
@every("name,option", [("GaussianNB", "var_smoothing"), ("PoissonNB", "beta"), ("BernoulliNB", "binarize")])
def test_numbers(name: str, option: str, value: Any) -> None:
    refused(name, option, value, f"{option} is {value!r}", "non-negative")


@every("name", DISCRETE)
@every("value", ["a", True, -1, NAN, INF, [1, -1], ["a", "b"], {}])
def test_alpha(name: str, value: Any) -> None:
    refused(name, "alpha", value, repr(value), "non-negative")


@every("name", DISCRETE)
@every("shape", [(3,), (1, 1), (2, 3), (1, 1, 2)])
def test_alpha_of_other_columns(name: str, shape: tuple[int, ...]) -> None:
    refused(name, "alpha", np.ones(shape), f"shape {shape} for 2 features", "one value per feature")


@every("name", DISCRETE)
@every("n_classes", [1, 3])
def test_alpha_of_other_classes(name: str, n_classes: int) -> None:
    refused(name, "alpha", np.ones((n_classes, 2)), f"{n_classes} rows for 2 classes", "one row per class")


@every("name", DISCRETE)
def test_alpha_by_class_with_a_new_class(name: str) -> None:
    model = getattr(candide, name)(alpha=np.ones((2, 2))).partial_fit(X, y)
    with pytest.raises(ParameterError, match="2 rows for 3 classes"):
        model.partial_fit(X, y + 1)
    assert model.classes_.tolist() == [0, 1]


SWITCHES = [(name, "fit_prior") for name in DISCRETE]
SWITCHES += [(name, "force_alpha") for name in DISCRETE if name != "PoissonNB"] + [("ComplementNB", "norm")]


@every("name,option", SWITCHES)
@every("value", ["yes", 1, None])
def test_switches(name: str, option: str, value: Any) -> None:
    refused(name, option, value, f"{option} is {value!r}", "True or False")


@every("option", ["categories", "unseen"])
@every("value", ["all", None, 3])
def test_choices(option: str, value: Any) -> None:
    refused(
        "CategoricalNB", option, value, f"{option} is {value!r}", "one of", "range" if option[0] == "c" else "ignore"
    )


@every(
    "value,said",
    [
        (0, "at least 1"),
        (-3, "at least 1"),
        ([2, 0], "at least 1"),
        ("a", "integral type"),
        (1.5, "integral type"),
        ([2, 2, 2], "shape (2,)"),
    ],
)
def test_min_categories(value: Any, said: str) -> None:
    refused("CategoricalNB", "min_categories", value, "min_categories", said)


@every("name", NAMES)
@every("value", ["even", 3, [1, 1], np.ones(2)])
def test_class_weight(name: str, value: Any) -> None:
    refused(name, "class_weight", value, f"class_weight is {value!r}", "'balanced' or None")


@every("name", NAMES)
@every("value", [-1, NAN, INF, "a", None])
def test_class_weight_of_one_class(name: str, value: Any) -> None:
    refused(name, "class_weight", {1: value}, f"class_weight of 1 is {value!r}", "non-negative")


@every("name", NAMES)
@every("value", [0, -1, 1.5, True])
def test_threads(name: str, value: Any) -> None:
    refused(name, "n_threads", value, f"n_threads is {value!r}", "positive integer")


@every("name", NAMES)
def test_unknown_parameter(name: str) -> None:
    with pytest.raises(TypeError, match="nonsense"):
        getattr(candide, name)(nonsense=1)
    with pytest.raises(ValueError, match=r"Invalid parameter 'nonsense'.*Valid parameters are"):
        getattr(candide, name)().set_params(nonsense=1)


@every("name", NAMES)
@every("value", [-0.1, 1.1, NAN, "a", None])
def test_discount(name: str, value: Any) -> None:
    model = getattr(candide, name)().fit(X, y)
    with pytest.raises(ParameterError, match=r"factor is .* number"):
        model.discount(value)
    assert model.class_count_.tolist() == [2, 2]


@every("value", [0, -1, 1.5, "a", True, None])
def test_number_of_samples(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"n is .* positive integer"):
        candide.GaussianNB().fit(X, y).sample(value)


@every("length", [-1, 1.5, "a", [1, 2, 3]])
def test_length_of_samples(length: Any) -> None:
    with pytest.raises(ParameterError, match=r"length is .* number of tokens"):
        candide.MultinomialNB().fit(X, y).sample(2, length=length)
