"""Writes what this interpreter knows about characters as C++ tables: python tools/unicode_tables.py tables.cpp

Run by the build, so that the core agrees with the ``str`` and ``re`` of the Python it is built for by construction.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

PAGE = 128
CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1)]
FLAGS = ("word", "space", "digit", "ignorable", "cased")  # one bit each, as in cpp/core/unicode.hpp
_PATTERNS = [re.compile(pattern) for pattern in (r"\w", r"\s", r"\d")]


def flags_of(character: str) -> int:
    """What ``re`` says, and what ``str.lower`` asks about the neighbors of a capital sigma."""
    stops = (character + "Σ").lower().endswith("ς")
    passes = not stops and ("A" + character + "Σ").lower().endswith("ς")
    facts = [*(pattern.match(character) is not None for pattern in _PATTERNS), passes, stops]
    return sum(fact << bit for bit, fact in enumerate(facts))


def lower_of(character: str) -> str:
    return character.lower()


def bare_of(character: str) -> str:
    """Without accents. Hangul syllables, 11,172 of them, fall apart by a rule that the core knows."""
    if "가" <= character <= "힣":
        return character
    return "".join(part for part in unicodedata.normalize("NFKD", character) if not unicodedata.combining(part))


def numbers(kind: str, name: str, values: Iterable[int]) -> str:
    return f"const {kind} {name}[] = {{{','.join(map(str, values))}}};\n"


def two_levels(name: str, kind: str, cells: Sequence[int]) -> str:
    """A table with a cell for every character, whose pages of 128 are kept once each."""
    pages: dict[tuple[int, ...], int] = {}
    starts = [pages.setdefault(tuple(cells[at : at + PAGE]), len(pages)) for at in range(0, len(cells), PAGE)]
    kept = [cell for page in pages for cell in page]
    return (
        numbers("std::uint16_t", f"{name}_pages", starts)
        + numbers(kind, f"{name}_cells", kept)
        + f"}}\nconst TwoLevels<{kind}> k{name}{{{name}_pages, {name}_cells}};\nnamespace {{\n"
    )


def mapping(name: str, mapped: Sequence[str]) -> str:
    """A table of where in a pool the characters stand that one becomes, their number first; 0 if it stays."""
    changed = [None if text == character else text for character, text in zip(CHARACTERS, mapped, strict=True)]
    pool: list[int] = [0]
    places: dict[str | None, int] = {None: 0}
    for text in changed:
        if text is not None and text not in places:
            places[text] = len(pool)
            pool += [len(text), *map(ord, text)]
    assert len(pool) < 1 << 16
    table = two_levels(f"{name}Places", "std::uint16_t", [places[text] for text in changed])
    return table + f"}}\n{numbers('char32_t', f'k{name}Pool', pool)}namespace {{\n"


def source() -> str:
    return (
        '// Made by tools/unicode_tables.py.\n#include "unicode.hpp"\n\nnamespace candide {\nnamespace {\n'
        + two_levels("Flags", "std::uint8_t", [flags_of(character) for character in CHARACTERS])
        + mapping("Lower", [lower_of(character) for character in CHARACTERS])
        + mapping("Bare", [bare_of(character) for character in CHARACTERS])
        + f'}}\nconst char* const kUnicodeVersion = "{unicodedata.unidata_version}";\n}}  // namespace candide\n'
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(source())
