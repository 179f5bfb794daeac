"""Texts seen in several ways at once: tokens of several kinds, in bands by how sure it is that they tell something."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...families import Batch
from ...families.text import BandName, TextLikelihood
from ...kernels import Kernels
from ...kernels.data import Array, Floats, chunks
from ...kernels.serial import serial
from ...kernels.text_rows import TextRows
from .mixture import Mixture, fit_mixture
from .rows import few_rows, row_weight

if TYPE_CHECKING:
    from ..smoothing import Seen

_RIDGE = 2.0
# Texts scored at once: their scores under all views are kept until they are weighed.
_CHUNK = 1 << 11
_MOST_ROWS = 8_000


@dataclass(frozen=True)
class TextBlended:
    """The weights of the bands of every look; the bands themselves follow the sums of tokens as they grow."""

    names: list[BandName]
    mixture: Mixture

    @property
    def n_views(self) -> int:
        return len(self.names)

    def without_idle(self) -> TextBlended:
        """All bands of a look are made together: none is left out."""
        return self

    @serial()
    def scores(self, likelihood: TextLikelihood, data: TextRows, kernels: Kernels) -> Floats:
        """Of texts under every class, ``(rows, classes)``."""
        out = np.empty((data.n_rows, len(likelihood.statistics.rows)))
        for begin, end, part in chunks(data, _CHUNK):
            out[begin:end] = self.mixture.scores(likelihood.band_scores(part, kernels))
        return out

    def left_out_views(self, likelihood: TextLikelihood, batch: Batch, share: Floats, kernels: Kernels) -> Floats:
        """Left-out scores of texts under all views, ``(views, rows, classes)``; a text leaves with its own weight."""
        return likelihood.band_left_out(batch, kernels)

    def left_out(self, scores: Floats) -> Floats:
        """Of texts from their left-out scores under all views."""
        return self.mixture.scores(scores)

    @serial()
    def weighed(self, scores: Floats, seen: Seen) -> TextBlended:
        """With weights from left-out scores."""
        weight, n_views = seen.case_weight / row_weight(seen), len(scores)
        ridge, least = np.full(n_views, _RIDGE), np.zeros(n_views)
        return replace(self, mixture=fit_mixture(scores, seen.batch.classes, weight, ridge, least, by_class=False))


def fit_text_blended(likelihood: TextLikelihood, seen: Seen, kernels: Kernels) -> tuple[TextBlended, Floats, Array]:
    """The weights, the left-out scores these were fitted on, and of which of the rows."""
    names, n_classes = likelihood.band_names, seen.batch.n_classes
    rows = few_rows(len(seen.case_weight), len(names) * n_classes, _MOST_ROWS)
    some = seen if len(rows) == len(seen.case_weight) else seen.take(rows, seen.multiplicity[rows])
    scores = likelihood.band_left_out(some.batch, kernels)
    unweighted = Mixture(np.zeros(0), np.zeros(0), np.zeros((0, n_classes)), np.zeros(n_classes))
    return TextBlended(names, unweighted).weighed(scores, some), scores, rows
