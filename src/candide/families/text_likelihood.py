"""The likelihood of texts from sums of tokens, and scores of token bins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions, Sparse, TextRows, chunks
from ..kernels.tables import LinearTable
from ..kernels.token_bins import KNOTS, TokenBins, distinct, renumbered, some_columns
from ..kernels.tokens import TokenFeatures, TokenTables
from ..kernels.vocabulary import Buckets, SomeBuckets
from ..lazy import dataclass
from ..statistics.kept_rows import row_bytes
from ..statistics.texts import TextStatistics
from .base import Batch, Scores
from .feature_sets import KnownTokens
from .score_terms import Parts

if TYPE_CHECKING:
    from .text import TextFamily

# Pseudo-count of a token in a bin.
_BIN_ALPHA = 0.1
# Number of texts whose tokens are in memory at once.
CHUNK = 1 << 13
# Up to this many bytes of text, a call counts as small.
_SMALL_QUERY_BYTES = 1 << 16
# Only the needed tokens are tabulated if the sums contain more than this many times as many.
_MIN_RATIO = 4
# Names of the requested feature sets; None for all.
Names = tuple[str, ...] | None


class TokenBinName(NamedTuple):
    """Name of a score of a text: feature set, counts (of the class, or of all other classes), and bin."""

    feature_set: str
    by: str
    bin: int


class TokenBinParts(NamedTuple):
    """Contributions of tokens to the scores of a text, ``(views, tokens, classes)``, and the tokens' positions."""

    known: Array
    scores: Floats


class _FeatureBins(NamedTuple):
    """The tokenizer and coding of one feature set, and the table of its token bins."""

    feature_set: TokenFeatures
    table: TokenBins

    def tokens(self, codes: Array) -> Positions:
        """Return the positions in the table of codes of the sums, -1 if not in the table."""
        coding = self.feature_set.coding
        if not isinstance(coding, SomeBuckets):
            return np.asarray(self.table.place[codes])
        at = np.minimum(np.searchsorted(coding.buckets, codes), max(0, len(coding.buckets) - 1))
        held = coding.buckets[at] == codes if len(coding.buckets) else np.zeros(len(codes), dtype=bool)
        return np.where(held, self.table.place[at] if len(coding.buckets) else -1, -1).astype(np.int32)

    def under_sums(self) -> TokenBins:
        """Return the table for rows coded as the sums are, with codes of all buckets."""
        coding = self.feature_set.coding
        if not isinstance(coding, SomeBuckets):
            return self.table
        place = np.full(1 << coding.bits, -1, dtype=np.int32)
        place[coding.buckets] = self.table.place
        return replace(self.table, place=place)


