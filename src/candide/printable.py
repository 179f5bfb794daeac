"""Text from data (labels, names of columns, categories, paths) made safe to show in a terminal, a log or a page."""

from __future__ import annotations

import re

# Bidirectional control characters, which affect the following text, even outside of the string.
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
# Unicode line separators, C1 control characters, and surrogates, which cannot be encoded as UTF-8.
_OTHERS = (0x2028, 0x2029, *range(0x80, 0xA0), *range(0xD800, 0xE000))
# One character for each, so that positions in a text do not change.
_SHOWN = {
    **{code: 0x2400 + code for code in range(0x20)},
    0x7F: 0x2421,
    **dict.fromkeys((*_BIDI, *_OTHERS), 0xFFFD),
}
_BLOCK = _SHOWN | {ord("\n"): ord("\n"), ord("\t"): ord("\t")}
_UNSAFE_IN_JSON = r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"


def printable(value: object, *, lines: bool = False) -> str:
    """Return the text of a value with every control character replaced by a visible one, on one line.

    ``lines`` keeps line feeds and tabs, for texts of several lines.

    >>> printable("\\x1b[31mred\\nblue"), printable("one\\ntwo", lines=True)
    ('␛[31mred␊blue', 'one\\ntwo')
    """
    text = str(value)
    return text if text.isprintable() else text.translate(_BLOCK if lines else _SHOWN)


def printable_json(text: str) -> str:
    """Return the same JSON with escapes for what JSON does not escape by itself and a terminal would obey.

    >>> printable_json('["\\x9b31m"]')
    '["\\\\u009b31m"]'
    """
    return text if text.isascii() and "\x7f" not in text else re.sub(_UNSAFE_IN_JSON, _escape, text)


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
