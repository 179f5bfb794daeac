"""Whole numbers as they are written. The engine's own reading rounds 1.5 to 2, and takes 0x10, 1_000 and 007."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_WHOLE = re.compile(r"[ \t]*[+-]?(?:0|[1-9][0-9]*)[ \t]*")
_DECIMAL = re.compile(
    r"[ \t]*[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+|inf|infinity|nan)(?:e[+-]?[0-9]+)?[ \t]*", re.IGNORECASE
)
_MINUS, _ZERO, _NINE = b"-09"


def is_whole(cell: str) -> bool:
    """Whether a cell is a whole number of 64 bits.

    >>> [is_whole(cell) for cell in ("12", " -5", "1.5", "007", "1_000")]
    [True, True, False, False, False]
    """
    return _WHOLE.fullmatch(cell) is not None and -(1 << 63) <= int(cell) < 1 << 63


def is_decimal(cell: str) -> bool:
    """Whether a cell is a number; with zeros before it, it is a name that is made of digits."""
    return _DECIMAL.fullmatch(cell) is not None


def whole_numbers(cells: pa.Array) -> pa.Array:
    """Texts as whole numbers, missing where a text is none.

    >>> whole_numbers(pa.array(["12", "+5", "1.5", None])).to_pylist()
    [12, 5, None, None]
    """
    if _are_plain(cells):
        try:
            return cells.cast(pa.int64())
        except pa.ArrowInvalid:
            pass  # a number of too many digits, or a minus out of place
    unsigned = pc.replace_substring_regex(cells, r"^[ \t]*(?:\+([0-9]+)|(-?[0-9]+))[ \t]*$", r"\1\2")
    shaped = pc.if_else(pc.match_substring_regex(unsigned, "^-?(0|[1-9][0-9]*)$"), unsigned, None)
    try:
        return shaped.cast(pa.int64())
    except pa.ArrowInvalid:
        return pa.array([int(cell) if cell and is_whole(cell) else None for cell in shaped.to_pylist()], pa.int64())


def _are_plain(cells: pa.Array) -> bool:
    """Whether all are of digits and minus signs, without zeros at the beginning; what else they are, a cast tells."""
    _, offset_buffer, letter_buffer = cells.buffers()
    if not len(cells) or letter_buffer is None:
        return True
    offsets = np.frombuffer(offset_buffer, dtype=np.int32)[cells.offset : cells.offset + len(cells) + 1]
    letters = np.frombuffer(letter_buffer, dtype=np.uint8)[: offsets[-1]]
    used = letters[offsets[0] :]
    if not np.all((used - np.uint8(_ZERO) <= _NINE - _ZERO) | (used == _MINUS)):
        return False
    starts = offsets[:-1][np.diff(offsets) > 1]
    firsts = letters[starts + (letters[starts] == _MINUS)]
    return not np.any(firsts == _ZERO)
