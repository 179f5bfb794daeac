"""Token counts by class, in bins by how strongly a token separates the classes."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..lazy import dataclass
from . import _core
from .layouts import Array, Floats, Positions, Sparse
from .tables import sparse_errors

# Bin centers of G² per degree of freedom, which is about 1 for a token that is independent of the class.
KNOTS = (1.0, 4.0, 16.0, 64.0)
# Up to this many cells of a table are looked up individually.
_FEW = 1 << 16
# If fewer than one code in this many is used, sorting the codes is faster than marking them.
_SPARSELY = 64


@dataclass(frozen=True)
class TokenBins:
    """Weights of texts by the tokens they hold and by class, token after token: an entry for each class that has it."""

    place: Positions  # (codes,) which token a code is, or -1 if no class has it; those of frequent ones lie together
    indptr: Array  # (tokens + 1,) int64, where the entries of each token begin
    classes: Positions  # (entries,) ascending within a token
    count: Floats  # (entries,) above 0
    weight: Floats  # (tokens,) of all texts that hold the token
    size: Floats  # (classes,) sums over all tokens
    alpha: float  # pseudo-count, above 0
    knots: tuple[float, ...]  # ascending; one for each bin, tokens between two are shared
    complement: bool  # whether there are scores by all other classes too
    n_tokens: int  # that some class has, those included that the table leaves out

    @classmethod
    def of(cls, texts: Any, alpha: float, knots: tuple[float, ...] = KNOTS, complement: bool = False) -> TokenBins:
        """Create bins from weights of texts, ``(classes, codes)``: an array or a scipy ``csr_array``.

        >>> table = TokenBins.of(np.array([[3.0, 0.0, 1.0], [3.0, 0.0, 9.0]]), alpha=1.0)
        >>> table.place, table.weight
        (array([ 1, -1,  0], dtype=int32), array([10.,  6.]))
        >>> table.evidence.round(2), table.level.round(2)
        (array([1.45, 1.73]), array([0.27, 0.39]))
        """
        codes, table = cls.of_seen(texts, alpha, knots, complement)
        return replace(table, place=_placed(codes, table.place, texts.shape[1]))

    @classmethod
    def of_seen(
        cls, texts: Any, alpha: float, knots: tuple[float, ...] = KNOTS, complement: bool = False
    ) -> tuple[Positions, TokenBins]:
        """Return the codes that occur in some class, ascending, and a table of these codes, numbered from 0.

        >>> codes, table = TokenBins.of_seen(np.array([[3.0, 0.0, 1.0], [3.0, 0.0, 9.0]]), alpha=1.0)
        >>> codes, table.place
        (array([0, 2], dtype=int32), array([1, 0], dtype=int32))
        """
        codes, place, indptr, classes, count, weight, size = _core.token_bin_entries(*sum_rows(texts), texts.shape[1])
        return codes, cls(place, indptr, classes, count, weight, size, alpha, knots, complement, len(codes))

    @classmethod
    def of_some(cls, texts: Any, codes: Array, alpha: float, complement: bool = False) -> TokenBins:
        """Return the bins of these tokens only, numbered in the given order; see ``renumbered``.

        >>> counts = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, 9.0]])
        >>> table = TokenBins.of_some(counts, np.array([1, 2]), alpha=1.0)
        >>> table.place, table.weight, table.n_tokens
        (array([-1,  0], dtype=int32), array([10.]), 2)
        """
        some = cls.of(some_columns(texts, codes), alpha, complement=complement)
        size = np.asarray(texts.sum(axis=1), dtype=np.float64)
        return replace(some, size=size, n_tokens=_n_occupied(texts))

    @property
    def n_classes(self) -> int:
        return len(self.size)

    @property
    def n_bins(self) -> int:
        return len(self.knots)

    @property
    def n_views(self) -> int:
        """Number of scores of a text: one for each bin, and twice as many with the complement."""
        return self.n_bins * (2 if self.complement else 1)

    @cached_property
    def share(self) -> Floats:
        """Of the classes in all tokens."""
        return np.asarray(self.size / (self.size.sum() or 1.0))

    @cached_property
    def log_knots(self) -> Floats:
        """log G² of tokens that are in one bin alone."""
        return np.log(max(1, self.n_classes - 1) * np.array(self.knots, dtype=np.float64))

    @cached_property
    def log_size(self) -> Floats:
        """log of the size of each class, and of all the others: ``(1 or 2, classes)``."""
        others = np.maximum(self.size.sum() - self.size, 0.0)
        return np.log(np.array([self.size, others] if self.complement else [self.size]) + self.spare)

    @property
    def spare(self) -> float:
        """The pseudo-counts of all tokens of a class."""
        return self.alpha * max(1, self.n_tokens)

    @cached_property
    def evidence(self) -> Floats:
        """G² of each token: twice the log-likelihood ratio of its classes' shares in it against those in all tokens."""
        terms = self.count * np.log(self.count / (self._token_weight * self.share[self.classes]))
        return np.asarray(2.0 * np.bincount(self._token, terms, minlength=len(self.weight)))

    @cached_property
    def level(self) -> Floats:
        """Bin of each token by the log of its G²: at 1.25 a quarter is in bin 2, the rest in bin 1."""
        log_g2 = np.log(np.maximum(self.evidence, np.finfo(np.float64).tiny))
        return np.interp(log_g2, self.log_knots, np.arange(self.n_bins, dtype=np.float64))

    @cached_property
    def logs(self) -> Floats:
        """Of each entry, what the class gives more than one that never saw the token: ``(entries, 1 or 2)``."""
        logs = np.log1p(self.count / self.alpha)[:, None]
        return np.hstack([logs, self._logs_by_others[:, None]]) if self.complement else logs

    def token_views(self, tokens: Array) -> Floats:
        """Return the contributions of the tokens of one text to its scores, ``(views, tokens, classes)``.

        >>> table = TokenBins.of(np.array([[3.0, 1.0], [3.0, 9.0]]), alpha=1.0)
        >>> table.token_views(np.array([0, 1])).shape
        (4, 2, 2)
        """
        signs = np.array([1.0, -1.0])[: len(self.log_size)]
        logs = np.repeat(-(signs[:, None] * self.log_size)[:, None], len(tokens), axis=1)
        for place, token in enumerate(tokens.tolist()):
            entries = slice(*self.indptr[token : token + 2].tolist())
            logs[:, place, self.classes[entries]] += self.logs[entries].T
        member = np.maximum(0.0, 1.0 - np.abs(self.level[tokens] - np.arange(self.n_bins)[:, None]))
        views = logs[:, None] * member[:, :, None] / np.sqrt(1.0 + len(tokens))
        return np.asarray(views.reshape(self.n_views, len(tokens), self.n_classes))

    @property
    def _logs_by_others(self) -> Floats:
        others = np.maximum(self._token_weight - self.count, 0.0)
        return np.asarray(-np.log((others + self.alpha) / (self._token_weight + self.alpha)))

    @property
    def _token(self) -> Array:
        return np.repeat(np.arange(len(self.weight)), np.diff(self.indptr))

    @property
    def _token_weight(self) -> Floats:
        return np.repeat(self.weight, np.diff(self.indptr))


