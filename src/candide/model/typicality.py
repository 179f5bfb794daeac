"""Typicality of rows: how probable a row is compared to training rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.arrays import missing_cells
from ..exceptions import ParameterError
from ..families import Batch
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Sparse
from .fitted import seen_rows
from .scorer import log_sum, with_infinities

if TYPE_CHECKING:
    from .classifier import Classifier


# Number of training rows that a row is compared with if rows differ in their amount of evidence.
_N_PEERS = 300


def typicality(model: Classifier, data: Any, kernels: Kernels) -> Floats:
    """Return the share of training rows that are at most as probable as each row, between 0 (unlike all) and 1.

    Only training rows with about as many observed cells (or tokens) are compared. Their densities are adjusted to the
    number of the row by a local linear regression.
    """
    seen, judge = seen_rows(model.bound_spec, model.state, "typicality"), _novelty_model(model)
    if not len(seen.case_weight):
        raise ParameterError(
            "typicality needs training rows, but forget has removed all of them; add rows with partial_fit"
        )
    amount, queried = _amounts(judge, seen.batch.data, data)
    density = _left_out_density(judge, seen.batch, kernels)
    # Rows are sorted by class, so ties are shuffled: neighbors with equal amounts must not all be of one class.
    order = np.lexsort((np.random.default_rng(0).permutation(len(amount)), amount))
    peers = _Peers(amount[order], density[order], seen.case_weight[order])
    return peers.share(queried, judge.log_density(data, kernels))


class _Peers(NamedTuple):
    """Training rows sorted by their amount of evidence."""

    amount: Floats
    density: Floats
    weight: Floats

    def share(self, amount: Floats, density: Floats) -> Floats:
        """Return the weighted share of training rows of similar amount that are at most as dense."""
        alike = bool(np.ptp(self.amount) == 0)
        size = len(self.amount) if alike else min(_N_PEERS, len(self.amount))
        middle = (np.searchsorted(self.amount, amount, "left") + np.searchsorted(self.amount, amount, "right")) // 2
        first = np.clip(middle - size // 2, 0, len(self.amount) - size)
        out = np.empty(len(amount))
        step = max(1, (1 << 20) // size)
        for begin in range(0, len(amount), step):
            rows = slice(begin, begin + step)
            out[rows] = self._share(first[rows, None] + np.arange(size), amount[rows, None], density[rows, None])
        return out

    def _share(self, near: Array, amount: Floats, density: Floats) -> Floats:
        weight, there = self.weight[near], _adjusted_density(self.density[near], self.amount[near], amount)
        # Equal densities count as no more probable, up to rounding.
        below = there <= density + 1e-9 * np.abs(np.nan_to_num(density))
        return np.asarray((weight * below).sum(axis=1) / weight.sum(axis=1))


def _adjusted_density(density: Floats, amount: Floats, to: Floats) -> Floats:
    """Return densities adjusted linearly to another amount; in proportion if all amounts are equal."""
    apart = amount - amount.mean(axis=1, keepdims=True)
    finite = np.where(np.isfinite(density), density, 0.0)
    across, along = (part.sum(axis=1, keepdims=True) for part in (apart * apart, apart * finite))
    slope = np.divide(along, across, out=np.zeros_like(along), where=across > 0)
    share = np.maximum(to, 1.0) / np.maximum(amount, 1.0)
    return np.where(across > 0, density - slope * (amount - to), density * share)


def _novelty_model(model: Classifier) -> Classifier:
    """Return the model in which values that did not occur in training have low densities."""
    from .classifier import Classifier

    for_novelty = model.family.for_novelty()
    return (
        model
        if for_novelty is model.family
        else Classifier(replace(model.bound_spec, family=for_novelty, alpha=None, calibrate=None), model.state)
    )


def _left_out_density(model: Classifier, batch: Batch, kernels: Kernels) -> Floats:
    """Return log p(x) of training rows, each left out."""
    parts = batch, model.state.statistics, model.likelihood, model.scorer.offset, kernels
    finite, limits = model.family.left_out(*parts)
    joint = with_infinities(finite, list(limits), finite > -np.inf)
    return np.asarray(log_sum(joint) + model.likelihood.log_base(batch.data))


def _amounts(model: Classifier, learned: Any, queried: Any) -> tuple[Floats, Floats]:
    """Return the number of observed cells or tokens of training rows and of other rows."""
    mine, theirs = (model.bound_spec.family.amount(data) for data in (learned, queried))
    if mine is not None and theirs is not None:
        return mine, theirs
    known = _observed_columns(learned)
    return _observed_cells(learned, known), _observed_cells(queried, known)


def _observed_columns(data: Any) -> Array:
    """Return which columns have values in training; the others do not contribute to a density."""
    if isinstance(data, Sparse):
        return np.ones(data.n_columns, dtype=bool)
    return np.array([not missing_cells(data.column(j)).all() for j in range(data.n_columns)])


def _observed_cells(data: Any, known: Array) -> Floats:
    if isinstance(data, Sparse):
        row = np.repeat(np.arange(data.n_rows), np.diff(data.indptr))
        missing = np.isnan(data.values) & known[data.indices]
        return np.asarray(known.sum() - np.bincount(row, missing, minlength=data.n_rows), dtype=np.float64)
    columns = (missing_cells(data.column(int(j))) for j in np.flatnonzero(known))
    return np.asarray(known.sum() - sum(columns, np.zeros(data.n_rows)))
