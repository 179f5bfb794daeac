"""Models of texts made smaller: without their rarest tokens, or without looks that are not heard."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ..families.text import TextFamily
from ..stacking.refinement import word_features
from ..stacking.token_views import StackedTokenViews
from ..statistics.texts import pruned

if TYPE_CHECKING:
    from .classifier import Classifier


def prune(model: Classifier, budget: int, unit: Literal["tokens", "bytes"]) -> Classifier:
    """With the heaviest tokens alone. Weights of looks and bands stay as they are."""
    statistics = pruned(model.state.statistics, budget, unit)
    state = replace(model.state, statistics=statistics)
    return type(model)(model.plan, state, model.blend, token_names=model.token_names)


def compact(model: Classifier) -> Classifier:
    """Without looks whose bands have no weight; it predicts the same.

    Words stay: they are what the model knows of texts beside the blend. So does what a regression learns from.
    """
    blend, family = model.blend, model.plan.family
    if blend is None or not isinstance(blend.views, StackedTokenViews):
        return model
    assert isinstance(family, TextFamily)
    views = blend.views.without_unused()
    heard = [family.looks[0], *(word_features(family.looks) if model.plan.refine else [])]
    asked = {look.name for look in heard} | set(views.looks)
    places = [i for i, look in enumerate(family.looks) if look.name in asked]
    idle = tuple(look.name for look in family.looks if look.name not in asked)
    plan = replace(model.plan, family=family.without_looks((*family.dropped, *idle)))
    state = replace(model.state, statistics=model.state.statistics.take_looks(places))
    return model.smaller(plan, state, replace(blend, plan=plan, views=views))
