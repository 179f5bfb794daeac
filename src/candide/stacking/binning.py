"""Binning of tables: the codes and coordinates of cells that views are computed from.

Each cell is encoded as one of at most 64 codes. ``TableBinning`` is determined by the statistics of a table. Views of
pairs and triples merge its codes further (``MergedCodes``). Numeric columns also have approximately normal coordinates
(``Coordinates``), which are fitted once, without labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np

from ..data.columns import Column, Columns
from ..families.columns.histogram import MICRO_BINS, cuts_between, equal_frequency, merged
from ..kernels import Kernels
from ..kernels.layouts import Array, Dense, Floats, Positions
from ..lazy import dataclass
from ..statistics.grid import Cells
from ..statistics.table import TableStatistics
from .views import BinnedRows, FieldsOnlyPickle


@dataclass(frozen=True)
class ColumnBinning:
    """Mapping from the values of one column to codes."""

    column: int  # position in the table
    count: Floats  # weight of each code over all classes
    cuts: Floats | None = None  # of a numeric column
    labels: Array | None = None  # of a category column

    @property
    def size(self) -> int:
        return len(self.count)

    @property
    def is_number(self) -> bool:
        return self.cuts is not None


@dataclass(frozen=True)
class TableBinning:
    """Mapping from the cells of a table to codes.

    ``nulls`` states for each column whether training rows had nulls. If so, a null is treated as a value; otherwise it
    is an absent cell. None: nulls are values in all columns.
    """

    columns: tuple[ColumnBinning, ...]
    nulls: Array | None = None  # bool (columns of the table,)

    @classmethod
    def of(cls, statistics: TableStatistics, which: list[int]) -> TableBinning:
        """Return the binning of the columns ``which``, from their statistics."""
        return cls(tuple(_bin_column(statistics, j) for j in which), _with_nulls(statistics))

    def without_forgotten(self, statistics: TableStatistics) -> TableBinning:
        """Return the binning without the names of categories that no longer occur, which become unseen."""
        return replace(self, columns=tuple(_without_forgotten(column, statistics) for column in self.columns))

    @property
    def sizes(self) -> Array:
        """Number of codes of each column, without "missing" and "unseen"."""
        return np.array([column.size for column in self.columns], dtype=np.int64)

    @property
    def number_columns(self) -> Array:
        """Positions of the numeric columns among the codes."""
        return np.array([i for i, column in enumerate(self.columns) if column.is_number], dtype=np.int64)

    def absent(self, data: Columns) -> Array | None:
        """Return which cells are absent, ``(rows, columns of the table)``; None if no cell is absent."""
        none = np.zeros(len(data.columns), dtype=bool) if self.nulls is None else ~self.nulls
        found = [(column.nulls() if like_absent else None, column.absent)
                 for like_absent, column in zip(none.tolist(), data.columns, strict=True)]  # fmt: skip
        if not any(part is not None and part.any() for pair in found for part in pair):
            return None
        out = np.zeros((data.n_rows, len(found)), dtype=bool)
        for j, pair in enumerate(found):
            for part in pair:
                if part is not None:
                    out[:, j] |= part
        return out

    def transform(self, data: Columns, kernels: Kernels) -> BinnedRows:
        """Encode rows. Cells that are marked as absent (``Columns.with_absent``) get the code -1."""
        codes = np.empty((data.n_rows, len(self.columns)), dtype=np.int32)
        number = [(i, column) for i, column in enumerate(self.columns) if column.is_number]
        numbers = np.empty((data.n_rows, len(number)))
        if number:
            cells = Dense.of(tuple(data.columns[column.column].values for _, column in number))
            numbers = cells.floats()
            found = kernels.cell_codes(cells, [cuts for _, column in number if (cuts := column.cuts) is not None])
            for k, (i, column) in enumerate(number):
                codes[:, i] = np.where(found[:, k] < 0, column.size, found[:, k])
        for i, column in enumerate(self.columns):
            if not column.is_number:
                codes[:, i] = _category_codes(data.columns[column.column], column)
        absent = data.absent()
        if absent is None:
            return BinnedRows(codes, numbers)
        here = absent[:, [column.column for column in self.columns]]
        return BinnedRows(np.where(here, np.int32(-1), codes), numbers, here[:, [i for i, _ in number]], codes)


def _category_codes(column: Column, binning: ColumnBinning) -> Array:
    if column.labels is None:
        return np.full(len(column.values), binning.size, dtype=np.int32)
    place = {label: i for i, label in enumerate(binning.labels.tolist() if binning.labels is not None else [])}
    codes = [place.get(label, binning.size + 1) for label in column.labels.tolist()]
    return np.array([*codes, binning.size], dtype=np.int32)[column.values]


def _without_forgotten(binning: ColumnBinning, statistics: TableStatistics) -> ColumnBinning:
    if binning.labels is None:
        return binning
    known = set(statistics.categories.labels[statistics.place(binning.column)].tolist())
    labels = np.empty(len(binning.labels), dtype=object)
    # Codes are positions in the list of labels, which must not change.
    labels[:] = [label if label in known else f"\ufffd{i}" for i, label in enumerate(binning.labels.tolist())]
    return replace(binning, labels=labels)


def _with_nulls(statistics: TableStatistics) -> Array:
    """Return for each column whether a training row had a null."""
    whole = float(statistics.rows.sum()) * (1 - 1e-12)
    return np.array([float(statistics.observed(j).sum()) < whole for j in range(len(statistics.kinds))], dtype=bool)


def _bin_column(statistics: TableStatistics, j: int) -> ColumnBinning:
    place = statistics.place(j)
    if statistics.kinds[j] == "category":
        count = statistics.categories.column(place).sum(axis=0)
        return ColumnBinning(j, count, labels=statistics.categories.labels[place])
    return _bin_numbers(j, statistics.grid.column(place))


def _bin_numbers(j: int, cells: Cells) -> ColumnBinning:
    few = merged(cells, equal_frequency(cells.count.sum(axis=1), MICRO_BINS))
    return ColumnBinning(j, few.count.sum(axis=1), cuts_between(few))


# Every column has two further codes: missing and unseen.
_N_EXTRA_CODES = 2


def merge_codes(counts: Sequence[Floats], is_number: Sequence[bool], bins: int, levels: int = 30) -> tuple[Array, ...]:
    """Return for each column an array that maps its codes, missing and unseen included, to fewer codes.

    Number columns get ``bins`` of about equal weight; category columns keep the ``levels - 1`` most frequent categories
    and share one code for all others. ``counts`` contains the weight of each code.

    >>> numbers, levels = merge_codes([np.array([1.0, 1.0, 1.0, 3.0]), np.array([2.0, 5.0, 1.0])], [True, False], 2, 2)
    >>> numbers, levels
    (array([0, 0, 0, 1, 2, 3]), array([1, 0, 1, 2, 3]))
    """
    pairs = zip(counts, is_number, strict=True)
    maps = (_equal_weight(count, bins) if number else _most_frequent(count, levels) for count, number in pairs)
    return tuple(_with_further(codes) for codes in maps)


def _equal_weight(count: Floats, bins: int) -> Array:
    if len(count) <= bins:
        return np.arange(len(count))
    middle = (np.cumsum(count) - count / 2) / max(float(count.sum()), 1e-300)
    return np.unique(np.minimum((middle * bins).astype(np.int64), bins - 1), return_inverse=True)[1]


def _most_frequent(count: Floats, levels: int) -> Array:
    if len(count) <= levels:
        return np.arange(len(count))
    codes = np.full(len(count), levels - 1)
    kept = np.sort(np.argsort(-count, kind="stable")[: levels - 1])
    codes[kept] = np.arange(len(kept))
    return codes


def _with_further(codes: Array) -> Array:
    size = int(codes.max()) + 1 if len(codes) else 0
    return np.concatenate([codes, size + np.arange(_N_EXTRA_CODES)])


@dataclass(frozen=True)
class MergedCodes(FieldsOnlyPickle):
    """Maps from the codes of some columns to slots.

    Slots number the merged codes of all these columns consecutively, column after column. They index the rows and the
    columns of a table of counts.

    >>> merged = MergedCodes(np.array([0, 2]), (np.array([0, 0, 1, 2]), np.array([0, 1, 2])))
    >>> merged.slots(np.array([[1, 7, 0], [2, 7, 2]], dtype=np.int32))
    array([[0, 3],
           [1, 5]], dtype=int32)
    """

    columns: Array
    maps: tuple[Array, ...]  # one for each of the columns

    @classmethod
    def within(cls, maps: Sequence[Array], order: Array, most_slots: float) -> MergedCodes:
        """Use the first columns in ``order`` that have at most ``most_slots`` slots together, kept in table order."""
        sizes = np.array([int(codes.max()) + 1 for codes in maps])
        order = np.asarray(order, dtype=np.int64)
        columns = np.sort(order[np.cumsum(sizes[order]) <= most_slots])
        return cls(columns, tuple(maps[j] for j in columns))

    @cached_property
    def sizes(self) -> Array:
        """Number of slots of each column."""
        return np.array([int(codes.max()) + 1 for codes in self.maps], dtype=np.int64)

    @cached_property
    def offsets(self) -> Array:
        """First slot of each column, and the total number of slots."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def one_map(self) -> tuple[Positions, Array]:
        """All maps concatenated, and where each column's map begins."""
        begins = np.concatenate([[0], np.cumsum([len(codes) for codes in self.maps])])[:-1]
        joined = [codes + offset for codes, offset in zip(self.maps, self.offsets, strict=False)]
        return np.concatenate(joined).astype(np.int32), begins.astype(np.int32)

    def slots(self, codes: Array) -> Positions:
        """Return slots, ``(rows, columns)``, from the codes of all columns; -1 where a cell is absent."""
        slot_of, begins = self.one_map
        # Selecting all columns would be a needless copy.
        chosen = codes if len(self.columns) == codes.shape[1] else codes[:, self.columns]
        slots = slot_of[chosen + begins]
        if chosen.min(initial=0) < 0:
            slots[chosen < 0] = -1
        return np.ascontiguousarray(slots)


