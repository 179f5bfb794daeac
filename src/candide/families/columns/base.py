"""The protocol of column models, and the most common one: a table of probabilities by code."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, Protocol, Self

import numpy as np

from ...data.categories import Lookup
from ...data.columns import Column
from ...exceptions import ParameterError
from ...kernels.layouts import Array, Floats, Positions
from ...lazy import dataclass
from ..base import CELLS
from ..categorical_likelihood import draw_slots
from ..score_terms import CodeTable, Term
from .histogram import Categories, Numbers, Seen, loss_of_nothing, middles, own_kept, own_left, seen_of, table_losses


class ColumnModel(Protocol):
    """p(x | class) of one column, estimated from its statistics. Frozen."""

    @property
    def family(self) -> str:
        """ "bins", "kernel", "gaussian" and so on."""

    @property
    def n_parameters(self) -> int:
        """Number of free parameters, over all classes."""

    def describe(self) -> str:
        """Return a short description of the parameters."""

    def scores(self, column: Column) -> Floats:
        """Return log p(x | class), ``(rows, classes)``: log densities of numbers, and 0 for ignored missing cells."""

    def terms(self, *, nulls: bool = True) -> tuple[Term, ...]:
        """Return the terms of the scores. Without ``nulls``, missing cells always add 0."""

    def left_out(self, column: Column, classes: Positions, weight: Floats | None, *, keep_size: bool = False) -> Floats:
        """Return the score of each row under its own class, ``(rows,)``, with its weight removed from the statistics.

        ``keep_size``: the size of the class is not reduced (``own_kept``).
        """

    def class_loss(self, log_prior: Floats, row: float | Floats = 1.0) -> float:
        """Return the mean leave-one-out log-loss of the class given this column and a fixed prior (``own_kept``).

        A row with an ignored missing cell has the loss of the prior. ``row``: mean weight of a row of each class.
        """

    def again(self, **parts: Any) -> Self:
        """Return a model with the same choices (cuts, bases, widths, scales) for other statistics of the column."""

    def sample(self, classes: Positions, rng: np.random.Generator) -> Array:
        """Return a value for each of the given classes."""

    def expected(self, posterior: Floats) -> Array:
        """Return the expected value of a missing cell, given p(class): a mean, or the most probable label."""

    def parameters(self) -> dict[str, Array]:
        """Return columns ``class`` and ``column``, then counts and parameters, one row per parameter."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A probability for each code: p(code | class) = (smoother @ count + base) / (weight of the class + Σ base).

    For numbers, the code is the number of ``cuts`` less than or equal to the value, and the density is uniform within a
    code. The exception is a code that is an atom (``atoms``): its weight is a point mass at one value, and its score is
    a log probability, not a log density. Without ``cuts``, the code is the position in ``labels``. A missing cell has
    the code ``missing`` and an unseen label the code ``unseen``; if these are None, such cells contribute 0.

    >>> model = CodedColumn("bins", "2 bins", np.array([[3.0, 0.0], [1.0, 4.0]]), np.array([0.5, 0.5]),
    ...                     np.zeros(2), cuts=np.array([10.0]), ends=(0.0, 20.0))
    >>> np.exp(model.table()).round(3)
    array([[0.7, 0.1],
           [0.3, 0.9]])
    >>> np.exp(model.scores(Column("x", "number", np.array([5.0, np.nan])))).round(3)
    array([[0.07, 0.01],
           [1.  , 1.  ]])
    """

    family: str
    note: str
    count: Floats  # (codes, classes)
    base: Floats  # (codes,), frozen and the same for all classes
    ignored: Floats  # (classes,) weight of the ignored missing cells
    smoother: Floats | None = None  # (codes, codes), columns add up to 1
    cuts: Floats | None = None
    ends: tuple[float, float] = (0.0, 0.0)  # smallest and largest number seen
    center: Floats | None = None  # (codes,) mean of the numbers of each code
    labels: Array | None = None
    missing: int | None = None
    unseen: int | None = None
    atoms: Floats | None = None  # (codes of numbers,) the value of each that is a point mass, else NaN

    @cached_property
    def part(self) -> Floats:
        """Smoothed weight of each code, ``(codes, classes)``."""
        smooth = self.count if self.smoother is None else self.smoother @ self.count
        return np.asarray(smooth + self.base[:, None])

    @cached_property
    def whole(self) -> Floats:
        """Smoothed weight of the classes, ``(classes,)``."""
        return np.asarray(self.count.sum(axis=0) + self.base.sum())

    @property
    def own(self) -> Floats:
        """Smoothed weight that a row of weight 1 adds to its own code, ``(codes,)``."""
        return np.ones(len(self.count)) if self.smoother is None else np.diagonal(self.smoother)

    @cached_property
    def log_width(self) -> Floats | None:
        """Log width of the codes of numbers, ``(codes,)``; 0 for point masses."""
        if self.cuts is None:
            return None
        low, high = self._bounds
        half = high / 2 - low / 2  # the whole may overflow
        out = np.zeros(len(self.count))
        out[: len(half)] = np.log(np.where(half > 0, half, 0.5)) + np.log(2.0)
        return out

    @property
    def _edges(self) -> Floats:
        assert self.cuts is not None
        return np.concatenate([self.ends[:1], self.cuts, self.ends[1:]])

    @property
    def _bounds(self) -> tuple[Floats, Floats]:
        """Return the interval of each code of numbers; for an atom, both ends are its value."""
        low, high = self._edges[:-1], self._edges[1:]
        if self.atoms is None:
            return low, high
        spread_out = np.isnan(self.atoms)
        return np.where(spread_out, low, self.atoms), np.where(spread_out, high, self.atoms)

    @property
    def n_parameters(self) -> int:
        return (self._n_values + (self.missing is not None) - 1) * len(self.ignored)

    @property
    def _n_values(self) -> int:
        """Number of codes that are values, without "missing" and "unseen"."""
        return len(self.count) - (self.missing is not None) - (self.unseen is not None)

    def point_masses(self) -> tuple[Floats, Floats, Floats]:
        """Return the values of the atoms, and their weights and probabilities by class, ``(atoms, classes)``.

        Probabilities are of cells that are not missing.
        """
        n_numbers = 0 if self.atoms is None else len(self.atoms)
        found = np.flatnonzero(np.isfinite(self.atoms)) if self.atoms is not None else np.zeros(0, dtype=np.int64)
        values = np.zeros(0) if self.atoms is None else self.atoms[found]
        known = np.exp(self.table()[:n_numbers])
        return values, self.count[found], (known / np.maximum(known.sum(axis=0), 1e-300))[found]

    def describe(self) -> str:
        return self.note + self._point_masses() + ("" if self.missing is None else ", missing as a value")

    def _point_masses(self) -> str:
        """Return a description of the atoms with their shares of the observed cells."""
        values, weight, _ = self.point_masses()
        share = weight.sum(axis=1) / max(float(self.count[: self._n_values].sum()), 1e-300)
        pairs = zip(values.tolist(), share.tolist(), strict=True)
        return "".join(f", point mass at {value:.6g} ({100 * part:.3g}%)" for value, part in pairs)

    def table(self) -> Floats:
        """Return log p of each code, ``(codes, classes)``: log probabilities, also for numbers."""
        return np.asarray(np.log(self.part) - np.log(self.whole))

    def log_density(self) -> Floats:
        """Return log p of each code, ``(codes, classes)``: log densities for numbers."""
        return self.table() if self.log_width is None else self.table() - self.log_width[:, None]

    def terms(self, *, nulls: bool = True) -> tuple[Term, ...]:
        labels = np.zeros(0) if self.labels is None else self.labels
        lookup = Lookup(labels, 0, direct=False) if self.cuts is None else None
        return (CodeTable(self.log_density(), lookup, self.cuts, self.missing if nulls else None, self.unseen),)

    def codes(self, column: Column) -> Array:
        """Return the code of each cell; -1 for cells that do not contribute."""
        absent, unseen = (-1 if code is None else code for code in (self.missing, self.unseen))
        if column.kind == "missing":
            return np.full(len(column.values), absent)
        if column.kind == "category":
            return _places(column.labels, self.labels, absent, unseen)[column.values]
        x = np.asarray(column.values, dtype=np.float64)
        if self.cuts is not None:
            codes = np.searchsorted(self.cuts, x, side="right")
        else:
            codes = _among(x, np.asarray(self.labels, dtype=np.float64), unseen)
        return np.where(np.isnan(x), absent, codes)

    def scores(self, column: Column) -> Floats:
        table = self.log_density()
        return np.vstack([table, np.zeros(table.shape[1])])[self.codes(column)]

    def left_out(self, column: Column, classes: Positions, weight: Floats | None, *, keep_size: bool = False) -> Floats:
        codes = self.codes(column)
        at, w = (codes, classes), 1.0 if weight is None else weight
        score = (own_kept if keep_size else own_left)(self.part[at], self.whole[classes], self.own[codes], w)
        if self.log_width is not None:
            score -= self.log_width[codes]
        return np.where(codes < 0, 0.0, score)

    def class_loss(self, log_prior: Floats, row: float | Floats = 1.0) -> float:
        nothing = loss_of_nothing(self.ignored, log_prior)
        return (self.loss_of(self.count, log_prior, row) + nothing) / max(self.weight, 1e-300)

    @property
    def weight(self) -> float:
        """Total weight of the rows."""
        return float(self.count.sum() + self.ignored.sum())

    def loss_of(self, rows: Floats, log_prior: Floats, row: float | Floats) -> float:
        """Return the summed leave-one-out loss of some rows, ``(codes, classes)``, a few codes at a time."""
        step = max(1, CELLS // max(1, len(log_prior)))
        slices = (slice(begin, begin + step) for begin in range(0, len(rows), step))
        own, whole = self.own, self.whole[None]
        tables = (
            table_losses(self.part[None, at], whole, own[None, at], self.count[at], rows[at], log_prior, row)
            for at in slices
        )
        return sum(float(losses[0]) for losses in tables)

    def again(self, **parts: Any) -> Self:
        seen = seen_of(**parts)
        count = np.zeros((len(self.count), len(seen.missing)))
        codes, weight = self._codes_of(seen)
        np.add.at(count, codes[codes >= 0], weight[codes >= 0])
        ignored = seen.missing
        if self.missing is not None:
            count[self.missing], ignored = seen.missing, np.zeros_like(seen.missing)
        return replace(self, count=count, ignored=ignored)

    def _codes_of(self, seen: Seen) -> tuple[Array, Floats]:
        if isinstance(seen, Categories):
            everything = Column("", "category", np.arange(len(seen.labels)), seen.labels)
            return self.codes(everything), seen.count
        assert isinstance(seen, Numbers)
        return self.codes(Column("", "number", middles(seen.cells))), seen.cells.count

    def sample(self, classes: Positions, rng: np.random.Generator) -> Array:
        drawn = draw_slots(np.exp(self.table()[: self._n_values]).T, classes, rng)
        if self.cuts is None:
            assert self.labels is not None
            return np.asarray(self.labels[drawn])
        (low, high), along = self._bounds, rng.random(len(drawn))
        return np.asarray((1 - along) * low[drawn] + along * high[drawn])

    def expected(self, posterior: Floats) -> Array:
        share = posterior @ np.exp(self.table()[: self._n_values]).T
        if self.labels is not None:
            return np.asarray(self.labels[share.argmax(axis=1)])
        assert self.center is not None
        return np.asarray(share @ self.center / share.sum(axis=1))

    def parameters(self) -> dict[str, Array]:
        n_values, n_classes = self._n_values, self.count.shape[1]
        if self.labels is None:
            low, high = self._bounds
            values = {"low": np.tile(low, n_classes), "high": np.tile(high, n_classes)}
        else:
            values = {"value": np.tile(self.labels.astype(object), n_classes)}
        return {
            "class": np.repeat(np.arange(n_classes), n_values),
            "column": np.zeros(n_values * n_classes, dtype=np.int64),
            **values,
            "count": self.count[:n_values].T.ravel(),
            "probability": np.exp(self.table()[:n_values]).T.ravel(),
        }


def in_rows(model: ColumnModel, weight: float) -> ColumnModel:
    """Return the model with pseudo-counts in units of this row weight."""
    return replace(model, base=weight * model.base) if isinstance(model, CodedColumn) and weight != 1.0 else model


def _places(theirs: Array | None, mine: Array | None, absent: int, unseen: int) -> Array:
    """Return the code of each label of a column, followed by that of a missing cell."""
    place = {} if mine is None else {label: i for i, label in enumerate(mine.tolist())}
    known = [] if theirs is None else theirs.tolist()
    return np.array([*(place.get(label, unseen) for label in known), absent], dtype=np.int64)


def _among(x: Floats, values: Floats, unseen: int) -> Array:
    """Return the positions of numbers among ascending values."""
    if not len(values):
        return np.full(len(x), unseen)
    at = np.minimum(np.searchsorted(values, x), len(values) - 1)
    return np.where(values[at] == x, at, unseen)


ALPHAS = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0)
# Pseudo-counts below this are treated as 0.
_LEAST_ALPHA = 1e-10

Unseen = Literal["ignore", "smooth"]


def categorical(seen: Seen, alpha: float, unseen: Unseen = "smooth", missing_code: bool = False) -> CodedColumn:
    """Return a model with a share for every value, smoothed by ``alpha`` rows each.

    ``unseen``: an unseen value adds 0, or has the share of one additional value. ``missing_code``: missing cells are
    one more value.

    >>> seen = Categories(np.array(["cook", "smith"]), np.array([[3.0, 0.0], [0.0, 1.0]]), np.zeros(2))
    >>> np.exp(categorical(seen, alpha=1.0, unseen="ignore").table()).round(2)
    array([[0.8 , 0.33],
           [0.2 , 0.67]])
    """
    values = named_values(seen)
    n_values, n_classes = values.count.shape
    n_codes = n_values + missing_code + (unseen == "smooth")
    count = np.zeros((n_codes, n_classes))
    count[:n_values] = values.count
    ignored = values.missing
    if missing_code:
        count[n_values], ignored = values.missing, np.zeros(n_classes)
    if not n_codes:  # no observed cells: a single unused code
        count, n_codes = np.zeros((1, n_classes)), 1
    return CodedColumn(
        "categorical",
        f"{n_values} values, alpha {alpha:g}",
        count,
        np.full(n_codes, max(alpha, _LEAST_ALPHA)),
        ignored,
        labels=values.labels,
        missing=n_values if missing_code else None,
        unseen=n_codes - 1 if unseen == "smooth" else None,
    )


def named_values(seen: Seen) -> Categories:
    """Return a model that treats numbers as categories, which requires cells that hold a single value."""
    if isinstance(seen, Categories):
        return seen
    assert isinstance(seen, Numbers)
    cells = seen.cells
    if not (cells.low == cells.high).all():
        raise ParameterError(
            "this column contains too many distinct numbers to be categorical; choose 'bins' or 'kernel', or "
            "convert the numbers to strings"
        )
    return Categories(cells.low, cells.count, seen.missing)
