"""Conjugate priors. A posterior is an object of the same class as its prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names
from .base import (
    ESTIMATES,
    Estimate,
    LogProbability,
    Prior,
    above_zero,
    largest,
    log_of_wholes,
    log_rising,
    log_share,
    parts_of,
    pseudo_count,
)
from .dirichlet import Beta, Dirichlet

if TYPE_CHECKING:
    from .gamma import Gamma
    from .normal import MeanVariance, Normal, NormalInverseGamma, NormalInverseWishart

__all__ = [
    "ESTIMATES",
    "Beta",
    "Dirichlet",
    "Estimate",
    "Gamma",
    "LogProbability",
    "MeanVariance",
    "Normal",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "Prior",
    "above_zero",
    "largest",
    "log_of_wholes",
    "log_rising",
    "log_share",
    "parts_of",
    "pseudo_count",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Gamma": "gamma",
        "MeanVariance": "normal",
        "Normal": "normal",
        "NormalInverseGamma": "normal",
        "NormalInverseWishart": "normal",
    },
)
