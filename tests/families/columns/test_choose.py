"""What is chosen, among what, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from candide.exceptions import ParameterError
from candide.families.columns import candidates_for_categories, candidates_for_numbers, choose, named_column
from candide.statistics.grid import Cells

from .rows import Rows, names, numbers

HALVES = np.log([0.5, 0.5])


def rows_of(values: Any, classes: Any) -> Rows:
    classes = np.asarray(classes, dtype=np.int32)
    return Rows(np.asarray(values, dtype=np.float64), classes, np.ones(len(classes)), int(classes.max()) + 1)


def chosen(rows: Rows, **options: Any) -> Any:
    log_prior = np.log(np.full(rows.n_classes, 1 / rows.n_classes))
    return choose(candidates_for_numbers(**rows.parts(), **options), log_prior)[0]


def families(rows: Rows) -> set[str]:
    return {model.family for model in candidates_for_numbers(**rows.parts())}


def test_codes_of_categories_are_found_out() -> None:
    """Numbers whose order says nothing."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 16, 800)
    assert chosen(rows_of(values, (values % 2) ^ (rng.random(800) < 0.1))).family in ("categorical", "bins")
    assert chosen(rows_of(values, values % 2)).family == "categorical"


def test_normals_are_found_out() -> None:
    rng = np.random.default_rng(1)
    classes = rng.integers(0, 2, 300)
    assert chosen(rows_of(rng.normal(2.0 * classes, 1.0), classes)).family in ("gaussian", "student")


def test_candidates_suit_the_numbers() -> None:
    rng = np.random.default_rng(2)
    classes = rng.integers(0, 2, 200)
    assert families(rows_of(rng.normal(size=200), classes)) == {"bins", "kernel", "gaussian", "student"}
    assert "poisson" in families(rows_of(rng.poisson(30.0, 200), classes))
    assert "categorical" in families(rows_of(rng.integers(-3, 3, 200), classes))
    assert "poisson" not in families(rows_of(rng.integers(-3, 3, 200), classes))
    assert families(rows_of(rng.integers(0, 2, 200), classes)) == {"categorical"}


