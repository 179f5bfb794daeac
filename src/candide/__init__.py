"""candide: naive Bayes, whole. Exact, additive and fast.

A naive Bayes model is a set of summaries that can be added. Learning adds summaries; predicting reads them.

>>> from candide import GaussianNB
>>> GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]).predict([[1.4]])
array(['low'], dtype='<U4')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .databases import fit_sql
    from .estimators import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        MultinomialNB,
        NaiveBayes,
        PoissonNB,
        TextNB,
        from_sklearn,
    )
    from .learners import from_json, load, merge, select
    from .sources import read
    from .storage import locked

__version__ = "0.1.0"

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
    "PoissonNB",
    "TextNB",
    "__version__",
    "fit_sql",
    "from_json",
    "from_sklearn",
    "load",
    "locked",
    "merge",
    "read",
    "select",
]


# Where public names are, but for the estimators.
_ROOMS = {
    "fit_sql": ".databases",
    "from_json": ".learners",
    "load": ".learners",
    "locked": ".storage",
    "merge": ".learners",
    "read": ".sources",
    "select": ".learners",
}


def __getattr__(name: str) -> Any:
    # Loaded when first used: the estimators need scikit-learn and sources need pyarrow, `import candide` neither
    # (PEP 562).
    if name in __all__:
        value = getattr(import_module(_ROOMS.get(name, ".estimators"), __name__), name)
        globals()[name] = value
        return value
    if name in ("datasets", "exceptions", "families", "kernels", "plot", "priors", "sources", "statistics"):
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
