"""Where rows come from, as Arrow, a few megabytes at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import pyarrow as pa

from ..data.column_selection import Roles
from ..printable import printable
from .ahead import one_ahead
from .bad_rows import BadRows, OnBadRow
from .batching import evened
from .columns import check_names, conformed, fingerprint, joined
from .part import Part, Reading
from .roles import Asked, find_roles

# Of so many files the types are looked at before the first row is read; of others when their turn comes.
_LOOKED_AT = 100
# Rows that tell which column is the label.
_ROWS_FOR_ROLES = 10_000


class Source:
    """Rows from files, folders, mailboxes or a query, in their order; made by :func:`candide.read`.

    Every pass begins anew and holds a batch or two. What is read is what was there when the source was opened: its
    columns and types are those of then.
    """

    def __init__(self, parts: Sequence[Part], asked: Asked, on_bad_row: OnBadRow = "error") -> None:
        self._asked, self._on_bad_row = asked, on_bad_row
        #: Names and types of the columns.
        self.schema = joined(parts[:_LOOKED_AT])
        self._parts = [part.as_types(self.schema) for part in parts[:_LOOKED_AT]] + list(parts[_LOOKED_AT:])
        self._reading = Reading(BadRows(on_bad_row))
        asked.check(self.names)

    def __repr__(self) -> str:
        places = self._parts[0].name if len(self._parts) == 1 else f"{len(self._parts)} places"
        return printable(f"Source({places}, columns {', '.join(self.names)})")

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    @property
    def n_bytes(self) -> int | None:
        """Size on disk, None where it is not known."""
        return _total([part.n_bytes for part in self._parts])

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, None where only a pass would tell."""
        return _total([part.n_rows for part in self._parts])

    @property
    def bytes_read(self) -> int:
        """Of ``n_bytes``, what the last pass has read so far, about."""
        return self._reading.bytes_read

    @property
    def bad_rows(self) -> BadRows:
        """Rows that the last pass left out."""
        return self._reading.bad_rows

    @property
    def fingerprint(self) -> str:
        """A short name for the names and types of the columns."""
        return fingerprint(self.schema)

    @cached_property
    def roles(self) -> Roles:
        """Which column is the label, and which are learned from; as given, or found on the first rows."""
        name = self._parts[0].name if len(self._parts) == 1 else "the source"
        return find_roles(self._asked, self.head(_ROWS_FOR_ROLES), self._describes_texts(), name)

    def _describes_texts(self) -> bool:
        return all(part.is_texts for part in self._parts)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches()

    def batches(self, skip: int = 0, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """A pass from the beginning, up to 8 MB at a time, or one row where that is larger.

        Parameters
        ----------
        skip : int, default=0
            So many rows at the beginning are left out, to go on where another pass ended.
        columns : sequence of str, optional
            These columns alone; a file is then not read in full where its format allows it.
        """
        reading = self._reading = Reading(BadRows(self._on_bad_row))
        return one_ahead(self._pass(reading, skip, list(columns or self.names)))

    def head(self, n: int) -> pa.Table:
        """The first rows."""
        quiet = BadRows("error" if self._reading.bad_rows.are_errors else "skip")
        batches, n_rows = [], 0
        for batch in self._pass(Reading(quiet), 0, self.names):
            batches.append(batch.slice(0, n - n_rows))
            n_rows += len(batches[-1])
            if n_rows >= n:
                break
        return pa.Table.from_batches(batches, self.schema)

    def to_table(self) -> pa.Table:
        """All rows."""
        return pa.Table.from_batches(list(self.batches()), self.schema)

    def _pass(self, reading: Reading, skip: int, names: list[str]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([self.schema.field(name) for name in names])
        reading.bad_rows.begin()
        try:
            for i, part in enumerate(self._parts):
                if part.n_rows is not None and part.n_rows <= skip:
                    skip -= part.n_rows
                else:
                    if i >= _LOOKED_AT:
                        check_names(part, self.schema, self._parts[0].name)
                        part = part.as_types(self.schema)
                    for batch in evened(part.batches(reading, names)):
                        if len(batch) > skip:
                            yield conformed(batch.slice(skip), schema, part.name)
                        skip = max(0, skip - len(batch))
                reading.finish(part.n_bytes)
        finally:
            reading.bad_rows.end()


def _total(sizes: list[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
