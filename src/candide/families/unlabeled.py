"""Sums of tokens of unlabeled texts: by predicted class probabilities, or by the classes of each token."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Floats, Sparse, TextRows, chunks
from ..kernels.token_bins import distinct
from ..kernels.tokens import TokenFeatures, TokenTally
from ..statistics.texts import TextStatistics, TokenCounts
from .base import Batch
from .terms import FeatureSet
from .text import TextFamily

# Texts whose tokens are held at once.
_CHUNK = 1 << 14
# Smaller shares of a class are noise, and would make the sums of all tokens under all classes.
_LEAST_SHARE = 1e-3


def shared_out(family: TextFamily, data: TextRows, share: Floats, kernels: Kernels) -> TextStatistics:
    """Each text belongs to every class in part: ``share`` is ``(texts, classes)``, its weight included."""
    share = np.where(share < _LEAST_SHARE * share.sum(axis=1, keepdims=True), 0.0, share)
    parts = [_shared_out(family, part, share[begin:end], kernels) for begin, end, part in chunks(data, _CHUNK)]
    total = parts[0]
    for part in parts[1:]:
        total = total.merge(part)
    return total


def _shared_out(family: TextFamily, data: TextRows, share: Floats, kernels: Kernels) -> TextStatistics:
    rows = share.sum(axis=0)
    return TextStatistics(
        rows, tuple(_sums(feature_set, data, share, rows, kernels) for feature_set in family.feature_sets)
    )


def _sums(feature_set: FeatureSet, data: TextRows, share: Floats, rows: Floats, kernels: Kernels) -> TokenCounts:
    found = kernels.count_tokens(
        data.texts, [TokenFeatures(feature_set.tokenizer, feature_set.coding)], grow=not feature_set.fixed
    )[0]
    total = _by_class(feature_set.weighed(found.rows), share)
    texts = total
    if feature_set.frequencies:
        texts = _by_class(replace(found.rows, values=np.ones(len(found.rows.values))), share)
    return feature_set.sums(TokenTally(found.coding, total, texts, np.asarray(total.sum(axis=1))), rows)


def _by_class(cells: Sparse, share: Floats) -> Any:
    """Sums ``(classes, codes)``, sparse; worked out for the codes that occur, which are few among buckets."""
    from scipy.sparse import csr_array

    codes, matrix = distinct(cells.indices, cells.n_columns), cells.matrix()
    places = np.searchsorted(codes, matrix.indices)
    few = csr_array((matrix.data, places, matrix.indptr), shape=(matrix.shape[0], len(codes)))
    sums = csr_array((few.T @ share).T)
    return csr_array((sums.data, codes[sums.indices], sums.indptr), shape=(share.shape[1], cells.n_columns))


def token_by_token(
    family: TextFamily, statistics: TextStatistics, data: TextRows, weight: Floats | None, kernels: Kernels
) -> TextStatistics:
    """Every token belongs to the classes as those of its name do that have labels; p(class) stays."""
    batch = Batch(data, np.zeros(data.n_rows, dtype=np.int32), weight, 1)
    pairs = zip(family.feature_sets, statistics.feature_sets, strict=True)
    known = tuple(feature_set._replace(coding=sums.coding, fixed=True) for feature_set, sums in pairs)
    unlabeled = replace(family, feature_sets=known).observe(batch, kernels)
    rows = statistics.rows * unlabeled.rows.sum() / statistics.rows.sum()
    both = zip(statistics.feature_sets, unlabeled.feature_sets, strict=True)
    return TextStatistics(rows, tuple(_in_proportion(mine, theirs, rows) for mine, theirs in both))


def _in_proportion(mine: TokenCounts, theirs: TokenCounts, rows: Floats) -> TokenCounts:
    labelled, more = mine.weight, theirs.weight
    factor = np.divide(more, labelled, out=np.zeros_like(more), where=labelled > 0)
    total = mine.counts.total
    added: Any = total * factor if isinstance(total, np.ndarray) else total.multiply(factor[None, :]).tocsr()
    if mine.counts.presence:
        # No more texts hold a token than there are.
        added = _at_most(added, total, mine.counts.rows + rows)
    return replace(theirs, counts=replace(mine.counts, rows=rows, total=added), fixed=mine.fixed)


def _at_most(added: Any, before: Any, rows: Floats) -> Any:
    if isinstance(added, np.ndarray):
        return np.minimum(added, rows[:, None] - before)
    room = np.repeat(rows, np.diff(before.indptr)) - before.data
    added.data = np.minimum(added.data, room)
    return added
