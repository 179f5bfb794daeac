"""Predicting and evaluating the rows of any source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..data.arrays import as_array
from ..data.labeled_rows import read_weights
from ..exceptions import InputError
from ..families import Batch
from ..kernels.counting import Hashes
from ..statistics.hashing import group_hashes
from .evaluation import Evaluation, RowScores
from .labels import LabelFilter, NoLabels, like_classes
from .model import Model
from .source import Chunk, Source, source_for
from .train import PrefixErrors, has_no_weight

Task = TypeVar("Task", bound="_ModelTask")


def predict(model: Model, method: str, source: Source) -> Any:
    """Return the results of a prediction method of the model for each row.

    Rows of a cluster are predicted on its workers, lazily, and the result has the type of the input.
    """
    return source_for(model, source).predict(model, method)


def evaluate(model: Model, source: Source) -> Evaluation:
    """Return accuracy, log-loss, calibration and other metrics on rows with labels."""
    return Evaluation.from_row_scores(_results(ScoreRows(model), source), model.classes)


def score(model: Model, source: Source) -> float:
    """Return the accuracy."""
    right, total = np.sum([*_results(CountCorrect(model), source), (0.0, 0.0)], axis=0)
    if not total:
        raise InputError("found no rows with a label and a positive weight; expected at least one; check the source")
    return float(right / total)


def labeled_batches(model: Model, source: Source) -> Iterator[tuple[Batch, Hashes | None]]:
    """Yield encoded rows with labels, which must be classes of the model, and the hashes of their groups."""
    return _results(ReadBatch(model), source)


class _Result(NamedTuple):
    """The result of a task for a chunk (None if no row has a label), and the number of rows without a label."""

    value: Any
    n_unlabeled: int


def _results(task: _ModelTask, source: Source) -> Iterator[Any]:
    """Yield the results of a task for the batches of a source, and warn of rows without a label at the end."""
    labeled = LabelFilter(task.model.spec, learning=False)
    try:
        for result in source_for(task.model, source, labeled=True).map(task):
            if result.n_unlabeled:
                labeled.add(result.n_unlabeled)
            if result.value is not None:
                yield result.value
            elif source.in_memory:
                raise NoLabels(result.n_unlabeled)
    finally:
        labeled.warn()


@dataclass(frozen=True)
class _ModelTask(ABC):
    """The task for the labeled rows of a chunk. Clusters send it to workers."""

    model: Model

    def for_workers(self: Task) -> Task:
        """Return the task for processes that have one thread each."""
        return replace(self, model=self.model.for_workers())

    def __call__(self, chunk: Chunk) -> _Result:
        spec = self.model.spec
        labeled = LabelFilter(spec, learning=False)
        with PrefixErrors(chunk.name):
            if chunk.n_unlabeled:
                labeled.add(chunk.n_unlabeled)
            try:
                X, y, weight, groups = labeled.drop(*spec.split_label(chunk.X, chunk.y), chunk.weight, chunk.groups)
            except NoLabels as found:
                return _Result(None, labeled.n_unlabeled + found.n_rows)
            if chunk.may_be_empty and has_no_weight(y, weight):
                return _Result(None, labeled.n_unlabeled)
            return _Result(self.apply(X, y, weight, groups), labeled.n_unlabeled)

    @abstractmethod
    def apply(self, X: Any, y: Any, weight: Any, groups: Any) -> Any:
        """Return the result for rows that have a label."""


class ScoreRows(_ModelTask):
    """Score rows for an evaluation."""

    def apply(self, X: Any, y: Any, weight: Any, groups: Any) -> RowScores:
        return self.model.scored_rows(X, y, weight, groups)


class CountCorrect(_ModelTask):
    """Add up the weight of correctly predicted rows, and of all rows."""

    def apply(self, X: Any, y: Any, weight: Any, groups: Any) -> tuple[float, float]:
        labels = as_array(like_classes(y, self.model.classifier.classes), "y").ravel()
        right = np.asarray(self.model.predict(X) == labels, dtype=bool)
        own = read_weights(weight, len(right))
        own = np.ones(len(right)) if own is None else own
        return float(own[right].sum()), float(own.sum())


class ReadBatch(_ModelTask):
    """Encode rows for the classifier."""

    def apply(self, X: Any, y: Any, weight: Any, groups: Any) -> tuple[Batch, Hashes | None]:
        batch = self.model.batch(X, y, weight)
        return batch, group_hashes(groups, batch.data.n_rows)
