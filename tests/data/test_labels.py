"""Data types of labels that are joined, and positions of the labels of rows."""

from datetime import date

import numpy as np
import pytest
from tiers import every

from candide.data import index
from candide.data.index import canonical_labels, encode, sort_labels, union_labels
from candide.exceptions import InputError
from candide.kernels import Kernels

EXACT = 2**53


def objects(*labels):
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out


@every("labels,dtype", [
    (np.array([], dtype=object), np.int64),
    (np.array([], dtype=float), np.int64),
    (np.array([1.0, 2.0]), np.int64),
    (np.array([1.0, 2.5]), np.float64),
    (np.array([1.0, float(EXACT)]), np.float64),
    (np.array([1, 2], dtype=np.int8), np.int8),
    (np.array([True]), bool),
    (np.array(["1"]), "<U1"),
    (objects(1, np.int8(2)), np.int64),
    (objects(-(2**63), 2**63 - 1), np.int64),
    (objects(1, 2**63), object),
    (objects(-(2**63) - 1, 1), object),
    (objects(1, 2.0), np.int64),
    (objects(1, 2.5), np.float64),
    (objects(EXACT - 1, 0.5), np.float64),
    (objects(EXACT, 0.5), object),
    (objects(-EXACT, 0.5), object),
    (objects(1, "1"), object),
    (objects(2.5, date(2020, 1, 1)), object),
])  # fmt: skip
def test_data_type_of_labels(labels, dtype):
    found = canonical_labels(labels)
    assert found.dtype == dtype
    assert found.tolist() == labels.tolist()


@every("a,b,dtype,labels", [
    (np.array([], dtype="U3"), np.array([2, 3]), np.int64, [2, 3]),
    (np.array([2, 3]), np.array([], dtype="U3"), np.int64, [2, 3]),
    (np.array(["b"]), np.array(["aa", "b"]), "<U2", ["aa", "b"]),
    (np.array([b"b"]), np.array([b"aa"]), "S2", [b"aa", b"b"]),
    (np.array(["2020-01-02"], "M8[D]"), np.array(["2020-01-01"], "M8[D]"), "M8[D]",
     [date(2020, 1, 1), date(2020, 1, 2)]),
    (np.array(["b"]), np.array([b"b"]), object, [b"b", "b"]),
    (np.array([True]), np.array([False, True]), bool, [False, True]),
    (np.array([3], np.int8), np.array([1], np.int16), np.int16, [1, 3]),
    (np.array([0.5]), np.array([1]), np.float64, [0.5, 1.0]),
    (np.array([-1]), np.array([1], np.uint64), np.int64, [-1, 1]),
    (np.array([-1]), np.array([2**53 + 1], np.uint64), np.int64, [-1, 2**53 + 1]),
    (np.array([-1]), np.array([2**63], np.uint64), object, [-1, 2**63]),
    (np.array([0.5]), np.array([2**53 + 1]), object, [0.5, 2**53 + 1]),
    (np.array([2**53 + 1]), np.array([0.5]), object, [0.5, 2**53 + 1]),
    (np.array(["a"]), np.array([2]), object, [2, "a"]),
])  # fmt: skip
def test_union_of_labels(a, b, dtype, labels):
    found = union_labels(a, b)
    assert found.dtype == dtype
    assert found.tolist() == labels


@every("labels,expected", [
    ([], []),
    (["b", "a", "b"], ["a", "b"]),
    (["b", 2, "a", 1.5, True], [True, 1.5, 2, "a", "b"]),
    ([date(2020, 1, 1), "a", 3], [3, date(2020, 1, 1), "a"]),
])  # fmt: skip
def test_order_of_labels(labels, expected):
    assert sort_labels(labels).tolist() == expected


@every("values", [
    np.array([3, -1, 3], dtype=np.int16),
    np.array([True, False, True]),
    np.array([2**63, 5, 2**63], dtype=np.uint64),
    np.array([0.5, -1.0, 0.5]),
    np.array(["2020-01-02", "2020-01-01", "2020-01-02"], dtype="M8[D]"),
    np.array(["b", "a", "b"]),
    np.array([b"b", b"a", b"b"]),
    np.array(["b" * 40, "a", "b" * 40]),
    np.array(["b", "a", "b"], dtype=np.dtypes.StringDType()),
    objects("b", "a", "b"),
    objects("b", 1, "b"),
])  # fmt: skip
def test_positions_of_labels(values):
    found, positions = encode(values, Kernels(1))
    assert positions.dtype == np.int32
    assert positions.tolist() == [1, 0, 1]
    assert found.labels.dtype == values.dtype
    assert found.labels[positions].tolist() == values.tolist()


def test_no_rows_have_no_labels():
    for values in (np.array([], dtype="<U3"), np.array([], dtype=np.int8), np.array([], dtype=object)):
        found, positions = encode(values, Kernels(1))
        assert (len(found), len(positions), found.labels.dtype) == (0, 0, values.dtype)


@pytest.mark.parametrize(("width", "sorted_values"), [(32, 2), (33, 4)])
def test_only_distinct_short_texts_are_sorted(monkeypatch, width, sorted_values):
    """Up to 32 characters; hashing longer ones takes longer than making objects of them."""
    counts = []
    monkeypatch.setattr(index, "sort_labels", lambda items: counts.append(len(items)) or sort_labels(items))
    encode(np.array(["b", "a", "a", "b"], dtype=f"<U{width}"), Kernels(1))
    encode(np.array([b"b", b"a", b"a", b"b"], dtype=f"S{width}"), Kernels(1))
    assert counts == [sorted_values, sorted_values]


def test_labels_that_cannot_be_sorted():
    with pytest.raises(InputError, match="types complex, int cannot be sorted"):
        encode(objects(1j, 2j, 3), Kernels(1))
    with pytest.raises(InputError, match=r"a label or category of type list \(\[1\]\)"):
        encode(objects("a", [1]), Kernels(1))
