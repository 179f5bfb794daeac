"""Scores by token bins, in NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import rel_entr

from candide.kernels.layouts import Array, Floats, Positions, Sparse
from candide.kernels.token_bins import TokenBins

from .left_out import REST


class TokenBinReference:
    """Plain NumPy, one row after the other, over all classes of each token."""

    def token_bin_scores(self, rows: Sparse, table: TokenBins) -> Floats:
        return self.token_bin_left_out(rows, np.zeros(rows.n_rows, np.int32), np.zeros(rows.n_rows), table)

    def token_bin_left_out(self, rows: Sparse, classes: Positions, weight: Floats | None, table: TokenBins) -> Floats:
        scores = np.empty((table.n_views, rows.n_rows, table.n_classes))
        count, row_weight = _dense(table), np.ones(rows.n_rows) if weight is None else weight
        for r, tokens in enumerate(_tokens(rows, table)):
            gone = (np.arange(table.n_classes) == classes[r])[:, None] * row_weight[r]
            scores[:, r] = _views(_without(count[:, tokens], gone), table)
        return scores

    def token_bin_fold_scores(
        self, rows: Sparse, classes: Positions, weight: Floats | None, folds: Positions, table: TokenBins
    ) -> Floats:
        scores = np.empty((table.n_views, rows.n_rows, table.n_classes))
        count, row_weight = _dense(table), np.ones(rows.n_rows) if weight is None else weight
        tokens = _tokens(rows, table)
        for fold in np.unique(folds):
            here, gone = np.flatnonzero(folds == fold), np.zeros_like(count)
            for r in here:
                gone[classes[r], tokens[r]] += row_weight[r]
            left = _without(count, gone)
            size = _rest(table.size, (count - left).sum(axis=1))
            for r in here:
                scores[:, r] = _views(left[:, tokens[r]], replace(table, size=size))
        return scores


def _tokens(rows: Sparse, table: TokenBins) -> list[Array]:
    """Of each row, those that some class has."""
    stretches = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    places = [table.place[rows.indices[begin:end]] for begin, end in stretches]
    return [tokens[tokens >= 0] for tokens in places]


def _dense(table: TokenBins) -> Floats:
    """``(classes, tokens)``"""
    count = np.zeros((table.n_classes, len(table.weight)))
    count[table.classes, np.repeat(np.arange(len(table.weight)), np.diff(table.indptr))] = table.count
    return count


def _without(count: Floats, gone: Floats) -> Floats:
    left = _rest(count, gone)
    left[:, left.sum(axis=0) <= REST * count.sum(axis=0)] = 0.0
    return left


def _rest(count: Floats, gone: Floats) -> Floats:
    return np.where(count - gone <= REST * count, 0.0, count - gone)


def _views(count: Floats, table: TokenBins) -> Floats:
    """``(views, classes)`` of a text whose tokens have these counts, ``(classes, tokens)``."""
    count = count[:, count.any(axis=0)]
    weight = count.sum(axis=0)
    evidence = 2.0 * rel_entr(count, weight * table.share[:, None]).sum(axis=0)
    log_marginal_likelihood = np.log(np.maximum(evidence, np.finfo(np.float64).tiny))
    member = np.array([np.interp(log_marginal_likelihood, table.log_knots, one) for one in np.eye(table.n_bins)])
    others = np.log((weight - count + table.alpha) / (weight + table.alpha))
    logs = [np.log((count + table.alpha) / table.alpha), others][: len(table.log_size)]
    return np.concatenate(
        [sign * _sums(member, part, size) for sign, part, size in zip((1, -1), logs, table.log_size, strict=False)]
    )


def _sums(member: Array, logs: Floats, log_size: Floats) -> Floats:
    """``(bands, classes)``"""
    tokens = member.sum(axis=1, keepdims=True)
    return np.asarray((member @ logs.T - tokens * log_size) / np.sqrt(1.0 + logs.shape[1]))
