"""The smallest changes of a row that change the prediction: variants of the row, and the search among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data.columns import Column, Columns
from ..exceptions import ParameterError
from ..families.columns.histogram import middles
from ..kernels import Kernels
from ..kernels._core import Texts
from ..kernels.layouts import Array, Dense, Floats, Sparse, TextRows
from ..model.classifier import Classifier
from ..model.table import objects
from ..printable import printable
from ..statistics import CategoryCounts, Counts, Moments
from ..statistics.table import TableStatistics
from .contributions import explained
from .terms import WORD, date_columns, parts_of, values_of, written

# Candidate numbers: these standard deviations from the mean, and this many quantiles.
_DEVIATIONS = np.linspace(-3.0, 3.0, 13)
_PARTS = 20
_COUNTS = (*map(float, range(11)), 20.0, 50.0)
_TIMES = (0.5, 1.0, 2.0, 3.0)


class Variants(Protocol):
    """One row, and other possible values of its cells."""

    names: list[Any]  # of what can be changed
    before: list[Any]

    def candidates(self, place: int) -> list[Any]:
        """Return other values of a cell."""

    def step(self, place: int) -> float | None:
        """Return the unit in which changes of a number are measured; None for other cells."""

    def is_whole(self, place: int) -> bool:
        """Return whether the numbers of a cell are integers."""

    def shown(self, place: int, value: Any) -> Any:
        """Return a value for display."""

    def changed(self, changes: Sequence[Mapping[int, Any]]) -> Any:
        """Return one changed row per set of changes."""


class Cells:
    """A row of a table, or of numbers."""

    def __init__(self, model: Classifier, row: Dense | Sparse | Columns, names: Array) -> None:
        self._model, self._row = model, row
        self.names: list[Any] = names.tolist()
        self.before = values_of(row)
        self._dates = date_columns(self.names)
        self._made_of_dates = {part for parts in self._dates.values() for part in parts}

    def candidates(self, place: int) -> list[Any]:
        if place in self._made_of_dates:
            return []
        known = _known(self._model, place)
        return [value for value in known if value != self.before[place]]

    def shown(self, place: int, value: Any) -> Any:
        return written(value) if place in self._dates else value

    def step(self, place: int) -> float | None:
        return _deviation(self._model.state.statistics, place)

    def is_whole(self, place: int) -> bool:
        return all(float(value).is_integer() for value in [self.before[place], *_known(self._model, place)])

    def changed(self, changes: Sequence[Mapping[int, Any]]) -> Any:
        rows = self._row.take(np.zeros(len(changes), dtype=np.int64))
        changes = [self._with_parts(change) for change in changes]
        if isinstance(rows, Columns):
            columns = tuple(self._column(column, j, changes) for j, column in enumerate(rows.columns))
            return replace(rows, columns=columns)
        if isinstance(rows, Dense):
            cells = tuple(_with(rows.column(j), j, changes) for j in range(rows.n_columns))
            return Dense.of(cells, rows.names)
        from scipy.sparse import csr_array

        values = rows.floats()
        return Sparse.of(csr_array(np.column_stack([_with(values[:, j], j, changes) for j in range(rows.n_columns)])))

    def _with_parts(self, change: Mapping[int, Any]) -> Mapping[int, Any]:
        """Return the change with the month and weekday of a changed date."""
        for place in self._dates.keys() & change.keys():
            change = {**change, **parts_of(change[place], self._dates[place])}
        return change

    @staticmethod
    def _column(column: Column, j: int, changes: Sequence[Mapping[int, Any]]) -> Column:
        if not any(j in change for change in changes):
            return column
        if column.labels is None:
            return replace(column, values=_with(column.values, j, changes))
        new = [change[j] for change in changes if j in change]
        labels = list(dict.fromkeys([*column.labels.tolist(), *new]))
        codes = [{j: labels.index(change[j])} if j in change else {} for change in changes]
        return replace(column, values=_with(column.values, j, codes).astype(np.int32), labels=objects(labels))


class Words:
    """A text from which words may be removed."""

    def __init__(self, text: str, words: list[str]) -> None:
        self._text = text
        self.names: list[Any] = [None] * len(words)
        self.before: list[Any] = words

    def candidates(self, place: int) -> list[Any]:
        return [None]

    def step(self, place: int) -> float | None:
        return None

    def is_whole(self, place: int) -> bool:
        return False

    def shown(self, place: int, value: Any) -> Any:
        return value

    def changed(self, changes: Sequence[Mapping[int, Any]]) -> Any:
        texts = [self._without({self.before[place] for place in change}) for change in changes]
        return TextRows(Texts.of_list(texts)[0])

    def _without(self, gone: set[str]) -> str:
        return WORD.sub(lambda found: "" if found[0].lower() in gone else found[0], self._text)


def _with(cells: Array, j: int, changes: Sequence[Mapping[int, Any]]) -> Array:
    """Return a column with changed cells."""
    here = [(i, change[j]) for i, change in enumerate(changes) if j in change]
    out = cells.copy() if cells.dtype == object else np.array(cells, dtype=np.float64)
    for i, value in here:
        out[i] = value
    return out


def _known(model: Classifier, j: int) -> list[Any]:
    """Return the known values of a column, or representative numbers of its distribution."""
    statistics: Any = model.state.statistics
    if isinstance(statistics, CategoryCounts):
        return list(statistics.labels[j].tolist())
    if isinstance(statistics, TableStatistics):
        return _known_in_table(statistics, j)
    if isinstance(statistics, Moments):
        _, mean, variance = statistics.pooled()
        around = np.append(statistics.mean[statistics.weight[:, j] > 0, j], mean[j])
        return list(np.unique(around[:, None] + _DEVIATIONS * np.sqrt(variance[j])).tolist())
    assert isinstance(statistics, Counts)
    return [0.0, 1.0] if statistics.presence else _counts(statistics, j)


def _counts(statistics: Counts, j: int) -> list[Any]:
    """Return small counts and multiples of the class means."""
    total = np.asarray(statistics.only(j).dense(), dtype=np.float64)[:, 0]
    mean = np.divide(total, statistics.rows, out=np.zeros_like(total), where=statistics.rows > 0)
    return sorted({*_COUNTS, *np.floor(np.outer(_TIMES, mean)).ravel().tolist()})


def _known_in_table(statistics: TableStatistics, j: int) -> list[Any]:
    kind, place = statistics.kinds[j], statistics.place(j)
    if kind == "category":
        return list(statistics.categories.labels[place].tolist())
    if kind != "number":
        return []
    cells = statistics.grid.column(place)
    weight = np.cumsum(cells.count.sum(axis=1))
    at = np.searchsorted(weight, (np.arange(_PARTS) + 0.5) / _PARTS * weight[-1]) if len(weight) else []
    return np.unique(middles(cells)[at]).tolist() if len(at) else []


def _deviation(statistics: Any, j: int) -> float | None:
    if isinstance(statistics, TableStatistics):
        if statistics.kinds[j] != "number":
            return None
        statistics, j = statistics.moments, statistics.place(j)
    if isinstance(statistics, Counts):
        return 1.0
    if not isinstance(statistics, Moments):
        return None
    return float(np.sqrt(statistics.pooled()[2][j])) or None


# Maximum number of cells changed together, and of bisection steps toward a number.
_MOST_CHANGES = 5
_HALVINGS = 20
# Number of further digits of a number that are tried, after the first two.
_DIGITS = 10
# Number of other classes that are tried.
_TARGETS = 2
# Words of a text that are tried.
_MOST_WORDS = 50
_NO_CHANGES: Mapping[int, Any] = {}


class Change(NamedTuple):
    """A changed cell: its column, value before and value after. A removed word has column None and after None."""

    column: Any
    before: Any
    after: Any

    def __str__(self) -> str:
        if self.column is None:
            return f"without {self.before!r}"
        return printable(f"{self.column}: {_shown(self.before)} → {_shown(self.after)}")


class Flip(NamedTuple):
    """Changes of a row, and the prediction and probability after them."""

    changes: tuple[Change, ...]
    answer: Any
    probability: float

    def __str__(self) -> str:
        return printable(f"{', '.join(map(str, self.changes))}: {self.answer} ({self.probability:.4f})")


@dataclass(frozen=True, repr=False)
class WhatIf:
    """The prediction for a row, and the smallest changes that lead to another one, in ``flips``."""

    answer: Any
    probability: float
    flips: tuple[Flip, ...]

    def __repr__(self) -> str:
        answer = f"{printable(self.answer)} ({self.probability:.4f})"
        if not self.flips:
            return f"{answer}; found no change of a few cells or words that leads to another prediction"
        return "\n".join([f"{answer}, unless", *(f"  {flip}" for flip in self.flips)])


def what_if(model: Classifier, data: Any, names: Array, to: Any, most: int, kernels: Kernels) -> Iterator[WhatIf]:
    """Yield the result for each row; ``to`` is the desired class, or None for any other class."""
    labels = model.classes.labels.tolist()
    if to is not None and to not in labels:
        raise ParameterError(f"to is {to!r}, which is not a class of this model; expected one of {labels}")
    for i in range(data.n_rows):
        row = data.take(np.array([i]))
        variants: Variants = _words(model, row, kernels) if isinstance(row, TextRows) else Cells(model, row, names)
        yield _Search(model, variants, None if to is None else labels.index(to), kernels).found(most)


def _words(model: Classifier, row: TextRows, kernels: Kernels) -> Words:
    """Return the words that contribute most to the predicted class, in descending order."""
    (found,) = explained(model, row, np.zeros(0), kernels)
    text, amounts = found.texts[None], defaultdict[str, float](float)
    for word in found.words().words if len(found.classes) > 1 else []:
        amounts[text[word.begin : word.end].lower()] += word.amount
    return Words(text, sorted(amounts, key=lambda word: -amounts[word])[:_MOST_WORDS])


class _Search:
    """Search among the changes of one row; the model scores many changes at a time."""

    def __init__(self, model: Classifier, variants: Variants, to: int | None, kernels: Kernels) -> None:
        self.model, self.variants, self.to, self.kernels = model, variants, to, kernels
        self.start = self._ask([{}])[0]
        self.answer = int(self.start.argmax())

    def _ask(self, changes: list[Mapping[int, Any]]) -> Floats:
        return self.model.posterior(self.variants.changed(changes), self.kernels, logarithm=True)

    def _lead(self, scores: Floats) -> Floats:
        """Return the lead of the desired class over the predicted one; it is reached above 0."""
        others = np.delete(scores, self.answer, axis=1).max(axis=1) if self.to is None else scores[:, self.to]
        rest = scores[:, self.answer] if self.to is None else np.delete(scores, self.to, axis=1).max(axis=1)
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(others - rest, nan=0.0, posinf=1e300, neginf=-1e300)

    def found(self, most: int) -> WhatIf:
        label, sure = self.model.classes.labels.tolist()[self.answer], float(np.exp(self.start[self.answer]))
        if self.to == self.answer or len(self.start) < 2:
            return WhatIf(label, sure, ())
        singles = [
            (place, value) for place in range(len(self.variants.names)) for value in self.variants.candidates(place)
        ]
        if not singles:
            return WhatIf(label, sure, ())
        lead = self._lead(self._ask([{place: value} for place, value in singles]))
        flipping = [(place, value) for (place, value), margin in zip(singles, lead, strict=True) if margin > 0]
        if flipping:
            return WhatIf(label, sure, tuple(self._smallest(flipping))[:most])
        together = [changes for to in self._targets for changes in self._toward(to)._together(singles)]
        return WhatIf(label, sure, tuple(self._flip(changes) for _, changes in sorted(together, key=itemgetter(0))[:1]))

    @property
    def _targets(self) -> list[int]:
        """Return the desired class, or the next most probable ones."""
        others: list[int] = np.argsort(-self.start, kind="stable")[1 : 1 + _TARGETS].tolist()
        return others if self.to is None else [self.to]

    def _toward(self, to: int) -> _Search:
        return _Search(self.model, self.variants, to, self.kernels)

    def _smallest(self, flipping: list[tuple[int, Any]]) -> Iterator[Flip]:
        """Return the smallest sufficient change of each cell, measured in deviations for numbers and as 1 otherwise."""
        best: dict[int, tuple[float, Any]] = {}
        for place, value in flipping:
            size, nearest = self._nearest(place, value)
            if place not in best or size < best[place][0]:
                best[place] = size, nearest
        for place, (_, value) in sorted(best.items(), key=lambda item: item[1][0]):
            yield self._flip({place: value})

    def _nearest(self, place: int, value: Any, other_changes: Mapping[int, Any] = _NO_CHANGES) -> tuple[float, Any]:
        """Return the nearest sufficient number, given other changes, and its distance in deviations."""
        step, before = self.variants.step(place), self.variants.before[place]
        if step is None or before is None:
            return 1.0, value
        enough = self._shortest_sufficient(place, float(before), float(value), other_changes)
        return abs(enough - float(before)) / step, enough

    def _shortest_sufficient(self, place: int, near: float, far: float, other_changes: Mapping[int, Any]) -> float:
        """Return the sufficient number nearest to the original one, with as few digits as possible."""

        def is_enough(number: float) -> bool:
            return bool(self._lead(self._ask([{**other_changes, place: number}]))[0] > 0)

        if self.variants.is_whole(place):
            while abs(far - near) > 1:
                middle = float(round((near + far) / 2))
                near, far = (near, middle) if is_enough(middle) else (middle, far)
            return far
        last = far
        for _ in range(_HALVINGS):
            middle = (near + far) / 2
            near, far = (near, middle) if is_enough(middle) else (middle, far)
        unit = 10.0 ** np.floor(np.log10(max(abs(far), 1e-300)) - 1)
        for _ in range(_DIGITS):
            whole = np.ceil(far / unit) if last > near else np.floor(far / unit)
            short = float(_number(whole * unit))
            if abs(short - far) <= 0.01 * abs(last - far) + abs(far - near) and is_enough(short):
                return short
            unit /= 10
        return far

    def _together(self, singles: list[tuple[int, Any]]) -> list[tuple[float, dict[int, Any]]]:
        """Return changes that are added greedily until they are sufficient, and then reduced one by one.

        The result has one element, the size and the changes, or none if they are never sufficient.
        """
        changes: dict[int, Any] = {}
        for _ in range(_MOST_CHANGES):
            lead = self._lead(self._ask([changes | {place: value} for place, value in singles]))
            place, value = singles[int(lead.argmax())]
            changes[place] = value
            if lead.max() > 0:
                return [self._reduced(self._needed(changes))]
            singles = [(other, value) for other, value in singles if other not in changes]
            if not singles:
                break
        return []

    def _reduced(self, changes: dict[int, Any]) -> tuple[float, dict[int, Any]]:
        whole = 0.0
        for place, value in list(changes.items()):
            other_changes = {other: kept for other, kept in changes.items() if other != place}
            size, changes[place] = self._nearest(place, value, other_changes)
            whole += size
        return whole, changes

    def _needed(self, changes: dict[int, Any]) -> dict[int, Any]:
        for place in list(changes):
            fewer = {other: value for other, value in changes.items() if other != place}
            if fewer and self._lead(self._ask([fewer]))[0] > 0:
                changes = fewer
        return changes

    def _flip(self, changes: Mapping[int, Any]) -> Flip:
        scores, names, before = self._ask([changes])[0], self.variants.names, self.variants.before
        shown = self.variants.shown
        made = tuple(
            Change(names[place], shown(place, before[place]), shown(place, value)) for place, value in changes.items()
        )
        best = int(scores.argmax())
        return Flip(made, self.model.classes.labels.tolist()[best], float(np.exp(scores[best])))


def _shown(value: Any) -> str:
    return "nothing" if value is None else _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    """Return a number with as few digits as identify it."""
    return f"{value:.12g}"
