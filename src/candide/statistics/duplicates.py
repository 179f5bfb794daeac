"""Detection of duplicates: which equal rows are copies of one observation, and which are independent observations.

A copy is left out together with its original, and counts as additional weight. Equal rows of columns with few values
may be independent observations, which are left out one by one. The two cases are distinguished by the expected
frequency of the row if columns were independent within its class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels.layouts import Array, Dense, Floats, Positions, Sparse, TextRows
from .kept_rows import Kept, coded, is_numeric, parted

if TYPE_CHECKING:
    from .sample import Sample

# Number columns with more distinct values than this are measurements; those with fewer are treated like categories.
_FEW_VALUES = 20
# Number of columns with few values whose joint frequencies are used; other columns are treated as independent.
_JOINT = 3
# Equal rows with a lower expected number than this are all treated as copies.
_RARE = 0.01
# Equal rows beyond this quantile of the expected number are treated as copies.
_LEVEL = 0.99
# Maximum number of copies per observation: 20, or 4 times the mean if that is more. A row that makes up a large share
# of the data is assumed to be frequent among new rows too.
_MOST_COPIES, _FACTOR = 20.0, 4.0
# Weight of the overall number of copies per row in the estimate for one class, in rows.
_SHRINK = 5.0
# Maximum multiplicity in the test for underdispersion.
_MOST_EQUAL = 30
# Maximum number of unique rows used to estimate the frequency of values.
_MOST_ROWS = 5_000


class Observations(NamedTuple):
    """Distinct rows after removing copies."""

    places: Array  # positions of the rows among the entries of the sample
    weight: Floats  # of one independent observation: all its copies
    multiplicity: Array  # number of independent observations of the row


def observations(sample: Sample) -> Observations:
    """Return the rows of a sample with copies merged into their weight.

    >>> from candide.statistics import Sample
    >>> from candide.statistics.base import Budget
    >>> X = np.sin(np.arange(60.0)).reshape(30, 2)
    >>> sample = Sample.of(Dense.of(np.vstack([X, X[:3]])), np.zeros(33, dtype=np.int32), None, 1, budget=Budget(1000))
    >>> found = observations(sample)
    >>> len(found.weight), int(found.multiplicity.max()), float(found.weight.sum())
    (30, 1, 33.0)
    """
    entries = sample.entries
    # Entries of one class and hash are adjacent, one for each weight.
    is_first = np.ones(len(entries.classes), dtype=bool)
    is_first[1:] = (np.diff(entries.classes) != 0) | (entries.hashes[1:] != entries.hashes[:-1])
    first = np.flatnonzero(is_first)
    if len(first) == len(is_first) and (entries.multiplicity == 1).all():
        return Observations(first, entries.weight, entries.multiplicity)
    seen = np.add.reduceat(entries.multiplicity, first)
    total = np.add.reduceat(entries.multiplicity * entries.weight, first)
    independent = _independent(sample, first, seen)
    as_they_are = (independent == seen)[np.cumsum(is_first) - 1]
    # Independent observations keep their weights; copies with different weights are merged into one row.
    kept = np.flatnonzero(is_first | as_they_are)
    weight, multiplicity = entries.weight.copy(), entries.multiplicity.copy()
    copied = first[independent < seen]
    weight[copied] = (total / independent)[independent < seen]
    multiplicity[copied] = independent[independent < seen]
    return Observations(kept, weight[kept], multiplicity[kept])


def _independent(sample: Sample, first: Array, seen: Array) -> Array:
    """Return the number of independent observations among equal rows, for each distinct row of a class."""
    # All rows are copied equally often, regardless of the columns.
    every = int(np.gcd.reduce(seen)) if len(seen) >= _SHRINK else 1
    found = seen // every
    if found.max(initial=0) > 1:
        rows = _Rows.of(sample.classes[first], found, len(sample.rows))
        found[rows.places] = _independent_of(sample, first[rows.places], rows)
    return found


class _Rows(NamedTuple):
    """Distinct rows: all that occur several times, and a sample of the others."""

    places: Array
    classes: Positions
    counts: Array  # multiplicity of each row
    stands_for: Floats  # rows
    per_class: Floats  # number of rows of each class, including duplicates

    @classmethod
    def of(cls, classes: Positions, counts: Array, n_classes: int) -> _Rows:
        once, several = np.flatnonzero(counts == 1), np.flatnonzero(counts > 1)
        step = max(1, len(once) // _MOST_ROWS)
        places = np.sort(np.concatenate([once[::step], several]))
        stands_for = np.where(counts[places] == 1, len(once) / max(1, len(once[::step])), 1.0)
        per_class = np.bincount(classes, counts, minlength=n_classes).astype(np.float64)
        return cls(places, classes[places], counts[places], stands_for, per_class)


def _independent_of(sample: Sample, entries: Array, rows: _Rows) -> Array:
    represented = sample.represented()
    n_rows = rows.per_class * np.divide(sample.rows, represented, out=np.ones_like(represented), where=represented > 0)
    with np.errstate(divide="ignore"):
        log_rows = np.log(n_rows)[rows.classes]
    log_expected = _log_expected(sample.data, entries, rows, log_rows)
    if log_expected is None:
        return rows.counts
    expected = np.exp(np.minimum(log_expected, 50.0))
    if _are_underdispersed(rows, expected >= _RARE):
        expected = np.zeros_like(expected)
    per_row = _copies_per_row(rows, expected < _RARE)[rows.classes]
    likely = np.ones(len(expected))
    several = rows.counts > 1
    likely[several] += _poisson_quantile((expected / per_row)[several])
    at_least = rows.counts / (_FACTOR * np.maximum(per_row, _MOST_COPIES / _FACTOR))
    found = np.maximum(np.minimum(rows.counts / per_row, likely), at_least)
    return np.clip(np.rint(found).astype(np.int64), 1, rows.counts)


def _are_underdispersed(rows: _Rows, some: Array) -> bool:
    """Return whether multiplicities vary less than by chance, as in duplicated data: many pairs, but few triples.

    Multiplicities of independent rows are Poisson distributed with unknown means. If f_m is the number of rows with
    multiplicity m, m! f_m is then log-convex (by Cauchy–Schwarz), so f_{m+1} is at least m f_m² / ((m + 1) f_{m-1}).
    """
    from scipy.special import pdtr

    found = np.bincount(rows.counts[some], rows.stands_for[some], minlength=4)[1:]
    m = np.arange(2, min(len(found), _MOST_EQUAL) + 1)
    before, here, after = (np.append(found, 0.0)[m + shift] for shift in (-2, -1, 0))
    # Allow for the standard deviation of the counts, about their square root.
    before, here = before + 2.0 * np.sqrt(before) + 2.0, np.maximum(here - np.sqrt(here), 0.0)
    least = m * here**2 / ((m + 1.0) * before)
    return bool((pdtr(after, least) < np.where(m == 2, 1.0, 0.1) * (1.0 - _LEVEL)).any())


def _copies_per_row(rows: _Rows, clear: Array) -> Floats:
    """Return the mean multiplicity by class, over rows whose duplicates must be copies."""
    n_rows, copies = (
        np.bincount(rows.classes[clear], part[clear], minlength=len(rows.per_class)).astype(np.float64)
        for part in (rows.stands_for, rows.stands_for * rows.counts)
    )
    overall = copies.sum() / n_rows.sum() if n_rows.any() else 1.0
    return np.asarray((copies + _SHRINK * overall) / (n_rows + _SHRINK))


def _poisson_quantile(mean: Floats) -> Floats:
    from scipy.special import pdtrik

    # The inverse is continuous in the number of events, and undefined below the probability of 0 events.
    found = np.where(np.exp(-mean) >= _LEVEL, 0.0, pdtrik(_LEVEL, np.maximum(mean, 1e-3)))
    return np.asarray(np.ceil(np.nan_to_num(found, nan=0.0)))


def _log_expected(data: Kept, entries: Array, rows: _Rows, log_rows: Floats) -> Floats | None:
    """Return an upper estimate of the log expected number of each row, or None if equal rows are not copies.

    Copies increase the frequency of their own values. So value frequencies are computed among distinct rows, and among
    all rows except the equal ones; the larger estimate is used.
    """
    if isinstance(data, TextRows):
        return np.full(len(entries), -np.inf)
    if isinstance(data, Sparse):
        if data.n_columns <= _JOINT and len(np.unique(data.values)) <= _FEW_VALUES:
            return None
        return log_rows + _log_shares_sparse(data.take(entries), rows)
    cells, texts = parted(data)
    assert isinstance(cells, Dense)
    shares = _Shares(rows, log_rows)
    for own in texts.values():
        # Texts are not equal by chance, except missing ones.
        missing = own.texts.missing()[entries]
        shares.add(missing.astype(np.int64))
        shares.log[:, ~missing] = -np.inf
    columns = [cells.column(j)[entries] for j in range(cells.n_columns) if j not in texts]
    numbers = [np.unique(column, return_inverse=True) for column in columns if is_numeric(column)]
    measured = [(values, codes) for values, codes in numbers if len(values) > _FEW_VALUES]
    if cells.n_columns <= _JOINT and not texts and all(_are_coarse(values) for values, _ in measured):
        # Rows of so few columns are often equal by chance if numbers have few digits, and some values are more
        # frequent.
        return log_rows if measured else None
    for values, codes in measured:
        shares.add(codes, 1.0 / _n_possible_values(values))
    if shares.all_rare:
        return np.asarray(shares.log.max(axis=0))
    few = [codes for values, codes in numbers if len(values) <= _FEW_VALUES]
    few += [np.unique(coded(column)[0], return_inverse=True)[1] for column in columns if not is_numeric(column)]
    few.sort(key=lambda codes: -int(codes.max(initial=0)))
    if few:
        joint = np.zeros(len(entries), dtype=np.int64)
        for codes in few[:_JOINT]:
            joint = np.unique(joint * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
        for codes in (joint, *few[_JOINT:]):
            shares.add(codes)
    return np.asarray(shares.log.max(axis=0))


class _Shares:
    """Accumulates the log expected frequency of rows, with columns treated as independent."""

    def __init__(self, rows: _Rows, log_rows: Floats) -> None:
        self._rows = rows
        self.log = np.tile(log_rows, (2, 1))  # among distinct rows; among all rows except the equal ones
        self._distinct = np.bincount(rows.classes, rows.stands_for)[rows.classes]
        self._others = rows.per_class[rows.classes] - rows.counts

    @property
    def all_rare(self) -> bool:
        """Whether all rows are expected so rarely that further columns do not matter."""
        return bool((self.log < np.log(_RARE)).all())

    def add(self, codes: Array, least: float | None = None) -> None:
        """Add a column, given the code of each row; measurements have a ``least`` share among other rows."""
        counts, stands_for = self._rows.counts, self._rows.stands_for
        cell = self._rows.classes.astype(np.int64) * (int(codes.max(initial=0)) + 1) + codes
        distinct, rows = (np.bincount(cell, part)[cell] for part in (stands_for, stands_for * counts))
        others = np.maximum(rows - stands_for * counts, 0.0)
        share = np.divide(others, self._others, out=np.zeros(len(cell)), where=self._others > 0)
        with np.errstate(divide="ignore"):
            if least is None:
                self.log += np.log([distinct / self._distinct, np.minimum(share, 1.0)])
            else:
                self.log += np.log(np.maximum([(distinct - stands_for) / self._distinct, share], least))


def _are_coarse(values: Floats) -> bool:
    """Return whether no number has more than two decimals."""
    with np.errstate(over="ignore"):
        hundredths = 100.0 * values[np.isfinite(values)]
    return bool(np.allclose(hundredths, np.rint(hundredths), rtol=1e-12, atol=1e-9))


def _n_possible_values(values: Floats) -> float:
    """Return the number of possible values: steps of the smallest distance over the range of the numbers."""
    finite = values[np.isfinite(values)]
    if len(finite) < 2:
        return 1.0
    with np.errstate(over="ignore"):
        return float(min((finite[-1] - finite[0]) / np.diff(finite).min() + 1.0, 1e15))


def _log_shares_sparse(data: Sparse, rows: _Rows) -> Floats:
    """Return log p of each distinct row within its class, for sparse rows."""
    classes, row = rows.classes, np.repeat(np.arange(data.n_rows), np.diff(data.indptr))
    n_rows, stands_for = np.bincount(classes, rows.stands_for), rows.stands_for[row]
    own = classes[row].astype(np.int64) * data.n_columns + data.indices
    held, place = np.unique(own, return_inverse=True)
    of_class = held // data.n_columns
    # A column without zeros in a class may still have zeros in new rows.
    zero = 1.0 - np.bincount(place, stands_for) / (n_rows[of_class] + 0.5)
    no_cells = np.bincount(of_class, np.log(zero), minlength=len(n_rows))
    values, value = np.unique(data.values, return_inverse=True)
    same = np.unique(np.column_stack([place, value]), axis=0, return_inverse=True)[1].ravel()
    count = np.bincount(same, stands_for)[same]
    if len(values) > _FEW_VALUES:
        count = np.maximum(count - stands_for, 1.0 / _n_possible_values(values))
    cells = np.log(count / n_rows[classes[row]]) - np.log(zero)[place]
    return np.asarray(no_cells[classes] + np.bincount(row, cells, minlength=data.n_rows))
