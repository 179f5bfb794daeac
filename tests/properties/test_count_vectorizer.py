"""Tokens and counts are those of scikit-learn's ``CountVectorizer``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from sklearn.feature_extraction.text import CountVectorizer

from candide.data.texts import read_texts
from candide.kernels import Kernels
from candide.kernels.tokenizer import TokenizerConfig
from candide.kernels.tokens import TokenFeatures
from candide.kernels.vocabulary import Vocabulary

from .texts import lists

SETTINGS: list[dict[str, Any]] = [
    {},
    {"lowercase": False},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3), "stop_words": ["ab", "cd"]},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii", "ngram_range": (1, 3)},
    {"analyzer": "char", "ngram_range": (1, 4)},
    {"analyzer": "char", "ngram_range": (3, 3), "strip_accents": "unicode"},
    {"analyzer": "char_wb", "ngram_range": (1, 5)},
    {"analyzer": "char_wb", "ngram_range": (4, 6), "lowercase": False, "strip_accents": "ascii"},
    {"token_pattern": r"\b(\w)\w*"},
    {"tokenizer": str.split, "token_pattern": None},
]


def recipe_of(settings: dict[str, Any]) -> TokenizerConfig:
    return TokenizerConfig(
        analyzer=settings.get("analyzer", "word"),
        ngrams=settings.get("ngram_range", (1, 1)),
        lowercase=settings.get("lowercase", True),
        strip_accents=settings.get("strip_accents"),
        stop_words=frozenset(settings.get("stop_words", ())),
        pattern=settings.get("token_pattern"),
        tokenizer=settings.get("tokenizer"),
    )


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@given(items=lists)
def test_same_tokens_as_often(settings: dict[str, Any], items: list[str | None]) -> None:
    """Token for token and count for count, on texts of all kinds."""
    # What candide reads as U+FFFD, scikit-learn keeps.
    texts = [(text or "").encode("utf-8", "replace").decode() for text in items]
    # Without the words at the end, scikit-learn refuses texts that have no tokens.
    texts.append("word of three")
    vectorizer = CountVectorizer(**settings)
    meant = vectorizer.fit_transform(texts)
    found = Kernels(2).count_tokens(read_texts(texts), [TokenFeatures(recipe_of(settings), Vocabulary())], grow=True)[0]
    names = vectorizer.get_feature_names_out().tolist()
    assert isinstance(found.coding, Vocabulary)
    assert sorted(found.coding.tokens()) == names
    in_order = found.rows.floats()[:, found.coding.codes(names)]
    np.testing.assert_array_equal(in_order, meant.toarray())
