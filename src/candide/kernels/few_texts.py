"""Few texts: their rows of tokens stay from the pass that sums them up for the one that looks at them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .bands import sum_rows
from .base import Kernels
from .layouts import Floats, Positions
from .text_rows import TextRows
from .tokens import Look, TokenTally
from .vocabulary import Buckets, Coding, SomeBuckets

# Characters of all; rows of tokens take five to fifteen bytes for each.
_FEW = 1 << 25


def are_worth_keeping(data: TextRows) -> bool:
    """Whether rows of tokens will be wanted again, and are small enough."""
    return data.asked_again and data.texts.units() <= _FEW


def tally_few(
    data: TextRows, classes: Positions, weight: Floats | None, n_classes: int, looks: Sequence[Look], kernels: Kernels
) -> list[TokenTally]:
    """Weights of texts that hold each token, and no occurrences; ``data`` keeps the rows of tokens."""
    found = kernels.count_tokens(
        data.texts, [Look(recipe, _sparing(coding)) for recipe, coding in looks], grow=True, presence=True
    )
    data.counted[:] = [(Look(look.recipe, one.coding), one.rows) for look, one in zip(looks, found, strict=True)]
    totals = [kernels.tally(one.rows, classes, weight, n_classes, 0.0).total for one in found]
    return [_tally(look.coding, one.coding, total) for look, one, total in zip(looks, found, totals, strict=True)]


def _sparing(coding: Coding) -> Coding:
    """With codes for the buckets alone that occur."""
    return SomeBuckets(coding.bits, buckets=np.empty(0, dtype=np.int32)) if isinstance(coding, Buckets) else coding


def _tally(asked: Coding, found: Coding, total: Any) -> TokenTally:
    if not isinstance(found, SomeBuckets):
        return TokenTally(found, None, total, None)
    from scipy.sparse import csr_array

    indptr, codes, held = sum_rows(total)
    shape = len(indptr) - 1, len(asked)
    return TokenTally(asked, None, csr_array((held, found.buckets[codes], indptr), shape=shape), None)
