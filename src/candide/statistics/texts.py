"""What one pass over texts leaves: for each look at them, sums of tokens by class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Any, Literal, NamedTuple

import numpy as np

from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass
from .token_counts import Dropped, TokenCounts, heaviest


@dataclass(frozen=True)
class TextStatistics:
    """The weight of texts by class, and for each look at them the sums of its tokens."""

    rows: Floats
    looks: tuple[TokenCounts, ...]

    def merge(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "merge")

    def absorb(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "absorb")

    def forget(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "forget")

    def without(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "without")

    def _joined(self, other: TextStatistics, verb: str) -> TextStatistics:
        pairs = zip(self.looks, other.looks, strict=True)
        return _of(getattr(mine, verb)(theirs) for mine, theirs in pairs)

    def lost_digits(self, before: TextStatistics) -> bool:
        return False

    def take(self, classes: Array) -> TextStatistics:
        return self._by_class("take", classes)

    def together(self) -> TextStatistics:
        return self._by_class("together")

    def discount(self, factor: float) -> TextStatistics:
        return _of(look.discount(factor) for look in self.looks)

    def reindex(self, positions: Array, size: int) -> TextStatistics:
        return self._by_class("reindex", positions, size)

    def _by_class(self, verb: str, *args: Any) -> TextStatistics:
        return _of(look.by_class(verb, *args) for look in self.looks)

    def only(self, j: int) -> TextStatistics:
        """Of one look."""
        return self.take_looks([j])

    def take_looks(self, places: list[int]) -> TextStatistics:
        """Of some looks."""
        return TextStatistics(self.rows, tuple(self.looks[i] for i in places))

    @property
    def dropped(self) -> Dropped:
        """What was pruned, of all looks."""
        return reduce(Dropped.plus, (look.dropped for look in self.looks))

    def arrays(self) -> dict[str, Any]:
        return {"rows": self.rows, "looks": self.looks}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> TextStatistics:
        return cls(**arrays)


def _of(looks: Iterable[TokenCounts]) -> TextStatistics:
    every = tuple(looks)
    return TextStatistics(every[0].counts.rows, every)


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
