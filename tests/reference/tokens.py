"""Counts and scores of tokens, in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from candide.kernels import _core
from candide.kernels.layouts import Floats, Positions, Sparse
from candide.kernels.tokens import TokenFeatures, TokenRows, TokenScores, TokenTables, TokenTally
from candide.kernels.vocabulary import Buckets, Coding, SomeBuckets, Vocabulary

from .tokenizer import analyze


class TokenReference:
    """One text after the other, one token after the other."""

    def count_tokens(
        self, texts: _core.Texts, features: Sequence[TokenFeatures], *, grow: bool, presence: bool = False
    ) -> list[TokenRows]:
        found = [_count(texts, feature, grow) for feature in features]
        if not presence:
            return found
        return [rows._replace(rows=replace(rows.rows, values=np.ones_like(rows.rows.values))) for rows in found]

    def tally_tokens(
        self,
        texts: _core.Texts,
        classes: Positions,
        weight: Floats | None,
        n_classes: int,
        features: Sequence[TokenFeatures],
        *,
        grow: bool,
    ) -> list[TokenTally]:
        member = np.zeros((n_classes, len(texts)))
        member[classes, np.arange(len(texts))] = 1.0 if weight is None else weight
        tallies = []
        for coding, rows, _ in self.count_tokens(texts, features, grow=grow):
            occurrences = member @ rows.floats()
            tallies.append(TokenTally(coding, occurrences, member @ (rows.floats() > 0)))
        return tallies

    def score_tokens(
        self,
        texts: _core.Texts,
        features: Sequence[TokenFeatures],
        tables: Sequence[TokenTables],
        *,
        distinct: bool = False,
    ) -> list[TokenScores]:
        scores = []
        for (_, rows, unknown), (each, once) in zip(
            self.count_tokens(texts, features, grow=False), tables, strict=True
        ):
            counts, stored = rows.matrix(), np.diff(rows.indptr)
            once_scores = None if once is None else (counts > 0).astype(np.float64) @ once
            each_scores = None if each is None else counts.astype(np.float64) @ each
            known = np.asarray(counts.sum(axis=1), dtype=np.int64)
            scores.append(
                TokenScores(each_scores, once_scores, known, unknown, stored.astype(np.int64) if distinct else None)
            )
        return scores


def _count(texts: _core.Texts, feature: TokenFeatures, grow: bool) -> TokenRows:
    tokens = [[] if text is None else analyze(text, feature.tokenizer) for text in texts.strings()]
    coding = _grown(feature.coding, tokens) if grow else feature.coding
    indptr: list[int] = [0]
    indices: list[int] = []
    values: list[int] = []
    unknown: list[int] = []
    for row in tokens:
        codes = coding.codes(row).tolist()
        counts = Counter(code for code in codes if code >= 0)
        indices += list(counts)
        values += counts.values()
        indptr.append(len(indices))
        unknown.append(codes.count(-1))
    starts, stored, times = (np.array(part, dtype=np.int32) for part in (indptr, indices, values))
    return TokenRows(coding, Sparse(starts, stored, times, len(coding)), np.array(unknown, dtype=np.int64))


def _grown(coding: Coding, tokens: list[list[str]]) -> Coding:
    all_tokens = [token for row in tokens for token in row]
    if isinstance(coding, SomeBuckets):
        return SomeBuckets(coding.bits, buckets=np.union1d(coding.buckets, Buckets(coding.bits).codes(all_tokens)))
    if isinstance(coding, Buckets):
        return coding
    return Vocabulary.of([*coding.tokens(), *all_tokens])
