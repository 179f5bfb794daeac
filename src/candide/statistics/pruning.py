"""Sums of tokens without the rarest of them: lossy, and they say so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from ..kernels.layouts import Array, Floats
from .heaviest import heaviest
from .texts import TextStatistics
from .token_counts import Dropped, TokenCounts

# Bytes of a stored number, and of the place of a number or a name.
_NUMBER, _PLACE = 8, 8


class _Tokens(NamedTuple):
    """The tokens of a look that some text holds, what they weigh in all classes and what each costs."""

    codes: Array
    weight: Floats
    cost: Array


def pruned(statistics: TextStatistics, budget: int, unit: Literal["tokens", "bytes"]) -> TextStatistics:
    """The heaviest tokens of all looks, as many as the budget allows.

    Among equals, first looks and then names decide. Bytes are those of names and sums as they are stored; buckets that
    are empty are not.
    """
    each = [_tokens(look, unit) for look in statistics.looks]
    look_of = np.repeat(np.arange(len(each)), [len(tokens.codes) for tokens in each])
    codes, weight, cost = map(np.concatenate, zip(*each, strict=True))

    def names(places: Array) -> list[Any]:
        parts = [(i, places[look_of[places] == i]) for i in range(len(each))]
        return [(i, name) for i, part in parts for name in statistics.looks[i].names(codes[part])]

    kept = heaviest(weight, cost, budget, names)
    looks = [_only(look, codes[kept[look_of[kept] == i]]) for i, look in enumerate(statistics.looks)]
    return replace(statistics, looks=tuple(looks))


def _tokens(look: TokenCounts, unit: str) -> _Tokens:
    weight = look.weight
    codes = np.flatnonzero(weight)
    cost = np.ones(len(codes), dtype=np.int64) if unit == "tokens" else _bytes(look)[codes]
    return _Tokens(codes, weight[codes], cost)


def _bytes(look: TokenCounts) -> Array:
    total = look.counts.total
    if isinstance(total, np.ndarray) and look.is_named:
        n_numbers, size = np.full(total.shape[1], len(total)), _NUMBER
    else:
        n_numbers, size = _entries(total), _NUMBER + _PLACE
    names = look.name_sizes() + _PLACE if look.is_named else 0
    return np.asarray((n_numbers + (look.held is not None)) * size + names)


def _entries(total: Any) -> Array:
    """Classes that have each token."""
    from scipy.sparse import csr_array

    return np.bincount(csr_array(total).indices, minlength=total.shape[1])


def _only(look: TokenCounts, codes: Array) -> TokenCounts:
    left, weight = look.take_codes(codes), look.weight
    n_gone, gone = int(np.count_nonzero(weight)) - len(codes), float(np.delete(weight, codes).sum())
    return replace(left, dropped=look.dropped.plus(Dropped(n_gone, gone)))
