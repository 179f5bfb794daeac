"""Numbers of 64 bits whose every bit depends on all bits of another: the finaliser of splitmix64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mix64(bits: Hashes) -> Hashes:
    """Of each number; no two have the same.

    >>> mix64(np.array([0, 1], dtype=np.uint64))
    array([                  0, 6238072747940578789], dtype=uint64)
    """
    bits = bits ^ (bits >> np.uint64(30))
    bits *= _FIRST
    bits ^= bits >> np.uint64(27)
    bits *= _SECOND
    bits ^= bits >> np.uint64(31)
    return bits
