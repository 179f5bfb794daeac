"""Tables that are not in memory: lazy frames, relations, datasets and Arrow streams, read batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import pyarrow as pa

from ..exceptions import InputError, SourceError
from ..model.source import RequestedRoles, Source
from .duckdb_engine import identifier
from .reader import ENGINE_ROWS, MAX_ROWS, Reader, ReadProgress, cast_batch, plain_schema
from .source import ArrowSource

# Rows of a batch of a dataset; it reads a few batches ahead.
_DATASET_ROWS = 1 << 15
_READ_AHEAD = 2
_BUFFER_BYTES = 1 << 20
# Number of first rows of a relation used to detect the roles and kinds of columns.
_FIRST_ROWS = 10_000

_Batches = Generator[pa.RecordBatch, None, None]
_Scan = Callable[[list[str]], _Batches]


def open_frame(X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Source:
    """Return a lazy table as a source; labels, weights and groups are names of columns."""
    kind = type(X).__name__
    if type(X).__module__.startswith("narwhals"):
        from .open_source import open_source

        return open_source(X.to_native(), y, sample_weight, groups)
    for what, value, name in (
        ("y", y, "label"), ("sample_weight", sample_weight, "weight"), ("groups", groups, "customer_id")
    ):  # fmt: skip
        if value is not None and not isinstance(value, str):
            raise InputError(
                f"{what} is of type {type(value).__name__}, but X is a {kind}, whose rows are read in batches; pass "
                f"the name of the column of X, as in {what}={name!r}"
            )
    return ArrowSource([_reader(X)], RequestedRoles(label=y, weight=sample_weight, groups=groups))


class LazyReader(Reader):
    """A table that is computed or read when its rows are needed.

    First rows are looked at several times. They are kept until all rows are read, which goes on after them, so that a
    stream can be read and a query is not computed again. A pass over some of the columns reads less: it begins anew
    where that is possible.

    Parameters
    ----------
    name : str
        Name of the table in messages.
    schema : pyarrow.Schema
        Its columns.
    scan : callable
        Returns the batches of some columns, from the beginning.
    first : callable, optional
        Returns the first rows, where ``scan`` should not be left open.
    is_stream : bool, default False
        Whether there is one pass only.
    """

    keeps_first_rows = True

    def __init__(
        self, name: str, schema: pa.Schema, scan: _Scan, *, first: _Scan | None = None, is_stream: bool = False
    ) -> None:
        super().__init__(name)
        self.schema = plain_schema(schema.remove_metadata())
        self._scan, self._scan_first, self._is_stream = scan, first, is_stream
        self._first: list[pa.RecordBatch] = []
        self._rest: _Batches | None = None
        self._was_read = False

    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        can_go_on = self._scan_first is None and len(names) == len(self.schema.names)
        if progress.is_preview:
            return self._previewed()
        return self._all() if can_go_on or self._is_stream else self._some(list(names))

    def _read(self, scan: _Scan, names: list[str]) -> _Batches:
        """Yield batches from the beginning, in the types that are read."""
        if self._is_stream and self._was_read:
            raise SourceError(f"{self.name} is a stream that has already been read; pass a new one")
        self._was_read = True
        schema = pa.schema([self.schema.field(name) for name in names])
        n_rows = 0
        with closing(scan(names)) as rows:
            for batch in rows:
                # Slices, so that a large batch is not cast as a whole.
                for begin in range(0, len(batch), MAX_ROWS):
                    yield cast_batch(batch.slice(begin, MAX_ROWS), schema, self.name, n_rows + begin)
                n_rows += len(batch)

    def _previewed(self) -> Iterator[pa.RecordBatch]:
        """Yield batches, and keep them."""
        if self._rest is None:
            self._rest = self._read(self._scan_first or self._scan, self.schema.names)
            if self._scan_first is not None:
                self._first.extend(self._rest)
        place = 0
        while True:
            if place == len(self._first):
                batch = next(self._rest, None)
                if batch is None:
                    return
                self._first.append(batch)
            yield self._first[place]
            place += 1

    def _all(self) -> Iterator[pa.RecordBatch]:
        """Yield the first batches, which are kept no longer, and those after them."""
        first, rest = self._first, self._rest
        self._first, self._rest = [], None
        while first:
            yield first.pop(0)
        yield from self._read(self._scan, self.schema.names) if rest is None else rest

    def _some(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        """Yield batches of some columns, from the beginning."""
        if self._rest is not None:
            self._rest.close()
        self._first, self._rest = [], None
        yield from self._read(self._scan, names)


def _reader(X: Any) -> LazyReader:
    kind = type(X)
    package, name = kind.__module__.partition(".")[0], f"the {kind.__name__}"
    if package == "polars":
        return _polars_reader(X, name)
    if package in ("duckdb", "_duckdb"):
        schema = X.limit(0).to_arrow_table().schema
        return LazyReader(name, schema, partial(_relation_batches, X), first=partial(_first_of_relation, X))
    if hasattr(kind, "scanner"):
        return LazyReader(name, X.schema, partial(_dataset_batches, X))
    stream = pa.RecordBatchReader.from_stream(X)
    return LazyReader(name, stream.schema, partial(_stream_batches, stream), is_stream=True)


def _polars_reader(X: Any, name: str) -> LazyReader:
    if not hasattr(X, "collect_batches"):
        raise InputError(
            "X is a LazyFrame, but this version of polars cannot read it in batches; upgrade polars, or pass "
            "X.collect()"
        )
    return LazyReader(name, X.clear().collect().to_arrow().schema, partial(_frame_batches, X))


def _frame_batches(X: Any, names: list[str]) -> _Batches:
    for frame in X.select(names).collect_batches():
        yield from frame.to_arrow().to_batches()


def _relation_batches(X: Any, names: list[str]) -> _Batches:
    with closing(X.project(", ".join(map(identifier, names))).to_arrow_reader(ENGINE_ROWS)) as reader:
        yield from reader


def _first_of_relation(X: Any, names: list[str]) -> _Batches:
    """Yield first rows. A connection can have one open result, and an error would leave it open."""
    yield from X.limit(_FIRST_ROWS).to_arrow_table().to_batches()


def _dataset_batches(X: Any, names: list[str]) -> _Batches:
    options: dict[str, Any] = {"batch_readahead": _READ_AHEAD, "fragment_readahead": 1}
    if getattr(getattr(X, "format", None), "default_extname", None) == "parquet":
        from pyarrow.dataset import ParquetFragmentScanOptions

        # Otherwise whole row groups are read before their first row is returned.
        buffered = ParquetFragmentScanOptions(use_buffered_stream=True, buffer_size=_BUFFER_BYTES, pre_buffer=False)
        options["fragment_scan_options"] = buffered
    yield from X.to_batches(columns=names, batch_size=_DATASET_ROWS, **options)


def _stream_batches(stream: Any, names: list[str]) -> _Batches:
    yield from stream
