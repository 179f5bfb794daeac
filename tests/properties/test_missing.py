"""A missing cell is no evidence: only what was observed counts, at learning and at predicting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from .models import COMPLEMENT, KINDS, MULTINOMIAL, NORMED, Kind, by_name, parameter_table, unsmoothed
from .strategies import rows

columnwise = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.columnwise], ids=by_name)
competing = pytest.mark.parametrize("kind", [MULTINOMIAL, COMPLEMENT, NORMED], ids=by_name)


def options(kind: Kind) -> dict[str, float]:
    """No variance floor: it is shared between columns, so that one column's absence would be felt by the others."""
    return unsmoothed(kind) if kind.measures else {}


@columnwise
@given(data=st.data())
def test_a_missing_cell_is_a_column_never_asked(kind: Kind, data: Any) -> None:
    """A row without column j scores as in the model that has no column j."""
    table = data.draw(rows(kind, n_columns=3))
    j = data.draw(st.integers(0, 2))
    queries = data.draw(rows(kind, n_columns=3)).X
    rest = [i for i in range(3) if i != j]
    queries[:, j] = np.nan
    whole = kind.fit(table.X, table.y, table.weight, **options(kind))
    without = kind.fit(table.X[:, rest], table.y, table.weight, **options(kind))
    got, meant = kind.encode(queries), kind.encode(queries[:, rest])
    np.testing.assert_allclose(whole.predict_proba(got), without.predict_proba(meant), atol=1e-9)
    np.testing.assert_allclose(
        whole.predict_joint_log_proba(got), without.predict_joint_log_proba(meant), rtol=1e-9, atol=1e-9
    )


@columnwise
@given(data=st.data())
def test_a_row_of_holes_gets_the_prior(kind: Kind, data: Any) -> None:
    """Nothing observed, nothing learned about the row."""
    table = data.draw(rows(kind))
    model = kind.fit(table.X, table.y, table.weight)
    nothing = kind.proba(model, np.full((1, table.X.shape[1]), np.nan))
    np.testing.assert_allclose(nothing[0], model.class_prior_, rtol=1e-12)


@columnwise
@given(data=st.data())
def test_each_column_learns_from_the_rows_that_have_it(kind: Kind, data: Any) -> None:
    """Parameters of a column are those of its observed rows alone."""
    table = data.draw(rows(kind))
    whole = parameter_table(kind.fit(table.X, table.y, table.weight, **options(kind)))
    for j in range(table.X.shape[1]):
        seen = table.take(np.flatnonzero(~np.isnan(table.X[:, j]) & (table.weight > 0)))
        if not len(seen.y):
            continue
        alone = parameter_table(kind.fit(seen.X[:, [j]], seen.y, seen.weight, **options(kind)))
        for (label, _, *value), figures in alone.items():
            np.testing.assert_allclose(whole[label, f"x{j}", *value], figures, rtol=1e-9, atol=1e-12)


@competing
@given(data=st.data())
def test_a_missing_count_is_left_out_of_the_sum(kind: Kind, data: Any) -> None:
    """Where columns compete, a missing count adds neither to its column nor to the length: as if it were 0."""
    table = data.draw(rows(kind))
    filled = np.nan_to_num(table.X, nan=0.0)
    holes, zeros = (kind.fit(X, table.y, table.weight) for X in (table.X, filled))
    np.testing.assert_array_equal(holes.feature_count_, zeros.feature_count_)
    np.testing.assert_allclose(kind.proba(holes, table.X), kind.proba(zeros, filled), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
@given(data=st.data())
def test_a_column_of_holes_says_nothing(kind: Kind, data: Any) -> None:
    """A column that nobody observed neither moves the answers nor breaks the model."""
    table = data.draw(rows(kind))
    wider = np.column_stack([table.X, np.full(len(table.y), np.nan)])
    asked = np.column_stack([table.X, np.zeros(len(table.y))])
    model = kind.fit(wider, table.y, table.weight)
    if kind.columnwise:
        plain = kind.fit(table.X, table.y, table.weight)
        np.testing.assert_allclose(kind.proba(model, wider), kind.proba(plain, table.X), atol=1e-9)
        if kind.name != "poisson":
            np.testing.assert_allclose(kind.proba(model, asked), kind.proba(plain, table.X), atol=1e-9)
    assert np.isfinite(kind.proba(model, asked)).all()
