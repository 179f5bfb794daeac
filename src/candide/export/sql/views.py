"""Views of pairs and triples of columns as steps of a query, which brings along tables of counts.

Where there are lists, the logarithms of a class are a list of lists, and a row adds up the entries of its slots.
Elsewhere each combination of slots is scored once (``cells.distinct``), by joins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...kernels.layouts import Array, Floats
from ...kernels.scoring import BACK_STRENGTH
from ...stacking.dependence import OneDependence, TwoDependence
from .cells import BinnedColumns, distinct
from .dialects import Dialect
from .query import Query, exponential, total

# The joint slot of two parents.
_JOINT = "(u.parent * o.size + u.child + o.shift)"


@dataclass(frozen=True)
class Pairs:
    """The parts that views of pairs and triples share: the counts of slots and of pairs of slots."""

    prefix: str
    one: OneDependence
    slots: list[str]
    given: list[str]  # slots, NULL where a column is not given

    @classmethod
    def of(cls, prefix: str, one: OneDependence, binned: BinnedColumns) -> Pairs:
        """Asks for the slots, and for the text that knows a row by them."""
        slots = binned.slots(one.merged, prefix)
        if not binned.cells.dialect.has_lists:
            binned.add_key(f"{prefix}_key", slots)
        columns = zip(slots, one.merged.columns.tolist(), strict=True)
        return cls(
            prefix, one, slots, [slot if binned.lacks(i) is None else f"NULLIF({slot}, -1)" for slot, i in columns]
        )

    @property
    def key(self) -> str:
        """The column that knows a row by its slots."""
        return f"{self.prefix}_key"

    @property
    def n_classes(self) -> int:
        return len(self.one.table.rows)

    def each(self, make: Callable[[int], str], name: str) -> dict[str, str]:
        """A column for each class."""
        return {f"{name}{k}": make(k) for k in range(self.n_classes)}

    def write(self, query: Query) -> None:
        """Steps for combinations of slots, for the slots of each, and tables of shares and counts."""
        p = self.prefix
        self._write_counts(query)
        query.cte(f"{p}_both", self._both(query.dialect), self._all_pairs())
        if query.dialect.has_lists:
            query.step(f"{p}_lists", {self.children: query.dialect.places(self.given)})
            return
        query.table(f"{p}_places", {"col": np.arange(len(self.slots))}, {})
        query.cte(f"{p}_keys", *distinct(self.key, self.slots, query.last))
        own = " ".join(f"WHEN {i} THEN {slot}" for i, slot in enumerate(self.slots))
        cells = {"code_key": "code_key", "slot": f"CASE col {own} END"}
        query.cte(f"{p}_cells", cells, f"{p}_keys CROSS JOIN {p}_places")

    def counts(self, joint: Floats) -> dict[str, Floats]:
        """Of each class, from ``(classes, …)``."""
        return {f"n{k}": joint[k] for k in range(self.n_classes)}

    @property
    def children(self) -> str:
        """The column with a list of the slots of a row."""
        return f"{self.prefix}_list"

    @property
    def n_slots(self) -> int:
        return int(self.one.merged.offsets[-1])

    def _write_counts(self, query: Query) -> None:
        table, merging, p = self.one.table, self.one.merged, self.prefix
        place = np.repeat(np.arange(len(merging.sizes)), merging.sizes)
        alone = self.counts(np.diagonal(table.joint, axis1=1, axis2=2))
        spare = {"spare": np.repeat(table.spare, merging.sizes)}
        query.table(f"{p}_slots", {"col": place}, {**spare, **alone})
        shares = self.each(lambda k: f"(n{k} + 0.5) / ({query.dialect.number(table.rows[k])} + spare)", "a")
        kept = {"slot": "place", "col": "col", **{name: name for name in alone}}
        query.cte(f"{p}_alone", {**kept, **shares}, f"{p}_slots")
        one, other = np.nonzero(np.triu(table.joint.any(axis=0), 1))
        query.sparse_table(f"{p}_counts", one, other, self.n_slots, self.counts(table.joint[:, one, other]))

    def _all_pairs(self) -> str:
        """Two slots of different columns, or one twice, and their count, if there is one."""
        p = self.prefix
        order = "counts.parent = CASE WHEN p.slot < c.slot THEN p.slot ELSE c.slot END"
        order += " AND counts.child = CASE WHEN p.slot < c.slot THEN c.slot ELSE p.slot END"
        pairs = f"{p}_alone AS p CROSS JOIN {p}_alone AS c"
        return f"{pairs} LEFT JOIN {p}_counts AS counts ON {order}"

    def _both(self, dialect: Dialect) -> dict[str, str]:
        """Of a slot beside a parent's: the count n and l = log p(x_j | x_u, class), beside itself log p(x_u | class).

        For triples g, which is p(x_j | x_u, class) as they smooth it, and b, the product of what both are alone.
        """
        strength, back = dialect.number(self.one.strength), dialect.number(BACK_STRENGTH)
        count = [f"COALESCE(counts.n{k}, 0)" for k in range(self.n_classes)]

        def log(k: int) -> str:
            given = f"LN({count[k]} + {strength} * c.a{k}) - LN(p.n{k} + {strength})"
            return f"CASE WHEN p.slot = c.slot THEN LN(c.a{k}) ELSE {given} END"

        places = f"p.col * {len(self.slots)} + c.col"
        return {
            **{"parent": "p.slot", "child": "c.slot", "child_place": "c.col", "places": places},
            **self.each(lambda k: count[k], "n"),
            **self.each(log, "l"),
            **self.each(lambda k: f"({count[k]} + {back} * c.a{k}) / (p.n{k} + {back})", "g"),
            **self.each(lambda k: f"p.a{k} * c.a{k}", "b"),
        }


@dataclass(frozen=True)
class PairView:
    """Averaged one-dependence."""

    name: str
    pairs: Pairs

    def write(self, query: Query) -> str:
        """The steps; how they are joined."""
        p = self.pairs.prefix
        if query.dialect.has_lists:
            return averaged_rows(self.name, self.pairs, f"{p}_both", self.pairs.given, query)
        parents = {"code_key": "a.code_key", **self.pairs.each(lambda k: f"SUM(both_.l{k})", "r")}
        joined = f"{p}_cells AS a JOIN {p}_cells AS b ON b.code_key = a.code_key"
        joined += f" JOIN {p}_both AS both_ ON both_.parent = a.slot AND both_.child = b.slot"
        query.cte(f"{self.name}_parents", parents, f"{joined} GROUP BY a.code_key, a.slot")
        return averaged(self.name, self.pairs, query)


@dataclass(frozen=True)
class TripleView:
    """Averaged two-dependence."""

    name: str
    pairs: Pairs
    view: TwoDependence

    def write(self, query: Query) -> str:
        """The steps; how they are joined.

        A pair is one number, because planners underestimate how many rows match conditions on several columns.
        """
        name, p = self.name, self.pairs.prefix
        one, other = self.view.joint.columns.T
        sizes = self.pairs.one.merged.sizes[other]
        of = {"other": other, "places": one * len(self.pairs.slots) + other, "size": sizes, "shift": self._shifts}
        query.table(f"{name}_of", of, {})
        parent, child, counts = self._counts()
        query.sparse_table(f"{name}_counts", parent, child, self.pairs.n_slots, self.pairs.counts(counts))
        query.cte(f"{name}_all", self._logs(query.dialect), self._all_triples())
        if query.dialect.has_lists:
            return averaged_rows(name, self.pairs, f"{name}_all", self._parents(), query)
        query.cte(
            f"{name}_over", {"code_key": "code_key", "parents": self._own_parents()}, f"{p}_keys CROSS JOIN {name}_of"
        )
        sums = {"code_key": "u.code_key", **self.pairs.each(lambda k: f"SUM(l.l{k})", "r")}
        joined = f"{name}_over AS u JOIN {p}_cells AS c ON c.code_key = u.code_key"
        joined += f" JOIN {name}_all AS l ON l.parent = u.parents AND l.child = c.slot"
        query.cte(f"{name}_parents", sums, f"{joined} GROUP BY u.code_key, u.parents")
        return averaged(name, self.pairs, query)

    @property
    def _shifts(self) -> Array:
        """What is added to the product of slots to get the joint slots of each pair."""
        joint, merged = self.view.joint, self.pairs.one.merged
        one, other = joint.columns.T
        return np.asarray(joint.offsets[:-1] - merged.offsets[one] * merged.sizes[other] - merged.offsets[other])

    def _parents(self) -> list[str]:
        """Return the joint slots of a row; NULL where one of two columns is not given."""
        given, sizes = self.pairs.given, self.pairs.one.merged.sizes
        pairs = zip(self.view.joint.columns.tolist(), self._shifts.tolist(), strict=True)
        return [f"{given[one]} * {sizes[other]} + {given[other]} + {shift}" for (one, other), shift in pairs]

    def _own_parents(self) -> str:
        """Return the parents of a combination of codes."""
        return f"CASE place {' '.join(f'WHEN {i} THEN {joint}' for i, joint in enumerate(self._parents()))} END"

    def _counts(self) -> tuple[Array, Array, Floats]:
        """Joint slots of parents and slots of a third column that ever came together, and their counts."""
        merging, joint, counts = self.pairs.one.merged, self.view.joint, self.view.table.joint.copy()
        for begin, end, columns in zip(joint.offsets, joint.offsets[1:], joint.columns, strict=False):
            for j in columns:
                counts[:, begin:end, merging.offsets[j] : merging.offsets[j + 1]] = 0.0
        parent, child = np.nonzero(counts.any(axis=0))
        return parent, child, counts[:, parent, child]

    def _all_triples(self) -> str:
        """All slots of parents, with every slot."""
        p, name = self.pairs.prefix, self.name
        joined = f"{name}_of AS o JOIN {p}_both AS u ON u.places = o.places"
        joined += f" JOIN {p}_both AS s ON s.parent = u.parent"
        joined += f" LEFT JOIN {p}_both AS t ON t.parent = u.child AND t.child = s.child"
        return f"{joined} LEFT JOIN {name}_counts AS n ON n.parent = {_JOINT} AND n.child = s.child"

    def _logs(self, dialect: Dialect) -> dict[str, str]:
        """log p(x_j | x_s, x_t, class), and beside the first parent log p(x_s, x_t | class)."""
        strength, half = map(dialect.number, (self.view.strength, 0.5 * self.view.strength))
        log_rows = np.log(self.pairs.one.table.rows + self.view.strength).tolist()

        def log(k: int) -> str:
            third = f"LN(COALESCE(n.n{k}, 0) + {half} * (s.g{k} + t.g{k})) - LN(u.n{k} + {strength})"
            first = f"LN(u.n{k} + {strength} * u.b{k}) - {dialect.number(log_rows[k])}"
            zero = dialect.first_number(0)
            return (
                f"CASE WHEN s.child_place = o.other THEN {zero} WHEN s.child = u.parent THEN {first} ELSE {third} END"
            )

        return {"parent": _JOINT, "child": "s.child", **self.pairs.each(log, "l")}


def averaged_rows(name: str, pairs: Pairs, table: str, parents: list[str], query: Query) -> str:
    """log of the mean over parents of e^score: the sum of the numbers of a table beside each of the parents."""
    dialect = query.dialect
    rows = pairs.each(lambda k: dialect.collected(f"l{k}", "child"), "l")
    query.cte(f"{name}_rows", {"parent": "parent", **rows}, f"{table} GROUP BY parent")
    query.cte(f"{name}_lists", pairs.each(lambda k: dialect.collected(f"l{k}", "parent"), "l"), f"{name}_rows")
    own = [[f"{name}_{k}_{u}" for u in range(len(parents))] for k in range(pairs.n_classes)]
    lists, joins = f"{name}_lists", [f"CROSS JOIN {name}_lists"]
    if dialect.has_arrays:
        lists, joins = f"{name}_list", []
        query.step(f"{name}_looked_up", {lists: f"(SELECT STRUCT({', '.join(rows)}) FROM {name}_lists)"})
    sums = {
        sum_: dialect.sum_at(f"{lists}.l{k}", parent, pairs.children)
        for k in range(pairs.n_classes)
        for sum_, parent in zip(own[k], parents, strict=True)
    }
    query.step(f"{name}_parents", sums, joins)
    query.step(f"{name}_tops", pairs.each(lambda k: dialect.greatest(own[k]), f"{name}_t"))
    one, zero = dialect.first_number(1), dialect.first_number(0)

    def mean(k: int) -> str:
        shares = total([f"COALESCE({exponential(f'({r} - {name}_t{k})', dialect)}, {zero})" for r in own[k]])
        n_given = total([f"CASE WHEN {r} IS NULL THEN {zero} ELSE {one} END" for r in own[k]])
        return f"{name}_t{k} + LN({shares}) - LN({n_given})"

    query.step(f"{name}_scores", pairs.each(mean, f"{name}_r"))
    return ""


def averaged(name: str, pairs: Pairs, query: Query) -> str:
    """log of the mean over parents of e^score, of each combination of codes that has any; return the join."""
    dialect = query.dialect
    tops = {
        **pairs.each(lambda k: f"r{k}", "r"),
        **pairs.each(lambda k: f"MAX(r{k}) OVER (PARTITION BY code_key)", "t"),
    }
    query.cte(f"{name}_tops", {"code_key": "code_key", **tops}, f"{name}_parents")

    def mean(k: int) -> str:
        share = exponential(f"r{k} - t{k}", dialect)
        return f"MAX(t{k}) + LN(SUM({share})) - LN(SUM({dialect.first_number(1)}))"

    query.cte(f"{name}_scores", {"code_key": "code_key", **pairs.each(mean, "r")}, f"{name}_tops GROUP BY code_key")
    return f"LEFT JOIN {name}_scores ON {name}_scores.code_key = {pairs.key}"
