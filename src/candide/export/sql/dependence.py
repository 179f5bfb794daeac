"""Views of pairs and triples of columns as steps of a query: counts as tables, each combination of slots scored once.

Of the rows' slots, which are all that these views see, each combination is scored once (``binned_columns.distinct``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...kernels.dependence import BACK_STRENGTH
from ...kernels.layouts import Array, Floats
from ...stacking.one_dependence import OneDependence
from ...stacking.two_dependence import TwoDependence
from .binned_columns import BinnedColumns, distinct
from .dialects import Dialect
from .expressions import exponential
from .query import Query


@dataclass(frozen=True)
class Pairs:
    """What views of pairs and of triples share: the counts of slots and of pairs of them."""

    prefix: str
    one: OneDependence
    slots: list[str]

    @classmethod
    def of(cls, prefix: str, one: OneDependence, binned: BinnedColumns) -> Pairs:
        """Asks for the slots, and for the text that knows a row by them."""
        slots = binned.slots(one.merged, prefix)
        binned.add_key(f"{prefix}_key", slots)
        return cls(prefix, one, slots)

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
        query.table(f"{p}_places", {"place": np.arange(len(self.slots))}, {})
        query.cte(f"{p}_keys", *distinct(self.key, self.slots, query.last))
        own = " ".join(f"WHEN {i} THEN {slot}" for i, slot in enumerate(self.slots))
        cells = {"code_key": "code_key", "place": "place", "slot": f"CASE place {own} END"}
        query.cte(f"{p}_cells", cells, f"{p}_keys CROSS JOIN {p}_places")
        query.cte(f"{p}_both", self._both(query.dialect), self._all_pairs())

    def counts(self, joint: Floats) -> dict[str, Floats]:
        """Of each class, from ``(classes, …)``."""
        return {f"n{k}": joint[k] for k in range(self.n_classes)}

    def _write_counts(self, query: Query) -> None:
        table, merging, p = self.one.table, self.one.merged, self.prefix
        place = np.repeat(np.arange(len(merging.sizes)), merging.sizes)
        alone = self.counts(np.diagonal(table.joint, axis1=1, axis2=2))
        spare = {"spare": np.repeat(table.spare, merging.sizes)}
        query.table(f"{p}_slots", {"slot": np.arange(len(place)), "place": place}, {**spare, **alone})
        shares = self.each(lambda k: f"(n{k} + 0.5) / ({query.dialect.number(table.rows[k])} + spare)", "a")
        kept = {name: name for name in ("slot", "place", *alone)}
        query.cte(f"{p}_alone", {**kept, **shares}, f"{p}_slots")
        one, other = np.nonzero(np.triu(table.joint.any(axis=0), 1))
        query.table(f"{p}_counts", {"one": one, "other": other}, self.counts(table.joint[:, one, other]))

    def _all_pairs(self) -> str:
        """Two slots of different columns, or one twice, and their count, if there is one."""
        p = self.prefix
        order = "counts.one = CASE WHEN p.slot < c.slot THEN p.slot ELSE c.slot END"
        order += " AND counts.other = CASE WHEN p.slot < c.slot THEN c.slot ELSE p.slot END"
        beside = f"{p}_alone AS p JOIN {p}_alone AS c ON p.place <> c.place OR p.slot = c.slot"
        return f"{beside} LEFT JOIN {p}_counts AS counts ON {order}"

    def _both(self, dialect: Dialect) -> dict[str, str]:
        """Of a slot beside a parent's: the count n and l = log p(x_j | x_u, class), beside itself log p(x_u | class).

        For triples g, which is p(x_j | x_u, class) as they smooth it, and b, the product of what both are alone.
        """
        strength, back = dialect.number(self.one.strength), dialect.number(BACK_STRENGTH)
        count = [f"COALESCE(counts.n{k}, 0)" for k in range(self.n_classes)]

        def log(k: int) -> str:
            given = f"LN({count[k]} + {strength} * c.a{k}) - LN(p.n{k} + {strength})"
            return f"CASE WHEN p.slot = c.slot THEN LN(c.a{k}) ELSE {given} END"

        places = f"p.place * {len(self.slots)} + c.place"
        return {
            **{"parent": "p.slot", "child": "c.slot", "child_place": "c.place", "places": places},
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
        """The steps; how they are joined. One number for a pair: several at once planners take for something rare."""
        name, p = self.name, self.pairs.prefix
        one, other = self.view.joint.columns.T
        of = {"pair": np.arange(len(one)), "other": other, "places": one * len(self.pairs.slots) + other}
        query.table(f"{name}_of", of, {})
        keys, counts = self._counts()
        query.table(f"{name}_counts", keys, self.pairs.counts(counts))
        query.cte(f"{name}_all", self._logs(query.dialect), self._all_triples())
        query.cte(
            f"{name}_over", {"code_key": "code_key", "parents": self._own_parents()}, f"{p}_keys CROSS JOIN {name}_of"
        )
        sums = {"code_key": "u.code_key", **self.pairs.each(lambda k: f"SUM(l.l{k})", "r")}
        joined = f"{name}_over AS u JOIN {p}_cells AS c ON c.code_key = u.code_key"
        joined += f" JOIN {name}_all AS l ON l.parents = u.parents AND l.child = c.slot"
        query.cte(f"{name}_parents", sums, f"{joined} GROUP BY u.code_key, u.parents")
        return averaged(name, self.pairs, query)

    def _own_parents(self) -> str:
        """Return the parents of a combination of codes."""
        slots = [[self.pairs.slots[j] for j in pair] for pair in self.view.joint.columns.tolist()]
        known = [f"CASE WHEN {one} >= 0 AND {two} >= 0 THEN {self._parents(one, two)} END" for one, two in slots]
        return f"CASE pair {' '.join(f'WHEN {i} THEN {parents}' for i, parents in enumerate(known))} END"

    def _parents(self, one: str, other: str) -> str:
        return f"{one} * {int(self.pairs.one.merged.offsets[-1])} + {other}"

    def _counts(self) -> tuple[dict[str, Array], Floats]:
        """Slots of parents and of a third column, and how often they came together, where they ever did."""
        merging, joint, counts = self.pairs.one.merged, self.view.joint, self.view.table.joint.copy()
        for begin, end, columns in zip(joint.offsets, joint.offsets[1:], joint.columns, strict=False):
            for j in columns:
                counts[:, begin:end, merging.offsets[j] : merging.offsets[j + 1]] = 0.0
        parent, child = np.nonzero(counts.any(axis=0))
        place = np.searchsorted(joint.offsets, parent, side="right") - 1
        one, other = joint.columns[place].T
        codes = np.divmod(parent - joint.offsets[place], merging.sizes[other])
        slots = merging.offsets[one] + codes[0], merging.offsets[other] + codes[1], child
        return dict(zip(("one", "other", "child"), slots, strict=True)), counts[:, parent, child]

    def _all_triples(self) -> str:
        """All slots of parents, with every slot of a third column, and the first parent itself."""
        p, name = self.pairs.prefix, self.name
        joined = f"{name}_of AS o JOIN {p}_both AS u ON u.places = o.places"
        joined += f" JOIN {p}_both AS s ON s.parent = u.parent AND s.child_place <> o.other"
        joined += f" LEFT JOIN {p}_both AS t ON t.parent = u.child AND t.child = s.child"
        return f"{joined} LEFT JOIN {name}_counts AS n ON n.one = u.parent AND n.other = u.child AND n.child = s.child"

    def _logs(self, dialect: Dialect) -> dict[str, str]:
        """log p(x_j | x_s, x_t, class), and beside the first parent log p(x_s, x_t | class)."""
        strength, half = map(dialect.number, (self.view.strength, 0.5 * self.view.strength))
        log_rows = np.log(self.pairs.one.table.rows + self.view.strength).tolist()

        def log(k: int) -> str:
            third = f"LN(COALESCE(n.n{k}, 0) + {half} * (s.g{k} + t.g{k})) - LN(u.n{k} + {strength})"
            first = f"LN(u.n{k} + {strength} * u.b{k}) - {dialect.number(log_rows[k])}"
            return f"CASE WHEN s.child = u.parent THEN {first} ELSE {third} END"

        return {"parents": self._parents("u.parent", "u.child"), "child": "s.child", **self.pairs.each(log, "l")}


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
