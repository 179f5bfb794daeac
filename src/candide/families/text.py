"""Texts: tokens cut and counted in one pass, for one or several looks at them, and a family for those of the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..encoding.tokens import Buckets, Coding, Look, Recipe, TokenTables
from ..exceptions import ParameterError
from ..kernels import Kernels, default
from ..kernels.bands import BandTable
from ..kernels.base import LinearTable
from ..kernels.data import Array, Floats, Positions, Sparse, chunks
from ..kernels.text_rows import TextRows
from ..priors import Estimate
from ..statistics import Counts
from ..statistics.texts import TextStatistics, TokenCounts
from .base import Batch, Plain, Scores

# Pseudo-count of a token in a band.
_BAND_ALPHA = 0.1
# Texts whose tokens are held at once.
_CHUNK = 1 << 13


class TokenLook(NamedTuple):
    """One look at texts: how they are cut, how tokens are coded, and whether a text counts a token once at most."""

    recipe: Recipe
    coding: Coding
    presence: bool = False
    fixed: bool = False  # the vocabulary is given, and does not grow
    name: str = "words"

    def rows(self, data: TextRows, coding: Coding, kernels: Kernels) -> Sparse:
        """Texts as rows of counts; tokens without a code are passed over."""
        rows = self.weighed(kernels.count_tokens(data.texts, [Look(self.recipe, coding)], grow=False)[0].rows)
        return replace(rows, first_row=data.first_row)

    def weighed(self, rows: Sparse) -> Sparse:
        """Counts as they count."""
        return replace(rows, values=np.ones(len(rows.values))) if self.presence else rows


class BandName(NamedTuple):
    """Which score of a text: the look, whose tokens (those of the class, or of all others), and the band."""

    look: str
    by: str
    band: int


@dataclass(frozen=True)
class TextFamily(Plain):
    """``inner`` is the family of the first look's tokens; other looks are for views of the same texts."""

    looks: tuple[TokenLook, ...]
    inner: Any

    @property
    def separate(self) -> bool:
        """Whether each token has parameters of its own."""
        return False

    @property
    def prior(self) -> Any:
        return self.inner.prior

    @property
    def estimate(self) -> Estimate:
        estimate: Estimate = self.inner.estimate
        return estimate

    def observe(self, batch: Batch, kernels: Kernels) -> TextStatistics:
        rows = batch.row_weight()
        how = batch.data.texts, batch.classes, batch.weight, batch.n_classes
        parts: dict[int, TokenCounts] = {}
        for fixed in (False, True):
            places = [i for i, look in enumerate(self.looks) if look.fixed == fixed]
            found = kernels.tally_tokens(
                *how, [Look(self.looks[i].recipe, self.looks[i].coding) for i in places], grow=not fixed
            )
            for i, tally in zip(places, found, strict=True):
                presence = self.looks[i].presence
                counts = Counts(rows, tally.texts if presence else tally.occurrences, None, presence)
                parts[i] = TokenCounts(tally.coding, counts, fixed)
        return TextStatistics(rows, tuple(parts[i] for i in range(len(self.looks))))

    def settle(self, statistics: TextStatistics) -> TextFamily:
        return replace(self, inner=self.inner.settle(statistics.looks[0].counts))

    def likelihood(self, statistics: TextStatistics) -> TextLikelihood:
        return TextLikelihood(statistics, self, self.inner.likelihood(statistics.looks[0].counts))

    def left_out(
        self, batch: Batch, statistics: TextStatistics, likelihood: Any, offset: Floats, kernels: Kernels
    ) -> Scores:
        parts = []
        for begin, end, texts in chunks(batch.data, _CHUNK):
            weight = None if batch.weight is None else batch.weight[begin:end]
            part = Batch(likelihood.rows(texts, kernels), batch.classes[begin:end], weight, batch.n_classes)
            counts = statistics.looks[0].counts
            parts.append(self.inner.left_out(part, counts, likelihood.inner, offset, kernels))
        return _end_to_end(parts)

    def with_alpha(self, alpha: float | Floats) -> TextFamily:
        return replace(self, inner=self.inner.with_alpha(alpha))

    def most_alpha(self, statistics: TextStatistics) -> float | Floats:
        most: float | Floats = self.inner.most_alpha(statistics.looks[0].counts)
        return most

    def intervals(self, statistics: TextStatistics, level: float) -> Any:
        return self.inner.intervals(statistics.looks[0].counts, level)

    def log_evidence(self, statistics: TextStatistics) -> Floats:
        return np.asarray(self.inner.log_evidence(statistics.looks[0].counts))

    def total_log_evidence(self, statistics: TextStatistics) -> float:
        return float(self.inner.total_log_evidence(statistics.looks[0].counts))

    def score_variance(self, data: TextRows, statistics: TextStatistics, kernels: Kernels) -> Floats:
        first = statistics.looks[0]
        return np.asarray(
            self.inner.score_variance(self.looks[0].rows(data, first.coding, kernels), first.counts, kernels)
        )

    def amount(self, data: TextRows) -> Floats:
        """Tokens of each text, known or not."""
        look = self.looks[0]
        found = default().count_tokens(data.texts, [Look(look.recipe, look.coding)], grow=True)[0].rows
        return np.asarray(found.matrix().sum(axis=1), dtype=np.float64).ravel()

    def n_parameters(self, statistics: TextStatistics) -> int:
        return int(self.inner.n_parameters(statistics.looks[0].counts))


