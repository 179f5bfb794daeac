"""Make models of texts smaller: without their rarest tokens, or without feature sets that have no weight."""

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
    """Return the model with its most frequent tokens. Weights of feature sets and bins stay as they are."""
    statistics = pruned(model.state.statistics, budget, unit)
    state = replace(model.state, statistics=statistics)
    return type(model)(model.bound_spec, state, model.fitted, token_names=model.token_names)


def compact(model: Classifier) -> Classifier:
    """Return the model without feature sets whose bins have no weight; it predicts the same.

    Words stay, because parameters and priors are those of words. So does what a refinement is fitted on.
    """
    fitted, family = model.fitted, model.bound_spec.family
    if fitted is None or not isinstance(fitted.views, StackedTokenViews):
        return model
    assert isinstance(family, TextFamily)
    views = fitted.views.without_unused()
    used = [family.feature_sets[0], *(word_features(family.feature_sets) if model.bound_spec.refine else [])]
    used_names = {feature_set.name for feature_set in used} | set(views.feature_sets)
    places = [i for i, feature_set in enumerate(family.feature_sets) if feature_set.name in used_names]
    unused = tuple(feature_set.name for feature_set in family.feature_sets if feature_set.name not in used_names)
    bound_spec = replace(model.bound_spec, family=family.without_feature_sets((*family.dropped, *unused)))
    state = replace(model.state, statistics=model.state.statistics.take_feature_sets(places))
    return model.smaller(bound_spec, state, replace(fitted, bound_spec=bound_spec, views=views))