def some_columns(texts: Any, codes: Array) -> Any:
    """Return a few columns by a search in sorted rows; SciPy would process all columns and cells."""
    if isinstance(texts, np.ndarray) or not texts.has_sorted_indices or texts.shape[0] * len(codes) > _FEW:
        return as_table(texts)[:, codes]
    out = np.zeros((texts.shape[0], len(codes)))
    for row, (begin, end) in enumerate(pairwise(texts.indptr.tolist())):
        indices = texts.indices[begin:end]
        at = np.searchsorted(indices, codes)
        found = np.flatnonzero(at < len(indices))
        found = found[indices[at[found]] == codes[found]]
        out[row, found] = texts.data[begin + at[found]]
    return out


def _n_occupied(texts: Any) -> int:
    if isinstance(texts, np.ndarray):
        return int(texts.any(axis=0).sum())
    codes = texts.indices if texts.data.all() else texts.indices[texts.data != 0]
    return int(np.count_nonzero(_occurs(codes, texts.shape[1])))


def renumbered(rows: Sparse, codes: Array) -> Sparse:
    """Return rows whose codes are replaced by their positions among these ascending codes."""
    if _SPARSELY * len(rows.indices) < rows.n_columns:
        places = np.searchsorted(codes, rows.indices)
    else:  # a table of all codes takes a tenth of the time
        table = np.empty(rows.n_columns, dtype=rows.indices.dtype)
        table[codes] = np.arange(len(codes))
        places = table[rows.indices]
    return replace(rows, indices=places.astype(rows.indices.dtype, copy=False), n_columns=len(codes))