# Ranks closer to 0 or 1 than this are clipped, because their normal quantiles would dominate.
_OUTERMOST = 1e-3
# The share of values at either end that is clipped.
_TAIL = 0.005


class Coordinates(Protocol):
    """A map from rows to points."""

    def points(self, binned: BinnedRows) -> Floats:
        """Return the coordinates of rows, ``(rows, columns)``; a missing cell has its column's mean, 0."""

    def absent(self, binned: BinnedRows) -> Array | None:
        """Return which cells are not given, ``(rows, columns)``; None if all are given."""

    def code_columns(self, numbers: Array) -> Array:
        """Return the positions of the columns among the codes; ``numbers`` are those of numeric columns."""


@dataclass(frozen=True)
class RankCoordinates(FieldsOnlyPickle):
    """Coordinates of codes: the normal quantile of the mid-rank, scaled to variance 1.

    >>> ranks = RankCoordinates.of(np.array([0]), [np.array([1.0, 2.0, 1.0])])
    >>> ranks.points(BinnedRows(np.array([[0], [1], [2], [3]], dtype=np.int32), np.zeros((4, 0)))).round(3)
    array([[-1.414],
           [ 0.   ],
           [ 1.414],
           [ 0.   ]])
    """

    columns: Array  # positions among the columns of the codes
    quantiles: tuple[Floats, ...]  # one per code of each column, and 0 for missing and unseen cells

    @classmethod
    def of(cls, columns: Array, counts: Sequence[Floats]) -> RankCoordinates:
        """Fit to the given columns; ``counts`` is the weight of each code of each of them."""
        return cls(columns, tuple(np.append(_normal_ranks(count), [0.0, 0.0]) for count in counts))

    @cached_property
    def joined(self) -> tuple[Floats, Array]:
        """Quantiles of all columns in one array, and the offset of each column."""
        begins = np.cumsum([0, *map(len, self.quantiles)])[:-1]
        return np.concatenate([np.zeros(0), *self.quantiles]), begins

    def points(self, binned: BinnedRows) -> Floats:
        places, begins = self.joined
        return np.asarray(places[np.maximum(binned.codes[:, self.columns], 0) + begins])

    def absent(self, binned: BinnedRows) -> Array | None:
        codes = binned.codes[:, self.columns]
        return codes < 0 if codes.min(initial=0) < 0 else None

    def code_columns(self, numbers: Array) -> Array:
        return self.columns


