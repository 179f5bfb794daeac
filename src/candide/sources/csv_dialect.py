"""The dialect of a CSV file: delimiter, quotes, header, and the types of columns.

All of it is detected here. The sniffer of DuckDB, which reads the file, leaves out rows that do not fit its guess, and
quotes that its sample does not have; reads 007, 0x10 and 1_000 as numbers, and yes, y and 1 as booleans; has one date
format for all columns, and prefers the day before the month if both orders fit.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data.conversion import is_boolean_text, is_number_text, to_boolean
from ..data.dates import ISO, fitting_formats, to_date

# Number of rows used to detect the delimiter, and types.
_QUOTING_ROWS, _QUOTING_BYTES = 1_000, 1 << 20
_TYPE_ROWS = 20_480
# Longer cells are texts, not column names.
_NAME_LENGTH = 80
#: Texts that mark missing cells, except in columns of words.
NULL_TEXTS = ("NA", "N/A", "n/a", "<NA>", "#N/A", "NULL", "null", "None", "NaN", "nan")
# A character that no cell contains: the delimiter of files with one column.
_NO_DELIMITER = "\x1f"


@dataclass(frozen=True)
class Quoting:
    """The delimiter and the quote character."""

    delimiter: str
    quote: str = '"'
    escape: str = '"'

    def rows(self, text: str, n_rows: int) -> Iterator[list[str] | None]:
        """Yield the cells of the first rows, None for a row with misplaced quotes."""
        reader = csv.reader(io.StringIO(text, newline=""), strict=True, **self.settings())
        with allow_long_fields():
            for _ in range(n_rows):
                try:
                    row = next(reader)
                except StopIteration:
                    return
                except csv.Error:
                    yield None
                else:
                    if row:
                        yield row

    def texts(self, text: str, n_rows: int) -> Iterator[str]:
        """Yield the first rows as raw text; the last one may be incomplete."""
        taken: list[str] = []

        def taking() -> Iterator[str]:
            for line in io.StringIO(text, newline=""):
                taken.append(line)
                yield line

        reader = csv.reader(taking(), **self.settings())
        with allow_long_fields():
            for _ in range(n_rows):
                if next(reader, None) is None:
                    return
                yield "".join(taken)
                taken.clear()

    def settings(self) -> dict[str, Any]:
        if not self.quote:
            return {"delimiter": self.delimiter, "quoting": csv.QUOTE_NONE, "quotechar": None}
        doubled = self.escape == self.quote
        escape = None if doubled else self.escape
        return {"delimiter": self.delimiter, "quotechar": self.quote, "doublequote": doubled, "escapechar": escape}


_CANDIDATES = (
    *(Quoting(delimiter) for delimiter in ",;\t|"),
    *(Quoting(delimiter, escape="\\") for delimiter in ",;\t|"),
    Quoting("\t", quote="", escape=""),
)


@dataclass(frozen=True)
class CsvDialect:
    """The dialect of a file, and its columns as inferred from the first rows."""

    quoting: Quoting
    header: bool
    names: tuple[str, ...]
    types: tuple[str, ...]
    #: Formats that the dates of a column fit; none for ISO dates and for columns of another type.
    date_formats: tuple[tuple[str, ...], ...]
    #: Mean size of a row in the file.
    row_bytes: float


def detect_dialect(text: str, missing: Sequence[str]) -> CsvDialect:
    """Detect the dialect of a file from its beginning; ``text`` ends with a complete line."""
    quoting = _detect_quoting(text[:_QUOTING_BYTES])
    rows = [row for row in quoting.rows(text, _TYPE_ROWS) if row is not None]
    n_cells = len(rows[0])
    header = _is_header(rows)
    whole = [row[:n_cells] for row in rows[header:] if len(row) == n_cells or row[n_cells:] == [""]]
    types = _detect_types(whole, n_cells, missing)
    names = _unique_names(rows[0]) if header else tuple(f"column{j}" for j in range(n_cells))
    kinds, formats = zip(*types, strict=True)
    return CsvDialect(quoting, header, names, kinds, _certain(formats), _mean_row_bytes(rows))


def is_delimited(text: str) -> bool:
    """Return whether nearly all lines have the same number of cells, and more than one."""
    return any(_n_complete(quoting, text) > 0.95 * _n_rows(quoting, text) for quoting in _CANDIDATES)


def _detect_quoting(text: str) -> Quoting:
    best = max(_CANDIDATES, key=lambda quoting: _n_complete(quoting, text))
    return best if _n_complete(best, text) else Quoting(_NO_DELIMITER)


def _n_complete(quoting: Quoting, text: str) -> int:
    """Return the number of rows with as many cells as the first, which has more than one."""
    rows = quoting.rows(text, _QUOTING_ROWS)
    first = next(rows, None)
    if first is None or len(first) < 2:
        return 0
    return 1 + sum(row is not None and len(row) == len(first) for row in rows)


def _n_rows(quoting: Quoting, text: str) -> int:
    return sum(1 for _ in quoting.rows(text, _QUOTING_ROWS))


def _is_header(rows: list[list[str]]) -> bool:
    """Return whether the first row is a header: short, no numbers, above numbers or values that do not recur."""
    first = rows[0]
    named = [cell for cell in first if cell.strip()]
    if not named or any(len(cell) > _NAME_LENGTH or _looks_numeric(cell) for cell in named):
        return False
    if len(rows) > 1 and any(map(_looks_numeric, rows[1])):
        return True
    later = [row for row in rows[1:] if row != first]  # files put together repeat their header
    return not any(cell and cell == name for row in later for cell, name in zip(row, first, strict=False))


def _looks_numeric(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _unique_names(cells: list[str]) -> tuple[str, ...]:
    """Return names, made distinct and not empty.

    >>> _unique_names(["", "a", "a"])
    ('column0', 'a', 'a_1')
    """
    names: list[str] = []
    for j, cell in enumerate(cells):
        name = base = cell.strip() or f"column{j}"
        number = 0
        while name in names:
            number += 1
            name = f"{base}_{number}"
        names.append(name)
    return tuple(names)


class _Type(NamedTuple):
    """The type of a column, and the formats of its dates if they are not ISO dates."""

    kind: str
    date_formats: tuple[str, ...] = ()


def _certain(formats: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Return the formats of each column; if several fit, those that are certain for another column."""
    certain = {one[0] for one in formats if len(one) == 1}
    return tuple(tuple(each for each in some if each in certain) or some for some in formats)


