"""Summary of a model of texts: feature sets, bins and their weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..families.text import TextFamily
from ..families.text_likelihood import TextLikelihood
from ..kernels.layouts import Array
from ..stacking.refinement import word_features
from ..stacking.token_views import StackedTokenViews
from ..statistics.texts import TokenCounts, n_seen, pruned
from .table import Table, objects

if TYPE_CHECKING:
    from .classifier import Classifier


def text_summary(model: Classifier) -> Table:
    """Return one row per feature set, or per bin where bins have weights; with the number of pruned tokens, if any."""
    columns = _columns(model)
    pruned = _by_feature_set(model, lambda sums: sums.dropped.tokens)
    if any(pruned.values()):
        columns["pruned"] = np.array([pruned[feature_set] for feature_set in columns["feature_set"]])
    return Table(columns)


def _by_feature_set(model: Classifier, tell: Callable[[TokenCounts], int]) -> dict[str, int]:
    """Apply a function to the sums of the scored tokens of each feature set."""
    family, (words, *others) = model.family, model.state.statistics.feature_sets
    assert isinstance(family, TextFamily)
    feature_sets = family.terms_of(model.state.statistics).within(words), *others
    return {feature_set.name: tell(sums) for feature_set, sums in zip(family.feature_sets, feature_sets, strict=True)}


def _columns(model: Classifier) -> dict[str, Array]:
    views, tokens = (
        None if model.fitted is None else model.fitted.views,
        _by_feature_set(model, lambda sums: n_seen(sums.counts)),
    )
    if views is None:
        return {"feature_set": objects(tokens), "tokens": np.array(list(tokens.values()))}
    likelihood: Any = model.likelihood
    assert isinstance(likelihood, TextLikelihood)
    weights = dict(zip(views.names, views.weights.weight.mean(axis=1), strict=True))
    # Unused feature sets have no weight.
    rows = [(*name[:1], tokens[name.feature_set], *name[1:], weights.get(name, 0.0)) for name in likelihood.bin_names]
    if model.fitted is not None and model.fitted.refinement is not None:
        # Its tokens have a weight each, not one together.
        rows += [
            (feature_set.name, len(feature_set.coding), "a regression", 0, np.nan)
            for feature_set in model.fitted.refinement.feature_sets
        ]
    feature_set, n_tokens, by, bin_, weight = zip(*rows, strict=True)
    columns = {
        "feature_set": objects(feature_set),
        "tokens": np.array(n_tokens),
        "by": objects(by),
        "bin": np.array(bin_),
    }
    return columns | {"weight": np.array(weight)}


def by_feature_set(summary: Table) -> Table:
    """Return a table with one row per feature set, and the sum of the weights of its bins."""
    feature_sets = list(dict.fromkeys(summary["feature_set"].tolist()))
    places = [np.flatnonzero(summary["feature_set"] == feature_set) for feature_set in feature_sets]
    found = {"feature_set": objects(feature_sets), "tokens": np.array([summary["tokens"][rows[0]] for rows in places])}
    if "weight" in summary:
        found["weight"] = np.array([summary["weight"][rows].sum() for rows in places])
    return Table(found)


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
    return model.pruned(bound_spec, state, replace(fitted, bound_spec=bound_spec, views=views))
