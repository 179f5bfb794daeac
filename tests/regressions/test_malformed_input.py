"""Sparse matrices whose arrays disagree, and cells that no number holds: an error of candide's, never a crash."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

import candide
from candide.exceptions import CandideError, InputError

from . import malformed
from .malformed import CELLS, ESTIMATORS, SPARSE, VERBS


@pytest.mark.skipif(not hasattr(os, "fork"), reason="attempts are made in a copy of a process")
def test_estimators_refuse_what_they_cannot_read() -> None:
    """In another process, which a crash ends."""
    command = [sys.executable, str(Path(malformed.__file__)), *ESTIMATORS]
    # Threads would be missing in the copy.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    tried = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert tried.returncode == 0, tried.stderr[-500:]
    found = {tuple(names): ended for *names, ended in (line.split("\t") for line in tried.stdout.splitlines())}
    cases = itertools.product(ESTIMATORS, VERBS, (*SPARSE, *CELLS))
    assert found == dict.fromkeys(cases, "refused")


@pytest.mark.parametrize("name", ["GaussianNB", "NaiveBayes"])
@pytest.mark.parametrize("verb", ["fit", "predict"])
def test_a_number_beyond_doubles_names_its_column(name: str, verb: str) -> None:
    pd = pytest.importorskip("pandas")
    age = pd.Series([31, 10**400, 58, 40], dtype=object)  # pandas 2 makes no column of it without a type
    frame, y = pd.DataFrame({"age": age, "height": [1.8, 1.7, 1.6, 1.9]}), ["a", "b", "a", "b"]
    model = getattr(candide, name)()
    if verb == "predict":
        model.fit(frame.assign(age=[31, 45, 58, 40]), y)
    with pytest.raises(CandideError, match=r"beyond 1\.8e308 at row 1"):
        model.fit(frame, y) if verb == "fit" else model.predict(frame)


def test_a_model_that_outgrows_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    model = candide.GaussianNB().fit([[1.0], [2.0]], [0, 1])

    def full(*_: object, **__: object) -> None:
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr("candide.model.train.summarize", full)
    with pytest.raises(InputError, match="ran out of memory"):
        model.fit([[1.0], [2.0]], [0, 1])
    monkeypatch.undo()
    assert model.predict([[1.0]]).tolist() == [0]
