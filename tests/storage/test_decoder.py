"""Single values of a model file, decoded by hand: what is returned, and what is refused."""

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from tiers import every

from candide.data.index import Index
from candide.priors import Dirichlet
from candide.statistics.counts import Counts, StoredCounts
from candide.storage import decoder as module
from candide.storage.decoder import Decoder
from candide.storage.errors import InvalidContent

ARRAYS = {
    "floats": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "triangle": np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    "five": np.arange(5.0),
    "none": np.empty(0),
    "letters": np.frombuffer(b"abc\xc3\xa4", dtype=np.uint8),
    "ends": np.array([0, 1, 1, 5]),
    "short ends": np.array([0, 1, 4]),
    "small ends": np.array([0, 5], dtype=np.int32),
    "codes": np.array([1, 0, 1]),
    "wrong codes": np.array([0, 2]),
    "negative codes": np.array([0, -1]),
    "points": np.array([[97, 98], [99, 0]], dtype=np.uint32),
    "no points": np.empty((2, 0), dtype=np.uint32),
    "bytes": np.array([[97, 98], [99, 0]], dtype=np.uint8),
    "missing": np.array([True, False, False]),
    "cells": np.array([1.5, 2.0]),
    "columns": np.array([0, 3], dtype=np.int32),
    "rows": np.array([0, 2, 2], dtype=np.int32),
}


def decode(tree, replacements=None):
    return Decoder(ARRAYS, replacements).value(tree, "model")


def same(found, expected):
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    else:
        assert found == expected
        assert type(found) is type(expected)


def as_objects(*labels):
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out


STRINGS = {"utf8": "letters", "offsets": "ends"}


@every("tree,expected", [
    (3, 3),
    ("text", "text"),
    (None, None),
    ([1, [2, "a"]], (1, (2, "a"))),
    ({"$": "list", "items": [1, 2]}, [1, 2]),
    ({"$": "float", "value": "-inf"}, -np.inf),
    ({"$": "scalar", "dtype": "int8", "value": 3}, np.int8(3)),
    ({"$": "set", "items": [1, 2]}, {1, 2}),
    ({"$": "frozenset", "items": [1]}, frozenset({1})),
    ({"$": "dict", "items": [[1, "a"], ["b", [2]]]}, {1: "a", "b": (2,)}),
    ({"$": "named", "a": 1, "b": [2]}, {"a": 1, "b": (2,)}),
    ({"$": "octets", "value": "00ff"}, b"\x00\xff"),
    ({"$": "date", "value": "2020-01-02"}, dt.date(2020, 1, 2)),
    ({"$": "time", "value": "10:20:00"}, dt.time(10, 20)),
    ({"$": "datetime", "value": "2020-01-02T03:04:05", "zone": None}, dt.datetime(2020, 1, 2, 3, 4, 5)),
    ({"$": "datetime", "value": "2020-01-02T03:04:05", "zone": "UTC"},
     dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=ZoneInfo("UTC"))),
    ({"$": "timedelta", "days": 1, "seconds": 2, "microseconds": 3}, dt.timedelta(1, 2, 3)),
    ({"$": "array", "tensor": "floats"}, ARRAYS["floats"]),
    ({"$": "array", "tensor": "floats", "flipped": True}, ARRAYS["floats"].T),
    ({"$": "symmetric", "tensor": "triangle"}, np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 5.0], [4.0, 5.0, 6.0]])),
    ({"$": "symmetric", "tensor": "none"}, np.empty((0, 0))),
    ({"$": "times", "tensor": "codes", "dtype": "M8[D]"}, ARRAYS["codes"].view("M8[D]")),
    ({"$": "characters", "tensor": "points"}, np.array(["ab", "c"])),
    ({"$": "characters", "tensor": "no points"}, np.array(["", ""])),
    ({"$": "bytes", "tensor": "bytes"}, np.array([b"ab", b"c"])),
    ({"$": "objects", "others": [7, None], "codes": "codes"}, as_objects(None, 7, None)),
    ({"$": "objects", "others": [], "texts": STRINGS, "codes": "codes"}, as_objects("", "a", "")),
    ({"$": "objects", "others": [{"$": "date", "value": "2020-01-02"}], "texts": STRINGS, "codes": "codes"},
     as_objects("a", dt.date(2020, 1, 2), "a")),
])  # fmt: skip
def test_values(tree, expected):
    same(decode(tree), expected)


def test_zones_are_kept():
    found = decode({"$": "datetime", "value": "2020-07-02T03:04:05", "zone": "Europe/Berlin"})
    assert (found.tzinfo.key, found.hour) == ("Europe/Berlin", 3)


SPARSE = {"$": "sparse table", "data": "cells", "indices": "columns", "indptr": "rows", "n_columns": 4}


