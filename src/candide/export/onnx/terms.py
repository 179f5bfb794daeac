"""Graphs for the terms of log p(x | class). Numbers are ``(rows, columns)``, NaN where a cell is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...data.categories import Lookup
from ...exceptions import ParameterError
from ...families.columns.transforms import LARGEST_LOG, BoxCox, Identity, Transform, YeoJohnson
from ...families.linear import LinearTerm
from ...families.multivariate_normal import log_density
from ...families.score_terms import (
    CodeTable,
    JointNormal,
    LogGamma,
    LogQuadratic,
    Presence,
    Quadratic,
    RowTotal,
    Term,
    Transformed,
)
from ...families.table_likelihood import TableLikelihood
from ...kernels.layouts import Array, Floats
from .tensor import Cells, Tensor, Value, added, concatenated, cut_places, filled, number_places

# log Γ(z) = (z - ½) log z - z + ½ log 2π + Σ of these over z, z³, z⁵, …: accurate to the last digit for z ≥ 8.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_LARGE = 8


class Scored(NamedTuple):
    """Scores, ``(rows, classes)``, and the coefficients of diverging terms."""

    finite: Tensor
    limits: list[Tensor]


def scored_numbers(likelihood: Any, x: Tensor) -> Scored:
    """Return the scores of numbers, without the class prior; terms that all classes share may be left out."""
    finite, limits = likelihood.terms
    return Scored(_added_up(finite, x), [_added_up(terms, x) for terms in limits])


def scored_categories(likelihood: Any, cells: Cells) -> Scored:
    """Return the scores of columns of categories; ``unseen="error"`` is "ignore" here."""
    finite, limits = likelihood.terms
    # A column without any observed value is the same for all classes.
    seen = [term for term in finite if len(term.lookup.labels)]
    if not seen:
        return Scored(cells.nothing(0, None, len(likelihood.statistics.rows)), [])
    coded = CodedColumns([(term.column, term) for term in seen], cells)
    sums = [coded.added_up([terms[term.column].table for term in seen]) for terms in (finite, *limits)]
    return Scored(sums[0], sums[1:])


def _added_up(terms: Sequence[Term], x: Tensor) -> Tensor:
    return added([term_scores(term, x) for term in terms])


def term_scores(term: Term, x: Tensor) -> Tensor:
    """Return what a term adds to the scores of rows, ``(rows, classes)``."""
    if type(term) not in _TERMS:
        raise ParameterError(
            f"a term of type {type(term).__name__} is not supported in ONNX; omit columns with such terms"
        )
    made: Tensor = _TERMS[type(term)](term, x)
    return made


def _linear(term: LinearTerm, x: Tensor) -> Tensor:
    weights, absent = term.dense()
    inputs = filled(x) if term.threshold is None else (x > term.threshold).of_type(np.float64)
    out = inputs @ np.ascontiguousarray(weights.T) + term.base
    if absent is None or not absent.any():
        return out
    return out + x.is_nan().of_type(np.float64) @ np.ascontiguousarray(absent.T)


def _sum_of_known(cells: Tensor, x: Tensor) -> Tensor:
    """Return sums over columns, from ``(rows, classes, columns)``, without missing cells."""
    return x.is_nan().with_axis(1).where(0.0, cells).sum(2)


def _quadratic(term: Quadratic, x: Tensor) -> Tensor:
    return _sum_of_known(term.constant - (x.with_axis(1) - term.center).square() * term.spread, x)


def _log_quadratic(term: LogQuadratic, x: Tensor) -> Tensor:
    squares = (x.with_axis(1) - term.center).square()
    return _sum_of_known(term.constant - (squares * term.spread + 1.0).log() * term.power, x)


def _presence(term: Presence, x: Tensor) -> Tensor:
    return x.is_nan().with_axis(1).where(term.missing, term.known).sum(2)


def _log_gamma_term(term: LogGamma, x: Tensor) -> Tensor:
    count = x.with_axis(1)
    cells = log_rising(term.start, count)
    if np.any(term.slope) or np.any(term.constant):
        cells = cells + count * np.asarray(term.slope) + np.asarray(term.constant)
    return _sum_of_known(cells, x)


def _row_total(term: RowTotal, x: Tensor) -> Tensor:
    return -log_rising(term.start, filled(x).sum(1, keep=True))


def log_rising(start: Value, steps: Tensor) -> Tensor:
    """log Γ(start + steps) / Γ(start), both by one formula, so that no steps give 0."""
    return _log_gamma(steps + start) - _log_gamma(steps.graph.tensor(start))


def _log_gamma(z: Tensor) -> Tensor:
    """Γ(z) = Γ(z + 8) / (z (z + 1) … (z + 7)), and Stirling's formula for the former."""
    product = z
    for step in range(1, _LARGE):
        product = product * (z + float(step))
    large = z + float(_LARGE)
    inverse = 1.0 / large
    square = inverse.square()
    series = square * _STIRLING[-1] + _STIRLING[-2]
    for term in reversed(_STIRLING[:-2]):
        series = square * series + term
    return (large - 0.5) * large.log() - large + 0.5 * float(np.log(2 * np.pi)) + inverse * series - product.log()


