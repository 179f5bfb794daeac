"""The whole of a model: its plan, its state, its blend, and what its learner knows beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...data.index import label_type
from ...engines.unlabeled import Unlabeled
from ...families import Bernoulli, Categorical, Complement, Gaussian, Multinomial, Poisson
from ...families.table import Block, TableFamily, Wanted
from ...families.text import TextFamily
from ...model.blend import Blend
from ...model.classifier import Classifier
from ...model.evaluation import Report
from ...model.plan import ClassPrior, Plan
from ...model.state import State
from ...model.table import Table
from ...model.telling import Names
from ...stacking.calibration import METHODS
from ...stacking.stacked_views import StackedViews
from ...stacking.token_views import StackedTokenViews
from ...statistics import Sample
from ...statistics.table import TableStatistics
from ..content import Content
from ..hints import fits
from ..sound import are_weights, require
from ..stored_rows import StoredSample
from .calibrations import check_calibration
from .families import are_shares, check_family
from .rows import check_sample
from .statistics import check_labels
from .tables import check_blended, check_table
from .texts import check_bands, check_refinement, check_texts

# Learners, and the families of their plans.
KINDS: dict[str, type[Any]] = {
    "BernoulliNB": Bernoulli,
    "CategoricalNB": Categorical,
    "ComplementNB": Complement,
    "GaussianNB": Gaussian,
    "MultinomialNB": Multinomial,
    "NaiveBayes": TableFamily,
    "PoissonNB": Poisson,
    "TextNB": TextFamily,
}
_PARTS: dict[str, Any] = {
    "plan": Plan,
    "state": State,
    "blend": Blend | None,
    "report": Report | None,
    "token_names": Names,
    "importance": Table | None,
    "n_features": int,
    "feature_names": tuple[str, ...] | None,
    "schema": dict[str, Any] | None,
    "unlabelled": Unlabeled | None,
    "given": bool,
    "roles": dict[str, Any] | None,
    "note": dict[str, Any] | None,
}
# What the first files did not have.
_LATER = {"importance"}
_ROLES: dict[str, Any] = {
    "label": str,
    "text": str | None,
    "columns": tuple[str, ...],
    "weight": str | None,
}
_SCHEMA: dict[str, Any] = {
    "given": tuple[Any, ...] | None,
    "n_given": int,
    "names": tuple[Any, ...],
    "wanted": tuple[Wanted, ...],
    "blocks": tuple[Block, ...],
    "backend": str | None,
    "examples": dict[Any, Any],
    "whole": frozenset[Any],
}
_MEASURES = {
    "per_class": ("class", "precision", "recall", "f1", "weight"),
    "reliability": ("confidence", "accuracy", "weight"),
    "risk_coverage": ("coverage", "risk"),
}
_MOST_THREADS = 1 << 10
_MOST_BYTES = 1 << 40


def check_content(content: Content) -> None:
    """Whether a model can be trusted not to do harm; what it predicts is another matter."""
    require(content.kind in KINDS, f"its kind is {content.kind!r:.40}, and candide knows {', '.join(KINDS)}")
    parts = content.parts
    require(parts.keys() | _LATER == _PARTS.keys(), f"its parts are {', '.join(parts)[:200]}")
    for name, hint in _PARTS.items():
        require(fits(parts.get(name), hint), f"its {name} is none")
    _check_threads(content.settings.get("n_threads"))
    plan, state = parts["plan"], parts["state"]
    require(type(plan.family) is KINDS[content.kind], f"the plan is none of a {content.kind}")
    n_columns = _check_state(plan, state)
    _check_plan(plan, state)
    _check_blend(plan, state, parts["blend"], n_columns)
    _check_columns(parts, n_columns)
    _check_importance(parts.get("importance"), n_columns)
    _check_report(parts["report"], len(state.classes))
    _check_roles(parts["roles"])
    require(_is_plain(parts["note"]), "its note holds more than plain values")
    # An impossible prior of the classes is found here.
    Classifier(plan, state)


def _check_importance(found: Table | None, n_columns: int) -> None:
    """Columns, then views, each with two numbers."""
    if found is None:
        return
    require(list(found) == ["name", "contribution", "loss"], "the importance of columns has other parts")
    names, *numbers = found.values()
    require(all(isinstance(name, str) for name in names.tolist()), "a name in the importance of columns is no text")
    sound = all(part.dtype == np.float64 and part.shape == names.shape and not np.isinf(part).any() for part in numbers)
    require(sound and len(names) >= n_columns, "the importance of columns is not a number for each")


def _check_report(report: Report | None, n_classes: int) -> None:
    """Measures of these classes; and those that are too good, if there are some."""
    if report is None:
        return
    require(report.confusion.shape == (n_classes, n_classes), "measures are not those of its classes")
    for name, columns in _MEASURES.items():
        found: Table = getattr(report, name)
        require(list(found) == list(columns), f"measures have a {name} of other columns")
        numbers = [cells for column, cells in found.items() if column != "class"]
        require(all(cells.dtype == np.float64 for cells in numbers), f"a number in the {name} of measures is none")
    require(report.per_class.n_rows == n_classes, "measures are not those of its classes")
    _check_report(report.optimistic, n_classes)


def _check_threads(n_threads: Any) -> None:
    require(n_threads is None or fits(n_threads, int), "the number of threads is none")
    require(n_threads is None or 1 <= n_threads <= _MOST_THREADS, f"it asks for {n_threads} threads")


def _check_state(plan: Plan, state: State) -> int:
    """How many columns there are."""
    labels = state.classes.labels
    check_labels(labels)
    n_classes = len(labels)
    require(n_classes > 0 and len(set(map(label_type, labels.tolist()))) == 1, "labels are of several types, or none")
    require(state.declared.shape == (n_classes,) and state.declared.dtype == bool, "classes are declared by no flags")
    n_columns = _check_statistics(plan.family, state.statistics, n_classes)
    # Rows that are still in the file are checked when they are read.
    if state.sample is not None and not isinstance(state.sample, StoredSample):
        check_sample(state.sample, plan.family, n_classes, n_columns)
    return n_columns


def check_stored_rows(content: Content, sample: Any) -> None:
    """Training rows that were read after the model, which was checked without them."""
    require(isinstance(sample, Sample), "training rows are none")
    plan, state = content.parts["plan"], content.parts["state"]
    n_columns = _check_statistics(plan.family, state.statistics, len(state.classes))
    check_sample(sample, plan.family, len(state.classes), n_columns)


def _check_statistics(family: Any, statistics: Any, n_classes: int) -> int:
    if isinstance(family, TextFamily):
        check_texts(family, statistics, n_classes)
        return 1
    if isinstance(family, TableFamily):
        return check_table(family, statistics, n_classes)
    return check_family(family, statistics, n_classes)


def _check_plan(plan: Plan, state: State) -> None:
    n_classes = len(state.classes)
    require(plan.calibrate is None or plan.calibrate in METHODS, f"calibrate is {plan.calibrate!r:.20}")
    views = isinstance(plan.family, (TableFamily, TextFamily))
    require(plan.order in ((None, 0, 1, 2) if views else (None,)), f"order is {plan.order}")
    require(not plan.refine or (isinstance(plan.family, TextFamily) and plan.order is not None), "nothing is refined")
    require(plan.alpha is None or not isinstance(plan.family, (Gaussian, TableFamily)), "there is no alpha to choose")
    require(0 <= plan.sample_bytes <= _MOST_BYTES, f"training rows have {plan.sample_bytes} bytes")
    require(plan.target is None or are_shares(plan.target, n_classes), "shares of classes are none")
    _check_threads(plan.n_threads)
    _check_class_prior(plan.prior, n_classes)


def _check_class_prior(prior: ClassPrior, n_classes: int) -> None:
    pseudo = np.asarray(prior.pseudo)
    require(pseudo.shape in ((), (n_classes,)) and are_weights(pseudo), "pseudo-counts of classes are none")
    for given in (prior.given, prior.class_weight):
        if isinstance(given, Mapping):
            require(are_weights(np.array(list(given.values()), dtype=np.float64)), "weights of classes are none")
    require(isinstance(prior.given, (Mapping, type(None))) or are_shares(prior.given, n_classes), "no prior of classes")


def _check_blend(plan: Plan, state: State, blend: Blend | None, n_columns: int) -> None:
    if blend is None:
        require(
            state.sample is not None or not plan.looks_back, "it has neither training rows nor what was made of them"
        )
        return
    n_classes = len(blend.classes)
    check_labels(blend.classes.labels)
    require(blend.suits(plan, state) or state.sample is not None, "its blend is of another plan")
    require(blend.classes == state.classes, "its blend is of other classes")
    require(are_weights(np.array([blend.weight, blend.changed])), "its blend has seen no weight")
    _check_alpha(blend.alpha, plan, n_columns)
    if blend.calibration is not None:
        check_calibration(blend.calibration, n_classes)
    require((blend.calibration is None) == (blend.plan.calibrate is None), "its calibration is none that was asked for")
    require((blend.views is None) == (blend.plan.order is None), "its views are none that were asked for")
    _check_views(blend, state)


def _check_alpha(alpha: Any, plan: Plan, n_columns: int) -> None:
    require((alpha is None) == (plan.alpha != "loo"), "its pseudo-count was not asked for")
    shaped = alpha is None or np.shape(alpha) in ((), (n_columns,))
    require(shaped and (alpha is None or are_weights(np.asarray(alpha))), "its pseudo-count is none")


def _check_views(blend: Blend, state: State) -> None:
    family, statistics, n_classes = blend.plan.family, state.statistics, len(state.classes)
    require((blend.refinement is not None) == blend.plan.refine, "its refinement was not asked for")
    if isinstance(blend.views, StackedViews):
        require(isinstance(family, TableFamily), "views of a table are of none")
        assert isinstance(family, TableFamily)
        assert isinstance(statistics, TableStatistics)  # as the statistics were checked
        check_blended(blend.views, family, statistics)
    elif isinstance(blend.views, StackedTokenViews):
        require(isinstance(family, TextFamily), "views of texts are of none")
        assert isinstance(family, TextFamily)
        check_bands(blend.views, family, n_classes)
    if blend.refinement is not None:
        check_refinement(blend.refinement, n_classes)


def _check_roles(roles: dict[str, Any] | None) -> None:
    """What the columns of a source were for."""
    named = roles is None or roles.keys() == _ROLES.keys()
    require(
        named and all(fits((roles or {})[name], hint) for name, hint in _ROLES.items() if roles), "its roles are none"
    )


def _is_plain(value: Any) -> bool:
    """Whether a value is one of JSON, as Python has them."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


def _check_columns(parts: dict[str, Any], n_columns: int) -> None:
    """What the learner knows of columns."""
    n_features, names, schema = parts["n_features"], parts["feature_names"], parts["schema"]
    require(names is None or len(names) == n_features, "there is not a name for each column")
    if not isinstance(parts["plan"].family, TableFamily):
        require(n_features == n_columns and schema is None, "columns are not those that were learned")
        return
    require(schema is not None and schema.keys() == _SCHEMA.keys(), "nothing is said of the columns")
    for name, hint in _SCHEMA.items():
        require(fits(schema[name], hint), f"the {name} of columns are none")
    given = schema["given"]
    require(schema["n_given"] == n_features and (given is None or len(given) == n_features), "columns are not given")
    family = parts["plan"].family
    same = (schema["names"], len(schema["wanted"])) == (family.names, len(family.names))
    require(same and len(schema["blocks"]) == len(family.blocks), "columns are not those of the plan")
