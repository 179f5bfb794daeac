"""Rows of a CSV file with a cell that is no whole number where the first rows have them."""

from __future__ import annotations

import csv
import io
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from .dialect import Dialect, long_fields
from .numbers import is_whole
from .streams import HEAD_BYTES, opened


class OddCell(NamedTuple):
    """A cell, and the row that it is in."""

    line: int
    row: str
    column: str
    cell: str


def odd_cells(
    path: Path, dialect: Dialect, whole: Mapping[int, str], missing: Container[str], longest: int
) -> Iterator[OddCell]:
    """The first such cell of each row, from the beginning; ``whole`` says which columns are of whole numbers.

    Another reader than that of the pass, and slower: the engine does not tell on which line of a file a row begins.
    """
    n_cells = len(dialect.names)
    with opened(path) as stream, long_fields(longest):
        for i, (line, text, row) in enumerate(_rows(_lines(stream, path), dialect)):
            if (dialect.header and i == 0) or (len(row) != n_cells and row[n_cells:] != [""]):
                continue
            odd = [j for j in whole if row[j] not in missing and not is_whole(row[j])]
            if odd:
                yield OddCell(line, text, whole[odd[0]], row[odd[0]])


def _lines(stream: io.RawIOBase, path: Path) -> Iterable[str]:
    with opened(path) as beginning:
        newline = "\n" if b"\n" in beginning.read(HEAD_BYTES) else "\r"
    return io.TextIOWrapper(io.BufferedReader(stream), encoding="utf-8-sig", errors="replace", newline=newline)


def _rows(lines: Iterable[str], dialect: Dialect) -> Iterator[tuple[int, str, list[str]]]:
    """Line, text and cells of each row; without blank ones, and those with quotes out of place."""
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
