"""Variances do not depend on where zero is: huge offsets cost no more digits than the data have lost already."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import every

import candide

from .models import GAUSSIAN
from .strategies import parts, rows

# A mean near an offset is known to half a unit in its last place, a variance to that times the range of the data.
# Raw sums of squares would be wrong by the offset's square: 1 in the case of 1e8, 1e8 in that of 1e12.
offsets = pytest.mark.parametrize(("offset", "atol"), [(o, 16 * o * 2.0**-53) for o in (1e4, 1e8, 1e12)])


def variances(model: Any) -> Any:
    """Variances without the floor."""
    statistics = model.model_.classifier.state.statistics
    return statistics.scatter / np.maximum(statistics.weight, 1.0)


@offsets
@pytest.mark.parametrize("sign", [1, -1])
@given(data=st.data())
def test_offsets_keep_variances(offset: float, atol: float, sign: int, data: Any) -> None:
    """Of one pass, of chunks, and of the pooled variance behind the floor."""
    table = data.draw(rows(GAUSSIAN))
    plain = GAUSSIAN.fit(table.X, table.y, table.weight)
    moved = GAUSSIAN.fit(table.X + sign * offset, table.y, table.weight)
    np.testing.assert_allclose(variances(moved), variances(plain), rtol=1e-9, atol=atol)
    np.testing.assert_allclose(moved.epsilon_, plain.epsilon_, rtol=1e-9, atol=atol)
    models = [GAUSSIAN.fit(p.X + sign * offset, p.y, p.weight) for p in data.draw(parts(table))]
    np.testing.assert_allclose(variances(candide.merge(models)), variances(plain), rtol=1e-9, atol=4 * atol)


@offsets
def test_offsets_keep_variances_of_many_rows(offset: float, atol: float) -> None:
    """The sums of many shards."""
    rng = np.random.default_rng(8)
    X, y = rng.integers(-64, 64, (50_000, 4)) / 16, rng.integers(0, 3, 50_000)
    plain, moved = GAUSSIAN.fit(X, y), GAUSSIAN.fit(X + offset, y)
    np.testing.assert_allclose(variances(moved), variances(plain), rtol=1e-9, atol=atol)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e8 + 0.1, -1e12 / 7])
@every("n", [1, 3, 10, 1000, 30_000])
def test_a_column_that_does_not_vary_has_no_variance(value: float, n: int) -> None:
    """Exactly none, however many rows there are."""
    model = GAUSSIAN.fit(np.full((n, 2), value), np.zeros(n, dtype=int), np.full(n, 0.3))
    assert not model.model_.classifier.state.statistics.scatter.any()
    assert (model.theta_ == value).all()
