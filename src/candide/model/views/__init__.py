"""Looks at the rows past independence: columns together, each with closed-form scores of rows left out."""

from .base import Cases, Looked, View
from .dependence import OneDependence, one_dependence
from .merging import Merging, merged
from .two_dependence import TwoDependence, two_dependence

__all__ = [
    "Cases",
    "Looked",
    "Merging",
    "OneDependence",
    "TwoDependence",
    "View",
    "merged",
    "one_dependence",
    "two_dependence",
]
