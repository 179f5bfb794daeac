"""A query as steps, each of which reads the one before, and expressions of numbers in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...exceptions import ParameterError
from ...kernels.layouts import Array, Floats
from .dialects import Dialect

# Alias of the table in all steps. Some databases would confuse it with a column of the same name.
ROWS = "scored_rows"
_NAME = re.compile(r"\b[a-z_]\w*")


@dataclass
class _Step:
    """Columns by name, and what they are made from."""

    columns: dict[str, str]
    source: str  # with all that comes after FROM
    once: bool = False  # whether its rows may not be computed twice

    def only(self, needed: set[str]) -> _Step:
        """With some of the columns, or the first."""
        kept = {name: how for name, how in self.columns.items() if name in needed}
        return _Step(kept or dict([next(iter(self.columns.items()))]), self.source, self.once)

    def names(self) -> set[str]:
        """Return all names that it uses."""
        return set(_NAME.findall(" ".join([*self.columns.values(), self.source])))

    def written(self) -> str:
        columns = (name if how == name else f"{how} AS {name}" for name, how in self.columns.items())
        return "SELECT\n    " + ",\n    ".join(columns) + f"\n  FROM {self.source}"


class Query:
    """Steps so far. Each has the columns of the one before and new ones; the last selects those of the result."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect, self.fence = dialect, dialect.fence
        self.last = ""
        self._steps: dict[str, _Step | str] = {}
        self._chain: list[str] = []

    def start(self, table: str, columns: Mapping[str, str]) -> None:
        """Add the first step, which reads the table."""
        self.cte("inputs", columns, f"{table} AS {ROWS}")
        self._go_on("inputs")

    def step(self, name: str, columns: Mapping[str, str], joins: Sequence[str] = ()) -> None:
        """Add a step with new columns, or with new values of existing columns."""
        before, name = self._steps[self.last], self._unused(name)
        assert isinstance(before, _Step)
        kept = {column: f"{self.last}.{column}" if joins else column for column in before.columns}
        self.cte(name, {**kept, **columns}, " ".join([self.last, *joins]))
        self._go_on(name)

    def cte(self, name: str, columns: Mapping[str, str], source: str, *, once: bool = False) -> None:
        """Add a common table expression that is not a step; ``once``: its rows may not be computed twice."""
        self._steps[name] = _Step(dict(columns), source, once)

    def labels(self, name: str, pairs: Iterable[tuple[str, int]]) -> None:
        """Add a table of labels and codes to the query."""
        rows = ", ".join(f"({label}, {code})" for label, code in pairs)
        self._steps[name] = self.dialect.values(rows, ["label", "code"])

    def table(self, name: str, integers: Mapping[str, Array], numbers: Mapping[str, Array]) -> None:
        """Add a table of numbers to the query, with ``place``, the number of a row from 0."""
        self._steps[name] = self.dialect.table(integers, numbers)

    def sparse_table(self, name: str, parent: Array, child: Array, width: int, numbers: Mapping[str, Array]) -> None:
        """Add a table of numbers for some pairs, ``parent`` and ``child`` (below ``width``), in ascending order.

        The text of the query has the gaps between them, where the database then still finds pairs by an index.
        """
        if not self.dialect.indexes_sums:
            self.table(name, {"parent": parent, "child": child}, numbers)
            return
        self.table(f"{name}_gaps", {"gap": np.diff(parent * width + child, prepend=0)}, numbers)
        kept = {column: column for column in numbers}
        self.cte(f"{name}_cells", {"cell": "SUM(gap) OVER (ORDER BY place)", **kept}, f"{name}_gaps")
        own = {
            "parent": f"CAST((cell - cell % {width}) / {width} AS INTEGER)",
            "child": f"CAST(cell % {width} AS INTEGER)",
        }
        self.cte(name, {**own, **kept}, f"{name}_cells")

    def raw(self, name: str, text: str) -> None:
        """Add a common table expression that is already written."""
        self._steps[name] = text

    def finish(self, columns: Sequence[str], source: str | None = None) -> str:
        """Return the whole text."""
        answers = _Step({str(i): how for i, how in enumerate(columns)}, source or self.last)
        steps = self._needed(answers.names())
        parts = [f"{name} AS{self._fence(name)} (\n  {text}\n)" for name, text in steps.items()]
        listed = ",\n  ".join(columns)
        return f"WITH {', '.join(parts)}\nSELECT\n  {listed}\nFROM {answers.source}\n"

    def _fence(self, name: str) -> str:
        step = self._steps[name]
        return self.dialect.fence_once if isinstance(step, _Step) and step.once else self.fence

    def _needed(self, needed: set[str]) -> dict[str, str]:
        """Return the steps with only the columns that later steps use."""
        texts = {}
        for name, step in reversed(self._steps.items()):
            if isinstance(step, _Step):
                step = step.only(needed)
                made = set(step.columns) if name in self._chain else set()
                needed = (needed - made) | step.names()
                texts[name] = step.written()
            else:
                texts[name] = step
        return dict(reversed(texts.items()))

    def _go_on(self, name: str) -> None:
        self.last = name
        self._chain.append(name)

    def _unused(self, name: str) -> str:
        names = (name, *(f"{name}_{i}" for i in range(2, len(self._steps) + 3)))
        return next(each for each in names if each not in self._steps)


