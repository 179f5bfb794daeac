"""Scores of training rows by models without them, computed from the statistics: row by row, or fold by fold.

Only counts change when rows are left out; labels, the variance floor, pseudo-counts and empirical priors stay fixed.
The row is removed from the class prior too ("removed"), or the prior stays fixed ("fixed"). With "removed", an
uninformative model misclassifies every row of balanced classes, so "fixed" is used in model selection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..exceptions import ParameterError
from ..families import Batch, Family
from ..families.base import refuse_unseen_categories
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..stacking.training_rows import rows_by_fold
from ..statistics.base import remaining
from .scorer import Scorer, leaders_only

if TYPE_CHECKING:
    from .classifier import Classifier

PriorWhileOut = Literal["removed", "fixed"]


def leave_one_out(
    model: Classifier, batch: Batch, kernels: Kernels, prior: PriorWhileOut, family: Family | None = None
) -> Floats:
    """Return log p(class | x) of training rows, each left out by ``family``, by default that of the model."""
    refuse_unseen_categories(batch, model.state.statistics)
    offset = model.scorer.offset
    parts = batch, model.state.statistics, model.likelihood, offset, kernels
    finite, limits = (family or model.family).left_out(*parts)
    impossible = bool(np.isneginf(offset).any())
    if prior == "removed":
        impossible |= _leave_prior(model, batch, finite, kernels)
    if limits or impossible:
        finite = leaders_only(finite, list(limits), finite > -np.inf)
    if kernels.normalize(finite, logarithm=True):
        for i in np.flatnonzero(~np.isfinite(finite.max(axis=1))):
            # If the scores of an extreme row overflow, score it with a model trained without it.
            finite[i] = _scored_by_rest(model, batch, np.array([i]), kernels, prior)[0]
    return finite


def _leave_prior(model: Classifier, batch: Batch, scores: Floats, kernels: Kernels) -> bool:
    """Remove each row from the class prior of its scores, in place; return whether this rules out a class."""
    prior = model.prior_in_score
    if prior.balanced:
        change = _offset_change(model, batch)
        scores += change
    elif prior.follows_rows and model.bound_spec.prior_in_score:
        change = _own_prior_change(model, batch)
        kernels.add_own(scores, batch.classes, change, by_class=batch.weight is None)
    else:
        return False
    return bool(np.isneginf(change).any())


def _offset_change(model: Classifier, batch: Batch) -> Floats:
    """Return the change of the offsets of all classes when a row is left out, ``(rows, classes)``."""
    offset, rows = model.scorer.offset, model.state.rows
    if batch.weight is None:
        without = model.offset_for(remaining(rows, np.eye(len(rows))))[batch.classes]
    else:
        rest = np.tile(rows, (len(batch.classes), 1))
        rest[np.arange(len(rest)), batch.classes] = remaining(rows[batch.classes], batch.weight)
        without = model.offset_for(rest)
    # Impossible classes stay impossible.
    possible = np.isfinite(offset)
    return np.subtract(without, offset, out=np.zeros_like(without), where=possible)


def _own_prior_change(model: Classifier, batch: Batch) -> Floats:
    """Return the change of the log prior of a row's class when it is left out, up to a term shared by all classes.

    There is one change per row or, if all weights are equal, one per class.
    """
    counts = model.prior_in_score.counts(model.classes, model.state.rows)
    if batch.weight is None:
        # Classes without rows in this batch are not needed.
        present = np.bincount(batch.classes, minlength=len(counts)) > 0
        return _log_rest(np.divide(1.0, counts, out=np.zeros(len(counts)), where=present))
    return _log_rest(batch.weight / counts[batch.classes])


def _log_rest(gone: Floats) -> Floats:
    """Return log(1 - gone), where ``gone`` may be 1 up to rounding."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log1p(-np.where(gone >= 1 - 1e-12, 1.0, gone)))


