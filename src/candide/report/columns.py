"""What a model looks at: columns with what each tells about the class, or looks at texts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..explain.terms import BITS
from ..families.table import TableFamily
from ..families.table_likelihood import TableLikelihood
from ..kernels.data import Array, Floats
from ..model.scorer import log_sum
from ..model.table import Table
from ..model.text_summary import by_look
from .examples import Judged
from .pictures import Shares, shares_of
from .subject import Subject

# Columns that have a picture, and bits below which one is not worth it.
_PICTURES, _LEAST_BITS = 12, 1e-4
# Rows that are asked what each of their columns says, where no leave-one-out has told.
_ASKED = 300


class Looks(NamedTuple):
    """Columns or looks, the most informative first."""

    table: Table
    views: Table | None = None  # columns together, by name and weight
    pictures: dict[str, Shares] | None = None  # of the first columns, by name


def looks_of(subject: Subject, rows: Judged | None) -> Looks | None:
    """``rows``: some to ask, where the model itself does not tell."""
    if subject.reads_texts:
        assert subject.summary is not None
        return Looks(by_look(subject.summary))
    if subject.is_table:
        return _of_table(subject)
    return None if rows is None else Looks(_information(subject, rows))


def _of_table(subject: Subject) -> Looks:
    assert subject.summary is not None
    family, summary = subject.model.family, subject.summary
    assert isinstance(family, TableFamily)
    n_columns = len(family.names)
    bits = np.nan_to_num(summary["bits"][:n_columns])
    order = np.argsort(-bits, kind="stable")
    columns = Table({name: cells[:n_columns][order] for name, cells in summary.items()})
    more = np.flatnonzero(np.nan_to_num(summary["weight"][n_columns:]) > 0) + n_columns
    views = Table({"view": summary["column"][more], "weight": summary["weight"][more]})
    return Looks(columns, views, _pictures(subject, [j for j in order.tolist() if bits[j] >= _LEAST_BITS]))


def _pictures(subject: Subject, columns: list[int]) -> dict[str, Shares]:
    likelihood: Any = subject.model.likelihood
    assert isinstance(likelihood, TableLikelihood)
    statistics, out = subject.model.state.statistics, {}
    for j in columns[:_PICTURES]:
        found = shares_of(likelihood.models[j], statistics, j)
        if found is not None:
            out[str(subject.names[j])] = found
    return out


def _information(subject: Subject, rows: Judged) -> Table:
    """What each column alone tells about the class, in the mean over rows: log p(class | cell) - log p(class)."""
    model, n_rows = subject.model, len(rows.classes)
    total: dict[int, float] = {}
    asked = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _ASKED)).round().astype(np.int64))
    for i in asked.tolist():
        parts = model.likelihood.parts(rows.data.take(np.array([i])), subject.kernels)
        told = _told(parts.finite, model.log_prior, int(rows.classes[i]))
        for j, bits in zip(parts.columns.tolist(), told.tolist(), strict=True):
            total[j] = total.get(j, 0.0) + bits / len(asked)
    named = {j: bits for j, bits in total.items() if j >= 0}
    order = sorted(named, key=lambda j: -named[j])
    names = np.array([str(subject.names[j]) for j in order], dtype=object)
    return Table({"column": names, "bits": np.array([max(0.0, named[j]) for j in order])})


def _told(parts: Floats, log_prior: Floats, label: int) -> Array:
    """Of each part alone, in bits; what cannot be counts as nothing, for one cell does not settle it."""
    scores = np.where(np.isfinite(parts), parts, -1e3) + log_prior
    with np.errstate(invalid="ignore"):  # a class that was said to be impossible
        told: Array = np.nan_to_num((scores[:, label] - log_sum(scores) - log_prior[label]) / BITS)
    return told
