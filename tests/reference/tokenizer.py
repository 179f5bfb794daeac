"""Tokens of one text, in Python."""

from __future__ import annotations

import re
from collections.abc import Sequence

from candide.kernels.tokenizer import TokenizerConfig, normalize_text, words

_WORD = re.compile(r"\w+")
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")
_WHITE_SPACES = re.compile(r"\s\s+")

# Number of words at the beginning and at the end of a text that are tokens with their position.
_FIRST, _LAST = 4, 3


def analyze(text: str, config: TokenizerConfig) -> list[str]:
    """Return the tokens of a text in order."""
    if config.analyzer == "word":
        kept = [word for word in _words(text, config) if word not in config.stop_words]
        kept = ["", *kept, ""] if config.ends and kept else kept
        return [" ".join(part) for part in _ngrams(kept, *config.ngrams)]
    if config.analyzer == "place":
        return _places(_words(text, config))
    text = _WHITE_SPACES.sub(" ", normalize_text(text, config))
    if config.analyzer == "char":
        return ["".join(part) for part in _ngrams(text, *config.ngrams)]
    return [token for word in text.split() for token in _within(f" {word} ", *config.ngrams)]


def _ngrams(pieces: Sequence[str], low: int, high: int) -> list[Sequence[str]]:
    lengths = range(low, min(high, len(pieces)) + 1)
    return [pieces[at : at + n] for n in lengths for at in range(len(pieces) - n + 1)]


def _places(kept: list[str]) -> list[str]:
    first = [f"{place}:{word}" for place, word in enumerate(kept[:_FIRST])]
    last = [f"-{place}:{word}" for place, word in enumerate(kept[: -_LAST - 1 : -1])]
    return first + last + [" ".join(kept[:n]) for n in range(2, min(_FIRST, len(kept)) + 1)]


def _within(word: str, low: int, high: int) -> list[str]:
    """Return n-grams of a word; a word that is shorter than these is one token."""
    if len(word) <= low:
        return [word]
    return ["".join(part) for part in _ngrams(word, low, high)]


def _words(text: str, config: TokenizerConfig) -> list[str]:
    if config.in_python:
        return words(text, config)
    found = (_WORD_OR_MARK if config.marks else _WORD).findall(normalize_text(text, config))
    return [word for word in found if len(word) >= config.min_length or not _WORD.match(word)]
