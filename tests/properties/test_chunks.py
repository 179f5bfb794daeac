"""It does not matter how rows are dealt out: fit, partial_fit in any chunks and any tree of merges agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import candide
from candide.specs import Spec

from .models import KINDS, Kind, assert_same_model, by_name, parameter_table
from .strategies import Rows, orders, parts, rows

kinds = pytest.mark.parametrize("kind", KINDS, ids=by_name)


def learn(kind: Kind, chunks: list[Rows]) -> Any:
    """A model that met the chunks one after the other."""
    model = kind.make()
    for chunk in chunks:
        model.partial_fit(kind.encode(chunk.X), chunk.y, sample_weight=chunk.weight)
    return model


def assert_agree(kind: Kind, a: Any, b: Any, X: Any) -> None:
    """Equal statistics, equal probabilities."""
    assert_same_model(a, b, scale=10)
    np.testing.assert_allclose(kind.proba(a, X), kind.proba(b, X), atol=1e-9)


@kinds
@given(data=st.data())
def test_partial_fit_in_any_chunks_is_fit(kind: Kind, data: Any) -> None:
    """Classes and categories may appear in some chunks only, and rows in any order."""
    table = data.draw(rows(kind))
    chunks = data.draw(parts(table))
    assert_agree(kind, learn(kind, chunks), kind.fit(table.X, table.y, table.weight), table.X)


@kinds
@given(data=st.data())
def test_a_stream_of_chunks_is_fit(kind: Kind, data: Any) -> None:
    """Whether chunks are gathered or counted one by one, and whatever container each of them is."""
    table = data.draw(rows(kind))
    stream = data.draw(parts(table))
    containers = [np.asarray, csr_array] if kind.sparse else [np.asarray]
    chosen = data.draw(st.lists(st.sampled_from(containers), min_size=len(stream), max_size=len(stream)))
    chunks = ((hold(kind.encode(chunk.X)), chunk.y, chunk.weight) for hold, chunk in zip(chosen, stream, strict=True))
    whole = kind.fit(table.X, table.y, table.weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Spec, "group_bytes", data.draw(st.sampled_from([0, 400, 1 << 24])))
        assert_agree(kind, kind.make().fit(chunks), whole, table.X)


@kinds
@given(data=st.data())
def test_any_tree_of_merges_is_fit(kind: Kind, data: Any) -> None:
    """Models of the parts, merged two at a time in any order."""
    table = data.draw(rows(kind))
    models = [kind.fit(part.X, part.y, part.weight) for part in data.draw(parts(table))]
    while len(models) > 1:
        first = models.pop(data.draw(st.integers(0, len(models) - 1)))
        second = models.pop(data.draw(st.integers(0, len(models) - 1)))
        models.append(candide.merge([first, second]))
    assert_agree(kind, models[0], kind.fit(table.X, table.y, table.weight), table.X)


@kinds
@given(data=st.data())
def test_declared_classes_change_nothing_but_the_list(kind: Kind, data: Any) -> None:
    """With classes= given at first, chunks agree with one pass, and classes that never come stay."""
    table = data.draw(rows(kind))
    chunks = data.draw(parts(table, most=2))
    names = np.array(["ant", "bee", "cat", "dog"])
    whole = kind.make().partial_fit(kind.encode(table.X), table.y, names, table.weight)
    model = kind.make()
    for chunk in chunks:
        model.partial_fit(kind.encode(chunk.X), chunk.y, names, chunk.weight)
    assert model.classes_.tolist() == names.tolist()
    assert_agree(kind, model, whole, table.X)


@kinds
@given(data=st.data())
def test_order_of_rows_does_not_matter(kind: Kind, data: Any) -> None:
    """Shuffled rows give the same model."""
    table = data.draw(rows(kind))
    shuffled = table.take(data.draw(orders(len(table.y))))
    a, b = (kind.fit(t.X, t.y, t.weight) for t in (table, shuffled))
    assert_agree(kind, a, b, table.X)


@kinds
@given(data=st.data())
def test_order_of_columns_does_not_matter(kind: Kind, data: Any) -> None:
    """Shuffled columns shuffle the parameters and leave the probabilities."""
    table = data.draw(rows(kind))
    order = data.draw(orders(table.X.shape[1])).tolist()
    a, b = kind.fit(table.X, table.y, table.weight), kind.fit(table.X[:, order], table.y, table.weight)
    np.testing.assert_allclose(kind.proba(a, table.X), kind.proba(b, table.X[:, order]), atol=1e-9)
    theirs = parameter_table(b)
    for (label, column, *value), numbers in parameter_table(a).items():
        moved = f"x{order.index(int(column[1:]))}"
        np.testing.assert_allclose(theirs[label, moved, *value], numbers, rtol=1e-9, atol=1e-12)
