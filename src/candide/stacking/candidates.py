"""Candidate views of several columns of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..families.columns.histogram import gain, log_shares
from ..families.table_likelihood import TableLikelihood
from ..kernels import Kernels
from ..kernels.kernels import single_threaded_blas
from ..kernels.layouts import Array, Floats
from .binning import TableBinning, merge_codes
from .covariance import covariances, fit_coordinates
from .dependence import one_dependence, two_dependence
from .fourier_regression import fit_fourier_regressions
from .token_views import TextColumnView
from .training_rows import TrainingRows, mean_row_weight
from .views import LabeledRows, View, tempered_loss
from .weights import StackingWeights

if TYPE_CHECKING:
    from .stacked_views import StackedViews

# Numbers of bins of numeric columns in views of pairs; the first is used in views of triples too.
BINS = (6, 10)
# Tables with more columns are wide, and their views of several columns use some of the columns (``_columns_of_views``).
FEW_COLUMNS = 64
# In a wide table, maximum number of informative columns in these views, and number up to which others are added.
MOST_INFORMATIVE, MOST_OTHERS = 200, 100
# Number of columns whose pairs are parents in views of triples.
PARENTS = 6
# The ridge of a view. The ridge of a column increases with the square root of the number of columns.
RIDGE = 4.0
# The ridge of a text column, whose bins are already regularized.
TEXT_RIDGE = 0.5
# Ridges of single columns and of their sum (naive Bayes itself) if there are no views of several columns, or if the
# table is wide, so that these views use only some columns.
_RIDGES_ALONE = 1.0, 0.1
# The family of a column is chosen on the rows that its weight is fitted on, so noise seems to be slightly informative.
# The ridge of a column is doubled at this gain (in log-loss summed over all rows), and is larger for smaller gains.
_DOUBLING_GAIN = 30.0
_LEAST_GAIN = 1e-3
# Gain, over all rows, of the best of many families on noise. For the best of many columns, the log of their number is
# added.
_CHANCE_GAIN = 3.0
# Squared relevance of an uninformative column, relative to the most informative one.
_LEAST_RELEVANCE = 0.02


@single_threaded_blas()
def make_views(likelihood: TableLikelihood, training: TrainingRows, order: int, kernels: Kernels) -> StackedViews:
    """Return views without weights. ``order``: the number of columns that a column may depend on."""
    from .stacked_views import StackedViews

    rows, losses = likelihood.statistics.rows, _losses(likelihood)
    log_prior, gains, n_rows = log_shares(rows), gain(rows, losses), _n_rows(likelihood)
    chosen, paired = _columns_of_views(losses, gains, n_rows)
    feature_set = TableBinning.of(likelihood.statistics, [likelihood.shown[i] for i in chosen])
    views: tuple[View, ...] = ()
    unit = mean_row_weight(training)
    if order and len(feature_set.columns) > 1:
        weight = training.case_weight / unit
        cases = LabeledRows(
            feature_set.transform(training.batch.data, kernels),
            training.batch.classes,
            weight,
            weight / training.multiplicity,
        )
        by_loss = np.argsort(losses[chosen], kind="stable")
        views = tuple(_views(feature_set, cases, log_prior, by_loss, paired, order, kernels))
        if order > 1:
            relevance = _relevance(gains, n_rows)[chosen]
            views += tuple(fit_fourier_regressions(*_codes(feature_set), cases, len(rows), relevance))
    none, n_classes, alone = np.zeros(0), training.batch.n_classes, not views or len(losses) > FEW_COLUMNS
    unweighted = StackingWeights(none, none, np.zeros((0, n_classes)), np.zeros(n_classes))
    texts = tuple(TextColumnView.of(likelihood, j) for j in likelihood.texts)
    ridge = np.append(
        _ridges(gains * n_rows, len(likelihood.blocks), len(views), alone=alone), np.full(len(texts), TEXT_RIDGE)
    )
    return StackedViews(
        tuple(likelihood.shown), len(likelihood.blocks), feature_set, views, ridge, unweighted, texts, unit
    )


def _n_rows(likelihood: TableLikelihood) -> float:
    return float((likelihood.statistics.rows / likelihood.statistics.row_weight).sum())


def _columns_of_views(losses: Floats, gains: Floats, n_rows: float) -> tuple[Array, Array]:
    """Return the columns used in views of several columns, in table order, and those used in pairs, the best first.

    In a wide table, a column is informative if its gain exceeds that of the best of as many columns without
    information. Views use the informative columns, and the first others in table order. Selecting the others by gain
    would bias the leave-one-out estimate.
    """
    if len(losses) <= FEW_COLUMNS:
        return np.arange(len(losses)), np.argsort(losses, kind="stable")
    # Rounded, because the last digits depend on the order of summation.
    order = np.argsort(np.round(losses, 9), kind="stable")
    best = order[gains[order] > _gain_by_chance(len(gains), n_rows)][:MOST_INFORMATIVE]
    others = np.setdiff1d(np.arange(len(losses)), best)[: max(0, MOST_OTHERS - len(best))]
    chosen = np.sort(np.concatenate([best, others]))
    return chosen, np.searchsorted(chosen, best[:MOST_OTHERS])


def _ridges(gain: Floats, n_blocks: int, n_views: int, *, alone: bool) -> Floats:
    """Return the ridges of columns, blocks, their sum, and views, from the gain of each column."""
    n_columns = max(1, len(gain))
    of_column, of_sum = _RIDGES_ALONE if alone else (RIDGE, RIDGE)
    columns = of_column * np.sqrt(n_columns) * (1.0 + _DOUBLING_GAIN / np.maximum(gain, _LEAST_GAIN))
    together = of_sum * (1.0 + _DOUBLING_GAIN * n_columns / max(float(np.maximum(gain, 0.0).sum()), _LEAST_GAIN))
    return np.concatenate([columns, np.full(n_blocks, of_column), [together], np.full(n_views, RIDGE)])


def gained(scores: Floats, classes: Array, weight: Floats) -> float:
    """Return the reduction of the log-loss per row by a view relative to class frequencies, from left-out scores."""
    rows = np.bincount(classes, weight, minlength=scores.shape[1]).astype(np.float64, copy=False)
    return float(gain(rows, tempered_loss(scores, classes, weight, log_shares(rows))))


def ridge_factor(scores: Floats, classes: Array, weight: Floats) -> float:
    """Return the factor of the ridge of a view, which is large if its gain is small."""
    return 1.0 + _DOUBLING_GAIN / max(gained(scores, classes, weight) * float(weight.sum()), _LEAST_GAIN)


def information(likelihood: TableLikelihood, binning: TableBinning) -> Floats:
    """Return the reduction of the left-out log-loss per row by each binned column, relative to class frequencies."""
    place = {j: i for i, j in enumerate(likelihood.shown)}
    losses = _losses(likelihood)[[place[column.column] for column in binning.columns]]
    return np.asarray(gain(likelihood.statistics.rows, losses))


def _losses(likelihood: TableLikelihood) -> Floats:
    """Return the left-out log-loss of each column."""
    choices = likelihood.family.choices
    assert choices is not None
    return np.array([min(choices[j].losses.values()) for j in likelihood.shown])


def _gain_by_chance(n_columns: int, n_rows: float) -> float:
    """Return the expected gain in log-loss per row of the best of many columns without information."""
    return float((_CHANCE_GAIN + np.log(n_columns)) / n_rows)


def _relevance(gain: Floats, n_rows: float) -> Floats:
    """Return the weight of a column by its information about the class, above 0 and up to 1."""
    gain = np.maximum(gain - _gain_by_chance(len(gain), n_rows), 0.0)
    gain += _LEAST_RELEVANCE * max(float(gain.max()), 1e-3)
    return np.asarray(np.sqrt(gain / gain.max()))


def _codes(feature_set: TableBinning) -> tuple[list[Floats], list[bool]]:
    """Return the weight of each code of each column, and which columns hold numbers."""
    return [column.count for column in feature_set.columns], [column.is_number for column in feature_set.columns]


def _views(
    feature_set: TableBinning, cases: LabeledRows, log_prior: Floats, by_loss: Array, paired: Array, order: int,
    kernels: Kernels,
) -> Iterator[View]:  # fmt: skip
    counts, numbers = _codes(feature_set)
    for bins in BINS:
        if bins > BINS[0] and max(column.size for column in feature_set.columns) <= BINS[0]:
            continue  # finer bins would be the same
        if len(paired) < 2:
            break
        one = one_dependence(
            f"pairs of columns, {bins} bins", merge_codes(counts, numbers, bins), cases, log_prior, kernels, paired
        )
        if one is None:
            return
        yield one
        if order > 1 and bins == BINS[0]:
            two = two_dependence("triples of columns", one, paired[:PARENTS], cases, log_prior, kernels)
            if two is not None:
                yield two
    yield from _covariances(feature_set, cases, len(log_prior), by_loss)


def _covariances(feature_set: TableBinning, cases: LabeledRows, n_classes: int, by_loss: Array) -> Iterator[View]:
    numbers = [i for i, column in enumerate(feature_set.columns) if column.is_number]
    if sum(feature_set.columns[i].size > 1 for i in numbers) < 2:
        return
    place = {i: k for k, i in enumerate(numbers)}
    order = np.array([place[int(i)] for i in by_loss if int(i) in place], dtype=np.int64)
    counts = [feature_set.columns[i].count for i in numbers]
    ranks, clipped = fit_coordinates(numbers, counts, cases, n_classes, order)
    yield from covariances("covariance of numeric columns, by ranks", ranks, cases, n_classes)
    yield from covariances("covariance of numeric columns", clipped, cases, n_classes)
