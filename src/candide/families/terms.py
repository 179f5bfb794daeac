"""The tokens of a look that scores are made from, and what each occurrence of them weighs."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Sparse, TextRows
from ..kernels.tokenizer import TokenizerConfig
from ..kernels.tokens import TokenFeatures, TokenTables, TokenTally
from ..kernels.vocabulary import Coding
from ..lazy_dataclass import dataclass
from ..statistics import Counts
from ..statistics.base import as_dense
from ..statistics.token_counts import TokenCounts, heaviest
from .base import Batch

Weighting = Literal["count", "binary", "log", "tfidf"]
WEIGHTINGS: tuple[Weighting, ...] = ("count", "binary", "log", "tfidf")


class TokenLook(NamedTuple):
    """One look at texts: how they are cut, how tokens are coded, and what a token weighs that a text holds n times.

    That is n, 1 ("binary") or 1 + log n ("log"); with "tfidf" the sums are of n, and the scorer knows the rest.
    """

    recipe: TokenizerConfig
    coding: Coding
    weighting: Weighting = "count"
    fixed: bool = False  # the vocabulary is given, and does not grow
    name: str = "words"
    frequencies: bool = False  # texts that hold a token are counted too

    @property
    def presence(self) -> bool:
        """Whether a text counts a token once at most."""
        return self.weighting == "binary"

    def rows(self, data: TextRows, coding: Coding, kernels: Kernels) -> Sparse:
        """Texts as rows of what their tokens weigh; those without a code are passed over."""
        rows = kernels.count_tokens(data.texts, [TokenFeatures(self.recipe, coding)], grow=False)[0].rows
        return replace(self.weighed(rows), first_row=data.first_row)

    def weighed(self, rows: Sparse) -> Sparse:
        """Counts as they count."""
        if self.weighting == "log":
            return replace(rows, values=1.0 + np.log(rows.values))
        return replace(rows, values=np.ones(len(rows.values))) if self.presence else rows

    def sums(self, tally: TokenTally, rows: Floats) -> TokenCounts:
        """What is kept of a tally of texts with this weight by class."""
        counts = Counts(rows, tally.texts if self.presence else tally.occurrences, None, self.presence)
        held = Counts(rows, tally.texts, None, presence=True).together() if self.frequencies else None
        return TokenCounts(tally.coding, counts, self.fixed, held)

    def log_tally(self, batch: Batch, kernels: Kernels) -> TokenTally:
        """The tally of weights that are no counts, text by text."""
        found = kernels.count_tokens(batch.data.texts, [TokenFeatures(self.recipe, self.coding)], grow=not self.fixed)[
            0
        ]
        how = batch.classes, batch.weight, batch.n_classes
        total, texts = (kernels.tally(self.weighed(found.rows), *how, above).total for above in (None, 0.0))
        return TokenTally(found.coding, total, texts, np.asarray(total.sum(axis=1), dtype=np.float64).ravel())


class Limits(NamedTuple):
    """Which tokens are scored: those that so many texts hold at least, and of them the most frequent."""

    min_df: int = 1
    max_features: int | None = None

    def kept(self, sums: TokenCounts) -> Array | None:
        """Codes of the tokens within; None where no limit is set."""
        if self == NO_LIMITS:
            return None
        enough = np.arange(len(sums.coding))
        if self.min_df > 1:
            enough = np.flatnonzero(as_dense(sums.texts.total)[0] >= self.min_df)
        if self.max_features is None:
            return enough
        first = heaviest(
            sums.weight[enough], np.ones(len(enough)), self.max_features, lambda places: sums.names(enough[places])
        )
        return enough[first]


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Terms:
    """Which tokens are scored, and what their occurrences are multiplied with; None: all of them, and nothing."""

    kept: Array | None
    factor: Floats | None

    @classmethod
    def of(cls, look: TokenLook, limits: Limits, sums: TokenCounts) -> Terms:
        kept = limits.kept(sums)
        return cls(kept, _idf(sums.texts, kept) if look.weighting == "tfidf" else None)

    def within(self, sums: TokenCounts) -> TokenCounts:
        """The sums of the tokens that are scored."""
        return sums if self.kept is None else sums.take_codes(self.kept)

    def known(self, look: TokenLook, sums: TokenCounts) -> KnownTokens:
        """With what occurrences weigh."""
        within = self.within(sums)
        counts = within.counts if self.factor is None else _times(within.counts, self.factor)
        return KnownTokens(look, within.coding, counts, self.factor)


class KnownTokens(NamedTuple):
    """What scores are made from."""

    look: TokenLook
    coding: Coding
    counts: Counts
    factor: Floats | None

    def rows(self, data: TextRows, kernels: Kernels) -> Sparse:
        """Texts as rows of what their tokens weigh."""
        rows = self.look.rows(data, self.coding, kernels)
        return rows if self.factor is None else replace(rows, values=rows.values * self.factor[rows.indices])

    def tables(self, weights: Floats) -> TokenTables | None:
        """For scores with these weights, ``(classes, codes)``, where they are sums over tokens."""
        if self.look.weighting == "log":
            return None
        by_token = np.ascontiguousarray((weights if self.factor is None else weights * self.factor).T)
        return TokenTables(once=by_token) if self.look.presence else TokenTables(each=by_token)


def _idf(texts: Counts, kept: Array | None) -> Floats:
    """log((1 + n) / (1 + df)) + 1: how rare each token is among n texts."""
    held = as_dense(texts.total)[0]
    held = held if kept is None else held[kept]
    return np.asarray(np.log((1.0 + texts.rows[0]) / (1.0 + held)) + 1.0)


def _times(counts: Counts, factor: Floats) -> Counts:
    if isinstance(counts.total, np.ndarray):
        return replace(counts, total=counts.total * factor)
    scaled = counts.total.copy()
    scaled.data *= factor[scaled.indices]
    return replace(counts, total=scaled)