def test_absence_that_tells_is_a_value() -> None:
    rng = np.random.default_rng(3)
    classes = rng.integers(0, 2, 400)
    values = rng.normal(size=400)
    told = rows_of(np.where(rng.random(400) < 0.1 + 0.6 * classes, np.nan, values), classes)
    untold = rows_of(np.where(np.arange(400) % 4 == 0, np.nan, values + classes), np.arange(400) // 4 % 2)
    assert "missing as a value" in chosen(told).describe()
    assert "missing as a value" not in chosen(told, treat_missing="ignore").describe()
    assert "missing as a value" not in chosen(untold).describe()


def test_the_first_of_equals_is_taken() -> None:
    rows = numbers(0, n_classes=2)
    models = candidates_for_numbers(**rows.parts())
    best, _ = choose(models, HALVES)
    again = choose([model for model in models if model is not best] + [best, best], HALVES)[0]
    assert again is best
    assert choose([best, *models], HALVES)[0] is best


def test_thousands_of_levels_and_of_classes() -> None:
    rng = np.random.default_rng(4)
    labels = np.array([f"level {i}" for i in range(20_000)], dtype=object)
    count = np.zeros((2, 20_000))
    np.add.at(count, (rng.integers(0, 2, 40_000), rng.integers(0, 20_000, 40_000)), 1.0)
    model, losses = choose(candidates_for_categories(labels, count, np.zeros(2)), HALVES)
    assert model.describe().startswith("20000 values")
    assert losses["categorical"] > np.log(2) - 1e-3
    many = rows_of(rng.normal(size=4000), np.arange(4000) % 2000)
    assert np.isfinite(chosen(many).class_loss(np.full(2000, -np.log(2000))))


def test_an_empty_column() -> None:
    rows = rows_of([np.nan, np.nan, np.nan], [0, 1, 1])
    for family in ("bins", "kernel", "gaussian", "student", "power", "lognormal", "poisson", "categorical"):
        model = named_column(family, **rows.parts(), treat_missing="ignore")
        assert model.class_loss(HALVES) == pytest.approx(np.log(2))
        assert np.isfinite(model.scores(rows.column())).all()
    assert (
        not choose(candidates_for_numbers(**rows.parts(), treat_missing="ignore"), HALVES)[0]
        .scores(rows.column())
        .any()
    )


@pytest.mark.parametrize(
    ("family", "options", "message"),
    [
        ("gamma", {}, "column 'age': 'gamma' is not a family; expected one of gaussian, student"),
        ("bins", {"bins": 3}, "'bins' has no option 'bins'; its options are method, n_bins, strength"),
        ("bins", {"method": "chi2"}, "method of 'bins' is 'chi2'; expected one of 'frequency', 'proportional'"),
        ("bins", {"n_bins": 1}, "n_bins of 'bins' is 1; expected an integer of at least 2"),
        ("bins", {"n_bins": 5.5}, "n_bins of 'bins' is 5.5; expected an integer"),
        ("bins", {"n_bins": True}, "n_bins of 'bins' is True"),
        (
            "bins",
            {"n_bins": 5, "method": "mdlp"},
            "method 'mdlp' chooses the number of bins automatically; omit n_bins",
        ),
        ("bins", {"strength": 0}, "column 'age': strength of 'bins' is 0; expected a positive number"),
        ("kernel", {"width": 0.0}, "width of 'kernel' is 0.0; expected a number above 0 and at most 1"),
        ("kernel", {"width": 1.5}, "width of 'kernel' is 1.5"),
        ("kernel", {"width": np.nan}, "width of 'kernel' is nan"),
        ("kernel", {"width": "wide"}, "width of 'kernel' is 'wide'"),
        ("kernel", {"strength": np.inf}, "strength of 'kernel' is inf"),
        (
            "gaussian",
            {"var_smoothing": -1e-9},
            "var_smoothing of 'gaussian' is -1e-09; expected a non-negative number",
        ),
        ("student", {"width": 1}, "'student' has no option 'width'; it has no options"),
        ("lognormal", {}, "column 'age' has a minimum of -1, but 'lognormal' needs positive numbers"),
        ("poisson", {}, "column 'age' has a minimum of -1, but 'poisson' needs non-negative integers"),
        ("bernoulli", {}, "column 'age' contains 4 distinct values, but 'bernoulli' allows only two"),
    ],
)
def test_refusals(family: str, options: dict[str, Any], message: str) -> None:
    rows = rows_of([-1.0, 0.0, 2.0, 3.5], [0, 1, 0, 1])
    with pytest.raises(ParameterError, match=message):
        named_column(family, **rows.parts(), name="age", **options)


def test_numbers_are_needed() -> None:
    words = "column 'job' contains categories, but 'gaussian' needs numbers; pass columns={'numbers': 'gaussian'}"
    with pytest.raises(ParameterError, match=words):
        named_column("gaussian", **names(1).parts(), name="job")


@pytest.mark.parametrize(
    "values",
    [
        [0.0, 1.0, 2.5, 3.0],
        np.arange(5000) / 3,  # decimals that share cells
        [*range(9000), 0.25],
    ],
    ids=["few", "many", "one among many"],
)
def test_decimals_are_no_counts(values: Any) -> None:
    rows = rows_of(values, np.arange(len(values)) % 2)
    with pytest.raises(ParameterError, match=r"column 'km' contains decimals \(near .* non-negative integers"):
        named_column("poisson", **rows.parts(), name="km")


def test_counts_that_share_cells_are_counts() -> None:
    rows = rows_of(np.arange(50_000.0), np.arange(50_000) % 2)
    assert named_column("poisson", **rows.parts()).family == "poisson"


def test_numbers_not_kept_apart_are_no_names() -> None:
    cells = Cells(np.array([0.0, 2.0]), np.array([1.0, 3.0]), np.ones((2, 2)))
    parts = {**numbers(1, n_classes=2).parts(), "cells": cells}
    with pytest.raises(ParameterError, match="too many distinct numbers"):
        named_column("categorical", **parts)


def test_a_switch_is_a_bernoulli() -> None:
    model = named_column("bernoulli", **numbers(5, distinct=2).parts())
    assert model.family == "bernoulli"
    assert model.n_parameters == 3
