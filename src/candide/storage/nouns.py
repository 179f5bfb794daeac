"""The nouns that a model file may hold, by the names they have there.

A name is for ever: classes move and are renamed, files stay. What is not in this table is not stored, and a file that
names anything else is refused: no class is ever looked up by what a file says but here.
"""

from __future__ import annotations

from typing import Any

from ..data.index import Index
from ..engines.unlabeled import Unlabeled
from ..families import Bernoulli, Categorical, Complement, Family, Gaussian, Multinomial, MultivariateNormal, Poisson
from ..families.table import Block, TableFamily, Wanted
from ..families.terms import Limits, TokenLook
from ..families.text import TextFamily
from ..families.text_likelihood import BandName
from ..kernels.dependence import PairTable, TripleTable
from ..kernels.layouts import Dense, Sparse
from ..kernels.tokenizer import TokenizerConfig
from ..kernels.vocabulary import Buckets
from ..model.blend import Blend
from ..model.evaluation import Report
from ..model.plan import ClassPrior, Plan
from ..model.state import State
from ..priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma, NormalInverseWishart
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
from ..statistics.mixed_rows import MixedRows
from ..statistics.sample import Entries
from ..statistics.table import TableStatistics
from ..statistics.texts import TextStatistics
from ..statistics.token_counts import Dropped, TokenCounts

NOUNS: dict[str, type[Any]] = {
    # Rows, labels and tokens.
    "index": Index,
    "dense rows": Dense,
    "sparse rows": Sparse,
    "mixed rows": MixedRows,
    "recipe": TokenizerConfig,
    "buckets": Buckets,
    # What was seen.
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
    # What is believed.
    "dirichlet": Dirichlet,
    "beta": Beta,
    "gamma": Gamma,
    "normal": Normal,
    "normal-inverse-gamma": NormalInverseGamma,
    "normal-inverse-wishart": NormalInverseWishart,
    "class prior": ClassPrior,
    "bernoulli family": Bernoulli,
    "categorical family": Categorical,
    "complement family": Complement,
    "gaussian family": Gaussian,
    "multinomial family": Multinomial,
    "multivariate normal family": MultivariateNormal,
    "poisson family": Poisson,
    "table family": TableFamily,
    "wanted": Wanted,
    "block": Block,
    "text family": TextFamily,
    "token look": TokenLook,
    "limits": Limits,
    "plan": Plan,
    # What was chosen by looking at rows again.
    "blend": Blend,
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
    "band name": BandName,
    "refinement": Refinement,
    "report": Report,
    "unlabelled": Unlabeled,
}
NAMES = {noun: name for name, noun in NOUNS.items()}

# Families of single columns and of tokens; those of whole tables and texts stand in plans alone.
_FAMILIES = (Bernoulli, Categorical, Complement, Gaussian, Multinomial, MultivariateNormal, Poisson)
# What may stand where only a protocol is asked for.
MEMBERS: dict[Any, tuple[type[Any], ...]] = {
    Family: (*_FAMILIES, TableFamily, TextFamily),
    Statistics: (BlockMoments, CategoryCounts, Counts, Moments),
    Calibration: (BetaCurves, Chain, Isotonic, Scaling),
    View: (Covariance, OneDependence, TwoDependence, FourierRegression),
    Coordinates: (ClippedCoordinates, RankCoordinates),
}
