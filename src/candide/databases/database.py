"""A database that is asked: what all kinds of them answer, and what each says in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import ClassVar

import pyarrow as pa

from ..exceptions import CandideError, SourceError
from ..sources.duckdb_engine import EXTENSIONS_ADVICE, first_line, identifier, needs_extension

# Characters of a query that an error shows.
_SHOWN = 500
_ADVICE = "check the names in the query, and that it may be read"


class Database(ABC):
    """A connection, and the SQL of its kind."""

    #: What a double is called.
    double: ClassVar[str]
    #: Whether it knows VAR_POP.
    has_variances: ClassVar[bool] = True
    #: The name of the order in which texts are one only where their bytes are.
    bytewise: ClassVar[str] = '"C"'

    @abstractmethod
    def schema(self, source: str) -> pa.Schema:
        """Names and types of the columns of what may stand after FROM."""

    @abstractmethod
    def answer(self, sql: str, schema: pa.Schema, *, many: bool) -> Iterator[pa.RecordBatch]:
        """The rows of a query, a few at a time; ``many``: too many to be fetched at once."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All queries inside see the same rows; afterwards the connection is as it was."""
        return nullcontext()

    def cell(self, column: str, kind: pa.DataType) -> str:
        """A column as it is fetched and told apart."""
        return column if not _is_text(kind) else f"CAST({column} AS TEXT) COLLATE {self.bytewise}"

    def number(self, column: str, kind: pa.DataType) -> str:
        """A column of numbers or booleans as doubles, without NaN."""
        return f"NULLIF(CAST({column} AS {self.double}), {self.literal(float('nan'))})"

    def literal(self, number: float) -> str:
        """A double."""
        return f"CAST('{number!r}' AS {self.double})"

    def leading_bits(self, number: str, shift: int) -> str | None:
        """What doubles share that differ in their last bits alone, which are whole bytes, and 0.0 and -0.0.

        None if there is no way to it, or a slower one than to all numbers.
        """
        return None

    def row_hash(self, cells: list[str]) -> str | None:
        """A whole number below 2^32 that depends on the row alone, to pick rows by; None if all may come here."""
        return None

    @staticmethod
    def quoted(name: str) -> str:
        return identifier(name)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


@contextmanager
def explained(sql: str) -> Iterator[None]:
    """Errors of a database as ours, whatever driver it has."""
    try:
        yield
    except CandideError:
        raise
    except Exception as error:
        shown = sql if len(sql) <= _SHOWN else f"{sql[:_SHOWN]}…"
        advice = EXTENSIONS_ADVICE if needs_extension(error) else _ADVICE
        raise SourceError(
            f"the database does not answer: {first_line(error)}; it was asked {shown!r}; {advice}"
        ) from error
