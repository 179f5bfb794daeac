"""How usual a row is, among the rows that the model has learned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..encoding.columns import missing_cells
from ..families import Batch
from ..kernels import Kernels
from ..kernels.data import Floats, Sparse
from .blend import seen_rows
from .scorer import with_infinities

if TYPE_CHECKING:
    from .classifier import Classifier


def typicality(model: Classifier, data: Any, kernels: Kernels) -> Floats:
    """The share of training rows that are no more probable than each row, between 0 (nothing like it) and 1.

    Densities are taken per observed cell (or token), so that short rows and rows with holes compare.
    """
    seen, judge = seen_rows(model.state, "typicality"), _judge(model)
    learned = _left_out_density(judge, seen.batch, kernels)
    order = np.argsort(learned)
    below = np.concatenate([[0.0], np.cumsum(seen.case_weight[order])])
    density = _per_cell(judge, judge.log_density(data, kernels), data)
    # Equal densities count as no more probable, up to rounding.
    reached = np.searchsorted(learned[order], density + 1e-9 * np.abs(np.nan_to_num(density)), side="right")
    return np.asarray(below[reached] / below[-1])


def _judge(model: Classifier) -> Classifier:
    """The model, wary of what it has never seen."""
    from .classifier import Classifier

    wary = model.family.wary()
    return (
        model
        if wary is model.family
        else Classifier(replace(model.plan, family=wary, alpha=None, calibrate=None), model.state)
    )


def _left_out_density(model: Classifier, batch: Batch, kernels: Kernels) -> Floats:
    """log p(x) of learned rows, each left out, per cell."""
    from .classifier import log_sum

    parts = batch, model.state.statistics, model.likelihood, model.scorer.offset, kernels
    finite, limits = model.family.left_out(*parts)
    joint = with_infinities(finite, list(limits), finite > -np.inf)
    return _per_cell(model, log_sum(joint) + model.likelihood.log_base(batch.data), batch.data)


def _per_cell(model: Classifier, density: Floats, data: Any) -> Floats:
    amount = model.plan.family.amount(data)
    if amount is None:
        amount = _observed_cells(data)
    return np.asarray(density / np.maximum(amount, 1.0))


def _observed_cells(data: Any) -> Floats:
    if isinstance(data, Sparse):
        row = np.repeat(np.arange(data.n_rows), np.diff(data.indptr))
        return np.asarray(
            data.n_columns - np.bincount(row, np.isnan(data.values), minlength=data.n_rows), dtype=np.float64
        )
    missing = sum(missing_cells(data.column(j)).astype(np.float64) for j in range(data.n_columns))
    return np.asarray(data.n_columns - missing)
