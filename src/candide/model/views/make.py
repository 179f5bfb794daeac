"""Which views of a table past single columns are made, and from what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...families.table_likelihood import TableLikelihood
from ...kernels import Kernels
from ...kernels.data import Array, Floats
from .base import Cases, View
from .covariance import covariances, number_coordinates
from .dependence import one_dependence
from .look import Look
from .merging import merged
from .mixture import Mixture
from .two_dependence import two_dependence
from .waves import waves

if TYPE_CHECKING:
    from ..smoothing import Seen
    from .blended import Blended

# Bins of number columns in the views of pairs; the first of them serve triples too.
BINS = (6, 10)
# Columns whose pairs are the parents of triples.
PARENTS = 6
# The ridge of a view; that of a column grows with the root of their number.
RIDGE = 4.0
# A column's family was chosen on the rows that it is then weighed on, so that noise seems to gain a little. Of a column
# that gains so much (log-loss summed over all rows) the ridge is doubled; of one that gains less it grows further.
_DOUBTFUL = 30.0
# What a column that tells nothing counts, squared, in comparison with the one that tells most.
_LEAST_RELEVANCE = 0.02


def make_views(likelihood: TableLikelihood, seen: Seen, order: int, kernels: Kernels) -> Blended:
    """Without weights yet. ``order``: how many columns another may depend on (0: none)."""
    from .blended import Blended

    look, rows = Look.of(likelihood.statistics, likelihood.shown), likelihood.statistics.rows
    log_prior = np.log((rows + 1.0) / (rows.sum() + len(rows)))
    losses = _losses(likelihood)
    gain = -float(rows @ log_prior) / max(float(rows.sum()), 1e-300) - losses
    views: tuple[View, ...] = ()
    if order and len(look.columns) > 1:
        share = seen.case_weight / seen.multiplicity
        cases = Cases(look.see(seen.batch.data, kernels), seen.batch.classes, seen.case_weight, share)
        views = tuple(_views(look, cases, log_prior, np.argsort(losses, kind="stable"), order, kernels))
        if order > 1:
            views += tuple(waves(*_codes(look), cases, len(rows), _relevance(gain)))
    none, n_classes = np.zeros(0), seen.batch.n_classes
    unweighted = Mixture(none, none, np.zeros((0, n_classes)), np.zeros(n_classes))
    ridge = np.append(_column_ridge(gain * rows.sum()), np.full(len(likelihood.blocks) + len(views), RIDGE))
    return Blended(tuple(likelihood.shown), len(likelihood.blocks), look, views, ridge, unweighted)


def _column_ridge(gain: Floats) -> Floats:
    """From what each column alone gains over all rows."""
    doubt = 1.0 + _DOUBTFUL / np.maximum(gain, 1e-3)
    return np.asarray(RIDGE * np.sqrt(max(1, len(gain))) * doubt)


def _losses(likelihood: TableLikelihood) -> Floats:
    """The left-out class log-loss of each column that is shown."""
    choices = likelihood.family.choices
    assert choices is not None
    return np.array([min(choices[j].losses.values()) for j in likelihood.shown])


def _relevance(gain: Floats) -> Floats:
    """How strongly a column that tells so much of the class counts among others, above 0 and up to 1."""
    gain = np.maximum(gain, 0.0)
    gain += _LEAST_RELEVANCE * max(float(gain.max()), 1e-3)
    return np.asarray(np.sqrt(gain / gain.max()))


def _codes(look: Look) -> tuple[list[Floats], list[bool]]:
    """The weight of each code of each column, and which columns hold numbers."""
    return [column.count for column in look.columns], [column.is_number for column in look.columns]


def _views(look: Look, cases: Cases, log_prior: Floats, by_loss: Array, order: int, kernels: Kernels) -> Iterator[View]:
    counts, numbers = _codes(look)
    for bins in BINS:
        if bins > BINS[0] and max(column.size for column in look.columns) <= BINS[0]:
            continue  # nothing that finer bins would tell apart
        one = one_dependence(f"pairs, {bins} bins", merged(counts, numbers, bins), cases, log_prior, kernels, by_loss)
        if one is None:
            return
        yield one
        if order > 1 and bins == BINS[0]:
            two = two_dependence("triples", one, by_loss[:PARENTS], cases, log_prior, kernels)
            if two is not None:
                yield two
    yield from _covariances(look, cases, len(log_prior), by_loss)


def _covariances(look: Look, cases: Cases, n_classes: int, by_loss: Array) -> Iterator[View]:
    numbers = [i for i, column in enumerate(look.columns) if column.is_number]
    if sum(look.columns[i].size > 1 for i in numbers) < 2:
        return
    place = {i: k for k, i in enumerate(numbers)}
    order = np.array([place[int(i)] for i in by_loss if int(i) in place], dtype=np.int64)
    counts = [look.columns[i].count for i in numbers]
    ranks, clipped = number_coordinates(numbers, counts, cases, n_classes, order)
    yield from covariances("covariance of ranks", ranks, cases, n_classes)
    yield from covariances("covariance", clipped, cases, n_classes)
