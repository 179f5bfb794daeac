"""The classes whose instances a model file may contain, by their names in files, and the types of their fields.

Names in files never change, even if the classes are renamed in Python. Instances of other classes are not stored, and a
file that names another class is refused: this is the only place where a name from a file is resolved to a class.

A class is imported when a file first names it: the modules of all of them take as long to import as NumPy.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..families import FAMILIES

# Families of columns by their names in files.
COLUMN_FAMILIES = {
    f"{module.replace('_', ' ')} family": f"candide.families.{module}:{family}" for module, family in FAMILIES.items()
}
# Modules and classes by their names in files.
CLASSES = {
    # Rows, labels and tokens.
    "index": "candide.data.index:Index",
    "dense rows": "candide.kernels.layouts:Dense",
    "sparse rows": "candide.kernels.layouts:Sparse",
    "mixed rows": "candide.statistics.kept_rows:MixedRows",
    "recipe": "candide.kernels.tokenizer:TokenizerConfig",
    "buckets": "candide.kernels.vocabulary:Buckets",
    # Statistics.
    "counts": "candide.statistics.counts:Counts",
    "category counts": "candide.statistics.counts:CategoryCounts",
    "moments": "candide.statistics.moments:Moments",
    "block moments": "candide.statistics.moments:BlockMoments",
    "grid": "candide.statistics.grid:Grid",
    "table statistics": "candide.statistics.table:TableStatistics",
    "text statistics": "candide.statistics.texts:TextStatistics",
    "token counts": "candide.statistics.texts:TokenCounts",
    "dropped": "candide.statistics.texts:Dropped",
    "sample": "candide.statistics.sample:Sample",
    "entries": "candide.statistics.sample:Entries",
    "thresholds": "candide.statistics.sample:Thresholds",
    "budget": "candide.statistics.base:Budget",
    "state": "candide.model.state:State",
    # Priors, families and the plan.
    "dirichlet": "candide.priors.dirichlet:Dirichlet",
    "beta": "candide.priors.dirichlet:Beta",
    "gamma": "candide.priors.gamma:Gamma",
    "normal": "candide.priors.normal:Normal",
    "normal-inverse-gamma": "candide.priors.normal:NormalInverseGamma",
    "normal-inverse-wishart": "candide.priors.normal:NormalInverseWishart",
    "class prior": "candide.specs.class_prior:ClassPrior",
    **COLUMN_FAMILIES,
    "table family": "candide.families.table:TableFamily",
    "wanted": "candide.families.table:ColumnSpec",
    "block": "candide.families.table:Block",
    "text family": "candide.families.text:TextFamily",
    "token look": "candide.families.feature_sets:FeatureSet",
    "limits": "candide.families.feature_sets:Limits",
    "plan": "candide.specs.base:BoundSpec",
    # Parameters fitted on training rows: weights of views, calibration, leave-one-out metrics.
    "blend": "candide.model.fitted:Fitted",
    "scaling": "candide.stacking.calibration:Scaling",
    "beta curves": "candide.stacking.calibration_curves:Beta",
    "isotonic curves": "candide.stacking.calibration_curves:Isotonic",
    "curve": "candide.stacking.calibration_curves:Curve",
    "chain": "candide.stacking.calibration:Chain",
    "mixture": "candide.stacking.weights:StackingWeights",
    "partial weights": "candide.stacking.weights:PartialWeights",
    "blended": "candide.stacking.stacked_views:StackedViews",
    "look": "candide.stacking.binning:TableBinning",
    "column look": "candide.stacking.binning:ColumnBinning",
    "merging": "candide.stacking.binning:MergedCodes",
    "one-dependence": "candide.stacking.dependence:OneDependence",
    "pair table": "candide.kernels.scoring:PairTable",
    "two-dependence": "candide.stacking.dependence:TwoDependence",
    "joint slots": "candide.stacking.dependence:JointSlots",
    "triple table": "candide.kernels.scoring:TripleTable",
    "covariance": "candide.stacking.covariance:Covariance",
    "clipped coordinates": "candide.stacking.binning:ClippedCoordinates",
    "rank coordinates": "candide.stacking.binning:RankCoordinates",
    "waves": "candide.stacking.fourier_regression:FourierRegression",
    "wave sums": "candide.stacking.fourier_regression:FeatureSums",
    "cosines": "candide.stacking.fourier_features:RandomFourierFeatures",
    "inputs": "candide.stacking.fourier_features:Inputs",
    "cell regression": "candide.stacking.cell_regression:CellRegression",
    "grid regression": "candide.stacking.grid_regression:GridRegression",
    "effects": "candide.stacking.effects:Effects",
    "text view": "candide.stacking.token_views:TextColumnView",
    "text blended": "candide.stacking.token_views:StackedTokenViews",
    "band name": "candide.families.text_likelihood:TokenBinName",
    "refinement": "candide.stacking.refinement:Refinement",
    "report": "candide.model.evaluation:Evaluation",
    "unlabelled": "candide.model.unlabeled:Unlabeled",
}
NAMES = {reference: name for name, reference in CLASSES.items()}


@cache
def class_named(name: str) -> Any:
    """Return the class of this name in files."""
    module, _, attribute = CLASSES[name].partition(":")
    return getattr(import_module(module), attribute)


def name_of(cls: type[Any]) -> str | None:
    """Return the name of a class in files, or None if its instances are not stored."""
    return NAMES.get(f"{cls.__module__}:{cls.__qualname__}")


class _Named(type):
    """A stand-in for registered classes in annotations: ``isinstance`` works without importing them."""

    names: tuple[str, ...]

    def __instancecheck__(cls, value: Any) -> bool:
        return any(name_of(base) in cls.names for base in type(value).__mro__)


def stand_in(*names: str) -> type[Any]:
    """Return a stand-in for the classes of these names."""
    return _Named(names[0], (), {"names": names})


# Types of fields that are annotated as a protocol, or as a class that only some models need.
DECLARED = {
    "Family": stand_in(*COLUMN_FAMILIES, "table family", "text family"),
    "Statistics": stand_in("block moments", "category counts", "counts", "moments"),
    "Calibration": stand_in("beta curves", "chain", "isotonic curves", "scaling"),
    "View": stand_in("cell regression", "covariance", "grid regression", "one-dependence", "two-dependence", "waves"),
    "Coordinates": stand_in("clipped coordinates", "rank coordinates"),
    "Evaluation": stand_in("report"),
    "Sample": stand_in("sample"),
    "StackedViews": stand_in("blended"),
}


@cache
def field_types(cls: Any) -> dict[str, Any]:
    """Return the types of the fields of a class, by name."""
    return get_type_hints(cls, localns=DECLARED)


def matches_type(value: Any, hint: Any) -> bool:
    """Return whether a value has a type, as the registered classes declare them.

    >>> matches_type((1, 2), tuple[int, ...]), matches_type(1, float), matches_type(True, int)
    (True, True, False)
    """
    if hint is Any:
        return True
    if hint is None or hint is type(None):
        return value is None
    origin, arguments = _parsed(hint)
    return _matches_generic(value, origin, arguments) if arguments else _matches_class(value, hint)


@cache
def _parsed(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(hint), get_args(hint)


def _matches_class(value: Any, hint: Any) -> bool:
    if hint in (int, float):
        numbers = (int, np.integer) if hint is int else (int, float, np.integer, np.floating)
        return isinstance(value, numbers) and not isinstance(value, bool)
    return isinstance(value, hint)


def _matches_generic(value: Any, origin: Any, arguments: tuple[Any, ...]) -> bool:
    if origin in (Union, types.UnionType):
        return any(matches_type(value, hint) for hint in arguments)
    if origin is Literal:
        return any(type(value) is type(option) and value == option for option in arguments)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _has_dtype(value, arguments[1])
    return isinstance(value, origin) and _match_items(value, origin, arguments)


def _has_dtype(value: Any, hint: Any) -> bool:
    _, arguments = _parsed(hint)
    return not arguments or arguments[0] is Any or value.dtype == arguments[0]


def _match_items(value: Any, origin: Any, arguments: tuple[Any, ...]) -> bool:
    if origin is tuple and arguments[-1] is not Ellipsis:
        return len(value) == len(arguments) and all(map(matches_type, value, arguments))
    if issubclass(origin, Mapping):
        return all(matches_type(key, arguments[0]) and matches_type(item, arguments[1]) for key, item in value.items())
    return all(matches_type(item, arguments[0]) for item in value)
