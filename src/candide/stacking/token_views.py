"""Texts seen in several ways at once: tokens of several kinds, in bands by how sure it is that they tell something."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..families import Batch
from ..families.text_likelihood import BandName, TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions, Sparse, TextRows, chunks
from ..kernels.threads import single_threaded_blas
from ..lazy_dataclass import dataclass
from .folds import folds_of
from .training_rows import few_rows, row_weight
from .weights import Mixture, fit_mixture

if TYPE_CHECKING:
    from .training_rows import Seen

_RIDGE = 0.5
# Texts scored at once: their scores under all views are kept until they are weighed.
_CHUNK = 1 << 11
# Texts that weights are fitted on; fewer of many classes, as each tells something of all of them.
_MOST_ROWS, _ENOUGH_ROWS, _MOST_CELLS = 8_000, 2_000, 400_000
_FOLDS = 10
_MOST_BYTES = 1 << 21
# Of weights that are not fitted: scores are not cut off.
_MOST_SCORE = 1e6


@dataclass(frozen=True)
class TextBlended:
    """The weights of the bands of every look; the bands themselves follow the sums of tokens as they grow."""

    names: list[BandName]
    mixture: Mixture

    @classmethod
    def unweighted(cls, likelihood: TextLikelihood) -> TextBlended:
        """Without weights yet."""
        n_classes = len(likelihood.statistics.rows)
        none = Mixture(np.zeros(0), np.zeros(0), np.zeros((0, n_classes)), np.zeros(n_classes))
        return cls(likelihood.band_names, none)

    @classmethod
    def unjudged(cls, likelihood: TextLikelihood) -> TextBlended:
        """Where there is no text to judge by: naive Bayes by the first look, over the root of how many tokens."""
        names, rows = likelihood.band_names, likelihood.statistics.rows
        heard = [float(name.look == names[0].look and name.by == names[0].by) for name in names]
        weight = np.repeat(np.array(heard)[:, None], len(rows), axis=1)
        bias = np.log(np.maximum(rows, 0.5) / max(rows.sum(), 0.5))
        return cls(names, Mixture(np.ones(len(names)), np.full(len(names), _MOST_SCORE), weight, bias))

    @property
    def n_views(self) -> int:
        return len(self.names)

    @property
    def looks(self) -> tuple[str, ...]:
        """Whose bands these are."""
        return tuple(dict.fromkeys(name.look for name in self.names))

    def without_idle(self) -> TextBlended:
        """Without looks whose bands have no weight: their tokens need not even be cut. One look stays."""
        weighed = {name.look for name, weight in zip(self.names, self.mixture.weight, strict=True) if weight.any()}
        heard = weighed or {self.names[0].look}
        views = [view for view, name in enumerate(self.names) if name.look in heard]
        return replace(self, names=[self.names[view] for view in views], mixture=self.mixture.take(views))

    def scores(self, likelihood: TextLikelihood, data: TextRows, kernels: Kernels) -> Floats:
        """Of texts under every class, ``(rows, classes)``."""
        out, heard = np.empty((data.n_rows, len(likelihood.statistics.rows))), self.without_idle()
        for begin, end, part in chunks(data, _CHUNK):
            out[begin:end] = heard.mixture.scores(likelihood.token_bin_scores(part, kernels, heard.looks))
        return out

    def pull(self, likelihood: TextLikelihood, look: str, rows: Sparse, kernels: Kernels) -> Floats:
        """What the tokens of one look, given as rows of one each, say alone; in a text, over the root of how many."""
        views = [view for view, name in enumerate(self.names) if name.look == look]
        scores = likelihood.token_scores(look, rows, kernels)
        mixture = self.mixture.take(views)
        # A text of one token has its score divided by the root of two.
        return np.asarray(np.sqrt(2.0) * (mixture.scores(scores) - mixture.bias))

    def left_out_views(self, likelihood: TextLikelihood, batch: Batch, share: Floats, kernels: Kernels) -> Floats:
        """Left-out scores of texts under all views, ``(views, rows, classes)``; a text leaves with its own weight."""
        return likelihood.token_bin_left_out(batch, kernels, self.looks)

    def few(self, seen: Seen) -> Array:
        """The rows that weights are fitted on."""
        most = min(_MOST_ROWS, max(_ENOUGH_ROWS, _MOST_CELLS // seen.batch.n_classes))
        return few_rows(seen, self.n_views * seen.batch.n_classes, most)

    def judged(self, likelihood: TextLikelihood, seen: Seen, kernels: Kernels) -> Floats:
        """Scores of texts under all views, by sums without their fold.

        With one text alone left out, its own tokens change bands, always against its class, and weights would learn to
        tell from that what the class is. Copies of a text, which are one row, leave together.
        """
        folds, batch = folds_of(seen.batch.classes, seen.blocks, _FOLDS), seen.of_all_copies()
        folds = _numbered(folds)
        groups = _groups(folds, seen.batch.data)
        if len(groups) == 1:
            scores = likelihood.token_bin_fold_scores(batch, folds, kernels, self.looks)
        else:
            scores = np.empty((self.n_views, len(folds), seen.batch.n_classes))
            for rows in groups:
                of_some = _numbered(folds[rows])
                scores[:, rows] = likelihood.token_bin_fold_scores(batch.take(rows), of_some, kernels, self.looks)
        # Nobody else needs them, and they are many times as large as the texts.
        seen.batch.data.counted.clear()
        return scores

    def without_fold(self, likelihood: TextLikelihood, fold: Seen, kernels: Kernels) -> Floats:
        """The same of one fold, without all of it."""
        together = np.zeros(fold.batch.data.n_rows, dtype=np.int32)
        return likelihood.token_bin_fold_scores(fold.of_all_copies(), together, kernels, self.looks)

    def left_out(self, scores: Floats) -> Floats:
        """Of texts from their left-out scores under all views."""
        return self.mixture.scores(scores)

    @single_threaded_blas()
    def weighed(self, scores: Floats, seen: Seen) -> TextBlended:
        """With weights from left-out scores."""
        weight, n_views = seen.case_weight / row_weight(seen), len(scores)
        how = weight, np.full(n_views, _RIDGE), np.zeros(n_views)
        mixture = fit_mixture(scores, seen.batch.classes, *how, by_class=False, n_parts=1 + self.names[-1].band)
        return replace(self, mixture=mixture)


def _numbered(folds: Positions) -> Positions:
    """Without numbers that no row has."""
    return np.asarray(np.unique(folds, return_inverse=True)[1].astype(folds.dtype))


def _groups(folds: Array, texts: TextRows) -> list[Array]:
    """Rows of as many folds as are scored at once: their tokens, if not there yet, take many times their room."""
    if texts.counted:
        return [np.arange(texts.n_rows)]
    sizes = np.bincount(folds, texts.sizes())
    group = (np.cumsum(sizes) - sizes) // _MOST_BYTES
    return [np.flatnonzero(np.isin(folds, np.flatnonzero(group == one))) for one in np.unique(group)]


def fit_text_blended(likelihood: TextLikelihood, seen: Seen, kernels: Kernels) -> tuple[TextBlended, Floats, Array]:
    """The weights, the left-out scores these were fitted on, and of which of the rows."""
    if not len(seen.case_weight):
        blended = TextBlended.unjudged(likelihood)
        return blended, np.zeros((blended.n_views, 0, seen.batch.n_classes)), np.arange(0)
    blended = TextBlended.unweighted(likelihood)
    rows = blended.few(seen)
    some = seen if len(rows) == len(seen.case_weight) else seen.take(rows, seen.multiplicity[rows])
    scores = blended.judged(likelihood, some, kernels)
    seen.batch.data.counted.clear()
    return blended.weighed(scores, some), scores, rows
