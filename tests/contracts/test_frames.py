"""Data frames and labels of every kind give the model that the plain array gives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tiers import every, late

import candide
from candide.exceptions import InputError

pl = late("polars")

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
COLUMNS = ["a", "b", "c"]
RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 5, (40, 3)).astype(np.float64)
y = RANDOM.integers(0, 3, 40)
HOLED = np.where(RANDOM.random(X.shape) < 0.2, np.nan, X)


def lists(rows: np.ndarray, convert: Any = float) -> dict[str, list[Any]]:
    """Columns of Python objects, None where there is a hole."""
    return {
        name: [None if np.isnan(value) else convert(value) for value in rows[:, j]] for j, name in enumerate(COLUMNS)
    }


def pandas_of(dtype: str) -> Any:
    return lambda rows: pd.DataFrame({name: pd.array(column, dtype=dtype) for name, column in lists(rows, int).items()})


FRAMES = {
    "pandas": lambda rows: pd.DataFrame(rows, columns=COLUMNS),
    "pandas object": lambda rows: pd.DataFrame(lists(rows), dtype=object),
    "pandas Int64": pandas_of("Int64"),
    "pandas UInt8": pandas_of("UInt8"),
    "pandas Float64": pandas_of("Float64"),
    "pandas arrow": pandas_of("int32[pyarrow]"),
    "polars": lambda rows: pl.DataFrame(lists(rows)),
    "polars Int16": lambda rows: pl.DataFrame(lists(rows, int), schema=dict.fromkeys(COLUMNS, pl.Int16)),
    "polars Float32": lambda rows: pl.DataFrame(lists(rows), schema=dict.fromkeys(COLUMNS, pl.Float32)),
    "pyarrow": lambda rows: pa.table(lists(rows)),
    "pyarrow int8": lambda rows: pa.table({n: pa.array(c, pa.int8()) for n, c in lists(rows, int).items()}),
    "pyarrow dictionary": lambda rows: pa.table({n: pa.array(c).dictionary_encode() for n, c in lists(rows).items()}),
    "pyarrow chunks": lambda rows: pa.concat_tables([pa.table(lists(rows[:7])), pa.table(lists(rows[7:]))]),
}


@pytest.mark.parametrize("name", NAMES)
@every("frame", FRAMES)
@every("rows", [X, HOLED])
def test_frames_of_numbers(name: str, frame: str, rows: np.ndarray) -> None:
    kind, data = getattr(candide, name), FRAMES[frame](rows)
    model = kind().fit(data, y)
    expected = kind().fit(rows, y)
    np.testing.assert_allclose(model.predict_proba(data), expected.predict_proba(rows), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(data), expected.predict(rows))
    assert model.feature_names_in_.tolist() == COLUMNS


@every("name", NAMES)
@every(
    "frame",
    [
        lambda on: pd.DataFrame({"a": pd.array(on, dtype="boolean"), "b": pd.array(on, dtype="boolean")}),
        lambda on: pl.DataFrame({"a": on, "b": on}),
        lambda on: pa.table({"a": on, "b": on}),
    ],
)
@every("hole", [True, None])
def test_frames_of_booleans(name: str, frame: Any, hole: bool | None) -> None:
    on = [True, False, hole, True, False, False]
    plain = np.array([[np.nan if value is None else float(value)] * 2 for value in on])
    labels = [0, 0, 0, 1, 1, 1]
    model, expected = getattr(candide, name)().fit(frame(on), labels), getattr(candide, name)().fit(plain, labels)
    np.testing.assert_allclose(model.predict_proba(frame(on)), expected.predict_proba(plain), rtol=1e-12)


TEXTS = np.array(["ham", "news", "spam"])
LABELS = {
    "list": np.ndarray.tolist,
    "tuple": tuple,
    "object array": lambda labels: labels.astype(object),
    "pandas": pd.Series,
    "pandas object": lambda labels: pd.Series(labels, dtype=object),
    "pandas category": lambda labels: pd.Series(labels, dtype="category"),
    "pandas Categorical": pd.Categorical,
    "pandas index": pd.Index,
    "polars": lambda labels: pl.Series(labels.tolist()),
    "pyarrow": lambda labels: pa.array(labels.tolist()),
    "pyarrow chunks": lambda labels: pa.chunked_array([labels[:9].tolist(), labels[9:].tolist()]),
    "pyarrow dictionary": lambda labels: pa.array(labels.tolist()).dictionary_encode(),
}
TEXT_LABELS = {
    "pandas string": lambda labels: pd.Series(labels, dtype="string"),
    "polars Categorical": lambda labels: pl.Series(labels.tolist(), dtype=pl.Categorical),
    "polars Enum": lambda labels: pl.Series(labels.tolist(), dtype=pl.Enum(TEXTS[::-1].tolist())),
    "numpy string": lambda labels: np.array(labels.tolist(), dtype=np.dtypes.StringDType()),
}
NUMBER_LABELS = {
    "pandas Int64": lambda labels: pd.Series(labels, dtype="Int64"),
    "float": lambda labels: labels.astype(float),
    "int8": lambda labels: labels.astype(np.int8),
    "uint64": lambda labels: labels.astype(np.uint64),
    "big-endian": lambda labels: labels.astype(">i4"),
    "strided": lambda labels: np.repeat(labels, 2)[::2],
    "backwards": lambda labels: labels[::-1].copy()[::-1],
}


@every("kind", LABELS | TEXT_LABELS)
def test_texts_as_labels(kind: str) -> None:
    labels = TEXTS[y]
    model = candide.GaussianNB().fit(X, (LABELS | TEXT_LABELS)[kind](labels))
    expected = candide.GaussianNB().fit(X, labels)
    assert model.classes_.tolist() == TEXTS.tolist()
    assert model.predict(X).tolist() == expected.predict(X).tolist()
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


@every("kind", LABELS | NUMBER_LABELS)
def test_numbers_as_labels(kind: str) -> None:
    labels = y * 7
    model = candide.MultinomialNB().fit(X, (LABELS | NUMBER_LABELS)[kind](labels))
    assert model.classes_.tolist() == [0, 7, 14]
    assert model.predict(X).tolist() == candide.MultinomialNB().fit(X, labels).predict(X).tolist()


@every(
    "make",
    [
        lambda: pd.Series([0, None, 1], dtype="Int64"),
        lambda: pd.Series(["a", None, "b"], dtype="string"),
        lambda: pd.Series(["a", None, "b"], dtype="category"),
        lambda: pl.Series([0, None, 1]),
        lambda: pl.Series(["a", None, "b"], dtype=pl.Categorical),
        lambda: pa.array([True, None, False]),
        lambda: pa.array(["a", None, "b"]).dictionary_encode(),
        lambda: pa.chunked_array([pa.array(["a", None, "b"]).dictionary_encode()]),
    ],
)
def test_rows_with_null_labels_are_left_out(make: Any) -> None:
    labels = make()
    with pytest.raises(InputError, match=r"y contains NaN.*drop the rows without a label"):
        candide.GaussianNB(unlabeled="error").fit(X[:3], labels)
    with pytest.warns(UserWarning, match="skipped 1 row without a label"):
        model = candide.GaussianNB().fit(X[:3], labels)
    values = labels.to_pylist() if hasattr(labels, "to_pylist") else labels.to_list()
    kept = [values[0], values[2]]
    assert model.classes_.tolist() == sorted(kept)
    np.testing.assert_array_equal(model.theta_, candide.GaussianNB().fit(X[[0, 2]], kept).theta_)


@every("kind", LABELS)
def test_booleans_as_labels(kind: str) -> None:
    model = candide.MultinomialNB().fit(X, LABELS[kind](y > 0))
    assert model.classes_.tolist() == [False, True]
    assert {type(label) for label in model.predict(X).tolist()} == {bool}


RENAMED = {
    "pandas": lambda data: data.set_axis(["a", "b", "d"], axis=1),
    "polars": lambda data: data.rename({"c": "d"}),
    "pyarrow": lambda data: data.rename_columns(["a", "b", "d"]),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("frame", RENAMED)
class TestNames:
    """Names of columns are remembered and compared."""

    def test_other_names_are_refused(self, name: str, frame: str) -> None:
        model = getattr(candide, name)().fit(FRAMES[frame](X), y)
        other = RENAMED[frame](FRAMES[frame](X))
        for verb in (model.predict, lambda rows: model.partial_fit(rows, y), lambda rows: model.forget(rows, y)):
            with pytest.raises(ValueError, match="feature names should match"):
                verb(other)

    def test_other_order_is_refused(self, name: str, frame: str) -> None:
        model = getattr(candide, name)().fit(FRAMES[frame](X), y)
        data = FRAMES[frame](X)
        swapped = data.select(["b", "a", "c"]) if frame != "pandas" else data[["b", "a", "c"]]
        with pytest.raises(ValueError, match="same order"):
            model.predict(swapped)

    def test_array_after_names_warns(self, name: str, frame: str) -> None:
        model = getattr(candide, name)().fit(FRAMES[frame](X), y)
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.predict(X)

    def test_names_after_array_warn(self, name: str, frame: str) -> None:
        model = getattr(candide, name)().fit(X, y)
        with pytest.warns(UserWarning, match="was fitted without feature names"):
            model.predict(FRAMES[frame](X))

    def test_refitting_on_an_array_forgets_names(self, name: str, frame: str) -> None:
        model = getattr(candide, name)().fit(FRAMES[frame](X), y).fit(X, y)
        assert not hasattr(model, "feature_names_in_")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.predict(X)


def test_numbers_as_names_are_no_names() -> None:
    model = candide.GaussianNB().fit(pd.DataFrame(X), y)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(X), candide.GaussianNB().fit(X, y).predict(X))


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="give each a unique name"):
        candide.GaussianNB().fit(pd.DataFrame(X, columns=["a", "b", "a"]), y)


def test_lazy_frame_needs_the_name_of_its_label() -> None:
    with pytest.raises(InputError, match="pass the name of the column of X, as in y='label'"):
        candide.GaussianNB().fit(pl.LazyFrame(lists(X)), y)


def test_many_columns() -> None:
    """A frame of more columns than are handled one by one."""
    rows = RANDOM.normal(size=(10, 600))
    frame = pl.DataFrame({f"c{j}": rows[:, j] for j in range(600)})
    labels = np.arange(10) % 2
    found = candide.GaussianNB().fit(frame, labels).predict_joint_log_proba(frame)
    np.testing.assert_allclose(found, candide.GaussianNB().fit(rows, labels).predict_joint_log_proba(rows))
