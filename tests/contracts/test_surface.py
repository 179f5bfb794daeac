"""The public names of the estimators, each of which is documented, and the classes that they inherit from."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin
from tiers import every

import candide

ALL = {
    "adapt_class_prior", "calibration_", "cross_val_log_proba", "decide", "discount", "evaluate", "explain", "forget",
    "leave_one_out", "loo_", "merge", "n_parameters_", "parameters", "predict_set", "prior_", "refit", "report",
    "sample", "save", "staleness_", "to_js", "to_json", "to_onnx", "to_sklearn", "to_sql", "what_if",
    "with_class_prior",
}  # fmt: skip
MADE = {"from_counts", "from_parameters"}
OWN = {
    "BernoulliNB": ALL | MADE,
    "CategoricalNB": ALL | MADE | {"categories_"},
    "ComplementNB": ALL | MADE,
    "GaussianNB": ALL | MADE,
    "MultinomialNB": ALL | MADE,
    "NaiveBayes": ALL | {"schema_", "summary"},
    "PoissonNB": ALL | MADE | {"rate_"},
    "TextNB": ALL
    | {"compact", "prune", "pruned_", "summary", "token_count_", "top_features", "unlabeled_"}
    | {"vocabulary_"},
}


def surface() -> Any:
    path = Path(__file__).parents[2] / "tools" / "surface.py"
    spec = importlib.util.spec_from_file_location("surface", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@every("name", OWN)
def test_public_names(name: str) -> None:
    kind, tool = getattr(candide, name), surface()
    own = tool.public(kind) - tool.scikit_learn_names(kind)
    assert own == OWN[name]
    assert len(own) <= 35
    for one in own:
        assert inspect.getdoc(inspect.getattr_static(kind, one)), one


@every("name", OWN)
def test_classes(name: str) -> None:
    """At most two of ours besides the estimator itself, and scikit-learn's base classes."""
    kind = getattr(candide, name)
    ours = [base for base in kind.__mro__[1:] if base.__module__.startswith("candide")]
    assert len(ours) <= 2
    assert issubclass(kind, (ClassifierMixin, BaseEstimator))
