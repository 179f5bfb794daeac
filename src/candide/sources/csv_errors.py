"""Rows of CSV files that cannot be read: where they are, and what is wrong."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .csv_dialect import CsvDialect, allow_long_fields
from .files import HEAD_BYTES, open_decompressed

# Maximum size of a row.
LINE_BYTES = 1 << 24
_TOO_LONG = (f"a row of more than {LINE_BYTES >> 20} MB", "check for a missing quote, or shorten the row")
# Of a row that is too long, so many characters are kept.
MAX_SHOWN = 1_000


def describe_reject(error: str, message: str) -> tuple[str, str]:
    """Return what is wrong with a row, and what to do."""
    counts = re.findall(r"Columns: (\d+) Found: (\d+)", message)
    if counts:
        return f"found {counts[0][1]} cells, expected {counts[0][0]}", "correct the line"
    if error == "UNQUOTED VALUE":
        return "a quote is not closed, or is followed by other characters", (
            'escape quotes within a cell by doubling them ("")'
        )
    if error == "INVALID ENCODING":
        return "invalid UTF-8", "pass the encoding of the file, such as encoding='cp1252'"
    if error == "LINE SIZE OVER MAXIMUM":
        return _TOO_LONG
    return message.partition("\n")[0], "correct the line"


def too_long_row(row: str) -> tuple[str, str, str]:
    problem, advice = _TOO_LONG
    return problem, row[:MAX_SHOWN], advice


def skip_bytes(stream: Any, n_bytes: int) -> bytes:
    """Skip bytes, and return the incomplete last line, if it is short."""
    end = b""
    while n_bytes > 0:
        block = stream.read(min(n_bytes, 1 << 22))
        n_bytes -= len(block) or n_bytes
        end = (end + block)[-MAX_SHOWN:]
    return end[max(end.rfind(b"\n"), end.rfind(b"\r")) + 1 :]


def line_numbers(path: Path, positions: Sequence[int]) -> list[int]:
    """Return the lines of these bytes, which are in ascending order."""
    lines, line, at = [], 1, 0
    with open_decompressed(path) as stream:
        newline = b"\n" if b"\n" in stream.read(HEAD_BYTES) else b"\r"
    with open_decompressed(path) as stream:
        for position in positions:
            while at < position:
                block = stream.read(min(position - at, 1 << 22))
                line, at = line + block.count(newline), at + max(len(block), 1)
            lines.append(line)
    return lines


class ParseError(NamedTuple):
    """A cell and its row."""

    line: int
    row: str
    column: int
    cell: str


def find_parse_errors(
    path: Path, dialect: CsvDialect, checks: Mapping[int, Callable[[str], bool]], missing: Container[str], longest: int
) -> Iterator[ParseError]:
    """Yield the first invalid cell of each row; ``checks`` return which cells of a column are valid.

    Use a different, slower reader: DuckDB does not report the line on which a row begins.
    """
    n_cells = len(dialect.names)
    with open_decompressed(path) as stream, allow_long_fields(longest):
        for i, (line, text, row) in enumerate(_numbered_rows(_text_lines(stream, path), dialect)):
            if (dialect.header and i == 0) or (len(row) != n_cells and row[n_cells:] != [""]):
                continue
            odd = [j for j, is_valid in checks.items() if row[j] not in missing and not is_valid(row[j])]
            if odd:
                yield ParseError(line, text, odd[0], row[odd[0]])


def _text_lines(stream: io.RawIOBase, path: Path) -> Iterable[str]:
    with open_decompressed(path) as beginning:
        newline = "\n" if b"\n" in beginning.read(HEAD_BYTES) else "\r"
    return io.TextIOWrapper(io.BufferedReader(stream), encoding="utf-8-sig", errors="replace", newline=newline)


def _numbered_rows(lines: Iterable[str], dialect: CsvDialect) -> Iterator[tuple[int, str, list[str]]]:
    """Yield line, text and cells of each row, except blank ones and those with misplaced quotes."""
    taken: list[str] = []

    def taking() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    reader = csv.reader(taking(), strict=True, **dialect.quoting.settings())
    n_before = 0
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            row = []
        if row:
            yield n_before + 1, "".join(taken).strip("\r\n"), row
        n_before += len(taken)
        taken.clear()
