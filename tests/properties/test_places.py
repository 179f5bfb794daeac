"""It does not matter on how many machines rows lie: counted there, in whatever partitions, they make one state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .models import KINDS, Kind, by_name
from .spread import assert_same_state, fit_apart, partitions
from .strategies import rows


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
@given(data=st.data())
def test_sums_of_any_places_are_fit(kind: Kind, data: Any) -> None:
    """Counted anywhere, sent as bytes, some of them twice, added in any order."""
    table = data.draw(rows(kind))
    chunks = [(kind.encode(part.X), part.y, part.weight) for part in data.draw(partitions(table))]
    apart = fit_apart(kind.make(subsample=100_000), chunks, data.draw(st.integers(0, 100)))
    whole = kind.fit(table.X, table.y, table.weight, subsample=100_000)
    assert_same_state(apart, whole)
    assert apart.model_.row_counts == (len(table.y), 0, len(chunks))
