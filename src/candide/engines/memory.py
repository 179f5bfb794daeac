"""Rows that are already here."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from ..data.index import Index
from ..data.labeled_rows import LabeledRows
from ..families import Batch
from ..kernels import Kernels
from ..kernels.hashing import Hashes
from ..kernels.layouts import TextRows
from ..model.plan import Plan
from ..model.state import State
from ..statistics import Sample


class Joining(Protocol):
    """A state or a model that rows will be added to."""

    def kept_below(self, classes: Index) -> Hashes | None:
        """Of these classes, the hash below which training rows are kept; None where none are."""


def summarize(plan: Plan, rows: LabeledRows, kernels: Kernels, joining: Joining | None = None) -> State:
    """The state of one batch. Rows of weight 0 are as if they were not there: their classes do not appear.

    ``joining``: what it will be added to. Training rows that would not stay there are not even copied.
    """
    data, classes, positions, weight, groups = rows
    if isinstance(data, TextRows) and joining is None:
        # The only texts, as far as is known: who chooses weights will look at their tokens.
        data = replace(data, asked_again=True)
    batch = Batch(data, positions, weight, len(classes))
    statistics, sample = plan.family.observe(batch, kernels), None
    if plan.sample_bytes:
        below = None if joining is None else joining.kept_below(classes)
        sample = Sample.of(data, positions, weight, len(classes), plan.sample_bytes, below, groups)
    if isinstance(data, TextRows):
        data.counted.clear()  # the sample has those of its texts
    state = State(classes, np.zeros(len(classes), dtype=bool), statistics, sample=sample)
    return state if weight is None else state.without_empty_classes()