@dataclass(frozen=True)
class TextLikelihood:
    """log p(tokens | class) of texts, by the likelihood of their tokens."""

    statistics: TextStatistics
    family: TextFamily
    known: KnownTokens

    @cached_property
    def inner(self) -> Any:
        """Likelihood of the tokens of the first feature set; not computed if only views are used."""
        return self.family.inner.likelihood(self.known.counts)

    @property
    def is_limit(self) -> bool:
        return bool(self.inner.is_limit)

    def rows(self, data: TextRows, kernels: Kernels) -> Sparse:
        """Return texts as rows of the first feature set."""
        return self.known.rows(data, kernels)

    @cached_property
    def _tables(self) -> TokenTables | None:
        """Contribution of each token, if scores are sums over tokens and all of them fit in memory."""
        table = getattr(getattr(self.inner, "finite", None), "table", None)
        if not isinstance(table, LinearTable) or table.absent is not None:
            return None
        return self.known.tables(table.weights)

    def scores(self, data: TextRows, offset: Floats, kernels: Kernels) -> Floats:
        if self._tables is None:
            return self._by_rows(data, lambda rows: self.inner.scores(rows, offset, kernels), kernels)
        feature_set = TokenFeatures(self.known.feature_set.tokenizer, self.known.coding)
        found = kernels.score_tokens(data.texts, [feature_set], [self._tables])[0]
        scores = found.once if self.known.feature_set.presence else found.each
        assert scores is not None
        scores += self.inner.finite.base + offset
        return scores

    # Token bins, for views.

    @cached_property
    def _bins(self) -> dict[int, _FeatureBins]:
        """Cached bins of feature sets, by position."""
        return {}

    def _bin(self, place: int) -> _FeatureBins:
        if place not in self._bins:
            sums, complement = self.statistics.feature_sets[place], len(self.statistics.rows) > 2
            coding, total = sums.coding, sums.counts.cells
            if isinstance(coding, Buckets):  # most of which are empty
                codes, table = TokenBins.of_seen(total, _BIN_ALPHA, complement=complement)
                coding = SomeBuckets(coding.bits, buckets=codes)
            else:
                table = TokenBins.of(total, _BIN_ALPHA, complement=complement)
            self._bins[place] = _FeatureBins(TokenFeatures(self.family.feature_sets[place].tokenizer, coding), table)
        return self._bins[place]

    def token_bins(self, place: int) -> tuple[Positions, TokenBins]:
        """Return the codes of a feature set that occur in some class, ascending, and their table."""
        sums, complement = self.statistics.feature_sets[place], len(self.statistics.rows) > 2
        return TokenBins.of_seen(sums.counts.cells, _BIN_ALPHA, complement=complement)

    def token_scores(self, feature_set: str, rows: Sparse, kernels: Kernels) -> Floats:
        """Return scores by the feature set of this name, for rows coded as its sums are."""
        place = [one.name for one in self.family.feature_sets].index(feature_set)
        return kernels.token_bin_scores(*self._bins_of_few(place, rows))

    def _bins_of_few(self, place: int, rows: Sparse) -> tuple[Sparse, TokenBins]:
        """Tabulate only the tokens of these texts if they are few: the whole table takes more memory than the sums."""
        total, codes = self.statistics.feature_sets[place].counts.cells, distinct(rows.indices, rows.n_columns)
        if place in self._bins or _MIN_RATIO * len(codes) > total.size:
            return rows, self._bin(place).under_sums()
        some = TokenBins.of_some(total, codes, _BIN_ALPHA, complement=len(self.statistics.rows) > 2)
        return renumbered(rows, codes), some

    @property
    def bin_names(self) -> list[TokenBinName]:
        """Names of the scores of ``token_bin_scores``, in order."""
        kinds = ("the class", "the others") if len(self.statistics.rows) > 2 else ("the class",)
        names = [feature_set.name for feature_set in self.family.feature_sets]
        return [TokenBinName(name, by, bin_) for name in names for by in kinds for bin_ in range(len(KNOTS))]

    def token_bin_scores(self, data: TextRows, kernels: Kernels, names: Names = None) -> Floats:
        """Return the scores of texts by all or some feature sets, ``(views, rows, classes)``."""
        return self._each_feature_set(
            data, kernels.token_bin_scores, kernels, names, few=self._is_small_first_query(data)
        )

    def bin_parts(self, feature_set: str, codes: Array) -> TokenBinParts:
        """Return the contributions of the distinct tokens of one text, by their codes in a feature set."""
        place = [one.name for one in self.family.feature_sets].index(feature_set)
        if place in self._bins:
            table, tokens = self._bins[place].table, self._bins[place].tokens(codes)
        else:
            table = self._table_of(place, codes)
            tokens = table.place
        known = np.flatnonzero(tokens >= 0)
        return TokenBinParts(known, table.token_views(tokens[known]))

    def _table_of(self, place: int, codes: Array) -> TokenBins:
        """Return the table of some tokens, numbered in the given order."""
        sums = self.statistics.feature_sets[place].counts.cells
        if place not in self._totals:
            whole = TokenBins.of_some(sums, np.zeros(0, dtype=np.int64), _BIN_ALPHA)
            self._totals[place] = whole.size, whole.n_tokens
        size, n_tokens = self._totals[place]
        some = TokenBins.of(some_columns(sums, codes), _BIN_ALPHA, complement=len(self.statistics.rows) > 2)
        return replace(some, size=size, n_tokens=n_tokens)

    @cached_property
    def _totals(self) -> dict[int, tuple[Floats, int]]:
        """Cache of sums over all tokens and numbers of tokens, by position of the feature set."""
        return {}

    def _is_small_first_query(self, data: TextRows) -> bool:
        """Return whether this is the first query and small, so that it is not worth computing tables of all tokens."""
        sizes = self._query_sizes
        self._query_sizes.append(data.n_rows)
        return not sizes[:-1] and not self._bins and row_bytes(data).sum() <= _SMALL_QUERY_BYTES

    @cached_property
    def _query_sizes(self) -> list[int]:
        """The number of texts of each query."""
        return []

    def token_bin_left_out(self, batch: Batch, kernels: Kernels, names: Names = None) -> Floats:
        """Return the leave-one-out scores of training texts."""
        own = batch.classes, batch.weight
        return self._each_feature_set(
            batch.data, lambda rows, table: kernels.token_bin_left_out(rows, *own, table), kernels, names
        )

    def token_bin_fold_scores(self, batch: Batch, folds: Positions, kernels: Kernels, names: Names = None) -> Floats:
        """Return the scores of training texts from sums without their fold."""
        own = batch.classes, batch.weight, folds
        return self._each_feature_set(
            batch.data, lambda rows, table: kernels.token_bin_fold_scores(rows, *own, table), kernels, names, few=True
        )

    def _each_feature_set(
        self, data: TextRows, score: Callable[[Sparse, TokenBins], Floats], kernels: Kernels, names: Names,
        *, few: bool = False,
    ) -> Floats:  # fmt: skip
        places = [
            i for i, feature_set in enumerate(self.family.feature_sets) if names is None or feature_set.name in names
        ]
        if few and not data.counted:
            return self._each_of_few(data, score, kernels, places)
        bins = [self._bin(i) for i in places]
        feature_sets = [bin_.feature_set for bin_ in bins]
        rows = data.counted_by(feature_sets)
        if rows is None:
            rows = [found.rows for found in kernels.count_tokens(data.texts, feature_sets, grow=False)]
        return np.concatenate([score(one, bin_.table) for one, bin_ in zip(rows, bins, strict=True)])

    def _each_of_few(
        self, data: TextRows, score: Callable[[Sparse, TokenBins], Floats], kernels: Kernels, places: list[int]
    ) -> Floats:
        """Score one feature set after the other to save memory: the tokens of all take many times that of the texts."""

        def of_feature_set(place: int) -> Floats:
            feature_set = TokenFeatures(
                self.family.feature_sets[place].tokenizer, self.statistics.feature_sets[place].coding
            )
            rows = kernels.count_tokens(data.texts, [feature_set], grow=False)[0].rows
            return score(*self._bins_of_few(place, rows))

        return np.concatenate([of_feature_set(place) for place in places])

    def limits(self, data: TextRows, kernels: Kernels) -> list[Floats]:
        if not self.is_limit:
            return []
        parts = [self.inner.limits(self.rows(texts, kernels), kernels) for _, _, texts in chunks(data, CHUNK)]
        return [np.concatenate(limit) for limit in zip(*parts, strict=True)]

    def each(self, data: TextRows, kernels: Kernels) -> Scores:
        made: Scores = self.inner.each(self.rows(data, kernels), kernels)
        return made

    def parts(self, data: TextRows, kernels: Kernels) -> Parts:
        """Return parameters by token; columns are the codes of known tokens."""
        made: Parts = self.inner.parts(self.rows(data, kernels), kernels)
        return made

    def shrunk(self, data: TextRows, kernels: Kernels) -> Floats:
        return self._by_rows(data, lambda rows: self.inner.shrunk(rows, kernels), kernels)

    def log_base(self, data: TextRows) -> Floats:
        return self._by_rows(data, self.inner.log_base, Kernels())

    def _by_rows(self, data: TextRows, score: Any, kernels: Kernels) -> Floats:
        parts = [score(self.rows(texts, kernels)) for _, _, texts in chunks(data, CHUNK)]
        return np.asarray(np.concatenate(parts))

    def sample(self, classes: Positions, rng: np.random.Generator) -> Array:
        """Return texts of tokens in random order, separated by spaces."""
        coding = self.known.coding
        if isinstance(coding, Buckets):
            raise ParameterError(
                "cannot sample texts, because the names of hashed tokens are not stored; train with buckets=None"
            )
        drawn, tokens = self.inner.sample(classes, rng), np.array(coding.tokens(), dtype=object)
        out = np.empty(len(classes), dtype=object)
        for i, counts in enumerate(drawn.astype(np.int64)):
            words = np.repeat(tokens, counts)
            rng.shuffle(words)
            out[i] = " ".join(words)
        return out

    def expected(self, data: Any, posterior: Floats) -> Any:
        raise ParameterError("missing texts cannot be imputed; impute only works on tables")

    def parameters(self) -> dict[str, Array]:
        made: dict[str, Array] = self.inner.parameters()
        return made
