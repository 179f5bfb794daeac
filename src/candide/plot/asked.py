"""What pictures ask of models: whether they suit, their classes by label, and how good they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators.base import BaseNB
from ..exceptions import InputError, ParameterError
from ..kernels.layouts import Floats
from ..model.blend import scores_left_out, seen_rows
from ..model.evaluation import Report
from ..model.evidence import class_place


def fitted(model: Any, picture: str, kind: type[BaseNB] = BaseNB) -> Any:
    """The model, if it is one of ours, of that kind, and has learned something."""
    if not isinstance(model, kind):
        raise ParameterError(
            f"{picture} shows a fitted {_called(kind)}, and this is a {type(model).__name__}; pass one"
        )
    model._fitted()
    return model


def _called(kind: type[BaseNB]) -> str:
    return "model of candide" if kind is BaseNB else kind.__name__


def place_of(model: BaseNB, label: Any) -> int:
    """Where a class is among those of a model."""
    return class_place(model._fitted().classifier.classes.labels, label)


def pair_of(model: BaseNB, of: Any, against: Any) -> tuple[int, int | None]:
    """The class that is spoken for, and the one against; None: all others. Of two classes the second is the default."""
    labels = model.classes_.tolist()
    if len(labels) < 2:
        raise ParameterError(f"this picture compares classes, and the model knows only {labels[0]!r}; learn another")
    if of is None:
        if len(labels) > 2:
            raise ParameterError(f"the model has {len(labels)} classes; name one as of=, out of {labels}")
        of = labels[0] if against == labels[1] else labels[1]
    if of == against:
        raise ParameterError(f"{of!r} is given as both classes; name another to compare it with, or leave against out")
    first = place_of(model, of)
    if against is None:
        return first, 1 - first if len(labels) == 2 else None
    return first, place_of(model, against)


def log_odds(log_probability: Floats, of: int, against: int | None) -> Floats:
    """Of one class against another, or against all others together, ``(rows,)``."""
    if against is None:
        rest = np.logaddexp.reduce(np.delete(log_probability, of, axis=1), axis=1)
    else:
        rest = log_probability[:, against]
    with np.errstate(invalid="ignore"):
        return np.asarray(log_probability[:, of] - rest)


def report_of(model: BaseNB, X: Any, y: Any, sample_weight: Any, *, raw: bool = False) -> Report:
    """How good the model is: on rows that are given, or on its training rows, each left out.

    ``raw``: without blend and calibration.
    """
    fitted = model._fitted().classifier
    if X is None:
        if y is not None:
            raise InputError("y is given without X; pass both, or neither to judge the model by its training rows")
        return _raw_left_out(model) if raw else model.loo_ if model._fitted().has_loo else _refuse(model)
    batch, kernels = model._fitted().batch(X, y, sample_weight), model._fitted().kernels
    weight = np.ones(len(batch.classes)) if batch.weight is None else batch.weight
    of = fitted.scorer if raw else fitted
    return Report.of(of.posterior(batch.data, kernels, logarithm=True), batch.classes, weight, model.classes_)


def _raw_left_out(model: BaseNB) -> Report:
    fitted = model._fitted().classifier
    plan, state, alpha = fitted.plan, fitted.state, None if fitted.blend is None else fitted.blend.alpha
    seen = seen_rows(plan, state, "a picture of rows left out")
    scores, _ = scores_left_out(plan, state, seen, alpha, model._fitted().kernels)
    return Report.of(scores, seen.batch.classes, seen.case_weight, model.classes_, seen.multiplicity)


def _refuse(model: BaseNB) -> Report:
    raise ParameterError(
        f"this {type(model).__name__} keeps no training rows; pass X and y, or construct it with compute_loo=True "
        "and fit again"
    )


def rows_named(X: Any) -> str:
    """How a picture speaks of the rows it was made from."""
    return "training rows, each left out" if X is None else "rows given"
