"""candide: a complete naive Bayes toolkit.

A naive Bayes model is a set of sums over rows: training adds to the sums, and prediction reads them.

>>> from candide import GaussianNB
>>> GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]).predict([[1.4]])
array(['low'], dtype='<U4')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        MultinomialNB,
        NaiveBayes,
        PoissonNB,
        TextNB,
        from_json,
        from_sklearn,
        load,
        merge,
        select,
    )
    from .sources import fit_sql, read
    from .storage.atomic_write import locked

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


# Packages of the public names that are not in ``estimators``.
_PACKAGES = {"fit_sql": ".sources", "locked": ".storage.atomic_write", "read": ".sources"}

# Packages and modules that need no import of their own.
_MODULES = (
    "datasets", "diagnostics", "exceptions", "families", "kernels", "plot", "priors", "sources", "spark", "statistics"
)  # fmt: skip


def __getattr__(name: str) -> Any:
    # Imported when first used (PEP 562): the estimators need scikit-learn and sources need pyarrow.
    if name in __all__:
        value = getattr(import_module(_PACKAGES.get(name, ".estimators"), __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
