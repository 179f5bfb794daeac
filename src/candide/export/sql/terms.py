"""Expressions for the terms of log p(x | class), a list of them with one for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...exceptions import ParameterError
from ...families.columns.transforms import LARGEST_LOG, BoxCox, Identity, Transform, YeoJohnson
from ...families.linear import LinearTerm
from ...families.score_terms import CodeTable, JointNormal, LogQuadratic, Presence, Quadratic, Term, Transformed
from ...families.table_likelihood import TableLikelihood
from ...kernels.layouts import Floats
from .cells import Cells
from .dialects import Dialect
from .lookups import Labeled, Lookups
from .query import clipped, total


class Scores(NamedTuple):
    """The scores of each class, and the coefficients of diverging terms where probabilities are 0."""

    finite: list[str]
    limits: tuple[list[str], ...] = ()


@dataclass(frozen=True)
class ColumnReader:
    """Some columns of the table as expressions."""

    columns: Sequence[int]
    cells: Cells
    lookups: Lookups
    numeric: bool = False  # labels are numbers of a number column
    transformed: tuple[str, ...] | None = None  # names of the columns after a transform
    sums: str = "entries"  # the prefix of the sums that entries of tables are added to

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


def family_scores(likelihood: Any, offset: Floats, reader: ColumnReader) -> Scores:
    """Return the scores of some columns under a likelihood; ``offset`` is added to them."""
    terms, none = likelihood.terms, np.zeros_like(offset)
    limits = tuple(
        _added_up(own, none, replace(reader, sums=f"{reader.sums}_limit{i}")) for i, own in enumerate(terms.limits)
    )
    return Scores(_added_up(terms.finite, offset, reader), limits)


def table_scores(likelihood: TableLikelihood, offset: Floats, cells: Cells, lookups: Lookups) -> list[str]:
    """Return the scores of a table without stacking: the sum over all columns and blocks."""
    parts = [column_scores(likelihood, j, cells, lookups) for j in likelihood.shown]
    parts += block_scores(likelihood, cells, lookups)
    return [total([cells.dialect.first_number(o), *(own[k] for own in parts)]) for k, o in enumerate(offset.tolist())]


def column_scores(
    likelihood: TableLikelihood, j: int, cells: Cells, lookups: Lookups, *, nulls: bool = True
) -> list[str]:
    """Return the scores of one column, up to a term that all classes share. Without ``nulls``, missing cells add 0."""
    model = likelihood.models[j]
    assert model is not None
    parts = [term_scores(term, column_reader(likelihood, j, cells, lookups)) for term in model.terms(nulls=nulls)]
    return [total(own) for own in zip(*parts, strict=True)]


def column_reader(likelihood: TableLikelihood, j: int, cells: Cells, lookups: Lookups) -> ColumnReader:
    """Return the reader of one column of a table."""
    return ColumnReader([j], cells, lookups, numeric=likelihood.statistics.kinds[j] == "number")


def block_scores(likelihood: TableLikelihood, cells: Cells, lookups: Lookups) -> list[list[str]]:
    """Return the scores of each block."""
    none = np.zeros(len(likelihood.statistics.rows))
    readers = [
        ColumnReader(block.columns, cells, lookups, sums=f"block{i}")
        for i, block in enumerate(likelihood.family.blocks)
    ]
    pairs = zip(likelihood.blocks, readers, strict=True)
    return [family_scores(own, none, reader).finite for own, reader in pairs]


def _added_up(terms: Sequence[Term], offset: Floats, reader: ColumnReader) -> list[str]:
    parts = [term_scores(term, reader) for term in terms]
    first = reader.dialect.first_number
    return [total([first(o), *(own[k] for own in parts)]) for k, o in enumerate(offset.tolist())]


def term_scores(term: Term, reader: ColumnReader) -> list[str]:
    """Return what a term adds to the score of each class."""
    if isinstance(term, LinearTerm):
        return _linear(term, reader)
    if isinstance(term, CodeTable):
        names = [f"{reader.sums}_{k}" for k in range(term.table.shape[1])]
        is_first = not reader.lookups.has_sum(names[0])
        add_entries(term, term.with_neutral, reader, names)
        return names if is_first else [""] * len(names)
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
        return list(map(total, cells))
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


def add_entries(
    term: CodeTable, table: Floats, reader: ColumnReader, sums: Sequence[str], factors: Sequence[str | None] = ()
) -> None:
    """Add the entries of a table, ``(codes, classes)``, to the sum of each class, times a factor if there is one.

    ``table`` has the codes of ``term.with_neutral``.
    """
    keys: Floats | list[str]
    j, cells = reader.columns[term.column], reader.cells
    missing, unseen = table[term.code(term.missing)], table[term.code(term.unseen)]
    if term.cuts is not None:
        own, keys = reader.lookups.ranges(cells.number(j)), term.cuts
        values = np.vstack([table[: len(keys) + 1], missing])
    else:
        lookup = term.lookup
        assert lookup is not None
        if reader.numeric:
            found = Labeled(cells.number(j), list(map(cells.dialect.number, lookup.labels.tolist())))
        else:
            found = Labeled(cells.code(j), []) if lookup.direct else cells.labeled(j, lookup.labels.tolist())
        own, keys = reader.lookups.labels(found.cell, lookup.range_end), found.labels
        n_known = lookup.range_end if lookup.direct else len(keys)
        values = np.vstack([table[:n_known], missing, unseen, table[n_known]])
    for k, name in enumerate(sums):
        entry = own.entry(keys, values[:, k])
        own.add(name, entry if not factors or factors[k] is None else f"{factors[k]} * {entry}")


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
    reader.lookups.columns[f"z{j}"] = made
    return f"z{j}"


def _power_of(log: str, power: float, dialect: Dialect) -> str:
    """(e^(power log) - 1) / power of a number that is not NULL."""
    if abs(power) < 1e-12:
        return log
    factor = dialect.number(power)
    return f"(EXP({clipped(f'{factor} * {log}', LARGEST_LOG, dialect)}) - 1.0) / {factor}"
