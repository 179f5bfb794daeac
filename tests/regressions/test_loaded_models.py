"""A loaded model does not depend on what happens to its file; ``mmap=True`` shares the file instead."""

from __future__ import annotations

import copy
import mmap
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import candide
from candide.exceptions import ModelFileError

X = np.random.default_rng(0).normal(size=(400, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)

_SCRIPT = """
import shutil, sys, numpy as np, candide
other = candide.load(sys.argv[1])
for way in ("cut", "cut later", "overwritten", "overwritten later"):
    print(way, flush=True)
    path = shutil.copy(sys.argv[1], sys.argv[1] + ".copy")
    model = candide.load(path)
    if way.endswith("later"):
        model.predict_proba(np.ones((2, 3)))
    with open(path, "r+b") as file:
        if way.startswith("overwritten"):
            size = len(file.read())
            file.seek(0)
            file.write(bytes(size))
        else:
            file.truncate(0)
    assert model.predict_proba(np.ones((2, 3))).tolist() == other.predict_proba(np.ones((2, 3))).tolist()
    assert model.theta_.tolist() == other.theta_.tolist()
"""


def saved(tmp_path: Path, *, sample: bool = True) -> Path:
    path = tmp_path / "model.candide"
    candide.GaussianNB(calibrate="platt", subsample=100_000).fit(X, Y).save(path, sample=sample)
    return path


# In a process of its own: reading a mapped file that was cut short ends it with SIGBUS.
def test_the_file_may_be_cut_or_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    wide = np.random.default_rng(1).normal(size=(40, 3))
    candide.GaussianNB().fit(wide, np.arange(40) % 2).save(path)
    done = subprocess.run([sys.executable, "-c", _SCRIPT, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr[-500:])


@pytest.fixture
def lazy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Any]:
    """A model whose rows are still in its file."""
    monkeypatch.setattr("candide.storage.background_reader._MIN_DEFERRED_BYTES", 1)
    path = saved(tmp_path)
    return path, candide.load(path)


def rows_are_in_the_file(model: Any) -> bool:
    return "data" not in vars(model.model_.classifier.state.sample)


def test_rows_stay_in_the_file_until_they_are_needed(lazy: tuple[Path, Any], tmp_path: Path) -> None:
    path, model = lazy
    model.predict_proba(X[:5])
    assert model.model_.has_training_rows
    assert rows_are_in_the_file(model)
    whole = candide.GaussianNB(calibrate="platt", subsample=100_000).fit(X, Y)
    model.forget(X[:1], Y[:1])
    whole.forget(X[:1], Y[:1])
    assert not rows_are_in_the_file(model)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-12)
    again = candide.load(path)
    again.save(tmp_path / "again.candide", sample=True)
    assert candide.load(tmp_path / "again.candide").forget(X[:1], Y[:1]).class_count_.sum() == 399


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_have_the_rows(lazy: tuple[Path, Any], duplicate: Any) -> None:
    _, model = lazy
    other = duplicate(model)
    assert other.forget(X[:1], Y[:1]).class_count_.sum() == 399


@pytest.mark.parametrize("way", ["replaced", "deleted"])
def test_another_file_in_its_place_does_no_harm(lazy: tuple[Path, Any], way: str) -> None:
    path, model = lazy
    if way == "replaced":
        candide.GaussianNB(subsample=100_000).fit(X[:9], Y[:9]).save(path, sample=True)
    else:
        path.unlink()
    assert model.forget(X[:1], Y[:1]).class_count_.sum() == 399


@pytest.mark.parametrize("way", ["cut", "overwritten", "one bit"])
def test_rows_that_were_changed_in_place_are_refused(lazy: tuple[Path, Any], way: str) -> None:
    path, model = lazy
    before = model.predict_proba(X).tolist()
    raw = bytearray(path.read_bytes())
    if way == "cut":
        os.truncate(path, 100)
    elif way == "overwritten":
        path.write_bytes(bytes(len(raw)))
    else:
        raw[raw.find(X[0, :1].tobytes())] ^= 1
        path.write_bytes(raw)
    with pytest.raises(ModelFileError, match=r"changed after the model was loaded; load the model again"):
        model.forget(X[:1], Y[:1])
    assert model.predict_proba(X).tolist() == before


def test_rows_that_are_none_are_refused_when_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from storage.mutations import sealed

    monkeypatch.setattr("candide.storage.background_reader._MIN_DEFERRED_BYTES", 1)
    path = saved(tmp_path)
    raw = bytearray(path.read_bytes())
    raw[raw.find(X[0, :1].tobytes())] ^= 1
    path.write_bytes(sealed(bytes(raw)))
    model = candide.load(path)
    model.predict(X)
    with pytest.raises(ModelFileError, match="the training rows do not match their hashes"):
        model.forget(X[:1], Y[:1])


def test_a_damaged_file_is_refused_with_its_rows_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("candide.storage.background_reader._MIN_DEFERRED_BYTES", 1)
    path = saved(tmp_path)
    raw = bytearray(path.read_bytes())
    raw[raw.find(X[0, :1].tobytes())] ^= 1
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match="checksum"):
        candide.load(path)


def test_the_file_is_mapped_on_request(tmp_path: Path) -> None:
    path = saved(tmp_path)

    def owner(array: Any) -> Any:
        while getattr(array, "base", None) is not None:
            array = array.base
        return array.obj if isinstance(array, memoryview) else array

    shared, own = candide.load(path, mmap=True), candide.load(path)
    assert isinstance(owner(shared.model_.classifier.state.statistics.mean), mmap.mmap)
    assert not isinstance(owner(own.model_.classifier.state.statistics.mean), mmap.mmap)
    assert shared.predict_proba(X).tolist() == own.predict_proba(X).tolist()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_read(tmp_path: Path) -> None:
    path, pipe = saved(tmp_path), tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", path, pipe]):
        model = candide.load(pipe)
    assert model.predict(X).tolist() == candide.load(path).predict(X).tolist()
