"""Number columns that are not given, as steps of a query: normal distributions without them.

With P the inverse of a covariance and u = P x at a point x, sweeping the matrix [P u; uᵀ xᵀPx] on the columns that are
not given leaves, in place of xᵀPx, the quadratic form of the others alone; in place of u, what has to be subtracted
from the columns that are not given to get their expectation beside the others; in place of P, their conditional
covariance with a minus sign. The product of the pivots is the factor on the determinant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...kernels.layouts import Floats
from ...stacking.covariance import marginal_patterns
from .query import Query, affine, total


class QuadraticForm(NamedTuple):
    """|(x - mean) whitening|², of points x that are 0 in columns that are not given."""

    name: str
    points: Sequence[str]
    mean: Floats
    whitening: Floats

    def squares(self, query: Query) -> dict[str, str]:
        """Return the coordinates whose squares are added up."""
        constants = (-self.mean @ self.whitening).tolist()
        pairs = zip(self.whitening.T, constants, strict=True)
        return {
            f"{self.name}_z{i}": affine(weights, self.points, constant, query.dialect)
            for i, (weights, constant) in enumerate(pairs)
        }


@dataclass
class AbsentColumns:
    """Number columns of which up to ``most`` may not be given, and the quadratic forms that are computed for them."""

    name: str
    lacks: list[str | None]  # of each column: a name that is 1 where it is not given; None where nulls are values
    most: int = 0
    forms: list[QuadraticForm] = field(default_factory=list)

    def allow(self, cells: int) -> None:
        """Cover as many absent columns as ``marginal_patterns`` has room for with matrices of so many cells."""
        patterns = marginal_patterns(cells, np.array([name is not None for name in self.lacks], dtype=bool))
        self.most = max(self.most, *(int((~given).sum()) for given in patterns))

    def add(self, form: QuadraticForm) -> None:
        """Add a form: ``{name}_q``, and ``{name}_h``, what absent columns add to the log determinant."""
        self.forms.append(form)

    @property
    def may_lack(self) -> bool:
        """Whether any of the columns may be absent."""
        return any(name is not None for name in self.lacks)

    @property
    def places(self) -> list[str]:
        """The names of the places of absent columns; NULL where fewer are absent."""
        return [f"{self.name}_{j}" for j in range(self.most)]

    @property
    def number(self) -> str:
        """The number of absent columns."""
        return f"({total([name for name in self.lacks if name is not None])})"

    def write(self, query: Query) -> None:
        """Write the steps."""
        if not self.forms:
            return
        squares = {form.name: form.squares(query) for form in self.forms}
        if not self.most:
            sums = {f"{name}_q": total([f"POWER({how}, 2)" for how in own.values()]) for name, own in squares.items()}
            query.step("squares", sums)
            return
        for j, place in enumerate(self.places):
            query.step("absent", {place: self._next(self.places[j - 1] if j else None)})
        query.step("squares", {name: how for own in squares.values() for name, how in own.items()})
        joins = []
        if not query.dialect.has_arrays:
            columns = range(len(self.lacks))
            rows = {f"w{n}_{i}": form.whitening[:, i] for n, form in enumerate(self.forms) for i in columns}
            query.table(f"{self.name}_rows", {}, rows)
            joins = [f"LEFT JOIN {self.name}_rows AS b{j} ON b{j}.place = {own}" for j, own in enumerate(self.places)]
        begun: dict[str, str] = {}
        for n, form in enumerate(self.forms):
            begun |= self._begun(n, form, list(squares[form.name]), query)
        query.step("to_sweep", begun, joins)
        for pivot in range(self.most):
            query.step(
                "swept", {name: how for form in self.forms for name, how in _swept(form.name, pivot, self.most).items()}
            )

    def _next(self, before: str | None) -> str:
        """Return the first absent column after another."""
        known = ((i, name) for i, name in enumerate(self.lacks) if name is not None)
        tests = ((i, f"{name} = 1" if before is None else f"{name} = 1 AND {before} < {i}") for i, name in known)
        return f"CASE {' '.join(f'WHEN {test} THEN {i}' for i, test in tests)} END"

    def _begun(self, n: int, form: QuadraticForm, squares: list[str], query: Query) -> dict[str, str]:
        """Return the matrix that is swept, for the absent columns."""
        columns, dialect = range(len(self.lacks)), query.dialect

        def cell(j: int, i: int) -> str:
            return dialect.entry(form.whitening[:, i], self.places[j]) if dialect.has_arrays else f"b{j}.w{n}_{i}"

        sum_of_squares = total([f"{name} * {name}" for name in squares])
        out = {f"{form.name}_q": sum_of_squares, f"{form.name}_h": query.dialect.first_number(0)}
        for j, place in enumerate(self.places):
            parts = {f"{form.name}_u{j}": [f"{cell(j, i)} * {squares[i]}" for i in columns]}
            for other in range(j + 1):
                parts[entry(form.name, j, other)] = [f"{cell(j, i)} * {cell(other, i)}" for i in columns]
            out |= {name: f"CASE WHEN {place} IS NOT NULL THEN {total(own)} END" for name, own in parts.items()}
        return out


def entry(name: str, j: int, other: int) -> str:
    """Return the name of an entry of the matrix of a form."""
    return f"{name}_p{max(j, other)}_{min(j, other)}"


def _swept(name: str, pivot: int, n: int) -> dict[str, str]:
    """Return the entries of the matrix after sweeping on one column; as they are where that column is none."""
    by, others = entry(name, pivot, pivot), [j for j in range(n) if j != pivot]
    u = f"{name}_u{pivot}"
    out = {
        f"{name}_q": f"{name}_q - COALESCE({u} * {u} / {by}, 0.0)",
        f"{name}_h": f"{name}_h + COALESCE(LN({by}), 0.0)",
    }
    out[by] = f"-1.0 / {by}"
    out[u] = f"{u} / {by}"
    for j in others:
        across = entry(name, j, pivot)
        out[across] = f"{across} / {by}"
        own = f"{name}_u{j}"
        out[own] = f"{own} - COALESCE({across} * {u} / {by}, 0.0)"
        for other in others:
            if other <= j:
                cell = entry(name, j, other)
                out[cell] = f"{cell} - COALESCE({across} * {entry(name, other, pivot)} / {by}, 0.0)"
    return out
