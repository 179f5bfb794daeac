"""Numeric columns as counts on cells."""

from __future__ import annotations

from typing import NamedTuple

from ..kernels.data import Floats


class Cells(NamedTuple):
    """Ascending cells of one column: every float from ``low`` to ``high`` belongs to the cell."""

    low: Floats  # (cells,)
    high: Floats  # (cells,)
    count: Floats  # type: ignore[assignment]  # (cells, classes)
