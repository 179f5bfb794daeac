"""Training a model on any source: states of batches are counted and added up here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..data.index import Index, encode
from ..data.labeled_rows import (
    LabeledRows,
    concatenate_labeled,
    is_unlabeled,
    label_array,
    warn_if_continuous,
    warn_if_distinct,
)
from ..exceptions import InputError, warn
from ..kernels import Kernels
from ..specs import BoundSpec, ClassPrior, Spec
from ..specs.schema import Schema
from ..statistics.kept_rows import row_bytes
from .accumulator import Accumulator, Joining, NothingYet, PartialState, RowCounts, summarize
from .classifier import Classifier
from .labels import LabelFilter, NoLabels, as_declared, with_labels
from .model import Model, completed
from .source import Chunk, Source, roles_to_learn, source_for
from .state import State

# Number of first rows that determine the schema, such as which columns contain categories or texts. Fewer suffice if
# all columns are texts or numbers.
_HEAD, _SHORT_HEAD = 10_000, 100
# Memory overhead of a row, or of a text that is a Python string.
_ROW_BYTES = 64
_NO_CONTEXT = nullcontext()


def train(
    spec: Spec, source: Source, *, classes: Any = None, more_to_come: bool = False, monitor: Monitor | None = None
) -> Model:
    """Train a model on the rows of a source.

    Parameters
    ----------
    spec : Spec
        The parameters.
    source : Source
        The rows.
    classes : array, optional
        All classes that may occur.
    more_to_come : bool, default False
        Whether new classes may occur in later calls.
    monitor : Monitor, optional
        Shows progress and saves checkpoints.

    Examples
    --------
    >>> from candide.model.source import MemorySource
    >>> from candide.specs.gaussian import GaussianSpec
    >>> train(GaussianSpec(), MemorySource([[1.0], [9.0]], ["low", "high"])).predict([[2.0]])
    array(['low'], dtype='<U4')
    """
    monitor = monitor or Monitor()
    declared = None if classes is None else encode(label_array(classes), Kernels(spec.n_threads))[0]
    if source.in_memory and not more_to_come and spec.unlabeled_choice() in ("em", "sfe"):
        rows = source.head(0)
        missing = None if rows.y is None else is_unlabeled(rows.y)
        if missing is not None and missing.any() and not missing.all():
            from .unlabeled import train_semi_supervised

            return train_semi_supervised(spec, rows, missing)
    source = source.with_types(spec.declared_types())
    roles = roles_to_learn(spec, source)
    source = source if roles is None else source.with_roles(roles)
    training = Training.start(spec, source, monitor)
    training.add_all(source, monitor)
    with monitor.finishing(training):
        return training.finish(declared, more_to_come)


def learn(model: Model, source: Source, *, spec: Spec | None = None, monitor: Monitor | None = None) -> Model:
    """Return the model after further rows. ``spec``: current parameters, if they have changed."""
    training = _count(model, source, spec, monitor)
    task = training.task
    bound = replace(task.bound, target=model.classifier.bound_spec.target)
    after = model.learn(training.total(), task.spec, task.schema, bound)
    return replace(after, row_counts=training.row_counts)


def forget(model: Model, source: Source, *, spec: Spec | None = None, monitor: Monitor | None = None) -> Model:
    """Return the model without rows that were learned."""
    training = _count(model, source, spec, monitor)
    after = model.forget(training.total(), training.task.spec, training.task.schema)
    return replace(after, row_counts=training.row_counts)


def _count(model: Model, source: Source, spec: Spec | None, monitor: Monitor | None) -> Training:
    """Return the state of further rows, which are encoded like those of training."""
    source = source_for(model, source, labeled=True)
    training = Training(Summarize.by_model(model, spec or model.spec))
    training.add_all(source, monitor or Monitor())
    return training


class Monitor:
    """Monitor of a training run; it warns of rows without a label. Subclasses show progress and save checkpoints."""

    def resume(self) -> Checkpoint | None:
        """Return the checkpoint of an interrupted training run, if any."""
        return None

    def step(self) -> AbstractContextManager[Any]:
        """Return a context manager for adding a state, which should not be interrupted."""
        return _NO_CONTEXT

    def advance(self, training: Training) -> None:
        """Report that further rows were added."""

    def finishing(self, training: Training) -> AbstractContextManager[Any]:
        """Return a context manager for fitting, after all rows were added."""
        return _NO_CONTEXT

    def unlabeled(self, n_rows: int) -> None:
        """Report that rows without a label were skipped."""
        warn(f"skipped {n_rows} row{'' if n_rows == 1 else 's'} without a label")


class Checkpoint(NamedTuple):
    """The unfitted model of the first rows of a source, and the number of these rows."""

    model: Model
    n_rows: int
    n_unlabeled: int


class Training:
    """A training run: the state of the rows counted so far."""

    def __init__(self, task: Summarize) -> None:
        self.task = task
        self.n_rows = self.n_unlabeled = 0
        self._partitions: frozenset[int] = frozenset()
        self._accumulator = Accumulator()

    @classmethod
    def start(cls, spec: Spec, source: Source, monitor: Monitor) -> Training:
        """Return a training run that continues from a checkpoint or begins with the first rows of a source."""
        checkpoint = monitor.resume()
        if checkpoint is None:
            n_first = _SHORT_HEAD if spec.reads_texts else _HEAD
            return cls(Summarize.by_head(spec, source.head(n_first), source))
        training = cls(replace(Summarize.by_model(checkpoint.model, spec), follows=True))
        training.n_rows, training.n_unlabeled = checkpoint.n_rows, checkpoint.n_unlabeled
        training._accumulator = Accumulator(checkpoint.model.state)
        return training

    def add_all(self, source: Source, monitor: Monitor) -> None:
        """Add the states of all rows of a source, or of those after a checkpoint."""
        for part in source.summarize(self.task, self.n_rows):
            with monitor.step():
                self._add(part)
                monitor.advance(self)
            del part
        if not self.n_rows and source.names is not None:
            raise InputError(
                f"the source has the columns {', '.join(source.names)}, but no rows; expected at least one labeled "
                "row; check the source"
            )
        if self.n_unlabeled:
            monitor.unlabeled(self.n_unlabeled)

    def _add(self, part: PartialState) -> None:
        self.n_rows, self.n_unlabeled = self.n_rows + part.n_rows, self.n_unlabeled + part.n_unlabeled
        self._partitions |= part.partitions
        if part.n_unlabeled:
            # Engines that count rows themselves do not check whether rows without a label are allowed.
            LabelFilter(self.task.spec).add(part.n_unlabeled)
        if part.state is None:
            return
        with PrefixErrors(part.name):
            self._accumulator.add(part.state)
        main = self._accumulator.main
        assert main is not None
        self.task.follow(main)
        if not self.task.is_all_head:
            # Check the number of classes before all rows are read.
            self.task.spec.check_classes(self.task.bound, len(main.classes))

    @property
    def row_counts(self) -> RowCounts | None:
        """Numbers of rows and partitions, if there are partitions."""
        return RowCounts(self.n_rows, self.n_unlabeled, len(self._partitions)) if self._partitions else None

    def total(self) -> State:
        """Return the state of all rows so far."""
        if self._accumulator.main is None:
            if self.n_unlabeled:
                raise NoLabels(self.n_unlabeled)
            raise InputError(
                "found no rows with a label and a positive weight; expected at least one; check the source"
            )
        return self._accumulator.total()

    def model(self) -> Model:
        """Return the unfitted model of all rows so far."""
        task = self.task
        return Model(task.spec, task.schema, Classifier(task.bound, self.total()))

    def finish(self, declared: Index | None, more_to_come: bool) -> Model:
        """Return the fitted model of all rows."""
        task, state = self.task, self.total()
        spec, schema, bound = task.spec, task.schema, task.bound
        if not task.is_all_head:
            # ``columns`` may refer to kinds of columns that are only known from later rows.
            learned = Classifier(replace(bound, prior=ClassPrior()), state)
            schema = spec.resolved(schema, learned)
            bound = replace(spec.bind(schema, learned), budget=bound.budget)
        classifier = Classifier(bound, state if declared is None else state.declare(declared))
        warn_if_continuous(classifier.classes.labels)
        warn_if_distinct(classifier.classes.labels, float(state.rows.sum()))
        if not more_to_come:
            bound.prior.check_weights(classifier.classes)
        return Model(spec, schema, completed(spec, classifier), row_counts=self.row_counts)


class _Encoded(NamedTuple):
    """Encoded rows of a chunk; None if no row has a label."""

    rows: LabeledRows | None
    n_rows: int
    n_unlabeled: int
    name: str

    @property
    def n_bytes(self) -> int:
        if self.rows is None:
            return 0
        return int(row_bytes(self.rows.data).sum()) + _ROW_BYTES * len(self.rows.positions)


def _rows(encoded: _Encoded) -> LabeledRows:
    assert encoded.rows is not None
    return encoded.rows


@dataclass(eq=False)
class Summarize:
    """The task of counting rows: encodes chunks like the rows of training, and returns their states.

    It contains no rows except those of the head, which are dropped after counting. Engines send the task to their
    workers in the form of ``for_workers``.

    Attributes
    ----------
    spec, schema, bound : Spec, Schema, BoundSpec
        Parameters, schema and bound spec of the training.
    kernels : Kernels
        Kernels for counting.
    group_bytes : int
        Bytes of rows that are counted at once.
    learned : Classifier, optional
        Information about the columns from earlier rows, used to encode later ones.
    joining : State or Classifier, optional
        The state or model that states will be added to. Training rows that it would not keep are not copied.
    is_all_head : bool
        Whether the source has no rows after the head.
    follows : bool
        Whether ``learned`` is updated during a first training.
    """

    spec: Spec
    schema: Schema
    bound: BoundSpec
    kernels: Kernels
    group_bytes: int
    learned: Classifier | None = None
    joining: Joining | None = None
    is_all_head: bool = False
    _head: tuple[Chunk, _Encoded] | None = None
    follows: bool = False

    @classmethod
    def by_head(cls, spec: Spec, head: Chunk, source: Source) -> Summarize:
        """Return a task for rows like those of the head."""
        kernels = Kernels(spec.n_threads)
        encoded, schema = _open(spec, head, kernels)
        if source.roles is not None and source.roles.label:
            schema = replace(schema, roles=source.roles, missing=source.missing)
        return cls(spec, schema, spec.bind(schema), kernels, spec.group_bytes, _head=(head, encoded), follows=True)

    @classmethod
    def by_model(cls, model: Model, spec: Spec) -> Summarize:
        """Return a task for rows like those that a model was trained on."""
        schema, bound = model.bind(spec)
        kernels = Kernels(spec.n_threads)
        return cls(spec, schema, bound, kernels, spec.group_bytes, model.classifier, model.classifier)

    def follow(self, state: State) -> None:
        """Update ``learned`` with the rows so far, in a first training."""
        if self.follows:
            self.learned, self.joining = None, state

    def for_workers(self) -> Summarize:
        """Return the task for processes that have one thread each, without training rows."""
        known = self.reader()
        learned = Classifier(known.bound_spec, replace(known.state, sample=None))
        # Workers have memory for larger groups, which are added half as often.
        return replace(
            self, spec=replace(self.spec, n_threads=1), kernels=Kernels(1), group_bytes=2 * self.spec.group_bytes,
            learned=learned, joining=None, _head=None, follows=False,
        )  # fmt: skip

    def reader(self) -> Classifier:
        """Return the information about columns, from the head if nothing was counted yet."""
        if self.learned is None:
            # The class prior may contain classes that occur later.
            bound, state = replace(self.bound, prior=ClassPrior()), self.joining
            if not isinstance(state, State):
                assert self._head is not None
                state = summarize(bound, _rows(self._head[1]), self.kernels)
            self.learned = Classifier(bound, state)
        return self.learned

    @property
    def model(self) -> Model:
        """A model that encodes rows like the task."""
        return Model(self.spec, self.schema, self.reader())

    def parts(self, chunks: Iterable[Chunk]) -> Iterator[PartialState]:
        """Yield the state of each group of chunks."""
        for group in _gather(self._encoded(chunks), self.group_bytes):
            yield self._state(group)
            group.clear()

    def part(self, chunk: Chunk) -> PartialState:
        """Return the state of one chunk."""
        return self._state([self._encode(chunk)])

    def whole(self, chunks: Iterable[Chunk], partition: int) -> PartialState:
        """Return the state of all chunks of a partition."""
        accumulator, n_rows, n_unlabeled = Accumulator(), 0, 0
        # Tokens that are kept for stacking weights, which are not fitted here, would not be sent.
        self.joining = NothingYet()
        with PrefixErrors(f"partition {partition}"):
            for part in self.parts(chunks):
                n_rows, n_unlabeled = n_rows + part.n_rows, n_unlabeled + part.n_unlabeled
                if part.state is not None:
                    accumulator.add(part.state)
                    self.joining = accumulator.main
        state = None if accumulator.main is None else accumulator.total()
        return PartialState(state, frozenset([partition]), n_rows, n_unlabeled)

    def _encoded(self, chunks: Iterable[Chunk]) -> Iterator[_Encoded]:
        for chunk in chunks:
            encoded = self._encode(chunk)
            del chunk
            yield encoded
            del encoded

    def _encode(self, chunk: Chunk) -> _Encoded:
        head, self._head = self._head, None
        if head is not None and chunk is head[0]:
            self.is_all_head = True
            return head[1]
        self._head, self.is_all_head = head, False
        with PrefixErrors(chunk.name):
            return self._read(chunk)

    def _read(self, chunk: Chunk) -> _Encoded:
        """Return the rows of a chunk that have a label."""
        spec, labeled = self.spec, LabelFilter(self.spec)
        if chunk.n_unlabeled:
            labeled.add(chunk.n_unlabeled)
        rows, n_labeled = None, 0
        try:
            X, y, weight, groups = labeled.drop(*spec.split_label(chunk.X, chunk.y), chunk.weight, chunk.groups)
        except NoLabels as found:
            if not chunk.name:
                raise
            labeled.add(found.n_rows)
        else:
            if chunk.may_be_empty and has_no_weight(y, weight):
                n_labeled = len(y)
            else:
                learned = self.reader()
                data = self.read_rows(X, learned)
                rows = with_labels(data, y, weight, groups, self.kernels, learned.classes)
                n_labeled = len(rows.positions)
        return _Encoded(rows, n_labeled + labeled.n_unlabeled, labeled.n_unlabeled, chunk.name)

    def read_rows(self, X: Any, learned: Classifier) -> Any:
        """Return encoded rows."""
        return self.spec.read(X, self.schema, learned, learning=True)

    def _state(self, group: list[_Encoded]) -> PartialState:
        """Count some chunks together."""
        _, n_rows, n_unlabeled, _ = zip(*group, strict=True)
        counts = sum(n_rows), sum(n_unlabeled)
        parts = [one for one in group if one.rows is not None]
        if not parts:
            return PartialState(None, frozenset(), *counts)
        try:
            rows = _rows(parts[0]) if len(parts) == 1 else concatenate_labeled([_rows(one) for one in parts])
            state = summarize(self.bound, rows, self.kernels, self.joining)
        except ValueError:
            for one in parts:
                with PrefixErrors(one.name):
                    summarize(self.bound, _rows(one), self.kernels)
            raise
        return PartialState(state, frozenset(), *counts, parts[0].name)


def _open(spec: Spec, head: Chunk, kernels: Kernels) -> tuple[_Encoded, Schema]:
    """Return the first rows that have a label, and their schema."""
    labeled = LabelFilter(spec)
    if head.n_unlabeled:
        labeled.add(head.n_unlabeled)
    with PrefixErrors(head.name):
        X, y, weight, groups = labeled.drop(*spec.split_label(head.X, head.y), head.weight, head.groups)
        schema, data = spec.open(X)
        rows = with_labels(data, as_declared(spec, X, y), weight, groups, kernels)
    n_rows = len(rows.positions) + labeled.n_unlabeled
    return _Encoded(rows, n_rows, labeled.n_unlabeled, head.name), schema


def _gather(chunks: Iterable[_Encoded], n_bytes: int) -> Iterator[list[_Encoded]]:
    """Yield groups of consecutive chunks that are counted together, of up to ``n_bytes``.

    The first chunk is counted alone, because the encoding of the others depends on it.
    """
    waiting: list[_Encoded] = []
    size, is_first = 0, True
    for chunk in chunks:
        last = next((one.rows for one in reversed(waiting) if one.rows is not None), None)
        if last is not None and chunk.rows is not None and not chunk.rows.can_concatenate(last):
            yield waiting
            waiting, size = [], 0
        size += chunk.n_bytes
        whole = chunk.rows is not None and (is_first or size >= n_bytes)
        is_first = is_first and chunk.rows is None
        if not whole and chunk.rows is not None:
            # A copy, because a generator may fill the same arrays again.
            chunk = chunk._replace(rows=concatenate_labeled([chunk.rows]))
        waiting.append(chunk)
        del chunk, last
        if whole:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def has_no_weight(y: Any, weight: Any) -> bool:
    """Return whether there are no rows with a positive weight."""
    return y is not None and (not len(y) or (weight is not None and not np.any(np.asarray(weight) != 0)))


class PrefixErrors:
    """A context that adds the name of a chunk or partition to errors."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if self._name and isinstance(error, (TypeError, ValueError)):
            error.args = (f"{self._name}: {error}",)
