"""Tables and posteriors of R's e1071.

Its standard deviations are the unbiased ones: ``ddof=1``. Its ``laplace`` is candide's ``alpha``, a pseudo-count for
each level that the factor declares: 4, 2 and 2 in Titanic (class, sex, age), 4 and 2 in HairEyeColor (eye, sex), all of
them seen unless a test says otherwise. Missing cells are skipped, in learning and in predicting. A probability of 0
becomes ``threshold``, 0.001 unless given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from candide import CategoricalNB, GaussianNB

from .from_r import Fitted, fitted, rows

MEASURED = pytest.mark.parametrize("name", ["iris", "iris_holes"])
COUNTED = pytest.mark.parametrize("name", ["titanic", "titanic_holes", "hair"])
LAPLACE = pytest.mark.parametrize("laplace", [0, 0.5, 1])
DECLARED = pytest.mark.parametrize("laplace", [0.5, 1])


def unbiased(name: str) -> GaussianNB:
    return GaussianNB(ddof=1, var_smoothing=0).fit(*rows(name).repeated())


def categorical(name: str, laplace: float, **settings: Any) -> CategoricalNB:
    data = rows(name)
    model = CategoricalNB(alpha=laplace, categories="seen", **settings)
    return model.fit(data.cells, data.label, sample_weight=data.frequency)


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def assert_shares(model: CategoricalNB, expected: Fitted) -> None:
    columns = zip(model.categories_, model.feature_log_prob_, expected.parameters.values(), strict=True)
    for values, log_share, column in columns:
        close(np.exp(log_share[:, : len(values)]), np.column_stack([column[value] for value in values]))


@MEASURED
def test_means_and_class_prior(name: str) -> None:
    model = GaussianNB().fit(*rows(name).repeated())
    close(model.theta_, fitted(name).table("mean"))
    close(model.class_prior_, fitted(name).prior)


@MEASURED
def test_maximum_likelihood_variance_is_smaller_by_one_row(name: str) -> None:
    data = rows(name)
    model = GaussianNB(var_smoothing=0).fit(data.cells, data.label)
    n_observed = data.cells.notna().groupby(data.label).sum().to_numpy()
    close(model.var_, fitted(name).table("sd") ** 2 * (n_observed - 1) / n_observed)


@MEASURED
def test_unbiased_variance(name: str) -> None:
    close(unbiased(name).var_, fitted(name).table("sd") ** 2)


@MEASURED
def test_posterior_of_measurements(name: str) -> None:
    close(unbiased(name).predict_proba(rows(name).cells), fitted(name).posterior)


def test_a_row_of_holes_has_the_prior() -> None:
    cells = rows("iris_holes").cells
    model = GaussianNB().fit(cells, rows("iris_holes").label)
    empty = cells.isna().all(axis=1)
    assert empty.sum() == 3
    close(model.predict_proba(cells[empty]), fitted("iris_holes").posterior[empty])


def test_a_cell_too_far_out() -> None:
    """Where the density of every class underflows, e1071 puts its threshold, so the cell is as good as missing. Here
    it still speaks: for the class that is spread widest.
    """
    model, flower = unbiased("iris_far"), rows("iris_far").cells[-1:]
    assert model.predict(flower) == model.classes_[model.var_[:, 2].argmax()]
    without = flower.assign(**{"Petal.Length": np.nan})
    close(model.predict_proba(without), fitted("iris_far").posterior[-1:])
    assert model.predict(without) == ["setosa"]


@COUNTED
@LAPLACE
def test_shares_and_class_prior(name: str, laplace: float) -> None:
    model, expected = categorical(name, laplace), fitted(f"{name}_{laplace}")
    close(model.class_prior_, expected.prior)
    assert_shares(model, expected)


@COUNTED
@LAPLACE
def test_posterior_of_categories(name: str, laplace: float) -> None:
    close(categorical(name, laplace).predict_proba(rows(name).cells), fitted(f"{name}_{laplace}").posterior)


@COUNTED
def test_weights_are_repeats(name: str) -> None:
    model = CategoricalNB(alpha=0.5, categories="seen").fit(*rows(name).repeated())
    assert_shares(model, fitted(f"{name}_0.5"))


@DECLARED
def test_a_declared_level_that_nobody_has_as_a_code(laplace: float) -> None:
    """e1071 counts the levels of the factor, here 4 colours of hair. So does a range of codes, of which 2 is red."""
    data, expected = rows("hair_unseen"), fitted(f"hair_unseen_{laplace}")
    codes = data.cells.apply(lambda column: pd.factorize(column)[0])
    model = CategoricalNB(alpha=laplace).fit(*replace(data, cells=codes).repeated())
    close(model.predict_proba(codes), expected.posterior)


@DECLARED
def test_a_declared_level_that_nobody_has_among_texts(laplace: float) -> None:
    """``min_categories`` keeps a share for the fourth colour, without a name: asked about red, the column is silent."""
    model, expected = categorical("hair_unseen", laplace, min_categories=[4, 2]), fitted(f"hair_unseen_{laplace}")
    assert_shares(model, expected)
    close(np.exp(model.feature_log_prob_[0][:, -1]), expected.parameters["Hair"]["Red"])
    seen = rows("hair_unseen").frequency > 0
    close(model.predict_proba(rows("hair_unseen").cells[seen]), expected.posterior[seen])


def test_zeros_are_the_limit_of_a_falling_threshold() -> None:
    """No child was a member of the crew. With threshold 0.001 the crew keeps 1.2% of the boys who died."""
    probability = categorical("titanic_class", 0).predict_proba(rows("titanic_class").cells)
    np.testing.assert_allclose(probability, fitted("titanic_class_limit").posterior, rtol=1e-9, atol=1e-150)
    children = rows("titanic_class").cells["Age"] == "Child"
    crew = fitted("titanic_class_0").posterior[:, 3]
    assert crew[children].max() == pytest.approx(0.012, abs=5e-4)
    close(probability[~children], fitted("titanic_class_0").posterior[~children])


def test_measurements_and_categories_together() -> None:
    """The joint of two models, with the class prior taken off once, is that of all columns."""
    data, expected = rows("cars"), fitted("cars_1")
    counted, measured = data.cells[["gear", "am"]], data.cells[["mpg", "wt"]]
    categories = CategoricalNB(alpha=1, categories="seen").fit(counted, data.label)
    normals = GaussianNB(ddof=1, var_smoothing=0).fit(measured, data.label)
    joint = categories.predict_joint_log_proba(counted) + normals.predict_joint_log_proba(measured)
    weight = np.exp(joint) / expected.prior
    close(weight / weight.sum(axis=1, keepdims=True), expected.posterior)