def _joint_normal(term: JointNormal, x: Tensor) -> Tensor:
    """Return the log density of the cells that a row has.

    Where a column is missing, its row and column of the matrix are those of the identity: that leaves the determinant
    and the quadratic form of the others. Both come by elimination, column by column.
    """
    known = 1.0 - x.is_nan().of_type(np.float64)
    both = known.with_axis(1).with_axis(3) * known.with_axis(1).with_axis(2)
    n_columns = term.location.shape[1]
    matrix = both * term.scale + (1.0 - known).with_axis(1).with_axis(2) * np.eye(n_columns)
    away = (filled(x).with_axis(1) - term.location) * known.with_axis(1)
    square, log_determinant = _eliminated(matrix, away, n_columns)
    # By the number of known columns, ``(columns + 1, classes)``: log densities at the center, degrees of freedom.
    at_center = np.array(
        [[float(log_density(np.zeros(1), 0.0, n, free)[0]) for free in term.freedom] for n in range(n_columns + 1)]
    )
    normal = np.isinf(term.freedom)
    degrees = np.arange(n_columns + 1.0)[:, None] + np.where(normal, 0.0, term.freedom)
    place = known.sum(1).of_type(np.int64)
    # For the normal distribution, the tail is the square itself.
    tail = (square / np.where(normal, 1.0, term.freedom) + 1.0).log() * place.picks(degrees)
    return place.picks(at_center) - 0.5 * (log_determinant + square.graph.op("Where", normal, square, tail))


def _eliminated(matrix: Tensor, away: Tensor, n_columns: int) -> tuple[Tensor, Tensor]:
    """Squared distances and log determinants, ``(rows, classes)``."""
    squares, logs = [], []
    for j in range(n_columns):
        row, at = matrix.columns(np.array(j), axis=3), np.array([j])
        pivot, step = row.columns(at, axis=2), away.columns(at, axis=2)
        squares.append((step.square() / pivot).sum(2))
        logs.append(pivot.log().sum(2))
        share = row / pivot
        away = away - share * step
        matrix = matrix - share.with_axis(3) * row.with_axis(2)
    return added(squares), added(logs)


def _transformed(term: Transformed, x: Tensor) -> Tensor:
    return _added_up(term.terms, _transform(term.transform, x))


def _transform(transform: Transform, x: Tensor) -> Tensor:
    """Return transformed numbers; NaN outside the domain of the transform."""
    if isinstance(transform, Identity):
        return (x >= transform.least).where(x, np.nan)
    if isinstance(transform, BoxCox):
        return _power_of((x > 0.0).where(x, np.nan).log() - transform.log_unit, transform.power)
    assert isinstance(transform, YeoJohnson)
    z = (x - transform.center) / transform.unit
    log = (z.abs() + 1.0).log()
    return (z < 0.0).where(-_power_of(log, 2.0 - transform.power), _power_of(log, transform.power))


def _power_of(log: Tensor, power: float) -> Tensor:
    if abs(power) < 1e-12:
        return log
    return ((log * power).at_least(-LARGEST_LOG).at_most(LARGEST_LOG).exp() - 1.0) / power


_TERMS: dict[type[Term], Callable[[Any, Tensor], Tensor]] = {
    LinearTerm: _linear,
    Quadratic: _quadratic,
    LogQuadratic: _log_quadratic,
    LogGamma: _log_gamma_term,
    RowTotal: _row_total,
    Presence: _presence,
    Transformed: _transformed,
    JointNormal: _joint_normal,
}


