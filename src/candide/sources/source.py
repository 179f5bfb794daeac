"""Rows of files, folders, mailboxes and queries as Arrow batches of a few megabytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from queue import Full, Queue
from threading import Event, Thread
from typing import TypeVar

import pyarrow as pa

from ..data.column_selection import Roles
from ..data.column_types import check_declared
from ..printable import printable
from .bad_rows import BadRows, OnBadRow
from .reader import Reader, ReadProgress, cast_batch, check_columns, rebatch, schema_fingerprint, union_schema
from .role_inference import RequestedRoles, check_names, infer_roles, label_by_name

# Of so many files the types are looked at before the first row is read; of others when their turn comes.
_MAX_CHECKED = 100
# Rows that tell which column is the label.
_INFERENCE_ROWS = 10_000


class Source:
    """Rows from files, folders, mailboxes or a query, in their order; made by :func:`candide.read`.

    Every pass begins anew and holds a batch or two. What is read is what was there when the source was opened: its
    columns and types are those of then.
    """

    def __init__(
        self,
        parts: Sequence[Reader],
        requested: RequestedRoles,
        on_bad_row: OnBadRow = "error",
        declared: Mapping[str, str] | None = None,
    ) -> None:
        self._requested, self._on_bad_row, self._given_parts = requested, on_bad_row, parts
        self._declared = dict(declared or {})
        self._progress = ReadProgress(BadRows(on_bad_row))
        names = parts[0].schema.names
        requested.check(names)
        check_names(self._declared, names)
        others = (requested.text, requested.weight, *(requested.columns or ()))
        self._set_types(requested.label or label_by_name([name for name in names if name not in others]))

    def _set_types(self, label: str | None) -> None:
        """Decide names and types of the columns. A label of a text format is a text, as it is written."""
        texts = [label] if label and all(part.is_text_format for part in self._given_parts) else []
        parts = self._given_parts
        #: Names and types of the columns.
        self.schema = union_schema(parts[:_MAX_CHECKED], {**dict.fromkeys(texts, "str"), **self._declared})
        self._parts = [part.as_types(self.schema) for part in parts[:_MAX_CHECKED]] + list(parts[_MAX_CHECKED:])

    def with_types(self, schema: Mapping[str, str] | None, *, of_texts: bool = False) -> Source:
        """Return the same rows with declared types of some columns; of a text format alone, if ``of_texts``.

        Names that the source does not have are left out.
        """
        declared = {name: kind for name, kind in check_declared(schema).items() if name in self.names}
        skipped = of_texts and not all(part.is_text_format for part in self._given_parts)
        if skipped or not declared.items() - self._declared.items():
            return self
        return Source(self._given_parts, self._requested, self._on_bad_row, {**self._declared, **declared})

    def __repr__(self) -> str:
        places = self._parts[0].name if len(self._parts) == 1 else f"{len(self._parts)} places"
        return printable(f"Source({places}, columns {', '.join(self.names)})")

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

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
    def roles(self) -> Roles:
        """The roles of columns, as given or inferred from the first rows."""
        name = self._parts[0].name if len(self._parts) == 1 else "the source"
        roles = infer_roles(self._requested, self.head(_INFERENCE_ROWS), self._describes_texts(), name)
        self._set_types(roles.label)
        return roles

    def _describes_texts(self) -> bool:
        return all(part.is_texts for part in self._parts)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches()

    def batches(self, skip: int = 0, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield batches from the beginning, of up to 8 MB, or one row if that is larger.

        Parameters
        ----------
        skip : int, default=0
            So many rows at the beginning are left out, to go on where another pass ended.
        columns : sequence of str, optional
            These columns alone; a file is then not read in full where its format allows it.
        """
        progress = self._progress = ReadProgress(BadRows(self._on_bad_row))
        return prefetch(self._pass(progress, skip, list(columns or self.names)))

    def head(self, n: int) -> pa.Table:
        """Return the first rows."""
        quiet = BadRows("error" if self._progress.bad_rows.are_errors else "skip")
        batches, n_rows = [], 0
        for batch in self._pass(ReadProgress(quiet), 0, self.names):
            batches.append(batch.slice(0, n - n_rows))
            n_rows += len(batches[-1])
            if n_rows >= n:
                break
        return pa.Table.from_batches(batches, self.schema)

    def to_table(self) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(list(self.batches()), self.schema)

    def _pass(self, progress: ReadProgress, skip: int, names: list[str]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([self.schema.field(name) for name in names])
        progress.bad_rows.begin()
        try:
            for i, part in enumerate(self._parts):
                if part.n_rows is not None and part.n_rows <= skip:
                    skip -= part.n_rows
                else:
                    if i >= _MAX_CHECKED:
                        check_columns(part, self.schema, self._parts[0].name)
                        part = part.as_types(self.schema)
                    n_before = 0
                    for batch in rebatch(part.batches(progress, names)):
                        if len(batch) > skip:
                            yield cast_batch(batch.slice(skip), schema, part.name, n_before + skip)
                        n_before, skip = n_before + len(batch), max(0, skip - len(batch))
                progress.finish(part.n_bytes)
        finally:
            progress.bad_rows.end()


def _total(sizes: list[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


Item = TypeVar("Item")
# Seconds after which a thread that waits looks whether it is still needed.
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
            del item  # not held while the next is waited for
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
    except BaseException as error:  # whatever it is, it belongs to who asked
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
