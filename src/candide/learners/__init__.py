"""Everything a user does with a model, without scikit-learn: parameters, verbs, checks of what comes in."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .algebra import merge
    from .bernoulli import BernoulliNB
    from .categorical import CategoricalNB
    from .complement import ComplementNB
    from .gaussian import GaussianNB
    from .multinomial import MultinomialNB
    from .poisson import PoissonNB
    from .selection import select
    from .storing import from_json, load
    from .table import NaiveBayes
    from .text import TextNB

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
    "PoissonNB",
    "TextNB",
    "from_json",
    "load",
    "merge",
    "select",
]

_MODULES = {
    "BernoulliNB": ".bernoulli",
    "CategoricalNB": ".categorical",
    "ComplementNB": ".complement",
    "GaussianNB": ".gaussian",
    "MultinomialNB": ".multinomial",
    "NaiveBayes": ".table",
    "PoissonNB": ".poisson",
    "TextNB": ".text",
    "from_json": ".storing",
    "load": ".storing",
    "merge": ".algebra",
    "select": ".selection",
}


def __getattr__(name: str) -> Any:
    # Loaded when first used: a model from a file is of one kind.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value
