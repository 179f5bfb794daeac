"""How much each column matters to the answers of a table's model, whichever views use it."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..model.classifier import Classifier
from ..model.fitted import scores_left_out, seen_rows
from ..model.summary import summary
from ..model.table import Table, objects
from ..stacking.calibration import log_softmax
from ..stacking.stacked_views import StackedViews
from ..stacking.training_rows import TrainingRows
from .contributions import explained
from .terms import BITS

# Rows that are asked: at least, at most, and what is done for all of them (see ``_some``). Those that contributions are
# averaged over, and those that are left out once for each column.
_EXPLAINED = 10, 100, 2_000
_LEFT_OUT = 100, 500, 600_000
# Columns that are left out, of many those that contribute most.
_MOST_COLUMNS = 40
_TERMS = (
    "contribution: mean absolute contribution to the log-odds of the answer against the runner-up, in bits.",
    "loss_without: rise of the leave-one-out log-loss, in nats, when the column is not given.",
    "own_weight: of the column's own score, or of the view, in the sum of all; views add what columns say together.",
    "bits: what the column alone tells about the class.",
)
_UNKNOWN = (
    "contribution and loss_without are NaN: they are found on training rows, and the model keeps none; fit without "
    "keep_sample=False."
)


def summary_with_importance(model: Classifier, names: Array, kernels: Kernels) -> Table:
    """``summary``, with what ``importance`` finds beside each row; NaN where that is not known."""
    made = summary(model)
    found = importance(model, names, kernels)
    columns: dict[str, Array] = {}
    for title, cells in made.items():
        if title == "own_weight":
            columns |= _beside(made["column"].tolist(), len(names), found)
        columns[title] = cells
    out = Table(columns)
    out.notes = _TERMS if found is not None or len(model.classes) < 2 else (*_TERMS, _UNKNOWN)
    return out


def importance(model: Classifier, names: Array, kernels: Kernels) -> Table | None:
    """How much columns, blocks and views matter; None if the model keeps no training rows and did not know before.

    ``contribution`` is the mean absolute contribution to the log-odds of the answer against the runner-up, in bits, as
    ``explain`` has it: of a column what all views say of its cell, of a view what it says of the row. ``loss_without``
    is the rise of the leave-one-out log-loss when the column is not given. Both over some of the training rows, evenly
    spaced, so that it takes about a second whatever the size of the table.
    """
    if model.importance is None and model.state.sample is not None and len(model.classes) > 1:
        seen = seen_rows(model.bound_spec, model.state, "the importance of columns")
        if len(seen.case_weight):
            called, contribution = _contributions(model, _some(seen, len(names), _EXPLAINED), names, kernels)
            loss = np.full(len(called), np.nan)
            largest = np.argsort(-contribution[: len(names)], kind="stable")[:_MOST_COLUMNS]
            some = _some(seen, len(names) * len(largest) * len(model.classes), _LEFT_OUT)
            loss[largest] = _losses(model, some, largest, kernels)
            model.importance = Table({"name": objects(called), "contribution": contribution, "loss": loss})
    return model.importance


def _beside(rows: list[Any], n_columns: int, found: Table | None) -> dict[str, Array]:
    """By row of a summary: columns by place, others by name."""
    out = {"contribution": np.full(len(rows), np.nan), "loss_without": np.full(len(rows), np.nan)}
    if found is not None:
        out["contribution"][:n_columns] = found["contribution"][:n_columns]
        out["loss_without"][:n_columns] = found["loss"][:n_columns]
        others = dict(zip(found["name"].tolist()[n_columns:], found["contribution"].tolist()[n_columns:], strict=True))
        out["contribution"][n_columns:] = [others.get(name, 0.0) for name in rows[n_columns:]]
    return out


def _some(seen: TrainingRows, width: int, rows: tuple[int, int, int]) -> TrainingRows:
    """Some of the training rows, evenly spaced; fewer of them the more there is to do for each."""
    fewest, most, cells = rows
    n_rows, n_some = len(seen.case_weight), max(fewest, min(most, cells // max(1, width)))
    if n_rows <= n_some:
        return seen
    places = np.arange(n_some) * n_rows // n_some
    return seen.take(places, seen.multiplicity[places])


def _contributions(model: Classifier, seen: TrainingRows, names: Array, kernels: Kernels) -> tuple[list[Any], Floats]:
    """Of columns in their order, then of blocks and views by name."""
    share = seen.case_weight / seen.case_weight.sum()
    place = {name: j for j, name in enumerate(names.tolist())}
    of_column = np.zeros(len(names))
    of_view: defaultdict[Any, float] = defaultdict(float)
    for weight, one in zip(share.tolist(), explained(model, seen.batch.data, names, kernels), strict=True):
        pair, cells = one.pair(), np.zeros(len(names))
        views: defaultdict[Any, float] = defaultdict(float)
        for term in one.terms:
            amount = term.between(*pair) / BITS
            if term.column in place:
                cells[place[term.column]] += amount
            if term.view:
                views[term.value if term.view == "block" else term.view] += amount
        of_column += weight * np.abs(cells)
        for view, amount in views.items():
            of_view[view] += weight * abs(amount)
    return [*names.tolist(), *of_view], np.append(of_column, [*of_view.values()])


def _losses(model: Classifier, seen: TrainingRows, columns: Array, kernels: Kernels) -> Floats:
    """By how much the leave-one-out log-loss rises when each of some columns is not given."""
    data, whole = seen.batch.data, _loss(model, seen, kernels)
    out = np.zeros(len(columns))
    for i, j in enumerate(columns.tolist()):
        absent = np.zeros((data.n_rows, data.n_columns), dtype=bool)
        absent[:, j] = True
        without = seen.batch._replace(data=data.with_absent(absent))
        out[i] = _loss(model, seen._replace(batch=without), kernels) - whole
    return out


def _loss(model: Classifier, seen: TrainingRows, kernels: Kernels) -> float:
    views = None if model.fitted_without_rows is None else model.fitted_without_rows.views
    if isinstance(views, StackedViews):
        views = views.without_unused()
        scores = views.left_out_view_scores(model.likelihood, seen.batch, seen.case_weight / seen.multiplicity, kernels)
        # All rows lack the same columns, so that all have the weights of the first.
        first = seen.batch.data.take(np.zeros(1, dtype=np.int64))
        mixture, _ = views.weights_for_row(model.likelihood, first, model.scorer.offset)
        found = log_softmax(mixture.scores(scores))
    else:
        found = scores_left_out(model.bound_spec, model.state, seen, None, kernels)[0]
    own = found[np.arange(len(found)), seen.batch.classes]
    return -float(np.average(own, weights=seen.case_weight))
