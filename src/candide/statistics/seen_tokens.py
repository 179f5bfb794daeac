"""Tokens that were seen, and no others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..encoding.tokens import Buckets, Coding, SomeBuckets
from .token_counts import TokenCounts


class SeenTokens(NamedTuple):
    """Tokens with their sums, ``(classes, codes)``."""

    coding: Coding
    total: Any


def seen_tokens(look: TokenCounts) -> SeenTokens:
    """Those of one look; of buckets, most of which are empty, those alone that are not. A vocabulary has no others."""
    coding, total = look.coding, look.counts.total
    if not isinstance(coding, Buckets):
        return SeenTokens(coding, total)
    from scipy.sparse import csr_array

    held = csr_array(total)
    ordered = np.sort(held.indices)  # a fifth of the time of np.unique, which hashes
    seen = ordered[np.diff(ordered, prepend=-1) > 0].astype(np.int32)
    codes, shape = np.searchsorted(seen, held.indices), (held.shape[0], len(seen))
    return SeenTokens(SomeBuckets(coding.bits, buckets=seen), csr_array((held.data, codes, held.indptr), shape=shape))
