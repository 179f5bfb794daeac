"""Scores that lie millions apart: calibration bends them, keeps their order, and serves the other rows too."""

from __future__ import annotations

import numpy as np
import pytest

from candide import GaussianNB
from candide.kernels.layouts import Floats, Positions
from candide.stacking import calibration
from candide.stacking.calibration import bent, calibrate


def wild() -> tuple[Floats, Positions]:
    """Rows that are right four times in five, by a few nats or by a million."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, 3000).astype(np.int32)
    shown = np.where(rng.random(3000) < 0.8, classes, (classes + 1) % 3)
    distance = np.where(rng.random(3000) < 0.3, 1e6, 5.0) * rng.random(3000)
    return np.where(np.arange(3) == shown[:, None], 0.0, -distance[:, None]), classes


@pytest.mark.parametrize("method", ["temperature", "platt", "beta"])
def test_the_rest_is_not_flattened(method: str) -> None:
    scores, classes = wild()
    log_probability = calibrate(method, scores, classes, np.ones(3000)).apply(scores)
    loss = -log_probability[np.arange(3000), classes].mean()
    assert loss < 0.92  # one temperature for all: 0.99; knowing nothing: 1.10


def test_the_order_stays() -> None:
    scores, classes = wild()
    scores += np.random.default_rng(1).normal(size=scores.shape)
    fitted = calibrate("temperature", scores, classes, np.ones(3000))
    assert fitted.describe()["bend"]
    assert (fitted.apply(scores).argsort(axis=1) == scores.argsort(axis=1)).all()


def test_tame_scores_are_not_bent() -> None:
    scores, classes = np.random.default_rng(2).normal(size=(500, 2)), np.arange(500, dtype=np.int32) % 2
    assert "bend" not in calibrate("platt", scores, classes, np.ones(500)).describe()


@pytest.mark.parametrize("bend", [0.0, 0.25, 0.5, 1.0])
def test_bending_shortens_from_the_best(bend: float) -> None:
    scores = np.array([[0.0, -1e-9, -1.0, -1e8, -np.inf]])
    short = bent(scores, bend)
    assert short[0, 0] == 0
    np.testing.assert_allclose(short[0, 1], -1e-9, rtol=1e-6)
    assert (np.diff(short[0]) < 0).all()
    assert (short[0, 2:] >= scores[0, 2:]).all()


def test_a_constant_pixel_does_not_spoil_the_digits() -> None:
    from sklearn.datasets import load_digits

    model = GaussianNB(calibrate="platt", compute_loo=True).fit(*load_digits(return_X_y=True))
    assert model.loo_.log_loss < 0.8
    assert model.loo_.accuracy > 0.8


def test_an_impossible_row_does_not_decide_about_the_bend() -> None:
    scores, classes = wild()
    shown = calibrate("temperature", scores, classes, np.ones(3000)).describe()
    scores = np.vstack([scores, [[0.0, -1.0, -np.inf]]])
    classes = np.append(classes, np.int32(2))
    found = calibrate("temperature", scores, classes, np.ones(3001)).describe()
    assert found["bend"] == shown["bend"]
    assert found["temperature"] == pytest.approx(shown["temperature"], rel=1e-6)


@pytest.mark.parametrize("method", ["temperature", "platt"])
def test_a_part_of_the_rows_tells_the_bend(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, classes = wild()
    found = calibrate(method, scores, classes, np.ones(3000))
    monkeypatch.setattr(calibration, "_MAX_SCORES_FOR_BEND", 1500)
    quick = calibrate(method, scores, classes, np.ones(3000))
    assert quick.describe()["bend"] == found.describe()["bend"]
    np.testing.assert_allclose(quick.apply(scores), found.apply(scores), rtol=1e-6)
