"""Forgetting undoes learning; what was never learned is refused, and leaves the model as it was."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from candide.exceptions import ForgetError

from .models import BERNOULLI, KINDS, Kind, assert_same_model, by_name
from .strategies import Rows, altered, parts, rows

kinds = pytest.mark.parametrize("kind", KINDS, ids=by_name)


@kinds
@given(data=st.data())
def test_forget_undoes_learning(kind: Kind, data: Any) -> None:
    """Rows learned and forgotten leave no trace: counts bit for bit, moments to rounding."""
    table = data.draw(rows(kind, least=2))
    dealt = data.draw(parts(table, most=2))
    assume(len(dealt) == 2)
    kept, gone = dealt
    model = kind.fit(table.X, table.y, table.weight).forget(kind.encode(gone.X), gone.y, gone.weight)
    assert_same_model(model, kind.fit(kept.X, kept.y, kept.weight), scale=10)


@given(data=st.data(), offset=st.sampled_from([0.0, 100.0, 1e6]))
def test_moments_are_forgotten_within_their_bound(data: Any, offset: float) -> None:
    """The error is below 1e-9 of the scatter before removal times 1 + |mean| / sd."""
    kind = KINDS[0]
    table = data.draw(rows(kind, least=2))
    dealt = data.draw(parts(table, most=2))
    assume(len(dealt) == 2)
    kept, gone = dealt
    model = kind.fit(table.X + offset, table.y, table.weight)
    before = model.model_.classifier.state.statistics
    spread = np.sqrt(before.scatter / np.maximum(before.weight, 1)) + 1e-3
    bound = 1e-9 * (before.scatter + 1).max() * (1 + np.abs(before.mean) / spread).max()
    model.forget(gone.X + offset, gone.y, gone.weight)
    np.testing.assert_allclose(
        model.model_.classifier.state.statistics.scatter,
        kind.fit(kept.X + offset, kept.y, kept.weight).model_.classifier.state.statistics.scatter,
        atol=bound,
    )


def cell_counts(kind: Kind, table: Rows) -> Counter[Any]:
    """Every count that a model keeps or implies: of classes, of values, of holes, of observed cells."""
    out: Counter[Any] = Counter()
    for cells, label, weight in zip(table.X, table.y, table.weight, strict=True):
        out[label] += weight
        for j, cell in enumerate(cells):
            out[label, j, "missing" if np.isnan(cell) else "observed"] += weight
            if np.isnan(cell) or kind.measures:
                continue
            if kind is BERNOULLI:
                out[label, j, cell > 0] += weight
            elif kind.name.startswith("categorical"):
                out[label, j, cell] += weight
            else:
                out[label, j, "total"] += weight * cell
    return out


@kinds
@given(data=st.data())
def test_what_was_never_learned_is_refused_and_changes_nothing(kind: Kind, data: Any) -> None:
    """Refused if a count would become negative, a class keep counts but no rows, or no class be left.

    Otherwise only where means are kept: rows that have more scatter than all rows had.
    """
    learned = data.draw(rows(kind))
    other = data.draw(altered(learned, kind))
    model = kind.fit(learned.X, learned.y, learned.weight)
    before = pickle.dumps(model)
    left = cell_counts(kind, learned)
    left.subtract(cell_counts(kind, other))
    labels = np.unique(learned.y)
    orphaned = any(isinstance(key, tuple) and count and not left[key[0]] for key, count in list(left.items()))
    if min(left.values()) < 0 or orphaned or not any(left[label] for label in labels):
        with pytest.raises(ForgetError, match="the model is unchanged"):
            model.forget(kind.encode(other.X), other.y, other.weight)
        assert_same_model(model, pickle.loads(before), scale=0)
        assert pickle.dumps(model) == before
    else:
        try:
            model.forget(kind.encode(other.X), other.y, other.weight)
        except ForgetError:
            assert kind.measures
            assert pickle.dumps(model) == before
            return
        assert model.class_count_.sum() == learned.weight.sum() - other.weight.sum()


@kinds
@given(data=st.data())
def test_a_row_cannot_be_forgotten_twice(kind: Kind, data: Any) -> None:
    """The only row of its class goes once; then the class is unknown."""
    table = data.draw(rows(kind))
    model = kind.fit(table.X, table.y, table.weight)
    row = kind.encode(table.X[:1])
    model.partial_fit(row, ["dog"]).forget(row, ["dog"])
    assert_same_model(model, kind.fit(table.X, table.y, table.weight), scale=10)
    before = pickle.dumps(model)
    with pytest.raises(ForgetError, match="the model is unchanged"):
        model.forget(row, ["dog"])
    assert pickle.dumps(model) == before
