"""Tables as data of a module: columns, how their cells are read, and the terms of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time, timedelta
from typing import Any

import numpy as np

from ...data.index import EXACT
from ...exceptions import ParameterError
from ...families.categorical_likelihood import CategoricalLikelihood
from ...families.linear import TokenFamily
from ...families.poisson import Poisson
from ...families.score_terms import CodeTable
from ...families.table_likelihood import TableLikelihood
from ...kernels.layouts import Array, Floats
from ...stacking.stacked_views import StackedViews
from .terms import written_terms
from .views import stacking_data


def plain_label(label: Any, what: str) -> Any:
    """Return a label as JSON has it."""
    value = label.item() if isinstance(label, np.generic) else label
    exact = isinstance(value, float) and np.isfinite(value)
    exact = exact or (isinstance(value, int) and abs(value) < EXACT)
    if isinstance(value, (str, bool)) or exact:
        return value
    raise ParameterError(
        f"{what} {label!r} is a {type(value).__name__} that JavaScript cannot represent; fit with strings, booleans, "
        "or numbers below 2^53"
    )


def row_data(likelihood: Any, family: Any, names: Array) -> dict[str, Any]:
    """Return a model of numbers or categories whose columns have one family."""
    if isinstance(likelihood, CategoricalLikelihood):
        labels = [None if lookup.direct else lookup.labels.tolist() for lookup, _ in likelihood.columns]
        strict = likelihood.family.unseen == "error"
        columns = [
            _column(name, j, own, 0.0, strict=strict) for j, (name, own) in enumerate(zip(names, labels, strict=True))
        ]
        terms = likelihood.terms
        finite, *limits = (
            [one for term in group for one in _of_column(term)] for group in (terms.finite, *terms.limits)
        )
        return {"columns": columns, "terms": finite, "limitTerms": limits}
    counts = isinstance(family, (TokenFamily, Poisson))
    columns = [_column(name, j, None, 0.0 if counts else None) for j, name in enumerate(names)]
    terms = likelihood.terms
    limits = [written_terms(group) for group in terms.limits]
    return {"columns": columns, "terms": written_terms(terms.finite), "limitTerms": limits, "countsCells": counts}


def _of_column(term: Any) -> list[Any]:
    assert isinstance(term, CodeTable)
    return written_terms([term], column=term.column)


def table_data(
    likelihood: TableLikelihood,
    views: StackedViews | None,
    log_prior: Floats,
    names: Sequence[str],
    examples: dict[str, Any],
    given: Sequence[str],
) -> dict[str, Any]:
    """Return a table. ``names``: of its columns; ``given``: of the columns of the user's tables."""
    _refuse_texts_and_dates(likelihood, names, examples)
    if likelihood.blocks:
        raise ParameterError(
            "this model has jointly modeled columns, which are not supported in JavaScript; model the columns "
            "separately, columns={'numbers': 'gaussian'}"
        )
    binned = {} if views is None else {column.column: column for column in views.binning.columns}
    used = sorted({*likelihood.shown, *binned})
    nulls = None if views is None else views.binning.nulls
    columns: list[dict[str, Any]] = []
    terms: list[Any] = []
    for place, j in enumerate(used):
        model = likelihood.models[j]
        own = () if model is None else model.terms(nulls=nulls is None or bool(nulls[j]))
        lookups = [term.lookup for term in own if isinstance(term, CodeTable) and term.lookup is not None]
        labels = None
        if likelihood.statistics.kinds[j] != "number":
            known = binned[j].labels if j in binned else lookups[0].labels if lookups else None
            labels = [] if known is None else known.tolist()
        columns.append(_column(names[j], list(given).index(names[j]), labels, None))
        terms += written_terms(own, column=place)
    data = {"columns": columns, "terms": terms, "limitTerms": []}
    if views is None:
        return data
    places = {j: place for place, j in enumerate(used)}
    return {**data, "stacking": stacking_data(views, likelihood, log_prior, places), "sumName": views.names[0]}


def _refuse_texts_and_dates(likelihood: TableLikelihood, names: Sequence[str], examples: dict[str, Any]) -> None:
    if likelihood.texts:
        texts = [names[j] for j in likelihood.texts]
        raise ParameterError(
            f"the columns {texts} contain texts, which are not supported in JavaScript tables; fit without them, "
            f"columns={{{texts[0]!r}: 'ignore'}}, or train TextNB on the texts alone"
        )
    dates = [name for name, cell in examples.items() if isinstance(cell, (date, time, timedelta))]
    if dates:
        raise ParameterError(
            f"the columns {dates} contain dates or times, which are not supported in JavaScript; convert them to "
            f"numbers before fitting, or fit without them, columns={{{dates[0]!r}: 'ignore'}}"
        )


def _column(name: Any, place: int, labels: Any, least: float | None, *, strict: bool = False) -> dict[str, Any]:
    """Return how a column is read. Without ``labels``, it holds numbers."""
    own = None if labels is None else [plain_label(label, f"the category of column {str(name)!r}") for label in labels]
    return {
        "name": str(name),
        "place": place,
        "type": _type_of(own),
        "least": least,
        "refusesUnseen": strict,
    }


def _type_of(labels: list[Any] | None) -> str:
    if labels is None:
        return "number"
    kinds = {isinstance(label, str) for label in labels}
    return "any" if len(kinds) != 1 else "string" if kinds == {True} else "number"
