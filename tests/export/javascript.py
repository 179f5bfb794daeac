"""Modules of JavaScript in Node, and their answers beside those of the model."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from candide.kernels.layouts import Floats

NODE = shutil.which("node")
CLOSE = 1e-9

# Rows come as JSON; NaN and infinities, which JSON lacks, as strings.
_RUN = """
import { readFileSync } from "node:fs";
import * as model from "./model.mjs";
const special = { "#nan": NaN, "#inf": Infinity };
const rows = JSON.parse(readFileSync("rows.json", "utf8"), (_, cell) => special[cell] ?? cell);
const answers = rows.map((row) => {
  try {
    return (model.classify ?? model.predict)(row);
  } catch (error) {
    return { error: `${error.name}: ${error.message}` };
  }
});
const written = (_, value) => (value === -Infinity ? "-inf" : value === Infinity ? "inf" : value);
console.log(JSON.stringify({ classes: model.classes, exports: Object.keys(model), answers }, written));
"""


class Answers(NamedTuple):
    """What a module answers to each row, and what it exports."""

    classes: list[Any]
    exports: list[str]
    answers: list[dict[str, Any]]

    @property
    def probabilities(self) -> Floats:
        return np.array([one["probabilities"] for one in self.answers])


def run(model: Any, rows: Sequence[Any], **settings: Any) -> Answers:
    """The answers of Node to rows: texts, objects or lists."""
    assert NODE is not None
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        (where / "model.mjs").write_text(model.to_js(**settings), encoding="utf-8")
        (where / "rows.json").write_text(json.dumps(list(rows)), encoding="utf-8")
        (where / "run.mjs").write_text(_RUN)
        done = subprocess.run([NODE, "run.mjs"], cwd=where, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-2000:]
    return Answers(**json.loads(done.stdout))


def assert_same(model: Any, rows: Sequence[Any], X: Any = None, close: float = CLOSE) -> Answers:
    """The module gives the model's labels and probabilities, and contributions add up to the log-odds."""
    found, expected = run(model, rows), model.predict_proba(rows if X is None else X)
    assert found.classes == model.classes_.tolist()
    assert [one["error"] for one in found.answers if "error" in one] == []
    np.testing.assert_allclose(found.probabilities, expected, rtol=0, atol=close)
    order = np.sort(np.column_stack([expected, np.zeros(len(expected))]), axis=1)
    clear = order[:, -1] - order[:, -2] > 10 * close
    labels = np.array([one["label"] for one in found.answers], dtype=object)
    assert labels[clear].tolist() == model.predict(rows if X is None else X)[clear].tolist()
    for one in found.answers:
        _assert_adds_up(one)
    return found


def _assert_adds_up(found: dict[str, Any]) -> None:
    """Classes that are not ruled out: their scores differ by the log-odds."""
    terms = found["contributions"]
    if any("limits" in term for term in terms):
        return
    scores = np.sum([np.array(term["scores"], dtype=np.float64) for term in terms], axis=0)
    probability = np.array(found["probabilities"])
    some = np.flatnonzero(probability > 1e-200)
    odds = np.log(probability[some] / probability[some[0]])
    np.testing.assert_allclose(scores[some] - scores[some[0]], odds, rtol=1e-9, atol=1e-7)