def _detect_types(rows: list[list[str]], n_cells: int, missing: Sequence[str]) -> list[_Type]:
    if not rows:
        return [_Type("VARCHAR")] * n_cells
    nulls = {"", *missing, *NULL_TEXTS}
    return [_detect_type([cell for cell in dict.fromkeys(cells) if cell not in nulls])
            for cells in zip(*rows, strict=True)]  # fmt: skip


def _detect_type(cells: list[str]) -> _Type:
    """Return the type of a column with these values; without values, it is NULL."""
    if not cells:
        return _Type("NULL")
    if all(map(is_integer, cells)):
        return _Type("BIGINT")
    if all(map(is_number_text, cells)):
        return _Type("DOUBLE")
    if all(map(is_boolean_text, cells)):
        return _Type("BOOLEAN")
    formats = fitting_formats(cells)
    if not formats:
        return _Type("VARCHAR")
    return _Type("TIMESTAMP" if any(":" in cell for cell in cells) else "DATE", formats if formats != (ISO,) else ())


def _mean_row_bytes(rows: Iterable[list[str]]) -> float:
    sizes = [sum(map(len, row)) + len(row) for row in rows]
    return sum(sizes) / len(sizes)


@contextmanager
def allow_long_fields(longest: int = 1 << 30) -> Iterator[None]:
    """Allow cells of this length; the global limit is restored afterwards."""
    limit = csv.field_size_limit(longest)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


