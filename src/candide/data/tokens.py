"""Texts to numbers, as settings speak of them: recipes, vocabularies and buckets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..exceptions import ParameterError
from ..kernels._core import unicode_version
from ..kernels.tokenizer import TokenizerConfig
from ..kernels.tokens import TokenFeatures, TokenRows, TokenScores, TokenTables, TokenTally
from ..kernels.vocabulary import Buckets, Coding, SomeBuckets, Vocabulary

__all__ = [
    "Buckets",
    "Coding",
    "SomeBuckets",
    "TokenFeatures",
    "TokenRows",
    "TokenScores",
    "TokenTables",
    "TokenTally",
    "TokenizerConfig",
    "Vocabulary",
    "read_vocabulary",
    "unicode_version",
]


def read_vocabulary(source: Iterable[str] | Path) -> Vocabulary:
    """A fixed vocabulary from tokens, or from a file with one token on each line.

    >>> read_vocabulary(["spam", "ham"]).tokens()
    ['spam', 'ham']
    """
    if isinstance(source, str):
        raise ParameterError(
            f"the vocabulary is one text ({source!r}); pass a list of tokens, or pathlib.Path(…) for a file of them"
        )
    if isinstance(source, (set, frozenset)):
        raise ParameterError(
            "the vocabulary is a set, whose order differs from run to run, and tokens are numbered in order; pass a "
            "list, such as sorted(tokens)"
        )
    tokens = source.read_text("utf-8").splitlines() if isinstance(source, Path) else list(source)
    vocabulary = Vocabulary.of(tokens)
    if len(vocabulary) != len(tokens):
        again = next(token for i, token in enumerate(tokens) if token in tokens[:i])
        raise ParameterError(f"the vocabulary holds {again!r} twice; tokens are distinct; drop the second")
    return vocabulary
