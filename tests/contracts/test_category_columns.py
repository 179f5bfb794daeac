"""CategoricalNB takes categories as they are: texts, booleans, categoricals, mixed frames, codes of any size."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from tiers import every, late

from candide import CategoricalNB
from candide.exceptions import InputError

pl = late("polars")

COLOURS = ["red", "red", "green", None, "blue", "green", "red", "blue"]
SIZES = ["s", "m", "m", "l", None, "l", "l", "s"]
y = [0, 0, 0, 0, 1, 1, 1, 1]
# The same by hand: positions among the sorted texts.
CODES = np.array(
    [
        [np.nan if value is None else sorted(set(filter(None, column))).index(value) for value in column]
        for column in (COLOURS, SIZES)
    ]
).T
EXPECTED = CategoricalNB(categories="seen").fit(CODES, y).predict_proba(CODES)
PAIR = {"colour": COLOURS, "size": SIZES}


def pandas_of(dtype: Any) -> Any:
    return pd.DataFrame({name: pd.Series(values, dtype=dtype) for name, values in PAIR.items()})


FRAMES: dict[str, Callable[[], Any]] = {
    "object": lambda: pandas_of(object),
    "str": lambda: pandas_of("str"),
    "string": lambda: pandas_of("string"),
    "string[pyarrow]": lambda: pandas_of("string[pyarrow]"),
    "category": lambda: pandas_of("category"),
    "polars": lambda: pl.DataFrame(PAIR),
    "polars Categorical": lambda: pl.DataFrame(PAIR, schema=dict.fromkeys(PAIR, pl.Categorical)),
    "polars Enum": lambda: pl.DataFrame(
        PAIR, schema={"colour": pl.Enum(["red", "green", "blue"]), "size": pl.Enum(["s", "m", "l"])}
    ),
    "pyarrow": lambda: pa.table(PAIR),
    "pyarrow dictionary": lambda: pa.table(
        {name: pa.array(values).dictionary_encode() for name, values in PAIR.items()}
    ),
    "pandas dictionary": lambda: pandas_of(pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    "list": lambda: [list(row) for row in zip(COLOURS, SIZES, strict=True)],
    "array": lambda: np.array([COLOURS, SIZES], dtype=object).T,
}


@every("kind", FRAMES)
def test_texts(kind: str) -> None:
    frame = FRAMES[kind]()
    model = CategoricalNB().fit(frame, y)
    np.testing.assert_allclose(model.predict_proba(frame), EXPECTED, rtol=1e-12)
    assert [labels.tolist() for labels in model.categories_] == [["blue", "green", "red"], ["l", "m", "s"]]
    assert model.n_categories_.tolist() == [3, 3]


@every("trained", FRAMES)
def test_kinds_of_text_understand_each_other(trained: str) -> None:
    """Trained on one kind of column, asked about another."""
    model = CategoricalNB().fit(FRAMES[trained](), y)
    model.model_ = replace(model.model_, schema=replace(model.model_.schema, feature_names=None))
    np.testing.assert_allclose(model.predict_proba(FRAMES["array"]()), EXPECTED, rtol=1e-12)


def test_texts_without_holes_as_array() -> None:
    texts = np.array([["a", "x"], ["b", "y"], ["a", "y"], ["b", "y"]])
    codes = np.array([[0, 0], [1, 1], [0, 1], [1, 1]])
    np.testing.assert_array_equal(
        CategoricalNB().fit(texts, y[2:6]).predict_proba(texts), CategoricalNB().fit(codes, y[2:6]).predict_proba(codes)
    )


def test_nan_beside_texts_is_missing_in_a_list() -> None:
    """NumPy would make the text "nan" of it."""
    model = CategoricalNB().fit([["a", "x"], [float("nan"), "y"], ["a", "y"], ["b", "x"]], [0, 0, 1, 1])
    assert model.categories_[0].tolist() == ["a", "b"]
    np.testing.assert_allclose(model.predict_proba([[float("nan"), None]]), [[0.5, 0.5]])


MIXED = {
    "text": ["a", "b", "a", None],
    "code": [3, 0, 3, 1],
    "on": [True, False, False, True],
    "half": [None, 1, 2, 2],
}


@every("make", [pd.DataFrame, late("polars", "DataFrame"), pa.table])
def test_mixed_frames(make: Any) -> None:
    model = CategoricalNB().fit(make(MIXED), y[2:6])
    codes = np.array([[0, 3, 1, np.nan], [1, 0, 0, 1], [0, 3, 0, 2], [np.nan, 1, 1, 2]])
    expected = CategoricalNB().fit(codes, y[2:6]).predict_proba(codes)
    np.testing.assert_allclose(model.predict_proba(make(MIXED)), expected, rtol=1e-12)
    assert model.n_categories_.tolist() == [2, 4, 2, 3]


@every("make", [pd.DataFrame, late("polars", "DataFrame"), pa.table])
def test_mixed_frames_in_chunks(make: Any) -> None:
    """Columns whose holes change their type between chunks."""
    model = CategoricalNB()
    for i in range(4):
        model.partial_fit(make({name: values[i : i + 1] for name, values in MIXED.items()}), y[2 + i : 3 + i])
    whole = CategoricalNB().fit(make(MIXED), y[2:6])
    np.testing.assert_allclose(model.predict_proba(make(MIXED)), whole.predict_proba(make(MIXED)), rtol=1e-12)


def test_categorical_of_numbers() -> None:
    """A pandas categorical of whole numbers is a column of codes."""
    frame = pd.DataFrame({"a": pd.Series([0, 2, 2, None], dtype="category")})
    assert CategoricalNB().fit(frame, y[2:6]).n_categories_.tolist() == [3]


def test_range_counts_codes_below_the_largest() -> None:
    codes = np.array([[0], [5], [5], [2]])
    ranged, seen = (CategoricalNB(categories=c).fit(codes, [0, 0, 1, 1]) for c in ("range", "seen"))
    assert (ranged.n_categories_.tolist(), seen.n_categories_.tolist()) == ([6], [3])
    np.testing.assert_allclose(np.exp(ranged.feature_log_prob_[0][0]), np.array([2, 1, 1, 1, 1, 2]) / 8)
    np.testing.assert_allclose(np.exp(seen.feature_log_prob_[0][0]), np.array([2, 1, 2]) / 5)
    assert seen.categories_[0].tolist() == [0, 2, 5]


@pytest.mark.parametrize("rows", [np.array([[0], [1], [1], [1]]), [["a"], ["b"], ["b"], ["b"]]], ids=["codes", "texts"])
class TestUnseen:
    """What a value without a share of its own does."""

    labels = (0, 0, 1, 1)

    @staticmethod
    def stranger(rows: Any) -> Any:
        return np.array([[7]]) if isinstance(rows, np.ndarray) else [["z"]]

    def test_ignore(self, rows: Any) -> None:
        model = CategoricalNB(unseen="ignore").fit(rows, self.labels)
        np.testing.assert_allclose(model.predict_proba(self.stranger(rows)), [[0.5, 0.5]])
        np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]).sum(axis=1), 1)

    def test_smooth(self, rows: Any) -> None:
        model = CategoricalNB(unseen="smooth").fit(rows, self.labels)
        found = model.predict_joint_log_proba(self.stranger(rows))
        np.testing.assert_allclose(found, np.log([[0.5 * 1 / 5, 0.5 * 1 / 5]]))
        np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[2 / 5, 2 / 5], [1 / 5, 3 / 5]])

    def test_error(self, rows: Any) -> None:
        model = CategoricalNB(unseen="error").fit(rows, self.labels)
        model.predict(rows)
        with pytest.raises(InputError, match=r"column 0 contains category .* at row 0.*unseen='ignore'"):
            model.predict(self.stranger(rows))


@pytest.mark.parametrize("least", [5, [5, 2]])
def test_min_categories(least: Any) -> None:
    codes = np.array([[0, 1], [1, 0], [2, 1]])
    model = CategoricalNB(min_categories=least).fit(codes, [0, 1, 1])
    assert model.n_categories_.tolist() == ([5, 5] if least == 5 else [5, 2])
    assert model.category_count_[0].shape == (2, 5)
    assert np.isfinite(model.predict_log_proba([[4, 1]])).all()


@every("dtype", ["i8", "i4", "f8", "u8", object])
@every("categories", ["range", "seen"])
@every("unseen", ["ignore", "smooth", "error"])
def test_large_code_costs_nothing(dtype: Any, categories: Any, unseen: Any) -> None:
    """Neither learning nor predicting, nor looking at the counts of the seen, allocates by the size of a code."""
    codes = np.array([[0, 1], [10_000_000, 0], [3, 1], [10_000_000, 1]]).astype(dtype)
    tracemalloc.start()
    model = CategoricalNB(categories=categories, unseen=unseen).fit(codes, [0, 1, 0, 1])
    model.predict_proba(codes)
    model.partial_fit(codes, [0, 1, 0, 1]).predict(codes)
    model.parameters()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6
    assert model.n_categories_.tolist() == [10_000_001 if categories == "range" else 3, 2]


def test_large_code_met_only_when_predicting() -> None:
    model = CategoricalNB().fit([[0], [1]], [0, 1])
    tracemalloc.start()
    found = model.predict_proba([[10_000_000], [10**18]])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6
    np.testing.assert_allclose(found, 0.5)


BIG = 2**53
NEIGHBOURS = [BIG, BIG + 1, None, BIG + 1]


@every(
    "make",
    [
        lambda: np.array([NEIGHBOURS], dtype=object).T,
        lambda: pd.DataFrame({"a": pd.array(NEIGHBOURS, dtype="Int64")}),
        lambda: pl.DataFrame({"a": NEIGHBOURS}),
        lambda: pa.table({"a": NEIGHBOURS}),
    ],
)
def test_neighbours_beyond_doubles_stay_apart(make: Any) -> None:
    """Identifiers of 64 bits beside a hole must not be rounded into one category."""
    rows = make()
    model = CategoricalNB().fit(rows, [0, 1, 0, 1])
    assert model.categories_[0].tolist() == [BIG, BIG + 1]
    assert model.predict(rows).tolist() == [0, 1, 0, 1]


def test_unsigned_codes_beyond_int64() -> None:
    codes = np.array([[2**63 + 1], [2**63 + 3], [5]], dtype=np.uint64)
    model = CategoricalNB().fit(codes, [0, 1, 1])
    assert model.categories_[0].tolist() == [5, 2**63 + 1, 2**63 + 3]
    assert model.predict(codes).tolist() == [0, 1, 1]


def test_column_nobody_observed() -> None:
    model = CategoricalNB().fit([[None, 0], [None, 1]], [0, 1])
    np.testing.assert_allclose(model.predict_proba([["a", None], [3, None]]), 0.5)
    model.partial_fit([["a", 0], ["b", 1]], [0, 1])
    assert model.categories_[0].tolist() == ["a", "b"]


def test_sparse_is_refused() -> None:
    with pytest.raises(InputError, match="toarray"):
        CategoricalNB().fit(csr_array(np.eye(2)), [0, 1])