class CodedColumns:
    """Columns whose scores are entries of tables. The codes of all are computed once."""

    def __init__(self, tables: Sequence[tuple[int, CodeTable]], cells: Cells, numeric: Sequence[int] = ()) -> None:
        # Numbers with cuts first: their codes are computed together.
        self._order = sorted(range(len(tables)), key=lambda i: tables[i][1].cuts is None)
        self._tables, self._cells, self._numeric = [tables[i] for i in self._order], cells, frozenset(numeric)

    def added_up(self, tables: Sequence[Floats | None]) -> Any:
        """Return the sum of the entries of tables, ``(codes, classes)``, one for each column; None if there is none."""
        given = [tables[i] for i in self._order]
        some = next((table for table in given if table is not None), None)
        if some is None:
            return None
        sizes = [len(term.table) + 1 for _, term in self._tables]
        offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        whole = np.zeros((sum(sizes), some.shape[1]))
        for begin, table in zip(offsets.tolist(), given, strict=True):
            if table is not None:
                whole[begin : begin + len(table)] = table
        return (self._codes + offsets).picks(whole).sum(1)

    @cached_property
    def _codes(self) -> Tensor:
        """``(rows, columns)``; after the last code that of cells that add nothing."""
        cut = [(j, term, term.cuts) for j, term in self._tables if term.cuts is not None]
        parts = []
        if cut:
            columns, terms, cuts = zip(*cut, strict=True)
            missing = [term.code(term.missing) for term in terms]
            parts.append(cut_places(self._cells.several(columns), cuts, missing))
        return concatenated(parts + [self._label_codes(j, term) for j, term in self._tables[len(cut) :]])

    def _label_codes(self, j: int, term: CodeTable) -> Tensor:
        lookup, missing, unseen = term.lookup, term.code(term.missing), term.code(term.unseen)
        assert lookup is not None
        if lookup.direct:
            x = self._cells.numbers(j)
            code = _within(x, lookup).where(x, float(unseen))
            return x.is_nan().where(float(missing), code).of_type(np.int64)
        codes = np.arange(len(lookup.labels))
        if j in self._numeric:
            keys = np.asarray(lookup.labels, dtype=np.float64)
            return number_places(self._cells.numbers(j), keys, codes, missing, unseen)
        places = self._cells.places(j, lookup.labels)
        found = places.picks(np.append(codes, [missing, unseen]))
        if not lookup.range_end:
            return found
        # All unseen codes of the range share a code.
        empty = _within(self._cells.numbers(j), lookup) & places.equals(len(codes) + 1)
        return empty.where(len(codes), found)


def _within(x: Tensor, lookup: Lookup) -> Tensor:
    """Whether numbers are codes of the range."""
    return (x >= 0.0) & (x < float(lookup.range_end)) & x.equals(x.floor())


class Weighting(Protocol):
    """How the scores of a column or block, known by its position, are weighted; None: left out."""

    def of_codes(self, place: int, table: Floats) -> Floats | None:
        """Weight a table over codes, ``(codes, classes)``."""

    def of_rows(self, place: int, scores: Callable[[], Tensor]) -> Tensor | None:
        """Weight ``(rows, classes)``, which are computed only if needed."""


class Unweighted:
    """Every column counts once."""

    def of_codes(self, place: int, table: Floats) -> Floats | None:
        return table

    def of_rows(self, place: int, scores: Callable[[], Tensor]) -> Tensor | None:
        return scores()


class TableScores:
    """The scores of some columns and of all blocks.

    ``places``: the positions by which weights know the columns; blocks come from ``first_block`` on. ``nulls``: of
    which columns nulls are values, where the model learned that; None: of all.
    """

    def __init__(
        self, likelihood: TableLikelihood, cells: Cells, places: dict[int, int], first_block: int,
        nulls: Array | None = None,
    ) -> None:  # fmt: skip
        self._likelihood, self._cells, self._places, self._first_block = likelihood, cells, places, first_block
        models = {j: model for j in places if (model := likelihood.models[j]) is not None}
        terms = {j: model.terms(nulls=nulls is None or bool(nulls[j])) for j, model in models.items()}
        self._tables = [(j, own[0]) for j, own in terms.items() if isinstance(own[0], CodeTable)]
        self._others = {j: own for j, own in terms.items() if not isinstance(own[0], CodeTable)}
        numeric = [j for j in terms if likelihood.statistics.kinds[j] == "number"]
        self._coded = CodedColumns(self._tables, cells, numeric)

    def added_up(self, weighting: Weighting) -> Tensor | None:
        """Return the weighted sum of all of them; None if nothing is left."""
        parts = [weighting.of_rows(self._places[j], partial(self._scores, j)) for j in self._others]
        blocks = range(len(self._likelihood.blocks))
        parts += [weighting.of_rows(self._first_block + i, partial(self._block, i)) for i in blocks]
        parts.append(self._coded.added_up([weighting.of_codes(self._places[j], t.table) for j, t in self._tables]))
        known = [part for part in parts if part is not None]
        return added(known) if known else None

    def _scores(self, j: int) -> Tensor:
        return _added_up(self._others[j], self._cells.numbers(j))

    def _block(self, i: int) -> Tensor:
        columns = self._likelihood.family.blocks[i].columns
        return scored_numbers(self._likelihood.blocks[i], self._cells.several(columns)).finite


def refuse_texts(likelihood: TableLikelihood, columns: Iterable[int]) -> None:
    """Raise an error if there are columns of texts among those that a model uses."""
    name = next((likelihood.family.names[j] for j in columns), None)
    if name is not None:
        raise ParameterError(
            f"column {name!r} contains texts, but onnxruntime cannot tokenize texts like candide; train without it "
            f"(columns={{{name!r}: 'ignore'}}), or use candide for predictions"
        )
