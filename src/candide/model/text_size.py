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
    return type(model)(model.bound_spec, state, model.fitted, token_names=model.token_names)


def compact(model: Classifier) -> Classifier:
    """Without looks whose bands have no weight; it predicts the same.

    Words stay, because parameters and priors are those of words. So does what a refinement is fitted on.
    """
    fitted, family = model.fitted, model.bound_spec.family
    if fitted is None or not isinstance(fitted.views, StackedTokenViews):
        return model
    assert isinstance(family, TextFamily)
    views = fitted.views.without_unused()
    heard = [family.looks[0], *(word_features(family.looks) if model.bound_spec.refine else [])]
    asked = {look.name for look in heard} | set(views.looks)
    places = [i for i, look in enumerate(family.looks) if look.name in asked]
    idle = tuple(look.name for look in family.looks if look.name not in asked)
    bound_spec = replace(model.bound_spec, family=family.without_looks((*family.dropped, *idle)))
    state = replace(model.state, statistics=model.state.statistics.take_looks(places))
    return model.smaller(bound_spec, state, replace(fitted, bound_spec=bound_spec, views=views))
