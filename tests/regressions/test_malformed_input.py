"""Sparse matrices whose arrays disagree, and cells that no number holds: an error of candide's, never a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import candide
from candide.exceptions import CandideError, InputError

from . import malformed
from .malformed import CELLS, ESTIMATORS, SPARSE, VERBS

# Each reads rows in a way of its own; the others do as the second one.
FEW = ("NaiveBayes", "MultinomialNB", "TextNB")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="attempts are made in copies of a process")
@pytest.mark.parametrize(
    "estimator", [name if name in FEW else pytest.param(name, marks=pytest.mark.slow) for name in ESTIMATORS]
)
def test_an_estimator_refuses_what_it_cannot_read(estimator: str) -> None:
    """Each attempt is made in a process of its own, which a crash ends."""
    command = [sys.executable, str(Path(malformed.__file__)), estimator]
    # Threads would be missing in the copies.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    tried = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert tried.returncode == 0, tried.stderr[-500:]
    lines = [line.split("\t") for line in tried.stdout.splitlines()]
    said = {(verb, case): ended for verb, case, ended in lines}
    assert said == {(verb, case): "refused" for verb in VERBS for case in (*SPARSE, *CELLS)}


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

    monkeypatch.setattr("candide.model.model.summarize", full)
    with pytest.raises(InputError, match="needs more memory than there is"):
        model.fit([[1.0], [2.0]], [0, 1])
    monkeypatch.undo()
    assert model.predict([[1.0]]).tolist() == [0]
