"""The inputs of views as columns of a query: codes, slots and points of columns, each computed once under a short name.

Rows have no number that all databases agree on. Views of pairs, triples and Fourier features, which are computed in
separate tables, need none: their scores depend on codes alone, so rows are joined by a key that concatenates these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...kernels.layouts import Array
from ...stacking.binning import ColumnBinning, MergedCodes, TableBinning
from ...stacking.coordinates import ClippedCoordinates, Coordinates, RankCoordinates
from .cells import Cells
from .codes import Codes
from .expressions import clipped_between, picked


@dataclass
class BinnedColumns:
    """What views ask of the columns, gathered while a query is thought out."""

    binning: TableBinning
    cells: Cells
    codes: Codes
    points: dict[str, str] = field(default_factory=dict)

    def lacks(self, i: int) -> str | None:
        """A name that is 1 where a column is not given, else 0; None where nulls are values."""
        column = self.binning.columns[i]
        if self.binning.nulls is None or self.binning.nulls[column.column]:
            return None
        labels = None if column.is_number else ([] if column.labels is None else column.labels.tolist())
        return self.cells.lacks(column.column, labels)

    @property
    def numbers(self) -> Array:
        """Places of the number columns among the codes."""
        return np.array([i for i, column in enumerate(self.binning.columns) if column.is_number], dtype=np.int64)

    def coordinates(self, coordinates: Coordinates) -> list[str]:
        """The names of points."""
        if isinstance(coordinates, RankCoordinates):
            pairs = zip(coordinates.columns.tolist(), coordinates.quantiles, strict=True)
            return [self._point(f"y{i}", picked(self._code(i), places, self.cells.dialect)) for i, places in pairs]
        assert isinstance(coordinates, ClippedCoordinates)
        return [self._clipped(coordinates, place, n) for place, n in enumerate(coordinates.columns.tolist())]

    def slots(self, merging: MergedCodes, prefix: str) -> list[str]:
        """The names of slots."""
        pairs = zip(merging.columns.tolist(), merging.maps, merging.offsets.tolist(), strict=False)
        return [self._coded(f"{prefix}_{i}", i, codes + offset) for i, codes, offset in pairs]

    def levels(self, merging: MergedCodes, prefix: str) -> list[str]:
        """The names of zeros and ones, one for each slot."""
        slots, number = self.slots(merging, prefix), self.cells.dialect.first_number
        columns = np.repeat(np.arange(len(slots)), merging.sizes).tolist()
        return [
            self._point(f"{prefix}_z{slot}", f"CASE {slots[j]} WHEN {slot} THEN {number(1)} ELSE 0.0 END")
            for slot, j in enumerate(columns)
        ]

    def add_key(self, name: str, codes: Sequence[str]) -> None:
        """A text of the codes of a row."""
        kind = self.cells.dialect.text_type
        self.points[name] = " || ',' || ".join(f"CAST({code} AS {kind})" for code in codes)

    def rank_codes(self, ranks: RankCoordinates) -> list[str]:
        """The names of the codes that ranks are made from."""
        return [self._code(i) for i in ranks.columns.tolist()]

    def _point(self, name: str, expression: str) -> str:
        self.points[name] = expression
        return name

    def _clipped(self, coordinates: ClippedCoordinates, place: int, n: int) -> str:
        numbers = [column.column for column in self.binning.columns if column.is_number]
        x, number = self.cells.number(numbers[n]), self.cells.dialect.number
        inside = clipped_between(x, coordinates.low[place], coordinates.high[place], self.cells.dialect)
        away = f"({inside} - {number(coordinates.mean[place])}) / {number(coordinates.deviation[place])}"
        return self._point(f"w{n}", f"CASE WHEN {x} IS NULL THEN {self.cells.dialect.first_number(0)} ELSE {away} END")

    def _code(self, i: int) -> str:
        """The code of a column as views see it."""
        return self._coded(f"k{i}", i, np.arange(self.binning.columns[i].size + 2))

    def _coded(self, name: str, i: int, codes: Array) -> str:
        """What a map makes of a column's codes; the last two are those of missing and of unseen values."""
        column: ColumnBinning = self.binning.columns[i]
        *_, missing, unseen = codes.tolist()
        if self.lacks(i) is not None:
            missing = -1
        if column.cuts is not None:
            return self.codes.of_number(name, self.cells.number(column.column), column.cuts, codes[:-2], missing)
        labels = [] if column.labels is None else column.labels.tolist()
        found = self.cells.labelled(column.column, labels)
        return self.codes.of_labels(name, found, codes[:-2].tolist(), missing, str(unseen))


def distinct(key: str, names: Sequence[str], source: str) -> tuple[dict[str, str], str]:
    """Return columns and source of a step with the distinct keys, and what rows of a key have in common."""
    return {"code_key": key, **{name: f"MIN({name})" for name in names}}, f"{source} GROUP BY {key}"
