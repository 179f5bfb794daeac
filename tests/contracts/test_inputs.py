"""Arrays and sparse matrices of every type and layout give the model that the plain float64 array gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tiers import every

import candide

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
SPARSE_NAMES = [name for name in NAMES if name != "CategoricalNB"]
RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 5, (50, 4)).astype(np.float64)
y = RANDOM.integers(0, 3, 50)
HOLED = np.where(RANDOM.random(X.shape) < 0.2, np.nan, X)


def numbers(model: Any, rows: Any) -> np.ndarray:
    """What the model says about rows, and what it has counted."""
    joint = model.predict_joint_log_proba(rows)
    best = np.searchsorted(model.classes_, model.predict(rows))[:, None]
    count = np.broadcast_to(model.class_count_, joint.shape)
    return np.hstack([joint, model.predict_proba(rows), model.predict_log_proba(rows), best, count])


def check_same(name: str, rows: Any, plain: np.ndarray = X, **options: Any) -> None:
    """Trained on other input, and asked about other input: the same numbers."""
    kind = getattr(candide, name)
    expected = kind(**options).fit(plain, y)
    model = kind(**options).fit(rows, y)
    np.testing.assert_allclose(numbers(model, rows), numbers(expected, plain), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(numbers(model, plain), numbers(expected, plain), rtol=1e-11, atol=1e-13)
    assert model.n_features_in_ == plain.shape[1]


DTYPES = ["f2", "f4", "f8", ">f8", "longdouble", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4"]


@every("name", NAMES)
@every("dtype", DTYPES)
def test_types_of_numbers(name: str, dtype: str) -> None:
    check_same(name, X.astype(dtype))


@every("name", NAMES)
def test_booleans(name: str) -> None:
    check_same(name, X > 2, (X > 2).astype(float))


@every("name", NAMES)
@every("hole", [None, float("nan")])
def test_objects_with_holes(name: str, hole: Any) -> None:
    rows = HOLED.astype(object)
    rows[np.isnan(HOLED)] = hole
    check_same(name, rows, HOLED)


@every("name", NAMES)
@every("dtype", ["f2", "f4", "f8", ">f8"])
def test_holes_in_floats(name: str, dtype: str) -> None:
    check_same(name, HOLED.astype(dtype), HOLED)


def strided(rows: np.ndarray) -> np.ndarray:
    return np.repeat(np.repeat(rows, 3, axis=0), 2, axis=1)[::3, ::2]


def backwards(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows[::-1, ::-1])[::-1, ::-1]


def read_only(rows: np.ndarray) -> np.ndarray:
    rows = rows.copy()
    rows.setflags(write=False)
    return rows


def one_column_of_a_row(rows: np.ndarray) -> np.ndarray:
    return np.broadcast_to(rows[:, :1], rows.shape)


def unaligned(rows: np.ndarray) -> np.ndarray:
    packed = np.zeros(rows.shape, dtype=[("gap", "i1"), ("value", rows.dtype)])
    packed["value"] = rows
    return packed["value"]


LAYOUTS = [np.asfortranarray, strided, backwards, read_only, np.ndarray.tolist, unaligned, np.ma.array]


@every("name", NAMES)
@every("dtype", ["f8", "f4", "i8", "i1"])
@every("layout", LAYOUTS)
def test_layouts(name: str, dtype: str, layout: Callable[[np.ndarray], Any]) -> None:
    check_same(name, layout(X.astype(dtype)))


@every("name", NAMES)
def test_column_repeated_by_a_stride_of_zero(name: str) -> None:
    check_same(name, one_column_of_a_row(X), one_column_of_a_row(X).copy())


@every("name", NAMES)
def test_masked_cells_are_missing(name: str) -> None:
    check_same(name, np.ma.array(X, mask=np.isnan(HOLED)), HOLED)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_maps(name: str, order: Any, tmp_path: Path) -> None:
    rows = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=X.shape, order=order)
    rows[:] = X
    rows.flush()
    check_same(name, np.memmap(tmp_path / "rows", dtype=np.float32, mode="r", shape=X.shape, order=order))


def with_duplicates(rows: np.ndarray) -> Any:
    """Every cell stored in two halves."""
    found, columns = np.nonzero(rows)
    halves = np.tile(rows[found, columns] / 2, 2)
    return sparse.coo_array((halves, (np.tile(found, 2), np.tile(columns, 2))), shape=rows.shape)


def stored_twice(rows: np.ndarray) -> Any:
    """The same in compressed rows, where nothing has added the halves up."""
    halves = with_duplicates(rows)
    order = np.argsort(halves.coords[0], kind="stable")
    indptr = np.searchsorted(halves.coords[0][order], np.arange(len(rows) + 1))
    return sparse.csr_array((halves.data[order], halves.coords[1][order], indptr), shape=rows.shape)


def unsorted(rows: np.ndarray) -> Any:
    matrix = sparse.csr_array(rows)
    for begin, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.indices[begin:end] = matrix.indices[begin:end][::-1]
        matrix.data[begin:end] = matrix.data[begin:end][::-1]
    matrix.has_sorted_indices = False
    return matrix


def explicit_zeros(rows: np.ndarray) -> Any:
    indptr = np.arange(0, rows.size + 1, rows.shape[1])
    return sparse.csr_array((rows.ravel(), np.tile(np.arange(rows.shape[1]), len(rows)), indptr), shape=rows.shape)


def long_indices(rows: np.ndarray) -> Any:
    matrix = sparse.csr_array(rows)
    matrix.indptr, matrix.indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    return matrix


def read_only_sparse(rows: np.ndarray) -> Any:
    matrix = sparse.csr_array(rows)
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.setflags(write=False)
    return matrix


FORMATS = [
    getattr(sparse, f"{form}_{kind}") for form in ("csr", "csc", "coo", "lil", "dok") for kind in ("matrix", "array")
]
ODD = [with_duplicates, stored_twice, unsorted, explicit_zeros, long_indices, read_only_sparse]


@every("name", SPARSE_NAMES)
@every("convert", [*FORMATS, *ODD])
def test_sparse_formats(name: str, convert: Callable[[np.ndarray], Any]) -> None:
    check_same(name, convert(X))


@every("name", SPARSE_NAMES)
@every("dtype", ["f4", "i8", "i4", "i1", "u8", "?"])
def test_sparse_types(name: str, dtype: str) -> None:
    rows = X.astype(dtype)
    check_same(name, sparse.csr_array(rows), rows.astype(float))


@every("convert", [with_duplicates, stored_twice, unsorted, explicit_zeros])
def test_sparse_input_is_not_touched(convert: Callable[[np.ndarray], Any]) -> None:
    """Tidying a matrix happens in a copy."""
    rows, untouched = convert(X), convert(X)
    candide.MultinomialNB().fit(rows, y).predict(rows)
    np.testing.assert_array_equal(rows.data, untouched.data)


@every("name", SPARSE_NAMES)
def test_sparse_weights(name: str) -> None:
    weight = RANDOM.random(50)
    sparse_model, model = (getattr(candide, name)().fit(rows, y, weight) for rows in (sparse.csr_array(X), X))
    np.testing.assert_allclose(numbers(sparse_model, X), numbers(model, X), rtol=1e-11)


def test_gaussian_on_sparse_is_exact_far_from_zero() -> None:
    """Implicit zeros beside values of 1e8 cost no digits of the variance."""
    rows = np.where(X > 2, X + 1e8, 0.0)
    models = [candide.GaussianNB(var_smoothing=0).fit(part, y) for part in (sparse.csr_array(rows), rows)]
    np.testing.assert_allclose(models[0].theta_, models[1].theta_, rtol=1e-14)
    np.testing.assert_allclose(models[0].var_, models[1].var_, rtol=1e-12)


@every("name", NAMES)
@every("shape", [(1, 1), (1, 700), (700, 1)])
def test_shapes(name: str, shape: tuple[int, int]) -> None:
    """One row, one column, more columns than rows."""
    rows = np.arange(np.prod(shape)).reshape(shape) % 3
    model = getattr(candide, name)().fit(rows, np.arange(len(rows)) % 2)
    assert np.isfinite(model.predict_proba(rows)).all()


@every("name", NAMES)
def test_fields_of_packed_records(name: str) -> None:
    """Labels and weights at odd addresses."""
    packed = np.zeros(50, dtype=[("gap", "i1"), ("label", "i8"), ("weight", "f8")])
    packed["label"], packed["weight"] = y, np.arange(50)
    model = getattr(candide, name)().fit(X, packed["label"], packed["weight"])
    np.testing.assert_array_equal(numbers(model, X), numbers(getattr(candide, name)().fit(X, y, np.arange(50)), X))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("option", ["smoothed", "limit"])
def test_more_rows_than_one_stretch(name: str, option: str) -> None:
    """Long batches are scored piece by piece; the pieces fit together."""
    options = {"var_smoothing" if name == "GaussianNB" else "alpha": 0} if option == "limit" else {}
    model = getattr(candide, name)(**options).fit(X, y)
    rows = RANDOM.integers(0, 5, (70_000, 4)).astype(np.float32)
    parts = [rows[begin : begin + 10_000] for begin in range(0, 70_000, 10_000)]
    forms = [rows] if name == "CategoricalNB" else [rows, sparse.csr_array(rows)]
    for form in forms:
        np.testing.assert_array_equal(model.predict(form), np.concatenate([model.predict(part) for part in parts]))
        expected = np.concatenate([model.predict_proba(part) for part in parts])
        np.testing.assert_allclose(model.predict_proba(form), expected, atol=1e-14)
