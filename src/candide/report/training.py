"""Training rows that a model keeps, each judged by a model that has not seen it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..explain.values import values_of
from ..kernels.layouts import TextRows
from ..model.blend import scores_left_out, seen_rows
from ..model.evaluation import Report
from ..model.honest import Honest, left_out_posterior
from ..stacking.calibration import log_softmax
from ..stacking.training_rows import TrainingRows
from .duplicates import Duplicates, in_sample
from .examples import Example, Judged, best_of, examples_of
from .subject import Subject

# Rows that are judged where nobody has judged them yet: enough for examples, few enough not to wait for.
_MOST_ROWS, _MOST_TEXTS = 20_000, 2_000


class Trained(NamedTuple):
    """What training rows tell beside the measures."""

    rows: Judged
    n_rows: int  # that were judged, copies as one
    plain: Report | None  # the same rows with every column counted once, and nothing calibrated
    examples: list[Example]
    n_doubtful: int
    duplicates: Duplicates
    contradicting: tuple[str, ...]  # the first row that has several labels, in words, if one has


def look_back(subject: Subject) -> Trained | None:
    """None where no training rows are kept."""
    sample = subject.model.state.sample
    if sample is None:
        return None
    seen, scores = _judged(subject)
    rows = Judged(seen.batch.data, seen.batch.classes, scores, seen.case_weight)
    same = in_sample(sample)
    odd = () if same.first is None else (_in_words(subject, same.first[0]),)
    doubtful = int(seen.multiplicity[rows.doubtful].sum())
    n_rows = int(seen.multiplicity.sum())
    return Trained(rows, n_rows, _plain(subject, seen), best_of(examples_of(rows)), doubtful, same, odd)


def _judged(subject: Subject) -> tuple[TrainingRows, Any]:
    """Rows and their log probabilities, as they were made for the honest figure if they were."""
    model = subject.model
    made: Honest | None = vars(model).get("honest")
    blend = model.blend
    # A refinement has no closed form for a row left out.
    refined = blend is not None and blend.refinement is not None
    if made is None and model.parts()["report"] is not None and not refined:
        seen = _some(seen_rows(model.plan, model.state, "a report"), subject.holds_texts)
        return seen, left_out_posterior(model, seen.batch, subject.kernels, "fixed")
    made = made or model.honest
    return made.seen, made.log_probability


def _some(seen: TrainingRows, texts: bool) -> TrainingRows:
    n_rows, most = len(seen.case_weight), _MOST_TEXTS if texts else _MOST_ROWS
    if n_rows <= most:
        return seen
    rows = np.arange(most) * n_rows // most
    return seen.take(rows, seen.multiplicity[rows])


def _plain(subject: Subject, seen: TrainingRows) -> Report | None:
    model = subject.model
    if not model.plan.corrects or len(model.classes) < 2:
        return None
    alpha = None if model.blend is None else model.blend.alpha
    scores, _ = scores_left_out(model.plan, model.state, seen, alpha, subject.kernels)
    return Report.of(log_softmax(scores), seen.batch.classes, seen.case_weight, model.classes.labels, seen.multiplicity)


def _in_words(subject: Subject, place: int) -> str:
    """One of the training rows that are kept."""
    state = subject.model.state
    assert state.sample is not None
    data = subject.model.plan.family.restored(state.sample.data, state.statistics).take(np.array([place]))
    if isinstance(data, TextRows):
        return str(data.arrays()["utf8"].tobytes(), "utf-8")
    cells = zip(subject.names.tolist(), values_of(data), strict=True)
    return ", ".join(f"{name} = {value}" for name, value in cells if value is not None)
