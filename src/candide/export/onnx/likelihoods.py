"""log p(x | class) of rows of numbers, ``(rows, columns)`` with NaN where a cell is missing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...exceptions import ParameterError
from ...families.elliptic import EllipticLikelihood
from ...families.linear import LinearLikelihood, Score
from ...families.negative_binomial import NegativeBinomialLikelihood
from ...families.normal import GaussianLikelihood
from ...families.polya import PolyaLikelihood
from ...families.student import StudentLikelihood, student_table
from ...kernels.layouts import Floats
from .elliptic import elliptic_scores
from .tensor import Tensor, filled

# log Γ(z) = (z - ½) log z - z + ½ log 2π + Σ of these over z, z³, z⁵, …: to the last digit from 8 on.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_LARGE = 8


class Scored(NamedTuple):
    """Scores, ``(rows, classes)``, and coefficients of the terms that outgrow all others."""

    finite: Tensor
    limits: list[Tensor]


def scored(likelihood: Any, x: Tensor) -> Scored:
    """What a likelihood says of rows, without the class prior; terms that all classes share may be left out."""
    if isinstance(likelihood, LinearLikelihood):
        scores = [score for score in (likelihood.finite, likelihood.order) if score is not None]
        finite, *limits = (_linear(score, x, likelihood.threshold) for score in scores)
        return Scored(finite, limits)
    if type(likelihood) not in _CURVED:
        raise ParameterError(f"a {type(likelihood).__name__} has no graph of ONNX; leave such columns out")
    made: Scored = _CURVED[type(likelihood)](likelihood, x)
    return made


def _linear(score: Score, x: Tensor, threshold: float | None) -> Tensor:
    weights, absent = score.dense()
    cells = filled(x) if threshold is None else (x > threshold).of_type(np.float64)
    out = cells @ np.ascontiguousarray(weights.T) + score.base
    if absent is None or not absent.any():
        return out
    return out + x.is_nan().of_type(np.float64) @ np.ascontiguousarray(absent.T)


def _gaussian(likelihood: GaussianLikelihood, x: Tensor) -> Scored:
    squares = (x.with_axis(1) - likelihood.center).square()
    finite = _added_up(likelihood.constant - squares * likelihood.spread, x)
    if not likelihood.is_limit:
        return Scored(finite, [])
    point = likelihood.point.astype(np.float64)
    far = _added_up(-(squares * point), x)
    return Scored(finite, [far, (1.0 - x.is_nan().of_type(np.float64)) @ np.ascontiguousarray(point.T / 2)])


def _student(likelihood: StudentLikelihood, x: Tensor) -> Scored:
    location, spread, power, constant = student_table(likelihood.table)
    squares = (x.with_axis(1) - location).square()
    return Scored(_added_up(constant - (squares * spread + 1.0).log() * power, x), [])


def _added_up(cells: Tensor, x: Tensor) -> Tensor:
    """Sums over columns, ``(rows, classes, columns)``, without missing cells."""
    return x.is_nan().with_axis(1).where(0.0, cells).sum(2)


def _elliptic(likelihood: EllipticLikelihood, x: Tensor) -> Scored:
    return Scored(elliptic_scores(likelihood, x), [])


def _polya(likelihood: PolyaLikelihood, x: Tensor) -> Scored:
    count = filled(x)
    each = _log_rising(likelihood.start, count.with_axis(1)).sum(2)
    return Scored(each - _log_rising(likelihood.whole, count.sum(1, keep=True)), [])


def _negative_binomial(likelihood: NegativeBinomialLikelihood, x: Tensor) -> Scored:
    start, exposure = likelihood.start, likelihood.exposure
    count = x.with_axis(1)
    cells = _log_rising(start, count) - count * np.log1p(exposure) - start * np.log1p(1 / exposure)
    return Scored(_added_up(cells, x), [])


def _log_rising(start: Floats, steps: Tensor) -> Tensor:
    """log Γ(start + steps) / Γ(start), both by one formula, so that no steps give 0."""
    return _log_gamma(steps + start) - _log_gamma(steps.graph.tensor(start))


def _log_gamma(z: Tensor) -> Tensor:
    """Γ(z) = Γ(z + 8) / (z (z + 1) … (z + 7)), and Stirling's formula for the former."""
    product = z
    for step in range(1, _LARGE):
        product = product * (z + float(step))
    large = z + float(_LARGE)
    inverse = 1.0 / large
    square = inverse.square()
    series = square * _STIRLING[-1] + _STIRLING[-2]
    for term in reversed(_STIRLING[:-2]):
        series = square * series + term
    return (large - 0.5) * large.log() - large + 0.5 * float(np.log(2 * np.pi)) + inverse * series - product.log()


_CURVED: dict[type, Any] = {
    EllipticLikelihood: _elliptic,
    GaussianLikelihood: _gaussian,
    StudentLikelihood: _student,
    PolyaLikelihood: _polya,
    NegativeBinomialLikelihood: _negative_binomial,
}
