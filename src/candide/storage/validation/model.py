"""Checks of a whole model: bound spec, state, fitted parts, and what its estimator stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.index import label_type
from ...families.base import is_table
from ...families.text import TextFamily
from ...kernels.layouts import Floats
from ...kernels.tokens import Names
from ...model.classifier import Classifier
from ...model.fitted import Fitted
from ...model.state import State
from ...model.table import Table
from ...specs import BoundSpec, ClassPrior
from ...stacking.calibration import METHODS
from ...stacking.token_views import StackedTokenViews
from ..errors import require
from ..registry import matches_type, name_of, stand_in
from . import are_weights, check_calibration, is_budget
from .statistics import are_shares, check_family, check_labels, check_sample
from .texts import check_refinement, check_texts, check_token_views

if TYPE_CHECKING:
    from ...model.evaluation import Evaluation
    from ..content import Content

# Estimators, and the names of their families in files.
KINDS = {
    "BernoulliNB": "bernoulli family",
    "CategoricalNB": "categorical family",
    "ComplementNB": "complement family",
    "GaussianNB": "gaussian family",
    "MultinomialNB": "multinomial family",
    "NaiveBayes": "table family",
    "PoissonNB": "poisson family",
    "TextNB": "text family",
}
_PARTS: dict[str, Any] = {
    "plan": BoundSpec,
    "state": State,
    "blend": Fitted | None,
    "report": stand_in("report") | None,
    "token_names": Names,
    "importance": Table | None,
    "n_features": int,
    "feature_names": tuple[str, ...] | None,
    "schema": dict[str, Any] | None,
    "unlabelled": stand_in("unlabelled") | None,
    "given": bool,
    "roles": dict[str, Any] | None,
    "note": dict[str, Any] | None,
    "copies": Floats | None,
    "missing": tuple[str, ...] | None,
}
# Parts that the first files did not have, or that not every file has.
_OPTIONAL = {"importance", "copies", "missing"}
_ROLES: dict[str, Any] = {
    "label": str,
    "text": str | None,
    "columns": tuple[str, ...],
    "weight": str | None,
    "groups": str | None,
}
_COLUMN_SPEC: Any = stand_in("wanted")
_BLOCK: Any = stand_in("block")
_SCHEMA: dict[str, Any] = {
    "given": tuple[Any, ...] | None,
    "n_given": int,
    "names": tuple[Any, ...],
    "wanted": tuple[_COLUMN_SPEC, ...],
    "blocks": tuple[_BLOCK, ...],
    "backend": str | None,
    "examples": dict[Any, Any],
    "whole": frozenset[Any],
    "types": dict[Any, tuple[str, str]],
}
# Parts of a schema that the first files did not have.
_OPTIONAL_IN_SCHEMA = {"types"}
_METRICS = {
    "per_class": ("class", "precision", "recall", "f1", "auc", "weight"),
    "reliability": ("confidence", "accuracy", "weight"),
    "risk_coverage": ("coverage", "risk"),
}
_MAX_THREADS = 1 << 10


def check_content(content: Content) -> None:
    """Raise ``InvalidContent`` unless the parts of a model are consistent."""
    require(content.kind in KINDS, f"its kind is {content.kind!r:.40}; expected one of {', '.join(KINDS)}")
    parts = content.parts
    require(parts.keys() | _OPTIONAL == _PARTS.keys(), f"it has unexpected parts: {', '.join(parts)[:200]}")
    for name, hint in _PARTS.items():
        require(matches_type(parts.get(name), hint), f"its part {name!r} is not of the expected type")
    _check_threads(content.settings.get("n_threads"))
    bound_spec, state = parts["plan"], parts["state"]
    require(
        name_of(type(bound_spec.family)) == KINDS[content.kind], f"its bound spec does not belong to a {content.kind}"
    )
    n_columns = _check_state(bound_spec, state)
    _check_bound_spec(bound_spec, state)
    _check_fitted(bound_spec, state, parts["blend"], n_columns)
    _check_columns(parts, n_columns)
    _check_importance(parts.get("importance"), n_columns)
    copies = parts.get("copies")
    require(
        copies is None or (copies.shape == (len(state.classes),) and are_weights(copies)),
        "the numbers of copies of training rows are invalid",
    )
    _check_report(parts["report"], len(state.classes))
    _check_roles(parts["roles"])
    require(_is_plain(parts["note"]), "its note contains values that JSON cannot represent")
    # This validates the prior of the classes.
    Classifier(bound_spec, state)


def _check_importance(found: Table | None, n_columns: int) -> None:
    """Check that importance has two numbers for each column, then for each view."""
    if found is None:
        return
    require(list(found) == ["name", "contribution", "loss"], "the importance of columns has unexpected parts")
    names, *numbers = found.values()
    require(
        all(isinstance(name, str) for name in names.tolist()), "a name in the importance of columns is not a string"
    )
    numeric = all(
        part.dtype == np.float64 and part.shape == names.shape and not np.isinf(part).any() for part in numbers
    )
    require(
        numeric and len(names) >= n_columns, "the importance of columns does not have finite numbers for every column"
    )


def _check_report(report: Evaluation | None, n_classes: int) -> None:
    """Check that evaluation metrics, including the optimistic and the plain ones, are for these classes."""
    if report is None:
        return
    require(report.confusion.shape == (n_classes, n_classes), "its evaluation metrics do not match its classes")
    for name, columns in _METRICS.items():
        found: Table = getattr(report, name)
        # The first files had no auc.
        known = list(columns), [column for column in columns if column != "auc"]
        require(list(found) in known, f"its evaluation metrics have unexpected columns in {name}")
        numbers = [cells for column, cells in found.items() if column != "class"]
        require(
            all(cells.dtype == np.float64 for cells in numbers),
            f"its evaluation metrics have a non-numeric column in {name}",
        )
    require(report.per_class.n_rows == n_classes, "its evaluation metrics do not match its classes")
    _check_report(report.optimistic, n_classes)
    _check_report(report.plain, n_classes)


def _check_threads(n_threads: Any) -> None:
    require(n_threads is None or matches_type(n_threads, int), "the number of threads is not an integer")
    require(n_threads is None or 1 <= n_threads <= _MAX_THREADS, f"{n_threads} is not a valid number of threads")


def _check_state(bound_spec: BoundSpec, state: State) -> int:
    """Check the state, and return the number of columns."""
    labels = state.classes.labels
    check_labels(labels)
    n_classes = len(labels)
    require(
        n_classes > 0 and len(set(map(label_type, labels.tolist()))) == 1,
        "its labels are missing or of different types",
    )
    require(
        state.declared.shape == (n_classes,) and state.declared.dtype == bool,
        "the flags of declared classes are invalid",
    )
    n_columns = _check_statistics(bound_spec.family, state.statistics, n_classes)
    # Deferred rows are checked when they are read.
    if state.sample is not None and name_of(type(state.sample)) is not None:
        check_sample(state.sample, bound_spec.family, n_classes, n_columns)
    return n_columns


def check_deferred_sample(content: Content, sample: Any) -> None:
    """Check training rows that were read after the model."""
    require(matches_type(sample, stand_in("sample")), "the training rows are not a sample")
    bound_spec, state = content.parts["plan"], content.parts["state"]
    n_columns = _check_statistics(bound_spec.family, state.statistics, len(state.classes))
    check_sample(sample, bound_spec.family, len(state.classes), n_columns)


def _check_statistics(family: Any, statistics: Any, n_classes: int) -> int:
    if isinstance(family, TextFamily):
        check_texts(family, statistics, n_classes)
        return 1
    if is_table(family):
        from .tables import check_table

        return check_table(family, statistics, n_classes)
    return check_family(family, statistics, n_classes)


def _refinements(bound_spec: BoundSpec) -> tuple[bool | str, ...]:
    """Return the possible values of ``refine``."""
    if is_table(bound_spec.family):
        return (False, True, "auto") if bound_spec.order == 2 else (False,)
    return (False, True) if isinstance(bound_spec.family, TextFamily) and bound_spec.order is not None else (False,)


def _check_bound_spec(bound_spec: BoundSpec, state: State) -> None:
    n_classes = len(state.classes)
    require(
        bound_spec.calibrate is None or bound_spec.calibrate in METHODS,
        f"calibrate={bound_spec.calibrate!r:.20} is not a valid setting",
    )
    views = is_table(bound_spec.family) or isinstance(bound_spec.family, TextFamily)
    require(
        bound_spec.order in ((None, 0, 1, 2) if views else (None,)), f"order={bound_spec.order} is not a valid setting"
    )
    require(
        bound_spec.refine in _refinements(bound_spec),
        "refine is set for a model that cannot be refined",
    )
    require(
        bound_spec.alpha is None or name_of(type(bound_spec.family)) not in ("gaussian family", "table family"),
        "alpha is set for a model that has none",
    )
    require(bound_spec.budget is None or is_budget(bound_spec.budget), "the budget of the training rows is invalid")
    require(
        bound_spec.target is None or are_shares(bound_spec.target, n_classes),
        "the target shares of classes are invalid",
    )
    _check_threads(bound_spec.n_threads)
    _check_class_prior(bound_spec.prior, n_classes)


def _check_class_prior(prior: ClassPrior, n_classes: int) -> None:
    pseudo = np.asarray(prior.pseudo)
    require(pseudo.shape in ((), (n_classes,)) and are_weights(pseudo), "the pseudo-counts of classes are invalid")
    for given in (prior.given, prior.class_weight):
        if isinstance(given, Mapping):
            require(are_weights(np.array(list(given.values()), dtype=np.float64)), "the weights of classes are invalid")
    require(
        isinstance(prior.given, (Mapping, type(None))) or are_shares(prior.given, n_classes),
        "the prior of the classes is invalid",
    )


def _check_fitted(bound_spec: BoundSpec, state: State, fitted: Fitted | None, n_columns: int) -> None:
    if fitted is None:
        require(
            state.sample is not None or not bound_spec.looks_back,
            "it has neither training rows nor estimates from them",
        )
        return
    n_classes = len(fitted.classes)
    check_labels(fitted.classes.labels)
    require(
        fitted.suits(bound_spec, state) or state.sample is not None, "its fitted parts belong to another bound spec"
    )
    require(fitted.classes == state.classes, "its fitted parts have different classes")
    require(are_weights(np.array([fitted.weight, fitted.changed])), "its fitted parts have an invalid weight")
    _check_alpha(fitted.alpha, bound_spec, n_columns)
    if fitted.calibration is not None:
        check_calibration(fitted.calibration, n_classes)
    for part, setting, what in (
        (fitted.calibration, fitted.bound_spec.calibrate, "calibration does"),
        (fitted.views, fitted.bound_spec.order, "views do"),
    ):
        # A model without rows, after discount(0), has no fitted parts.
        matches = (part is None) == (setting is None) or (part is None and fitted.weight == 0)
        require(matches, f"its {what} not match its bound spec")
    _check_views(fitted, state)


def _check_alpha(alpha: Any, bound_spec: BoundSpec, n_columns: int) -> None:
    require((alpha is None) == (bound_spec.alpha != "loo"), "its pseudo-count does not match its bound spec")
    shaped = alpha is None or np.shape(alpha) in ((), (n_columns,))
    require(shaped and (alpha is None or are_weights(np.asarray(alpha))), "its pseudo-count is invalid")


def _check_views(fitted: Fitted, state: State) -> None:
    family, statistics, n_classes = fitted.bound_spec.family, state.statistics, len(state.classes)
    refined = fitted.bound_spec.refine is True and isinstance(family, TextFamily)
    require((fitted.refinement is not None) == refined, "its refinement does not match its bound spec")
    if isinstance(fitted.views, StackedTokenViews):
        require(isinstance(family, TextFamily), "it has views of texts, but is not a text model")
        assert isinstance(family, TextFamily)
        check_token_views(fitted.views, family, n_classes)
    elif fitted.views is not None:
        from .tables import check_stacked_views

        require(is_table(family), "it has views of a table, but is not a table model")
        assert is_table(family)
        check_stacked_views(fitted.views, family, statistics)
    if fitted.refinement is not None:
        check_refinement(fitted.refinement, n_classes)


def _check_roles(roles: dict[str, Any] | None) -> None:
    """Check the roles of the columns of the source."""
    if roles is None:
        return
    # Files of models without groups lack the name.
    given = {"groups": None, **roles}
    named = given.keys() == _ROLES.keys()
    require(named and all(matches_type(given[name], hint) for name, hint in _ROLES.items()), "its roles are invalid")


def _is_plain(value: Any) -> bool:
    """Return whether a value consists of the types of JSON."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def _check_types(types: dict[Any, tuple[str, str]], given: Sequence[Any]) -> None:
    """Check that types of columns are those of the columns of the input."""
    from ...data.column_types import is_type

    known = all(kind == "missing" or is_type(kind) for kind, _ in types.values())
    require(not types.keys() - set(given) and known, "the types of its columns are invalid")


def _check_columns(parts: dict[str, Any], n_columns: int) -> None:
    """Check that the columns of the estimator are those of the bound spec."""
    n_features, names, schema = parts["n_features"], parts["feature_names"], parts["schema"]
    require(names is None or len(names) == n_features, "the number of column names differs from the number of columns")
    if not is_table(parts["plan"].family):
        require(n_features == n_columns and schema is None, "its columns differ from those of the training data")
        return
    require(schema is not None and schema.keys() | _OPTIONAL_IN_SCHEMA == _SCHEMA.keys(), "its schema is incomplete")
    for name in schema:
        require(
            matches_type(schema[name], _SCHEMA[name]), f"the part {name!r} of its schema is not of the expected type"
        )
    _check_types(schema.get("types", {}), schema["given"] or range(n_features))
    given = schema["given"]
    require(
        schema["n_given"] == n_features and (given is None or len(given) == n_features),
        "its schema and its estimator have different columns",
    )
    family = parts["plan"].family
    same = (schema["names"], len(schema["wanted"])) == (family.names, len(family.names))
    require(same and len(schema["blocks"]) == len(family.blocks), "its columns do not match its bound spec")
