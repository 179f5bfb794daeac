"""Views of all numbers together as expressions of points."""

from __future__ import annotations

import numpy as np

from ...kernels.layouts import Floats
from ...stacking.covariance import CholeskyFactor, Covariance, marginal_patterns
from .binned_columns import BinnedColumns
from .dialects import Dialect
from .expressions import affine, square, total


def covariance_scores(view: Covariance, binned: BinnedColumns) -> list[str]:
    """Of each class: constant - ½ (log |Ψ| + ν log(1 + shrink |x whitening|²)).

    Rows that lack columns have the distribution of the others, for each set of columns one of its own, as many as
    ``marginal_patterns`` allows for; NULL for rows that lack others.
    """
    names = binned.coordinates(view.coordinates)
    lacks = [binned.lacks(i) for i in view.coordinates.code_columns(binned.numbers).tolist()]
    patterns = marginal_patterns(view.moments.scatter.size, np.array([name is not None for name in lacks]))
    whole = _scores(view, names, binned.cells.dialect)
    if all(name is None for name in lacks):
        return whole
    first = f"WHEN {total([name for name in lacks if name is not None])} = 0 THEN"
    cases: list[list[str]] = [[f"{first} {score}"] for score in whole]
    for given in patterns[1:]:
        own = [f"{name} = {int(not there)}" for name, there in zip(lacks, given, strict=True) if name is not None]
        some = [name for name, there in zip(names, given, strict=True) if there]
        nothing = [binned.cells.dialect.first_number(0)] * len(whole)
        scores = _scores(view.marginal(given), some, binned.cells.dialect) if some else nothing
        for case, score in zip(cases, scores, strict=True):
            case.append(f"WHEN {' AND '.join(own)} THEN {score}")
    return [f"CASE {' '.join(case)} END" for case in cases]


def _scores(view: Covariance, names: list[str], dialect: Dialect) -> list[str]:
    means = view.means
    return [_log_density(view, k, factor, means[k], names, dialect) for k, factor in enumerate(view.factors)]


def _log_density(
    view: Covariance, k: int, factor: CholeskyFactor, mean: Floats, names: list[str], dialect: Dialect
) -> str:
    size = view.size(float(view.moments.weight[k]))
    white = zip(factor.whitening.T, (-mean @ factor.whitening).tolist(), strict=True)
    away = total([square(affine(weights, names, constant, dialect)) for weights, constant in white])
    constant = float(size.constant) - 0.5 * factor.log_determinant
    tail = f"{dialect.number(0.5 * float(size.freedom))} * LN(1.0 + {dialect.number(float(size.shrink))} * ({away}))"
    return f"{dialect.number(constant)} - {tail}"
