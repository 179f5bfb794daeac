"""Warnings about a model or its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..explain.terms import BITS
from ..kernels.layouts import Floats
from ..kernels.vocabulary import Vocabulary
from ..model.evaluation import Evaluation
from .evaluation import DataEvaluation, TrainingEvaluation
from .feature_summary import FeatureSummary
from .row_checks import Duplicates

if TYPE_CHECKING:
    from .model_report import ReportedModel

Topic = Literal["leakage", "drift", "labels", "duplicates", "classes", "columns", "calibration", "quality", "age"]

# A column with more than this share of the entropy of the class is suspected of leakage.
_LEAK_SHARE = 0.9
# A word is suspected of leakage if it determines nearly all of a class: this share of the texts that contain it are
# of one class, and this share of the class contains it. Ordinary key words occur in some texts of a class only.
_PRECISION, _RECALL = 0.99, 0.95
_MIN_ROWS = 20
_MAX_CALIBRATION_ERROR = 0.05
_MAX_STALENESS = 0.1


class ModelWarning(NamedTuple):
    """A warning about a model or its rows."""

    topic: Topic
    text: str
    names: tuple[str, ...] = ()  # columns, words or classes concerned


def find_warnings(
    reported: ReportedModel, features: FeatureSummary, training: TrainingEvaluation | None, given: DataEvaluation | None
) -> list[ModelWarning]:
    """Return all warnings, the most serious first."""
    found = [*_leakage(reported, features), *_training_rows_given(given), *_drift(given), *_duplicates(training, given)]
    found += [*_quality(reported, given), *_classes(reported), *_dropped_columns(features), *_staleness(reported)]
    return found


def _leakage(reported: ReportedModel, features: FeatureSummary) -> Iterator[ModelWarning]:
    """Warn of columns or words that almost determine the class on their own."""
    entropy = _entropy(reported.model.state.rows)
    columns = features.table
    if columns is not None and "bits" in columns and entropy > 0:
        bits = np.nan_to_num(columns["bits"])
        names = columns["column"][bits > _LEAK_SHARE * entropy].tolist()
        if names:
            yield ModelWarning(
                "leakage",
                f"a single column has more than {_LEAK_SHARE:.0%} of the {entropy:.2f} bits of information "
                "about the class; make sure that its value is known before the class is",
                tuple(map(str, names)),
            )
    tokens = _leaking_tokens(reported)
    if tokens:
        yield ModelWarning(
            "leakage",
            f"each of these words almost determines a class: at least {_PRECISION:.0%} of the texts that contain the "
            f"word belong to the class, and at least {_RECALL:.0%} of the texts of the class contain the word; make "
            "sure that future texts will contain it too",
            tuple(tokens),
        )


def _leaking_tokens(reported: ReportedModel) -> list[str]:
    words, model = reported.words, reported.model
    if words is None or len(reported.labels) < 2:
        return []
    sums = model.state.statistics.feature_sets[0]
    if not isinstance(sums.coding, Vocabulary) or not sums.counts.presence:
        return []
    tokens = list(dict.fromkeys(words["token"].tolist()))
    codes = sums.coding.codes(tokens)
    known = [(token, code) for token, code in zip(tokens, codes.tolist(), strict=True) if code >= 0]
    held = _token_columns(sums.counts.total, [code for _, code in known])
    rows = model.state.rows
    precise = held.max(axis=0, initial=0.0) >= _PRECISION * np.maximum(held.sum(axis=0), 1e-300)
    frequent = ((held >= _RECALL * rows[:, None]) & (rows[:, None] >= _MIN_ROWS)).any(axis=0)
    return [token for (token, _), odd in zip(known, (precise & frequent).tolist(), strict=True) if odd]


def _token_columns(total: Any, codes: list[int]) -> Floats:
    some = total[:, codes]
    return np.asarray(some if isinstance(some, np.ndarray) else some.toarray(), dtype=np.float64)


def _training_rows_given(given: DataEvaluation | None) -> Iterator[ModelWarning]:
    if given is not None and given.n_learned:
        yield ModelWarning(
            "leakage",
            f"{given.n_learned:,} of the {given.duplicates.n_rows:,} evaluation rows are training rows of the model, "
            "so the evaluation is optimistic; pass rows that the model was not trained on",
        )


def _drift(given: DataEvaluation | None) -> Iterator[ModelWarning]:
    if given is None:
        return
    if given.between_halves:
        yield ModelWarning(
            "drift",
            "the second half of the evaluation rows differs from the first half; if rows are ordered by time, the "
            "model may be out of date; total variation distances",
            _by_distance(given.between_halves),
        )
    if given.since_training:
        yield ModelWarning(
            "drift",
            "the evaluation rows differ from the training rows; total variation distances",
            _by_distance(given.since_training),
        )


def _by_distance(changes: list[Any]) -> tuple[str, ...]:
    """Return what differs, the largest difference first."""
    ordered = sorted(changes, key=lambda change: -change.distance)
    return tuple(f"{change.what} ({change.distance:.0%})" for change in ordered)


def _duplicates(training: TrainingEvaluation | None, given: DataEvaluation | None) -> Iterator[ModelWarning]:
    if training is not None:
        yield from _duplicate_warnings("training rows", training.duplicates, training.contradicting)
    if given is not None:
        first = given.duplicates.first
        where = () if first is None else ("rows {:,} and {:,}".format(*(place + 1 for place in sorted(first))),)
        yield from _duplicate_warnings("evaluation rows", given.duplicates, where)


def _duplicate_warnings(what: str, found: Duplicates, first: tuple[str, ...]) -> Iterator[ModelWarning]:
    if found.n_contradicting:
        rows = "row occurs" if found.n_contradicting == 1 else "rows occur"
        yield ModelWarning(
            "labels",
            f"{found.n_contradicting:,} {rows} with different labels, among {found.n_rows:,} {what} checked, so "
            "no model can predict all of them correctly; the first of these",
            first,
        )
    if found.n_repeated >= 0.01 * found.n_rows and found.n_repeated:
        yield ModelWarning(
            "duplicates",
            f"{found.n_repeated:,} of {found.n_rows:,} {what} checked ({found.n_repeated / found.n_rows:.1%}) are "
            "duplicates; if copies are on both sides of a train/test split, the evaluation is optimistic",
        )


def _quality(reported: ReportedModel, given: DataEvaluation | None) -> Iterator[ModelWarning]:
    reports = (
        ("training rows (leave-one-out)", reported.loo),
        ("the evaluation rows", None if given is None else given.report),
    )
    for what, report in reports:
        if report is None or len(reported.labels) < 2:
            continue
        if report.accuracy <= majority_accuracy(report) + 1e-12:
            yield ModelWarning(
                "quality",
                f"on {what} the accuracy is {report.accuracy:.1%}, which is no better than always predicting the "
                "most frequent class",
            )
        if report.ece > _MAX_CALIBRATION_ERROR and report.is_miscalibrated:
            yield ModelWarning(
                "calibration",
                f"on {what} the calibration error is {report.ece:.1%} (of perfectly calibrated probabilities, about "
                f"{report.ece_by_chance:.1%}); see calibrate=, or adapt_class_prior if the class frequencies differ",
            )


def majority_accuracy(report: Evaluation) -> float:
    """Return the accuracy of always predicting the most frequent class."""
    rows = report.confusion.sum(axis=1)
    return float(rows.max() / rows.sum())


def prior_log_loss(report: Evaluation) -> float:
    """Return the log-loss of predicting the class frequencies."""
    return _entropy(report.confusion.sum(axis=1)) * BITS


def _entropy(weight: Floats) -> float:
    """Return the entropy of weights, in bits."""
    share = weight[weight > 0] / weight.sum() if weight.sum() > 0 else np.ones(1)
    return float(-(share * np.log2(share)).sum())


def _classes(reported: ReportedModel) -> Iterator[ModelWarning]:
    if len(reported.labels) < 2:
        yield ModelWarning("classes", "there is only one class; a classifier needs at least two")
        return
    rare = [str(label) for label, n in zip(reported.labels, reported.model.state.rows, strict=True) if n < _MIN_ROWS]
    if rare:
        yield ModelWarning(
            "classes", f"classes with fewer than {_MIN_ROWS} rows, whose estimates are unreliable", tuple(rare)
        )
    loo = reported.loo
    if loo is not None:
        never = loo.per_class["class"][loo.per_class["recall"] == 0].tolist()
        if never:
            yield ModelWarning("classes", "classes with a leave-one-out recall of 0", tuple(map(str, never)))


def _dropped_columns(features: FeatureSummary) -> Iterator[ModelWarning]:
    """Warn of columns that were dropped, by reason."""
    if features.table is None or "note" not in features.table:
        return
    pairs = list(zip(features.table["column"].tolist(), features.table["note"].tolist(), strict=True))
    for begin, text in (
        ("an identifier", "dropped because nearly every row has a different value, or the values are row numbers"),
        ("constant", "dropped because all rows have the same value"),
        ("only missing", "dropped because no row has a value"),
    ):
        names = tuple(str(name) for name, note in pairs if str(note).startswith(begin))
        if names:
            yield ModelWarning("columns", text, names)


def _staleness(reported: ReportedModel) -> Iterator[ModelWarning]:
    fitted = reported.model.fitted
    if fitted is not None and fitted.age > _MAX_STALENESS:
        yield ModelWarning(
            "age",
            f"{fitted.age:.0%} of the rows were added or removed since stacking weights and calibration were "
            "fitted; update them with refit(), which needs training rows",
        )
