"""Traps of models of tables: columns that hardly vary, and noise that is taken for knowledge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from candide import NaiveBayes
from candide.kernels.layouts import Array


@pytest.mark.slow
def test_columns_that_hardly_vary() -> None:
    """A pixel that is off in all but a few images must not decide where it is on."""
    X, y = load_digits(return_X_y=True)
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    found = cross_val_predict(NaiveBayes(), X, y, cv=folds, method="predict_proba")
    assert log_loss(y, found) < 0.1


def test_one_row_that_differs() -> None:
    """A column that is constant but for one row says nothing about another such row."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.column_stack([rng.normal(y, 1.0), np.arange(200) == 7])
    off, on = NaiveBayes(order=0).fit(X, y).predict_proba([[0.5, 0.0], [0.5, 1.0]])[:, 1]
    assert abs(on - off) < 0.05


def noise(n: int, n_columns: int, seed: int) -> tuple[pd.DataFrame, Array]:
    rng = np.random.default_rng(seed)
    numbers = {f"x{j}": rng.normal(size=n) for j in range(n_columns)}
    return pd.DataFrame({**numbers, "word": rng.choice(list("abcdef"), n)}), rng.integers(0, 2, n)


@pytest.mark.parametrize(
    ("n", "n_columns"), [(400, 10), *(pytest.param(*size, marks=pytest.mark.slow) for size in ((400, 40), (1500, 20)))]
)
def test_pure_noise(n: int, n_columns: int) -> None:
    """Labels that nothing tells anything about: no worse than the plain calibrated model, which nearly says so."""
    losses = []
    for seed in range(3):
        X, y = noise(n, n_columns, seed)
        Z, z = noise(2000, n_columns, seed + 100)
        losses.append(
            [log_loss(z, NaiveBayes(stacking=stacking).fit(X, y).predict_proba(Z)) for stacking in ("auto", None)]
        )
    blended, plain = np.mean(losses, axis=0)
    assert blended < np.log(2) + 0.02
    assert blended < plain + 0.01


def test_many_weak_columns() -> None:
    """Columns that each tell a little are not thrown away with the noise."""
    rng = np.random.default_rng(0)
    y, z = np.arange(600) % 2, np.arange(2000) % 2
    X, Z = (rng.normal(size=(len(labels), 20)) + 0.5 * labels[:, None] for labels in (y, z))
    found = log_loss(z, NaiveBayes().fit(X, y).predict_proba(Z))
    # What the true distribution would give is 0.27.
    assert found < 0.36


def test_columns_that_tell_only_together() -> None:
    """Each alone is noise; views of pairs see what single columns cannot."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 200))
    X = pd.DataFrame({"a": a, "b": b, "c": rng.normal(size=200)})
    model = NaiveBayes().fit(X, a ^ b)
    assert model.score(X, a ^ b) == 1.0
    assert model.loo_.log_loss < 0.1
    assert NaiveBayes(order=0).fit(X, a ^ b).loo_.accuracy < 0.7


def test_copies_of_a_column_do_not_count_again() -> None:
    """The naive model is sixteen times as sure; the blend is not."""
    rng = np.random.default_rng(0)
    y, z = np.arange(400) % 2, np.arange(1000) % 2
    X, Z = (np.repeat(rng.normal(labels, 1.0)[:, None], 16, axis=1) for labels in (y, z))
    one = log_loss(z, NaiveBayes().fit(X[:, :1], y).predict_proba(Z[:, :1]))
    many = log_loss(z, NaiveBayes().fit(X, y).predict_proba(Z))
    plain = log_loss(z, NaiveBayes(stacking=None, calibrate=None).fit(X, y).predict_proba(Z))
    assert many < one + 0.02 < plain
