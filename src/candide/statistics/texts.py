"""Statistics of texts: for each feature set, the sums of its tokens by class, and the codes of the tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from typing import Any, Literal, NamedTuple

import numpy as np

from ..exceptions import MergeError
from ..kernels.counting import DENSE_CELLS
from ..kernels.layouts import Array, Floats
from ..kernels.vocabulary import Buckets, Coding
from ..lazy import dataclass
from .base import Exact, as_dense
from .counts import Counts


class Dropped(NamedTuple):
    """The number of pruned tokens, and the weight of their occurrences."""

    tokens: int = 0
    weight: float = 0.0

    def plus(self, other: Dropped) -> Dropped:
        return Dropped(self.tokens + other.tokens, self.weight + other.weight)


_NOTHING = Dropped()


@dataclass(frozen=True)
class TokenCounts:
    """The sums of tokens, ``(classes, codes)``, and the codes of the tokens.

    A vocabulary that is not ``fixed`` contains the tokens that were seen: tokens are added when they occur, and removed
    with their last text. The codes of two such vocabularies must be mapped to each other before counts are added.
    """

    coding: Coding
    counts: Counts
    fixed: bool = False
    held: Counts | None = None  # number of texts that contain each token, over all classes, if needed
    dropped: Dropped = _NOTHING

    def merge(self, other: TokenCounts) -> TokenCounts:
        return self._plus(other, Counts.merge)

    def absorb(self, other: TokenCounts) -> TokenCounts:
        return self._plus(other, Counts.absorb)

    def _plus(self, other: TokenCounts, join: Callable[[Counts, Counts], Counts]) -> TokenCounts:
        mine, theirs = self._aligned(other)
        return replace(mine._joined(theirs, join), dropped=self.dropped.plus(other.dropped))

    def forget(self, other: TokenCounts) -> TokenCounts:
        return self.without(other).seen()

    def without(self, other: TokenCounts) -> TokenCounts:
        if not self.dropped.tokens:
            return TokenCounts._joined(*self._aligned(other), Counts.forget)
        # Pruned counts have already been removed, completely or in part.
        mine, theirs = self._aligned(self._known(other))
        return mine._joined(theirs, lambda left, gone: left.forget(_at_most(gone, left)))

    def _joined(self, other: TokenCounts, join: Callable[[Counts, Counts], Counts]) -> TokenCounts:
        """Return the total of both counts, with a common coding."""
        held = None if self.held is None or other.held is None else join(self.held, other.held)
        return replace(self, counts=join(self.counts, other.counts), held=held)

    def _known(self, other: TokenCounts) -> TokenCounts:
        """Return the counts of another for those of its tokens that this one has."""
        if isinstance(self.coding, Buckets) or isinstance(other.coding, Buckets):
            return other
        codes = self.coding.merge(other.coding)[1]
        return other.take_codes(np.flatnonzero(codes < len(self.coding)))

    def _aligned(self, other: TokenCounts) -> tuple[TokenCounts, TokenCounts]:
        """Return both counts with a common coding."""
        if isinstance(self.coding, Buckets) or isinstance(other.coding, Buckets):
            if self.coding != other.coding:
                raise MergeError(
                    f"one model uses {_described(self.coding)} and the other {_described(other.coding)}; only models "
                    "with the same settings can be merged; train both with the same settings"
                )
            return self, other
        coding, codes = self.coding.merge(other.coding)
        mine, theirs = self.counts, other.counts
        if not (isinstance(mine.total, np.ndarray) and isinstance(theirs.total, np.ndarray)):
            mine, theirs = _sparse(mine), _sparse(theirs)
        return replace(self, counts=mine)._under(coding, None), replace(other, counts=theirs)._under(coding, codes)

    def _under(self, coding: Coding, codes: Array | None) -> TokenCounts:
        held = None if self.held is None else widened(self.held, codes, len(coding))
        return replace(self, coding=coding, counts=widened(self.counts, codes, len(coding)), held=held)

    def seen(self) -> TokenCounts:
        """Return the sums without tokens that no longer occur."""
        if self.fixed or isinstance(self.coding, Buckets):
            return self
        kept = np.flatnonzero(self.weight > 0)
        return self if len(kept) == len(self.coding) else self.take_codes(kept)

    @property
    def weight(self) -> Floats:
        """The weight of each token in all classes."""
        return np.asarray(self.counts.total.sum(axis=0), dtype=np.float64).ravel()

    @property
    def texts(self) -> Counts:
        """The number of texts that contain each token, as counts of one class."""
        if self.counts.presence:
            return self.counts.together()
        assert self.held is not None
        return self.held

    @property
    def is_named(self) -> bool:
        """Whether tokens have names, rather than shared hash buckets."""
        return not isinstance(self.coding, Buckets)

    def name_sizes(self) -> Array:
        """Return the bytes of the name of each token."""
        assert not isinstance(self.coding, Buckets)
        return np.diff(self.coding.arrays()[1])

    def names(self, codes: Array) -> list[Any]:
        """Return the sort keys of tokens: the tokens, ordered by code points, or their buckets."""
        return codes.tolist() if isinstance(self.coding, Buckets) else self.coding.tokens(codes)

    def take_codes(self, kept: Array) -> TokenCounts:
        """Return the counts of some tokens; buckets keep their positions, and those not selected are set to 0."""
        if isinstance(self.coding, Buckets):
            return self._map(lambda counts: _emptied(counts, kept))
        coding = self.coding.take(kept)
        return replace(self._map(lambda counts: replace(counts, total=counts.total[:, kept])), coding=coding)

    def _map(self, change: Callable[[Counts], Counts]) -> TokenCounts:
        return replace(self, counts=change(self.counts), held=None if self.held is None else change(self.held))

    def by_class(self, verb: str, *args: Any) -> TokenCounts:
        """Apply an operation on classes; the numbers of texts per token do not change."""
        return replace(self, counts=getattr(self.counts, verb)(*args))

    def discount(self, factor: float) -> TokenCounts:
        dropped = self.dropped._replace(weight=self.dropped.weight * factor)
        return replace(self._map(lambda counts: counts.discount(factor)), dropped=dropped)


def _at_most(counts: Counts, limit: Counts) -> Counts:
    """Return sums clipped to those of another."""
    if isinstance(counts.total, np.ndarray) or isinstance(limit.total, np.ndarray):
        return replace(counts, total=np.minimum(as_dense(counts.total), as_dense(limit.total)))
    return replace(counts, total=counts.total.minimum(limit.total).tocsr())


def _emptied(counts: Counts, kept: Array) -> Counts:
    """Return counts with all columns but ``kept`` set to 0."""
    from scipy.sparse import csr_array

    alone = csr_array(counts.total)[:, kept]
    return widened(replace(counts, total=alone), kept, counts.total.shape[1])


def widened(counts: Counts, codes: Array | None, size: int) -> Counts:
    """Return counts of ``size`` columns with the given ones at ``codes`` (None: at the same positions)."""
    if codes is None and size == counts.total.shape[1]:
        return counts
    n_classes, n_codes = counts.total.shape
    if n_classes * size > DENSE_CELLS:
        counts = _sparse(counts)
    places = np.arange(n_codes) if codes is None else np.asarray(codes)
    if isinstance(counts.total, np.ndarray):
        total: Any = np.zeros((n_classes, size))
        total[:, places] = counts.total
    else:
        from scipy.sparse import csr_array

        old = counts.total
        # A copy, because sorting reorders the values, which may be shared.
        total = csr_array((old.data.copy(), places[old.indices], old.indptr), shape=(n_classes, size))
        total.sort_indices()
    return replace(counts, total=total)


def _sparse(counts: Counts) -> Counts:
    from scipy.sparse import csr_array

    return replace(counts, total=csr_array(counts.total)) if isinstance(counts.total, np.ndarray) else counts


def _described(coding: Coding) -> str:
    return f"2^{coding.bits} buckets" if isinstance(coding, Buckets) else "a vocabulary"


def n_seen(counts: Counts) -> int:
    """Return the number of tokens that occur."""
    return int((as_dense(counts.together().total) > 0).sum())


def top_k(weight: Floats, cost: Array, budget: int, names: Callable[[Array], list[Any]]) -> Array:
    """Return the positions, ascending, of the tokens with the largest weights whose total cost is within ``budget``.

    Ties are broken by ``names``, so that the result does not depend on the order of tokens. ``names`` is called with
    the tied tokens only.

    >>> top_k(np.array([1.0, 3.0, 1.0]), np.ones(3), 2, lambda positions: [["b", "x", "a"][i] for i in positions])
    array([1, 2])
    """
    order = np.argsort(-weight, kind="stable")
    n_within = int(np.searchsorted(np.cumsum(cost[order]), budget, side="right"))
    if n_within == len(order):
        return np.arange(len(order))
    limit = weight[order[n_within]]
    above, equal = np.flatnonzero(weight > limit), np.flatnonzero(weight == limit)
    equal = equal[_argsort(names(equal))]
    left = budget - cost[above].sum()
    n_equal = int(np.searchsorted(np.cumsum(cost[equal]), left, side="right"))
    return np.sort(np.concatenate([above, equal[:n_equal]]))


def _argsort(names: list[Any]) -> Array:
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)


@dataclass(frozen=True)
class TextStatistics(Exact):
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
        """Number and weight of the pruned tokens of all feature sets."""
        return reduce(Dropped.plus, (feature_set.dropped for feature_set in self.feature_sets))


def _of(feature_sets: Iterable[TokenCounts]) -> TextStatistics:
    every = tuple(feature_sets)
    return TextStatistics(every[0].counts.rows, every)


# Bytes of a stored number, and of the position of a number or name.
_NUMBER, _PLACE = 8, 8


class _Tokens(NamedTuple):
    """The tokens of a feature set that occur, their weights in all classes and their costs."""

    codes: Array
    weight: Floats
    cost: Array


def pruned(statistics: TextStatistics, budget: int, unit: Literal["tokens", "bytes"]) -> TextStatistics:
    """Return the statistics of the most frequent tokens of all feature sets, within a budget.

    Ties are broken by feature set, then by name. Bytes are those of names and sums as stored in a file, without empty
    buckets.
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
    """Return the number of classes that have each token."""
    from scipy.sparse import csr_array

    return np.bincount(csr_array(total).indices, minlength=total.shape[1])


def _only(feature_set: TokenCounts, codes: Array) -> TokenCounts:
    left, weight = feature_set.take_codes(codes), feature_set.weight
    n_gone, gone = int(np.count_nonzero(weight)) - len(codes), float(np.delete(weight, codes).sum())
    return replace(left, dropped=feature_set.dropped.plus(Dropped(n_gone, gone)))
