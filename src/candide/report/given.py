"""Rows with labels that a report is given, gone through once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..exceptions import InputError
from ..families import Batch
from ..kernels.hashing import Hashes
from ..kernels.layouts import Array, Floats, Positions
from ..model.evaluation import Report, Verdicts
from ..statistics.hashing import row_hashes
from .drift import Change, Ruler, counted, differs, rulers_of
from .duplicates import Duplicates
from .examples import Example, Judged, best_of, examples_of
from .subject import Subject


class Piece(NamedTuple):
    """What is kept of some rows; of their order, which half of a batch they are."""

    verdicts: Verdicts
    plain: Verdicts | None  # before anything is corrected
    hashes: Hashes
    classes: Positions
    right: Array
    columns: list[Floats | None]  # cells by code
    n_doubtful: int


class Given(NamedTuple):
    """What was found."""

    report: Report
    plain: Report | None  # the same with every column counted once, and nothing calibrated
    examples: list[Example]
    n_doubtful: int
    duplicates: Duplicates
    n_learned: int  # rows that are among the training rows kept
    between_halves: list[Change]
    since_training: list[Change]

    @property
    def n_rows(self) -> int:
        """That were judged."""
        return self.report.n_rows


def go_through(subject: Subject, batches: Iterable[Batch]) -> Given:
    """Judge all rows, few of which need be in memory at once."""
    rulers = rulers_of(subject.model)
    pieces: list[Piece] = []
    found: list[Example] = []
    n_rows = 0
    for batch in batches:
        for begin, end in _halves(batch.data.n_rows):
            rows = _judged(subject, batch, begin, end, n_rows + begin)
            pieces.append(_piece(subject, rows, rulers))
            found = best_of([*found, *examples_of(rows)])
        n_rows += batch.data.n_rows
    if not pieces:
        raise InputError("there are no rows to judge; pass rows with labels, or none at all")
    return _summed(subject, pieces, found, rulers)


def _halves(n_rows: int) -> list[tuple[int, int]]:
    middle = n_rows // 2
    return [(0, middle), (middle, n_rows)] if middle else [(0, n_rows)]


def _judged(subject: Subject, batch: Batch, begin: int, end: int, first_row: int) -> Judged:
    data, classes = batch.data.rows(begin, end), batch.classes[begin:end]
    weight = np.ones(end - begin) if batch.weight is None else batch.weight[begin:end]
    scores = subject.model.posterior(data, subject.kernels, logarithm=True)
    return Judged(data, classes, scores, weight, first_row)


def _piece(subject: Subject, rows: Judged, rulers: list[Ruler | None]) -> Piece:
    model, plain, beside = subject.model, None, (rows.classes, rows.weight)
    if model.plan.corrects:
        plain = Verdicts.of(model.scorer.posterior(rows.data, subject.kernels, logarithm=True), *beside)
    return Piece(
        verdicts=Verdicts.of(rows.log_probability, *beside),
        plain=plain,
        hashes=row_hashes(rows.data),
        classes=rows.classes,
        right=rows.right,
        columns=counted(rulers, rows.data),
        n_doubtful=int((rows.doubtful & (rows.weight > 0)).sum()),
    )


def _summed(subject: Subject, pieces: list[Piece], found: list[Example], rulers: list[Ruler | None]) -> Given:
    labels, plain = subject.model.classes.labels, [one.plain for one in pieces if one.plain is not None]
    hashes = np.concatenate([one.hashes for one in pieces])
    classes = np.concatenate([one.classes for one in pieces])
    sample = subject.model.state.sample
    return Given(
        report=Report.from_verdicts((one.verdicts for one in pieces), labels),
        plain=Report.from_verdicts(plain, labels) if plain else None,
        examples=found,
        n_doubtful=sum(one.n_doubtful for one in pieces),
        duplicates=Duplicates.of(hashes, classes, np.ones(len(hashes), dtype=np.int64)),
        n_learned=0 if sample is None else int(np.isin(hashes, sample.row_hashes).sum()),
        between_halves=_between_halves(pieces, rulers, len(labels)),
        since_training=_since_training(subject, pieces, rulers),
    )


def _between_halves(pieces: list[Piece], rulers: list[Ruler | None], n_classes: int) -> list[Change]:
    """The first half of the pieces against the second, by rows."""
    ends = np.cumsum([len(one.classes) for one in pieces])
    middle = int(np.searchsorted(ends, ends[-1] / 2)) + 1
    first, second = pieces[:middle], pieces[middle:]
    if not second:
        return []
    lots = [[_classes(half, n_classes), _answers(half)] for half in (first, second)]
    changes = [differs(what, *pair) for what, *pair in zip(("the classes", "right answers"), *lots, strict=True)]
    pairs = zip(rulers, _columns(first, rulers), _columns(second, rulers), strict=True)
    changes += [differs(ruler.name, one, other) for ruler, one, other in pairs if ruler is not None]
    return [change for change in changes if change is not None]


def _since_training(subject: Subject, pieces: list[Piece], rulers: list[Ruler | None]) -> list[Change]:
    here = _classes(pieces, len(subject.labels))
    changes = [differs("the classes", subject.model.state.rows, here)]
    pairs = zip(rulers, _columns(pieces, rulers), strict=True)
    changes += [differs(ruler.name, ruler.trained, cells) for ruler, cells in pairs if ruler is not None]
    return [change for change in changes if change is not None]


def _classes(pieces: list[Piece], n_classes: int) -> Floats:
    every = np.concatenate([one.classes for one in pieces])
    return np.bincount(every, minlength=n_classes).astype(np.float64)


def _answers(pieces: list[Piece]) -> Floats:
    """Wrong and right ones."""
    every = np.concatenate([one.right for one in pieces])
    return np.bincount(every.astype(np.int64), minlength=2).astype(np.float64)


def _columns(pieces: list[Piece], rulers: list[Ruler | None]) -> list[Floats]:
    """Of each column the cells by code, added up; nothing where there is no ruler."""
    columns = [[one.columns[j] for one in pieces] for j in range(len(rulers))]
    return [np.sum([part for part in parts if part is not None] or [np.zeros(1)], axis=0) for parts in columns]
