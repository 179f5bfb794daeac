"""Normal forms of a text, words that Python cuts, and settings that are refused."""

import numpy as np
import pytest
from tiers import every

from candide.data.texts import read_texts
from candide.exceptions import InputError, ParameterError
from candide.kernels import Kernels
from candide.kernels.tokenizer import TokenizerConfig, normalize_text, words
from candide.kernels.tokens import TokenFeatures
from candide.kernels.vocabulary import Vocabulary


@every("settings,expected", [
    ({}, "año ½ 12 straße"),
    ({"lowercase": False}, "Año ½ 12 Straße"),
    ({"fold_numbers": True}, "año ½ 00 straße"),
    ({"strip_accents": "unicode"}, "ano 1\u20442 12 straße"),
    ({"strip_accents": "ascii"}, "ano 12 12 strae"),
    ({"strip_accents": "ascii", "fold_numbers": True, "lowercase": False}, "Ano 00 00 Strae"),
])  # fmt: skip
def test_normal_form(settings, expected):
    assert normalize_text("Año ½ 12 Straße", TokenizerConfig(**settings)) == expected


@every("settings,expected", [
    ({"pattern": r"\w+"}, ["a", "bc", "d"]),
    ({"pattern": r"(\w)\w*"}, ["a", "b", "d"]),
    ({"pattern": r"[A-Z]"}, []),
    ({"pattern": r"[A-Z]", "lowercase": False}, ["B"]),
    ({"tokenizer": str.split}, ["a", "bc,d"]),
    ({"tokenizer": lambda text: (letter for letter in text[:3])}, ["a", " ", "b"]),
])  # fmt: skip
def test_words_that_python_cuts(settings, expected):
    assert words("a Bc,d", TokenizerConfig(**settings)) == expected


@every("answer", [None, 3, ["a", None], [1, "a"]])
def test_a_tokenizer_must_give_words(answer):
    with pytest.raises(InputError, match="expected a list of str"):
        words("a b", TokenizerConfig(tokenizer=lambda text: answer))


@every("settings,message", [
    ({"analyzer": "letter"}, "expected one of 'word', 'char', 'char_wb', 'place'"),
    ({"strip_accents": "latin"}, "expected one of None, 'unicode', 'ascii'"),
    ({"ngrams": (0, 1)}, "1 <= min <= max"),
    ({"ngrams": (2, 1)}, "1 <= min <= max"),
    ({"min_length": 0}, "min_length is 0"),
    ({"pattern": "a", "tokenizer": str.split}, "pattern and tokenizer"),
    ({"tokenizer": "split"}, "expected a function"),
    ({"pattern": "("}, "not a regular expression"),
    ({"pattern": 3}, "not a regular expression"),
    ({"pattern": "(a)(b)"}, "with 2 capturing groups"),
    ({"analyzer": "char", "pattern": "a"}, "apply only to analyzer='word'"),
    ({"analyzer": "place", "stop_words": frozenset({"a"})}, "apply only to analyzer='word'"),
    ({"marks": True, "pattern": "a"}, "marks=True works only with the default word tokenizer"),
    ({"marks": True, "analyzer": "char"}, "marks=True works only with the default word tokenizer"),
    ({"ends": True, "ngrams": (2, 2), "tokenizer": str.split}, "ends=True"),
    ({"ends": True, "ngrams": (2, 2), "analyzer": "char"}, "ends=True"),
    ({"ends": True, "ngrams": (1, 2)}, "ends=True"),
    ({"analyzer": "place", "ngrams": (1, 2)}, "not use n-grams"),
])  # fmt: skip
def test_settings_that_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        TokenizerConfig(**settings)


@every("settings", [
    {"ngrams": (1, 1)}, {"ngrams": (3, 3)}, {"min_length": 1}, {"pattern": "a"}, {"pattern": "(a)"},
    {"tokenizer": str.split, "stop_words": frozenset({"a"})}, {"marks": True}, {"marks": True, "analyzer": "place"},
    {"ends": True, "ngrams": (2, 2)}, {"ends": True, "marks": True, "ngrams": (2, 3)}, {"analyzer": "place"},
    {"analyzer": "char", "ngrams": (2, 3)},
])  # fmt: skip
def test_settings_that_are_allowed(settings):
    recipe = TokenizerConfig(**settings)
    assert recipe.in_python == ("pattern" in settings or "tokenizer" in settings)


def test_features_of_all_kinds_in_one_call():
    """Native tokenizers share a pass, the others have one each, and results are in the order of the features."""
    recipes = [
        TokenizerConfig(pattern=r"\w+"),
        TokenizerConfig(stop_words=frozenset({"bb"})),
        TokenizerConfig(tokenizer=str.split, stop_words=frozenset({"bb"}), ngrams=(1, 2)),
        TokenizerConfig("char", ngrams=(2, 2), strip_accents="ascii"),
        TokenizerConfig("place", min_length=1, strip_accents="unicode"),
    ]
    features = [TokenFeatures(recipe, Vocabulary()) for recipe in recipes]
    texts = read_texts(["é bb cc-d", None, ""])
    found = Kernels(1).count_tokens(texts, features, grow=True)
    assert [rows.coding.tokens() for rows in found] == [
        ["é", "bb", "cc", "d"],
        ["cc"],
        ["é", "cc-d", "é cc-d"],
        ["e ", " b", "bb", "b ", " c", "cc", "c-", "-d"],
        ["0:e", "1:bb", "2:cc", "3:d", "-0:d", "-1:cc", "-2:bb", "e bb", "e bb cc", "e bb cc d"],
    ]
    for rows in found:
        np.testing.assert_array_equal(rows.rows.floats(), np.array([[1], [0], [0]]) * np.ones(len(rows.coding)))
