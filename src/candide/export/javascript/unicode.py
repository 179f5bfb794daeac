"""Tables of character properties that tokenizers need in JavaScript.

Engines of JavaScript have Unicode tables of other versions than Python, so the tables are part of the module.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

_SURROGATES = range(0xD800, 0xE000)
_HANGUL = range(0xAC00, 0xD7A4)
# Neither a letter nor skipped where the end of a word is looked for.
_STOP = "\n"


class Characters(NamedTuple):
    """Flags of characters as ranges, and the characters that lower case changes."""

    flags: list[str]  # of WORD, SPACE, DIGIT, IGNORABLE and CASED: gaps and lengths in base 36
    lower_runs: list[list[int]]  # first character, number, step, change
    lower_texts: list[list[Any]]  # characters that become several


@lru_cache(maxsize=1)
def characters() -> Characters:
    """Return the tables of this Python, whose rules the tokenizer of the native core follows."""
    every = "".join(map(chr, _all_codes()))
    flags = [_ranges(map(ord, re.findall(pattern, every))) for pattern in (r"\w", r"\s", r"\d")]
    lower = {ord(one): lowered for one in every if (lowered := one.lower()) != one}
    return Characters([*flags, *map(_ranges, _around_sigma(every))], _runs(lower), _several(lower))


@lru_cache(maxsize=1)
def without_accents() -> list[list[Any]]:
    """Return the characters that the removal of accents changes; syllables of Hangul fall apart by a rule."""
    pairs = ((code, _bare(chr(code))) for code in _all_codes() if code >= 0x80 and code not in _HANGUL)
    return [[code, text] for code, text in pairs if text != chr(code)]


def _all_codes() -> Iterable[int]:
    return (code for code in range(sys.maxunicode + 1) if code not in _SURROGATES)


def _bare(character: str) -> str:
    parts = unicodedata.normalize("NFKD", character)
    return "".join(part for part in parts if not unicodedata.combining(part))


def _around_sigma(every: str) -> tuple[list[int], list[int]]:
    """Return the characters that are skipped where a capital sigma is checked for the end of a word, and letters."""
    neighbors = [one for one in every if one != _STOP]
    stops = _ends_in_final_sigma(neighbors, "")
    passes = _ends_in_final_sigma(neighbors, "A") - stops
    return sorted(passes), sorted(stops)


def _ends_in_final_sigma(characters: list[str], before: str) -> set[int]:
    lowered = _STOP.join(f"{before}{one}Σ" for one in characters).lower().split(_STOP)
    return {ord(one) for one, text in zip(characters, lowered, strict=True) if text.endswith("ς")}


def _ranges(codes: Iterable[int]) -> str:
    """Gaps and lengths in turn.

    >>> _ranges([2, 3, 50])
    '2 2 1a 1'
    """
    numbers, end = [], 0
    for _, group in groupby(enumerate(codes), lambda pair: pair[1] - pair[0]):
        run = [code for _, code in group]
        numbers += [run[0] - end, len(run)]
        end = run[-1] + 1
    return " ".join(np.base_repr(number, 36).lower() for number in numbers)


def _runs(lower: dict[int, str]) -> list[list[int]]:
    """Runs of characters with one change, at steps of 1 or 2."""
    out: list[list[int]] = []
    for code, text in lower.items():
        if len(text) > 1:
            continue
        change = ord(text) - code
        if out and out[-1][3] == change:
            first, number, step, _ = out[-1]
            if code == first + number * step or (number == 1 and code == first + 2):
                out[-1] = [first, number + 1, code - first if number == 1 else step, change]
                continue
        out.append([code, 1, 1, change])
    return out


def _several(lower: dict[int, str]) -> list[list[Any]]:
    return [[code, text] for code, text in lower.items() if len(text) > 1]
