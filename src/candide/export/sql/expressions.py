"""Parts of queries that are numbers, as texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...kernels.layouts import Floats
from .dialects import Dialect

# Branches that are tried one after the other; more are halved first.
_FEW = 8
# Terms of a sum side by side: deeper sums are too deep for SQLite.
_TERMS = 100
# Below this, exponentials are 0, which PostgreSQL takes for an error.
_VANISHING = -700.0


def total(terms: Sequence[str]) -> str:
    """A sum; of nothing, 0.

    >>> total(["a", "b"]), total([])
    ('a + b', '0.0')
    """
    if len(terms) <= _TERMS:
        return " + ".join(terms) or "0.0"
    parts = [terms[i : i + _TERMS] for i in range(0, len(terms), _TERMS)]
    return total([f"({total(part)})" for part in parts])


def affine(weights: Floats, names: Sequence[str], constant: float, dialect: Dialect) -> str:
    """constant + Σ weight · name; what has no weight is left out.

    >>> import numpy as np
    >>> affine(np.array([0.5, 0.0]), ["x0", "x1"], 2.0, Dialect())
    '2.0e0 + 0.5e0 * x0'
    """
    terms = [f"{dialect.number(w)} * {name}" for w, name in zip(weights.tolist(), names, strict=True) if w]
    return total([dialect.first_number(constant), *terms])


def square(number: str) -> str:
    """The square of an expression that is written once."""
    return f"POWER({number}, 2)"


def exponential(number: str, dialect: Dialect) -> str:
    """e to the power of a name, down to 0."""
    return f"CASE WHEN {number} < {dialect.number(_VANISHING)} THEN {dialect.first_number(0)} ELSE EXP({number}) END"


def log_of_one_plus_exp(number: str, dialect: Dialect) -> str:
    """log(1 + e^x) of a name, without overflow."""
    beside = exponential(f"-ABS({number})", dialect)
    return f"({dialect.greatest([number, '0.0'])} + LN(1.0 + {beside}))"


def clipped(number: str, limit: float, dialect: Dialect) -> str:
    """A number that is not NULL, moved to within ± limit."""
    return clipped_between(number, -limit, limit, dialect)


def clipped_between(number: str, low: float, high: float, dialect: Dialect) -> str:
    """A number that is not NULL, moved to between two ends."""
    return dialect.least([dialect.greatest([number, dialect.number(low)]), dialect.number(high)])


def picked(code: str, values: Floats, dialect: Dialect) -> str:
    """The value that belongs to a code, which counts from 0.

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
    """How many of the cuts, which ascend, are not above a number.

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
    """Few cases one by one; of more, first whether the case is ``below`` the middle."""

    def part(begin: int, end: int) -> str:
        if end - begin <= _FEW:
            return flat(begin, end)
        middle = (begin + end) // 2
        return f"CASE WHEN {below(middle)} THEN {part(begin, middle)} ELSE {part(middle, end)} END"

    return part(0, n)
