"""Which views of a table past single columns are made, and from what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...families.table_likelihood import TableLikelihood
from ...kernels import Kernels
from ...kernels.data import Array, Floats
from .base import View
from .look import Look, Looked
from .mixture import Mixture

if TYPE_CHECKING:
    from ..smoothing import Seen
    from .blended import Blended

# Bins of number columns in pairs (two views), and in triples.
PAIR_BINS, TRIPLE_BINS = (6, 10), 6
# Columns whose pairs are the parents of triples.
PARENTS = 6
# How far class covariances are drawn to the common one, in rows per column.
SHRINKAGES = (0.5, 8.0)


def make_views(likelihood: TableLikelihood, seen: Seen, order: int, kernels: Kernels) -> Blended:
    """Without weights yet. ``order``: how many columns another may depend on (0: none)."""
    from .blended import Blended

    look = Look.of(likelihood.statistics, likelihood.shown)
    views: list[View] = []
    if order and len(look.columns) > 1:
        looked = look.see(seen.batch.data, kernels)
        parts = looked, seen.batch.classes, seen.case_weight, seen.batch.n_classes
        views = [*_dependences(likelihood, look, *parts, kernels), *_covariances(look, *parts)]
    none = np.zeros(0)
    empty = Mixture(none, none, np.zeros((0, seen.batch.n_classes)), np.zeros(seen.batch.n_classes))
    return Blended(tuple(likelihood.shown), len(likelihood.blocks), look, tuple(views), empty)
