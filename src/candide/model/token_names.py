"""Names of hashed tokens, from training texts that contain them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, TextRows, chunks
from ..kernels.tokenizer import TokenizerConfig
from ..kernels.tokens import TokenFeatures
from ..kernels.vocabulary import Buckets, Coding, Vocabulary

# Names of tokens by feature set and code.
Names = dict[str, dict[int, str]]

# Maximum number of texts that are searched for tokens, and how many at once.
_MOST_TEXTS = 10_000
_AT_ONCE = 1_000


def named(
    tokenizer: TokenizerConfig, coding: Coding, codes: Array, texts: TextRows | None, kernels: Kernels
) -> list[str | None]:
    """Return the token of each code; for a bucket, its most frequent token; None if unknown."""
    if isinstance(coding, Vocabulary):
        return list(coding.tokens(codes))
    if texts is None:
        return [None] * len(codes)
    held = _holders(tokenizer, coding, codes, texts, kernels)
    found = kernels.count_tokens(held.texts, [TokenFeatures(tokenizer, Vocabulary())], grow=True)[0]
    assert isinstance(found.coding, Vocabulary)
    names = found.coding.tokens()
    # The most frequent token comes last, so that it is kept.
    order = np.argsort(np.bincount(found.rows.indices, minlength=len(names)), kind="stable")
    bucket = coding.codes(names)[order].tolist()
    by_bucket: Mapping[int, str] = dict(zip(bucket, (names[i] for i in order), strict=True))
    return [by_bucket.get(code) for code in codes.tolist()]


def _holders(tokenizer: TokenizerConfig, coding: Buckets, codes: Array, texts: TextRows, kernels: Kernels) -> TextRows:
    """Return a small set of texts that contains all codes of the others."""
    step = -(-texts.n_rows // _MOST_TEXTS) if texts.n_rows else 1
    some = texts.take(np.arange(0, texts.n_rows, step))
    found: dict[int, int] = {}
    # The tokens of all these texts would take a hundred times their memory.
    for begin, _, part in chunks(some, _AT_ONCE):
        rows = kernels.count_tokens(part.texts, [TokenFeatures(tokenizer, coding)], grow=False)[0].rows
        places = np.flatnonzero(np.isin(rows.indices, codes))
        held, first = np.unique(rows.indices[places], return_index=True)
        holders = begin + np.searchsorted(rows.indptr, places[first], side="right") - 1
        found = dict(zip(held.tolist(), holders.tolist(), strict=True)) | found
    return some.take(np.unique(list(found.values())).astype(np.int64))
