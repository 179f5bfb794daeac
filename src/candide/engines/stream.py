"""Rows that come in chunks, of which few are in memory at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ..data.labeled_rows import LabeledRows, concatenate_labeled
from ..kernels import Kernels
from ..model.plan import Plan
from ..statistics.kept_rows import row_bytes
from .growth import Growth
from .memory import summarize

# What a row takes besides its cells; a text that is a Python string, as much as this.
_ROW_BYTES = 64


class Chunk(NamedTuple):
    """Rows, and the how-many-th they are, from 0."""

    number: int
    rows: LabeledRows

    @property
    def n_bytes(self) -> int:
        return int(row_bytes(self.rows.data).sum()) + _ROW_BYTES * len(self.rows.positions)


def gathered(chunks: Iterable[Chunk], enough: int) -> Iterator[list[Chunk]]:
    """Neighbours that are counted together, up to so many bytes.

    The first is alone, for what it holds may tell how to read the others.
    """
    waiting: list[Chunk] = []
    size, is_first = 0, True
    for chunk in chunks:
        if waiting and not chunk.rows.can_concatenate(waiting[-1].rows):
            yield waiting
            waiting, size = [], 0
        size += chunk.n_bytes
        whole, is_first = is_first or size >= enough, False
        # Who yields chunks may fill the same arrays again.
        waiting.append(chunk if whole else chunk._replace(rows=concatenate_labeled([chunk.rows])))
        del chunk
        if whole:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def learn(growth: Growth, plan: Plan, group: list[Chunk], kernels: Kernels) -> None:
    """Some chunks more."""
    rows = group[0].rows if len(group) == 1 else concatenate_labeled([chunk.rows for chunk in group])
    try:
        batch = summarize(plan, rows, kernels, growth.main)
    except ValueError:
        for chunk in group:
            with numbered(chunk.number):
                summarize(plan, chunk.rows, kernels)
        raise
    with numbered(group[0].number):
        growth.add(batch)


@contextmanager
def numbered(number: int) -> Iterator[None]:
    """Errors say in which chunk they arose."""
    try:
        yield
    except (TypeError, ValueError) as error:
        error.args = (f"chunk {number}: {error}",)
        raise
