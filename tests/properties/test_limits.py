"""Without smoothing, answers are the limit of ever smaller smoothing, also for rows that no class allows."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from .models import GAUSSIAN, NORMED, SMOOTHED, Kind, by_name, unsmoothed
from .strategies import rows

# Every power of so small a number outweighs whatever is finite; a count plus it is the count.
TINY = [1e-100, 1e-200, 1e-290]


def tiny(kind: Kind, alpha: float) -> dict[str, float]:
    """Smoothing that is almost none."""
    return {**unsmoothed(kind), "alpha": alpha}


@pytest.mark.parametrize("kind", [kind for kind in SMOOTHED if kind is not NORMED], ids=by_name)
@given(data=st.data(), alpha=st.sampled_from(TINY))
def test_no_smoothing_is_the_limit_of_smoothing(kind: Kind, data: Any, alpha: float) -> None:
    """alpha = 0 is alpha → 0+: impossible rows are decided by the class that is impossible least often."""
    table = data.draw(rows(kind))
    queries = data.draw(rows(kind, n_columns=table.X.shape[1])).X
    table.X[:] = np.maximum(table.X - 3, 0)  # mostly zeros, so that many rows are impossible
    pure = kind.fit(table.X, table.y, table.weight, **unsmoothed(kind))
    near = kind.fit(table.X, table.y, table.weight, **tiny(kind, alpha))
    np.testing.assert_allclose(kind.proba(pure, queries), kind.proba(near, queries), atol=1e-9)


@given(data=st.data())
def test_normed_complement_weights_are_the_limit_too(data: Any) -> None:
    """Weights divided by their sum converge as 1 / log(1/alpha): two steps extrapolate to the limit."""
    table = data.draw(rows(NORMED))
    pure = NORMED.fit(table.X, table.y, table.weight, alpha=0.0).feature_log_prob_
    near, nearer = (NORMED.fit(table.X, table.y, table.weight, alpha=a).feature_log_prob_ for a in (1e-150, 1e-300))
    # The logarithms are 1 : 2.
    np.testing.assert_allclose(pure, 2 * nearer - near, atol=1e-3)


@pytest.mark.parametrize("kind", SMOOTHED, ids=by_name)
@given(data=st.data())
def test_alpha_may_differ_by_column_and_class(kind: Kind, data: Any) -> None:
    """One number, one per column and one per class and column say the same where they are equal."""
    table = data.draw(rows(kind))
    alpha = data.draw(st.sampled_from([0.0, 0.5, 2.0]))
    one = kind.fit(table.X, table.y, table.weight, alpha=alpha)
    shape = (len(one.classes_), table.X.shape[1])
    for array in (np.full(shape[1], alpha), np.full(shape, alpha)):
        other = kind.fit(table.X, table.y, table.weight, alpha=array)
        np.testing.assert_allclose(kind.proba(other, table.X), kind.proba(one, table.X), rtol=1e-9, atol=1e-12)


def gaussian_posterior(model: Any, row: Any, floor: Decimal) -> list[float]:
    """p(class | row) with a floor under every variance, in as many digits as it takes."""
    scores = []
    for prior, means, variances in zip(model.class_prior_, model.theta_, model.var_, strict=True):
        score = Decimal(float(prior)).ln()
        for x, mean, variance in zip(row, means, variances, strict=True):
            if not (np.isnan(x) or np.isnan(mean)):
                spread = Decimal(float(variance)) + floor
                score -= spread.ln() / 2 + (Decimal(float(x)) - Decimal(float(mean))) ** 2 / (2 * spread)
        scores.append(score)
    shares = [(score - max(scores)).exp() for score in scores]
    return [float(share / sum(shares)) for share in shares]


@given(data=st.data())
def test_no_variance_is_the_limit_of_small_variances(data: Any) -> None:
    """var_smoothing = 0 with columns that do not vary: points, compared as ever narrower bells."""
    table = data.draw(rows(GAUSSIAN))
    table.X[:] = np.trunc(table.X / 4)  # few values, so that many columns do not vary
    model = GAUSSIAN.fit(table.X, table.y, table.weight, var_smoothing=0.0)
    with localcontext() as context:
        context.prec = 200
        meant = [gaussian_posterior(model, row, Decimal("1e-60")) for row in table.X]
    np.testing.assert_allclose(model.predict_proba(table.X), meant, atol=1e-9)
