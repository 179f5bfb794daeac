"""Summaries of models: columns and views of a table, or feature sets, token bins and weights of texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..families.columns.histogram import gain
from ..families.table import TableFamily
from ..families.text import TextFamily
from ..families.text_likelihood import TextLikelihood
from ..kernels.layouts import Array, Floats
from ..stacking.binning import TableBinning
from ..stacking.covariance import Covariance
from ..stacking.dependence import OneDependence, TwoDependence, UpdatedCounts
from ..stacking.fourier_regression import FourierRegression
from ..stacking.grid_regression import GridRegression
from ..stacking.refinement import word_features
from ..stacking.stacked_views import StackedViews
from ..stacking.token_views import StackedTokenViews
from ..stacking.views import View
from ..statistics.table import TableStatistics
from ..statistics.texts import TokenCounts, n_seen, pruned
from .table import Table, objects

if TYPE_CHECKING:
    from .classifier import Classifier

# Maximum number of columns listed per view.
_LISTED = 5


def summary(model: Classifier) -> Table:
    """Return one row per column, then one per block and per view of several columns."""
    family, statistics = model.family, model.state.statistics
    assert isinstance(family, TableFamily)
    assert family.choices is not None
    shown = [_row(model, family, statistics, j) for j in range(len(family.names))]
    weight, more = _weights(model, len(shown))
    for block in family.blocks:
        names = ", ".join(str(family.names[j]) for j in block.columns)
        shown.append([names, type(block.family).__name__, "", np.nan, np.nan, "a block"])
    shown += [[name, "view", "", np.nan, np.nan, note] for name, note in more]
    column, kind, parameters, bits, missing, note = (list(part) for part in zip(*shown, strict=True))
    return Table(
        {
            "column": objects(column),
            "family": objects(kind),
            "parameters": objects(parameters),
            "own_weight": weight,
            "bits": np.array(bits),
            "missing": np.array(missing),
            "note": objects(note),
        }
    )


def _row(model: Classifier, family: TableFamily, statistics: TableStatistics, j: int) -> list[object]:
    assert family.choices is not None
    choice, rows = family.choices[j], float(statistics.rows.sum())
    missing = 1.0 - float(statistics.observed(j).sum()) / rows if rows > 0 else np.nan
    if statistics.kinds[j] == "text":
        return [str(family.names[j]), "text", _words(statistics, j), _text_bits(model, j), missing, choice.note]
    if choice.model is None:
        return [str(family.names[j]), "-", "", 0.0, missing, choice.note]
    made, bits = choice.model, _bits(statistics, choice.losses)
    return [str(family.names[j]), made.family, made.describe(), bits, missing, choice.note]


def _words(statistics: TableStatistics, j: int) -> str:
    return f"{n_seen(statistics.texts[statistics.place(j)].feature_sets[0].counts):,} words"


def _text_bits(model: Classifier, j: int) -> float:
    """Return the information of a text column about the class; NaN without leave-one-out scores."""
    views = None if model.fitted is None else model.fitted.views
    gains = {text.column: text.gain for text in views.texts} if isinstance(views, StackedViews) else {}
    return max(0.0, gains[j]) / float(np.log(2.0)) if j in gains else np.nan


def _bits(statistics: TableStatistics, losses: dict[str, float]) -> float:
    """Return the information of the best family about the class in bits."""
    return max(0.0, float(gain(statistics.rows, min(losses.values())))) / float(np.log(2.0))


def _weights(model: Classifier, n_columns: int) -> tuple[Floats, list[tuple[str, str]]]:
    """Return the weight of each row of the summary, and the names and columns of views of several columns."""
    family = model.family
    assert isinstance(family, TableFamily)
    assert family.choices is not None
    views = None if model.fitted is None else model.fitted.views
    if not isinstance(views, StackedViews):
        kinds = model.state.statistics.kinds
        own = [float(choice.model is not None or kinds[j] == "text") for j, choice in enumerate(family.choices)]
        return np.array([*own, *[1.0] * len(family.blocks)]), []
    binned = np.array([column.column for column in views.binning.columns], dtype=np.int64)
    columns = [np.array(views.columns, dtype=np.int64), *(binned[_places(view, views.binning)] for view in views.views)]
    notes = [_listed([str(family.names[j]) for j in own.tolist()]) for own in columns]
    weight = np.concatenate([views.column_weight(n_columns), views.mean_view_weight])
    return weight, list(zip(views.names, notes, strict=True))


def _places(view: View, binning: TableBinning) -> Array:
    """Return the columns of a view, as positions among the binned columns."""
    if isinstance(view, UpdatedCounts):
        return _places(view.base, binning)
    if isinstance(view, OneDependence):
        return view.merged.columns
    if isinstance(view, TwoDependence):
        return view.one.merged.columns
    if isinstance(view, Covariance):
        return np.sort(view.coordinates.code_columns(binning.number_columns))
    if isinstance(view, FourierRegression):
        return np.unique(view.features.inputs.column)
    if isinstance(view, GridRegression):
        return view.columns
    return np.arange(len(binning.columns))


def _listed(names: list[str]) -> str:
    """
    >>> _listed(["age", "pay"]), _listed(["a", "b", "c", "d", "e", "f", "g", "h"])
    ('of age, pay', 'of a, b, c, d, e and 3 more')
    """
    if len(names) <= _LISTED + 1:
        return f"of {', '.join(names)}"
    return f"of {', '.join(names[:_LISTED])} and {len(names) - _LISTED} more"


def text_summary(model: Classifier) -> Table:
    """Return one row per feature set, or per bin if bins have weights, and the number of pruned tokens, if any."""
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
        # The regression has one weight per token.
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
    """Return the model with its most frequent tokens. Weights of feature sets and bins do not change."""
    statistics = pruned(model.state.statistics, budget, unit)
    state = replace(model.state, statistics=statistics)
    return type(model)(model.bound_spec, state, model.fitted, token_names=model.token_names)


def compact(model: Classifier) -> Classifier:
    """Return the model without feature sets whose bins have no weight; predictions do not change.

    Words are kept, because parameters and priors are those of words, and so are feature sets that a refinement uses.
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