def as_table(texts: Any) -> Any:
    """Return an array or a scipy matrix, also for rows that are still in a file."""
    return texts.table() if hasattr(texts, "table") else texts


def distinct(codes: Array, n_codes: int) -> Array:
    """Return the distinct codes in ascending order, without sorting, which takes ten times as long for many codes."""
    if _SPARSELY * len(codes) < n_codes:
        # Like np.unique, which also imports numpy.ma; that takes longer than classifying a text.
        ordered = np.sort(codes)
        return np.asarray(ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)]])
    return np.flatnonzero(_occurs(codes, n_codes))


def _occurs(codes: Array, n_codes: int) -> Array:
    """Return for each code whether it occurs."""
    occurs = np.zeros(n_codes, dtype=bool)
    occurs[codes] = True
    return occurs


def sum_rows(sums: Any) -> tuple[Array, Positions, Floats]:
    """Return the nonzero sums ``(classes, codes)`` as compressed rows: row pointers, codes, sums."""
    if not isinstance(sums, np.ndarray):
        rows = sums.indptr.astype(np.int64, copy=False), sums.indices.astype(np.int32, copy=False)
        return *rows, sums.data.astype(np.float64, copy=False)
    codes = [np.flatnonzero(row) for row in sums]
    indptr = np.cumsum([0, *map(len, codes)], dtype=np.int64)
    held = [row[some] for row, some in zip(sums, codes, strict=True)]
    return indptr, np.concatenate(codes).astype(np.int32), np.concatenate(held).astype(np.float64, copy=False)


def _placed(codes: Array, place: Positions, n_codes: int) -> Positions:
    """Return positions of some codes among all, -1 for others."""
    out = np.full(n_codes, -1, dtype=np.int32)
    out[codes] = place
    return out


class TokenBinKernels:
    """Kernels over texts as rows of token codes, each code once and whatever its value.

    Scores are ``(views, rows, classes)``: a view for every bin, then, if the table has the complement, as many by all
    other classes.
    """

    __slots__ = ()
    n_threads: int

    def token_bin_scores(self, rows: Sparse, table: TokenBins) -> Floats:
        """Return sums over the tokens of a bin of log p(token | class), over √(1 + tokens of the text).

        p is (count + alpha) / (size + alpha · tokens), but for a factor that all classes share. By all other classes it
        is -log of the same with their counts and size. A token between two bins is shared by them. Tokens that no
        training text contains are skipped.
        """
        scores = np.empty((table.n_views, rows.n_rows, table.n_classes))
        with sparse_errors:
            _core.token_bin_scores(rows, table, self.n_threads, scores)
        return scores

    def token_bin_left_out(self, rows: Sparse, classes: Positions, weight: Floats | None, table: TokenBins) -> Floats:
        """Return the same without the row's weight in the counts of its tokens, also in their bins; sizes stay.

        Rows of weight 0 are scored as new ones.
        """
        scores = np.empty((table.n_views, rows.n_rows, table.n_classes))
        with sparse_errors:
            _core.token_bin_left_out(rows, classes, weight, table, self.n_threads, scores)
        return scores

    def token_bin_fold_scores(
        self, rows: Sparse, classes: Positions, weight: Floats | None, folds: Positions, table: TokenBins
    ) -> Floats:
        """Return the same without all rows of the row's fold, also in the sizes; ``folds`` are below the row count.

        Tokens that no other row contains are skipped, but still count among the tokens of the pseudo-counts.
        """
        scores = np.empty((table.n_views, rows.n_rows, table.n_classes))
        with sparse_errors:
            _core.token_bin_fold_scores(rows, classes, weight, folds, table, self.n_threads, scores)
        return scores
