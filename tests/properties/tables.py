"""Tables of numbers, counts, flags and categories with holes, whose columns tell something about the class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from candide import NaiveBayes
from candide.kernels.layouts import Array, Floats

from .compare import assert_alike

# How a model may look at a table, from the naive model alone to everything.
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"stacking": None, "calibrate": None},
    "calibrated": {"stacking": None},
    "columns": {"order": 0},
    "pairs": {"order": 1},
    "all": {},
}


def mixed(n: int, seed: int = 0, n_classes: int = 3) -> tuple[pd.DataFrame, Array]:
    """Rows of every kind of column."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, n_classes, n)
    age = rng.normal(30 + 5 * which, 4).round(1)
    age[rng.random(n) < 0.1] = np.nan
    job = np.array(["cook", "smith", "nurse", "clerk"], dtype=object)[(which + rng.integers(0, 2, n)) % 4]
    job[rng.random(n) < 0.2] = None
    frame = pd.DataFrame(
        {"age": age, "visits": rng.poisson(1 + which), "job": job, "member": rng.random(n) < 0.3 + 0.2 * which}
    )
    return frame, np.array(["u", "v", "w"])[which]


def fit(X: Any, y: Any, weight: Floats | None = None, **settings: Any) -> Any:
    """A model of one thread."""
    return NaiveBayes(n_threads=1, **settings).fit(X, y, sample_weight=weight)


def assert_same_table(a: Any, b: Any, rtol: float = 0.0) -> None:
    """The same classes, kinds, grids, categories and sample, to the last count; moments to rounding."""
    assert a.classes_.tolist() == b.classes_.tolist()
    mine, theirs = a.model_.classifier.state, b.model_.classifier.state
    assert mine.statistics.kinds == theirs.statistics.kinds
    for part in ("grid", "categories"):
        assert_alike(getattr(mine.statistics, part), getattr(theirs.statistics, part), rtol=rtol)
    assert_alike(mine.statistics.moments, theirs.statistics.moments, scale=40.0, rtol=rtol)
    assert (mine.sample is None) == (theirs.sample is None)
    if mine.sample is not None:
        assert_alike(mine.sample, theirs.sample, rtol=rtol)


def assert_predicts_alike(a: Any, b: Any, X: Any, Z: Any = None, atol: float = 1e-12) -> None:
    """Equal probabilities of rows, which the second model may be given in another form.

    Weights of a blend are found step by step, to about eight digits.
    """
    if a.stacking is not None:
        atol = max(atol, 1e-7)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X if Z is None else Z), rtol=0, atol=atol)


def repeated_values(n_rows: int = 5_200, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Numbers that repeat, of which single values matter and depend on each other, a category, and missing cells."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 9, n_rows).round(),
            "gain": np.where(rng.random(n_rows) < 0.5, 0.0, rng.choice([99.0, 200.0, 201.0, 7000.0], n_rows)),
            "job": rng.choice(["cook", "smith", "o'hara"], n_rows),
            "x": rng.normal(size=n_rows),
        }
    )
    # Cooks have other ages, so that the scores of columns overlap at some values and not at others.
    frame["age"] += np.where((frame["job"] == "cook") & (rng.random(n_rows) < 0.8), frame["age"] % 2, 0.0)
    score = 4 * (frame["age"] % 2 - 0.5) + 3 * (frame["gain"] == 200) - 3 * (frame["gain"] == 201) + frame["x"]
    score = score + 2 * (frame["job"] == "cook") + rng.logistic(size=n_rows)
    y = np.array(["high", "low", "none"])[(score > 0).astype(int) + (score > 3)]
    frame.loc[rng.random(n_rows) < 0.05, "x"] = np.nan
    return frame, y


def clusters(n_rows: int = 5_000, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Numbers in sixty clusters, each of one of three classes, a category of the cluster, and a column of noise."""
    fixed, rng = np.random.default_rng(7), np.random.default_rng(seed)
    centers, class_of = fixed.random((60, 4)), fixed.integers(0, 3, 60)
    cluster = rng.integers(0, 60, n_rows)
    frame = pd.DataFrame(centers[cluster] + rng.normal(0, 0.06, (n_rows, 4)), columns=["a", "b", "c", "d"])
    frame["side"] = np.where((cluster % 2 == 0) ^ (rng.random(n_rows) < 0.2), "left", "right")
    frame["noise"] = rng.random(n_rows)
    return frame, np.array(["x", "y", "z"])[class_of[cluster]]
