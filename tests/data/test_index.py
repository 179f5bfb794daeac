"""Labels join without losing one another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide import CategoricalNB, GaussianNB
from candide.data.index import canonical_labels, encode, union_labels
from candide.exceptions import InputError
from candide.kernels import Kernels

BIG = 2**60


def test_large_whole_numbers_stay_apart() -> None:
    assert union_labels(np.array([BIG + 1]), np.array([0.5])).tolist() == [0.5, BIG + 1]
    assert canonical_labels(np.array([BIG, BIG + 1], dtype=object)).tolist() == [BIG, BIG + 1]


def test_signed_and_unsigned_are_whole() -> None:
    both = union_labels(np.array([1], dtype=np.uint64), np.array([2], dtype=np.int64))
    assert both.dtype.kind == "i"
    assert both.tolist() == [1, 2]


def test_large_categories_survive_forgetting_a_text() -> None:
    model = CategoricalNB().fit([[BIG], [BIG + 1], ["a"]], [0, 1, 1]).forget([["a"]], [1])
    assert model.predict([[BIG], [BIG + 1]]).tolist() == [0, 1]


def test_dates_as_labels_keep_their_type() -> None:
    y = np.array(["2020-01-01", "2021-01-01"], dtype="M8[ns]")
    model = GaussianNB().fit([[1.0], [2.0]], y)
    assert model.classes_.dtype == y.dtype
    assert model.predict([[1.0]])[0] == y[0]


def test_a_class_weight_that_names_no_class_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"class_weight has the key 'spma', which is not a class of y \('ham', 'spam'\)"
    ):
        GaussianNB(class_weight={"spma": 9}).fit([[1.0], [2.0]], ["ham", "spam"])


def test_another_type_than_was_learned_is_converted_or_refused() -> None:
    model = CategoricalNB().fit([[1], [2]], [0, 1])
    np.testing.assert_array_equal(model.predict_proba([["1"], ["2.0"]]), model.predict_proba([[1], [2]]))
    assert model.partial_fit([["1"], ["3"]], [0, 1]).categories_[0].tolist()[-1] == 3
    with pytest.raises(
        InputError, match="column 0 contains 'red' at row 1, but it is a column of categories such as 1"
    ):
        model.predict([["1"], ["red"]])
    model = CategoricalNB().fit([["1"], ["2"]], [0, 1])
    np.testing.assert_array_equal(model.predict_proba([[1], [2]]), model.predict_proba([["1"], ["2"]]))
    with pytest.raises(
        InputError, match="column 0 contains 1 at row 0, but it is a column of categories such as '007'"
    ):
        CategoricalNB().fit([["007"], ["012"]], [0, 1]).predict([[1], [2]])


def test_negative_numbers_beside_texts_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Negative values .* column 0 contains -1"):
        CategoricalNB().fit([[-1], ["a"], [-1]], [0, 1, 0])


def test_warnings_point_at_the_caller() -> None:
    with pytest.warns(UserWarning, match="not integers") as caught:
        CategoricalNB().fit([[0.5], [1.0]], [0, 1])
    assert caught[0].filename == __file__


@pytest.mark.parametrize("bits", [1, 16])
@pytest.mark.parametrize("dtype", ["<U5", ">U5", "S5", "<U40"])
@given(
    labels=st.lists(st.sampled_from(["", "a", "ab", "b\0c", "zebra", "ham"]), max_size=30), step=st.sampled_from([1, 2])
)
def test_texts_of_one_width(dtype: str, bits: int, labels: list[str], step: int) -> None:
    """The same classes in the same order as of objects, also where texts share the bits of their hash."""
    values = np.array(labels, dtype=dtype)[::step]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("candide.data.index._HASH_BITS", bits)
        index, positions = encode(values, Kernels(2))
    assert index.labels.dtype == values.dtype
    assert index.labels.tolist() == sorted(set(values.tolist()))
    assert index.labels[positions].tolist() == values.tolist()
    assert positions.dtype == np.int32


def test_texts_of_no_width() -> None:
    assert encode(np.zeros(3, dtype="U0"), Kernels(1))[0].labels.tolist() == [""]
