"""Updates of trained models: learning, forgetting, merging. Sums change immediately, fitted parameters at a refit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..exceptions import ForgetError, MergeError, warn
from ..families.base import is_table
from ..kernels import Kernels
from ..specs import BoundSpec
from ..stacking.stacked_views import StackedViews
from .fitted import Fitted, fitted_setting, seen_rows
from .state import State
from .top_features import all_names

if TYPE_CHECKING:
    from .classifier import Classifier


def after_rows(model: Classifier, state: State, bound_spec: BoundSpec, batch: State, sign: float) -> Classifier:
    """Return the classifier after the rows of a batch were added (``sign`` is 1.0) or removed (-1.0)."""
    fitted = model.latest_fitted
    if fitted is not None and state.sample is None:
        fitted = _without_refit(fitted, state, batch)
        if sign < 0 and isinstance(fitted.views, StackedViews):
            # The views will not be recomputed, and the name of a category may identify a person.
            binning = fitted.views.binning.without_forgotten(state.statistics)
            fitted = replace(fitted, views=replace(fitted.views, binning=binning))
    elif fitted is not None:
        fitted = fitted.later(float(batch.rows.sum()))
        if not fitted.suits(bound_spec, state):
            due = fitted if fitted.weights_frozen_for(bound_spec, state) else None
            return type(model)(bound_spec, state, due, token_names=model.token_names, choices=model.latest_choices)
        fitted = _with_views(fitted, bound_spec, state, batch, sign)
    after = type(model)(bound_spec, state, fitted, token_names=model.token_names, choices=model.latest_choices)
    if fitted is not None and state.sample is not None:
        vars(after)["current"] = fitted  # known to be valid
    return after


def _without_refit(fitted: Fitted, state: State, batch: State) -> Fitted:
    """Return the fitted parameters after a batch, and warn if a refit is due but no rows are kept."""
    later = fitted.later(float(batch.rows.sum()))
    if later.is_due and not fitted.is_due:
        warn(
            f"{later.age:.0%} of the rows changed since {fitted_setting(later.bound_spec)} was fitted, but it "
            "cannot be refitted, because this model keeps no training rows; construct it with subsample=100_000, or "
            "fit again with all rows"
        )
    return later.among(state.classes)


def _with_views(fitted: Fitted, bound_spec: BoundSpec, state: State, batch: State, sign: float) -> Fitted | None:
    """Return fitted parameters with updated sums in the views of a table; None if the views must be recomputed."""
    if not isinstance(fitted.views, StackedViews):
        return fitted
    batch = batch.among(state.classes)
    if batch.sample is None:
        return None
    data = bound_spec.family.restored(batch.sample.data, batch.statistics)
    views = fitted.views.updated(batch.sample, data, sign, Kernels(bound_spec.n_threads))
    return None if views is None else replace(fitted, views=views)


def forgotten(model: Classifier, batch: State) -> Classifier:
    """Return the classifier without rows that it was trained on.

    Sums, views and kept rows change immediately. A refinement is not a sum and changes at the next refit.
    """
    fitted, state = model.latest_fitted, model.state.forget(batch)
    batch = model.state.in_same_groups(batch)
    if fitted is not None and fitted.refinement is not None and state.sample is None:
        raise ForgetError(
            "forgetting rows requires refitting the refinement, but this model keeps no training texts; the model is "
            "unchanged; construct it with subsample=100_000, or with refine=False"
        )
    return after_rows(model, state, model.bound_spec, batch, -1.0)


def with_fine_grid(bound_spec: BoundSpec, state: State) -> State:
    """Return the state with the cells of numbers that a new fit would have, if all rows are kept.

    When rows are forgotten, cells that were merged because there were too many stay merged.
    """
    sample, statistics = state.sample, state.statistics
    if sample is None or not sample.is_complete or not is_table(bound_spec.family) or not statistics.grid.shift.any():
        return state
    rows = seen_rows(bound_spec, state, "refit").with_all_copies()
    made = bound_spec.family.observe(rows, Kernels(bound_spec.n_threads))
    return replace(state, statistics=replace(statistics, grid=made.grid))


def merged(model: Classifier, other: Classifier) -> Classifier:
    """Return the classifier of the rows of both models."""
    if type(model.bound_spec.family) is not type(other.bound_spec.family):
        raise MergeError("only models of the same type can be merged")
    state, names = model.state.merge(other.state), all_names(other.token_names, model.token_names)
    if state.sample is None:
        fitted = model.fitted_without_rows
        fitted = None if fitted is None else _without_refit(fitted, state, other.state)
        return type(model)(model.bound_spec, state, fitted, token_names=names)
    fitted = _frozen_fitted(model, other) or _frozen_fitted(other, model)
    if fitted is not None:
        return type(model)(model.bound_spec, state, fitted, token_names=names)
    # Use the estimates of the model with more weight, so that the order of the models does not matter.
    heavier, lighter = (model, other) if model.state.rows.sum() >= other.state.rows.sum() else (other, model)
    if heavier.kept_fitted is None:
        return type(model)(model.bound_spec, state, token_names=names)
    after = after_rows(heavier, state, model.bound_spec, lighter.state, 1.0)
    return type(model)(model.bound_spec, state, after.latest_fitted, token_names=names, choices=heavier.latest_choices)


def _frozen_fitted(model: Classifier, other: Classifier) -> Fitted | None:
    """Return the fitted parameters of one model, if they cannot be refitted after a merge."""
    mine = model.latest_fitted
    return mine.later(float(other.state.rows.sum())) if mine is not None and mine.frozen else None
