"""scikit-learn's own tests of naive Bayes, run with candide's classes in place of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn
from packaging.version import Version

# Each exception with its reason.
EXCEPTIONS = {
    "test_gnb_check_update_with_no_data": "calls the private static method GaussianNB._update_mean_variance",
    "test_NB_partial_fit_no_first_classes": "documented difference: classes are optional in partial_fit, and may grow",
    "test_check_alpha": "assigns n_features_in_, which is read from the model, and calls the private _check_alpha",
    "test_alpha_vector": "quotes two messages; candide's say what was found (numbers: test_drop_in)",
    "test_gnb_array_api_compliance": "asserts results in the input's float32; candide's statistics are always float64",
}
if Version(sklearn.__version__) < Version("1.9"):
    EXCEPTIONS["test_predict_joint_proba"] = "compares logarithms near 0 without an absolute tolerance"

PLUGIN = """
import sklearn.naive_bayes as theirs
import candide
for name in ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"):
    setattr(theirs, name, getattr(candide, name))
"""


@pytest.mark.slow
def test_their_suite_passes_with_our_classes(tmp_path: Path) -> None:
    spec = importlib.util.find_spec("sklearn.tests.test_naive_bayes")
    if spec is None or spec.origin is None:
        pytest.skip("this scikit-learn was installed without its tests")
    (tmp_path / "with_candide.py").write_text(PLUGIN)
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "with_candide", "-p", "no:cacheprovider", "-W", "ignore",
        "--pyargs", "sklearn.tests.test_naive_bayes", "-o", "addopts=",
        *(f"--deselect={spec.origin}::{name}" for name in EXCEPTIONS),
        "-k", " and ".join(f"not {name}" for name in EXCEPTIONS),
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
