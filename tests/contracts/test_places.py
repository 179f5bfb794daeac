"""Messages name the place of a bad cell in the whole, also where rows are worked on in stretches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from tiers import every

import candide
from candide.exceptions import InputError, ParameterError
from candide.kernels.layouts import CHUNK_ROWS

FAR = 2 * CHUNK_ROWS + 17
METHODS = ["predict", "predict_proba", "predict_joint_log_proba"]


def rows_with(value: float) -> np.ndarray:
    X = np.ones((FAR + 9, 3))
    X[FAR, 1] = value
    return X


@every("make", [np.asarray, np.asfortranarray, csr_array])
@every("method", METHODS)
@every("name", ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "PoissonNB"])
def test_infinity_is_found_in_its_row(name: str, method: str, make: Any) -> None:
    model = getattr(candide, name)().fit([[0, 1, 2], [3, 4, 5]], [0, 1])
    with pytest.raises(InputError, match=rf"column 1 is infinite at row {FAR};"):
        getattr(model, method)(make(rows_with(np.inf)))


@every("make", [np.asarray, csr_array])
@every("method", METHODS)
@every("name", ["MultinomialNB", "ComplementNB", "PoissonNB"])
def test_negative_counts_are_refused_at_predict(name: str, method: str, make: Any) -> None:
    model = getattr(candide, name)().fit([[0, 1, 2], [3, 4, 5]], [0, 1])
    with pytest.raises(
        InputError, match=rf"Negative values .* column 1 is -2 at row {FAR}; expected counts of 0 or more"
    ):
        getattr(model, method)(make(rows_with(-2.0)))


def test_a_category_never_seen_is_found_in_its_row() -> None:
    model = candide.CategoricalNB(unseen="error").fit([[0, 1, 2], [1, 1, 1]], [0, 1])
    with pytest.raises(InputError, match=rf"column 1 contains category 9.* at row {FAR}, .*unseen='ignore'"):
        model.predict(rows_with(9).astype(int))


def test_a_threshold_cannot_change_under_a_fitted_model() -> None:
    model = candide.BernoulliNB().fit([[1], [0], [3]], [0, 0, 1]).set_params(binarize=2.0)
    for learn in (model.forget, model.partial_fit):
        with pytest.raises(ParameterError, match=r"binarize was 0\.0 .* is 2\.0 now.*fit again"):
            learn([[1]], [0])
    assert model.fit([[1], [0], [3]], [0, 0, 1]).feature_count_.tolist() == [[0.0], [1.0]]


def test_values_above_one_need_a_threshold() -> None:
    with pytest.raises(InputError, match=r"values above 1.*pass binarize=0\.0"):
        candide.BernoulliNB(binarize=None).fit([[2], [0], [0]], [0, 0, 1])


def test_a_column_that_nobody_saw_says_nothing_however_far_a_value_lies() -> None:
    nan = np.nan
    model = candide.GaussianNB().fit([[0, nan], [1, nan], [5, nan], [7, nan]], [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict_proba([[1, 1e200]]), model.predict_proba([[1, 1]]))


@every("threads", ["a", [2], 0, -1, 1.5, True])
def test_threads_are_a_whole_number_above_zero(threads: Any) -> None:
    with pytest.raises(ParameterError, match=r"n_threads is .*; expected None or a positive integer"):
        candide.GaussianNB(n_threads=threads).fit([[1.0], [2.0]], [0, 1])


def test_threads_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANDIDE_NUM_THREADS", "many")
    with pytest.raises(ParameterError, match="CANDIDE_NUM_THREADS is 'many'"):
        candide.GaussianNB().fit([[1.0], [2.0]], [0, 1])


def test_fitted_attributes_cannot_be_written_to() -> None:
    model = candide.GaussianNB().fit([[1.0], [2.0]], [0, 1])
    for name in ("class_count_", "class_prior_", "theta_", "var_"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[:] = 0
