"""Tokens of one text by name, though a model may know only their codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import TextRows
from ..kernels.tokenizer import TokenizerConfig
from ..kernels.tokens import TokenFeatures
from ..kernels.vocabulary import Coding, Vocabulary


class Token(NamedTuple):
    """A token, or several that share a code, and how often they occur."""

    names: tuple[str, ...]
    times: int

    @property
    def name(self) -> str:
        """What people call it."""
        return " or ".join(self.names)


def tokens_of(recipe: TokenizerConfig, text: TextRows, kernels: Kernels) -> list[Token]:
    """All tokens of one text, in the order in which they first occur."""
    found = kernels.count_tokens(text.texts, [TokenFeatures(recipe, Vocabulary())], grow=True)[0]
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
