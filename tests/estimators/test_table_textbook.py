"""The textbook's naive Bayes as a special case of NaiveBayes."""

from __future__ import annotations

from typing import Any

import numpy as np
from tiers import every

from candide import CategoricalNB, NaiveBayes
from candide.kernels.layouts import Array

PLAIN: dict[str, Any] = {"stacking": None, "calibrate": None, "order": 0}
TEXTBOOK: dict[str, Any] = {
    "columns": "categorical", "alpha": 1.0, "class_prior": "smoothed", "unseen": "ignore", **PLAIN,
}  # fmt: skip


def words(n: int, seed: int) -> tuple[Array, Array]:
    """Categories, a tenth of them missing."""
    rng = np.random.default_rng(seed)
    X = np.array(["red", "green", "blue", "grey"], dtype=object)[rng.integers(0, 4, (n, 3))]
    X[rng.random((n, 3)) < 0.1] = None
    return X, rng.integers(0, 3, n)


def test_by_hand() -> None:
    """Two classes; a column with a missing cell, and a value that training never saw."""
    X = {"sky": ["sun", "rain", "rain", None], "wind": ["no", "no", "yes", "yes"]}
    model = NaiveBayes(missing="ignore", **TEXTBOOK).fit(X, ["go", "go", "stay", "stay"])
    found = model.predict_proba({"sky": ["rain", "snow", None], "wind": ["yes", "yes", None]})
    # go: p(rain) = 2/4, p(yes) = 1/4; stay: p(rain) = 2/3, p(yes) = 3/4; the prior is 3/6 each.
    go, stay = np.array([2 / 4 * 1 / 4, 1 / 4, 1.0]), np.array([2 / 3 * 3 / 4, 3 / 4, 1.0])
    np.testing.assert_allclose(found[:, 0], go / (go + stay), rtol=1e-12)


@every("seed", range(5))
@every("alpha", [0.1, 1.0, 7.0])
def test_smoothed_categories(seed: int, alpha: float) -> None:
    X, y = words(40, seed)
    Z, _ = words(40, seed + 100)
    Z[::7, 1] = "never"
    ours = NaiveBayes(**TEXTBOOK | {"alpha": alpha, "missing": "ignore"}).fit(X, y)
    theirs = CategoricalNB(categories="seen", alpha=alpha, class_prior="smoothed", unseen="ignore").fit(X, y)
    for rows in (X, Z):
        np.testing.assert_allclose(ours.predict_joint_log_proba(rows), theirs.predict_joint_log_proba(rows), rtol=1e-12)
        np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(ours.leave_one_out(X, y), theirs.leave_one_out(X, y), rtol=1e-9)


def test_numbers_as_categories() -> None:
    X = np.random.default_rng(0).integers(0, 5, (60, 3)).astype(float)
    y = np.arange(60) % 2
    ours = NaiveBayes(**TEXTBOOK).fit(X, y)
    theirs = CategoricalNB(categories="seen", class_prior="smoothed", unseen="ignore").fit(X.astype(int), y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X.astype(int)), rtol=1e-12)


def test_unseen_values_with_the_share_that_smoothing_leaves() -> None:
    X, y = words(40, 0)
    Z = np.full((2, 3), "never", dtype=object)
    ours = NaiveBayes(**TEXTBOOK | {"unseen": "smooth", "missing": "ignore"}).fit(X, y)
    theirs = CategoricalNB(categories="seen", class_prior="smoothed", unseen="smooth").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(Z), theirs.predict_proba(Z), rtol=1e-12)


def test_missing_cells_as_a_value() -> None:
    X, y = words(40, 1)
    ours = NaiveBayes(**TEXTBOOK | {"missing": "category"}).fit(X, y)
    named = np.where(np.equal(X, None), "nothing", X)
    theirs = CategoricalNB(categories="seen", class_prior="smoothed").fit(named, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(named), rtol=1e-12)


def test_gaussian_columns() -> None:
    """Columns of one family are that family's classifier."""
    from candide import GaussianNB

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), np.arange(50) % 3
    ours = NaiveBayes(columns="gaussian", **PLAIN).fit(X, y)
    # The floor of each column is a share of its own variance, not of the largest.
    theirs = GaussianNB(var_smoothing=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)
