"""Views of a table and their weights: columns, pairs, triples, all numeric columns together, texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.columns import Columns
from ..families import Batch
from ..families.columns.histogram import log_shares
from ..families.table_likelihood import TableLikelihood
from ..kernels import Kernels
from ..kernels.counting import Hashes
from ..kernels.kernels import single_threaded_blas
from ..kernels.layouts import Array, Floats
from ..lazy import dataclass
from ..statistics import Sample
from .binning import TableBinning
from .candidates import gained, information, make_views, ridge_factor
from .cell_regression import CellRegression, with_refitted_cells
from .covariance import Covariance
from .dependence import UpdatedCounts
from .fourier_regression import FourierRegression
from .grid_regression import GridRegression, with_grids
from .token_views import TextColumnView
from .training_rows import TrainingRows, make_folds, mean_row_weight, subsample_rows
from .views import LabeledRows, View
from .weights import LEAST_SIZE, PartialWeights, StackingWeights, WeightProblem, draw_masks, fit_partial

# Number of rows scored at a time.
_CHUNK = 1 << 13
# Number of folds if rows are left out in blocks.
_FOLDS = 10
_SUM_NAME = "all columns, added up"


@dataclass(frozen=True)
class StackedViews:
    """The views of a table and their weights.

    The order is: columns, blocks of columns, the sum of all these (naive Bayes itself), views of several columns, and
    text columns.
    """

    columns: tuple[int, ...]  # columns that had a model at the last refit
    n_blocks: int
    binning: TableBinning
    views: tuple[View, ...]
    ridge: Floats  # of each view
    weights: StackingWeights
    texts: tuple[TextColumnView, ...] = ()
    row_weight: float = 1.0  # weights of rows are divided by it, because views of several columns count rows
    # Weights for rows with absent columns. None: not fitted yet, and the weights for complete rows are used.
    partial: PartialWeights | None = None
    # By class: rows with a smaller hash are in the views, and their weight is multiplied by the scale, because a sample
    # represents all rows. None: unknown, so the views cannot be updated.
    hash_bound: Hashes | None = None
    scale: Floats | None = None
    # Weights without the regression on grids, for exports that cannot express it, and the resulting increase of the
    # log-loss.
    weights_without_grids: StackingWeights | None = None
    loss_without_grids: float = 0.0

    def updated(self, rows: Sample, data: Any, sign: float, kernels: Kernels) -> StackedViews | None:
        """Return the views with rows, ``data``, added (``sign`` is 1.0) or removed (-1.0); None if impossible."""
        if not self.views:
            return self
        if self.hash_bound is None or self.scale is None or (rows.threshold < self.hash_bound)[rows.rows > 0].any():
            return None
        here = np.flatnonzero(rows.entries.hashes < self.hash_bound[rows.classes])
        if not len(here):
            return self
        classes = rows.classes[here]
        weight = (rows.weight * rows.multiplicity)[here] * self.scale[classes] / self.row_weight
        cases = LabeledRows(self.binning.transform(data.take(here), kernels), classes, weight, weight)
        return replace(self, views=tuple(view.updated(cases, sign, kernels) for view in self.views))

    def discounted(self, factor: float) -> StackedViews:
        """Return the views after the weights of all rows were multiplied by a factor."""
        return replace(self, row_weight=self.row_weight * factor) if factor > 0 else self

    def consolidated(self) -> StackedViews:
        """Return the views with pending updates applied, as they are stored and exported."""
        if not any(isinstance(view, UpdatedCounts) for view in self.views):
            return self
        whole = (view.whole if isinstance(view, UpdatedCounts) else view for view in self.views)
        return replace(self, views=tuple(whole))

    def with_view_if_better(
        self, view: View, ridge: float, left_out: Floats, problem: WeightProblem, *, always: bool = False
    ) -> tuple[StackedViews, WeightProblem] | None:
        """Return the views with an additional one, whose weights are to be fitted; None if it does not improve them.

        It is added if the leave-one-out log-loss, with weights shared by all classes, decreases by more than a standard
        error.

        Parameters
        ----------
        view : View
            The view, which becomes the last one of several columns.
        ridge : float
            The ridge of its weight.
        left_out : array of shape (rows, classes)
            Its left-out scores of the training rows.
        problem : WeightProblem
            The left-out scores of the other views.
        always : bool, default False
            Whether it is added regardless of the log-loss.
        """
        place, training = self._first_text, problem.training
        wider = replace(self, views=(*self.views, view), ridge=np.insert(self.ridge, place, ridge))
        more = problem.with_view(place, left_out, wider._ridge(place, left_out, training))
        if always:
            return wider, more
        classes, weight = training.batch.classes, training.case_weight / mean_row_weight(training)
        gain = (more.log_posterior - problem.log_posterior)[np.arange(len(classes)), classes]
        mean = float(np.average(gain, weights=weight))
        error = np.sqrt(float((weight**2 / training.multiplicity) @ (gain - mean) ** 2)) / float(weight.sum())
        return (wider, more) if mean > error else None

    @property
    def names(self) -> list[str]:
        """Names of the sum of all columns and of the views of several columns."""
        return [_SUM_NAME, *(view.name for view in self.views)]

    @property
    def n_single(self) -> int:
        """Number of columns and blocks."""
        return len(self.columns) + self.n_blocks

    @property
    def n_views(self) -> int:
        """Number of views of all kinds."""
        return self._first_text + len(self.texts)

    @property
    def _first_text(self) -> int:
        return self.n_single + 1 + len(self.views)

    def without_unused(self) -> StackedViews:
        """Return the views without those of several columns and of texts that have no weight."""
        past = self.n_single + 1
        kept = [i for i in range(self.n_views) if i < past or self.is_used(i)]
        views = tuple(self.views[i - past] for i in kept if past <= i < self._first_text)
        texts = tuple(self.texts[i - self._first_text] for i in kept if i >= self._first_text)
        partial = None if self.partial is None else self.partial.take(kept)
        weights = self.weights.take(kept)
        without = None if self.weights_without_grids is None else self.weights_without_grids.take(kept)
        return replace(
            self, views=views, texts=texts, ridge=self.ridge[kept], weights=weights, partial=partial,
            weights_without_grids=without,
        )  # fmt: skip

    def without_row_scores(self) -> StackedViews:
        """Return the views without left-out scores of training rows, which are unused without these rows."""
        views = (view.without_rows() if isinstance(view, GridRegression) else view for view in self.views)
        return replace(self, views=tuple(views))

    def without_grids(self) -> StackedViews:
        """Return the views without the regression on grids, with the weights that were fitted without it."""
        if self.weights_without_grids is None:
            return self
        views = replace(self, weights=self.weights_without_grids, weights_without_grids=None, partial=None)
        return views.without_unused()

    def is_used(self, view: int) -> bool:
        """Whether a view has a nonzero weight for some rows, or without the regression on grids."""
        partial = self.partial
        some = partial is not None and bool(partial.near[view].any() or partial.far[view].any())
        return some or bool(self.weights.weight[view].any() or self._complete_row_weights.weight[view].any())

    @property
    def _complete_row_weights(self) -> StackingWeights:
        """The weights for complete rows, without the regression on grids, toward which partial weights are shrunk."""
        return self.weights if self.weights_without_grids is None else self.weights_without_grids

    def column_weight(self, n_columns: int) -> Floats:
        """Return the weight of each column, averaged over the classes; 0 for columns without a model."""
        out = np.zeros(n_columns)
        out[list(self.columns)] = self.weights.weight[: len(self.columns)].mean(axis=1)
        out[[text.column for text in self.texts]] = self.weights.weight[self._first_text :].mean(axis=1)
        return out

    @property
    def mean_view_weight(self) -> Floats:
        """Weight of each block and each view of several columns, averaged over the classes."""
        return np.asarray(self.weights.weight[len(self.columns) : self._first_text].mean(axis=1))

    def scores(self, likelihood: TableLikelihood, data: Any, log_prior: Floats, kernels: Kernels) -> Floats:
        """Return the scores of rows, ``(rows, classes)``; ``log_prior`` is the score of a row without any cell."""

        @single_threaded_blas()
        def of_chunk(part: Columns, kernels: Kernels) -> Floats:
            return self._scores(likelihood, part, log_prior, kernels)

        return kernels.map_chunks(data, of_chunk, _CHUNK)

    def absent(self, likelihood: TableLikelihood, data: Columns) -> Array | None:
        """Return which used cells are absent, ``(rows, columns of the table)``; None if no cell is absent."""
        absent = self.binning.absent(data)
        if absent is None:
            return None
        matters = np.zeros(data.n_columns, dtype=bool)
        matters[self.column_places(likelihood)] = True
        absent &= matters
        return absent if absent.any() else None

    def column_places(self, likelihood: TableLikelihood) -> list[int]:
        """Return the positions of the table's columns that scores depend on."""
        return sorted({*self.columns, *likelihood.places})

    def _share_given(self, likelihood: TableLikelihood, absent: Array) -> Floats:
        """Return the share of the columns that are given in each row."""
        return np.asarray(1.0 - absent[:, self.column_places(likelihood)].mean(axis=1))

    def weights_for_row(
        self, likelihood: TableLikelihood, row: Columns, log_prior: Floats
    ) -> tuple[StackingWeights, Columns]:
        """Return the weights and biases for one row, and the row with absent cells marked."""
        absent = self.absent(likelihood, row)
        if absent is None:
            return self.weights, row
        share = float(self._share_given(likelihood, absent)[0])
        partial = self.weights_for_partial_rows()
        bias = partial.biases(np.array([share]), log_prior)[0]
        return replace(self.weights, weight=partial.at(share), bias=bias), row.with_absent(absent)

    def weights_for_partial_rows(self) -> PartialWeights:
        """Return the weights for rows with absent columns; those of complete rows if no others were fitted."""
        whole = self._complete_row_weights
        return self.partial or PartialWeights(whole.weight, whole.weight, whole.bias)

    def _scores(self, likelihood: TableLikelihood, data: Any, log_prior: Floats, kernels: Kernels) -> Floats:
        absent = self.absent(likelihood, data)
        if absent is None:
            return self._complete(likelihood, data, kernels)
        lacking = absent.any(axis=1)
        out = np.empty((data.n_rows, len(log_prior)))
        whole, rest = np.flatnonzero(~lacking), np.flatnonzero(lacking)
        if len(whole):
            out[whole] = self._complete(likelihood, data.take(whole), kernels)
        marked, share = data.take(rest).with_absent(absent[rest]), self._share_given(likelihood, absent[rest])
        out[rest] = self._incomplete(likelihood, marked, share, log_prior, kernels)
        return out

    def _complete(self, likelihood: TableLikelihood, data: Columns, kernels: Kernels) -> Floats:
        bias = np.tile(self.weights.bias, (data.n_rows, 1))
        return self._added_up(likelihood, data, bias, [(self.weights, None)], kernels)

    def _incomplete(
        self, likelihood: TableLikelihood, data: Columns, share: Floats, log_prior: Floats, kernels: Kernels
    ) -> Floats:
        """Return the scores of rows in which a ``share`` of the columns is given."""
        partial, near = self.weights_for_partial_rows(), share[:, None]
        parts = [(replace(self.weights, weight=partial.near), near)]
        parts.append((replace(self.weights, weight=partial.far), 1.0 - near))
        return self._added_up(likelihood, data, partial.biases(share, log_prior), parts, kernels)

    def _added_up(
        self, likelihood: TableLikelihood, data: Columns, out: Floats,
        parts: Sequence[tuple[StackingWeights, Floats | None]], kernels: Kernels,
    ) -> Floats:  # fmt: skip
        """Add to ``out`` the scores of all views by each of the weights, times its factor for each row."""

        def add(scores: Floats | None, factor: Floats | None) -> None:
            if scores is not None:
                out[:] += scores if factor is None else factor * scores

        def add_view(view: int, scores: Floats) -> None:
            for weights, factor in parts:
                add(weights.weighted(view, scores), factor)

        def is_used(view: int) -> bool:
            return any(bool(weights.weight[view].any()) for weights, _ in parts)

        for weights, factor in parts:
            add(likelihood.added_up(data, weights.weighted, kernels, self.columns), factor)
        if is_used(self.n_single):
            add_view(self.n_single, likelihood.added_up(data, lambda _, own: own, kernels, self.columns))
        used = [(i, view) for i, view in enumerate(self.views, self.n_single + 1) if is_used(i)]
        if used:
            binned = self.binning.transform(data, kernels)
            for i, view in used:
                add_view(i, view.scores(binned, kernels))
        for i, text in enumerate(self.texts, self._first_text):
            if is_used(i):
                add_view(i, text.scores(likelihood, data, kernels))
        return out

    def combine(self, scores: Floats) -> Floats:
        """Return the weighted sum, ``(rows, classes)``, of the scores of all views, ``(views, rows, classes)``."""
        return self.weights.scores(scores)

    @single_threaded_blas()
    def left_out_view_scores(
        self, likelihood: TableLikelihood, batch: Batch, share: Floats, kernels: Kernels
    ) -> Floats:
        """Return the leave-one-out scores of rows under all views, ``(views, rows, classes)``.

        ``share`` is the weight of each row in the views, which are fitted on the sample; 0 for rows outside of it.
        """
        out = self._table_left_out(likelihood, batch, share, kernels)
        for i, text in enumerate(self.texts, self._first_text):
            out[i] = text.left_out(likelihood, batch, kernels)
        return out

    def _has_partial_weights(self, i: int, view: View) -> bool:
        """Return whether a view has weights for rows with absent columns: not if it is expensive and unused."""
        return not isinstance(view, Covariance | FourierRegression) or bool(self._complete_row_weights.weight[i].any())

    def _table_left_out(
        self, likelihood: TableLikelihood, batch: Batch, share: Floats, kernels: Kernels, only: list[int] | None = None
    ) -> Floats:
        """Compute the leave-one-out scores of all views but texts.

        ``only``: views of several columns to compute; the scores of others are 0.
        """
        out, n_single = np.empty((self.n_views, len(batch.classes), batch.n_classes)), self.n_single
        out[:n_single] = likelihood.each_left_out(batch, self.columns, kernels)
        out[:n_single].sum(axis=0, out=out[n_single])
        if self.views:
            binned = self.binning.transform(batch.data, kernels)
            for i, view in enumerate(self.views, n_single + 1):
                skipped = only is not None and i not in only
                out[i] = 0.0 if skipped else view.left_out(binned, batch.classes, share / self.row_weight, kernels)
        return out

    def _table_without_blocks(
        self, likelihood: TableLikelihood, training: TrainingRows, rows: Array, data: Columns, kernels: Kernels,
        only: list[int] | None = None,
    ) -> Floats:  # fmt: skip
        """Compute the scores of ``rows`` of the training rows by models without the blocks of their fold.

        ``data``: these rows, possibly with absent cells.
        """
        out = np.zeros((self.n_views, len(rows), training.batch.n_classes))
        folds, weight = (
            make_folds(training.batch.classes, training.blocks, _FOLDS),
            training.case_weight / self.row_weight,
        )
        of_row, n_single = folds[rows], self.n_single
        for fold in np.unique(of_row):
            gone, here = np.flatnonzero(folds == fold), np.flatnonzero(of_row == fold)
            part, batch = data.take(here), training.take(gone, training.multiplicity[gone]).with_all_copies()
            rest = likelihood.statistics.without(likelihood.family.observe(batch, kernels))
            out[:n_single, here] = likelihood.family.likelihood(rest).each_column(part, self.columns, kernels)
            if self.views:
                binned = self.binning.transform(part, kernels)
                cases = LabeledRows(
                    self.binning.transform(batch.data, kernels), batch.classes, weight[gone], weight[gone]
                )
                for i, view in enumerate(self.views, n_single + 1):
                    if only is None or i in only:
                        out[i, here] = view.updated(cases, -1.0, kernels).scores(binned, kernels)
        out[:n_single].sum(axis=0, out=out[n_single])
        return out

    def subsample(self, training: TrainingRows) -> Array:
        """Return the positions of the rows that weights are fitted on."""
        own = subsample_rows(training, self.n_views * training.batch.n_classes)
        return min(own, *(text.subsample(training) for text in self.texts), key=len) if self.texts else own

    def left_out_training_scores(self, likelihood: TableLikelihood, training: TrainingRows, kernels: Kernels) -> Floats:
        """Return the out-of-sample scores of training rows, ``(views, rows, classes)``, to fit weights on."""
        return self._out_of_sample_scores(
            likelihood, training, self._text_bin_scores(likelihood, training, kernels), kernels
        )

    @single_threaded_blas()
    def _out_of_sample_scores(
        self, likelihood: TableLikelihood, training: TrainingRows, bin_scores: list[Floats], kernels: Kernels
    ) -> Floats:
        if training.blocks is None:
            out = self._table_left_out(
                likelihood, training.batch, training.case_weight / training.multiplicity, kernels
            )
        else:
            out = self._table_without_blocks(
                likelihood, training, np.arange(len(training.blocks)), training.batch.data, kernels
            )
        for i, (text, bins) in enumerate(zip(self.texts, bin_scores, strict=True), self._first_text):
            out[i] = text.left_out_training_scores(bins, training)
        return out

    def _text_bin_scores(self, likelihood: TableLikelihood, training: TrainingRows, kernels: Kernels) -> list[Floats]:
        return [text.bin_scores(likelihood, training, kernels) for text in self.texts]

    def fitted(
        self, likelihood: TableLikelihood, everything: TrainingRows, refine: bool | str, kernels: Kernels
    ) -> tuple[StackedViews, Floats]:
        """Fit the weights; return the views with them, and the out-of-sample scores they were fitted on.

        ``everything``: all kept training rows, of which weights are fitted on a subsample.
        """
        training = self.fitted_rows(everything)
        bin_scores = self._text_bin_scores(likelihood, training, kernels)
        scores = self._out_of_sample_scores(likelihood, training, bin_scores, kernels)
        alone = (gained(own, training.batch.classes, training.case_weight) for own in scores[self._first_text :])
        texts = (text.fit_weights(bins, training) for text, bins in zip(self.texts, bin_scores, strict=True))
        known = tuple(replace(text, gain=gain) for text, gain in zip(texts, alone, strict=True))
        stacked = replace(self, texts=known)
        problem = stacked.weight_problem(scores, training)
        stacked, problem = with_refitted_cells(stacked, likelihood, problem, kernels)
        if refine:
            # The rows of the problem, which would be fewer after adding views.
            rows = self.subsample(everything)
            stacked, problem = with_grids(
                stacked, information(likelihood, stacked.binning), everything, rows, problem, kernels,
                always=refine is True,
            )  # fmt: skip
        return replace(stacked, weights=problem.weights, partial=None), problem.scores

    def cases(self, training: TrainingRows, kernels: Kernels) -> LabeledRows:
        """Return training rows in the form that views are fitted on."""
        weight = training.case_weight / mean_row_weight(training)
        binned = self.binning.transform(training.batch.data, kernels)
        return LabeledRows(binned, training.batch.classes, weight, weight / training.multiplicity)

    def with_partial_weights(
        self, likelihood: TableLikelihood, training: TrainingRows, kernels: Kernels
    ) -> StackedViews:
        """Return the views with weights for rows with absent columns, fitted on training rows."""
        some = self.fitted_rows(training)
        scores = self.left_out_training_scores(likelihood, some, kernels)
        return replace(self, partial=self._fit_partial(likelihood, some, scores, kernels))

    def fitted_rows(self, training: TrainingRows) -> TrainingRows:
        """Return the training rows that weights are fitted on."""
        rows = self.subsample(training)
        return training if len(rows) == len(training.case_weight) else training.take(rows, training.multiplicity[rows])

    @single_threaded_blas()
    def _fit_partial(
        self, likelihood: TableLikelihood, training: TrainingRows, scores: Floats, kernels: Kernels
    ) -> PartialWeights | None:
        """Fit the weights for rows with absent columns; None with less than two columns."""
        places, n_classes = self.column_places(likelihood), training.batch.n_classes
        if len(places) < 2:
            return None
        masks = draw_masks(len(training.batch.classes), len(places), self.n_views * n_classes)
        some = training.take(masks.rows, training.multiplicity[masks.rows])
        absent = np.zeros((len(masks.rows), some.batch.data.n_columns), dtype=bool)
        absent[:, places] = masks.absent
        batch = some.batch._replace(data=some.batch.data.with_absent(absent))
        kept = [i for i, view in enumerate(self.views, self.n_single + 1) if self._has_partial_weights(i, view)]
        if training.blocks is None:
            masked = self._table_left_out(likelihood, batch, some.case_weight / some.multiplicity, kernels, kept)
        else:
            masked = self._table_without_blocks(likelihood, training, masks.rows, batch.data, kernels, kept)
        for i, text in enumerate(self.texts, self._first_text):
            masked[i] = np.where(absent[:, [text.column]], 0.0, scores[i][masks.rows])
        copies = np.bincount(masks.rows, minlength=len(training.batch.classes))[masks.rows]
        weight = some.case_weight / mean_row_weight(training) / copies
        share, log_prior = self._share_given(likelihood, absent), log_shares(likelihood.statistics.rows)
        ridge = self.weight_problem(scores, training).ridge
        return fit_partial(self._complete_row_weights, masked, share, batch.classes, weight, log_prior, ridge)

    def fit_weights(self, scores: Floats, training: TrainingRows) -> StackedViews:
        """Return the views with weights fitted to out-of-sample scores."""
        # Weights for rows with absent columns are only valid together with the weights they were fitted with.
        return replace(self, weights=self.weight_problem(scores, training).weights, partial=None)

    def weight_problem(self, scores: Floats, training: TrainingRows) -> WeightProblem:
        """Return the problem of fitting weights to out-of-sample scores."""
        single = np.arange(len(scores)) < len(self.columns)
        least = np.where(single, LEAST_SIZE, 0.0)
        ridge = np.array([self._ridge(view, own, training) for view, own in enumerate(scores)])
        return WeightProblem(scores, ridge, least, training)

    def _ridge(self, view: int, scores: Floats, training: TrainingRows) -> float:
        """Return the ridge of a view; for views of several columns it depends on their own gain.

        Corrections of cells have no gain as a single view; they were compared with the other views when they were
        added.
        """
        own, several = float(self.ridge[view]), view - self.n_single - 1
        if several < 0 or (several < len(self.views) and isinstance(self.views[several], CellRegression)):
            return own
        return own * ridge_factor(scores, training.batch.classes, training.case_weight / mean_row_weight(training))


def fit_stacked_views(
    likelihood: TableLikelihood, training: TrainingRows, order: int, refine: bool | str, kernels: Kernels
) -> tuple[StackedViews, Floats, Array]:
    """Fit views and weights; also return the rows and out-of-sample scores that weights were fitted on."""
    stacked = make_views(likelihood, training, order, kernels)
    return *stacked.fitted(likelihood, training, refine, kernels), stacked.subsample(training)
