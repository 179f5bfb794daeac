"""Views of all numbers together as expressions of points."""

from __future__ import annotations

from ...kernels.data import Floats
from ...model.views.covariance import Covariance, Factor
from .dialects import Dialect
from .expressions import affine, square, total
from .looks import Looks


def covariance_scores(view: Covariance, looks: Looks) -> list[str]:
    """Of each class: constant - ½ (log |Ψ| + ν log(1 + shrink |x whitening|²))."""
    names, means = looks.coordinates(view.coordinates), view.means
    return [
        _log_density(view, k, factor, means[k], names, looks.cells.dialect) for k, factor in enumerate(view.factors)
    ]


def _log_density(view: Covariance, k: int, factor: Factor, mean: Floats, names: list[str], dialect: Dialect) -> str:
    size = view.size(float(view.moments.weight[k]))
    white = zip(factor.whitening.T, (-mean @ factor.whitening).tolist(), strict=True)
    away = total([square(affine(weights, names, constant, dialect)) for weights, constant in white])
    constant = float(size.constant) - 0.5 * factor.log_determinant
    tail = f"{dialect.number(0.5 * float(size.freedom))} * LN(1.0 + {dialect.number(float(size.shrink))} * ({away}))"
    return f"{dialect.number(constant)} - {tail}"
