"""What one pass over texts leaves: for each look at them, sums of tokens by class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..encoding.tokens import Buckets, Coding, Vocabulary
from ..exceptions import MergeError
from ..kernels.data import Array, Floats
from ..kernels.tokens import DENSE_CELLS
from .base import as_dense
from .counts import Counts


@dataclass(frozen=True)
class TokenCounts:
    """The sums of tokens, ``(classes, codes)``, and which token has which code.

    A vocabulary that is not ``fixed`` holds the tokens that were seen: it grows, and tokens leave it with their last
    text. Two of them agree on no code until one is mapped into the other.
    """

    coding: Coding
    counts: Counts
    fixed: bool = False

    def merge(self, other: TokenCounts) -> TokenCounts:
        coding, mine, theirs = self._aligned(other)
        return replace(self, coding=coding, counts=mine.merge(theirs))

    def forget(self, other: TokenCounts) -> TokenCounts:
        return self.without(other)._seen()

    def without(self, other: TokenCounts) -> TokenCounts:
        coding, mine, theirs = self._aligned(other)
        after = mine.forget(theirs)
        return replace(self, coding=coding, counts=after)

    def _aligned(self, other: TokenCounts) -> tuple[Coding, Counts, Counts]:
        """Both sums under one coding."""
        if isinstance(self.coding, Buckets) or isinstance(other.coding, Buckets):
            if self.coding != other.coding:
                raise MergeError(
                    f"one model has {_described(self.coding)} and the other {_described(other.coding)}; tokens add "
                    "under equal settings; train both alike"
                )
            return self.coding, self.counts, other.counts
        coding, codes = self.coding.merge(other.coding)
        mine, theirs = self.counts, other.counts
        if not (isinstance(mine.total, np.ndarray) and isinstance(theirs.total, np.ndarray)):
            mine, theirs = _sparse(mine), _sparse(theirs)
        return coding, widened(mine, None, len(coding)), widened(theirs, codes, len(coding))

    def _seen(self) -> TokenCounts:
        """Without tokens that no text holds any more."""
        if self.fixed or isinstance(self.coding, Buckets):
            return self
        kept = np.flatnonzero(np.asarray(self.counts.total.sum(axis=0)).ravel() > 0)
        return self if len(kept) == len(self.coding) else self.take_codes(kept)

    def take_codes(self, kept: Array) -> TokenCounts:
        """Of some tokens alone."""
        assert isinstance(self.coding, Vocabulary)
        return replace(
            self, coding=self.coding.take(kept), counts=replace(self.counts, total=self.counts.total[:, kept])
        )

    def with_counts(self, counts: Counts) -> TokenCounts:
        """The same tokens with other sums."""
        return replace(self, counts=counts)


def widened(counts: Counts, codes: Array | None, size: int) -> Counts:
    """Columns moved to ``codes`` (as they are, where None) among ``size``."""
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
        # A copy: sorting moves the values, and others hold them too.
        total = csr_array((old.data.copy(), places[old.indices], old.indptr), shape=(n_classes, size))
        total.sort_indices()
    return replace(counts, total=total)


def _sparse(counts: Counts) -> Counts:
    from scipy.sparse import csr_array

    return replace(counts, total=csr_array(counts.total)) if isinstance(counts.total, np.ndarray) else counts


def _described(coding: Coding) -> str:
    return f"2^{coding.bits} buckets" if isinstance(coding, Buckets) else "a vocabulary"


@dataclass(frozen=True)
class TextStatistics:
    """The weight of texts by class, and for each look at them the sums of its tokens."""

    rows: Floats
    looks: tuple[TokenCounts, ...]

    def merge(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "merge")

    def forget(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "forget")

    def without(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "without")

    def _joined(self, other: TextStatistics, verb: str) -> TextStatistics:
        pairs = zip(self.looks, other.looks, strict=True)
        looks = tuple(getattr(mine, verb)(theirs) for mine, theirs in pairs)
        return TextStatistics(looks[0].counts.rows, looks)

    def lost_digits(self, before: TextStatistics) -> bool:
        return False

    def take(self, classes: Array) -> TextStatistics:
        return self._each("take", classes)

    def together(self) -> TextStatistics:
        return self._each("together")

    def discount(self, factor: float) -> TextStatistics:
        return self._each("discount", factor)

    def reindex(self, positions: Array, size: int) -> TextStatistics:
        return self._each("reindex", positions, size)

    def _each(self, verb: str, *args: Any) -> TextStatistics:
        looks = tuple(look.with_counts(getattr(look.counts, verb)(*args)) for look in self.looks)
        return TextStatistics(looks[0].counts.rows, looks)

    def only(self, j: int) -> TextStatistics:
        """Of one look."""
        return TextStatistics(self.rows, (self.looks[j],))

    def arrays(self) -> dict[str, Any]:
        return {"rows": self.rows, "looks": self.looks}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> TextStatistics:
        return cls(**arrays)


def n_seen(counts: Counts) -> int:
    """Tokens that some text holds."""
    return int((as_dense(counts.together().total) > 0).sum())
