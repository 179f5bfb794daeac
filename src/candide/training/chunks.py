"""Training on rows that come in chunks, of which few are in memory at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from ..data.labeled_rows import LabeledRows, concatenate_labeled
from ..exceptions import InputError
from ..kernels import Kernels
from ..model.accumulator import Accumulator, summarize
from ..model.classifier import Classifier
from ..model.labels import LabelFilter, NoLabels, with_labels
from ..model.model import Model, finish
from ..model.state import State
from ..specs import BoundSpec, ClassPrior, Spec
from ..statistics.kept_rows import row_bytes
from .roles import chunks_of, is_source, roles_to_learn

# Memory of a row besides its cells; a text that is a Python string takes as much.
_ROW_BYTES = 64


def are_chunks(X: Any) -> bool:
    """Return whether ``X`` is an iterable to go through once: no list, array or table."""
    return isinstance(X, Iterable) and not hasattr(X, "__len__") and not hasattr(X, "shape")


class Chunk(NamedTuple):
    """Encoded rows, and their number in the stream, from 0."""

    number: int
    rows: LabeledRows

    @property
    def n_bytes(self) -> int:
        return int(row_bytes(self.rows.data).sum()) + _ROW_BYTES * len(self.rows.positions)


def train_chunks(spec: Spec, chunks: Iterable[Any], sample_weight: Any, groups: Any) -> Model:
    """Train a model on chunks: tuples ``(X, y)``, ``(X, y, sample_weight)`` or ``(X, y, sample_weight, groups)``."""
    if sample_weight is not None or groups is not None:
        raise InputError(
            "sample_weight or groups are given beside chunks; let each chunk be (X, y, sample_weight) or "
            "(X, y, sample_weight, groups) instead"
        )
    labeled, roles = LabelFilter(spec), None
    if is_source(chunks):
        chunks = chunks.with_types(getattr(spec, "schema", None))
        roles = roles_to_learn(spec, chunks)
        chunks = chunks_of(spec, chunks, roles, labeled)
    reader = ChunkReader(spec, labeled)
    accumulator, kernels = Accumulator(), Kernels(spec.n_threads)
    for group in gather(reader.read(chunks), spec.group_bytes):
        bound = reader.bound
        assert bound is not None
        add_chunks(accumulator, bound, group, kernels)
        assert accumulator.main is not None
        # The chunks to come are read by what was learned. The class prior may name classes that come later.
        reader.learned = Classifier(replace(bound, prior=ClassPrior()), accumulator.main)
        group.clear()
    bound, schema = reader.bound, reader.schema
    if bound is None or schema is None:
        if labeled.n_unlabeled:
            raise NoLabels(labeled.n_unlabeled)
        raise InputError("found no chunks; expected at least one; yield at least one (X, y)")
    labeled.warn()
    # ``columns`` may name kinds of columns that only later chunks showed.
    schema = spec.resolved(schema, reader.learned)
    final = replace(spec.bind(schema, reader.learned), sample_bytes=bound.sample_bytes)
    return finish(spec, replace(schema, roles=roles), Classifier(final, accumulator.total()))


class ChunkReader:
    """Reads chunks one after the other. The first defines the schema, unless a model is given that has one."""

    def __init__(self, spec: Spec, labeled: LabelFilter, model: Model | None = None) -> None:
        self.spec, self.labeled = spec, labeled
        self.schema = None if model is None else model.schema
        self.bound: BoundSpec | None = None if model is None else model.classifier.bound_spec
        self.learned: Classifier | None = None if model is None else model.classifier

    def read(self, chunks: Iterable[Any]) -> Iterator[Chunk]:
        """Return encoded chunks; those without labeled rows are passed over."""
        number = -1
        # No enumerate, which would hold each item until it has the next.
        for item in chunks:
            number += 1
            X, y, *others = chunk_parts(item, number)
            with numbered(number):
                try:
                    chunk = Chunk(number, self._rows(X, y, *others))
                except NoLabels as found:
                    self.labeled.add(found.n_rows)
                    continue
            del item, X, y, others
            yield chunk
            del chunk

    def _rows(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> LabeledRows:
        spec = self.spec
        X, y, sample_weight, groups = self.labeled.drop(*spec.split_label(X, y), sample_weight, groups)
        if self.schema is None:
            schema, data = spec.open(X)
            rows = with_labels(data, y, sample_weight, groups, Kernels(spec.n_threads))
            self.schema, self.bound = schema, spec.bind(schema)
            return rows
        assert self.learned is not None
        data = spec.read(X, self.schema, self.learned, learning=True)
        return with_labels(data, y, sample_weight, groups, Kernels(spec.n_threads), self.learned.classes)


def count_chunks(model: Model, chunks: Iterable[Any], group_bytes: int) -> State | None:
    """Return the state of chunks that are read like the rows of training; None if there are no rows."""
    accumulator, reader = Accumulator(), ChunkReader(model.spec, LabelFilter(model.spec), model)
    for group in gather(reader.read(chunks), group_bytes):
        add_chunks(accumulator, model.classifier.bound_spec, group, model.kernels)
        group.clear()
    return accumulator.total() if accumulator.main is not None else None


def gather(chunks: Iterable[Chunk], n_bytes: int) -> Iterator[list[Chunk]]:
    """Gather consecutive chunks that are counted together, up to ``n_bytes``.

    The first is alone, because the others are read by what it holds.
    """
    waiting: list[Chunk] = []
    size, is_first = 0, True
    for chunk in chunks:
        if waiting and not chunk.rows.can_concatenate(waiting[-1].rows):
            yield waiting
            waiting, size = [], 0
        size += chunk.n_bytes
        whole, is_first = is_first or size >= n_bytes, False
        # A generator may fill the same arrays again.
        waiting.append(chunk if whole else chunk._replace(rows=concatenate_labeled([chunk.rows])))
        del chunk
        if whole:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def add_chunks(accumulator: Accumulator, spec: BoundSpec, group: list[Chunk], kernels: Kernels) -> None:
    """Count some chunks together."""
    rows = group[0].rows if len(group) == 1 else concatenate_labeled([chunk.rows for chunk in group])
    try:
        batch = summarize(spec, rows, kernels, accumulator.main)
    except ValueError:
        for chunk in group:
            with numbered(chunk.number):
                summarize(spec, chunk.rows, kernels)
        raise
    with numbered(group[0].number):
        accumulator.add(batch)


@contextmanager
def numbered(number: int) -> Iterator[None]:
    """Add the number of the chunk to errors."""
    try:
        yield
    except (TypeError, ValueError) as error:
        error.args = (f"chunk {number}: {error}",)
        raise


def chunk_parts(item: Any, number: int) -> tuple[Any, ...]:
    """Return rows, labels, weights and groups of a chunk."""
    if isinstance(item, tuple) and len(item) in (2, 3, 4):
        return (*item, None, None)[:4]
    what = f"tuple of {len(item)}" if isinstance(item, tuple) else type(item).__name__
    raise InputError(
        f"chunk {number} is a {what}; without y, X must yield chunks, each a tuple (X, y), (X, y, sample_weight) or "
        "(X, y, sample_weight, groups); yield such tuples, or pass the labels of all rows as y"
    )
