"""Tokens of one text by name, and where words occur in it."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, TextRows
from ..kernels.tokenizer import TokenizerConfig
from ..kernels.tokens import TokenFeatures
from ..kernels.vocabulary import Coding, Vocabulary
from .terms import Term


class Token(NamedTuple):
    """A token, or several that share a code, and how often they occur."""

    names: tuple[str, ...]
    times: int

    @property
    def name(self) -> str:
        """What people call it."""
        return " or ".join(self.names)


def tokens_of(tokenizer: TokenizerConfig, text: TextRows, kernels: Kernels) -> list[Token]:
    """All tokens of one text, in the order in which they first occur."""
    found = kernels.count_tokens(text.texts, [TokenFeatures(tokenizer, Vocabulary())], grow=True)[0]
    assert isinstance(found.coding, Vocabulary)
    names = found.coding.tokens(found.rows.indices)
    order = np.argsort(found.rows.indices, kind="stable")
    return [Token((names[i],), int(found.rows.values[i])) for i in order]


def code_names(tokens: Iterable[Token], coding: Coding) -> dict[int, Token]:
    """Tokens that have a code, by it; those that share one together."""
    every = list(tokens)
    out: dict[int, Token] = {}
    codes = coding.codes([token.names[0] for token in every])
    for code, token in zip(codes.tolist(), every, strict=True):
        if code >= 0:
            before = out.get(code, Token((), 0))
            out[code] = Token(before.names + token.names, before.times + token.times)
    return out


WORD = re.compile(r"\w+")
# Tokens of places begin with how many words come before.
_PLACE = re.compile(r"^-?\d+:(?=\S)")
_NOWHERE = np.zeros(0, dtype=np.int64)


class Word(NamedTuple):
    """Where a word stands in the text, and the evidence that falls on it."""

    begin: int
    end: int
    amount: float


class Placed(NamedTuple):
    """The words of a text in their order, and the evidence of tokens that are nowhere in it as they are written."""

    words: list[Word]
    elsewhere: float


def placed(text: str, terms: Iterable[Term], amounts: Iterable[float]) -> Placed:
    """Evidence of tokens shared out among the words that they are found in, evenly among all places.

    >>> import numpy as np
    >>> tokens = [Term("token", np.zeros(2), value="win cash"), Term("token", np.zeros(2), value="wi")]
    >>> found = placed("Win cash, win!", tokens, [2.0, 1.0])
    >>> [word.amount for word in found.words], found.elsewhere
    ([1.0, 1.0, 1.0], 0.0)
    """
    spans = [found.span() for found in WORD.finditer(text)]
    index = _Index([_folded(text[begin:end]) for begin, end in spans])
    out, elsewhere = np.zeros(len(spans)), 0.0
    for term, amount in zip(terms, amounts, strict=True):
        pieces = _pieces(str(term.value))
        for piece in pieces:
            at = index.places(piece)
            out[at] += amount / len(pieces) / max(1, len(at))
            elsewhere += 0.0 if len(at) else amount / len(pieces)
        elsewhere += 0.0 if pieces else amount
    return Placed([Word(*span, amount) for span, amount in zip(spans, out.tolist(), strict=True)], elsewhere)


def _pieces(token: str) -> list[str]:
    """Parts of a token that stand in one word each."""
    return WORD.findall(_folded(_PLACE.sub("", token)))


def _folded(text: str) -> str:
    """Without case and accents, as tokens may be."""
    plain = unicodedata.normalize("NFKD", text.lower())
    return "".join(sign for sign in plain if not unicodedata.combining(sign))


class _Index:
    """Where pieces of words are found."""

    def __init__(self, words: list[str]) -> None:
        found: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(words):
            found[word].append(place)
        self._whole = {word: np.array(places) for word, places in found.items()}
        self._within: dict[int, dict[str, Array]] = {}

    def places(self, piece: str) -> Array:
        """Words that are the piece, or else words that hold it; each once."""
        if piece in self._whole:
            return self._whole[piece]
        if len(piece) not in self._within:
            self._within[len(piece)] = self._pieces_of(len(piece))
        return self._within[len(piece)].get(piece, _NOWHERE)

    def _pieces_of(self, size: int) -> dict[str, Array]:
        found: dict[str, list[Array]] = defaultdict(list)
        for word, places in self._whole.items():
            for piece in {word[i : i + size] for i in range(len(word) - size + 1)}:
                found[piece].append(places)
        return {piece: np.concatenate(places) for piece, places in found.items()}
