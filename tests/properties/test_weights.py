"""A row of weight k is k copies of it; of weight 0, no row at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from .models import GAUSSIAN, KINDS, Kind, assert_same_model, by_name
from .strategies import rows

kinds = pytest.mark.parametrize("kind", KINDS, ids=by_name)


@kinds
@given(data=st.data())
def test_weight_is_repetition(kind: Kind, data: Any) -> None:
    """Whole weights equal copies; 0 leaves neither class nor category behind."""
    table = data.draw(rows(kind))
    copies = np.repeat(np.arange(len(table.y)), table.weight.astype(int))
    weighted = kind.fit(table.X, table.y, table.weight)
    repeated = kind.fit(table.X[copies], table.y[copies])
    assert_same_model(weighted, repeated, scale=10)
    np.testing.assert_allclose(weighted.class_prior_, repeated.class_prior_, rtol=1e-15)
    np.testing.assert_allclose(kind.proba(weighted, table.X), kind.proba(repeated, table.X), atol=1e-9)


@kinds
@given(data=st.data())
def test_unit_weights_are_no_weights(kind: Kind, data: Any) -> None:
    """Ones for weights say nothing."""
    table = data.draw(rows(kind))
    assert_same_model(kind.fit(table.X, table.y, np.ones(len(table.y))), kind.fit(table.X, table.y), scale=10)


@given(data=st.data())
def test_the_variance_floor_counts_weights_as_copies(data: Any) -> None:
    """epsilon_ of weighted rows is that of the copies, and rows of weight 0 have no part in it."""
    table = data.draw(rows(GAUSSIAN))
    table.X[table.weight == 0] = 1e6
    copies = np.repeat(np.arange(len(table.y)), table.weight.astype(int))
    weighted = GAUSSIAN.fit(table.X, table.y, table.weight)
    repeated = GAUSSIAN.fit(table.X[copies], table.y[copies])
    np.testing.assert_allclose(weighted.epsilon_, repeated.epsilon_, rtol=1e-9, atol=1e-12)
    seen = [column[~np.isnan(column)] for column in table.X[copies].T]
    largest = max([float(np.var(column)) for column in seen if len(column)], default=0.0)
    np.testing.assert_allclose(weighted.epsilon_, 0.01 * largest, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weighted.var_, repeated.var_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("outlier", [1e9, 1e12, 1e15])
def test_an_outlier_of_weight_zero_costs_no_digits(outlier: float) -> None:
    """It is not there, not even as a point of reference."""
    X, weight = np.array([[outlier], [0.0], [0.1], [0.3], [3.75]]), np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    model = GAUSSIAN.fit(X, np.zeros(5, dtype=int), weight, var_smoothing=0.0)
    np.testing.assert_allclose(model.theta_, np.mean(X[1:]), rtol=1e-14)
    np.testing.assert_allclose(model.var_, np.var(X[1:]), rtol=1e-14)


@kinds
@given(data=st.data(), factor=st.sampled_from([0.125, 0.5, 1.0]))
def test_discount_is_a_common_factor_of_the_weights(kind: Kind, data: Any, factor: float) -> None:
    """Discounting what was learned is learning with smaller weights."""
    table = data.draw(rows(kind))
    discounted = kind.fit(table.X, table.y, table.weight).discount(factor)
    assert_same_model(discounted, kind.fit(table.X, table.y, table.weight * factor), scale=10)
