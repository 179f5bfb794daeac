"""What a recipe makes of one text, in Python: scikit-learn's analyzers, word for word, and places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from ..exceptions import InputError
from .tokens import Recipe

_WORD = re.compile(r"\w+")
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")
_DIGIT = re.compile(r"\d")
_WHITE_SPACES = re.compile(r"\s\s+")

# So many words at the beginning and at the end of a text have places.
_FIRST, _LAST = 4, 3


def normalised(text: str, recipe: Recipe) -> str:
    """The text as tokens are looked for in it."""
    text = text.lower() if recipe.lowercase else text
    if recipe.strip_accents:
        parts = unicodedata.normalize("NFKD", text)
        text = "".join(part for part in parts if not unicodedata.combining(part))
    if recipe.strip_accents == "ascii":
        text = text.encode("ascii", "ignore").decode("ascii")
    return _DIGIT.sub("0", text) if recipe.fold_numbers else text


def words(text: str, recipe: Recipe) -> list[str]:
    """The words of a text, stop words and all."""
    text = normalised(text, recipe)
    if recipe.tokenizer is not None:
        return _cut(recipe.tokenizer, text)
    if recipe.pattern is not None:
        return _compiled(recipe.pattern).findall(text)
    found = (_WORD_OR_MARK if recipe.marks else _WORD).findall(text)
    return [word for word in found if len(word) >= recipe.min_length or not _WORD.match(word)]


def _cut(tokenizer: Callable[[str], Iterable[str]], text: str) -> list[str]:
    """By a function of the user's, which may give anything."""
    found = tokenizer(text)
    words = list(found) if isinstance(found, Iterable) else [None]
    if all(isinstance(word, str) for word in words):
        return words
    raise InputError(f"tokenizer gave {found!r} for the text {text[:40]!r}; it must give words, each a str")


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def analyse(text: str, recipe: Recipe) -> list[str]:
    """The tokens of a text in order."""
    if recipe.analyzer == "word":
        kept = [word for word in words(text, recipe) if word not in recipe.stop_words]
        kept = ["", *kept, ""] if recipe.ends and kept else kept
        return [" ".join(part) for part in _ngrams(kept, *recipe.ngrams)]
    if recipe.analyzer == "place":
        return _places(words(text, recipe))
    text = _WHITE_SPACES.sub(" ", normalised(text, recipe))
    if recipe.analyzer == "char":
        return ["".join(part) for part in _ngrams(text, *recipe.ngrams)]
    return [token for word in text.split() for token in _within(f" {word} ", *recipe.ngrams)]


def _ngrams(pieces: Sequence[str], low: int, high: int) -> list[Sequence[str]]:
    lengths = range(low, min(high, len(pieces)) + 1)
    return [pieces[at : at + n] for n in lengths for at in range(len(pieces) - n + 1)]


def _places(kept: list[str]) -> list[str]:
    first = [f"{place}:{word}" for place, word in enumerate(kept[:_FIRST])]
    last = [f"-{place}:{word}" for place, word in enumerate(kept[: -_LAST - 1 : -1])]
    return first + last + [" ".join(kept[:n]) for n in range(2, min(_FIRST, len(kept)) + 1)]


def _within(word: str, low: int, high: int) -> list[str]:
    """A word that is shorter than a token is one, once."""
    if len(word) <= low:
        return [word]
    return ["".join(part) for part in _ngrams(word, low, high)]
