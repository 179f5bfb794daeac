"""Texts: tokens cut and counted in one pass, for one or several looks at them, and a family for those of the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..encoding.tokens import Buckets, Look, TokenTables, TokenTally
from ..exceptions import ParameterError
from ..kernels import Kernels, default
from ..kernels.bands import KNOTS, BandTable
from ..kernels.base import LinearTable
from ..kernels.data import Array, Floats, Positions, Sparse, chunks
from ..kernels.text_rows import TextRows
from ..priors import Estimate
from ..statistics.texts import TextStatistics
from .base import Batch, Plain, Scores
from .terms import NO_LIMITS, KnownTokens, Limits, Terms, TokenLook

# Pseudo-count of a token in a band.
_BAND_ALPHA = 0.1
# Texts whose tokens are held at once.
_CHUNK = 1 << 13
# Of looks that are asked for; None: of all.
Names = tuple[str, ...] | None


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
    limits: Limits = NO_LIMITS  # of the tokens that the first look scores; others stay in the sums
    terms: Terms | None = None  # what the sums say of that, once settled
    dropped: tuple[str, ...] = ()  # names of looks that are no longer taken

    @property
    def weighting(self) -> str:
        return self.looks[0].weighting

    @property
    def frequencies(self) -> bool:
        """Whether texts that hold a token are counted beside what it weighs."""
        return self.looks[0].frequencies

    def without_looks(self, names: tuple[str, ...]) -> TextFamily:
        """Texts seen in fewer ways."""
        return replace(self, looks=tuple(look for look in self.looks if look.name not in names), dropped=names)

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
        rows, tallies = batch.row_weight(), self._tallies(batch, kernels)
        sums = [look.sums(tally, rows) for look, tally in zip(self.looks, tallies, strict=True)]
        # Tokens of texts without weight were not seen.
        unseen = batch.weight is not None and not batch.weight.all()
        return TextStatistics(rows, tuple(part.seen() if unseen else part for part in sums))

    def _tallies(self, batch: Batch, kernels: Kernels) -> list[TokenTally]:
        """Of all looks: in one pass, but for vocabularies that do not grow and weights that are no counts."""
        how = batch.data.texts, batch.classes, batch.weight, batch.n_classes
        found: dict[int, TokenTally] = {}
        for i, look in enumerate(self.looks):
            if look.weighting == "log":
                found[i] = look.log_tally(batch, kernels)
        for fixed in (False, True):
            places = [i for i, look in enumerate(self.looks) if look.fixed == fixed and i not in found]
            looks = [Look(self.looks[i].recipe, self.looks[i].coding) for i in places]
            found |= zip(places, kernels.tally_tokens(*how, looks, grow=not fixed), strict=True)
        return [found[i] for i in range(len(self.looks))]

    def terms_of(self, statistics: TextStatistics) -> Terms:
        """Which tokens of the first look are scored, and what they weigh; while rows are left out, that stays."""
        return Terms.of(self.looks[0], self.limits, statistics.looks[0]) if self.terms is None else self.terms

    def _known(self, statistics: TextStatistics) -> KnownTokens:
        return self.terms_of(statistics).known(self.looks[0], statistics.looks[0])

    def settle(self, statistics: TextStatistics) -> TextFamily:
        terms = self.terms_of(statistics)
        counts = terms.known(self.looks[0], statistics.looks[0]).counts
        return replace(self, inner=self.inner.settle(counts), terms=terms)

    def likelihood(self, statistics: TextStatistics) -> TextLikelihood:
        known = self._known(statistics)
        return TextLikelihood(statistics, self, known, self.inner.likelihood(known.counts))

    def left_out(
        self, batch: Batch, statistics: TextStatistics, likelihood: Any, offset: Floats, kernels: Kernels
    ) -> Scores:
        parts = []
        for begin, end, texts in chunks(batch.data, _CHUNK):
            weight = None if batch.weight is None else batch.weight[begin:end]
            part = Batch(likelihood.rows(texts, kernels), batch.classes[begin:end], weight, batch.n_classes)
            parts.append(self.inner.left_out(part, likelihood.known.counts, likelihood.inner, offset, kernels))
        return _end_to_end(parts)

    def with_alpha(self, alpha: float | Floats) -> TextFamily:
        return replace(self, inner=self.inner.with_alpha(alpha))

    def most_alpha(self, statistics: TextStatistics) -> float | Floats:
        most: float | Floats = self.inner.most_alpha(self._known(statistics).counts)
        return most

    def intervals(self, statistics: TextStatistics, level: float) -> Any:
        return self.inner.intervals(self._known(statistics).counts, level)

    def log_evidence(self, statistics: TextStatistics) -> Floats:
        return np.asarray(self.inner.log_evidence(self._known(statistics).counts))

    def total_log_evidence(self, statistics: TextStatistics) -> float:
        return float(self.inner.total_log_evidence(self._known(statistics).counts))

    def score_variance(self, data: TextRows, statistics: TextStatistics, kernels: Kernels) -> Floats:
        known = self._known(statistics)
        return np.asarray(self.inner.score_variance(known.rows(data, kernels), known.counts, kernels))

    def amount(self, data: TextRows) -> Floats:
        """Tokens of each text, known or not."""
        look = self.looks[0]
        found = default().count_tokens(data.texts, [Look(look.recipe, look.coding)], grow=True)[0].rows
        return np.asarray(found.matrix().sum(axis=1), dtype=np.float64).ravel()

    def n_parameters(self, statistics: TextStatistics) -> int:
        return int(self.inner.n_parameters(self._known(statistics).counts))


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
    known: KnownTokens
    inner: Any

    @property
    def is_limit(self) -> bool:
        return bool(self.inner.is_limit)

    def rows(self, data: TextRows, kernels: Kernels) -> Sparse:
        """Texts as rows of the first look."""
        return self.known.rows(data, kernels)

    @cached_property
    def _tables(self) -> TokenTables | None:
        """What each token adds, where the scores are sums over tokens and all fits into memory."""
        table = getattr(getattr(self.inner, "finite", None), "table", None)
        if not isinstance(table, LinearTable) or table.absent is not None:
            return None
        return self.known.tables(table.weights)

    def scores(self, data: TextRows, offset: Floats, kernels: Kernels) -> Floats:
        if self._tables is None:
            return self._by_rows(data, lambda rows: self.inner.scores(rows, offset, kernels), kernels)
        look = Look(self.known.look.recipe, self.known.coding)
        found = kernels.score_tokens(data.texts, [look], [self._tables])[0]
        scores = found.once if self.known.look.presence else found.each
        assert scores is not None
        scores += self.inner.finite.base + offset
        return scores

    # Bands of evidence, for views.

    @cached_property
    def _bands(self) -> dict[int, BandTable]:
        """Of looks that were asked for."""
        return {}

    def _band(self, place: int) -> BandTable:
        if place not in self._bands:
            total, complement = self.statistics.looks[place].counts.total, len(self.statistics.rows) > 2
            self._bands[place] = BandTable.of(total, _BAND_ALPHA, complement=complement)
        return self._bands[place]

    @property
    def band_names(self) -> list[BandName]:
        """Of the scores of ``band_scores``."""
        kinds = ("the class", "the others") if len(self.statistics.rows) > 2 else ("the class",)
        names = [look.name for look in self.family.looks]
        return [BandName(name, by, band) for name in names for by in kinds for band in range(len(KNOTS))]

    def band_scores(self, data: TextRows, kernels: Kernels, names: Names = None) -> Floats:
        """Scores of texts by every look, or by some, ``(views, rows, classes)``."""
        return self._each_look(data, kernels.band_scores, kernels, names)

    def band_left_out(self, batch: Batch, kernels: Kernels, names: Names = None) -> Floats:
        """The same of texts that the sums hold, each as if they did not."""
        own = batch.classes, batch.weight
        return self._each_look(batch.data, lambda rows, table: kernels.band_left_out(rows, *own, table), kernels, names)

    def band_fold_scores(self, batch: Batch, folds: Positions, kernels: Kernels, names: Names = None) -> Floats:
        """The same, each text as if the sums held none of its fold."""
        own = batch.classes, batch.weight, folds
        return self._each_look(
            batch.data, lambda rows, table: kernels.band_fold_scores(rows, *own, table), kernels, names
        )

    def _each_look(
        self, data: TextRows, score: Callable[[Sparse, BandTable], Floats], kernels: Kernels, names: Names
    ) -> Floats:
        places = [i for i, look in enumerate(self.family.looks) if names is None or look.name in names]
        looks = [Look(self.family.looks[i].recipe, self.statistics.looks[i].coding) for i in places]
        found = kernels.count_tokens(data.texts, looks, grow=False)
        return np.concatenate([score(one.rows, self._band(i)) for i, one in zip(places, found, strict=True)])

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
        coding = self.known.coding
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
