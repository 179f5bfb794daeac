"""Rows that are already here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..encoding.labelled import LabelledRows
from ..families import Batch
from ..kernels import Kernels
from ..kernels.text_rows import TextRows
from ..model.plan import Plan
from ..model.state import State
from ..statistics import Sample


def summarize(plan: Plan, rows: LabelledRows, kernels: Kernels, joining: State | None = None) -> State:
    """The state of one batch. Rows of weight 0 are as if they were not there: their classes do not appear.

    ``joining``: the state that it will be added to. Training rows that would not stay there are not even copied.
    """
    data, classes, positions, weight = rows
    if isinstance(data, TextRows) and joining is None:
        # The only texts, as far as is known: who chooses weights will look at their tokens.
        data = replace(data, asked_again=True)
    batch = Batch(data, positions, weight, len(classes))
    statistics, sample = plan.family.observe(batch, kernels), None
    if plan.sample_bytes:
        known = None if joining is None else joining.sample
        below = None if known is None or joining is None else known.thresholds(classes.positions_in(joining.classes))
        sample = Sample.of(data, positions, weight, len(classes), plan.sample_bytes, below)
    if isinstance(data, TextRows):
        data.counted.clear()  # the sample has those of its texts
    state = State(classes, np.zeros(len(classes), dtype=bool), statistics, sample=sample)
    return state if weight is None else state.without_empty_classes()
