"""Training rows are a section of a model file of their own, which is read when something needs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import candide
from candide import GaussianNB, NaiveBayes
from candide.storage.background_reader import FileReader

RNG = np.random.default_rng(0)
X = RNG.normal(size=(27_000, 20))
Y = np.where(X[:, 0] * X[:, 1] + RNG.normal(size=len(X)) > 0, "a", "b")
ESTIMATORS: dict[str, Any] = {
    "table": lambda: NaiveBayes(order=0, compute_loo=False),
    "gaussian": lambda: GaussianNB(calibrate="platt", subsample=len(X)),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_predicting_complete_rows_does_not_read_training_rows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, path, read = ESTIMATORS[name]().fit(X, Y), tmp_path / "model.candide", []
    model.save(path, sample=True)
    assert path.stat().st_size > X.nbytes
    rest = FileReader.read_deferred
    monkeypatch.setattr(FileReader, "read_deferred", lambda *args: read.append(1) or rest(*args))
    loaded = candide.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X[:50]), model.predict_proba(X[:50]))
    assert loaded.predict(X[:50]).tolist() == model.predict(X[:50]).tolist()
    assert loaded.score(X[:50], Y[:50]) == model.score(X[:50], Y[:50])
    assert loaded.explain(X[:1]) is not None
    assert read == []
    loaded.partial_fit(X[:1], Y[:1])
    assert read == [1]


def test_rows_are_written_only_if_asked_for(tmp_path: Path) -> None:
    model = ESTIMATORS["gaussian"]().fit(X[:100], Y[:100])
    for sample in (False, True):
        model.save(tmp_path / "model.candide", sample=sample)
        assert (X[0].tobytes() in (tmp_path / "model.candide").read_bytes()) == sample
        assert (candide.load(tmp_path / "model.candide").model_.state.sample is not None) == sample
    model.save(tmp_path / "model.candide")
    assert X[0].tobytes() not in (tmp_path / "model.candide").read_bytes()
