"""Models after further rows, without some, or of the rows of two: sums change at once, what was fitted with the next
refit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..exceptions import ForgetError, MergeError
from ..kernels import Kernels
from ..specs import BoundSpec
from ..stacking.stacked_views import Blended
from .blend import Blend
from .state import State
from .telling import all_names

if TYPE_CHECKING:
    from .classifier import Classifier


def after_rows(model: Classifier, state: State, plan: BoundSpec, batch: State, sign: float) -> Classifier:
    """With other sums, after the rows of a batch were added (``sign`` is 1.0) or taken out (-1.0)."""
    blend = model.latest_blend
    if blend is not None:
        blend = blend.later(float(batch.rows.sum()))
        if state.sample is None:
            blend = blend.among(state.classes)
        elif not blend.suits(plan, state):
            due = blend if blend.lasts_for(plan, state) else None
            return type(model)(plan, state, due, token_names=model.token_names, choices=model.latest_choices)
        else:
            blend = _with_views(blend, plan, state, batch, sign)
    after = type(model)(plan, state, blend, token_names=model.token_names, choices=model.latest_choices)
    if blend is not None and state.sample is not None:
        vars(after)["current"] = blend  # which is known to suit
    return after


def _with_views(blend: Blend, plan: BoundSpec, state: State, batch: State, sign: float) -> Blend | None:
    """Views of a table hold sums of rows too, which change at once; None where they must be made anew."""
    if not isinstance(blend.views, Blended):
        return blend
    batch = batch.among(state.classes)
    if batch.sample is None:
        return None
    data = plan.family.restored(batch.sample.data, batch.statistics)
    views = blend.views.changed(batch.sample, data, sign, Kernels(plan.n_threads))
    return None if views is None else replace(blend, views=views)


def forgotten(model: Classifier, batch: State) -> Classifier:
    """Without rows that were learned.

    They leave sums, views and the rows kept at once; a refinement, which is no sum, with the next refit.
    """
    blend, state = model.latest_blend, model.state.forget(batch)
    batch = model.state.in_same_groups(batch)
    if blend is not None and blend.refinement is not None and state.sample is None:
        raise ForgetError(
            "a refined model forgets by fitting its refinement again, and this one keeps no training texts to fit "
            "it on; nothing was changed; construct it with keep_sample=True, or with refine=False"
        )
    return after_rows(model, state, model.plan, batch, -1.0)


def merged(model: Classifier, other: Classifier) -> Classifier:
    """The model of the rows of both."""
    if type(model.plan.family) is not type(other.plan.family):
        raise MergeError("only models of one kind can be merged")
    state, names = model.state.merge(other.state), all_names(other.token_names, model.token_names)
    if state.sample is None:
        blend = model.blend
        blend = None if blend is None else blend.later(float(other.state.rows.sum())).among(state.classes)
        return type(model)(model.plan, state, blend, token_names=names)
    blend = _lasting_blend(model, other) or _lasting_blend(other, model)
    if blend is not None:
        return type(model)(model.plan, state, blend, token_names=names)
    # What was fitted for the model with more weight: the result does not depend on which model absorbed which.
    heavier, lighter = (model, other) if model.state.rows.sum() >= other.state.rows.sum() else (other, model)
    if heavier.kept_blend is None:
        return type(model)(model.plan, state, token_names=names)
    after = after_rows(heavier, state, model.plan, lighter.state, 1.0)
    return type(model)(model.plan, state, after.latest_blend, token_names=names, choices=heavier.latest_choices)


def _lasting_blend(model: Classifier, other: Classifier) -> Blend | None:
    """What cannot be fitted again, after the rows of another model."""
    mine = model.latest_blend
    return mine.later(float(other.state.rows.sum())) if mine is not None and mine.lasting else None
