"""How a text is cut into tokens: the configuration, and words that only Python can cut."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Literal

from ..exceptions import InputError, ParameterError
from ..lazy import dataclass

Analyzer = Literal["word", "char", "char_wb", "place"]
Accents = Literal["unicode", "ascii"] | None


ANALYZERS: tuple[Analyzer, ...] = ("word", "char", "char_wb", "place")
ACCENTS: tuple[Accents, ...] = (None, "unicode", "ascii")

_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class TokenizerConfig:
    """How a text is cut into tokens; the names are those of scikit-learn's ``CountVectorizer``, and so are the tokens.

    Three ways are its own. With ``marks``, every character that is neither part of a word nor white space is a word of
    its own. With ``ends``, an empty word, which no text holds, stands before the first word and behind the last:
    ``"hello you"`` has the pairs ``" hello"``, ``"hello you"`` and ``"you "``. The analyzer ``"place"`` tells what a
    text begins and ends with: the first four words as ``"0:what"`` …, the last three, from the end, as ``"-0:?"`` …,
    and the first two, three and four joined.

    ``pattern`` (a regular expression) and ``tokenizer`` (a function from a normalized text to tokens) replace the
    rule for words. They run in Python, some fifty times as slowly, and are not asked about ``min_length``.

    >>> TokenizerConfig("char_wb", ngrams=(2, 3)).ngrams
    (2, 3)
    """

    analyzer: Analyzer = "word"
    ngrams: tuple[int, int] = (1, 1)  # fewest and most words or characters in a token
    lowercase: bool = True
    strip_accents: Accents = None
    min_length: int = 2  # characters of a word
    stop_words: frozenset[str] = frozenset()  # left out before words are joined
    fold_numbers: bool = False  # every digit reads as 0, so that numbers differ by their length alone
    pattern: str | None = None
    tokenizer: Callable[[str], Iterable[str]] | None = None
    marks: bool = False
    ends: bool = False

    def __post_init__(self) -> None:
        _allow("analyzer", self.analyzer, ANALYZERS)
        _allow("strip_accents", self.strip_accents, ACCENTS)
        self._check_words()
        self._check_own_ways()

    def _check_words(self) -> None:
        low, high = self.ngrams
        if not 1 <= low <= high:
            raise ParameterError(f"ngrams is {self.ngrams}; expected two integers with 1 <= min <= max")
        if self.min_length < 1:
            raise ParameterError(f"min_length is {self.min_length}; expected at least 1")
        if self.pattern is not None and self.tokenizer is not None:
            raise ParameterError(
                "pattern and tokenizer are both given, but only one of them can split texts into "
                "words; omit one of them"
            )
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise ParameterError(
                f"tokenizer is {self.tokenizer!r}; expected a function that takes a text and returns a list of words"
            )
        if self.pattern is not None:
            _check_pattern(self.pattern)
        if self.analyzer != "word" and (self.in_python or self.stop_words):
            raise ParameterError(
                f"analyzer is {self.analyzer!r}, but stop_words, pattern and tokenizer apply only to analyzer='word'; "
                "omit these options"
            )

    def _check_own_ways(self) -> None:
        if self.marks and (self.in_python or self.analyzer not in ("word", "place")):
            raise ParameterError(
                "marks=True works only with the default word tokenizer; omit marks, or omit pattern, tokenizer and "
                "analyzer"
            )
        if self.ends and (self.in_python or self.analyzer != "word" or self.ngrams[0] < 2):
            raise ParameterError(
                "ends=True works only with n-grams of two or more words and the default word tokenizer; omit ends, or "
                "pass ngrams=(2, 2) or more"
            )
        if self.analyzer == "place" and self.ngrams != (1, 1):
            raise ParameterError(f"ngrams is {self.ngrams}, but analyzer='place' does not use n-grams; omit ngrams")

    @property
    def in_python(self) -> bool:
        """Whether words are cut by something that only Python can run."""
        return self.pattern is not None or self.tokenizer is not None


def _check_pattern(pattern: Any) -> None:
    try:
        groups = re.compile(pattern).groups
    except (re.error, TypeError) as error:
        raise ParameterError(
            f"pattern is {pattern!r}, which is not a regular expression ({error}); pass a string such as r'\\w+'"
        ) from None
    if groups > 1:
        raise ParameterError(
            f"pattern is {pattern!r} with {groups} capturing groups; expected at most one; use non-capturing groups, "
            "(?:…)"
        )


def _allow(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if value not in allowed:
        raise ParameterError(f"{name} is {value!r}; expected one of {', '.join(map(repr, allowed))}")


def normalize_text(text: str, config: TokenizerConfig) -> str:
    """Return the text in the form that is tokenized."""
    text = text.lower() if config.lowercase else text
    if config.strip_accents:
        parts = unicodedata.normalize("NFKD", text)
        text = "".join(part for part in parts if not unicodedata.combining(part))
    if config.strip_accents == "ascii":
        text = text.encode("ascii", "ignore").decode("ascii")
    return _DIGIT.sub("0", text) if config.fold_numbers else text


def words(text: str, config: TokenizerConfig) -> list[str]:
    """Return the words of a text by the pattern or the function of a tokenizer configuration, including stop words."""
    text = normalize_text(text, config)
    if config.tokenizer is not None:
        return _cut(config.tokenizer, text)
    assert config.pattern is not None
    return _compiled(config.pattern).findall(text)


def _cut(tokenizer: Callable[[str], Iterable[str]], text: str) -> list[str]:
    """Return the words by a function of the user, and check that they are strings."""
    found = tokenizer(text)
    words = list(found) if isinstance(found, Iterable) else [None]
    if all(isinstance(word, str) for word in words):
        return words
    raise InputError(f"tokenizer returned {found!r} for the text {text[:40]!r}; expected a list of str")


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