_INTEGER = re.compile(r"[ \t]*[+-]?(?:0|[1-9][0-9]*)[ \t]*")
_MINUS, _ZERO, _NINE = b"-09"


def is_integer(cell: str) -> bool:
    """Return whether a cell is a 64-bit integer.

    >>> [is_integer(cell) for cell in ("12", " -5", "1.5", "007", "1_000")]
    [True, True, False, False, False]
    """
    return _INTEGER.fullmatch(cell) is not None and -(1 << 63) <= int(cell) < 1 << 63


def is_float(cell: str) -> bool:
    """Return whether a cell is a number in the notation that DuckDB reads.

    >>> [is_float(cell) for cell in (" .5", "1e3", "-inf", "0x10", "soon")]
    [True, True, True, False, False]
    """
    try:
        float(cell)
    except ValueError:
        return False
    return cell.isascii()


def parse_booleans(cells: pa.Array) -> pa.Array:
    """Return texts as booleans, null where a text is none.

    >>> parse_booleans(pa.array(["true", "FALSE", "0", "yes", None])).to_pylist()
    [True, False, False, None, None]
    """
    return _parse_distinct(cells, to_boolean, pa.bool_())


def parse_dates(cells: pa.Array, format: str) -> pa.Array:
    """Return texts as dates, null where a text is none in this format or in ISO format.

    >>> parse_dates(pa.array(["12/28/2022", "28/12/2022"]), "%m/%d/%Y").to_pylist()
    [datetime.datetime(2022, 12, 28, 0, 0), None]
    """
    return _parse_distinct(cells, partial(to_date, format=format), pa.timestamp("us"))


def _parse_distinct(cells: pa.Array, parse: Callable[[str], Any], kind: pa.DataType) -> pa.Array:
    coded = cells.dictionary_encode()
    values = [None if cell is None else parse(cell) for cell in coded.dictionary.to_pylist()]
    return pa.array(values, kind).take(coded.indices)


def parse_integers(cells: pa.Array) -> pa.Array:
    """Return texts as integers, null where a text is not one.

    >>> parse_integers(pa.array(["12", "+5", "1.5", None])).to_pylist()
    [12, 5, None, None]
    """
    if _are_plain_integers(cells):
        try:
            return cells.cast(pa.int64())
        except pa.ArrowInvalid:
            pass  # a number with too many digits, or a misplaced minus sign
    unsigned = pc.replace_substring_regex(cells, r"^[ \t]*(?:\+([0-9]+)|(-?[0-9]+))[ \t]*$", r"\1\2")
    shaped = pc.if_else(pc.match_substring_regex(unsigned, "^-?(0|[1-9][0-9]*)$"), unsigned, None)
    try:
        return shaped.cast(pa.int64())
    except pa.ArrowInvalid:
        return pa.array([int(cell) if cell and is_integer(cell) else None for cell in shaped.to_pylist()], pa.int64())


def _are_plain_integers(cells: pa.Array) -> bool:
    """Return whether all consist of digits and minus signs without leading zeros; a cast checks the rest."""
    _, offset_buffer, letter_buffer = cells.buffers()
    if not len(cells) or letter_buffer is None:
        return True
    offsets = np.frombuffer(offset_buffer, dtype=np.int32)[cells.offset : cells.offset + len(cells) + 1]
    letters = np.frombuffer(letter_buffer, dtype=np.uint8)[: offsets[-1]]
    used = letters[offsets[0] :]
    if not np.all((used - np.uint8(_ZERO) <= _NINE - _ZERO) | (used == _MINUS)):
        return False
    starts = offsets[:-1][np.diff(offsets) > 1]
    firsts = letters[starts + (letters[starts] == _MINUS)]
    return not np.any(firsts == _ZERO)
