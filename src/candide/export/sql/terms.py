"""Expressions for the terms of log p(x | class), a list of them with one for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...data.categories import Lookup
from ...exceptions import ParameterError
from ...families.columns.transforms import LARGEST_LOG, BoxCox, Identity, Transform, YeoJohnson
from ...families.linear import LinearTerm
from ...families.score_terms import CodeTable, JointNormal, LogQuadratic, Presence, Quadratic, Term, Transformed
from ...families.table_likelihood import TableLikelihood
from ...kernels.layouts import Floats
from .cells import Cells, Codes, Labeled
from .dialects import Dialect
from .query import clipped, picked, total


class Scores(NamedTuple):
    """The scores of each class, and the coefficients of diverging terms where probabilities are 0."""

    finite: list[str]
    limits: tuple[list[str], ...] = ()


@dataclass(frozen=True)
class ColumnReader:
    """Some columns of the table as expressions."""

    columns: Sequence[int]
    cells: Cells
    codes: Codes
    numeric: bool = False  # labels are numbers of a number column
    transformed: tuple[str, ...] | None = None  # names of the columns after a transform

    @property
    def dialect(self) -> Dialect:
        return self.cells.dialect

    def numbers(self) -> list[str]:
        """Return the names of numbers; NULL where a cell is missing."""
        return list(map(self.cells.number, self.columns)) if self.transformed is None else list(self.transformed)

    def inputs(self, term: LinearTerm) -> list[str]:
        """Return the names of what weights are multiplied by."""
        if term.threshold is not None:
            return [self.cells.flag(j, term.threshold) for j in self.columns]
        adds_nothing = term.dense()[1] is None and self.transformed is None
        return list(map(self.cells.filled, self.columns)) if adds_nothing else self.numbers()


def family_scores(likelihood: Any, offset: Floats, columns: Sequence[int], cells: Cells, codes: Codes) -> Scores:
    """Return the scores of some columns under a likelihood; ``offset`` is added to them."""
    reader, terms = ColumnReader(columns, cells, codes), likelihood.terms
    none = np.zeros_like(offset)
    limits = tuple(_added_up(own, none, reader) for own in terms.limits)
    return Scores(_added_up(terms.finite, offset, reader), limits)


def table_scores(likelihood: TableLikelihood, offset: Floats, cells: Cells, codes: Codes) -> list[str]:
    """Return the scores of a table without stacking: the sum over all columns and blocks."""
    parts = [column_scores(likelihood, j, cells, codes) for j in likelihood.shown]
    parts += block_scores(likelihood, cells, codes)
    return [total([cells.dialect.first_number(o), *(own[k] for own in parts)]) for k, o in enumerate(offset.tolist())]


def column_scores(likelihood: TableLikelihood, j: int, cells: Cells, codes: Codes, *, nulls: bool = True) -> list[str]:
    """Return the scores of one column, up to a term that all classes share. Without ``nulls``, missing cells add 0."""
    model = likelihood.models[j]
    assert model is not None
    parts = [term_scores(term, column_reader(likelihood, j, cells, codes)) for term in model.terms(nulls=nulls)]
    return [total(own) for own in zip(*parts, strict=True)]


def column_reader(likelihood: TableLikelihood, j: int, cells: Cells, codes: Codes) -> ColumnReader:
    """Return the reader of one column of a table."""
    return ColumnReader([j], cells, codes, numeric=likelihood.statistics.kinds[j] == "number")


def block_scores(likelihood: TableLikelihood, cells: Cells, codes: Codes) -> list[list[str]]:
    """Return the scores of each block."""
    none = np.zeros(len(likelihood.statistics.rows))
    pairs = zip(likelihood.family.blocks, likelihood.blocks, strict=True)
    return [family_scores(own, none, block.columns, cells, codes).finite for block, own in pairs]


def _added_up(terms: Sequence[Term], offset: Floats, reader: ColumnReader) -> list[str]:
    parts = [term_scores(term, reader) for term in terms]
    first = reader.dialect.first_number
    return [total([first(o), *(own[k] for own in parts)]) for k, o in enumerate(offset.tolist())]


def term_scores(term: Term, reader: ColumnReader) -> list[str]:
    """Return what a term adds to the score of each class."""
    if isinstance(term, LinearTerm):
        return _linear(term, reader)
    if isinstance(term, CodeTable):
        return table_entries(table_code(term, reader), term.with_neutral, reader.dialect)
    if isinstance(term, Transformed):
        moved = replace(reader, transformed=(_transformed(term.transform, reader),))
        return [total(own) for own in zip(*(term_scores(part, moved) for part in term.terms), strict=True)]
    if type(term) in _CELL_TERMS:
        write, *names = _CELL_TERMS[type(term)]
        parts = [getattr(term, name) for name in names]
        cells = [
            [write(name, reader.dialect, *(part[k, i] for part in parts)) for i, name in enumerate(reader.numbers())]
            for k in range(len(parts[0]))
        ]
        return [total([cell for cell in own if cell]) for own in cells]
    if isinstance(term, JointNormal):
        raise ParameterError(
            "'multivariate_normal' has a different distribution for each combination of missing cells and is not "
            "supported in SQL; model the columns separately, columns={'numbers': 'gaussian'}"
        )
    raise ParameterError(
        "estimate='predictive' scores counts with the gamma function, which few databases support; choose "
        "estimate='mean'"
    )


def _linear(term: LinearTerm, reader: ColumnReader) -> list[str]:
    """base + Σ weight · cell."""
    names, (weights, absent), dialect = reader.inputs(term), term.dense(), reader.dialect
    rows = zip(weights, np.zeros_like(weights) if absent is None else absent, term.base.tolist(), strict=True)
    return [total([dialect.first_number(base), *_products(w, a, names, dialect)]) for w, a, base in rows]


def _products(weights: Floats, absent: Floats, names: list[str], dialect: Dialect) -> list[str]:
    cells = zip(weights.tolist(), absent.tolist(), names, strict=True)
    return [f"COALESCE({dialect.number(w)} * {name}, {dialect.number(a)})" for w, a, name in cells if w or a]


def _quadratic(name: str, dialect: Dialect, constant: float, spread: float, center: float) -> str:
    if not constant and not spread:
        return ""
    away = f"({name} - {dialect.number(center)})"
    return f"COALESCE({dialect.number(constant)} - {dialect.number(spread)} * {away} * {away}, 0.0)"


def _log_quadratic(name: str, dialect: Dialect, constant: float, power: float, spread: float, center: float) -> str:
    away = f"({name} - {dialect.number(center)})"
    tail = f"LN(1.0 + {dialect.number(spread)} * {away} * {away})"
    return f"COALESCE({dialect.number(constant)} - {dialect.number(power)} * {tail}, 0.0)"


def _presence(name: str, dialect: Dialect, known: float, missing: float) -> str:
    if not known and not missing:
        return ""
    return f"CASE WHEN {name} IS NULL THEN {dialect.first_number(missing)} ELSE {dialect.first_number(known)} END"


# Terms that are sums over the cells of numbers: the expression of a cell, and the parameters that it takes.
_CELL_TERMS: dict[type[Term], tuple[Any, ...]] = {
    Quadratic: (_quadratic, "constant", "spread", "center"),
    LogQuadratic: (_log_quadratic, "constant", "power", "spread", "center"),
    Presence: (_presence, "known", "missing"),
}


def table_code(term: CodeTable, reader: ColumnReader) -> str:
    """Return the name of a column's code; codes beyond the table add nothing."""
    j, cells, codes = reader.columns[term.column], reader.cells, reader.codes
    name, missing, unseen = f"c{j}", term.code(term.missing), term.code(term.unseen)
    if term.cuts is not None:
        return codes.of_number(name, cells.number(j), term.cuts, np.arange(len(term.cuts) + 1), missing)
    lookup = term.lookup
    assert lookup is not None
    if reader.numeric:
        found = Labeled(cells.number(j), list(map(cells.dialect.number, lookup.labels.tolist())))
    else:
        found = Labeled(cells.code(j), []) if lookup.direct else cells.labeled(j, lookup.labels.tolist())
    return codes.of_labels(name, found, range(len(found.labels)), missing, _unlabeled(lookup, found.cell, unseen))


