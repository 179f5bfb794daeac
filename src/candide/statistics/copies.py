"""Which equal rows are copies of one observation, and which are coincidences of columns with few values.

A copy tells nothing new: it must leave whenever its original does, and counts like a row of a higher weight. Equal rows
of few-valued columns may be independent observations, of which each leaves alone. The two are told apart by how often
the row would be expected if columns were independent within its class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels.data import Array, Dense, Floats, Positions, Sparse
from ..kernels.text_rows import TextRows
from .cells import Kept, coded, is_numeric, parted

if TYPE_CHECKING:
    from .sample import Sample

# Number columns with more distinct values than this are measurements; those with fewer are treated like categories.
_FEW_VALUES = 20
# Few-valued columns whose joint distribution is used as it is; others are taken as independent of these.
_JOINT = 3
# A row expected less often than this among all others is seen again only as a copy.
_RARE = 0.01
# Equal rows beyond this quantile of the expected number are copies.
_LEVEL = 0.99
# A row is taken for at most so many times as many copies as is usual, or as many as 20: a row that makes up much of the
# data is frequent, also where new rows are drawn.
_MOST_COPIES, _FACTOR = 20.0, 4.0
# Weight of the copies per row of all classes in the estimate of one class, in rows.
_SHRINK = 5.0


class Observations(NamedTuple):
    """Distinct rows without copies."""

    places: Array  # of the rows among the entries of the sample
    weight: Floats  # of one independent observation: all its copies
    multiplicity: Array  # independent observations of the row


def observations(sample: Sample) -> Observations:
    """The rows of a sample with copies folded into the weight.

    >>> from candide.statistics import Sample
    >>> X = Dense.of(np.array([[0.3, 1.7], [0.3, 1.7], [2.2, 3.1], [0.9, 0.1]]))
    >>> sample = Sample.of(X, np.zeros(4, dtype=np.int32), None, n_classes=1, budget=1000)
    >>> found = observations(sample)
    >>> sorted(found.weight.tolist()), found.multiplicity.tolist()
    ([1.0, 1.0, 2.0], [1, 1, 1])
    """
    entries = sample.entries
    # Entries of one class and hash stand beside each other, one for each weight.
    is_first = np.ones(len(entries.classes), dtype=bool)
    is_first[1:] = (np.diff(entries.classes) != 0) | (entries.hashes[1:] != entries.hashes[:-1])
    first = np.flatnonzero(is_first)
    if len(first) == len(is_first) and (entries.multiplicity == 1).all():
        return Observations(first, entries.weight, entries.multiplicity)
    seen = np.add.reduceat(entries.multiplicity, first)
    total = np.add.reduceat(entries.multiplicity * entries.weight, first)
    independent = _independent(sample, first, seen)
    as_they_are = (independent == seen)[np.cumsum(is_first) - 1]
    # Coincidences keep the weights that they have; copies of different weights are one row.
    kept = np.flatnonzero(is_first | as_they_are)
    weight, multiplicity = entries.weight.copy(), entries.multiplicity.copy()
    copied = first[independent < seen]
    weight[copied] = (total / independent)[independent < seen]
    multiplicity[copied] = independent[independent < seen]
    return Observations(kept, weight[kept], multiplicity[kept])


def _independent(sample: Sample, first: Array, seen: Array) -> Array:
    """How many independent observations the equal rows are, for each distinct row of a class."""
    classes = sample.classes[first]
    # Every row copied as often as all others, whatever the columns are.
    every = int(np.gcd.reduce(seen)) if len(seen) >= _SHRINK else 1
    counts = seen // every
    if counts.max(initial=0) <= 1:
        return counts
    n_rows = np.bincount(classes, counts, minlength=len(sample.rows)).astype(np.float64)
    represented = sample.represented()
    n_rows *= np.divide(sample.rows, represented, out=np.ones_like(n_rows), where=represented > 0)
    log_share = _log_shares(sample.data, first, classes, counts)
    if log_share is None:
        return counts
    with np.errstate(divide="ignore"):
        expected = np.exp(np.minimum(log_share + np.log(n_rows)[classes], 50.0))
    if _are_too_even(counts[expected >= _RARE]):
        expected = np.zeros_like(expected)
    per_row = _copies_per_row(classes, counts, expected < _RARE, len(n_rows))[classes]
    likely = 1.0 + _poisson_quantile(expected / per_row)
    at_least = counts / (_FACTOR * np.maximum(per_row, _MOST_COPIES / _FACTOR))
    found = np.maximum(np.minimum(counts / per_row, likely), at_least)
    return np.clip(np.rint(found).astype(np.int64), 1, counts)


def _are_too_even(counts: Array) -> bool:
    """Whether there are too few triples beside so many pairs for coincidences.

    If rows came independently, the number of each would be Poisson, whatever its mean; of such numbers f_m that are m,
    m! f_m is log-convex (Cauchy and Schwarz), so that f_3 is at least 2 f_2² / 3 f_1.
    """
    from scipy.special import pdtr

    once, twice, thrice = np.bincount(counts, minlength=4)[1:4].tolist()
    # All three vary by about their root.
    once, twice = once + 2.0 * np.sqrt(once) + 2.0, twice - np.sqrt(twice)
    return bool(pdtr(thrice, 2.0 * twice**2 / (3.0 * once)) < 1.0 - _LEVEL)


def _copies_per_row(classes: Positions, counts: Array, clear: Array, n_classes: int) -> Floats:
    """How often a row of each class is there on average, by the rows that are no coincidences."""
    rows, copies = (
        np.bincount(classes[clear], part, minlength=n_classes).astype(np.float64)
        for part in (np.ones(int(clear.sum())), counts[clear])
    )
    overall = copies.sum() / rows.sum() if rows.any() else 1.0
    return np.asarray((copies + _SHRINK * overall) / (rows + _SHRINK))


def _poisson_quantile(mean: Floats) -> Floats:
    from scipy.special import pdtrik

    # The inverse in the number of events is continuous, and not defined below the probability of none.
    found = np.where(np.exp(-mean) >= _LEVEL, 0.0, pdtrik(_LEVEL, np.maximum(mean, 1e-3)))
    return np.asarray(np.ceil(np.nan_to_num(found, nan=0.0)))


def _log_shares(data: Kept, rows: Array, classes: Positions, counts: Array) -> Floats | None:
    """log p of each row within its class, generously; None where columns have so few values that equal rows are no
    copies.

    Copies make their own values frequent. So shares are counted among distinct rows, and again among all rows without
    the row and its equals; the larger one holds.
    """
    if isinstance(data, TextRows):
        return np.full(len(rows), -np.inf)
    if isinstance(data, Sparse):
        few_values = len(np.unique(data.values)) <= _FEW_VALUES
        return None if few_values and data.n_columns <= _JOINT else _log_shares_sparse(data.take(rows), classes)
    cells, texts = parted(data)
    assert isinstance(cells, Dense)
    shares = _Shares(classes, counts)
    few, is_coarse = [], not texts
    for own in texts.values():
        # No text is there twice by chance; a missing one may be.
        missing = own.texts.missing()[rows]
        shares.add(missing.astype(np.int64))
        shares.log[:, ~missing] = -np.inf
    for j in range(cells.n_columns):
        if j in texts:
            continue
        column = cells.column(j)[rows]
        if is_numeric(column):
            values, codes = np.unique(column, return_inverse=True)
            if len(values) > _FEW_VALUES:
                shares.add(codes, 1.0 / _places(values))
                is_coarse = is_coarse and _are_coarse(values)
                continue
        else:
            codes, _ = coded(column)
        few.append(np.unique(codes, return_inverse=True)[1])
    if is_coarse and cells.n_columns <= _JOINT:
        # Of numbers with few digits, so few columns are often equal, some values far more often than others.
        return None if len(few) == cells.n_columns else np.zeros(len(rows))
    few.sort(key=lambda codes: -int(codes.max(initial=0)))
    if few:
        joint = np.unique(np.column_stack(few[:_JOINT]), axis=0, return_inverse=True)[1].ravel()
        for codes in (joint, *few[_JOINT:]):
            shares.add(codes)
    return np.asarray(shares.log.max(axis=0))


class _Shares:
    """Logarithms of the shares of rows within their class, columns as independent."""

    def __init__(self, classes: Positions, counts: Array) -> None:
        self.classes, self.counts = classes, counts
        self.log = np.zeros((2, len(classes)))  # among distinct rows; among all but the equals of the row
        self._distinct = np.bincount(classes)[classes].astype(np.float64)
        self._others = np.bincount(classes, counts)[classes] - counts

    def add(self, codes: Array, least: float | None = None) -> None:
        """A column more, by the code of each row. ``least``: of measurements, whose share is that of other rows alone,
        and at least this one.
        """
        cell = self.classes.astype(np.int64) * (int(codes.max(initial=0)) + 1) + codes
        distinct, others = np.bincount(cell)[cell], np.bincount(cell, self.counts)[cell] - self.counts
        share = np.divide(others, self._others, out=np.zeros(len(cell)), where=self._others > 0)
        with np.errstate(divide="ignore"):
            if least is None:
                self.log += np.log([distinct / self._distinct, share])
            else:
                self.log += np.log(np.maximum([(distinct - 1) / self._distinct, share], least))


def _are_coarse(values: Floats) -> bool:
    """Whether no number has more than two decimals."""
    with np.errstate(over="ignore"):
        hundredths = 100.0 * values[np.isfinite(values)]
    return bool(np.allclose(hundredths, np.rint(hundredths), rtol=1e-12, atol=1e-9))


def _places(values: Floats) -> float:
    """How many numbers there could be between the least and the largest, at the smallest distance of two."""
    finite = values[np.isfinite(values)]
    if len(finite) < 2:
        return 1.0
    with np.errstate(over="ignore"):
        return float(min((finite[-1] - finite[0]) / np.diff(finite).min() + 1.0, 1e15))


def _log_shares_sparse(data: Sparse, classes: Positions) -> Floats:
    """The same where most cells are 0."""
    row = np.repeat(np.arange(data.n_rows), np.diff(data.indptr))
    n_rows = np.bincount(classes).astype(np.float64)
    column = np.asarray(data.indices, dtype=np.int64)
    own = classes[row].astype(np.int64) * data.n_columns + column
    held, place = np.unique(own, return_inverse=True)
    of_class = held // data.n_columns
    # A column that all rows of a class hold has no zeros, but may have.
    zero = 1.0 - np.bincount(place) / (n_rows[of_class] + 0.5)
    no_cells = np.bincount(of_class, np.log(zero), minlength=len(n_rows))
    values, value = np.unique(data.values, return_inverse=True)
    same = np.unique(np.column_stack([place, value]), axis=0, return_inverse=True)[1].ravel()
    count = np.bincount(same)[same].astype(np.float64)
    if len(values) > _FEW_VALUES:
        count = np.maximum(count - 1.0, 1.0 / _places(values))
    share = count / n_rows[classes[row]]
    cells = np.log(share) - np.log(zero)[place]
    return np.asarray(no_cells[classes] + np.bincount(row, cells, minlength=data.n_rows))
