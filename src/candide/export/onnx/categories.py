"""Columns of categories: each cell picks what its value says."""

from __future__ import annotations

import numpy as np

from ...data.categories import Lookup
from ...families.categorical_likelihood import CategoricalLikelihood
from ...kernels.layouts import Floats
from .likelihoods import Scored
from .rows import Cells
from .tensor import Tensor, concatenated


def scored_categories(likelihood: CategoricalLikelihood, cells: Cells) -> Scored:
    """What the values of all columns say. A value that nobody saw is as ``unseen`` has it, "error" as "ignore"."""
    # A column that nobody observed tells the classes nothing.
    seen = [j for j, labels in enumerate(likelihood.statistics.labels) if len(labels)]
    if not seen:
        return Scored(cells.nothing(0, None, len(likelihood.statistics.rows)), [])
    looks, shares = zip(*(likelihood.columns[j] for j in seen), strict=True)
    # One more row for missing cells.
    sizes = [look.size + 2 for look in looks]
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    codes = concatenated([_codes(look, j, cells) for j, look in zip(seen, looks, strict=True)]) + offsets
    finite = codes.picks(_stacked([share.finite for share in shares])).sum(1)
    if not likelihood.is_limit:
        return Scored(finite, [])
    orders = [np.zeros_like(share.finite) if share.order is None else -share.order for share in shares]
    return Scored(finite, [codes.picks(_stacked(orders)).sum(1)])


def _stacked(tables: list[Floats]) -> Floats:
    """From ``(classes, slots)`` of each column to one table of all slots."""
    return np.concatenate([np.vstack([table.T, np.zeros((1, len(table)))]) for table in tables])


def _codes(look: Lookup, j: int, cells: Cells) -> Tensor:
    """The slot of each cell, ``(rows, 1)``; ``size`` where a value has none, the next where there is no value."""
    unseen, missing = look.size, look.size + 1
    if look.direct:
        x = cells.numbers(j)
        slot = _within(x, look).where(x, float(unseen))
        return x.is_nan().where(float(missing), slot).of_type(np.int64)
    places = cells.places(j, look.labels)
    known = np.append(np.arange(len(look.labels)), [missing, unseen])
    if not look.range_end:
        return places.picks(known)
    # All codes of the range that nobody saw share a slot.
    empty = _within(cells.numbers(j), look) & places.equals(len(look.labels) + 1)
    return empty.where(len(look.labels), places.picks(known))


def _within(x: Tensor, look: Lookup) -> Tensor:
    """Whether numbers are codes of the range."""
    return (x >= 0.0) & (x < float(look.range_end)) & x.equals(x.floor())
