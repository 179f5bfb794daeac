"""Evaluation of a model on its training rows, each left out, and on rows that are given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..exceptions import InputError
from ..explain.terms import values_of
from ..families import Batch
from ..kernels.counting import Hashes
from ..kernels.layouts import Array, Floats, Positions, TextRows
from ..model.evaluation import Evaluation, RowScores
from ..model.fitted import seen_rows
from ..model.out_of_fold import OutOfFoldScores, left_out_posterior
from ..stacking.training_rows import TrainingRows
from ..statistics.hashing import row_hashes
from .row_checks import (
    Change,
    ColumnBins,
    Duplicates,
    Example,
    ScoredRows,
    compare_counts,
    count_cells,
    find_examples,
    find_sample_duplicates,
    select_examples,
    training_bins,
)

if TYPE_CHECKING:
    from .model_report import ReportedModel

# The maximal number of rows that are scored for examples, which bounds the time.
_MAX_ROWS, _MAX_TEXTS = 20_000, 2_000


class TrainingEvaluation(NamedTuple):
    """Examples, duplicates and contradictions among the training rows."""

    rows: ScoredRows
    n_rows: int  # number of scored rows
    examples: list[Example]
    n_doubtful: int
    duplicates: Duplicates
    contradicting: tuple[str, ...]  # the first row that has several labels, as text


def evaluate_training_rows(reported: ReportedModel) -> TrainingEvaluation | None:
    """Evaluate the kept training rows, each left out; None if the model keeps none."""
    sample = reported.model.state.sample
    if sample is None:
        return None
    seen, scores = _score_training_rows(reported)
    rows = ScoredRows(seen.batch.data, seen.batch.classes, scores, seen.case_weight)
    same = find_sample_duplicates(sample)
    odd = () if same.first is None else (_describe_row(reported, same.first[0]),)
    doubtful = int(seen.multiplicity[rows.doubtful].sum())
    n_rows = int(seen.multiplicity.sum())
    return TrainingEvaluation(rows, n_rows, select_examples(find_examples(rows)), doubtful, same, odd)


def _score_training_rows(reported: ReportedModel) -> tuple[TrainingRows, Any]:
    """Return rows and their out-of-fold log probabilities, from the evaluation of training if it is there."""
    model = reported.model
    made: OutOfFoldScores | None = vars(model).get("out_of_fold")
    fitted = model.fitted
    # There is no closed form of leave-one-out for a refinement.
    refined = fitted is not None and fitted.refinement is not None
    if made is None and model.parts()["report"] is not None and not refined:
        seen = _subsample(seen_rows(model.bound_spec, model.state, "a report"), reported.holds_texts)
        return seen, left_out_posterior(model, seen.batch, reported.kernels, "fixed")
    made = made or model.out_of_fold
    return made.seen, made.log_probability


def _subsample(seen: TrainingRows, texts: bool) -> TrainingRows:
    n_rows, most = len(seen.case_weight), _MAX_TEXTS if texts else _MAX_ROWS
    if n_rows <= most:
        return seen
    rows = np.arange(most) * n_rows // most
    return seen.take(rows, seen.multiplicity[rows])


def _describe_row(reported: ReportedModel, place: int) -> str:
    """Return one of the kept training rows as text."""
    state = reported.model.state
    assert state.sample is not None
    data = reported.model.bound_spec.family.restored(state.sample.data, state.statistics).take(np.array([place]))
    if isinstance(data, TextRows):
        return str(data.arrays()["utf8"].tobytes(), "utf-8")
    cells = zip(reported.names.tolist(), values_of(data), strict=True)
    return ", ".join(f"{name} = {value}" for name, value in cells if value is not None)


class PieceSummary(NamedTuple):
    """Summary of the first or second half of a batch of rows."""

    scores: RowScores
    hashes: Hashes
    classes: Positions
    right: Array
    columns: list[Floats | None]  # cells by code
    n_doubtful: int
    groups: Hashes | None


class DataEvaluation(NamedTuple):
    """Evaluation, examples, duplicates and drift of evaluation rows."""

    report: Evaluation
    examples: list[Example]
    n_doubtful: int
    duplicates: Duplicates
    n_learned: int  # number of rows that are among the kept training rows
    between_halves: list[Change]
    since_training: list[Change]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.report.n_rows


def evaluate_given_rows(reported: ReportedModel, batches: Iterable[tuple[Batch, Hashes | None]]) -> DataEvaluation:
    """Evaluate rows in batches, with the hashes of their groups."""
    rulers = training_bins(reported.model)
    pieces: list[PieceSummary] = []
    found: list[Example] = []
    n_rows = 0
    for batch, groups in batches:
        for begin, end in _halves(batch.data.n_rows):
            rows = _score_rows(reported, batch, begin, end, n_rows + begin)
            pieces.append(_summarize_piece(reported, rows, None if groups is None else groups[begin:end], rulers))
            found = select_examples([*found, *find_examples(rows)])
        n_rows += batch.data.n_rows
    if not pieces:
        raise InputError("found no rows to evaluate; pass labeled rows, or omit X")
    return _combine(reported, pieces, found, rulers)


def _halves(n_rows: int) -> list[tuple[int, int]]:
    middle = n_rows // 2
    return [(0, middle), (middle, n_rows)] if middle else [(0, n_rows)]


def _score_rows(reported: ReportedModel, batch: Batch, begin: int, end: int, first_row: int) -> ScoredRows:
    data, classes = batch.data.rows(begin, end), batch.classes[begin:end]
    weight = np.ones(end - begin) if batch.weight is None else batch.weight[begin:end]
    scores = reported.model.posterior(data, reported.kernels, logarithm=True)
    return ScoredRows(data, classes, scores, weight, first_row)


def _summarize_piece(
    reported: ReportedModel, rows: ScoredRows, groups: Hashes | None, rulers: list[ColumnBins | None]
) -> PieceSummary:
    model, known = reported.model, (rows.classes, rows.weight, None, groups)
    scores = RowScores.of(rows.log_probability, *known)
    if model.bound_spec.corrects:
        plain = model.scorer.posterior(rows.data, reported.kernels, logarithm=True)
        scores = scores._replace(plain=RowScores.of(plain, *known))
    return PieceSummary(
        scores=scores,
        hashes=row_hashes(rows.data),
        classes=rows.classes,
        right=rows.right,
        columns=count_cells(rulers, rows.data),
        n_doubtful=int((rows.doubtful & (rows.weight > 0)).sum()),
        groups=groups,
    )


def _combine(
    reported: ReportedModel, pieces: list[PieceSummary], found: list[Example], rulers: list[ColumnBins | None]
) -> DataEvaluation:
    labels = reported.model.classes.labels
    hashes = np.concatenate([one.hashes for one in pieces])
    classes = np.concatenate([one.classes for one in pieces])
    sample = reported.model.state.sample
    return DataEvaluation(
        report=Evaluation.from_row_scores((one.scores for one in pieces), labels),
        examples=found,
        n_doubtful=sum(one.n_doubtful for one in pieces),
        duplicates=Duplicates.of(hashes, classes, np.ones(len(hashes), dtype=np.int64)),
        n_learned=0 if sample is None else int(np.isin(hashes, sample.row_hashes).sum()),
        between_halves=_between_halves(pieces, rulers, len(labels)),
        since_training=_since_training(reported, pieces, rulers),
    )


def _between_halves(pieces: list[PieceSummary], rulers: list[ColumnBins | None], n_classes: int) -> list[Change]:
    """Return the differences between the first and the second half of the rows."""
    ends = np.cumsum([len(one.classes) for one in pieces])
    middle = int(np.searchsorted(ends, ends[-1] / 2)) + 1
    first, second = pieces[:middle], pieces[middle:]
    if not second:
        return []
    per_row = _observations_per_row(first), _observations_per_row(second)
    changes = [
        compare_counts("the classes", _class_counts(first, n_classes), _class_counts(second, n_classes), per_row),
        compare_counts("correct predictions", _prediction_counts(first), _prediction_counts(second), per_row),
    ]
    pairs = zip(rulers, _column_counts(first, rulers), _column_counts(second, rulers), strict=True)
    changes += [compare_counts(ruler.name, one, other, per_row) for ruler, one, other in pairs if ruler is not None]
    return [change for change in changes if change is not None]


def _since_training(
    reported: ReportedModel, pieces: list[PieceSummary], rulers: list[ColumnBins | None]
) -> list[Change]:
    here, state, given = (
        _class_counts(pieces, len(reported.labels)),
        reported.model.state,
        _observations_per_row(pieces),
    )
    groups = None if state.sample is None else state.sample.groups
    # Without training rows, groups are taken to be as large as here.
    per_row = given if state.sample is None else 1.0 if groups is None else len(np.unique(groups)) / len(groups), given
    changes = [compare_counts("the classes", state.rows, here, per_row)]
    pairs = zip(rulers, _column_counts(pieces, rulers), strict=True)
    changes += [
        compare_counts(ruler.name, ruler.training, cells, per_row) for ruler, cells in pairs if ruler is not None
    ]
    return [change for change in changes if change is not None]


def _observations_per_row(pieces: list[PieceSummary]) -> float:
    """Return the number of independent observations, which are groups if rows have some, divided by that of rows."""
    groups = [one.groups for one in pieces if one.groups is not None]
    if not groups:
        return 1.0
    every = np.concatenate(groups)
    return (len(np.unique(every[every > 0])) + int((every == 0).sum())) / len(every)


def _class_counts(pieces: list[PieceSummary], n_classes: int) -> Floats:
    every = np.concatenate([one.classes for one in pieces])
    return np.bincount(every, minlength=n_classes).astype(np.float64)


def _prediction_counts(pieces: list[PieceSummary]) -> Floats:
    """Return the numbers of wrong and of correct predictions."""
    every = np.concatenate([one.right for one in pieces])
    return np.bincount(every.astype(np.int64), minlength=2).astype(np.float64)


def _column_counts(pieces: list[PieceSummary], rulers: list[ColumnBins | None]) -> list[Floats]:
    """Return the cell counts of each column; one zero for columns without bins."""
    columns = [[one.columns[j] for one in pieces] for j in range(len(rulers))]
    return [np.sum([part for part in parts if part is not None] or [np.zeros(1)], axis=0) for parts in columns]
