"""A model's answer for one row, taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..data.columns import Columns
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, TextRows
from ..model.classifier import Classifier
from ..model.given import model_for
from .cells import cell_terms
from .certainty import Certainty
from .explanation import Explanation
from .terms import Term
from .views import view_terms


def explained(model: Classifier, data: Any, names: Array, kernels: Kernels) -> Iterator[Explanation]:
    """Row by row. ``names`` are those of the columns."""
    answers = model.posterior(data, kernels, logarithm=True)
    some_absent = isinstance(data, Columns) and data.absent() is not None
    for i, log_probability in enumerate(answers):
        row, own = data.take(np.array([i])), model
        if some_absent:
            own = model_for(model, row)
            log_probability = own.posterior(row, kernels, logarithm=True)[0]
        terms = tuple(_terms(own, row, names, kernels))
        certainty = Certainty(own, row, kernels)
        yield Explanation(model.classes.labels, terms, log_probability, _texts(row, names), certainty)


def _texts(row: Any, names: Array) -> dict[Any, str]:
    if isinstance(row, TextRows):
        return {None: _written(row)}
    if not isinstance(row, Columns):
        return {}
    held = ((name, column.texts) for name, column in zip(names, row.columns, strict=True))
    return {name: _written(texts) for name, texts in held if texts is not None}


def _written(text: TextRows) -> str:
    return str(text.arrays()["utf8"].tobytes(), "utf-8")


def _terms(model: Classifier, row: Any, names: Array, kernels: Kernels) -> Iterator[Term]:
    blended = model.blend is not None and model.blend.views is not None
    if blended:
        impossible = np.where(np.isneginf(model.scorer.offset), -np.inf, 0.0)
        if impossible.any():
            yield Term("prior", impossible, value="classes that cannot be")
        yield from view_terms(model, row, names, kernels)
    else:
        yield Term("prior", model.scorer.offset, value="prior")
        yield from cell_terms(model, row, names, kernels)
    if model.plan.corrects:
        yield from _corrected(model, row, kernels)


def _corrected(model: Classifier, row: Any, kernels: Kernels) -> Iterator[Term]:
    """What is done to the scores as a whole."""
    if model.blend is not None and model.blend.calibration is not None:
        before = model.uncalibrated(row, kernels)
        yield Term("calibration", _difference(model.as_in_training(before, row), before)[0], value="calibration")
    if model.prior_change.any():
        yield Term("prior", model.prior_change, value="prior of where it is used")


def _difference(after: Floats, before: Floats) -> Floats:
    """0 where both are impossible."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(after - before, nan=0.0, posinf=np.inf, neginf=-np.inf)