# A plain name, or a quoted name in which the quotes of the dialect are doubled.
_TABLE_NAME = re.compile(r'"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^."`]+')
_TABLE = re.compile(rf"(?:{_TABLE_NAME.pattern})(?:\.(?:{_TABLE_NAME.pattern}))*")


def _unquoted(name: str) -> str:
    quote = name[0]
    return name[1:-1].replace(quote * 2, quote) if quote in '"`' else name


@dataclass(frozen=True)
class Own:
    """Which of the table's own columns come along: all, none, or those named."""

    table: str
    keep: bool | Sequence[str]
    dialect: Dialect

    def __post_init__(self) -> None:
        if isinstance(self.keep, str):
            raise ParameterError(
                f"keep is {self.keep!r}; expected True, False or a list of names, such as [{self.keep!r}]"
            )
        if self.keep is True and not (self.dialect.has_records or self.dialect.has_row_numbers):
            raise ParameterError(
                f"keep is True, but {self.dialect.name} cannot select all columns of the table; list the columns to "
                "keep, keep=['id'], or pass keep=False"
            )

    @property
    def source(self) -> str:
        """The table as the query reads it: quoted names with dots between them, or a query in parentheses as it is."""
        if self.table.lstrip().startswith("("):
            return self.table
        if not _TABLE.fullmatch(self.table):
            raise ParameterError(
                f"table is {self.table!r}; expected a table name, optionally qualified with dots (in double quotes if "
                "it contains a dot or a quote), or a query in parentheses"
            )
        return ".".join(self.dialect.name_of(_unquoted(name)) for name in _TABLE_NAME.findall(self.table))

    def columns(self) -> dict[str, str]:
        """Return the columns that the first step reads, under short names."""
        if isinstance(self.keep, bool):
            return {"own": self.dialect.record(ROWS)} if self.keep else {}
        return {f"own{i}": f"{ROWS}.{self.dialect.name_of(name)}" for i, name in enumerate(self.keep)}

    def finish(self, query: Query, answers: dict[str, str]) -> str:
        """Return the query with the table's own columns followed by the predictions."""
        listed = [f"{expression} AS {self.dialect.name_of(title)}" for title, expression in answers.items()]
        if self.keep is True and not self.dialect.has_records:
            # The names of the table's columns must not matter.
            query.step("answers", {f"a{i}": expression for i, expression in enumerate(answers.values())})
            listed = [f"answers.a{i} AS {self.dialect.name_of(title)}" for i, title in enumerate(answers)]
            rows = f"answers JOIN {self.source} AS {ROWS} ON {self.dialect.record(ROWS)} = answers.own"
            return query.finish([f"{ROWS}.*", *listed], rows)
        if isinstance(self.keep, bool):
            return query.finish([self.dialect.spread("own"), *listed] if self.keep else listed)
        own = [f"own{i} AS {self.dialect.name_of(name)}" for i, name in enumerate(self.keep)]
        return query.finish([*own, *listed])


# Maximum number of branches that are tested in sequence; more are bisected first.
_FEW = 8
# Maximum number of terms in a flat sum: SQLite limits the depth of expressions.
_TERMS = 100
# Below this, exponentials underflow to 0, which is an error in PostgreSQL.
_VANISHING = -700.0


