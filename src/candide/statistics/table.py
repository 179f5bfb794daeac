"""Statistics of one pass over a table: moments and a grid of numbers, counts of categories and tokens, and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.columns import Kind
from ..exceptions import InputError
from ..kernels.layouts import Array, Floats
from ..lazy import dataclass
from .base import Statistics, as_dense, move_classes
from .counts import CategoryCounts, Counts
from .grid import Grid
from .moments import Moments
from .texts import TextStatistics

# Minimum weight of a row as a share of its class.
LEAST_WEIGHT = 1e-12


@dataclass(frozen=True)
class TableStatistics:
    """The statistics that all candidate families of columns need, so that states can be merged before a choice is made.

    The kind of a column with only missing values is "missing", which can be merged with any other kind.
    """

    rows: Floats
    squares: Floats  # (classes,) sum of the squared weights of rows
    names: tuple[Any, ...]
    kinds: tuple[Kind, ...]
    moments: Moments  # of the numeric columns, in order, like the grid
    grid: Grid
    categories: CategoryCounts  # of the category columns, in order
    blocks: tuple[Statistics, ...] = ()  # of columns modeled together, in the order of the bound spec
    texts: tuple[TextStatistics, ...] = ()  # of the text columns, in order; rows without a text are not included

    @property
    def row_weight(self) -> Floats:
        """The mean weight of a row of each class, which is subtracted when a row is left out."""
        mean = np.divide(self.squares, self.rows, out=np.ones_like(self.rows), where=self.rows > 0)
        # If almost all rows were forgotten, the sum of squares may be dominated by rounding errors.
        return np.clip(mean, LEAST_WEIGHT * self.rows, np.maximum(self.rows, LEAST_WEIGHT))

    def with_copies(self, factor: Floats) -> TableStatistics:
        """Return the statistics with row weights multiplied by the copies per row, which are left out together."""
        return self if (factor == 1.0).all() else replace(self, squares=self.squares * factor)

    def place(self, j: int) -> int:
        """Return the position of column ``j`` among those of its kind."""
        return self.kinds[:j].count(self.kinds[j])

    def observed(self, j: int) -> Floats:
        """Return the weight of the known cells of a column, per class."""
        if self.kinds[j] == "number":
            return self.moments.weight[:, self.place(j)]
        if self.kinds[j] == "category":
            return np.asarray(self.categories.column(self.place(j)).sum(axis=1))
        if self.kinds[j] == "text":
            return self.texts[self.place(j)].rows
        return np.zeros(len(self.rows))

    def merge(self, other: TableStatistics) -> TableStatistics:
        return self._joined(other, "merge")

    def forget(self, other: TableStatistics) -> TableStatistics:
        return self._joined(other, "forget")

    def without(self, other: TableStatistics) -> TableStatistics:
        return self._joined(other, "without")

    def _joined(self, other: TableStatistics, verb: str) -> TableStatistics:
        kinds = join_kinds(self.names, self.kinds, other.kinds)
        a, b = self.spread(kinds, other), other.spread(kinds, self)
        moments = getattr(a.moments, verb)(b.moments)
        grid, categories = getattr(a.grid, verb)(b.grid), getattr(a.categories, verb)(b.categories)
        blocks = tuple(getattr(mine, verb)(theirs) for mine, theirs in zip(a.blocks, b.blocks, strict=True))
        texts = tuple(getattr(mine, verb)(theirs) for mine, theirs in zip(a.texts, b.texts, strict=True))
        squares = a.squares + b.squares if verb == "merge" else np.maximum(a.squares - b.squares, 0.0)
        return TableStatistics(moments.rows, squares, self.names, kinds, moments, grid, categories, blocks, texts)

    def spread(self, kinds: tuple[Kind, ...], like: TableStatistics) -> TableStatistics:
        """Return the statistics with other kinds: missing columns become empty columns of numbers, categories or texts.

        The feature sets of empty text columns are those of ``like``.
        """
        if kinds == self.kinds:
            return self
        numbers = _sources(self.kinds, kinds, "number")
        labels = tuple(
            self.categories.labels[i] if i >= 0 else np.empty(0, dtype=object)
            for i in _sources(self.kinds, kinds, "category")
        )
        categories = replace(self.categories, labels=labels)
        theirs = _sources(like.kinds, kinds, "text")
        texts = tuple(
            self.texts[i] if i >= 0 else like.texts[k].discount(0.0)
            for i, k in zip(_sources(self.kinds, kinds, "text"), theirs, strict=True)
        )
        return replace(
            self, kinds=kinds, moments=_moments_of(self.moments, numbers), grid=_grid_of(self.grid, numbers),
            categories=categories, texts=texts,
        )  # fmt: skip

    def lost_digits(self, before: TableStatistics) -> bool:
        pairs = zip((self.moments, *self.blocks), (before.moments, *before.blocks), strict=True)
        return any(now.lost_digits(then) for now, then in pairs)

    def take(self, classes: Array) -> TableStatistics:
        return self._each("take", classes, squares=self.squares[classes])

    def together(self) -> TableStatistics:
        return self._each("together", squares=self.squares.sum(keepdims=True))

    def discount(self, factor: float) -> TableStatistics:
        return self._each("discount", factor, squares=self.squares * factor**2)

    def reindex(self, positions: Array, size: int) -> TableStatistics:
        return self._each("reindex", positions, size, squares=move_classes(self.squares, positions, size))

    def _each(self, verb: str, *args: Any, squares: Floats) -> TableStatistics:
        moments, grid, categories = (getattr(part, verb)(*args) for part in (self.moments, self.grid, self.categories))
        blocks, texts = (tuple(getattr(part, verb)(*args) for part in parts) for parts in (self.blocks, self.texts))
        return TableStatistics(moments.rows, squares, self.names, self.kinds, moments, grid, categories, blocks, texts)

    def only(self, j: int) -> TableStatistics:
        numbers = [self.place(j)] if self.kinds[j] == "number" else []
        categories = [self.place(j)] if self.kinds[j] == "category" else []
        places = [slice(*self.categories.offsets[[i, i + 1]]) for i in categories]
        count = [self.categories.count[:, place] for place in places] or [np.zeros((len(self.rows), 0))]
        labels = tuple(self.categories.labels[i] for i in categories)
        own = _moments_of(self.moments, numbers), _grid_of(self.grid, numbers)
        counted = CategoryCounts(self.rows, labels, count[0])
        texts = (self.texts[self.place(j)],) if self.kinds[j] == "text" else ()
        return TableStatistics(self.rows, self.squares, (self.names[j],), (self.kinds[j],), *own, counted, texts=texts)


def join_kinds(names: tuple[Any, ...], a: tuple[Kind, ...], b: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """Return the joined kinds; a column cannot contain numbers in one table and categories in the other."""
    joined = []
    for name, mine, theirs in zip(names, a, b, strict=True):
        if "missing" not in (mine, theirs) and mine != theirs:
            kind = "text" if "text" in (mine, theirs) else "category"
            raise InputError(
                f"column {name!r} contains {_plural(mine)} in one part of the data and {_plural(theirs)} in another; "
                f"convert it to one type, or declare its type in the first fit: schema={{{name!r}: {kind!r}}}"
            )
        joined.append(theirs if mine == "missing" else mine)
    return tuple(joined)


def _plural(kind: Kind) -> str:
    return {"number": "numbers", "category": "categories", "text": "texts", "missing": "nothing"}[kind]


def _sources(before: tuple[Kind, ...], after: tuple[Kind, ...], kind: Kind) -> list[int]:
    """Return the previous position of each column among those of its kind; -1 if it was missing."""
    wanted = [j for j, now in enumerate(after) if now == kind]
    return [before[:j].count(kind) if before[j] == kind else -1 for j in wanted]


def _moments_of(moments: Moments, sources: list[int]) -> Moments:
    """Return the columns at these positions; a position of -1 gives an empty column."""
    parts = [np.zeros((len(moments.rows), len(sources))) for _ in range(3)]
    for out, part in zip(parts, (moments.weight, moments.mean, moments.scatter), strict=True):
        for k, i in enumerate(sources):
            if i >= 0:
                out[:, k] = part[:, i]
    return Moments(moments.rows, *parts)


def _grid_of(grid: Grid, sources: list[int]) -> Grid:
    bounds = [(grid.offsets[i], grid.offsets[i + 1]) if i >= 0 else (0, 0) for i in sources]
    cells = np.concatenate([np.arange(*pair) for pair in bounds]) if bounds else np.zeros(0, dtype=np.int64)
    cells = cells.astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum([end - begin for begin, end in bounds])]).astype(np.int64)
    return Grid(grid.rows, offsets, grid.key[cells], grid.shift[cells], grid.count[cells])


def hstack(parts: Sequence[Any], rows: Floats) -> Statistics:
    """Return statistics with the columns of all parts; ``rows`` is the weight of the classes.

    >>> one, other = (Counts(np.array([3.0]), np.array([[total]]), None) for total in (1.0, 2.0))
    >>> hstack([one, other], np.array([3.0])).total
    array([[1., 2.]])
    """
    joined: Statistics = _JOINS[type(parts[0])](parts, rows)
    return joined


def _counts(parts: Sequence[Counts], rows: Floats) -> Counts:
    missing = None
    if any(part.missing is not None for part in parts):
        tables = [np.zeros(part.total.shape) if part.missing is None else as_dense(part.missing) for part in parts]
        missing = np.hstack(tables)
    return Counts(rows, np.hstack([part.dense() for part in parts]), missing, parts[0].presence)


def _categories(parts: Sequence[CategoryCounts], rows: Floats) -> CategoryCounts:
    labels = tuple(column for part in parts for column in part.labels)
    return CategoryCounts(rows, labels, np.hstack([part.count for part in parts]))


def _moments(parts: Sequence[Moments], rows: Floats) -> Moments:
    return Moments(
        rows, *(np.hstack([getattr(part, name) for part in parts]) for name in ("weight", "mean", "scatter"))
    )


def _grids(parts: Sequence[Grid], rows: Floats) -> Grid:
    from scipy.sparse import vstack

    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    key, shift = (np.concatenate([getattr(part, name) for part in parts]) for name in ("key", "shift"))
    return Grid(rows, offsets, key, shift, vstack([part.count for part in parts], format="csr"))


def _tables(parts: Sequence[TableStatistics], rows: Floats) -> TableStatistics:
    return replace(
        parts[0],
        rows=rows,
        names=tuple(name for part in parts for name in part.names),
        kinds=tuple(kind for part in parts for kind in part.kinds),
        moments=_moments([part.moments for part in parts], rows),
        grid=_grids([part.grid for part in parts], rows),
        categories=_categories([part.categories for part in parts], rows),
        texts=tuple(texts for part in parts for texts in part.texts),
    )


_JOINS: dict[type[Any], Any] = {
    Counts: _counts,
    CategoryCounts: _categories,
    Moments: _moments,
    TableStatistics: _tables,
}
