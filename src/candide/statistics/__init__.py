"""Additive sufficient statistics, without smoothing. Their size does not depend on the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .base import Statistics
    from .counts import CategoryCounts, Counts
    from .grid import Grid
    from .moments import BlockMoments, Moments
    from .sample import Sample

__all__ = ["BlockMoments", "CategoryCounts", "Counts", "Grid", "Moments", "Sample", "Statistics"]

__getattr__ = lazy_names(
    __name__,
    {
        "BlockMoments": "moments",
        "CategoryCounts": "counts",
        "Counts": "counts",
        "Grid": "grid",
        "Moments": "moments",
        "Sample": "sample",
        "Statistics": "base",
    },
)
