"""Results do not depend on the number of threads: bit for bit, on tables large enough to be cut into shards."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from tiers import every

from candide.kernels import Kernels
from candide.kernels.layouts import Dense, Floats, Sparse
from candide.kernels.tables import FactoredTable, LinearTable, PickTable

from .layouts import Problem, problem
from .models import KINDS, Kind, by_name

N_ROWS, N_COLUMNS, N_CLASSES = 30_000, 9, 5
THREADS = [2, 3, 7]


@cache
def large() -> Problem:
    """Cells and weights whose sums round differently in every order of adding."""
    made = problem(5, N_ROWS, N_COLUMNS, N_CLASSES, "fraction")
    made.X[:] = made.X * (1 + made.rng.random(made.X.shape))
    return made


def _codes() -> Dense:
    return Dense.of(np.trunc(large().X))


def _scores() -> Floats:
    return np.random.default_rng(3).normal(size=(N_ROWS, N_CLASSES)) * 10


def _factored() -> FactoredTable:
    stored = csr_array(np.random.default_rng(4).normal(size=(N_COLUMNS, N_CLASSES)))
    parts = (stored.data, stored.indices.astype(np.int64), stored.indptr.astype(np.int64))
    return FactoredTable(TABLE[0], BASE, csr_array(parts, shape=stored.shape))


def _normalised(native: Kernels) -> Floats:
    scores = _scores()
    native.normalize(scores, logarithm=True)
    return scores


TABLE = np.random.default_rng(1).normal(size=(N_CLASSES, N_COLUMNS))
BASE = np.random.default_rng(2).normal(size=N_CLASSES)
OFFSETS = np.arange(N_COLUMNS + 1, dtype=np.int64) * 13
PICKS = PickTable(np.random.default_rng(6).normal(size=(13 * N_COLUMNS, N_CLASSES)))

Call = Callable[[Kernels, Any], Any]
CALLS: dict[str, Call] = {
    "tally": lambda native, data: native.tally(data, *large().groups, None)[:2],
    "presences": lambda native, data: native.tally(data, *large().groups, 2.5)[:2],
    "moments": lambda native, data: native.moments(data, *large().groups),
    "linear_scores": lambda native, data: native.linear_scores(data, LinearTable(TABLE, TABLE), BASE, None),
    "factored_scores": lambda native, data: native.factored_scores(data, _factored(), BASE, None),
    "quadratic_scores": lambda native, data: native.quadratic_scores(data, TABLE**2, TABLE, TABLE, BASE),
}
OTHER_CALLS: dict[str, Callable[[Kernels], Any]] = {
    "count_codes": lambda native: native.count_codes(_codes(), *large().groups, OFFSETS),
    "code_scores": lambda native: native.code_scores(_codes(), OFFSETS, PICKS, BASE),
    "scan": lambda native: native.scan(_codes()),
    "encode_labels": lambda native: native.encode_labels(large().classes),
    "normalise": _normalised,
    "best": lambda native: native.best(_scores()),
}
SHAPES: dict[str, Callable[[Floats], Any]] = {
    "c": Dense.of,
    "fortran": lambda X: Dense.of(np.asfortranarray(X)),
    "columns": lambda X: Dense.of(tuple(np.asfortranarray(X).T)),
    "csr": lambda X: Sparse.of(csr_array(np.nan_to_num(X))),
}


def bits(result: Any) -> list[bytes]:
    """Everything in a result, as bytes."""
    parts = result if isinstance(result, (tuple, list)) else [result]
    return [np.asarray(part).tobytes() for part in parts]


@pytest.mark.parametrize("call", CALLS)
@every("shape", SHAPES)
def test_kernels_over_rows_do_not_depend_on_threads(call: str, shape: str) -> None:
    """Sums over rows use a fixed number of shards, not one per thread."""
    data = SHAPES[shape](large().X)
    alone = bits(CALLS[call](Kernels(1), data))
    for n_threads in THREADS:
        assert bits(CALLS[call](Kernels(n_threads), data)) == alone


@pytest.mark.parametrize("call", OTHER_CALLS)
def test_other_kernels_do_not_depend_on_threads(call: str) -> None:
    """Codes, labels and what is done to scores."""
    alone = bits(OTHER_CALLS[call](Kernels(1)))
    for n_threads in THREADS:
        assert bits(OTHER_CALLS[call](Kernels(n_threads))) == alone


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_models_do_not_depend_on_threads(kind: Kind) -> None:
    """Probabilities and labels of a whole model."""
    made = large()
    X = kind.encode(made.X if kind.measures else np.minimum(np.trunc(made.X), 4.0))

    def answers(n_threads: int) -> list[bytes]:
        model = kind.make(n_threads=n_threads).fit(X, made.classes, made.weight)
        return bits([model.predict_proba(X), model.predict_log_proba(X), model.predict(X)])

    alone = answers(1)
    for n_threads in THREADS:
        assert answers(n_threads) == alone
