"""A model as one query that scores a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...families.table_likelihood import TableLikelihood
from ...families.text_likelihood import TextLikelihood
from ...kernels.layouts import Floats
from ...model.classifier import Classifier
from ...stacking.stacked_views import StackedViews
from .cells import Cells, Codes
from .dialects import dialect_named, transpiled
from .posterior import Posterior, calibrate, grows, label_text
from .query import Own, Query, total
from .stacking import StackingQuery
from .terms import Scores, family_scores, table_scores


def to_sql(
    model: Classifier, names: Sequence[str], examples: dict[str, Any], *,
    dialect: str, table: str, keep: bool | Sequence[str], proba: bool,
) -> str:  # fmt: skip
    """The text of the query.

    ``names`` are those of the model's columns, ``examples`` cells of those that hold booleans or times, by name.
    """
    _refuse_texts(model.likelihood, names)
    how = dialect_named(dialect)
    query, cells, own = Query(how), Cells(names, examples, how), Own(table, keep, how)
    posterior = _scored(model, query, cells, own)
    if model.bound_spec.corrects:
        _correct(posterior, model)
    labels = model.classes.labels.tolist()
    answers = posterior.answer([label_text(label, how) for label in labels], proba=proba)
    named = dict(zip(["prediction", *_titles(labels)], answers, strict=False))
    return transpiled(own.finish(query, named), dialect)


def _refuse_texts(likelihood: Any, names: Sequence[str]) -> None:
    if isinstance(likelihood, TextLikelihood):
        raise ParameterError(
            "this model reads texts, and no query can cut these into tokens everywhere alike; score them with "
            "candide predict, or take the weights of TextNB(model='multinomial') from as_linear()"
        )
    if isinstance(likelihood, TableLikelihood) and likelihood.texts:
        name = names[min(likelihood.texts)]
        raise ParameterError(
            f"column {name!r} holds texts, and no query can cut these into tokens everywhere alike; train the model "
            f"with columns={{{name!r}: 'ignore'}}"
        )


def _scored(model: Classifier, query: Query, cells: Cells, own: Own) -> Posterior:
    """Steps up to the scores of the classes that can be."""
    codes, possible = Codes(query), np.isfinite(model.scorer.offset)
    posterior = Posterior(query, np.flatnonzero(possible).tolist(), len(possible))
    views = None if model.fitted_without_rows is None else model.fitted_without_rows.views
    if isinstance(views, StackedViews):
        stacking = StackingQuery(views, model.likelihood, query, cells, codes, model.scorer.offset)
        _begin(query, cells, codes, own)
        stacking.write()
        return posterior
    scores = _scores(model.likelihood, np.where(possible, model.scorer.offset, 0.0), cells, codes)
    _begin(query, cells, codes, own)
    columns = {f"s{k}": scores.finite[k] for k in posterior.alive}
    columns |= {f"l{i}_{k}": limit[k] for i, limit in enumerate(scores.limits) for k in posterior.alive}
    if model.fitted is not None and grows(model.fitted.calibration):
        columns["amount"] = total(list(cells.inputs))
    query.step("scores", columns)
    posterior.rule_out(len(scores.limits))
    return posterior


def _scores(likelihood: Any, offset: Floats, cells: Cells, codes: Codes) -> Scores:
    if isinstance(likelihood, TableLikelihood):
        return Scores(table_scores(likelihood, offset, cells, codes))
    return family_scores(likelihood, offset, range(len(cells.names)), cells, codes)


def _begin(query: Query, cells: Cells, codes: Codes, own: Own) -> None:
    """The first steps: cells, and codes of them."""
    query.start(own.source, {**own.columns(), **cells.inputs} or {"nothing": "0"})
    codes.write()


def _correct(posterior: Posterior, model: Classifier) -> None:
    """What was fitted on rows left out, and what is believed of where the model is used."""
    calibration = None if model.fitted is None else model.fitted.calibration
    if calibration is not None:
        calibrate(posterior, calibration, "amount" if grows(calibration) else None)
    change = model.prior_change
    if change.any():
        posterior.shift({k: float(change[k]) for k in posterior.alive if np.isfinite(change[k])})


def _titles(labels: Sequence[Any]) -> list[str]:
    """Of probabilities; labels that look alike are told apart by their types."""
    alike = len({str(label) for label in labels}) < len(labels)
    return [f"p({label!r})" if alike else f"p({label})" for label in labels]
