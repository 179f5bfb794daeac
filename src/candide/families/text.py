"""The family of texts: one or several feature sets counted in one pass, with a likelihood of the first.

Unlabeled texts are added to the sums by predicted class probabilities, or by the class frequencies of each token.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Floats, Sparse, TextRows, chunks
from ..kernels.token_bins import distinct
from ..kernels.tokens import TokenTally, keeps_token_rows, tally_and_keep
from ..lazy import dataclass
from ..priors import Estimate
from ..statistics.texts import TextStatistics, TokenCounts
from .base import Batch, Plain, Scores
from .feature_sets import NO_LIMITS, FeatureSet, KnownTokens, Limits, Terms
from .text_likelihood import CHUNK, TextLikelihood


@dataclass(frozen=True)
class TextFamily(Plain):
    """``inner`` is the family of the tokens of the first feature set; other feature sets are used by views."""

    feature_sets: tuple[FeatureSet, ...]
    inner: Any
    limits: Limits = NO_LIMITS  # which tokens of the first feature set are scored; the others stay in the sums
    terms: Terms | None = None  # set when the family is resolved
    dropped: tuple[str, ...] = ()  # names of feature sets that are no longer counted

    statistic: ClassVar[type[TextStatistics]] = TextStatistics

    @property
    def weighting(self) -> str:
        return self.feature_sets[0].weighting

    @property
    def frequencies(self) -> bool:
        """Whether the texts that contain a token are counted in addition to its weights."""
        return self.feature_sets[0].frequencies

    def without_feature_sets(self, names: tuple[str, ...]) -> TextFamily:
        """Return the family without some feature sets."""
        return replace(
            self,
            feature_sets=tuple(feature_set for feature_set in self.feature_sets if feature_set.name not in names),
            dropped=names,
        )

    @property
    def separate(self) -> bool:
        """Whether each token has separate parameters."""
        return False

    @property
    def prior(self) -> Any:
        return self.inner.prior

    @property
    def estimate(self) -> Estimate:
        estimate: Estimate = self.inner.estimate
        return estimate

    def observe(self, batch: Batch, kernels: Kernels) -> TextStatistics:
        rows, tallies = batch.row_weight(), self._tallies(batch, kernels)
        sums = [feature_set.sums(tally, rows) for feature_set, tally in zip(self.feature_sets, tallies, strict=True)]
        # Tokens of texts of weight 0 count as unseen.
        unseen = batch.weight is not None and not batch.weight.all()
        return TextStatistics(rows, tuple(part.seen() if unseen else part for part in sums))

    def _tallies(self, batch: Batch, kernels: Kernels) -> list[TokenTally]:
        """Count all feature sets in one pass, except those with a fixed vocabulary or weights that are not counts."""
        how = batch.classes, batch.weight, batch.n_classes
        if self._shares_token_rows and keeps_token_rows(batch.data):
            return tally_and_keep(batch.data, *how, [own.features for own in self.feature_sets], kernels)
        found: dict[int, TokenTally] = {}
        for i, feature_set in enumerate(self.feature_sets):
            if feature_set.weighting == "log":
                found[i] = feature_set.log_tally(batch, kernels)
        for fixed in (False, True):
            places = [
                i for i, feature_set in enumerate(self.feature_sets) if feature_set.fixed == fixed and i not in found
            ]
            features = [self.feature_sets[i].features for i in places]
            tallies = kernels.tally_tokens(batch.data.texts, *how, features, grow=not fixed)
            found |= zip(places, tallies, strict=True)
        return [found[i] for i in range(len(self.feature_sets))]

    @property
    def _shares_token_rows(self) -> bool:
        """Whether views need the token rows of all feature sets again."""
        return len(self.feature_sets) > 1 and all(
            feature_set.presence and not feature_set.fixed for feature_set in self.feature_sets
        )

    def terms_of(self, statistics: TextStatistics) -> Terms:
        """Return the scored tokens of the first feature set, and their factors, which stay fixed in leave-one-out."""
        return self.terms or Terms.of(self.feature_sets[0], self.limits, statistics.feature_sets[0])

    def _known(self, statistics: TextStatistics) -> KnownTokens:
        return self.terms_of(statistics).known(self.feature_sets[0], statistics.feature_sets[0])

    def resolve(self, statistics: TextStatistics) -> TextFamily:
        terms = self.terms_of(statistics)
        counts = terms.known(self.feature_sets[0], statistics.feature_sets[0]).counts
        return replace(self, inner=self.inner.resolve(counts), terms=terms)

    def likelihood(self, statistics: TextStatistics) -> TextLikelihood:
        return TextLikelihood(statistics, self, self._known(statistics))

    def left_out(
        self, batch: Batch, statistics: TextStatistics, likelihood: Any, offset: Floats, kernels: Kernels
    ) -> Scores:
        parts = []
        for begin, end, texts in chunks(batch.data, CHUNK):
            part = batch.rows(begin, end, likelihood.rows(texts, kernels))
            parts.append(self.inner.left_out(part, likelihood.known.counts, likelihood.inner, offset, kernels))
        return _end_to_end(parts)

    def with_alpha(self, alpha: float | Floats) -> TextFamily:
        return replace(self, inner=self.inner.with_alpha(alpha))

    def most_alpha(self, statistics: TextStatistics) -> float | Floats:
        most: float | Floats = self.inner.most_alpha(self._known(statistics).counts)
        return most

    def intervals(self, statistics: TextStatistics, level: float) -> Any:
        return self.inner.intervals(self._known(statistics).counts, level)

    def log_marginal_likelihood(self, statistics: TextStatistics) -> Floats:
        return np.asarray(self.inner.log_marginal_likelihood(self._known(statistics).counts))

    def total_log_marginal_likelihood(self, statistics: TextStatistics) -> float:
        counts = self._known(statistics).counts
        # Without any scored token, the likelihood is constant.
        return float(self.inner.total_log_marginal_likelihood(counts)) if counts.total.shape[1] else 0.0

    def score_variance(self, data: TextRows, statistics: TextStatistics, kernels: Kernels) -> Floats:
        known = self._known(statistics)
        return np.asarray(self.inner.score_variance(known.rows(data, kernels), known.counts, kernels))

    def amount(self, data: TextRows) -> Floats:
        """Return the number of tokens of each text, including unknown ones."""
        found = Kernels().count_tokens(data.texts, [self.feature_sets[0].features], grow=True)[0].rows
        return np.asarray(found.matrix().sum(axis=1), dtype=np.float64).ravel()

    def n_parameters(self, statistics: TextStatistics) -> int:
        return int(self.inner.n_parameters(self._known(statistics).counts))


def _end_to_end(parts: list[Scores]) -> Scores:
    """Concatenate scores of consecutive rows, of which some may have limits."""
    if len(parts) == 1:
        return parts[0]
    n_limits = max(len(part.limits) for part in parts)
    limits = []
    for k in range(n_limits):
        pieces = [part.limits[k] if part.limits else np.zeros_like(part.finite) for part in parts]
        limits.append(np.concatenate(pieces))
    return Scores(np.concatenate([part.finite for part in parts]), tuple(limits))


# Number of texts whose tokens are in memory at once.
_CHUNK = 1 << 14
# Smaller probabilities of a class are treated as 0; otherwise all tokens would have sums in all classes.
_LEAST_SHARE = 1e-3


def shared_out(family: TextFamily, data: TextRows, share: Floats, kernels: Kernels) -> TextStatistics:
    """Return counts of texts divided among the classes by ``share``, ``(texts, classes)``, weights included."""
    share = np.where(share < _LEAST_SHARE * share.sum(axis=1, keepdims=True), 0.0, share)
    parts = [_shared_out(family, part, share[begin:end], kernels) for begin, end, part in chunks(data, _CHUNK)]
    total = parts[0]
    for part in parts[1:]:
        total = total.merge(part)
    return total


def _shared_out(family: TextFamily, data: TextRows, share: Floats, kernels: Kernels) -> TextStatistics:
    rows = share.sum(axis=0)
    return TextStatistics(
        rows, tuple(_sums(feature_set, data, share, rows, kernels) for feature_set in family.feature_sets)
    )


def _sums(feature_set: FeatureSet, data: TextRows, share: Floats, rows: Floats, kernels: Kernels) -> TokenCounts:
    found = kernels.count_tokens(data.texts, [feature_set.features], grow=not feature_set.fixed)[0]
    total = _by_class(feature_set.weighed(found.rows), share)
    texts = total
    if feature_set.frequencies:
        texts = _by_class(replace(found.rows, values=np.ones(len(found.rows.values))), share)
    return feature_set.sums(TokenTally(found.coding, total, texts), rows)


def _by_class(cells: Sparse, share: Floats) -> Any:
    """Return sparse sums, ``(classes, codes)``, computed for the codes that occur, which are few of all buckets."""
    from scipy.sparse import csr_array

    codes, matrix = distinct(cells.indices, cells.n_columns), cells.matrix()
    places = np.searchsorted(codes, matrix.indices)
    few = csr_array((matrix.data, places, matrix.indptr), shape=(matrix.shape[0], len(codes)))
    sums = csr_array((few.T @ share).T)
    return csr_array((sums.data, codes[sums.indices], sums.indptr), shape=(share.shape[1], cells.n_columns))


def token_by_token(
    family: TextFamily, statistics: TextStatistics, data: TextRows, weight: Floats | None, kernels: Kernels
) -> TextStatistics:
    """Distribute each token over the classes in proportion to its labeled counts; class frequencies stay the same."""
    batch = Batch(data, np.zeros(data.n_rows, dtype=np.int32), weight, 1)
    pairs = zip(family.feature_sets, statistics.feature_sets, strict=True)
    known = tuple(feature_set._replace(coding=sums.coding, fixed=True) for feature_set, sums in pairs)
    unlabeled = replace(family, feature_sets=known).observe(batch, kernels)
    rows = statistics.rows * unlabeled.rows.sum() / statistics.rows.sum()
    both = zip(statistics.feature_sets, unlabeled.feature_sets, strict=True)
    return TextStatistics(rows, tuple(_in_proportion(mine, theirs, rows) for mine, theirs in both))


def _in_proportion(mine: TokenCounts, theirs: TokenCounts, rows: Floats) -> TokenCounts:
    labeled, more = mine.weight, theirs.weight
    factor = np.divide(more, labeled, out=np.zeros_like(more), where=labeled > 0)
    total = mine.counts.total
    added: Any = total * factor if isinstance(total, np.ndarray) else total.multiply(factor[None, :]).tocsr()
    if mine.counts.presence:
        # The number of texts with a token is at most the number of texts.
        added = _at_most(added, total, mine.counts.rows + rows)
    return replace(theirs, counts=replace(mine.counts, rows=rows, total=added), fixed=mine.fixed)


def _at_most(added: Any, before: Any, rows: Floats) -> Any:
    if isinstance(added, np.ndarray):
        return np.minimum(added, rows[:, None] - before)
    remaining = np.repeat(rows, np.diff(before.indptr)) - before.data
    added.data = np.minimum(added.data, remaining)
    return added
