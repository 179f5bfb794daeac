"""Texts: tokens cut and counted in one pass, for one or several looks at them, and a family for those of the first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Floats, TextRows, chunks
from ..kernels.tokens import TokenFeatures, TokenTally, keeps_token_rows, tally_and_keep
from ..lazy_dataclass import dataclass
from ..priors import Estimate
from ..statistics.texts import TextStatistics
from .base import Batch, Plain, Scores
from .terms import NO_LIMITS, KnownTokens, Limits, Terms, TokenLook
from .text_likelihood import CHUNK, TextLikelihood


@dataclass(frozen=True)
class TextFamily(Plain):
    """``inner`` is the family of the first look's tokens; other looks are for views of the same texts."""

    looks: tuple[TokenLook, ...]
    inner: Any
    limits: Limits = NO_LIMITS  # of the tokens that the first look scores; others stay in the sums
    terms: Terms | None = None  # what the sums say of that, once settled
    dropped: tuple[str, ...] = ()  # names of looks that are no longer taken

    statistic: ClassVar[type[TextStatistics]] = TextStatistics

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
        how = batch.classes, batch.weight, batch.n_classes
        if self._looks_again and keeps_token_rows(batch.data):
            looks = [TokenFeatures(look.recipe, look.coding) for look in self.looks]
            return tally_and_keep(batch.data, *how, looks, kernels)
        found: dict[int, TokenTally] = {}
        for i, look in enumerate(self.looks):
            if look.weighting == "log":
                found[i] = look.log_tally(batch, kernels)
        for fixed in (False, True):
            places = [i for i, look in enumerate(self.looks) if look.fixed == fixed and i not in found]
            looks = [TokenFeatures(self.looks[i].recipe, self.looks[i].coding) for i in places]
            found |= zip(places, kernels.tally_tokens(batch.data.texts, *how, looks, grow=not fixed), strict=True)
        return [found[i] for i in range(len(self.looks))]

    @property
    def _looks_again(self) -> bool:
        """Whether views are made of all looks, by the texts that hold a token."""
        return len(self.looks) > 1 and all(look.presence and not look.fixed for look in self.looks)

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
        return TextLikelihood(statistics, self, known)

    def left_out(
        self, batch: Batch, statistics: TextStatistics, likelihood: Any, offset: Floats, kernels: Kernels
    ) -> Scores:
        parts = []
        for begin, end, texts in chunks(batch.data, CHUNK):
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
        counts = self._known(statistics).counts
        # Where no token takes part there is nothing to explain.
        return float(self.inner.total_log_evidence(counts)) if counts.total.shape[1] else 0.0

    def score_variance(self, data: TextRows, statistics: TextStatistics, kernels: Kernels) -> Floats:
        known = self._known(statistics)
        return np.asarray(self.inner.score_variance(known.rows(data, kernels), known.counts, kernels))

    def amount(self, data: TextRows) -> Floats:
        """Tokens of each text, known or not."""
        look = self.looks[0]
        found = Kernels().count_tokens(data.texts, [TokenFeatures(look.recipe, look.coding)], grow=True)[0].rows
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
