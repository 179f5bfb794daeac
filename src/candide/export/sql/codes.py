"""Cells as small whole numbers, by which tables are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...kernels.layouts import Array, Floats
from .cells import Labelled
from .expressions import place_among
from .query import Query

# More labels than this are looked up in a table of their own.
_MANY_LABELS = 40
# SQLite joins up to 64 tables.
_MOST_JOINS = 50


@dataclass
class Codes:
    """Codes of cells, gathered while a query is thought out."""

    query: Query
    columns: dict[str, str] = field(default_factory=dict)
    joins: dict[str, str] = field(default_factory=dict)  # by code: the table of labels that it is looked up in

    def of_number(self, code: str, cell: str, cuts: Floats, codes: Array, missing: int) -> str:
        """``codes`` of the stretches between cuts; those that are alike and lie side by side are one stretch."""
        first = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
        place = place_among(cell, cuts[first[1:] - 1], self.query.dialect)
        if codes[first].tolist() != list(range(len(first))):
            named = " ".join(f"WHEN {i} THEN {value}" for i, value in enumerate(codes[first].tolist()))
            place = f"CASE {place} {named} END"
        self.columns[code] = f"CASE WHEN {cell} IS NULL THEN {missing} ELSE {place} END"
        return code

    def of_labels(self, code: str, found: Labelled, codes: Sequence[int], missing: int, otherwise: str) -> str:
        """``codes`` of labels; ``otherwise``: of all other values."""
        cell = found.cell
        if len(found.labels) > _MANY_LABELS:
            table = f"labels_{code}"
            self.query.labels(table, zip(found.labels, codes, strict=True))
            self.joins[code] = f"LEFT JOIN {table} ON {table}.label = {cell}"
            known = f"COALESCE({table}.code, {otherwise})"
            self.columns[code] = f"CASE WHEN {cell} IS NULL THEN {missing} ELSE {known} END"
            return code
        pairs = zip(found.labels, codes, strict=True)
        named = " ".join(f"WHEN {cell} = {label} THEN {value}" for label, value in pairs)
        self.columns[code] = f"CASE WHEN {cell} IS NULL THEN {missing} {named} ELSE {otherwise} END"
        return code

    def write(self) -> None:
        """The steps that make the codes; those that need no table first."""
        plain = {code: how for code, how in self.columns.items() if code not in self.joins}
        if plain:
            self.query.step("codes", plain)
        looked_up = list(self.joins)
        for begin in range(0, len(looked_up), _MOST_JOINS):
            some = looked_up[begin : begin + _MOST_JOINS]
            columns = {code: self.columns[code] for code in some}
            self.query.step("looked_up", columns, [self.joins[code] for code in some])
