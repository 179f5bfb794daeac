"""Labels that stand in the table itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from tiers import every, late

from candide import NaiveBayes, diagnostics

pl = late("polars")

RNG = np.random.default_rng(5)
WHICH = RNG.integers(0, 2, 60)
CELLS = {"age": RNG.normal(30 + 8 * WHICH, 5), "visits": RNG.poisson(2 + WHICH), "came": np.array(["no", "yes"])[WHICH]}


@every("make", [lambda cells: pd.DataFrame(cells), lambda cells: pl.DataFrame(cells), dict])
def test_a_column_may_hold_the_labels(make: Callable[..., object]) -> None:
    table = make(CELLS)
    X, y = {name: CELLS[name] for name in ("age", "visits")}, CELLS["came"]
    model = NaiveBayes(order=0, compute_loo=False).fit(table, "came")
    assert model.score(table, "came") == model.score(X, y) == np.mean(model.predict(X) == y)
    assert diagnostics.log_likelihood(model, table, "came") == diagnostics.log_likelihood(model, X, y)
    np.testing.assert_array_equal(model.leave_one_out(table, "came"), model.leave_one_out(X, y))
    np.testing.assert_array_equal(model.cross_val_log_proba(table, y="came"), model.cross_val_log_proba(X, y))


def test_weights_of_the_score() -> None:
    weight = np.where(CELLS["came"] == "no", 2.0, 0.0)
    model = NaiveBayes(order=0, compute_loo=False).fit(CELLS, "came")
    right = model.predict(CELLS) == CELLS["came"]
    assert model.score(CELLS, "came", sample_weight=weight) == pytest.approx(np.average(right, weights=weight))
