"""What in a model or its rows deserves a second look."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from ..explain.terms import BITS
from ..kernels.layouts import Floats
from ..kernels.vocabulary import Vocabulary
from ..model.evaluation import Report
from .columns import Looks
from .duplicates import Duplicates
from .given import Given
from .subject import Subject
from .training import Trained

Topic = Literal["leakage", "drift", "labels", "duplicates", "classes", "columns", "calibration", "quality", "age"]

# A column that tells more than this share of what there is to know of the class.
_DECIDES = 0.9
# A word is suspected if so many of the texts that hold it are of one class, and so many of the class hold it: it
# decides nearly all of a class. Honest key words are in some of a class's texts.
_PRECISION, _RECALL = 0.99, 0.95
_FEW_ROWS = 20
_OFF = 0.05
_OLD = 0.1


class Concern(NamedTuple):
    """One of them."""

    topic: Topic
    text: str
    names: tuple[str, ...] = ()  # of what it is about: users' words


def concerns_of(subject: Subject, looks: Looks, trained: Trained | None, given: Given | None) -> list[Concern]:
    """All there are, the gravest first."""
    found = [*_leaks(subject, looks), *_learned(given), *_drift(given), *_duplicates(trained, given)]
    found += [*_quality(subject, given), *_classes(subject), *_columns(looks), *_age(subject)]
    return found


def _leaks(subject: Subject, looks: Looks) -> Iterator[Concern]:
    """One column or word alone nearly decides."""
    entropy = _entropy(subject.model.state.rows)
    columns = looks.table
    if columns is not None and "bits" in columns and entropy > 0:
        bits = np.nan_to_num(columns["bits"])
        names = columns["column"][bits > _DECIDES * entropy].tolist()
        if names:
            yield Concern(
                "leakage",
                f"alone, each of these columns tells more than {_DECIDES:.0%} of the {entropy:.2f} bits that there are "
                "to know about the class; make sure that it is known before the class is",
                tuple(map(str, names)),
            )
    tokens = _deciding_tokens(subject)
    if tokens:
        yield Concern(
            "leakage",
            f"at least {_PRECISION:.0%} of the texts that hold one of these words are of one class, and at least "
            f"{_RECALL:.0%} of its texts hold it; make sure that it will be there in texts to come",
            tuple(tokens),
        )


def _deciding_tokens(subject: Subject) -> list[str]:
    words, model = subject.words, subject.model
    if words is None or len(subject.labels) < 2:
        return []
    sums = model.state.statistics.looks[0]
    if not isinstance(sums.coding, Vocabulary) or not sums.counts.presence:
        return []
    tokens = list(dict.fromkeys(words["token"].tolist()))
    codes = sums.coding.codes(tokens)
    known = [(token, code) for token, code in zip(tokens, codes.tolist(), strict=True) if code >= 0]
    held = _columns_of(sums.counts.total, [code for _, code in known])
    rows = model.state.rows
    precise = held.max(axis=0, initial=0.0) >= _PRECISION * np.maximum(held.sum(axis=0), 1e-300)
    frequent = ((held >= _RECALL * rows[:, None]) & (rows[:, None] >= _FEW_ROWS)).any(axis=0)
    return [token for (token, _), odd in zip(known, (precise & frequent).tolist(), strict=True) if odd]


def _columns_of(total: Any, codes: list[int]) -> Floats:
    some = total[:, codes]
    return np.asarray(some if isinstance(some, np.ndarray) else some.toarray(), dtype=np.float64)


def _learned(given: Given | None) -> Iterator[Concern]:
    if given is not None and given.n_learned:
        yield Concern(
            "leakage",
            f"{given.n_learned:,} of the {given.duplicates.n_rows:,} rows given are among the rows that the model has "
            "learned: what is measured on them flatters; pass rows that it has not seen",
        )


def _drift(given: Given | None) -> Iterator[Concern]:
    if given is None:
        return
    if given.between_halves:
        yield Concern(
            "drift",
            "the second half of the rows given differs from the first (by that share of rows); if their order is that "
            "of time, the model may be out of date",
            _far(given.between_halves),
        )
    if given.since_training:
        yield Concern("drift", "the rows given differ from those of training", _far(given.since_training))


def _far(changes: list[Any]) -> tuple[str, ...]:
    """What differs most, first."""
    ordered = sorted(changes, key=lambda change: -change.distance)
    return tuple(f"{change.what} ({change.distance:.0%})" for change in ordered)


def _duplicates(trained: Trained | None, given: Given | None) -> Iterator[Concern]:
    if trained is not None:
        yield from _of_lot("training rows", trained.duplicates, trained.contradicting)
    if given is not None:
        first = given.duplicates.first
        where = () if first is None else ("rows {:,} and {:,}".format(*(place + 1 for place in sorted(first))),)
        yield from _of_lot("rows given", given.duplicates, where)


def _of_lot(what: str, found: Duplicates, first: tuple[str, ...]) -> Iterator[Concern]:
    if found.n_contradicting:
        times = "row is" if found.n_contradicting == 1 else "rows are"
        yield Concern(
            "labels",
            f"{found.n_contradicting:,} {times} there with different labels, among {found.n_rows:,} {what} looked at: "
            "no model can be right about all of them; the first",
            first,
        )
    if found.n_repeated >= 0.01 * found.n_rows and found.n_repeated:
        yield Concern(
            "duplicates",
            f"{found.n_repeated:,} of {found.n_rows:,} {what} looked at ({found.n_repeated / found.n_rows:.1%}) repeat "
            "another; where copies fall on both sides of a split, measures flatter",
        )


def _quality(subject: Subject, given: Given | None) -> Iterator[Concern]:
    reports = (("rows left out", subject.honest), ("the rows given", None if given is None else given.report))
    for what, report in reports:
        if report is None or len(subject.labels) < 2:
            continue
        if report.accuracy <= most_frequent(report) + 1e-12:
            yield Concern(
                "quality",
                f"on {what} the model is right {report.accuracy:.1%} of the time, no more than who always answers the "
                "most frequent class",
            )
        if report.ece > _OFF:
            yield Concern(
                "calibration",
                f"on {what} the probability of an answer is off by {report.ece:.1%} on average; see calibrate=, or "
                "adapt_class_prior where the classes have other shares",
            )


def most_frequent(report: Report) -> float:
    """The accuracy of who always answers the most frequent class."""
    rows = report.confusion.sum(axis=1)
    return float(rows.max() / rows.sum())


def guessing_loss(report: Report) -> float:
    """The log-loss of who knows nothing but the shares of the classes."""
    return _entropy(report.confusion.sum(axis=1)) * BITS


def _entropy(weight: Floats) -> float:
    """In bits."""
    share = weight[weight > 0] / weight.sum() if weight.sum() > 0 else np.ones(1)
    return float(-(share * np.log2(share)).sum())


def _classes(subject: Subject) -> Iterator[Concern]:
    if len(subject.labels) < 2:
        yield Concern("classes", "there is one class: the model has nothing to tell apart")
        return
    rare = [str(label) for label, n in zip(subject.labels, subject.model.state.rows, strict=True) if n < _FEW_ROWS]
    if rare:
        yield Concern("classes", f"fewer than {_FEW_ROWS} rows: what is said of such classes is a guess", tuple(rare))
    honest = subject.honest
    if honest is not None:
        never = honest.per_class["class"][honest.per_class["recall"] == 0].tolist()
        if never:
            yield Concern("classes", "no row of these is recognised when it is left out", tuple(map(str, never)))


def _columns(looks: Looks) -> Iterator[Concern]:
    """Those that are set aside, by why they are."""
    if looks.table is None or "note" not in looks.table:
        return
    pairs = list(zip(looks.table["column"].tolist(), looks.table["note"].tolist(), strict=True))
    for begin, text in (
        ("an identifier", "set aside, for nearly every row has a value of its own, or the rows are numbered"),
        ("constant", "set aside, for all rows have the same value"),
        ("nothing but missing", "set aside, for no row has a value"),
    ):
        names = tuple(str(name) for name, note in pairs if str(note).startswith(begin))
        if names:
            yield Concern("columns", text, names)


def _age(subject: Subject) -> Iterator[Concern]:
    blend = subject.model.blend
    if blend is not None and blend.age > _OLD:
        yield Concern(
            "age",
            f"weights and calibration were fitted before {blend.age:.0%} of what was learned or forgotten since; fit "
            "them again with refit(), which needs training rows",
        )
