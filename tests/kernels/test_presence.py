"""Columns on or off, scored by bytes: the same sums as column by column."""

from __future__ import annotations

import numpy as np
import pytest
from reference import ReferenceKernels

from candide.kernels import Kernels, _core, scoring
from candide.kernels.layouts import Dense
from candide.kernels.tables import LinearTable


@pytest.mark.parametrize("n_columns", [1, 7, 8, 9, 40])
@pytest.mark.parametrize("n_classes", [1, 2, 5])
@pytest.mark.parametrize("gaps", [False, True])
def test_bytes_add_up_to_columns(monkeypatch: pytest.MonkeyPatch, n_columns: int, n_classes: int, gaps: bool) -> None:
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(300, n_columns))
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    table = LinearTable(rng.normal(size=(n_classes, n_columns)), rng.normal(size=(n_classes, n_columns)))
    base, data = rng.normal(size=n_classes), Dense.of(X)
    meant = ReferenceKernels().linear_scores(data, table, base, 0.25)
    by_bytes = Kernels(2).linear_scores(data, table, base, 0.25)
    monkeypatch.setattr(scoring, "BYTE_CELLS", 0)
    by_columns = Kernels(2).linear_scores(data, table, base, 0.25)
    np.testing.assert_allclose(by_bytes, meant, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(by_columns, meant, rtol=1e-12, atol=1e-12)


def test_tables_that_do_not_fit_are_refused() -> None:
    table, scores = np.zeros((3, 9)), np.zeros((3, 2))
    good = {"bytes": np.zeros((512, 4)), "weights": np.zeros((9, 4)), "absent": None, "base": np.zeros(2)}
    _core.presence_scores(table, 0.0, **good, n_threads=1, scores=scores)
    for name, odd in {"bytes": np.zeros((256, 4)), "weights": np.zeros((8, 4)), "absent": np.zeros((9, 8))}.items():
        with pytest.raises(ValueError, match=name):
            _core.presence_scores(table, 0.0, **{**good, name: odd}, n_threads=1, scores=scores)