def total(terms: Sequence[str]) -> str:
    """Return a sum; 0 for no terms. Empty terms add nothing.

    >>> total(["a", "", "b"]), total([])
    ('a + b', '0.0')
    """
    terms = [term for term in terms if term]
    if len(terms) <= _TERMS:
        return " + ".join(terms) or "0.0"
    parts = [terms[i : i + _TERMS] for i in range(0, len(terms), _TERMS)]
    return total([f"({total(part)})" for part in parts])


def affine(weights: Floats, names: Sequence[str], constant: float, dialect: Dialect) -> str:
    """Return constant + Σ weight · name, without terms of weight 0.

    >>> import numpy as np
    >>> affine(np.array([0.5, 0.0]), ["x0", "x1"], 2.0, Dialect())
    '2.0e0 + 0.5e0 * x0'
    """
    terms = [f"{dialect.number(w)} * {name}" for w, name in zip(weights.tolist(), names, strict=True) if w]
    return total([dialect.first_number(constant), *terms])


def exponential(number: str, dialect: Dialect) -> str:
    """e to the power of a name, down to 0."""
    return f"CASE WHEN {number} < {dialect.number(_VANISHING)} THEN {dialect.first_number(0)} ELSE EXP({number}) END"


def log_of_one_plus_exp(number: str, dialect: Dialect) -> str:
    """log(1 + e^x) of a name, without overflow."""
    tail = exponential(f"-ABS({number})", dialect)
    return f"({dialect.greatest([number, '0.0'])} + LN(1.0 + {tail}))"


def clipped(number: str, limit: float, dialect: Dialect) -> str:
    """Return a number, which must not be NULL, clipped to ± limit."""
    return clipped_between(number, -limit, limit, dialect)


def clipped_between(number: str, low: float, high: float, dialect: Dialect) -> str:
    """Return a number, which must not be NULL, clipped to a range."""
    return dialect.least([dialect.greatest([number, dialect.number(low)]), dialect.number(high)])


def picked(code: str, values: Floats, dialect: Dialect) -> str:
    """Return the value of a code, which starts at 0.

    >>> import numpy as np
    >>> picked("c0", np.array([0.5, 0.25]), Dialect())
    'CASE c0 WHEN 0 THEN 0.5e0 ELSE 0.25e0 END'
    """
    leaves = [dialect.number(value) for value in values.tolist()]
    first = [dialect.first_number(value) for value in values.tolist()]

    def flat(begin: int, end: int) -> str:
        branches = [f"WHEN {i} THEN {(first if i == begin else leaves)[i]}" for i in range(begin, end - 1)]
        return f"CASE {code} {' '.join(branches)} ELSE {leaves[end - 1]} END" if branches else first[begin]

    return _halved(len(leaves), flat, lambda middle: f"{code} < {middle}")


def place_among(number: str, cuts: Floats, dialect: Dialect) -> str:
    """Return the number of ascending cuts that are at most a number.

    >>> import numpy as np
    >>> place_among("x0", np.array([1.5, 2.5]), Dialect())
    'CASE WHEN x0 < 1.5e0 THEN 0 WHEN x0 < 2.5e0 THEN 1 ELSE 2 END'
    """
    ends = [dialect.number(cut) for cut in cuts.tolist()]

    def flat(begin: int, end: int) -> str:
        branches = [f"WHEN {number} < {ends[i]} THEN {i}" for i in range(begin, end - 1)]
        return f"CASE {' '.join(branches)} ELSE {end - 1} END" if branches else str(begin)

    return _halved(len(ends) + 1, flat, lambda middle: f"{number} < {ends[middle - 1]}")


def _halved(n: int, flat: Callable[[int, int], str], below: Callable[[int], str]) -> str:
    """Return a case expression; many cases are halved by comparing with the middle (``below``)."""

    def part(begin: int, end: int) -> str:
        if end - begin <= _FEW:
            return flat(begin, end)
        middle = (begin + end) // 2
        return f"CASE WHEN {below(middle)} THEN {part(begin, middle)} ELSE {part(middle, end)} END"

    return part(0, n)
