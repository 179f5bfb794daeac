"""scikit-learn's own battery of checks, for every estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import __version__ as sklearn_version
from sklearn.datasets import make_blobs
from sklearn.utils.fixes import parse_version
from tiers import every

import candide

# The checks feed numbers: what takes texts is left to tests of its own.
MODELS = [getattr(candide, name)() for name in candide.__all__ if name.endswith("NB") and name != "TextNB"]
# With all that is chosen, and with nothing that is.
TABLES = [candide.NaiveBayes(), candide.NaiveBayes(columns="gaussian", stacking=None, calibrate=None)]


def expected_failures(estimator: Any) -> dict[str, str]:
    tags, expected = estimator.__sklearn_tags__().input_tags, {}
    if tags.positive_only:
        # No classifier of scikit-learn has both, so the check never met the case. Its content is tested below.
        reason = "the check feeds negative values without asking the positive_only tag, and counts are never negative"
        expected["check_class_weight_classifiers"] = reason
    if not tags.sparse and parse_version(sklearn_version) < parse_version("1.7"):
        reason = "scikit-learn 1.6 feeds sparse tables without asking the sparse tag"
        expected["check_sample_weight_equivalence_on_sparse_data"] = reason
    return expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [*MODELS, pytest.param(TABLES[0], marks=pytest.mark.slow), TABLES[1]], ids=repr)
def test_sklearn_checks(estimator: Any) -> None:
    from sklearn.utils.estimator_checks import check_estimator

    expected = expected_failures(estimator)
    results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None, on_fail="raise")
    assert len(results) > 50
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == expected.keys()


@every("model", MODELS)
@every("n_centers", [2, 3])
def test_class_weight_decides_where_data_say_little(model: Any, n_centers: int) -> None:
    """What check_class_weight_classifiers asks, on whole numbers from 0 up, few enough not to drown the prior."""
    X, y = make_blobs(centers=n_centers, random_state=0, cluster_std=20)
    X = np.round((X - X.min()) / (X.max() - X.min()) * 3)
    weight = {0: 1000.0, 1: 0.0001, 2: 0.0001}
    predicted = type(model)(class_weight=weight).fit(X[::2], y[::2]).predict(X[1::2])
    assert np.mean(predicted == 0) > 0.87
