"""Feature sets of texts: which tokens are scored, and the weight of each occurrence."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Sparse, TextRows
from ..kernels.tokenizer import TokenizerConfig
from ..kernels.tokens import TokenFeatures, TokenTables, TokenTally
from ..kernels.vocabulary import Coding
from ..lazy import dataclass
from ..statistics import Counts
from ..statistics.base import as_dense
from ..statistics.texts import TokenCounts, top_k
from .base import Batch

Weighting = Literal["count", "binary", "log", "tfidf"]
WEIGHTINGS: tuple[Weighting, ...] = ("count", "binary", "log", "tfidf")


class FeatureSet(NamedTuple):
    """One set of token features: tokenizer, coding, and the weight of n occurrences of a token in a text.

    The weight is n, 1 ("binary") or 1 + log n ("log"). With "tfidf", counts are summed, and ``Terms`` contains the
    factors.
    """

    tokenizer: TokenizerConfig
    coding: Coding
    weighting: Weighting = "count"
    fixed: bool = False  # whether the vocabulary is given and does not grow
    name: str = "words"
    frequencies: bool = False  # whether the texts that contain a token are counted too

    @property
    def features(self) -> TokenFeatures:
        """The tokenizer and the coding, as kernels read them."""
        return TokenFeatures(self.tokenizer, self.coding)

    @property
    def presence(self) -> bool:
        """Whether a token counts at most once per text."""
        return self.weighting == "binary"

    def rows(self, data: TextRows, coding: Coding, kernels: Kernels) -> Sparse:
        """Return texts as rows of token weights, without the tokens that have no code."""
        rows = kernels.count_tokens(data.texts, [TokenFeatures(self.tokenizer, coding)], grow=False)[0].rows
        return replace(self.weighed(rows), first_row=data.first_row)

    def weighed(self, rows: Sparse) -> Sparse:
        """Return the weights of these counts."""
        if self.weighting == "log":
            return replace(rows, values=1.0 + np.log(rows.values))
        return replace(rows, values=np.ones(len(rows.values))) if self.presence else rows

    def sums(self, tally: TokenTally, rows: Floats) -> TokenCounts:
        """Return the statistics of a tally of texts; ``rows``: their weight by class."""
        counts = Counts(rows, tally.texts if self.presence else tally.occurrences, None, self.presence)
        held = Counts(rows, tally.texts, None, presence=True).together() if self.frequencies else None
        return TokenCounts(tally.coding, counts, self.fixed, held)

    def log_tally(self, batch: Batch, kernels: Kernels) -> TokenTally:
        """Return the tally of weights that are not counts."""
        found = kernels.count_tokens(batch.data.texts, [self.features], grow=not self.fixed)[0]
        how = batch.classes, batch.weight, batch.n_classes
        total, texts = (kernels.tally(self.weighed(found.rows), *how, above).total for above in (None, 0.0))
        return TokenTally(found.coding, total, texts)


class Limits(NamedTuple):
    """Which tokens are scored: those in at least ``min_df`` texts, and of them the most frequent."""

    min_df: int = 1
    max_features: int | None = None

    def kept(self, sums: TokenCounts) -> Array | None:
        """Return the codes of the tokens within the limits; None without limits."""
        if self == NO_LIMITS:
            return None
        enough = np.arange(len(sums.coding))
        if self.min_df > 1:
            enough = np.flatnonzero(as_dense(sums.texts.total)[0] >= self.min_df)
        if self.max_features is None:
            return enough
        first = top_k(
            sums.weight[enough], np.ones(len(enough)), self.max_features, lambda places: sums.names(enough[places])
        )
        return enough[first]


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Terms:
    """Which tokens are scored (None: all), and the factors of their occurrences (None: 1)."""

    kept: Array | None
    factor: Floats | None

    @classmethod
    def of(cls, feature_set: FeatureSet, limits: Limits, sums: TokenCounts) -> Terms:
        kept = limits.kept(sums)
        return cls(kept, _idf(sums.texts, kept) if feature_set.weighting == "tfidf" else None)

    def within(self, sums: TokenCounts) -> TokenCounts:
        """Return the sums of the tokens that are scored."""
        return sums if self.kept is None else sums.take_codes(self.kept)

    def known(self, feature_set: FeatureSet, sums: TokenCounts) -> KnownTokens:
        """Return the scored tokens with their weighted counts."""
        within = self.within(sums)
        counts = within.counts if self.factor is None else _times(within.counts, self.factor)
        return KnownTokens(feature_set, within.coding, counts, self.factor)


class KnownTokens(NamedTuple):
    """The tokens that are scored, with their counts and factors."""

    feature_set: FeatureSet
    coding: Coding
    counts: Counts
    factor: Floats | None

    def rows(self, data: TextRows, kernels: Kernels) -> Sparse:
        """Return texts as rows of token weights."""
        rows = self.feature_set.rows(data, self.coding, kernels)
        return rows if self.factor is None else replace(rows, values=rows.values * self.factor[rows.indices])

    def tables(self, weights: Floats) -> TokenTables | None:
        """Return tables of ``weights``, ``(classes, codes)``, for scores that are sums over tokens; None for others."""
        if self.feature_set.weighting == "log":
            return None
        by_token = np.ascontiguousarray((weights if self.factor is None else weights * self.factor).T)
        return TokenTables(once=by_token) if self.feature_set.presence else TokenTables(each=by_token)


def _idf(texts: Counts, kept: Array | None) -> Floats:
    """Return log((1 + n) / (1 + df)) + 1 of each token among n texts."""
    held = as_dense(texts.total)[0]
    held = held if kept is None else held[kept]
    return np.asarray(np.log((1.0 + texts.rows[0]) / (1.0 + held)) + 1.0)


def _times(counts: Counts, factor: Floats) -> Counts:
    if isinstance(counts.total, np.ndarray):
        return replace(counts, total=counts.total * factor)
    scaled = counts.total.copy()
    scaled.data *= factor[scaled.indices]
    return replace(counts, total=scaled)