@every("tree,message", [
    ({"$": "unknown"}, "model has the type 'unknown', which this version"),
    ({}, "model has the type 'None'"),
    ({"$": "list"}, "has no list of items"),
    ({"$": "array", "tensor": "absent"}, "refers to an array that does not exist"),
    ({"$": "array", "tensor": 3}, "refers to an array that does not exist"),
    ({"$": "array"}, "refers to an array that does not exist"),
    ({"$": "bytes", "tensor": "floats"}, "unexpected type float64"),
    ({"$": "date", "value": 3}, "not a date or time"),
    ({"$": "date", "value": "2020-01-02", "zone": 3}, "not a date or time"),
    ({"$": "datetime", "value": "2020-01-02T03:04:05", "zone": "../passwd"}, "time zone '../passwd'"),
    ({"$": "symmetric", "tensor": "five"}, "not the triangle of a square matrix"),
    ({"$": "symmetric", "tensor": "floats"}, "not the triangle of a square matrix"),
    ({"$": "objects", "others": [7], "codes": "codes"}, "a code of model is out of range"),
    ({"$": "objects", "others": [7, 8], "codes": "wrong codes"}, "a code of model is out of range"),
    ({"$": "objects", "others": [7, 8], "codes": "negative codes"}, "a code of model is out of range"),
    ({"$": "objects", "others": [[1], 2], "codes": "codes"}, "which is not a label"),
    ({"$": "objects", "others": [], "texts": 3, "codes": "codes"}, "contains no strings"),
    ({"$": "objects", "others": [], "texts": {"utf8": "letters", "offsets": "short ends"}, "codes": "codes"},
     "are not increasing from 0 to the number of bytes"),
    ({"$": "objects", "others": [], "texts": {"utf8": "letters", "offsets": "small ends"}, "codes": "codes"},
     "not 64-bit integers"),
    ({"$": "objects", "others": [], "texts": {"utf8": "bytes", "offsets": "ends"}, "codes": "codes"}, "not bytes"),
    ({"$": "objects", "others": [], "texts": {"utf8": "points", "offsets": "ends"}, "codes": "codes"}, "not bytes"),
    (SPARSE | {"n_columns": 3}, "not a valid sparse table"),
    (SPARSE | {"n_columns": 4.0}, "not a valid sparse table"),
    (SPARSE | {"n_columns": True}, "not a valid sparse table"),
    (SPARSE | {"indptr": "columns"}, "not a valid sparse table"),
    ({"$": "index"}, "model is incomplete"),
    ({"$": "dirichlet", "concentration": "a"}, "model.concentration is 'a', which is not of the expected type"),
    ({"$": "dirichlet", "concentration": 1.0, "other": 2}, "model.other is 2, which is not of the expected type"),
])  # fmt: skip
def test_values_that_are_refused(tree, message):
    with pytest.raises(InvalidContent, match=message):
        decode(tree)


def test_objects_of_registered_classes():
    assert decode({"$": "dirichlet", "concentration": 2.0}) == Dirichlet(2.0)
    found = decode({"$": "index", "labels": {"$": "characters", "tensor": "points"}})
    assert found == Index(np.array(["ab", "c"]))


def test_counts_keep_a_sparse_table_as_it_lies():
    rows = {"$": "array", "tensor": "cells"}
    stored = decode({"$": "counts", "rows": rows, "total": SPARSE, "missing": None})
    assert type(stored) is StoredCounts
    assert (stored.stored.shape, stored.stored.size) == ((2, 4), 2)
    np.testing.assert_array_equal(stored.total.toarray(), [[1.5, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0]])
    plain = decode({"$": "counts", "rows": rows, "total": {"$": "array", "tensor": "floats"}, "missing": None})
    assert type(plain) is Counts
    np.testing.assert_array_equal(decode(SPARSE).toarray(), stored.total.toarray())


def test_replacements_are_used_at_their_path():
    tree = {"$": "named", "a": [1], "b": {"$": "unknown"}}
    assert decode(tree, {"model.b": 5}) == {"a": (1,), "b": 5}
    assert decode({"$": "named", "a": [1], "b": 2}, {"model.b": 5}) == {"a": (1,), "b": 2}


def test_matrices_and_strings_are_shared_and_cannot_be_written():
    decoder = Decoder(ARRAYS)
    tree = {"$": "symmetric", "tensor": "triangle"}
    matrix = decoder.value(tree, "model")
    assert decoder.value(tree, "model") is matrix
    assert not matrix.flags.writeable
    assert decoder.texts(STRINGS, "model") is decoder.texts(dict(STRINGS), "model")
    assert decoder.texts(STRINGS, "model") == ["a", "", "bcä"]


def test_depth_is_limited():
    def nested(depth):
        return [nested(depth - 1)] if depth > 1 else []

    decoder = Decoder({})
    for _ in range(2):  # the depth is that of one value
        decoder.value(nested(module._MAX_DEPTH), "model")
    with pytest.raises(InvalidContent, match="nested more than 64 levels"):
        decoder.value(nested(module._MAX_DEPTH + 1), "model")


def test_memory_is_limited(monkeypatch):
    monkeypatch.setattr(module, "_MIN_BUDGET", 0)
    monkeypatch.setattr(module, "_BUDGET_PER_BYTE", 1)
    n_bytes = sum(array.nbytes for array in ARRAYS.values())
    Decoder(ARRAYS).spend(n_bytes, "model")
    with pytest.raises(InvalidContent, match="far more memory than the size of the file"):
        Decoder(ARRAYS).spend(n_bytes + 1, "model")
    indices = Decoder(ARRAYS)
    indices.spend(n_bytes - ARRAYS["columns"].nbytes - ARRAYS["rows"].nbytes, "model")
    indices.value(SPARSE, "model")
    with pytest.raises(InvalidContent, match="far more memory than the size of the file"):
        indices.value(SPARSE, "model")
    objects = Decoder(ARRAYS)
    objects.spend(n_bytes - 8 * 5, "model")
    objects.value({"$": "objects", "others": [7, 8], "codes": "codes"}, "model")  # three codes and two values
    with pytest.raises(InvalidContent, match="far more memory than the size of the file"):
        objects.spend(1, "model")


def test_every_array_must_be_used():
    decoder = Decoder({"a": np.ones(1), "b": np.ones(1)})
    decoder.value({"$": "array", "tensor": "a"}, "model")
    with pytest.raises(InvalidContent, match="array 'b' is not used"):
        decoder.require_all_used()
    decoder.value({"$": "array", "tensor": "b"}, "model")
    decoder.require_all_used()
