"""A table seen in several ways at once: its columns one by one, pairs and triples of them, all numbers together, and
its texts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...families import Batch
from ...families.table_likelihood import TableLikelihood
from ...kernels import Kernels
from ...kernels.data import Array, Floats, chunks
from ...kernels.serial import serial
from .base import View
from .look import Look
from .make import doubt, gained, make_views
from .mixture import LEAST_SIZE, Mixture, fit_mixture
from .rows import few_rows, row_weight
from .text_view import TextView

if TYPE_CHECKING:
    from ..smoothing import Seen

_TOGETHER = "columns added up"


@dataclass(frozen=True)
class Blended:
    """The views and their weights: first each column, then each block, then all these added up, which is naive Bayes
    itself, then the views past independence, then texts.
    """

    columns: tuple[int, ...]  # those that had a model when it was made
    n_blocks: int
    look: Look
    views: tuple[View, ...]
    ridge: Floats  # of each of them
    mixture: Mixture
    texts: tuple[TextView, ...] = ()
    unit: float = 1.0  # what a row weighs: views past single columns count rows, and so do their pseudo-counts

    @property
    def names(self) -> list[str]:
        """Of the views past single columns, blocks and texts."""
        return [_TOGETHER, *(view.name for view in self.views)]

    @property
    def n_single(self) -> int:
        """Columns and blocks."""
        return len(self.columns) + self.n_blocks

    @property
    def n_views(self) -> int:
        """Of all kinds."""
        return self._n_past + len(self.texts)

    @property
    def _n_past(self) -> int:
        return self.n_single + 1 + len(self.views)

    def without_idle(self) -> Blended:
        """Without views past single columns that have no weight."""
        past = self.n_single + 1
        kept = [i for i in range(self.n_views) if i < past or self.mixture.weight[i].any()]
        views = tuple(self.views[i - past] for i in kept if past <= i < self._n_past)
        texts = tuple(self.texts[i - self._n_past] for i in kept if i >= self._n_past)
        return replace(self, views=views, texts=texts, ridge=self.ridge[kept], mixture=self.mixture.take(kept))

    def column_weight(self, n_columns: int) -> Floats:
        """The weight of every column, averaged over the classes; 0 for those without a model."""
        out = np.zeros(n_columns)
        out[list(self.columns)] = self.mixture.weight[: len(self.columns)].mean(axis=1)
        out[[text.column for text in self.texts]] = self.mixture.weight[self._n_past :].mean(axis=1)
        return out

    @property
    def further_weight(self) -> Floats:
        """The weight of every block and every view past single columns, averaged over the classes."""
        return np.asarray(self.mixture.weight[len(self.columns) : self._n_past].mean(axis=1))

    @serial()
    def scores(self, likelihood: TableLikelihood, data: Any, kernels: Kernels) -> Floats:
        """Of rows under every class, ``(rows, classes)``."""
        parts = [self._scores(likelihood, part, kernels) for _, _, part in chunks(data)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _scores(self, likelihood: TableLikelihood, data: Any, kernels: Kernels) -> Floats:
        out = likelihood.added_up(data, self.mixture.part, kernels, self.columns)
        out += self.mixture.bias
        if self.mixture.weight[self.n_single].any():
            together = likelihood.added_up(data, lambda _, own: own, kernels, self.columns)
            self._add(out, self.n_single, together)
        used = [(i, view) for i, view in enumerate(self.views, self.n_single + 1) if self.mixture.weight[i].any()]
        if used:
            looked = self.look.see(data, kernels)
            for i, view in used:
                self._add(out, i, view.scores(looked, kernels))
        for i, text in enumerate(self.texts, self._n_past):
            if self.mixture.weight[i].any():
                self._add(out, i, text.scores(likelihood, data, kernels))
        return out

    def _add(self, total: Floats, view: int, scores: Floats) -> None:
        part = self.mixture.part(view, scores)
        assert part is not None
        total += part

    def left_out(self, scores: Floats) -> Floats:
        """Of rows from their left-out scores under all views, ``(views, rows, classes)``."""
        return self.mixture.scores(scores)

    @serial()
    def left_out_views(self, likelihood: TableLikelihood, batch: Batch, share: Floats, kernels: Kernels) -> Floats:
        """Left-out scores of rows under all views, ``(views, rows, classes)``.

        ``share`` is the weight that each row has in the views, which are made from the sample; 0 where it is not in it.
        """
        out = self._table_left_out(likelihood, batch, share, kernels)
        for i, text in enumerate(self.texts, self._n_past):
            out[i] = text.left_out(likelihood, batch, kernels)
        return out

    def _table_left_out(self, likelihood: TableLikelihood, batch: Batch, share: Floats, kernels: Kernels) -> Floats:
        """The same, with room for texts."""
        out, n_single = np.empty((self.n_views, len(batch.classes), batch.n_classes)), self.n_single
        out[:n_single] = likelihood.each_left_out(batch, self.columns, kernels)
        out[:n_single].sum(axis=0, out=out[n_single])
        if self.views:
            looked = self.look.see(batch.data, kernels)
            for i, view in enumerate(self.views, n_single + 1):
                out[i] = view.left_out(looked, batch.classes, share / self.unit, kernels)
        return out

    def few(self, seen: Seen) -> Array:
        """The rows that weights are fitted on."""
        own = few_rows(len(seen.case_weight), self.n_views * seen.batch.n_classes)
        return min(own, *(text.few(seen) for text in self.texts), key=len) if self.texts else own

    def judged(self, likelihood: TableLikelihood, seen: Seen, kernels: Kernels) -> Floats:
        """Left-out scores of rows of the sample, for weights to be fitted on."""
        return self._judged(likelihood, seen, self._heard(likelihood, seen, kernels), kernels)

    @serial()
    def _judged(self, likelihood: TableLikelihood, seen: Seen, heard: list[Floats], kernels: Kernels) -> Floats:
        out = self._table_left_out(likelihood, seen.batch, seen.case_weight / seen.multiplicity, kernels)
        for i, (text, bands) in enumerate(zip(self.texts, heard, strict=True), self._n_past):
            out[i] = text.judged(bands, seen)
        return out

    def _heard(self, likelihood: TableLikelihood, seen: Seen, kernels: Kernels) -> list[Floats]:
        return [text.heard(likelihood, seen, kernels) for text in self.texts]

    def fitted(self, likelihood: TableLikelihood, seen: Seen, kernels: Kernels) -> tuple[Blended, Floats]:
        """With weights, and the left-out scores these were fitted on."""
        heard = self._heard(likelihood, seen, kernels)
        scores = self._judged(likelihood, seen, heard, kernels)
        alone = (gained(own, seen.batch.classes, seen.case_weight) for own in scores[self._n_past :])
        texts = (text.weighed(bands, seen) for text, bands in zip(self.texts, heard, strict=True))
        known = tuple(replace(text, gain=gain) for text, gain in zip(texts, alone, strict=True))
        return replace(self, texts=known).weighed(scores, seen), scores

    @serial()
    def weighed(self, scores: Floats, seen: Seen) -> Blended:
        """With weights from left-out scores."""
        single = np.arange(len(scores)) < len(self.columns)
        least = np.where(single, LEAST_SIZE, 0.0)
        classes, weight, ridge = seen.batch.classes, seen.case_weight / row_weight(seen), self.ridge.copy()
        for view in range(self.n_single + 1, len(scores)):
            ridge[view] *= doubt(scores[view], classes, weight)
        return replace(self, mixture=fit_mixture(scores, classes, weight, ridge, least))


def fit_blended(likelihood: TableLikelihood, seen: Seen, order: int, kernels: Kernels) -> tuple[Blended, Floats, Array]:
    """The views, their weights, the left-out scores these were fitted on, and of which of the rows."""
    blended = make_views(likelihood, seen, order, kernels)
    rows = blended.few(seen)
    some = seen if len(rows) == len(seen.case_weight) else seen.take(rows, seen.multiplicity[rows])
    return *blended.fitted(likelihood, some, kernels), rows
