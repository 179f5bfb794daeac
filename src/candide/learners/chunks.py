"""Learning from rows that come in chunks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from ..data.column_selection import Roles
from ..data.labeled_rows import LabeledRows
from ..engines.growth import Growth
from ..engines.stream import Chunk, gathered, learn, numbered
from ..exceptions import InputError
from ..families import Batch
from ..kernels.hashing import Hashes
from ..model.classifier import Classifier
from ..model.evaluation import Report, Verdicts
from ..model.plan import ClassPrior, Plan
from ..model.state import State
from ..statistics.hashing import group_hashes
from .fitted import Fitted
from .labeling import Labeling, NoLabels
from .sourced import check_alone, chunks_of, is_source, roles_for, roles_to_learn


def are_chunks(X: Any) -> bool:
    """Whether it is something to go through once: no list, array or table, all of which have a length or a shape."""
    return isinstance(X, Iterable) and not hasattr(X, "__len__") and not hasattr(X, "shape")


class Chunks(Labeling, Fitted):
    """How an estimator goes through chunks."""

    # Which columns of a source were its label and its texts or cells; None if it was not trained on a source.
    roles_: Roles | None = None
    _group_bytes: int = 1 << 24

    @property
    def group_bytes(self) -> int:
        """How many bytes of rows are best counted at once: adding one state to another costs as much as counting
        megabytes, and counting takes many times the room of the rows.
        """
        return self._group_bytes

    @abstractmethod
    def _labelled(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Rows and labels, which may be a part of what the rows came in."""

    @abstractmethod
    def _rows(self, X: Any, y: Any, sample_weight: Any, groups: Any = None, *, reset: bool) -> LabeledRows:
        """Encoded rows with their classes and weights."""

    def measure(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Report:
        """How good the probabilities are on rows with labels, which the model should not have learned from.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``; chunks too, of which few are in memory at once.
        groups : array of shape (n_rows,), optional
            Rows of one group are one observation in the standard errors.

        Examples
        --------
        >>> from candide import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
        >>> model.measure([[0.0], [7.0], [4.0]], ["low", "high", "high"]).accuracy
        0.6666666666666666
        """
        verdicts = (self._verdicts(*part) for part in self._grouped_batches(X, y, sample_weight, groups))
        return Report.from_verdicts(verdicts, self._fitted().classes.labels)

    def _batches(self, X: Any, y: Any, sample_weight: Any) -> Iterator[Batch]:
        """Rows with labels that the model knows, chunk by chunk if they come in chunks."""
        return (batch for batch, _ in self._grouped_batches(X, y, sample_weight, None))

    def _grouped_batches(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> Iterator[tuple[Batch, Hashes | None]]:
        """The same with the hash of each row's group."""
        if is_source(X):
            check_alone(y, sample_weight, groups)
            X = chunks_of(self, X, roles_for(self, X, labelled=True), learning=False)
        in_chunks = y is None and are_chunks(X)
        try:
            for number, item in enumerate(X if in_chunks else [(X, y, sample_weight, groups)]):
                X, y, *beside = _parts(item, number)
                given = self._labelled(X, y)
                try:
                    *rows, own = self._with_labels(*given, *beside, learning=False)
                except NoLabels as found:
                    if not in_chunks:
                        raise
                    self.note_unlabeled(found.n_rows, learning=False)
                else:
                    batch = self._batch(*rows)
                    yield batch, group_hashes(own, batch.data.n_rows)
        finally:
            self._tell_unlabeled()

    def _verdicts(self, batch: Batch, groups: Hashes | None) -> Verdicts:
        scores = self._fitted().posterior(batch.data, self._kernels(), logarithm=True)
        weight = np.ones(len(scores)) if batch.weight is None else batch.weight
        return Verdicts.of(scores, batch.classes, weight, groups=groups)

    def _summarize_chunks(self, chunks: Iterable[Any], sample_weight: Any, groups: Any) -> tuple[Plan, State]:
        if sample_weight is not None or groups is not None:
            raise InputError(
                "sample_weight or groups are given beside chunks; let each chunk be (X, y, sample_weight) or "
                "(X, y, sample_weight, groups) instead"
            )
        if is_source(chunks):
            self.roles_ = roles_to_learn(self, chunks)
            chunks = chunks_of(self, chunks, self.roles_)
        plan, growth, kernels = None, Growth(), self._kernels()
        for group in gathered(self._read_chunks(chunks), self.group_bytes):
            if plan is None:
                plan = self._plan(group[0].rows.data.n_columns, first=True)
            learn(growth, plan, group, kernels)
            assert growth.main is not None
            # What the chunks to come are read by; what is believed of classes may speak of some that come later.
            self._model = Classifier(replace(plan, prior=ClassPrior()), growth.main)
            group.clear()
        if plan is None:
            n_rows = self.__dict__.pop("_n_unlabeled", 0)
            if n_rows:
                raise NoLabels(n_rows)
            raise InputError("there are no chunks, and nothing is learned from nothing; yield at least one (X, y)")
        self._tell_unlabeled()
        # Settings of columns may speak of kinds that later chunks told.
        final = self._plan(self.n_features_in_, first=False)
        return replace(final, sample_bytes=plan.sample_bytes), growth.whole()

    def _read_chunks(self, chunks: Iterable[Any], *, first: bool = True) -> Iterator[Chunk]:
        """``first``: the first of them tells how the others are read."""
        numbers = count()  # enumerate would hold each item until it has the next
        for item in chunks:
            number = next(numbers)
            X, y, *beside = _parts(item, number)
            with numbered(number):
                try:
                    chunk = Chunk(number, self._rows(X, y, *beside, reset=first))
                except NoLabels as found:
                    self.note_unlabeled(found.n_rows)
                    continue
            first = False
            del item, X, y, beside
            yield chunk
            del chunk


def _parts(item: Any, number: int) -> tuple[Any, ...]:
    """Rows, labels, weights and groups."""
    if isinstance(item, tuple) and len(item) in (2, 3, 4):
        return (*item, None, None)[:4]
    what = f"tuple of {len(item)}" if isinstance(item, tuple) else type(item).__name__
    raise InputError(
        f"chunk {number} is a {what}; without y, X must yield chunks, each a tuple (X, y), (X, y, sample_weight) or "
        "(X, y, sample_weight, groups); yield such tuples, or pass the labels of all rows as y"
    )