def _unlabeled(lookup: Lookup, cell: str, unseen: int) -> str:
    """Return the code of a value that is not a label: whole numbers within a range have one, or one each."""
    if not lookup.range_end:
        return str(unseen)
    code = f"CAST({cell} AS INTEGER)" if lookup.direct else str(len(lookup.labels))
    inside = f"{cell} >= 0 AND {cell} < {lookup.range_end} AND {cell} = FLOOR({cell})"
    return f"CASE WHEN {inside} THEN {code} ELSE {unseen} END"


def table_entries(code: str, table: Floats, dialect: Dialect) -> list[str]:
    """Return the entry of a table, ``(codes, classes)``, for each class."""
    return [picked(code, own, dialect) for own in table.T]


def _transformed(transform: Transform, reader: ColumnReader) -> str:
    """Return the name of the transformed column; NULL outside the domain of the transform."""
    (j,), dialect = reader.columns, reader.dialect
    x, number = reader.cells.number(j), dialect.number
    if isinstance(transform, Identity):
        made = f"CASE WHEN {x} >= {number(transform.least)} THEN {x} END"
    elif isinstance(transform, BoxCox):
        log = f"(LN(CASE WHEN {x} > 0 THEN {x} END) - {number(transform.log_unit)})"
        made = f"CASE WHEN {x} > 0 THEN {_power_of(log, transform.power, dialect)} END"
    else:
        assert isinstance(transform, YeoJohnson)
        center = number(transform.center)
        log = f"LN(1.0 + ABS(({x} - {center}) / {number(transform.unit)}))"
        below, above = (_power_of(log, power, dialect) for power in (2.0 - transform.power, transform.power))
        made = f"CASE WHEN {x} < {center} THEN -({below}) WHEN {x} >= {center} THEN {above} END"
    reader.codes.columns[f"z{j}"] = made
    return f"z{j}"


def _power_of(log: str, power: float, dialect: Dialect) -> str:
    """(e^(power log) - 1) / power of a number that is not NULL."""
    if abs(power) < 1e-12:
        return log
    factor = dialect.number(power)
    return f"(EXP({clipped(f'{factor} * {log}', LARGEST_LOG, dialect)}) - 1.0) / {factor}"
