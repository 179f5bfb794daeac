"""Plots of models and of the concepts behind them, drawn with matplotlib (``pip install 'candide[plot]'``).

Each function draws on the given axes (``ax=``, or ``axes=`` if there are several) or on new ones, and returns a
``Display`` with the plotted values.

>>> import candide.plot
>>> from candide.priors import Beta
>>> shown = candide.plot.posterior(Beta(2, 2), Beta(2, 2).posterior(on=7, off=3))
>>> shown.ax.get_xlabel(), round(shown.numbers["MAP"], 3)
('probability φ', 0.667)
"""

from importlib import import_module

from ..exceptions import MissingPackage

try:
    import_module("matplotlib")
except ModuleNotFoundError as error:
    raise MissingPackage(
        "candide.plot requires matplotlib, which is not installed; install it with pip install 'candide[plot]'"
    ) from error

from .concepts import bayes_theorem, independence, smoothing
from .contributions import column_weights, waterfall
from .decision_regions import decision_regions
from .densities import densities
from .evaluation import confusion, learning_curve, reliability, risk_coverage
from .nomogram import nomogram
from .posterior import posterior
from .style import Display
from .tokens import token_scatter, word_shift

__all__ = [
    "Display",
    "bayes_theorem",
    "column_weights",
    "confusion",
    "decision_regions",
    "densities",
    "independence",
    "learning_curve",
    "nomogram",
    "posterior",
    "reliability",
    "risk_coverage",
    "smoothing",
    "token_scatter",
    "waterfall",
    "word_shift",
]


def __dir__() -> list[str]:
    """Return the names of the plots."""
    return [name for name in __all__ if name != "Display"]
