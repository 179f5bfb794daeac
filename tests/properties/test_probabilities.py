"""What predict_proba gives is a distribution over classes, whatever finite rows it is asked about."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from candide import PoissonNB

from .models import KINDS, Kind, by_name, unsmoothed
from .strategies import numbers, rows

EXTREMES = [0.0, 1.0, 5e-324, 1e-300, 0.5, 3.0, 17.0, 1e5, 1e16, 1e150, 1e200, 1e308, 1.7976931348623157e308, np.nan]

every_kind = pytest.mark.parametrize("kind", KINDS, ids=by_name)
smoothing = pytest.mark.parametrize("smooth", [True, False], ids=["smooth", "pure"])


def fitted(data: Any, kind: Kind, smooth: bool) -> tuple[Any, int]:
    """A model, smoothed or of pure maximum likelihood, and its number of columns."""
    table = data.draw(rows(kind))
    return kind.fit(table.X, table.y, table.weight, **({} if smooth else unsmoothed(kind))), table.X.shape[1]


def queries(data: Any, kind: Kind, n_columns: int) -> Any:
    """Rows to ask about: as extreme as the model takes them."""
    if kind.name.startswith("categorical"):
        return kind.encode(numbers(data.draw, (8, n_columns), [0.0, 1.0, 2.0, 3.0, 4.0, np.nan]))
    values = EXTREMES + [-x for x in EXTREMES] if kind.measures else EXTREMES
    return numbers(data.draw, (8, n_columns), values)


def assert_distribution(model: Any, X: Any) -> None:
    """Rows sum to one, nothing is NaN, and the label is that of the largest probability."""
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    chosen = np.searchsorted(model.classes_, model.predict(X))
    np.testing.assert_array_equal(proba[np.arange(len(proba)), chosen], proba.max(axis=1))


def assert_logarithms(model: Any, X: Any) -> None:
    """predict_log_proba is the logarithm of predict_proba."""
    log_proba = model.predict_log_proba(X)
    assert not np.isnan(log_proba).any()
    np.testing.assert_allclose(np.exp(log_proba), model.predict_proba(X), rtol=1e-9, atol=1e-300)


@every_kind
@smoothing
@given(data=st.data())
def test_probabilities_are_a_distribution(kind: Kind, smooth: bool, data: Any) -> None:
    """For rows like those learned, missing cells included."""
    model, n_columns = fitted(data, kind, smooth)
    table = data.draw(rows(kind, n_columns=n_columns))
    assert_distribution(model, kind.encode(table.X))
    assert_logarithms(model, kind.encode(table.X))
    assert not np.isnan(model.predict_joint_log_proba(kind.encode(table.X))).any()


@every_kind
@smoothing
@given(data=st.data())
def test_extreme_rows_have_a_distribution_too(kind: Kind, smooth: bool, data: Any) -> None:
    """For any finite cell: scores that overflow are still compared."""
    model, n_columns = fitted(data, kind, smooth)
    assert_distribution(model, queries(data, kind, n_columns))


@pytest.mark.parametrize("labels", [["ant", "bee"], ["bee", "ant"]], ids="-".join)
def test_overflow_in_both_directions_is_decided(labels: list[str]) -> None:
    """x log λ is +inf for one column and -inf for the other: the sum is no number, the answer is."""
    model = PoissonNB(alpha=0, beta=0).fit([[8.0, 0.1], [1.0, 1.0]], labels)
    assert_distribution(model, np.array([[1.7e308, 1.7e308]]))


@every_kind
@smoothing
@given(data=st.data())
def test_extreme_rows_have_logarithms_too(kind: Kind, smooth: bool, data: Any) -> None:
    """For any finite cell."""
    model, n_columns = fitted(data, kind, smooth)
    assert_logarithms(model, queries(data, kind, n_columns))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.sparse], ids=by_name)
@smoothing
@given(data=st.data())
def test_extreme_sparse_rows_have_a_distribution_too(kind: Kind, smooth: bool, data: Any) -> None:
    """For any finite stored cell."""
    model, n_columns = fitted(data, kind, smooth)
    assert_distribution(model, csr_array(queries(data, kind, n_columns)))


@every_kind
@smoothing
@given(data=st.data())
def test_a_row_is_judged_by_itself(kind: Kind, smooth: bool, data: Any) -> None:
    """Answers do not depend on the other rows asked about."""
    model, n_columns = fitted(data, kind, smooth)
    X = queries(data, kind, n_columns)
    together = model.predict_proba(X)
    alone = np.vstack([model.predict_proba(X[i : i + 1]) for i in range(len(X))])
    np.testing.assert_allclose(alone, together, rtol=1e-9, atol=1e-12)
