"""What is believed before data: conjugate priors. A posterior is a prior of the same class."""

from .base import ESTIMATES, Estimate, Prior
from .dirichlet import Beta, Dirichlet
from .gamma import Gamma
from .log_probability import (
    LogProbability,
    above_zero,
    largest,
    log_of_wholes,
    log_rising,
    log_share,
    parts_of,
    pseudo_count,
)
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
