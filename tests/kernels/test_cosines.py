"""Cosines of angles, the same to the last bit as a series in NumPy."""

from __future__ import annotations

import numpy as np
from reference.kernels import cosine_features as reference_cosine_features

from candide.kernels.scoring import cosine_features


def test_cosines_are_those_of_the_series() -> None:
    rng = np.random.default_rng(0)
    for size in (1.0, 50.0, 1e6, 1e14):
        for shape in ((0,), (1,), (1003, 7)):
            angles = rng.normal(size=shape) * size
            np.testing.assert_array_equal(cosine_features(angles.copy()), reference_cosine_features(angles))


def test_cosines_are_right_to_thirteen_digits() -> None:
    angles = np.linspace(-100.0, 100.0, 10_001)
    np.testing.assert_allclose(cosine_features(angles.copy()), np.cos(angles), rtol=0, atol=1e-13)


def test_what_is_not_finite_has_no_cosine() -> None:
    assert np.isnan(cosine_features(np.array([np.nan, np.inf, -np.inf]))).all()
    assert np.isfinite(cosine_features(np.array([1e300, -1e300]))).all()
