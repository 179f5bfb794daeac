"""Sparse is dense: as input, and as the way in which very many classes are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import ReferenceKernels
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix

from candide.families import Bernoulli, Complement, Multinomial
from candide.kernels import Kernels
from candide.kernels.layouts import Dense, Sparse
from candide.model.scorer import Scorer

from .models import BERNOULLI, COMPLEMENT, KINDS, MULTINOMIAL, NORMED, Kind, assert_same_model, by_name, unsmoothed
from .strategies import STATISTICS, numbers, rows, thin


def _wide_indices(X: Any) -> csr_array:
    out = csr_array(X)
    out.indices, out.indptr = out.indices.astype(np.int64), out.indptr.astype(np.int64)
    return out


def _with_stored_zeros(X: Any) -> csr_array:
    """Every cell stored, zeros too."""
    where = np.indices(X.shape).reshape(2, -1)
    return csr_array(coo_array((X.ravel(), (where[0], where[1])), shape=X.shape))


FORMATS: dict[str, Callable[[Any], Any]] = {
    "csr": csr_array,
    "csr-int64": _wide_indices,
    "csr-float32": lambda X: csr_array(X.astype(np.float32)),
    "csr-stored-zeros": _with_stored_zeros,
    "csr-matrix": csr_matrix,
    "csc": csc_matrix,
    "coo": coo_array,
}
sparse_kinds = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.sparse], ids=by_name)


@sparse_kinds
@pytest.mark.parametrize("smooth", [True, False], ids=["smooth", "pure"])
@given(data=st.data(), form=st.sampled_from(list(FORMATS)))
def test_sparse_input_is_dense_input(kind: Kind, smooth: bool, data: Any, form: str) -> None:
    """Stored or not, a zero is a zero; a stored NaN is missing."""
    table = data.draw(rows(kind))
    options = {} if smooth else unsmoothed(kind)
    X = FORMATS[form](table.X)
    dense, sparse = (kind.make(**options).fit(x, table.y, table.weight) for x in (table.X, X))
    assert_same_model(sparse, dense, scale=10)
    np.testing.assert_allclose(sparse.predict_proba(X), dense.predict_proba(table.X), atol=1e-9)
    np.testing.assert_allclose(dense.predict_proba(X), dense.predict_proba(table.X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(dense.predict(X), dense.predict(table.X))


@sparse_kinds
@given(data=st.data())
def test_rows_learned_dense_are_forgotten_sparse(kind: Kind, data: Any) -> None:
    """The statistic does not know in what form rows came."""
    table = data.draw(rows(kind))
    model = kind.fit(table.X, table.y, table.weight)
    model.partial_fit(table.X, table.y).forget(csr_array(table.X), table.y)
    assert_same_model(model, kind.fit(table.X, table.y, table.weight), scale=10)


FAMILIES = {
    "bernoulli": (Bernoulli, "presences"),
    "multinomial": (Multinomial, "counts"),
    "complement": (Complement, "counts"),
}


@pytest.mark.parametrize("name", FAMILIES)
@given(data=st.data(), alpha=st.sampled_from([0.0, 1e-3, 1.0]), factor=st.sampled_from([0.0, 0.5, 1.0]))
def test_sparse_counts_make_the_same_likelihood(name: str, data: Any, alpha: float, factor: float) -> None:
    """Kept sparse or dense, also where nothing is smoothed and where classes are empty."""
    family, statistic = FAMILIES[name]
    counts = data.draw(STATISTICS[statistic]).discount(factor)
    X = numbers(data.draw, (6, 3), [0.0, 1.0, 2.0, np.nan])
    prior = np.log(np.array([0.5, 0.2, 0.3]))
    scorers = [Scorer(family().with_alpha(alpha).likelihood(form), prior) for form in (counts, thin(counts))]
    for data_form in (Dense.of(X), Sparse.of(csr_array(X))):
        for answer in ("joint", "posterior"):
            option = {"logarithm": False} if answer == "posterior" else {}
            dense, sparse = (getattr(scorer, answer)(data_form, Kernels(1), **option) for scorer in scorers)
            np.testing.assert_allclose(sparse, dense, rtol=1e-9, atol=1e-9)


@st.composite
def thin_rows(draw: Any) -> tuple[Any, Any]:
    """Few words among many, and many classes, so that most cells of the table stay empty."""
    n = draw(st.integers(2, 8))
    X = np.zeros((n, 15))
    for _ in range(2):
        X[np.arange(n), numbers(draw, (n,), list(range(15)))] = numbers(draw, (n,), [1.0, 2.0, np.nan])
    return X, numbers(draw, (n,), list(range(6)))


@pytest.mark.parametrize("kind", [BERNOULLI, MULTINOMIAL, COMPLEMENT, NORMED], ids=by_name)
@given(table=thin_rows(), alpha=st.sampled_from([0.0, 1.0]), cut=st.integers(1, 7))
def test_very_many_classes_are_kept_sparse_and_change_nothing(kind: Kind, table: Any, alpha: float, cut: int) -> None:
    """Learned, merged, discounted and forgotten in sparse tables, a model is what it is in dense ones."""
    X, y = table
    cut = min(cut, len(y) - 1)
    dense = kind.make(alpha=alpha).fit(X, y)
    with patch("candide.kernels.counting.DENSE_CELLS", 0):
        sparse = kind.make(alpha=alpha).partial_fit(csr_array(X[:cut]), y[:cut])
        sparse.partial_fit(csr_array(X[cut:]), y[cut:])
        sparse.partial_fit(csr_array(X[:1]), y[:1]).forget(csr_array(X[:1]), y[:1])
    assert_same_model(sparse, dense)
    assert_same_model(sparse.discount(0.5), dense.discount(0.5))
    queries = np.roll(X, 1, axis=1)
    for asked in (X, csr_array(X), queries, csr_array(queries)):
        np.testing.assert_allclose(sparse.predict_proba(asked), dense.predict_proba(asked), rtol=1e-9, atol=1e-12)


@given(table=thin_rows(), threshold=st.sampled_from([None, 1.5]), n_threads=st.sampled_from([1, 3]))
def test_sparse_tallies_are_dense_tallies(table: Any, threshold: float | None, n_threads: int) -> None:
    """The kernel that makes sparse tables does what the reference says."""
    X, y = table
    data, classes, weight = Sparse.of(csr_array(X)), y.astype(np.int32), np.arange(len(y), dtype=np.float64)
    with patch("candide.kernels.counting.DENSE_CELLS", 0):
        got = Kernels(n_threads).tally(data, classes, weight, 12, threshold)
    meant = ReferenceKernels().tally(data, classes, weight, 12, threshold)
    assert not isinstance(got.total, np.ndarray)
    np.testing.assert_array_equal(got.total.toarray(), meant.total)
    assert (got.missing is None) == (meant.missing is None)
    if got.missing is not None:
        np.testing.assert_array_equal(got.missing.toarray(), meant.missing)
