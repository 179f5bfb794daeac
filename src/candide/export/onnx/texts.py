"""Texts that come as tokens: onnxruntime has no operator that cuts texts as candide does."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...families.terms import KnownTokens
from ...families.text_likelihood import TextLikelihood
from ...kernels.vocabulary import Vocabulary
from .probabilities import Amount
from .tensor import Graph, Tensor
from .terms import Scored, scored_numbers


def scored_tokens(likelihood: TextLikelihood, graph: Graph) -> tuple[Scored, Amount]:
    """What the tokens of texts say, and how many each has; rows are filled up with empty texts."""
    coding = likelihood.known.coding
    if not isinstance(coding, Vocabulary):
        raise ParameterError(
            "this model knows tokens by their hash alone, which has no operator in ONNX; train it with buckets=None"
        )
    vocabulary = coding.tokens()
    if not vocabulary:
        raise ParameterError(
            "this model knows no token, so that a graph would have nothing to look for; fit it on more"
        )
    tokens = graph.input("tokens", 0, "m", texts=True)
    counts = _counts(tokens, vocabulary)
    return scored_numbers(likelihood.inner, _weighed(likelihood.known, counts)), lambda: _lengths(tokens)


def _lengths(tokens: Tensor) -> Tensor:
    """How many tokens each text has, known or not, ``(texts, 1)``."""
    there = tokens.graph.look_up(tokens, np.array([""], dtype=object), np.zeros(1, dtype=np.int64), 1)
    return there.sum(1, keep=True).of_type(np.float64)


def _counts(tokens: Tensor, vocabulary: list[str]) -> Tensor:
    """How often texts hold each token, ``(texts, tokens)``; in single precision on the way, which counts to 2^24."""
    single: dict[str, Any] = {"min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "ngram_counts": [0]}
    places = list(range(len(vocabulary)))
    found = tokens.graph.op(
        "TfIdfVectorizer", tokens, mode="TF", pool_strings=vocabulary, ngram_indexes=places, **single
    )
    return found.of_type(np.float64)


def _weighed(known: KnownTokens, counts: Tensor) -> Tensor:
    """``KnownTokens.rows``: what occurrences weigh."""
    held = counts > 0.0
    if known.feature_set.presence:
        counts = held.of_type(np.float64)
    if known.feature_set.weighting == "log":
        counts = held.where(counts.at_least(1.0).log() + 1.0, 0.0)
    return counts if known.factor is None else counts * known.factor
