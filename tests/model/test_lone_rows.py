"""Rows that are the only one of their class, left out: nothing is known of their class then."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from candide import CategoricalNB, GaussianNB, NaiveBayes

MODELS: dict[str, Any] = {
    "gaussian": lambda: GaussianNB(compute_loo=True),
    "calibrated": lambda: GaussianNB(calibrate="temperature"),
    "plain": lambda: NaiveBayes(stacking=None, calibrate=None),
    "stacked": lambda: NaiveBayes(),
}


@pytest.mark.parametrize("kind", MODELS)
def test_a_class_for_each_row_cannot_be_predicted(kind: str) -> None:
    X = np.random.default_rng(0).normal(size=(12, 3))
    found = MODELS[kind]().fit(X, [f"row {i}" for i in range(12)]).loo_
    for report in (found, found.plain or found):
        assert report.accuracy == 0.0
        assert report.log_loss == pytest.approx(np.log(12))


def test_the_other_rows_keep_their_scores() -> None:
    X, y = [["a"], ["b"], ["a"], ["c"], ["b"]], list("xyxzy")
    model = CategoricalNB(compute_loo=True).fit(X, y)
    given = model.leave_one_out(X, y, class_prior="fixed")
    right = given.argmax(axis=1) == np.array([0, 1, 0, 2, 1])
    assert model.loo_.accuracy == pytest.approx(right[[0, 1, 2, 4]].sum() / 5)
    assert model.loo_.confusion[2, 2] == 0


def test_the_only_group_of_a_class_is_left_out_as_a_whole() -> None:
    X = np.random.default_rng(1).normal(size=(30, 2))
    y, groups = np.repeat(["a", "b", "c"], 10), np.repeat([0, 1, 2, 3, 4, 4], 5)
    found = GaussianNB(compute_loo=True).fit(X, y, groups=groups).loo_
    assert found.confusion[2, 2] == 0


def test_identifiers_as_labels_are_noticed() -> None:
    X = np.random.default_rng(0).normal(size=(120, 2))
    with pytest.warns(UserWarning, match=r"y contains 120 different labels in 120 rows .* identifiers"):
        GaussianNB().fit(X, [f"P{i}" for i in range(120)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianNB().fit(X, [f"P{i // 3}" for i in range(120)])
