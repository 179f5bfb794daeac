"""Statistics of texts: for each feature set, the sums of its tokens by class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Any, Literal, NamedTuple

import numpy as np

from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass
from .token_counts import Dropped, TokenCounts, top_k


@dataclass(frozen=True)
class TextStatistics:
    """The weight of texts by class, and for each feature set the sums of its tokens."""

    rows: Floats
    feature_sets: tuple[TokenCounts, ...]

    def merge(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "merge")

    def absorb(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "absorb")

    def forget(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "forget")

    def without(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "without")

    def _joined(self, other: TextStatistics, verb: str) -> TextStatistics:
        pairs = zip(self.feature_sets, other.feature_sets, strict=True)
        return _of(getattr(mine, verb)(theirs) for mine, theirs in pairs)

    def lost_digits(self, before: TextStatistics) -> bool:
        return False

    def take(self, classes: Array) -> TextStatistics:
        return self._by_class("take", classes)

    def together(self) -> TextStatistics:
        return self._by_class("together")

    def discount(self, factor: float) -> TextStatistics:
        return _of(feature_set.discount(factor) for feature_set in self.feature_sets)

    def reindex(self, positions: Array, size: int) -> TextStatistics:
        return self._by_class("reindex", positions, size)

    def _by_class(self, verb: str, *args: Any) -> TextStatistics:
        return _of(feature_set.by_class(verb, *args) for feature_set in self.feature_sets)

    def only(self, j: int) -> TextStatistics:
        """Return the statistics of one feature set."""
        return self.take_feature_sets([j])

    def take_feature_sets(self, places: list[int]) -> TextStatistics:
        """Return the statistics of some feature sets."""
        return TextStatistics(self.rows, tuple(self.feature_sets[i] for i in places))

    @property
    def dropped(self) -> Dropped:
        """What was pruned, of all feature sets together."""
        return reduce(Dropped.plus, (feature_set.dropped for feature_set in self.feature_sets))

    def arrays(self) -> dict[str, Any]:
        return {"rows": self.rows, "feature_sets": self.feature_sets}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> TextStatistics:
        return cls(**arrays)


def _of(feature_sets: Iterable[TokenCounts]) -> TextStatistics:
    every = tuple(feature_sets)
    return TextStatistics(every[0].counts.rows, every)


# Bytes of a stored number, and of the place of a number or a name.
_NUMBER, _PLACE = 8, 8


class _Tokens(NamedTuple):
    """The tokens of a feature set that some text holds, what they weigh in all classes and what each costs."""

    codes: Array
    weight: Floats
    cost: Array


def pruned(statistics: TextStatistics, budget: int, unit: Literal["tokens", "bytes"]) -> TextStatistics:
    """The heaviest tokens of all feature sets, as many as the budget allows.

    Ties are broken by feature set, then by name. Bytes are those of names and sums as they are stored; buckets that
    are empty are not.
    """
    each = [_tokens(feature_set, unit) for feature_set in statistics.feature_sets]
    feature_set_of = np.repeat(np.arange(len(each)), [len(tokens.codes) for tokens in each])
    codes, weight, cost = map(np.concatenate, zip(*each, strict=True))

    def names(places: Array) -> list[Any]:
        parts = [(i, places[feature_set_of[places] == i]) for i in range(len(each))]
        return [(i, name) for i, part in parts for name in statistics.feature_sets[i].names(codes[part])]

    kept = top_k(weight, cost, budget, names)
    feature_sets = [
        _only(feature_set, codes[kept[feature_set_of[kept] == i]])
        for i, feature_set in enumerate(statistics.feature_sets)
    ]
    return replace(statistics, feature_sets=tuple(feature_sets))


def _tokens(feature_set: TokenCounts, unit: str) -> _Tokens:
    weight = feature_set.weight
    codes = np.flatnonzero(weight)
    cost = np.ones(len(codes), dtype=np.int64) if unit == "tokens" else _bytes(feature_set)[codes]
    return _Tokens(codes, weight[codes], cost)


def _bytes(feature_set: TokenCounts) -> Array:
    total = feature_set.counts.total
    if isinstance(total, np.ndarray) and feature_set.is_named:
        n_numbers, size = np.full(total.shape[1], len(total)), _NUMBER
    else:
        n_numbers, size = _entries(total), _NUMBER + _PLACE
    names = feature_set.name_sizes() + _PLACE if feature_set.is_named else 0
    return np.asarray((n_numbers + (feature_set.held is not None)) * size + names)


def _entries(total: Any) -> Array:
    """Classes that have each token."""
    from scipy.sparse import csr_array

    return np.bincount(csr_array(total).indices, minlength=total.shape[1])


def _only(feature_set: TokenCounts, codes: Array) -> TokenCounts:
    left, weight = feature_set.take_codes(codes), feature_set.weight
    n_gone, gone = int(np.count_nonzero(weight)) - len(codes), float(np.delete(weight, codes).sum())
    return replace(left, dropped=feature_set.dropped.plus(Dropped(n_gone, gone)))
