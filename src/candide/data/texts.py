"""Texts and vocabularies from lists, arrays, series and Arrow strings, without copies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..exceptions import InputError, ParameterError
from ..kernels._core import Texts
from ..kernels.layouts import Array
from ..kernels.vocabulary import Vocabulary
from .arrays import is_missing, is_sparse, reject_lazy_table

# The maximal number of characters of a cell in a message.
_MAX_SHOWN = 60


def read_texts(source: Any) -> Texts:
    """Return texts from a list, an array, a series, Arrow strings, or any iterable of strings.

    Strings and Arrow buffers are read in place, without a copy. None, NaN and nulls are missing texts, which have no
    tokens. Invalid UTF-8 and unpaired surrogates are read as U+FFFD.

    >>> texts = read_texts(["free entry", None])
    >>> len(texts), texts.missing().tolist()
    (2, [False, True])
    """
    if isinstance(source, (str, bytes)):
        raise InputError(
            f"got a single {type(source).__name__}; expected a list of texts; pass [text] for a single text"
        )
    if isinstance(source, Texts):
        return source
    if isinstance(source, np.ndarray):
        return _from_items(_flatten(source).tolist())
    chunks = _arrow_chunks(source)
    if chunks is not None:
        return Texts.joined([_from_arrow(chunk) for chunk in chunks])
    return _from_items(_items(source))


def _flatten(array: Array) -> Array:
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1):
        return array.ravel()
    raise InputError(f"got an array of texts of shape {array.shape}; expected one dimension; pass one text per row")


def _items(source: Any) -> list[Any]:
    if type(source) is list:
        return source
    if (
        isinstance(source, Mapping)
        or not isinstance(source, Iterable)
        or hasattr(source, "columns")
        or is_sparse(source)
    ):
        raise InputError(
            f"got a {type(source).__name__}; expected a list, array or series of texts, such as frame['text']"
        )
    reject_lazy_table(source)
    tolist = getattr(source, "tolist", None)
    return list(source) if tolist is None else list(tolist())


def _from_items(items: list[Any]) -> Texts:
    texts, odd = _read(items)
    if odd >= 0 and is_missing(items[odd]):
        texts, odd = _read([None if not isinstance(item, str) and is_missing(item) else item for item in items])
    if odd >= 0:
        raise InputError(_not_text_message(items[odd], odd))
    return texts


def _read(items: list[Any]) -> tuple[Texts, int]:
    try:
        return Texts.of_list(items)
    except ValueError as error:
        raise InputError(str(error)) from None


def _shorten(item: Any) -> str:
    """Return the beginning of the representation of an object, on one line."""
    text = " ".join(repr(item).split())
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def _not_text_message(item: Any, row: int) -> str:
    advice = "decode it, as in text.decode('utf-8')" if isinstance(item, bytes) else "convert it, as in str(value)"
    return (
        f"row {row} of the texts is a {type(item).__name__} ({_shorten(item)}); expected a str, or None if missing; "
        f"{advice}"
    )


def _arrow_chunks(source: Any) -> list[Any] | None:
    """Return the Arrow arrays of a column; None if it is not backed by Arrow."""
    if hasattr(source, "chunks") and hasattr(source, "type"):
        return list(source.chunks)
    if hasattr(source, "buffers") and hasattr(source, "type"):
        return [source]
    inside = getattr(source, "array", None)  # of pandas
    if inside is not None and hasattr(inside, "__arrow_array__") and "pyarrow" in repr(getattr(source, "dtype", "")):
        return _arrow_chunks(inside.__arrow_array__())
    if hasattr(source, "to_arrow") and hasattr(source, "dtype"):  # of polars
        try:
            return _arrow_chunks(source.to_arrow())
        except ModuleNotFoundError:  # polars needs pyarrow for this
            return None
    return None


def _from_arrow(chunk: Any) -> Texts:
    kind = str(chunk.type)
    if kind not in ("string", "large_string"):
        if chunk.type.num_fields or ("string" not in kind and kind != "null"):
            raise InputError(
                f"got Arrow values of type {kind}; expected strings; cast them, as in array.cast('string')"
            )
        chunk = chunk.cast("large_string")
        kind = "large_string"
    valid, offsets, data = chunk.buffers()
    begin, n = chunk.offset, len(chunk)
    if offsets is None:
        return Texts.of_buffers(np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64), None)
    at = np.frombuffer(offsets, dtype=np.int32 if kind == "string" else np.int64)[begin : begin + n + 1]
    utf8 = np.empty(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return _from_buffers(utf8, at if n else np.zeros(1, dtype=np.int64), _validity(valid, begin, n))


def _from_buffers(utf8: Array, offsets: Array, valid: Array | None) -> Texts:
    try:
        return Texts.of_buffers(utf8, offsets, valid)
    except ValueError as error:
        raise InputError(str(error)) from None


def _validity(valid: Any, begin: int, n: int) -> Array | None:
    if valid is None:
        return None
    return np.unpackbits(np.frombuffer(valid, dtype=np.uint8), count=begin + n, bitorder="little")[begin:].astype(bool)


def read_vocabulary(source: Iterable[str] | os.PathLike[str]) -> Vocabulary:
    """Return a fixed vocabulary from tokens, or from a file with one token per line.

    >>> read_vocabulary(["spam", "ham"]).tokens()
    ['spam', 'ham']
    """
    if isinstance(source, str):
        raise ParameterError(
            f"the vocabulary is a single string ({source!r}); pass a list of tokens, or pathlib.Path(…) for a file "
            "with one token per line"
        )
    if isinstance(source, (set, frozenset)):
        raise ParameterError(
            "the vocabulary is a set, whose order differs between runs; expected an ordered collection; pass a list, "
            "such as sorted(tokens)"
        )
    if isinstance(source, os.PathLike):
        with open(source, encoding="utf-8") as file:
            source = file.read().splitlines()
    tokens = list(source)
    vocabulary = Vocabulary.of(tokens)
    if len(vocabulary) != len(tokens):
        again = next(token for i, token in enumerate(tokens) if token in tokens[:i])
        raise ParameterError(f"the vocabulary contains {again!r} twice; expected distinct tokens; remove the duplicate")
    return vocabulary
