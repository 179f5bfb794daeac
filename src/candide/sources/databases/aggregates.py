"""Sums over the rows of each class by GROUP BY, of many columns at once, and counts in cells of leading bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ...kernels.grid_cells import Keys, cell_bounds, keys_of
from ...kernels.layouts import Floats
from ...model.source import Chunk
from ...statistics import Counts, Moments
from ...statistics.grid import CELLS_PER_BINADE
from .query import Classes, Query, Selected, as_chunk

# Columns that are asked for together: of more, a database takes longer to plan than to answer.
_TOGETHER = 50
_LARGEST = 1e130
# What is asked of the rows r: y is the class, w the weight, x{j} the number of column j.
_KNOWN = "SUM(CASE WHEN r.x{j} IS NULL THEN 0 ELSE r.w END)"
_MISSING = "SUM(CASE WHEN r.x{j} IS NULL THEN r.w ELSE 0 END)"
_EXTENT = {"low": "MIN(r.x{j})", "high": "MAX(r.x{j})"}
_ENDS = {**_EXTENT, "smallest": "MIN(NULLIF(ABS(r.x{j}), 0))"}
_MEAN = {"mean": f"SUM(r.w * r.x{{j}}) / NULLIF({_KNOWN}, 0)"}
_FROM_MEAN = "(r.x{j} - about.mean{j})"
_DEVIATIONS = {
    "weight": _KNOWN,
    "mean": "MIN(about.mean{j})",
    "scatter": f"SUM(r.w * {_FROM_MEAN} * {_FROM_MEAN})",
    **_EXTENT,
    "drift": f"SUM(r.w * {_FROM_MEAN})",
}
# Where all rows weigh the same, databases know the rest.
_MOMENTS = {
    "weight": "COUNT(r.x{j})",
    "mean": "AVG(r.x{j})",
    "scatter": "VAR_POP(r.x{j}) * COUNT(r.x{j})",
    **_EXTENT,
}


class Extent(NamedTuple):
    """The least and the largest number of a column, and the smallest that is not 0; NaN where there is none."""

    low: float
    high: float
    smallest: float

    @property
    def is_moderate(self) -> bool:
        """Whether squares of the numbers are numbers, neither infinite nor 0: some databases refuse both."""
        return not (max(-self.low, self.high) > _LARGEST or self.smallest < 1 / _LARGEST)


def extents(query: Query, names: Sequence[str]) -> dict[str, Extent]:
    """Return the range of the numbers of each column."""
    found = {}
    for some in _some(names):
        (answer,) = query.ask(_each(len(some), _ENDS), f"FROM {query.numbers(some)}").to_pylist()
        for j, name in enumerate(some):
            ends = (answer[f"{what}{j}"] for what in _ENDS)
            found[name] = Extent(*(np.nan if end is None else end for end in ends))
    return found


def counts(
    query: Query, names: Sequence[str], classes: Classes, threshold: float | None, *, presence: bool
) -> dict[str, Counts]:
    """Return weighted sums of the columns or, with a threshold, the weight of the cells above it."""
    total = "SUM(r.w * r.x{j})"
    if threshold is not None:
        total = f"SUM(CASE WHEN r.x{{j}} > {query.database.literal(threshold)} THEN r.w ELSE 0 END)"
    return {
        name: Counts(classes.weight, sums, missing if missing.any() else None, presence)
        for some in _some(names)
        for name, (sums, missing) in _by_class(
            query, some, classes, {"total": total, "missing": _MISSING}, f"FROM {query.numbers(some)}"
        )
    }


def moments(query: Query, names: Sequence[str], classes: Classes) -> dict[str, Moments]:
    """Return weights, means and scatters of the columns."""
    at_once = query.roles.weight is None and query.database.has_variances
    made = {}
    for some in _some(names):
        rows = f"FROM {query.numbers(some)}" if at_once else _beside_means(query, some)
        for name, sums in _by_class(query, some, classes, _MOMENTS if at_once else _DEVIATIONS, rows):
            made[name] = _moments(classes.weight, *sums)
    return made


def _beside_means(query: Query, names: Sequence[str]) -> str:
    """Return SQL for rows joined with the means of their class, from which a second pass adds up deviations."""
    rows = query.numbers(names)
    means = ", ".join(f"{sql} AS {name}" for name, (sql, _) in _each(len(names), _MEAN).items())
    return f"FROM {rows} JOIN (SELECT r.y AS y, {means} FROM {rows} GROUP BY r.y) AS about ON r.y = about.y"


def _moments(rows: Floats, weight: Floats, mean: Floats, scatter: Floats, *more: Floats) -> Moments:
    low, high, *drift = more
    if drift:
        # The mean of a query is rounded, as is the sum of deviations from it, but the one tells of the other.
        share = np.divide(drift[0], weight, out=np.zeros_like(weight), where=weight > 0)
        mean, scatter = mean + share, np.maximum(scatter - drift[0] * share, 0.0)
    # Numbers that are all one have no scatter at all.
    return Moments(rows, weight, np.where(low == high, low, mean), np.where(low == high, 0.0, scatter))


def _some(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[begin : begin + _TOGETHER] for begin in range(0, len(names), _TOGETHER))


def _each(n_columns: int, expressions: Mapping[str, str]) -> Selected:
    """Return the expressions that are selected for each column."""
    return {
        f"{what}{j}": (sql.format(j=j), pa.float64()) for j in range(n_columns) for what, sql in expressions.items()
    }


def _by_class(
    query: Query, names: Sequence[str], classes: Classes, expressions: Mapping[str, str], rows: str
) -> Iterator[tuple[str, list[Floats]]]:
    """Yield what is selected for each column, ``(classes, 1)`` each."""
    table = query.ask({"y": ("r.y", query.label[1]), **_each(len(names), expressions)}, f"{rows} GROUP BY r.y")
    found = classes.spread(table)
    for j, name in enumerate(names):
        yield name, [found[f"{what}{j}"] for what in expressions]


# Columns of many different numbers: in cells of their leading bits, as the grid has them in the end or finer.

# Bits that are left out at first: a binade has four times as many cells then as a grid keeps of it. Whole bytes, for
# some databases count in these.
_FIRST_SHIFT, _STEP = 40, 8
_MANTISSA_BITS = 52
# So few rows are asked for number by number.
FEW_ROWS = 50_000


def in_cells(query: Query, name: str) -> Chunk:
    """Return each pair of class and cell once, with one of its numbers and the weight of all of them.

    A grid has the smallest shift per binade that keeps to its limit. A binade that is beyond the limit at some shift
    has a larger one in the end, so that numbers of one cell at that shift are of one cell in the grid too, and any of
    them stands for all. Others are asked for with more bits, until each cell holds a single number.
    """
    found, shift, among, occupied = [], _FIRST_SHIFT, "", None
    while True:
        table = _cells(query, name, shift, among)
        least, most, n_rows = (table[part].to_numpy() for part in ("x", "high", "n"))
        occupied = np.unique(_binades(least)) if occupied is None else occupied
        binades = _open_binades(least, most, shift)
        is_open = np.isin(_binades(least), binades)
        found.append(table.filter(pa.array(~is_open)))
        if not len(binades):
            return as_chunk(pa.concat_tables(found).select(["y", "x", "w"]), name)
        among = f" AND ({_within(query, name, occupied, binades)})"
        shift = 0 if n_rows[is_open].sum() <= FEW_ROWS else shift - _STEP


def _cells(query: Query, name: str, shift: int, among: str) -> pa.Table:
    """Return the occupied cells; ``x`` is the least number of each, ``high`` the largest."""
    number = query.number(name)
    selected: Selected = {
        "y": query.label,
        "x": (f"MIN({number})", pa.float64()),
        "high": (f"MAX({number})", pa.float64()),
        "n": ("COUNT(*)", pa.int64()),
        "w": query.total_weight,
    }
    return query.ask(selected, f"{query.rows}{among} GROUP BY {query.label[0]}, {query.leading_bits(name, shift)}")


def _binades(numbers: Floats) -> Keys:
    return keys_of(numbers) >> np.uint64(_MANTISSA_BITS)


def _open_binades(least: Floats, most: Floats, shift: int) -> Keys:
    """Return binades that must be counted with more bits: within the limit, with a cell that holds several numbers."""
    known = ~np.isnan(least)
    cells, place = np.unique(keys_of(least[known]) >> np.uint64(shift), return_inverse=True)
    low, high = np.full(len(cells), np.inf), np.full(len(cells), -np.inf)
    np.minimum.at(low, place, least[known])
    np.maximum.at(high, place, most[known])
    binades, place, n_cells = np.unique(
        cells >> np.uint64(_MANTISSA_BITS - shift), return_inverse=True, return_counts=True
    )
    several = np.bincount(place, low != high, minlength=len(binades)) > 0
    return np.asarray(binades[(n_cells <= CELLS_PER_BINADE) & several])


def _within(query: Query, name: str, occupied: Keys, wanted: Keys) -> str:
    """Return SQL for whether a number is in one of the wanted binades, as few ranges as possible."""
    is_wanted = np.isin(occupied, wanted)
    begins, ends = (np.flatnonzero(is_wanted & ~np.roll(np.append(is_wanted, False), by)[:-1]) for by in (1, -1))
    low, high = cell_bounds(occupied << np.uint64(_MANTISSA_BITS), np.full(len(occupied), _MANTISSA_BITS))
    literal, number = query.database.literal, query.number(name)
    ranges = zip(low[begins].tolist(), high[ends].tolist(), strict=True)
    return " OR ".join(f"{number} BETWEEN {literal(first)} AND {literal(last)}" for first, last in ranges)
