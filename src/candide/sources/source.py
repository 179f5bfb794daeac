"""Rows of files, folders, mailboxes and queries as Arrow batches of a few megabytes."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, Self, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from ..data.arrow_batches import Groups, cells, labeled_cells, needed
from ..data.column_selection import Roles
from ..data.column_types import check_declared
from ..exceptions import InputError, SourceError
from ..model.source import Chunk, RequestedRoles, Source, check_names
from ..printable import printable
from .reader import (
    BadRows,
    OnBadRow,
    Reader,
    ReadProgress,
    cast_batch,
    check_columns,
    date_formats,
    rebatch,
    schema_fingerprint,
    union_schema,
)
from .role_inference import infer_roles, label_by_name

# The types of this many files are checked before the first row is read; those of further files when they are read.
_MAX_CHECKED = 100
# Number of rows used to detect the label column.
_INFERENCE_ROWS = 10_000
# Rows among which a value is searched for columns that have none in the first rows.
_MAX_SEARCHED = 1_000_000
# The same if these rows are kept in memory.
_MAX_KEPT = 100_000


class ArrowSource(Source):
    """Rows from files, folders, mailboxes or a query, in their order; made by :func:`candide.read`.

    Every pass starts from the beginning and keeps one or two batches in memory. What is read is what was there when the
    source was opened: its columns and types are those of then.
    """

    can_resume = True
    requested: RequestedRoles

    def __init__(
        self,
        parts: Sequence[Reader],
        requested: RequestedRoles,
        on_bad_row: OnBadRow = "error",
        declared: Mapping[str, str] | None = None,
        missing: tuple[str, ...] = (),
    ) -> None:
        self.requested, self._on_bad_row, self._given_parts, self.missing = requested, on_bad_row, parts, missing
        self._declared = dict(declared or {})
        # Rows and bytes of the first batch, with only the columns that are read.
        self._first_size: tuple[int, int] | None = None
        # In a list that is shared with copies that have other roles.
        self._last_pass = [ReadProgress(BadRows(on_bad_row))]
        names = parts[0].schema.names
        requested.check(names)
        check_names(self._declared, names)
        others = (requested.text, requested.weight, requested.groups, *(requested.columns or ()))
        self._set_types(requested.label or label_by_name([name for name in names if name not in others]))

    def _set_types(self, label: str | None) -> None:
        """Decide names and types of the columns. A label of a text format is a text, as it is written."""
        self._label, parts = label, self._given_parts
        texts = [label] if label and self._is_text_format() else []
        #: Names and types of the columns.
        self.schema = union_schema(parts[:_MAX_CHECKED], {**dict.fromkeys(texts, "str"), **self._declared})
        self._parts = [part.as_types(self.schema) for part in parts[:_MAX_CHECKED]] + list(parts[_MAX_CHECKED:])

    def with_types(self, schema: Mapping[Any, str], *, of_texts: bool = False, missing: tuple[str, ...] = ()) -> Self:
        if of_texts and not self._is_text_format():
            return self
        other, is_new = copy.copy(self), bool(missing and not self.missing)
        if is_new:
            other.missing, other._given_parts = missing, [part.with_missing(missing) for part in self._given_parts]
            other._set_types(self._label)
        declared = {name: kind for name, kind in check_declared(schema).items() if name in self.names}
        if of_texts:
            # A model does not read these columns, so their dates may be ambiguous.
            declared = {**{field.name: "str" for field in other.schema if len(date_formats(field)) > 1}, **declared}
        if not is_new and not declared.items() - self._declared.items():
            return self
        other._declared, other._first_size = {**declared, **self._declared}, None
        other._set_types(self._label)
        return other

    def _is_text_format(self) -> bool:
        return all(part.is_text_format for part in self._given_parts)

    def __repr__(self) -> str:
        places = self._parts[0].name if len(self._parts) == 1 else f"{len(self._parts)} places"
        return printable(f"Source({places}, columns {', '.join(self.names)})")

    @property
    def names(self) -> list[str]:  # type: ignore[override]
        """The names of the columns."""
        return list(self.schema.names)

    @property
    def _progress(self) -> ReadProgress:
        return self._last_pass[0]

    @property
    def n_bytes(self) -> int | None:
        """The size on disk, None if unknown."""
        return _total([part.n_bytes for part in self._parts])

    @property
    def n_rows(self) -> int | None:
        """The number of rows, None if it is not known without a pass."""
        return _total([part.n_rows for part in self._parts])

    @property
    def bytes_read(self) -> int:
        """The approximate number of bytes that the last pass has read, of ``n_bytes``."""
        return self._progress.bytes_read

    @property
    def bad_rows(self) -> BadRows:
        """The rows that the last pass skipped."""
        return self._progress.bad_rows

    @property
    def fingerprint(self) -> str:
        """A fingerprint of the names and types of the columns."""
        return schema_fingerprint(self.schema)

    @cached_property
    def roles(self) -> Roles:  # type: ignore[override]
        """The roles of columns, as given or inferred from the first rows."""
        name = self._parts[0].name if len(self._parts) == 1 else "the source"
        roles = infer_roles(self.requested, self._first_rows(_INFERENCE_ROWS, True), self._describes_texts(), name)
        self._set_types(roles.label)
        return roles

    def with_roles(self, roles: Roles) -> Self:
        other = copy.copy(self)
        other.roles = roles
        other._first_size = None
        if roles.label and roles.label != self._label:
            other._set_types(roles.label)
        return other

    def head(self, n: int) -> Chunk:
        """Return first rows with a label. For columns without a value in them, later rows are read too."""
        found: list[pa.RecordBatch] = []
        n_rows, n_passed, empty = 0, 0, set(self.roles.columns)
        most = _MAX_KEPT if any(part.keeps_first_rows for part in self._parts) else _MAX_SEARCHED
        for batch in self._quiet_pass(needed(self.roles)):
            n_passed += len(batch)
            self._note_size(batch)
            if n_rows >= n:
                # There are enough rows: keep only those with a value in a column that was empty so far.
                batch = batch.filter(_has_value(batch, empty))
            kept = batch.filter(_counts(batch, self.roles)).slice(0, n)
            if len(kept):
                found.append(kept)
                n_rows += len(kept)
                empty -= {name for name in empty if kept.column(name).null_count < len(kept)}
            if n_rows >= n and (not empty or n_passed >= most):
                break
        if not found:
            raise self._no_rows_error(n_passed)
        return self._chunk(pa.concat_batches(found))

    def batches(self, n_bytes: int, start: int = 0) -> Iterator[Chunk]:
        roles = self.roles
        groups = Groups(n_bytes, self._group_rows(n_bytes))
        for batch in groups.of(self.to_batches(start, needed(roles))):
            yield self._chunk(batch)._replace(name=f"rows from {start + 1:,} on", may_be_empty=True)
            start += batch.num_rows
            del batch

    def _chunk(self, batch: pa.RecordBatch) -> Chunk:
        if not self.roles.label:
            return Chunk(cells(batch, self.roles))
        rows = labeled_cells(batch, self.roles)
        return Chunk(rows.X, rows.y, rows.weight, rows.groups, n_unlabeled=batch.num_rows - rows.n_rows)

    def _group_rows(self, n_bytes: int) -> int:
        """Return the number of rows of a batch, by the first ones: wherever a pass begins, batches end alike."""
        if self._first_size is None:
            self._note_size(next(self._quiet_pass(needed(self.roles)), None))
        n_first, n_first_bytes = self._first_size or (1, n_bytes)
        return max(1, n_bytes * n_first // max(1, n_first_bytes))

    def _note_size(self, batch: pa.RecordBatch | None) -> None:
        if self._first_size is None and batch is not None:
            self._first_size = batch.num_rows, batch.nbytes

    def _no_rows_error(self, n_rows: int) -> InputError:
        what = f"the columns {', '.join(self.names)} but no rows" if not n_rows else f"{n_rows:,} rows without a label"
        if n_rows and self.roles.weight is not None:
            what += f" or with a weight of 0 in column {self.roles.weight!r}"
        return InputError(f"the source has {what}; expected at least one labeled row; check the source and the label")

    def _describes_texts(self) -> bool:
        return all(part.is_texts for part in self._parts)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.to_batches()

    def to_batches(self, skip: int = 0, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield batches from the beginning, of up to 8 MB, or one row if that is larger.

        Parameters
        ----------
        skip : int, default=0
            So many rows at the beginning are left out, to go on where another pass ended.
        columns : sequence of str, optional
            These columns alone; a file is then not read in full where its format allows it.
        """
        progress = self._last_pass[0] = ReadProgress(BadRows(self._on_bad_row))
        return prefetch(self._pass(progress, skip, list(columns or self.names)))

    def _quiet_pass(self, names: list[str], is_preview: bool = True) -> Iterator[pa.RecordBatch]:
        """Yield batches of a pass that is not the last one, and notes no bad rows."""
        quiet = BadRows("error" if self._progress.bad_rows.are_errors else "skip")
        return self._pass(ReadProgress(quiet, is_preview=is_preview), 0, names)

    def first_rows(self, n: int) -> pa.Table:
        """Return the first rows."""
        return self._first_rows(n, False)

    def _first_rows(self, n: int, is_preview: bool) -> pa.Table:
        batches, n_rows = [], 0
        for batch in self._quiet_pass(self.names, is_preview):
            batches.append(batch.slice(0, n - n_rows))
            n_rows += len(batches[-1])
            if n_rows >= n:
                break
        return pa.Table.from_batches(batches, self.schema)

    def to_table(self) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(list(self.to_batches()), self.schema)

    def _typed_parts(self) -> Iterator[Reader]:
        yield from self._parts[:_MAX_CHECKED]
        for part in self._parts[_MAX_CHECKED:]:
            check_columns(part, self.schema, self._parts[0].name)
            yield part.as_types(self.schema)

    def _pass(self, progress: ReadProgress, skip: int, names: list[str]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([self.schema.field(name) for name in names])
        progress.bad_rows.begin()
        try:
            # Each file that could not be read is listed by its name, hence one after the other where that is asked.
            parts = in_streams(self._typed_parts()) if progress.bad_rows.are_errors else self._typed_parts()
            for part in parts:
                if part.n_rows is not None and part.n_rows <= skip:
                    skip -= part.n_rows
                else:
                    n_before = 0
                    for batch in rebatch(part.batches(progress, names)):
                        if len(batch) > skip:
                            yield cast_batch(batch.slice(skip), schema, part.name, n_before + skip)
                        n_before, skip = n_before + len(batch), max(0, skip - len(batch))
                progress.finish(part.n_bytes)
        finally:
            progress.bad_rows.end()


def in_streams(parts: Iterable[Reader]) -> Iterator[Reader]:
    """Yield parts, with successive ones joined that can be read in one stream."""
    waiting: list[Reader] = []
    for part in parts:
        if waiting and not part.follows(waiting[0]):
            yield waiting[0].followed_by(waiting[1:]) if len(waiting) > 1 else waiting[0]
            waiting = []
        waiting.append(part)
    if waiting:
        yield waiting[0].followed_by(waiting[1:]) if len(waiting) > 1 else waiting[0]


def _counts(batch: pa.RecordBatch, roles: Roles) -> pa.Array:
    """Return for each row whether it has a label and a weight other than 0."""
    labeled = pc.invert(batch.column(roles.label).is_null(nan_is_null=True))
    if roles.weight is None:
        return labeled
    weight = batch.column(roles.weight)
    if pa.types.is_boolean(weight.type):
        weight = weight.cast(pa.int8())
    if not (pa.types.is_integer(weight.type) or pa.types.is_floating(weight.type) or pa.types.is_decimal(weight.type)):
        raise SourceError(
            f"the weight column {roles.weight!r} contains values of type {weight.type}; expected numbers; choose "
            "another column of weights"
        )
    return pc.and_(labeled, pc.fill_null(pc.not_equal(weight, 0), True))


def _has_value(batch: pa.RecordBatch, names: set[str]) -> pa.Array:
    """Return for each row whether one of these columns has a value."""
    return functools.reduce(pc.or_, [batch.column(name).is_valid() for name in sorted(names)])


def _total(sizes: list[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


Item = TypeVar("Item")
# Interval at which a waiting thread checks whether it is still needed.
_POLL_SECONDS = 0.05


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def prefetch(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items of an iterator, computed in a thread that ends with the iteration, also an incomplete one.

    >>> list(prefetch(iter("abc")))
    ['a', 'b', 'c']
    """
    ready: Queue[Item | _Failure | None] = Queue(maxsize=1)
    asked_to_stop = Event()
    thread = Thread(target=_produce, args=(items, ready, asked_to_stop), daemon=True)
    thread.start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, _Failure):
                raise item.error
            yield item
            del item  # not kept in memory while waiting for the next one
    finally:
        asked_to_stop.set()
        thread.join()


def _produce(items: Iterator[Item], ready: Queue[Item | _Failure | None], asked_to_stop: Event) -> None:
    try:
        for item in items:
            _put(item, ready, asked_to_stop)
            del item
            if asked_to_stop.is_set():
                break
        _close(items)
        _put(None, ready, asked_to_stop)
    except BaseException as error:  # raised in the thread that requests the batches
        _put(_Failure(error), ready, asked_to_stop)


def _put(item: Item | _Failure | None, ready: Queue[Item | _Failure | None], asked_to_stop: Event) -> None:
    """Wait until the queue accepts an item, or the consumer has stopped.

    A signal may end ``ready.get`` after it took an item and before it told this thread, which would wait for ever.
    """
    while not asked_to_stop.is_set():
        try:
            ready.put(item, timeout=_POLL_SECONDS)
            return
        except Full:
            continue


def _close(items: Iterator[Item]) -> None:
    close = getattr(items, "close", None)
    if close is not None:
        close()
