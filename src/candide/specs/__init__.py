"""The parameters of each estimator, checked and resolved to columns, without scikit-learn."""

from __future__ import annotations

from importlib import import_module

from .base import BoundSpec, Spec
from .class_prior import ClassPrior

__all__ = ["SPECS", "BoundSpec", "ClassPrior", "Spec", "spec_class"]

# Modules by the name of the estimator. Each is imported when first used.
SPECS = {
    "BernoulliNB": "discrete",
    "CategoricalNB": "discrete",
    "ComplementNB": "discrete",
    "GaussianNB": "gaussian",
    "MultinomialNB": "discrete",
    "NaiveBayes": "table",
    "PoissonNB": "discrete",
    "TextNB": "text",
}


def spec_class(name: str) -> type[Spec]:
    """Return the class of the parameters of an estimator, by the name of the estimator."""
    module = import_module(f".{SPECS[name]}", __name__)
    found: type[Spec] = next(one for one in vars(module).values() if getattr(one, "name", None) == name)
    return found