@dataclass(frozen=True)
class ClippedCoordinates:
    """Coordinates of numbers: clipped at the 0.5% and 99.5% quantiles of the column, and standardized.

    >>> numbers = np.array([[1.0], [3.0], [np.nan]])
    >>> binned = BinnedRows(np.zeros((3, 0), dtype=np.int32), numbers)
    >>> ClippedCoordinates.of(np.array([0]), numbers, np.ones(3)).points(binned)
    array([[-1.],
           [ 1.],
           [ 0.]])
    """

    columns: Array  # among the numeric columns
    low: Floats
    high: Floats
    mean: Floats
    deviation: Floats

    @classmethod
    def of(cls, columns: Array, numbers: Floats, weight: Floats) -> ClippedCoordinates:
        """Fit to the given columns of ``(rows, numeric columns)``."""
        parts = [_clipping(numbers[:, j], weight) for j in columns]
        return cls(columns, *np.array(parts, dtype=np.float64).reshape(-1, 4).T)

    def points(self, binned: BinnedRows) -> Floats:
        points = np.clip(binned.numbers[:, self.columns], self.low, self.high)
        points -= self.mean
        points /= self.deviation
        np.copyto(points, 0.0, where=np.isnan(points))
        return points

    def absent(self, binned: BinnedRows) -> Array | None:
        absent = None if binned.without is None else binned.without[:, self.columns]
        return absent if absent is not None and absent.any() else None

    def code_columns(self, numbers: Array) -> Array:
        return np.asarray(numbers[self.columns])


