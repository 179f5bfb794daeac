"""log p(x | class) of models of one family as expressions, a list of them with one for each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...data.categories import Lookup
from ...exceptions import ParameterError
from ...families.categorical_likelihood import CategoricalLikelihood
from ...families.elliptic import EllipticLikelihood
from ...families.linear import LinearLikelihood, Score
from ...families.normal import GaussianLikelihood
from ...families.student import StudentLikelihood, student_table
from ...kernels.layouts import Floats
from .cells import Cells, Labelled
from .codes import Codes
from .dialects import Dialect
from .expressions import picked, total


class Scores(NamedTuple):
    """Of each class: the score, and the coefficients of what outgrows it where probabilities are 0."""

    finite: list[str]
    limits: tuple[list[str], ...] = ()


def family_scores(likelihood: Any, offset: Floats, columns: Sequence[int], cells: Cells, codes: Codes) -> Scores:
    """Of some columns under a model of one family; ``offset`` is added to the scores."""
    if isinstance(likelihood, LinearLikelihood):
        return _linear(likelihood, offset, columns, cells)
    if isinstance(likelihood, GaussianLikelihood):
        return _normal(likelihood, offset, columns, cells)
    if isinstance(likelihood, StudentLikelihood):
        terms = student_terms(likelihood, list(map(cells.number, columns)), cells.dialect)
        return Scores(_added_up(terms, offset, cells.dialect))
    if isinstance(likelihood, CategoricalLikelihood):
        return _categorical(likelihood, offset, columns, cells, codes)
    if isinstance(likelihood, EllipticLikelihood):
        raise ParameterError(
            "the columns of a 'multivariate_normal' have a distribution of their own for each set of missing cells, "
            "which no query has room for; model them one by one, columns={'numbers': 'gaussian'}"
        )
    raise ParameterError(
        "estimate='predictive' makes the scores of counts a matter of the gamma function, which few databases have; "
        "choose estimate='mean'"
    )


def _added_up(terms: list[list[str]], offset: Floats, dialect: Dialect) -> list[str]:
    """From ``(columns, classes)`` the sums of each class."""
    return [total([dialect.first_number(o), *(own[k] for own in terms)]) for k, o in enumerate(offset.tolist())]


def _linear(likelihood: LinearLikelihood, offset: Floats, columns: Sequence[int], cells: Cells) -> Scores:
    threshold = likelihood.threshold
    if threshold is not None:
        names = [cells.flag(j, threshold) for j in columns]
    else:
        _, absent = likelihood.finite.dense()
        names = list(map(cells.filled if absent is None else cells.number, columns))
    finite = linear_scores(likelihood.finite, offset, names, cells.dialect)
    if likelihood.order is None:
        return Scores(finite)
    return Scores(finite, (linear_scores(likelihood.order, np.zeros_like(offset), names, cells.dialect),))


def linear_scores(score: Score, offset: Floats, names: list[str], dialect: Dialect) -> list[str]:
    """Σ weight · cell of each class; a missing cell adds what it says, if anything."""
    weights, absent = score.dense()
    rows = zip(weights, np.zeros_like(weights) if absent is None else absent, score.base + offset, strict=True)
    return [total([dialect.first_number(base), *_products(w, a, names, dialect)]) for w, a, base in rows]


def _products(weights: Floats, absent: Floats, names: list[str], dialect: Dialect) -> list[str]:
    cells = zip(weights.tolist(), absent.tolist(), names, strict=True)
    return [f"COALESCE({dialect.number(w)} * {name}, {dialect.number(a)})" for w, a, name in cells if w or a]


def _normal(likelihood: GaussianLikelihood, offset: Floats, columns: Sequence[int], cells: Cells) -> Scores:
    dialect, names = cells.dialect, list(map(cells.number, columns))
    finite = _added_up(normal_terms(likelihood, names, dialect), offset, dialect)
    if not likelihood.is_limit:
        return Scores(finite)
    point, center = likelihood.point, likelihood.center
    far, high = [], []
    for k in range(len(point)):
        own = [(names[j], dialect.number(center[k, j])) for j in np.flatnonzero(point[k])]
        far.append(total([f"COALESCE(-({x} - {m}) * ({x} - {m}), 0.0)" for x, m in own]))
        high.append(total([f"CASE WHEN {x} IS NULL THEN {dialect.first_number(0)} ELSE 0.5 END" for x, _ in own]))
    return Scores(finite, (far, high))


def normal_terms(likelihood: GaussianLikelihood, names: list[str], dialect: Dialect) -> list[list[str]]:
    """-½ log 2πσ² - (x - μ)² / 2σ² of each column and class; 0 where the cell is missing."""
    parts = likelihood.constant, likelihood.spread, likelihood.center
    return [
        [_normal_term(name, [part[k, j] for part in parts], dialect) for k in range(len(likelihood.mean))]
        for j, name in enumerate(names)
    ]


def _normal_term(name: str, numbers: list[float], dialect: Dialect) -> str:
    constant, spread, center = map(dialect.number, numbers)
    return f"COALESCE({constant} - {spread} * ({name} - {center}) * ({name} - {center}), 0.0)"


def student_terms(likelihood: StudentLikelihood, names: list[str], dialect: Dialect) -> list[list[str]]:
    """The logarithm of Student's t of each column and class; 0 where the cell is missing."""
    table = student_table(likelihood.table)
    return [
        [_student_term(name, [part[k, j] for part in table], dialect) for k in range(len(table.location))]
        for j, name in enumerate(names)
    ]


def _student_term(name: str, numbers: list[float], dialect: Dialect) -> str:
    location, spread, power, constant = map(dialect.number, numbers)
    tail = f"LN(1.0 + {spread} * ({name} - {location}) * ({name} - {location}))"
    return f"COALESCE({constant} - {power} * {tail}, 0.0)"


def _categorical(
    likelihood: CategoricalLikelihood, offset: Floats, columns: Sequence[int], cells: Cells, codes: Codes
) -> Scores:
    finite, order = [], []
    for j, (look, theta) in zip(columns, likelihood.columns, strict=True):
        found = Labelled(cells.code(j), []) if look.direct else cells.labelled(j, look.labels.tolist())
        # After the slots of values comes that of all others, and then one for missing cells.
        places = range(len(found.labels))
        code = codes.of_labels(f"c{j}", found, places, look.size + 1, _elsewhere(look, found.cell))
        finite.append(_picks(code, theta.finite, cells.dialect))
        order.append(_picks(code, np.zeros_like(theta.finite) if theta.order is None else -theta.order, cells.dialect))
    scores = _added_up(finite, offset, cells.dialect)
    if not likelihood.is_limit:
        return Scores(scores)
    return Scores(scores, (_added_up(order, np.zeros_like(offset), cells.dialect),))


def _elsewhere(look: Lookup, cell: str) -> str:
    """The slot of a value that is no label: whole numbers within a range have one, or one each."""
    if not look.range_end:
        return str(look.size)
    slot = f"CAST({cell} AS INTEGER)" if look.direct else str(len(look.labels))
    inside = f"{cell} >= 0 AND {cell} < {look.range_end} AND {cell} = FLOOR({cell})"
    return f"CASE WHEN {inside} THEN {slot} ELSE {look.size} END"


def _picks(code: str, table: Floats, dialect: Dialect) -> list[str]:
    """What a code adds to the score of each class, from ``(classes, slots)``; a missing cell adds nothing."""
    return [picked(code, np.append(row, 0.0), dialect) for row in table]
