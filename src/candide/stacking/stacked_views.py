"""A table seen in several ways at once: its columns one by one, pairs and triples of them, all numbers together, and
its texts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.columns import Columns
from ..families import Batch
from ..families.columns.losses import log_shares
from ..families.table_likelihood import TableLikelihood
from ..kernels import Kernels
from ..kernels.hashing import Hashes
from ..kernels.layouts import Array, Floats, chunks
from ..kernels.threads import single_threaded_blas
from ..lazy_dataclass import dataclass
from ..statistics import Sample
from .binned_table import Look
from .candidates import doubt, gained, make_views
from .covariance import Covariance
from .folds import folds_of
from .fourier_view import Waves
from .partial_rows import PartialWeights, draw_masks, fit_partial
from .text_view import TextView
from .training_rows import few_rows, row_weight
from .updated import UpdatedCounts
from .views import Cases, View
from .weights import LEAST_SIZE, Mixture, fit_mixture

if TYPE_CHECKING:
    from .training_rows import Seen

# Folds of rows that leave in blocks.
_FOLDS = 10
_TOGETHER = "all columns, added up"


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
    partial: PartialWeights | None = None  # for rows that lack columns; None: the weights of complete rows
    # Which rows are in the views, and with which part of their weight, by class: those whose hash is smaller. A sample
    # that holds a part of the rows stands for all. None: not known, so that the views cannot change.
    below: Hashes | None = None
    scale: Floats | None = None

    def changed(self, rows: Sample, data: Any, sign: float, kernels: Kernels) -> Blended | None:
        """With the views after further rows (``sign`` is 1.0), or without some that they have learned (-1.0).

        ``data`` are the rows of the sample as a table. None where that cannot be known.
        """
        if not self.views:
            return self
        if self.below is None or self.scale is None or (rows.threshold < self.below)[rows.rows > 0].any():
            return None
        here = np.flatnonzero(rows.entries.hashes < self.below[rows.classes])
        if not len(here):
            return self
        classes = rows.classes[here]
        weight = (rows.weight * rows.multiplicity)[here] * self.scale[classes] / self.unit
        cases = Cases(self.look.see(data.take(here), kernels), classes, weight, weight)
        return replace(self, views=tuple(view.changed(cases, sign, kernels) for view in self.views))

    def discounted(self, factor: float) -> Blended:
        """After the weight of all rows was multiplied: views count rows, whatever these weigh."""
        return replace(self, unit=self.unit * factor) if factor > 0 else self

    def consolidated(self) -> Blended:
        """With all changes in the tables of the views, as they are stored and exported."""
        if not any(isinstance(view, UpdatedCounts) for view in self.views):
            return self
        whole = (view.whole if isinstance(view, UpdatedCounts) else view for view in self.views)
        return replace(self, views=tuple(whole))

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
        kept = [i for i in range(self.n_views) if i < past or self.is_used(i)]
        views = tuple(self.views[i - past] for i in kept if past <= i < self._n_past)
        texts = tuple(self.texts[i - self._n_past] for i in kept if i >= self._n_past)
        partial = None if self.partial is None else self.partial.take(kept)
        mixture = self.mixture.take(kept)
        return replace(self, views=views, texts=texts, ridge=self.ridge[kept], mixture=mixture, partial=partial)

    def is_used(self, view: int) -> bool:
        """Whether it has a weight for some rows."""
        partial = self.partial
        some = partial is not None and bool(partial.near[view].any() or partial.far[view].any())
        return some or bool(self.mixture.weight[view].any())

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

    @single_threaded_blas()
    def scores(self, likelihood: TableLikelihood, data: Any, log_prior: Floats, kernels: Kernels) -> Floats:
        """Of rows under every class, ``(rows, classes)``; ``log_prior`` is that of a row of which nothing is given."""
        parts = [self._scores(likelihood, part, log_prior, kernels) for _, _, part in chunks(data)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def absent(self, likelihood: TableLikelihood, data: Columns) -> Array | None:
        """``(rows, columns of the table)``: which cells that matter are not given; None if all are."""
        absent = self.look.absent(data)
        if absent is None:
            return None
        matters = np.zeros(data.n_columns, dtype=bool)
        matters[self.column_places(likelihood)] = True
        absent &= matters
        return absent if absent.any() else None

    def column_places(self, likelihood: TableLikelihood) -> list[int]:
        """The columns of the table that scores are made from."""
        return sorted({*self.columns, *likelihood.places})

    def _share_given(self, likelihood: TableLikelihood, absent: Array) -> Floats:
        """Of the columns of each row."""
        return np.asarray(1.0 - absent[:, self.column_places(likelihood)].mean(axis=1))

    def mixture_for(self, likelihood: TableLikelihood, row: Columns, log_prior: Floats) -> tuple[Mixture, Columns]:
        """The weights and biases for one row, and the row with what is not given marked."""
        absent = self.absent(likelihood, row)
        if absent is None:
            return self.mixture, row
        share = float(self._share_given(likelihood, absent)[0])
        partial = self.for_partial()
        bias = partial.faded(np.array([share]), log_prior)[0]
        return replace(self.mixture, weight=partial.at(share), bias=bias), row.with_absent(absent)

    def for_partial(self) -> PartialWeights:
        """Weights for rows that lack columns; those of complete rows where no others were fitted."""
        weight = self.mixture.weight
        return self.partial or PartialWeights(weight, weight, self.mixture.bias)

    def _scores(self, likelihood: TableLikelihood, data: Any, log_prior: Floats, kernels: Kernels) -> Floats:
        absent = self.absent(likelihood, data)
        if absent is None:
            return self._complete(likelihood, data, kernels)
        lacking = absent.any(axis=1)
        out = np.empty((data.n_rows, len(log_prior)))
        whole, rest = np.flatnonzero(~lacking), np.flatnonzero(lacking)
        if len(whole):
            out[whole] = self._complete(likelihood, data.take(whole), kernels)
        marked = data.take(rest).with_absent(absent[rest])
        out[rest] = self._incomplete(
            likelihood, marked, self._share_given(likelihood, absent[rest]), log_prior, kernels
        )
        return out

    def _incomplete(
        self, likelihood: TableLikelihood, data: Columns, share: Floats, log_prior: Floats, kernels: Kernels
    ) -> Floats:
        """Of rows with a ``share`` of the columns."""
        partial = self.for_partial()
        parts = [(replace(self.mixture, weight=partial.near), share[:, None])]
        parts.append((replace(self.mixture, weight=partial.far), 1.0 - share[:, None]))
        out = partial.faded(share, log_prior)

        def add(view: int, scores: Floats) -> None:
            for mixture, factor in parts:
                part = mixture.part(view, scores)
                if part is not None:
                    out[:] += factor * part

        for mixture, factor in parts:
            out += factor * likelihood.added_up(data, mixture.part, kernels, self.columns)
        add(self.n_single, likelihood.added_up(data, lambda _, own: own, kernels, self.columns))
        looked = self.look.see(data, kernels)
        for i, view in enumerate(self.views, self.n_single + 1):
            if self.is_used(i):
                add(i, view.scores(looked, kernels))
        for i, text in enumerate(self.texts, self._n_past):
            if self.is_used(i):
                add(i, text.scores(likelihood, data, kernels))
        return out

    def _complete(self, likelihood: TableLikelihood, data: Any, kernels: Kernels) -> Floats:
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

    @single_threaded_blas()
    def left_out_views(self, likelihood: TableLikelihood, batch: Batch, share: Floats, kernels: Kernels) -> Floats:
        """Left-out scores of rows under all views, ``(views, rows, classes)``.

        ``share`` is the weight that each row has in the views, which are made from the sample; 0 where it is not in it.
        """
        out = self._table_left_out(likelihood, batch, share, kernels)
        for i, text in enumerate(self.texts, self._n_past):
            out[i] = text.left_out(likelihood, batch, kernels)
        return out

    def _speaks_of_parts(self, i: int, view: View) -> bool:
        """Whether a view may get another weight for rows that lack columns: not if it costs much and has none for
        complete rows.
        """
        return not isinstance(view, Covariance | Waves) or bool(self.mixture.weight[i].any())

    def _table_left_out(
        self, likelihood: TableLikelihood, batch: Batch, share: Floats, kernels: Kernels, only: list[int] | None = None
    ) -> Floats:
        """The same, with room for texts. ``only``: 0 of all other views past single columns."""
        out, n_single = np.empty((self.n_views, len(batch.classes), batch.n_classes)), self.n_single
        out[:n_single] = likelihood.each_left_out(batch, self.columns, kernels)
        out[:n_single].sum(axis=0, out=out[n_single])
        if self.views:
            looked = self.look.see(batch.data, kernels)
            for i, view in enumerate(self.views, n_single + 1):
                skipped = only is not None and i not in only
                out[i] = 0.0 if skipped else view.left_out(looked, batch.classes, share / self.unit, kernels)
        return out

    def _table_without_blocks(
        self, likelihood: TableLikelihood, seen: Seen, rows: Array, data: Columns, kernels: Kernels,
        only: list[int] | None = None,
    ) -> Floats:  # fmt: skip
        """The same of rows at some places of ``seen``, each by sums without the blocks of its fold. ``data``: these
        rows, which may lack cells.
        """
        out = np.zeros((self.n_views, len(rows), seen.batch.n_classes))
        folds, weight = folds_of(seen.batch.classes, seen.blocks, _FOLDS), seen.case_weight / self.unit
        of_row, n_single = folds[rows], self.n_single
        for fold in np.unique(of_row):
            gone, here = np.flatnonzero(folds == fold), np.flatnonzero(of_row == fold)
            part, batch = data.take(here), seen.take(gone, seen.multiplicity[gone]).of_all_copies()
            rest = likelihood.statistics.without(likelihood.family.observe(batch, kernels))
            out[:n_single, here] = likelihood.family.likelihood(rest).each_column(part, self.columns, kernels)
            if self.views:
                looked = self.look.see(part, kernels)
                cases = Cases(self.look.see(batch.data, kernels), batch.classes, weight[gone], weight[gone])
                for i, view in enumerate(self.views, n_single + 1):
                    if only is None or i in only:
                        out[i, here] = view.changed(cases, -1.0, kernels).scores(looked, kernels)
        out[:n_single].sum(axis=0, out=out[n_single])
        return out

    def few(self, seen: Seen) -> Array:
        """The rows that weights are fitted on."""
        own = few_rows(seen, self.n_views * seen.batch.n_classes)
        return min(own, *(text.few(seen) for text in self.texts), key=len) if self.texts else own

    def judged(self, likelihood: TableLikelihood, seen: Seen, kernels: Kernels) -> Floats:
        """Left-out scores of rows of the sample, for weights to be fitted on."""
        return self._judged(likelihood, seen, self._heard(likelihood, seen, kernels), kernels)

    @single_threaded_blas()
    def _judged(self, likelihood: TableLikelihood, seen: Seen, heard: list[Floats], kernels: Kernels) -> Floats:
        if seen.blocks is None:
            out = self._table_left_out(likelihood, seen.batch, seen.case_weight / seen.multiplicity, kernels)
        else:
            out = self._table_without_blocks(likelihood, seen, np.arange(len(seen.blocks)), seen.batch.data, kernels)
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
        weighed = replace(self, texts=known).weighed(scores, seen)
        return replace(weighed, partial=weighed._fit_partial(likelihood, seen, scores, kernels)), scores

    @single_threaded_blas()
    def _fit_partial(
        self, likelihood: TableLikelihood, seen: Seen, scores: Floats, kernels: Kernels
    ) -> PartialWeights | None:
        """Weights for rows that lack columns; None where there are no two columns."""
        places, n_classes = self.column_places(likelihood), seen.batch.n_classes
        if len(places) < 2:
            return None
        masks = draw_masks(len(seen.batch.classes), len(places), self.n_views * n_classes)
        some = seen.take(masks.rows, seen.multiplicity[masks.rows])
        absent = np.zeros((len(masks.rows), some.batch.data.n_columns), dtype=bool)
        absent[:, places] = masks.absent
        batch = some.batch._replace(data=some.batch.data.with_absent(absent))
        kept = [i for i, view in enumerate(self.views, self.n_single + 1) if self._speaks_of_parts(i, view)]
        if seen.blocks is None:
            masked = self._table_left_out(likelihood, batch, some.case_weight / some.multiplicity, kernels, kept)
        else:
            masked = self._table_without_blocks(likelihood, seen, masks.rows, batch.data, kernels, kept)
        for i, text in enumerate(self.texts, self._n_past):
            masked[i] = np.where(absent[:, [text.column]], 0.0, scores[i][masks.rows])
        copies = np.bincount(masks.rows, minlength=len(seen.batch.classes))[masks.rows]
        weight = some.case_weight / row_weight(seen) / copies
        share, log_prior = self._share_given(likelihood, absent), log_shares(likelihood.statistics.rows)
        return fit_partial(self.mixture, masked, share, batch.classes, weight, log_prior, self._ridges(scores, seen))

    @single_threaded_blas()
    def weighed(self, scores: Floats, seen: Seen) -> Blended:
        """With weights from left-out scores."""
        # Weights for rows that lack columns belong to those that they were fitted beside.
        return replace(self, mixture=self._weights(scores, seen, self._ridges(scores, seen)), partial=None)

    def _weights(self, scores: Floats, seen: Seen, ridge: Floats) -> Mixture:
        single = np.arange(len(scores)) < len(self.columns)
        least = np.where(single, LEAST_SIZE, 0.0)
        return fit_mixture(scores, seen.batch.classes, seen.case_weight / row_weight(seen), ridge, least)

    def _ridges(self, scores: Floats, seen: Seen) -> Floats:
        """Of all views, those past single columns by what each gains alone."""
        weight, ridge = seen.case_weight / row_weight(seen), self.ridge.copy()
        for view in range(self.n_single + 1, len(scores)):
            ridge[view] *= doubt(scores[view], seen.batch.classes, weight)
        return ridge


def fit_blended(likelihood: TableLikelihood, seen: Seen, order: int, kernels: Kernels) -> tuple[Blended, Floats, Array]:
    """The views, their weights, the left-out scores these were fitted on, and of which of the rows."""
    blended = make_views(likelihood, seen, order, kernels)
    rows = blended.few(seen)
    some = seen if len(rows) == len(seen.case_weight) else seen.take(rows, seen.multiplicity[rows])
    return *blended.fitted(likelihood, some, kernels), rows