def cross_val_log_proba(
    model: Classifier, batch: Batch, folds: Array, kernels: Kernels, prior: PriorWhileOut
) -> Floats:
    """Return log p(class | x) of training rows; each fold is scored by a model of the other folds."""
    refuse_unseen_categories(batch, model.state.statistics)
    out = np.empty((len(folds), len(model.classes)))
    for rows in rows_by_fold(folds):
        out[rows] = _scored_by_rest(model, batch, rows, kernels, prior)
    return out


def _scored_by_rest(model: Classifier, batch: Batch, rows: Array, kernels: Kernels, prior: PriorWhileOut) -> Floats:
    """Return the scores of rows by the model without them."""

    def offset_for(rest: Floats) -> Floats:
        return model.offset_for(rest) if prior == "removed" else model.scorer.offset

    return scored_by_rest(model.family, model.state.statistics, batch, rows, offset_for, kernels)


def scored_by_rest(
    family: Family, whole: Any, batch: Batch, rows: Array, offset_for: Callable[[Floats], Floats], kernels: Kernels
) -> Floats:
    """Return the scores of some rows of a batch by a model of the others; ``offset_for`` returns its class offsets."""
    rest = _without_rows(family, whole, batch, rows, kernels)
    scorer = Scorer(family.likelihood(rest), offset_for(rest.rows))
    return scorer.posterior(batch.data.take(rows), kernels, logarithm=True)


def _without_rows(family: Family, whole: Any, batch: Batch, rows: Array, kernels: Kernels) -> Any:
    """Return the statistics of all training rows except some rows of a batch."""
    rest = whole.without(family.observe(batch.take(rows), kernels))
    if rest.lost_digits(whole) and np.allclose(batch.row_weight(), whole.rows, rtol=1e-9):
        # All rows are present, so the statistics can be computed from the other rows.
        return family.observe(batch.take(np.delete(np.arange(len(batch.classes)), rows)), kernels)
    return rest


def left_out_scores(model: Classifier, batch: Batch, folds: Array | None, kernels: Kernels) -> Floats:
    """Return scores for model selection: rows are left out singly or in folds, with a fixed class prior."""
    if folds is None:
        return leave_one_out(model, batch, kernels, "fixed", model.family.for_choices())
    return cross_val_log_proba(model, batch, folds, kernels, "fixed")


def read_folds(groups: Any, n_folds: int | None, n_rows: int) -> Array:
    """Return the fold of each row: one fold per group, or ``n_folds`` ranges of rows."""
    if groups is not None:
        if n_folds is not None:
            raise ParameterError(f"n_folds is {n_folds!r}, but with groups every group is a fold; omit n_folds")
        return _positions_of(groups, n_rows)
    if n_rows < 2:
        raise ParameterError(
            f"found {n_rows} rows; expected at least 2, because each fold is scored by a model of "
            "the others; pass more rows"
        )
    count = min(5, n_rows) if n_folds is None else n_folds
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 2 <= count <= n_rows:
        raise ParameterError(f"n_folds is {n_folds!r}; expected an integer from 2 to the number of rows, {n_rows}")
    return np.arange(n_rows) * int(count) // n_rows


def _positions_of(groups: Any, n_rows: int) -> Array:
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise ParameterError(f"groups has shape {labels.shape} for {n_rows} rows; pass one group per row")
    try:
        return np.asarray(np.unique(labels, return_inverse=True)[1])
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels.tolist()}))
        raise ParameterError(
            f"groups contains values of different types ({kinds}), which cannot be sorted; pass values of one type"
        ) from None


def check_prior(prior: Any) -> PriorWhileOut:
    """Return the checked setting for the class prior of left-out rows."""
    if prior not in ("removed", "fixed"):
        raise ParameterError(
            f"class_prior is {prior!r}; expected 'removed' (the left-out row does not count in the prior) or 'fixed'"
        )
    checked: PriorWhileOut = prior
    return checked
