"""What a model looks at: columns with what each tells about the class, or looks at texts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..explain.information import information, telling_values
from ..families.table import TableFamily
from ..families.table_likelihood import TableLikelihood
from ..model.table import Table
from ..model.text_summary import by_look
from .pictures import Shares, shares_of
from .subject import Subject

# Columns that have a picture, and bits below which one is not worth it.
_PICTURES, _LEAST_BITS = 12, 1e-4
# Values of each class that are named, and columns of which that is worth the time.
_VALUES, _MOST_COLUMNS = 8, 2_000


class Looks(NamedTuple):
    """Columns or looks, the most informative first."""

    table: Table | None  # None where nobody knows
    telling: Table | None = None  # class, term, score, bits: what identifies each class
    views: Table | None = None  # columns together: view, columns, contribution and weight
    pictures: dict[str, Shares] | None = None  # of the first columns, by name


def looks_of(subject: Subject) -> Looks:
    """From the model alone."""
    if subject.reads_texts:
        assert subject.summary is not None
        return Looks(by_look(subject.summary), _telling(subject))
    return _of_table(subject) if subject.is_table else Looks(_information(subject), _telling(subject))


def _of_table(subject: Subject) -> Looks:
    assert subject.summary is not None
    family, summary = subject.model.family, subject.summary
    assert isinstance(family, TableFamily)
    n_columns = len(family.names)
    bits = np.nan_to_num(summary["bits"][:n_columns])
    known = not np.isnan(summary["contribution"][:n_columns]).all()
    order = np.argsort(-np.nan_to_num(summary["contribution"][:n_columns]) if known else -bits, kind="stable")
    columns = Table({name: cells[:n_columns][order] for name, cells in summary.items()})
    more = np.flatnonzero(np.nan_to_num(summary["own_weight"][n_columns:]) > 0) + n_columns
    named = {"view": "column", "columns": "note", "contribution": "contribution", "weight": "own_weight"}
    views = Table({title: summary[name][more] for title, name in named.items()})
    pictured = [j for j in order.tolist() if bits[j] >= _LEAST_BITS]
    return Looks(columns, _telling(subject), views, _pictures(subject, pictured))


def _pictures(subject: Subject, columns: list[int]) -> dict[str, Shares]:
    likelihood: Any = subject.model.likelihood
    assert isinstance(likelihood, TableLikelihood)
    statistics, out = subject.model.state.statistics, {}
    for j in columns[:_PICTURES]:
        found = shares_of(likelihood.models[j], statistics, j)
        if found is not None:
            out[str(subject.names[j])] = found
    return out


def _information(subject: Subject) -> Table | None:
    """What each column tells under the model; of scores that are no probabilities nobody knows."""
    if len(subject.names) > _MOST_COLUMNS:
        return None
    try:
        return information(subject.model, subject.names)
    except ParameterError:
        return None


def _telling(subject: Subject) -> Table | None:
    """What speaks most for each class: words, or values of columns where they have any."""
    if subject.words is not None:
        words = subject.words
        return Table({"class": words["class"], "term": words["token"], "score": words["score"], "bits": words["bits"]})
    # The words of a column of texts would be values too, hundreds of thousands of them.
    if len(subject.names) > _MOST_COLUMNS or len(subject.labels) < 2 or subject.holds_texts:
        return None
    try:
        found = telling_values(subject.model, subject.names, _VALUES)
    except ParameterError:
        return None
    pairs = zip(found["column"].tolist(), found["value"].tolist(), strict=True)
    terms = np.array([f"{column} = {value}" for column, value in pairs], dtype=object)
    return Table({"class": found["class"], "term": terms, "score": found["score"], "bits": found["bits"]})
