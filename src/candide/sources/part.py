"""What a source is made of: parts, each a file, a folder, a mailbox or a query, read one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import pyarrow as pa

from .bad_rows import BadRows
from .streams import Spool

# Bytes of a batch: large enough that its cost is that of its bytes, small enough that a few are no burden.
BATCH_BYTES = 8 << 20
MOST_ROWS = 1 << 17
# Asked of the engine at once, which counts rows and not bytes: few, for later rows may be long.
ENGINE_ROWS = 2_048


class Reading:
    """One pass over the parts: how far it came, and which rows it could not read."""

    def __init__(self, bad_rows: BadRows) -> None:
        self.bad_rows = bad_rows
        self.bytes_before = 0
        self.bytes_here = 0

    @property
    def bytes_read(self) -> int:
        return self.bytes_before + self.bytes_here

    def finish(self, n_bytes: int | None) -> None:
        """A part is at its end."""
        self.bytes_before += n_bytes or 0
        self.bytes_here = 0


class Part(ABC):
    """Rows from one place."""

    #: What messages call it.
    name: str
    #: Size on disk, None where unknown.
    n_bytes: int | None = None
    #: None where only a pass would tell.
    n_rows: int | None = None
    #: Whether rows are texts, in a column of that name.
    is_texts = False
    #: Copies on disk that go with the part.
    copies: tuple[Spool, ...] = ()

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """Columns as they are read."""

    @abstractmethod
    def batches(self, reading: Reading, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """All rows from the beginning, of these columns at least."""

    def as_types(self, schema: pa.Schema) -> Part:
        """The same part with cells of other types, where it is the reading that gives them a type."""
        return self


def rows_per_batch(row_bytes: float) -> int:
    """How many rows of such a size make a batch."""
    return max(1, min(MOST_ROWS, int(BATCH_BYTES / max(row_bytes, 1.0))))
