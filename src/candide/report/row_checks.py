"""Checks of rows: examples worth a look, duplicates and drift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import chdtrc

from ..data.columns import Column, Columns
from ..families.columns.histogram import equal_frequency
from ..families.table import TableFamily
from ..kernels.counting import Hashes
from ..kernels.layouts import Array, Floats, Positions, TextRows
from ..model.classifier import Classifier
from ..statistics import Sample
from ..statistics.table import TableStatistics

Kind = Literal["doubtful label", "least sure", "surest"]
KINDS: tuple[Kind, ...] = ("doubtful label", "least sure", "surest")
# A label is suspect if another class has at least this probability.
SUSPECT_PROBABILITY = 0.9
# The maximal size of a text in an example.
MAX_TEXT_BYTES = 10_000
_MAX_EXAMPLES = {"doubtful label": 6, "least sure": 3, "surest": 3}


class ScoredRows(NamedTuple):
    """Rows with labels and log probabilities by a model that was not trained on them."""

    data: Any
    classes: Positions
    log_probability: Floats  # (rows, classes)
    weight: Floats
    first_row: int | None = None  # position of the first row in the source; None if unknown

    @property
    def confidence(self) -> Floats:
        """The probability of the predicted class."""
        return np.asarray(np.exp(self.log_probability.max(axis=1)))

    @property
    def own(self) -> Floats:
        """The log probability of the label."""
        return np.asarray(self.log_probability[np.arange(len(self.classes)), self.classes])

    @property
    def right(self) -> Array:
        """Whether the predicted class is the label."""
        return np.asarray(self.log_probability.argmax(axis=1) == self.classes)

    @property
    def doubtful(self) -> Array:
        """Whether the label may be wrong: another class is nearly certain."""
        return ~self.right & (self.confidence >= SUSPECT_PROBABILITY)


class Example(NamedTuple):
    """An example row."""

    kind: Kind
    rank: float  # examples are shown in ascending order
    row: Any  # the data of this row
    place: int | None  # position in the source
    label: int
    log_probability: Floats

    @property
    def answer(self) -> int:
        return int(self.log_probability.argmax())


def find_examples(rows: ScoredRows) -> list[Example]:
    """Return the first examples of each kind."""
    counted = (rows.weight > 0) & _short(rows.data)
    doubt = _pick(rows, "doubtful label", rows.own, rows.doubtful & counted)
    unsure = _pick(rows, "least sure", rows.confidence, counted & ~rows.doubtful)
    sure = _pick(rows, "surest", -rows.log_probability.max(axis=1), rows.right & counted)
    return [*doubt, *unsure, *sure]


def select_examples(found: list[Example]) -> list[Example]:
    """Return the first examples of each kind among those of several batches."""
    ordered = sorted(found, key=lambda one: one.rank)
    return [one for kind in KINDS for one in [each for each in ordered if each.kind == kind][: _MAX_EXAMPLES[kind]]]


def _pick(rows: ScoredRows, kind: Kind, rank: Floats, among: Array) -> Iterator[Example]:
    places = np.flatnonzero(among)
    for i in places[np.argsort(rank[places], kind="stable")[: _MAX_EXAMPLES[kind]]].tolist():
        place = None if rows.first_row is None else rows.first_row + i
        own = _copy_row(rows.data, np.array([i]))
        yield Example(kind, float(rank[i]), own, place, int(rows.classes[i]), rows.log_probability[i])


def _short(data: Any) -> Array:
    """Return a mask of the rows whose texts are short enough to be shown."""
    texts = [data] if isinstance(data, TextRows) else [*data.texts().values()] if isinstance(data, Columns) else []
    out = np.ones(data.n_rows, dtype=bool)
    for one in texts:
        out &= one.sizes() <= MAX_TEXT_BYTES
    return out


def _copy_row(data: Any, rows: Array) -> Any:
    """Return a copy of rows that does not keep the whole batch in memory."""
    return data.stored(rows) if isinstance(data, TextRows) else data.take(rows)


class Duplicates(NamedTuple):
    """Numbers of duplicate rows.

    >>> hashes = np.array([7, 3, 7, 7, 3], dtype=np.uint64)
    >>> Duplicates.of(hashes, np.array([0, 1, 1, 0, 1]), np.ones(5, dtype=np.int64))
    Duplicates(n_rows=5, n_repeated=3, n_contradicting=1, first=(0, 2))
    """

    n_rows: int
    n_repeated: int  # rows that equal an earlier row
    n_contradicting: int  # distinct rows with several labels
    first: tuple[int, int] | None  # positions of two equal rows with different labels

    @classmethod
    def of(cls, hashes: Hashes, classes: Positions, copies: Array) -> Duplicates:
        """Count duplicates by row hashes; ``copies`` is the multiplicity of each row."""
        if not len(hashes):
            return cls(0, 0, 0, None)
        order = np.lexsort((classes, hashes))
        begins = np.flatnonzero(np.diff(hashes[order], prepend=~hashes[order[0]]) != 0)
        ends = np.append(begins[1:], len(order)) - 1
        # Rows with equal hashes are sorted by class.
        odd = np.flatnonzero(classes[order[begins]] != classes[order[ends]])
        first = (int(order[begins[odd[0]]]), int(order[ends[odd[0]]])) if len(odd) else None
        return cls(int(copies.sum()), int(copies.sum()) - len(begins), len(odd), first)


def find_sample_duplicates(sample: Sample) -> Duplicates:
    """Count duplicates among the kept training rows whose hash is below the thresholds of all classes."""
    entries = sample.entries
    here = np.flatnonzero(entries.hashes < sample.threshold.min())
    found = Duplicates.of(sample.row_hashes[here], entries.classes[here], entries.multiplicity[here])
    if found.first is None:
        return found
    one, other = found.first
    return found._replace(first=(int(here[one]), int(here[other])))


_N_BINS = 10
_MAX_LABELS = 20
# Smaller distances are not reported, nor are those with a larger p-value of the chi-squared test.
_MIN_DISTANCE = 0.1
_MAX_P_VALUE = 1e-6


class Change(NamedTuple):
    """A difference between two sets of rows."""

    what: str
    distance: float  # total variation distance of shares


@dataclass(frozen=True)
class ColumnBins:
    """Bins of a column with about equal numbers of training rows; the last bin is for missing cells."""

    name: str
    training: Floats  # (codes,) weight of the training rows
    cuts: Floats | None = None
    labels: Array | None = None  # of categories; all others share the next code

    def count_cells(self, column: Column) -> Floats:
        """Return the number of cells per bin."""
        return np.bincount(self._codes(column), minlength=len(self.training)).astype(np.float64)

    def _codes(self, column: Column) -> Array:
        missing = len(self.training) - 1
        if self.labels is not None:
            return self._places(column, missing)
        if column.kind != "number":
            return np.full(len(column.values), missing)
        assert self.cuts is not None
        x = np.asarray(column.values, dtype=np.float64)
        return np.where(np.isnan(x), missing, np.searchsorted(self.cuts, x, side="right"))

    def _places(self, column: Column, missing: int) -> Array:
        if column.kind != "category" or column.labels is None:
            return np.full(len(column.values), missing)
        assert self.labels is not None
        known = {label: place for place, label in enumerate(self.labels.tolist())}
        places = [known.get(label, missing - 1) for label in column.labels.tolist()]
        return np.array([*places, missing])[column.values]


def training_bins(model: Classifier) -> list[ColumnBins | None]:
    """Return the bins of each column of a table; None for columns that are empty or unused by the model."""
    family, statistics = model.family, model.state.statistics
    if not isinstance(family, TableFamily):
        return []
    together = {j for block in family.blocks for j in block.columns}
    used = [j in together or choice.model is not None for j, choice in enumerate(family.choices or ())]
    return [_column_bins(statistics, j, str(name)) if used[j] else None for j, name in enumerate(statistics.names)]


def _column_bins(statistics: TableStatistics, j: int, name: str) -> ColumnBins | None:
    place, missing = statistics.place(j), max(0.0, float((statistics.rows - statistics.observed(j)).sum()))
    if statistics.kinds[j] == "number":
        cells = statistics.grid.column(place)
        weight = cells.count.sum(axis=1)
        first = equal_frequency(weight, _N_BINS) if len(weight) else np.zeros(1, dtype=np.int64)
        training = np.add.reduceat(weight, first) if len(weight) else np.zeros(1)
        return ColumnBins(name, np.append(training, missing), cuts=cells.low[first[1:]])
    if statistics.kinds[j] == "category":
        weight = np.asarray(statistics.categories.column(place).sum(axis=0))
        most = np.argsort(-weight, kind="stable")[:_MAX_LABELS]
        training = np.concatenate([weight[most], [weight.sum() - weight[most].sum(), missing]])
        return ColumnBins(name, training, labels=statistics.categories.labels[place][most])
    return None


def count_cells(rulers: list[ColumnBins | None], data: Any) -> list[Floats | None]:
    """Return the cell counts of each column."""
    if not isinstance(data, Columns):
        return []
    pairs = zip(rulers, data.columns, strict=True)
    return [None if ruler is None else ruler.count_cells(column) for ruler, column in pairs]


def compare_counts(what: str, one: Floats, other: Floats, per_row: tuple[float, float] = (1.0, 1.0)) -> Change | None:
    """Return the difference of two sets of counts if it is significant and large enough to report.

    ``per_row``: numbers of independent observations per row of both, at most 1, because rows of a group are alike.

    >>> compare_counts("sex", np.array([60.0, 40.0]), np.array([50.0, 50.0])) is None
    True
    >>> compare_counts("sex", np.array([600.0, 400.0]), np.array([300.0, 700.0]))
    Change(what='sex', distance=0.3)
    """
    both, sizes = one + other, (float(one.sum()), float(other.sum()))
    if not all(sizes):
        return None
    shares = one / sizes[0], other / sizes[1]
    distance = float(np.abs(shares[0] - shares[1]).sum()) / 2
    held = both > 0
    freedom = int(held.sum()) - 1
    pooled = both[held] / both.sum()
    variance = sum(1 / (size * share) for size, share in zip(sizes, per_row, strict=True))
    statistic = float(((shares[0] - shares[1])[held] ** 2 / pooled).sum()) / variance
    is_large = distance >= _MIN_DISTANCE and chdtrc(freedom, statistic) < _MAX_P_VALUE
    return Change(what, round(distance, 12)) if is_large else None