def _normal_ranks(count: Floats) -> Floats:
    from scipy.special import ndtri

    total = float(count.sum())
    if not total > 0:
        return np.zeros(len(count))
    share = count / total
    place = ndtri(np.clip(np.cumsum(share) - share / 2, _OUTERMOST, 1 - _OUTERMOST))
    place -= share @ place
    return np.asarray(place / (np.sqrt(share @ place**2) or 1.0))


def _clipping(values: Floats, weight: Floats) -> tuple[float, float, float, float]:
    """Return the clipping limits of a column, and the mean and standard deviation of the clipped values."""
    known = np.isfinite(values) & (weight > 0)
    if not known.any():
        return 0.0, 0.0, 0.0, 1.0
    values, weight = values[known], weight[known]
    order = np.argsort(values)
    below = np.cumsum(weight[order]) / weight.sum()
    # The quantile is the smallest value with at least this share at or below it, so weights count as repeated rows.
    tails = np.searchsorted(below, [_TAIL * (1 - 1e-9), (1 - _TAIL) * (1 - 1e-9)])
    low, high = values[order][np.minimum(tails, len(values) - 1)]
    # In units of the largest number, because squares and sums of large numbers may overflow.
    unit = max(abs(float(low)), abs(float(high))) or 1.0
    clipped = np.clip(values, low, high) / unit
    mean = float(np.average(clipped, weights=weight))
    deviation = float(np.sqrt(np.average((clipped - mean) ** 2, weights=weight))) or 1.0
    return low, high, unit * mean, unit * deviation
