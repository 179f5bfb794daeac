"""Texts from all that may hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tiers import every, late

from candide.data.texts import read_texts, read_vocabulary
from candide.exceptions import InputError, ParameterError
from candide.kernels import Kernels
from candide.kernels.tokenizer import TokenizerConfig
from candide.kernels.tokens import TokenFeatures
from candide.kernels.vocabulary import Vocabulary

pl = late("polars")

ITEMS = ["Grüße, Welt", "", None, "日本\x00語 🎉", "plain text"]
WHOLE = [item or "" for item in ITEMS]

CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "objects": lambda items: np.array(items, dtype=object),
    "a column of objects": lambda items: np.array(items, dtype=object)[:, None],
    "pandas objects": lambda items: pd.Series(items, dtype=object),
    "pandas strings": lambda items: pd.Series(items, dtype="string[python]"),
    "pandas str": lambda items: pd.Series(items, dtype="str"),
    "pandas on arrow": lambda items: pd.Series(items, dtype=pd.ArrowDtype(pa.string())),
    "pandas categories": lambda items: pd.Series(items, dtype="category"),
    "a stretch of pandas": lambda items: pd.Series(["x", *items], dtype="string[pyarrow]")[1:],
    "polars": lambda items: pl.Series(items, dtype=pl.String),
    "polars categories": lambda items: pl.Series(items, dtype=pl.Categorical),
    "arrow": lambda items: pa.array(items, pa.string()),
    "arrow, large": lambda items: pa.array(items, pa.large_string()),
    "arrow views": lambda items: pa.array(items, pa.string_view()),
    "arrow dictionary": lambda items: pa.array(items, pa.string()).dictionary_encode(),
    "a stretch of arrow": lambda items: pa.array(["x", "y", *items, "z"], pa.string())[2:-1],
    "arrow in chunks": lambda items: pa.chunked_array([items[:2], [], items[2:]], pa.string()),
}


@every("container", CONTAINERS)
def test_containers(container: str) -> None:
    """The same texts and the same holes from each."""
    texts = read_texts(CONTAINERS[container](ITEMS))
    assert texts.strings() == ITEMS
    assert texts.missing().tolist() == [item is None for item in ITEMS]


@pytest.mark.parametrize("make", [np.array, lambda items: np.array(items, dtype=np.dtypes.StringDType())])
def test_arrays_of_texts(make: Callable[[list[str]], Any]) -> None:
    """NumPy's own types of texts, which have no holes (and the first of them no NUL at the end)."""
    assert read_texts(make(WHOLE)).strings() == WHOLE


def test_no_texts() -> None:
    """Nothing is no error."""
    for empty in ([], np.array([], dtype=object), pa.array([], pa.string()), pl.Series([], dtype=pl.String)):
        assert len(read_texts(empty)) == 0


@every("hole", [None, np.nan, float("nan"), pd.NA, pd.NaT])
def test_holes(hole: Any) -> None:
    """All ways to say that a text is missing."""
    assert read_texts(["a", hole]).missing().tolist() == [False, True]


def test_all_missing() -> None:
    """Arrow has a type for that."""
    assert read_texts(pa.nulls(2)).missing().all()


@every(
    "source,message",
    [
        ("single string", "a single str; expected a list"),
        (b"single string", "a single bytes"),
        (["a", b"b"], r"row 1 of the texts is a bytes \(b'b'\).*decode"),
        (["a", None, 3], "row 2 of the texts is a int"),
        ([["a"]], "row 0 of the texts is a list"),
        (np.array([1.5]), "row 0 of the texts is a float"),
        (np.array([["a", "b"]]), r"shape \(1, 2\)"),
        (pa.array([b"a"]), "type binary"),
        (pa.array([1]), "type int64"),
        (pd.Series([1, 2]), "row 0 of the texts is a int"),
        (pd.DataFrame({"text": ["a"]}), "got a DataFrame"),
        ({"text": ["a"]}, "got a dict"),
        (3, "got a int"),
    ],
)
def test_what_is_no_text(source: Any, message: str) -> None:
    """Found, allowed, and what to do."""
    with pytest.raises(InputError, match=message):
        read_texts(source)


def test_numbers_of_polars_are_no_texts() -> None:
    with pytest.raises(InputError, match="type int64"):
        read_texts(pl.Series([1]))


def test_half_surrogate_pairs() -> None:
    """They are no characters."""
    assert read_texts(["a\ud800b", "\U0001f389"]).strings() == ["a\ufffdb", "🎉"]


def test_invalid_bytes() -> None:
    """Arrow does not look at what it is given."""
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 3], "i4")), pa.py_buffer(b"a\xffb")]
    )
    assert read_texts(broken).strings() == ["a\ufffdb"]


def test_rows_keep_their_texts_alive() -> None:
    """Texts that nobody else holds."""
    texts = read_texts([f"text number {i}" for i in range(1000)]).take(np.array([999, 0, 5])).rows(1, 3)
    assert texts.strings() == ["text number 0", "text number 5"]
    with pytest.raises(ValueError, match="within the texts"):
        texts.take(np.array([2]))


def test_one_very_long_text() -> None:
    """Longer than a shard, in one word and in many."""
    texts = read_texts(["x" * 3_000_000, "ab cd " * 600_000])
    rows = Kernels(2).count_tokens(texts, [TokenFeatures(TokenizerConfig(), Vocabulary())], grow=True)[0].rows
    assert rows.values.tolist() == [1, 600_000, 600_000]


def test_vocabularies(tmp_path: Any) -> None:
    """From a list or a file."""
    (tmp_path / "words.txt").write_text("spam\nhäm\n", "utf-8")
    assert read_vocabulary(tmp_path / "words.txt").tokens() == read_vocabulary(["spam", "häm"]).tokens()
    with pytest.raises(ParameterError, match="contains 'a' twice"):
        read_vocabulary(["a", "b", "a"])
    with pytest.raises(ParameterError, match="the vocabulary is a set"):
        read_vocabulary({"a", "b"})
    with pytest.raises(ParameterError, match="single string"):
        read_vocabulary("spam")


@every(
    "settings,message",
    [
        ({"analyzer": "words"}, "analyzer is 'words'"),
        ({"strip_accents": "yes"}, "strip_accents is 'yes'"),
        ({"ngrams": (2, 1)}, r"ngrams is \(2, 1\)"),
        ({"min_length": 0}, "min_length is 0"),
        ({"pattern": "a", "tokenizer": str.split}, "pattern and tokenizer"),
        ({"analyzer": "char", "stop_words": frozenset("a")}, "apply only to analyzer='word'"),
        ({"marks": True, "analyzer": "char"}, "marks=True works only with"),
        ({"marks": True, "pattern": "a"}, "marks=True works only with"),
        ({"ends": True}, "ends=True works only with n-grams of two or more"),
        ({"ends": True, "ngrams": (2, 2), "tokenizer": str.split}, "ends=True works only with n-grams of two or more"),
        ({"analyzer": "place", "ngrams": (1, 2)}, "not use n-grams"),
    ],
)
def test_recipes_that_make_no_sense(settings: dict[str, Any], message: str) -> None:
    """A message says what is allowed."""
    with pytest.raises(ParameterError, match=message):
        TokenizerConfig(**settings)
