"""Rows with what belongs to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..kernels.hashing import Hashes
from ..kernels.layouts import Floats, Positions
from .index import Index, kind_of, together
from .stacking import alike, stacked


class LabelledRows(NamedTuple):
    """Encoded rows, the classes that occur among them, and of each row the class, the weight (None: all 1) and the
    hash of its group (None, or 0: it has none).
    """

    data: Any
    classes: Index
    positions: Positions
    weight: Floats | None
    groups: Hashes | None = None

    def joins(self, other: LabelledRows) -> bool:
        """Whether these rows and others can become one."""
        kinds = {kind_of(rows.classes.labels[:1].tolist()[0]) for rows in (self, other)}
        return len(kinds) == 1 and alike(self.data, other.data)


def end_to_end(parts: Sequence[LabelledRows]) -> LabelledRows:
    """Rows that join, one after the other. A copy, which stays what it is when what was read is written over."""
    classes, places = together([part.classes for part in parts])
    positions = np.concatenate([place[part.positions] for place, part in zip(places, parts, strict=True)])
    weight = None
    if any(part.weight is not None for part in parts):
        weight = np.concatenate([np.ones(len(p.positions)) if p.weight is None else p.weight for p in parts])
    groups = None
    if any(part.groups is not None for part in parts):
        none = (np.zeros(len(part.positions), dtype=np.uint64) for part in parts)
        groups = np.concatenate([zeros if p.groups is None else p.groups for p, zeros in zip(parts, none, strict=True)])
    return LabelledRows(stacked([part.data for part in parts]), classes, positions.astype(np.int32), weight, groups)
