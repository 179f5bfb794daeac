"""Summaries that can be added: what was seen, never smoothed. From here on, cost does not depend on rows."""

from .base import Statistics
from .categories import CategoryCounts
from .counts import Counts
from .moments import Moments

__all__ = ["CategoryCounts", "Counts", "Moments", "Statistics"]
