"""Looks at the rows past independence: columns together, each with closed-form scores of rows left out."""

from .base import Cases, Looked, View
from .coordinates import ClippedCoordinates, Coordinates, RankCoordinates
from .covariance import Covariance, covariances, number_coordinates
from .dependence import OneDependence, one_dependence
from .merging import Merging, merged
from .two_dependence import TwoDependence, two_dependence
from .waves import Waves, make_waves

__all__ = [
    "Cases",
    "ClippedCoordinates",
    "Coordinates",
    "Covariance",
    "Looked",
    "Merging",
    "OneDependence",
    "RankCoordinates",
    "TwoDependence",
    "View",
    "Waves",
    "covariances",
    "make_waves",
    "merged",
    "number_coordinates",
    "one_dependence",
    "two_dependence",
]
