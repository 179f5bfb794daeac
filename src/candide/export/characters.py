"""The characters that tokenizers distinguish, by this Python, whose rules the native core follows.

Engines have Unicode tables of other versions than Python, so exports contain those that they need.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

_SURROGATES = range(0xD800, 0xE000)
# Neither a letter nor skipped where the end of a word is looked for.
_STOP = "\n"


def all_codes() -> Iterator[int]:
    """Yield the numbers of all characters."""
    return (code for code in range(sys.maxunicode + 1) if code not in _SURROGATES)


@lru_cache(maxsize=1)
def _all_characters() -> str:
    return "".join(map(chr, all_codes()))


@lru_cache(maxsize=8)
def characters_of(pattern: str) -> list[int]:
    r"""Return the characters of a class of regular expressions, such as ``\w``."""
    return list(map(ord, re.findall(pattern, _all_characters())))


@lru_cache(maxsize=1)
def lower_case() -> dict[int, str]:
    """Return the characters that lower case changes."""
    return {ord(one): lowered for one in _all_characters() if (lowered := one.lower()) != one}


@lru_cache(maxsize=1)
def around_sigma() -> tuple[list[int], list[int]]:
    """Return the characters that are skipped where a capital sigma is checked for the end of a word, and letters."""
    neighbors = [one for one in _all_characters() if one != _STOP]
    stops = _ends_in_final_sigma(neighbors, "")
    passes = _ends_in_final_sigma(neighbors, "A") - stops
    return sorted(passes), sorted(stops)


def _ends_in_final_sigma(characters: list[str], before: str) -> set[int]:
    lowered = _STOP.join(f"{before}{one}Σ" for one in characters).lower().split(_STOP)
    return {ord(one) for one, text in zip(characters, lowered, strict=True) if text.endswith("ς")}


def without_accents(character: str) -> str:
    """Return the compatibility decomposition of a character without combining marks."""
    parts = unicodedata.normalize("NFKD", character)
    return "".join(part for part in parts if not unicodedata.combining(part))


def runs_of(codes: Iterable[int]) -> list[tuple[int, int]]:
    """Return runs of consecutive numbers, which ascend: the first and the last of each.

    >>> runs_of([2, 3, 50])
    [(2, 3), (50, 50)]
    """
    runs: list[tuple[int, int]] = []
    for code in codes:
        if runs and code == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], code
        else:
            runs.append((code, code))
    return runs
