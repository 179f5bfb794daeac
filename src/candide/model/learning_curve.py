"""How good a model becomes as it learns more rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..families import Batch
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions
from ..statistics import Sample
from .classifier import Classifier
from .evaluation import Evaluation
from .state import State


def learning_curve(model: Classifier, batch: Batch, n_blocks: int, kernels: Kernels) -> list[tuple[float, Evaluation]]:
    """Mean weight learned, and the report on rows not learned, for sums of 1 to ``n_blocks - 1`` blocks of the rows.

    A row is judged by blocks that begin with the one after its own, so that each is judged once for each size.
    """
    block = _dealt(batch.classes, n_blocks)
    rows = [np.flatnonzero(block == b) for b in range(n_blocks)]
    states = [_state(model, batch.take(of_block), kernels) for of_block in rows]
    sums: list[State] = [states[(b + 1) % n_blocks] for b in range(n_blocks)]
    found = []
    for size in range(1, n_blocks):
        if size > 1:
            sums = [sums[b].merge(states[(b + size) % n_blocks]) for b in range(n_blocks)]
        found.append(_judged(model, batch, sums, rows, kernels))
    return found


def _judged(
    model: Classifier, batch: Batch, sums: list[State], rows: list[Array], kernels: Kernels
) -> tuple[float, Evaluation]:
    scores = np.empty((len(batch.classes), batch.n_classes))
    for state, held in zip(sums, rows, strict=True):
        part = batch.take(held)
        scores[held] = Classifier(model.bound_spec, state).posterior(part.data, kernels, logarithm=True)
    weight: Floats = np.ones(len(scores)) if batch.weight is None else batch.weight
    learned = float(np.mean([state.rows.sum() for state in sums]))
    return learned, Evaluation.of(scores, batch.classes, weight, model.classes.labels)


def _state(model: Classifier, batch: Batch, kernels: Kernels) -> State:
    """What a block teaches; its classes are those of the model."""
    bound_spec, sample = model.bound_spec, None
    statistics: Any = bound_spec.family.observe(batch, kernels)
    if bound_spec.sample_bytes:
        sample = Sample.of(batch.data, batch.classes, batch.weight, batch.n_classes, bound_spec.sample_bytes)
    return State(model.classes, np.ones(batch.n_classes, dtype=bool), statistics, sample=sample)


def _dealt(classes: Positions, n_blocks: int) -> Array:
    """The block of each row: rows of a class in turn, and classes one after the other."""
    if isinstance(n_blocks, bool) or not isinstance(n_blocks, (int, np.integer)) or not 2 <= n_blocks <= len(classes):
        raise ParameterError(f"n_blocks is {n_blocks!r}; it must be a whole number from 2 to the {len(classes)} rows")
    block = np.empty(len(classes), dtype=np.int64)
    block[np.argsort(classes, kind="stable")] = np.arange(len(classes)) % n_blocks
    return block