def _end_to_end(parts: list[Scores]) -> Scores:
    """Stretches of rows, of which some may have limits."""
    if len(parts) == 1:
        return parts[0]
    n_limits = max(len(part.limits) for part in parts)
    limits = []
    for k in range(n_limits):
        pieces = [part.limits[k] if part.limits else np.zeros_like(part.finite) for part in parts]
        limits.append(np.concatenate(pieces))
    return Scores(np.concatenate([part.finite for part in parts]), tuple(limits))


@dataclass(frozen=True)
class TextLikelihood:
    """log p(tokens | class) of texts, by the likelihood of their tokens."""

    statistics: TextStatistics
    family: TextFamily
    inner: Any

    @property
    def is_limit(self) -> bool:
        return bool(self.inner.is_limit)

    def rows(self, data: TextRows, kernels: Kernels) -> Sparse:
        """Texts as rows of the first look."""
        return self.family.looks[0].rows(data, self.statistics.looks[0].coding, kernels)

    @cached_property
    def _tables(self) -> TokenTables | None:
        """What each token adds, where the scores are sums over tokens and all fits into memory."""
        table = getattr(getattr(self.inner, "finite", None), "table", None)
        if not isinstance(table, LinearTable) or table.absent is not None:
            return None
        by_token = np.ascontiguousarray(table.weights.T)
        return TokenTables(once=by_token) if self.family.looks[0].presence else TokenTables(each=by_token)

    def scores(self, data: TextRows, offset: Floats, kernels: Kernels) -> Floats:
        if self._tables is None:
            return self._by_rows(data, lambda rows: self.inner.scores(rows, offset, kernels), kernels)
        look = Look(self.family.looks[0].recipe, self.statistics.looks[0].coding)
        found = kernels.score_tokens(data.texts, [look], [self._tables])[0]
        scores = found.once if self.family.looks[0].presence else found.each
        assert scores is not None
        scores += self.inner.finite.base + offset
        return scores

    # Bands of evidence, for views.

    @cached_property
    def _bands(self) -> tuple[BandTable, ...]:
        complement = len(self.statistics.rows) > 2
        return tuple(
            BandTable.of(look.counts.total, _BAND_ALPHA, complement=complement) for look in self.statistics.looks
        )

    @property
    def band_names(self) -> list[BandName]:
        """Of the scores of ``band_scores``."""
        kinds = ("the class", "the others") if len(self.statistics.rows) > 2 else ("the class",)
        n_bands = self._bands[0].n_bands
        return [BandName(look.name, by, b) for look in self.family.looks for by in kinds for b in range(n_bands)]

    def band_scores(self, data: TextRows, kernels: Kernels) -> Floats:
        """Scores of texts by every look, ``(views, rows, classes)``."""
        return self._each_look(data, kernels.band_scores, kernels)

    def band_left_out(self, batch: Batch, kernels: Kernels) -> Floats:
        """The same of texts that the sums hold, each as if they did not."""
        own = batch.classes, batch.weight
        return self._each_look(batch.data, lambda rows, table: kernels.band_left_out(rows, *own, table), kernels)

    def band_fold_scores(self, batch: Batch, folds: Positions, kernels: Kernels) -> Floats:
        """The same, each text as if the sums held none of its fold."""
        own = batch.classes, batch.weight, folds
        return self._each_look(batch.data, lambda rows, table: kernels.band_fold_scores(rows, *own, table), kernels)

    def _each_look(self, data: TextRows, score: Callable[[Sparse, BandTable], Floats], kernels: Kernels) -> Floats:
        pairs = zip(self.family.looks, self.statistics.looks, strict=True)
        looks = [Look(look.recipe, sums.coding) for look, sums in pairs]
        found = kernels.count_tokens(data.texts, looks, grow=False)
        return np.concatenate([score(one.rows, table) for one, table in zip(found, self._bands, strict=True)])

    def limits(self, data: TextRows, kernels: Kernels) -> list[Floats]:
        if not self.is_limit:
            return []
        parts = [self.inner.limits(self.rows(texts, kernels), kernels) for _, _, texts in chunks(data, _CHUNK)]
        return [np.concatenate(limit) for limit in zip(*parts, strict=True)]

    def each(self, data: TextRows, kernels: Kernels) -> Scores:
        made: Scores = self.inner.each(self.rows(data, kernels), kernels)
        return made

    def shrunk(self, data: TextRows, kernels: Kernels) -> Floats:
        return self._by_rows(data, lambda rows: self.inner.shrunk(rows, kernels), kernels)

    def log_base(self, data: TextRows) -> Floats:
        return self._by_rows(data, self.inner.log_base, default())

    def _by_rows(self, data: TextRows, score: Any, kernels: Kernels) -> Floats:
        parts = [score(self.rows(texts, kernels)) for _, _, texts in chunks(data, _CHUNK)]
        return np.asarray(np.concatenate(parts))

    def sample(self, classes: Positions, rng: np.random.Generator) -> Array:
        """Texts of tokens in any order, with a space between them."""
        coding = self.statistics.looks[0].coding
        if isinstance(coding, Buckets):
            raise ParameterError("tokens that are hashed into buckets have no names to draw; keep a vocabulary")
        drawn, tokens = self.inner.sample(classes, rng), np.array(coding.tokens(), dtype=object)
        out = np.empty(len(classes), dtype=object)
        for i, counts in enumerate(drawn.astype(np.int64)):
            words = np.repeat(tokens, counts)
            rng.shuffle(words)
            out[i] = " ".join(words)
        return out

    def expected(self, data: Any, posterior: Floats) -> Any:
        raise ParameterError("a missing text cannot be filled in; impute is for tables")

    def parameters(self) -> dict[str, Array]:
        made: dict[str, Array] = self.inner.parameters()
        return made
