"""Additive sufficient statistics, never smoothed. From here on, cost does not depend on the number of rows."""

from .base import Statistics
from .categories import CategoryCounts
from .counts import Counts
from .grid import Grid
from .moments import BlockMoments, Moments
from .sample import Sample

__all__ = ["BlockMoments", "CategoryCounts", "Counts", "Grid", "Moments", "Sample", "Statistics"]
