"""The classes whose instances a model file may contain, by their names in files, and the types of their fields.

Names in files never change, whatever the classes are called in Python. Instances of other classes are not stored, and a
file that names another class is refused: this is the only place where a name from a file is resolved to a class.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..data.index import Index
from ..families import FAMILIES, Family
from ..families.table import Block, ColumnSpec, TableFamily
from ..families.terms import FeatureSet, Limits
from ..families.text import TextFamily
from ..families.text_likelihood import TokenBinName
from ..kernels.dependence import PairTable, TripleTable
from ..kernels.layouts import Dense, Sparse
from ..kernels.tokenizer import TokenizerConfig
from ..kernels.vocabulary import Buckets
from ..model.evaluation import Evaluation
from ..model.fitted import Fitted
from ..model.state import State
from ..model.unlabeled import Unlabeled
from ..priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma, NormalInverseWishart
from ..specs import BoundSpec, ClassPrior
from ..stacking.binning import ColumnBinning, MergedCodes, TableBinning
from ..stacking.calibration import Calibration, Chain
from ..stacking.calibration.curves import Beta as BetaCurves
from ..stacking.calibration.curves import Curve, Isotonic
from ..stacking.calibration.scaling import Scaling
from ..stacking.coordinates import ClippedCoordinates, Coordinates, RankCoordinates
from ..stacking.covariance import Covariance
from ..stacking.fourier_features import Inputs, RandomFourierFeatures
from ..stacking.fourier_regression import FeatureSums, FourierRegression
from ..stacking.one_dependence import OneDependence
from ..stacking.partial_rows import PartialWeights
from ..stacking.refinement import Refinement
from ..stacking.stacked_views import StackedViews
from ..stacking.token_views import StackedTokenViews, TextColumnView
from ..stacking.two_dependence import JointSlots, TwoDependence
from ..stacking.views import View
from ..stacking.weights import StackingWeights
from ..statistics import BlockMoments, CategoryCounts, Counts, Moments, Sample
from ..statistics.base import Statistics
from ..statistics.grid import Grid
from ..statistics.kept_rows import MixedRows
from ..statistics.sample import Entries
from ..statistics.table import TableStatistics
from ..statistics.texts import TextStatistics
from ..statistics.token_counts import Dropped, TokenCounts

CLASSES: dict[str, type[Any]] = {
    # Rows, labels and tokens.
    "index": Index,
    "dense rows": Dense,
    "sparse rows": Sparse,
    "mixed rows": MixedRows,
    "recipe": TokenizerConfig,
    "buckets": Buckets,
    # Statistics.
    "counts": Counts,
    "category counts": CategoryCounts,
    "moments": Moments,
    "block moments": BlockMoments,
    "grid": Grid,
    "table statistics": TableStatistics,
    "text statistics": TextStatistics,
    "token counts": TokenCounts,
    "dropped": Dropped,
    "sample": Sample,
    "entries": Entries,
    "state": State,
    # Priors, families and the plan.
    "dirichlet": Dirichlet,
    "beta": Beta,
    "gamma": Gamma,
    "normal": Normal,
    "normal-inverse-gamma": NormalInverseGamma,
    "normal-inverse-wishart": NormalInverseWishart,
    "class prior": ClassPrior,
    **{f"{name.replace('_', ' ')} family": family for name, family in FAMILIES.items()},
    "table family": TableFamily,
    "wanted": ColumnSpec,
    "block": Block,
    "text family": TextFamily,
    "token look": FeatureSet,
    "limits": Limits,
    "plan": BoundSpec,
    # Estimates from the training rows: weights of views, calibration, leave-one-out measures.
    "blend": Fitted,
    "scaling": Scaling,
    "beta curves": BetaCurves,
    "isotonic curves": Isotonic,
    "curve": Curve,
    "chain": Chain,
    "mixture": StackingWeights,
    "partial weights": PartialWeights,
    "blended": StackedViews,
    "look": TableBinning,
    "column look": ColumnBinning,
    "merging": MergedCodes,
    "one-dependence": OneDependence,
    "pair table": PairTable,
    "two-dependence": TwoDependence,
    "joint slots": JointSlots,
    "triple table": TripleTable,
    "covariance": Covariance,
    "clipped coordinates": ClippedCoordinates,
    "rank coordinates": RankCoordinates,
    "waves": FourierRegression,
    "wave sums": FeatureSums,
    "cosines": RandomFourierFeatures,
    "inputs": Inputs,
    "text view": TextColumnView,
    "text blended": StackedTokenViews,
    "band name": TokenBinName,
    "refinement": Refinement,
    "report": Evaluation,
    "unlabelled": Unlabeled,
}
NAMES = {cls: name for name, cls in CLASSES.items()}

# Classes that are allowed where a field is declared as a protocol.
IMPLEMENTATIONS: dict[Any, tuple[type[Any], ...]] = {
    Family: (*FAMILIES.values(), TableFamily, TextFamily),
    Statistics: (BlockMoments, CategoryCounts, Counts, Moments),
    Calibration: (BetaCurves, Chain, Isotonic, Scaling),
    View: (Covariance, OneDependence, TwoDependence, FourierRegression),
    Coordinates: (ClippedCoordinates, RankCoordinates),
}


@cache
def field_types(cls: Any) -> dict[str, Any]:
    """Return the types of the fields of a class, by name."""
    return get_type_hints(cls)


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
    return isinstance(value, IMPLEMENTATIONS.get(hint, hint))


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
