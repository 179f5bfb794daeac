"""Arrays in JSON, exact and small: lists, base64 of little-endian numbers, or codes of distinct values."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ...kernels.layouts import Array

# Up to this many numbers, a list is as short as base64.
_FEW = 8
# Up to this many distinct values, an array is written as codes.
_MOST_DISTINCT = 1 << 16
_TYPES = (("u1", np.uint8), ("u2", np.uint16), ("u4", np.uint32))


def packed(values: Any) -> Any:
    """Return an array of doubles for JSON, without rounding.

    >>> import numpy as np
    >>> packed([0.5, 2.0])
    [0.5, 2.0]
    >>> sorted(packed(np.tile([0.5, 2.0], 50)))
    ['codes', 'values']
    """
    array = np.ascontiguousarray(values, dtype=np.float64).ravel()
    if len(array) <= _FEW:
        return array.tolist() if np.isfinite(array).all() else _base64("f8", array)
    # By their bits: -0.0 and NaN are values like any others.
    distinct, codes = np.unique(array.view(np.uint64), return_inverse=True)
    size = 1 if len(distinct) <= 1 << 8 else 2
    if len(distinct) > _MOST_DISTINCT or 8 * len(distinct) + size * len(array) >= 8 * len(array):
        return _base64("f8", array)
    return {"codes": packed_integers(codes), "values": _base64("f8", distinct.view(np.float64))}


def packed_integers(values: Array) -> Any:
    """Return an array of integers from 0 to 2^32 - 1 for JSON, in the smallest sufficient type.

    >>> import numpy as np
    >>> packed_integers(np.array([1, 300]))
    {'u2': 'AQAsAQ=='}
    """
    most = int(values.max(initial=0))
    name, kind = next(pair for pair in _TYPES if most <= np.iinfo(pair[1]).max)
    return _base64(name, values.astype(kind))


def packed_stream(numbers: Array) -> Any:
    """Return integers of 0 or more for JSON: seven bits a byte, the lowest first, 128 added to all but the last.

    >>> import numpy as np
    >>> base64.b64decode(packed_stream(np.array([1, 300]))["u1"]).hex()
    '01ac02'
    """
    left = numbers.astype(np.uint64)
    sizes = np.ones(len(left), dtype=np.int64)
    for shift in range(7, 64, 7):
        sizes += (left >> np.uint64(shift)) > 0
    begins = np.cumsum(sizes) - sizes
    out = np.zeros(int(sizes.sum()), dtype=np.uint8)
    for place in range(int(sizes.max(initial=0))):
        some = np.flatnonzero(sizes > place)
        part = (left[some] >> np.uint64(7 * place)) & np.uint64(127)
        out[begins[some] + place] = part.astype(np.uint8) + np.where(sizes[some] > place + 1, 128, 0).astype(np.uint8)
    return _base64("u1", out)


def _base64(name: str, values: Array) -> dict[str, str]:
    written = values.astype(values.dtype.newbyteorder("<")).tobytes()
    return {name: base64.b64encode(written).decode("ascii")}
