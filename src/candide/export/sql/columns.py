"""The columns of a table, each by its own model, as expressions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...families.columns import CodedColumn
from ...families.columns.changes import BoxCox, Change, Same, YeoJohnson
from ...families.columns.holes import WithHoles
from ...families.columns.parametric import ParametricColumn
from ...families.normal import GaussianLikelihood
from ...families.student import StudentLikelihood
from ...families.table_likelihood import TableLikelihood, log_table
from ...kernels.layouts import Floats
from .cells import Cells, Labelled
from .codes import Codes
from .dialects import Dialect
from .expressions import clipped, picked
from .likelihoods import linear_scores, normal_terms, student_terms

# Powers beyond these are left alone, as in ``families.columns.changes``.
_LARGEST_LOG = 300.0


class Picked(NamedTuple):
    """A column whose scores stand in a table."""

    code: str
    table: Floats  # (codes, classes), with a last row of zeros for what says nothing

    def terms(self, table: Floats, cells: Cells) -> list[str]:
        """What the cell adds to each class, from this table or one made of it."""
        return [picked(self.code, own, cells.dialect) for own in table.T]


def picked_column(model: CodedColumn, j: int, kind: str, cells: Cells, codes: Codes, *, nulls: bool = True) -> Picked:
    """A column of codes; without ``nulls``, missing cells say nothing."""
    table = log_table(model)
    nothing, code = len(table), f"c{j}"
    missing, unseen = (nothing if place is None else place for place in (model.missing, model.unseen))
    missing = missing if nulls else nothing
    if model.cuts is not None:
        codes.of_number(code, cells.number(j), model.cuts, np.arange(len(model.cuts) + 1), missing)
    else:
        labels = [] if model.labels is None else model.labels.tolist()
        if kind == "number":
            found = Labelled(cells.number(j), list(map(cells.dialect.number, labels)))
        else:
            found = cells.labelled(j, labels)
        codes.of_labels(code, found, range(len(labels)), missing, str(unseen))
    return Picked(code, np.vstack([table, np.zeros(table.shape[1])]))


def smooth_column(model: Any, j: int, cells: Cells, codes: Codes, *, nulls: bool = True) -> list[str]:
    """A column of a distribution with few parameters, up to a term that all classes share.

    Without ``nulls``, missing cells say nothing.
    """
    if not isinstance(model, WithHoles):
        return _distribution(model, j, cells, codes)
    cell, table = cells.number(j), model.presence.table()
    there = zip(*(map(cells.dialect.first_number, row) for row in table.tolist()), strict=True)
    terms, zero = _distribution(model.inner, j, cells, codes), cells.dialect.first_number(0)
    return [
        f"{term} + CASE WHEN {cell} IS NULL THEN {missing if nulls else zero} ELSE {known} END"
        for term, (known, missing) in zip(terms, there, strict=True)
    ]


def _distribution(model: ParametricColumn, j: int, cells: Cells, codes: Codes) -> list[str]:
    name, likelihood, dialect = _changed(model.change, j, cells, codes), model.likelihood, cells.dialect
    if isinstance(likelihood, GaussianLikelihood):
        return normal_terms(likelihood, [name], dialect)[0]
    if isinstance(likelihood, StudentLikelihood):
        return student_terms(likelihood, [name], dialect)[0]
    return linear_scores(likelihood.finite, np.zeros(len(model.ignored)), [name], dialect)


def _changed(change: Change, j: int, cells: Cells, codes: Codes) -> str:
    """The column on another scale, under a name of its own; NULL where the scale does not allow it."""
    x, dialect = cells.number(j), cells.dialect
    if isinstance(change, Same):
        if change.least == -np.inf:
            return x
        codes.columns[f"z{j}"] = f"CASE WHEN {x} >= {dialect.number(change.least)} THEN {x} END"
    elif isinstance(change, BoxCox):
        log = f"(LN(CASE WHEN {x} > 0 THEN {x} END) - {dialect.number(change.log_unit)})"
        codes.columns[f"z{j}"] = f"CASE WHEN {x} > 0 THEN {_power_of(log, change.power, dialect)} END"
    else:
        assert isinstance(change, YeoJohnson)
        center = dialect.number(change.center)
        log = f"LN(1.0 + ABS(({x} - {center}) / {dialect.number(change.unit)}))"
        below, above = (_power_of(log, power, dialect) for power in (2.0 - change.power, change.power))
        codes.columns[f"z{j}"] = f"CASE WHEN {x} < {center} THEN -({below}) WHEN {x} >= {center} THEN {above} END"
    return f"z{j}"


def _power_of(log: str, power: float, dialect: Dialect) -> str:
    """(e^(power log) - 1) / power of a number that is not NULL."""
    if abs(power) < 1e-12:
        return log
    factor = dialect.number(power)
    return f"(EXP({clipped(f'{factor} * {log}', _LARGEST_LOG, dialect)}) - 1.0) / {factor}"


def kind_of(likelihood: TableLikelihood, j: int) -> str:
    """What a column holds."""
    return str(likelihood.statistics.kinds[j])
