"""Columns and labels of unusual types, and models that were updated, can be stored and loaded."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from candide import GaussianNB, NaiveBayes, TextNB

from .example_models import EXAMPLES, Case, numbers, texts
from .storing import stored

BASE = np.random.default_rng(0).normal(size=90)
CLASSES = np.arange(90) % 3

COLUMNS: dict[str, Callable[[], Any]] = {
    "beyond doubles": lambda: np.arange(90) % 5 + 2**60,
    "categorical": lambda: pd.Categorical(["u", "v", None] * 30),
    "truth values and holes": lambda: np.array([True, None, False] * 30, dtype=object),
    "moments of a zone": lambda: pd.date_range("2020", periods=90, freq="h", tz="Europe/Berlin"),
    "times": lambda: np.array([dt.time(1), dt.time(2), None] * 30, dtype=object),
    "days": lambda: [dt.date(2020, 1, 1 + i % 28) for i in range(90)],
    "durations": lambda: pd.to_timedelta(np.arange(90), unit="h"),
    "numbers and texts": lambda: np.array([1, "1", 1.5] * 30, dtype=object),
    "bytes": lambda: np.array([b"x", b"y", b"z"] * 30, dtype=object),
    "identifiers": lambda: [f"id {i}" for i in range(90)],
    "huge numbers": lambda: BASE * 1e300,
}
LABELS: dict[str, Callable[[], Any]] = {
    "truth values": lambda: CLASSES > 0,
    "other letters": lambda: np.array(["ä", "ß", "漢"])[CLASSES],
    "bytes": lambda: np.array([b"a", b"b", b"c"])[CLASSES],
    "days": lambda: np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="M8[D]")[CLASSES],
    "small numbers": lambda: CLASSES.astype(np.uint8),
    "objects": lambda: np.array(["a", "b", "c"], dtype=object)[CLASSES],
}


def compacted() -> Case:
    case = texts(TextNB())
    case.model.compact()
    return case


def pruned() -> Case:
    case = texts(TextNB())
    case.model.prune(max_tokens=50)
    return case


def after_much(name: str) -> Case:
    """Learned and forgot rows of odd weights, and discounted."""
    case, weight = EXAMPLES[name](), [0.1, 0.7, 2.3, 1e-3]
    case.model.partial_fit(case.X[:4], case.y[:4], sample_weight=weight)
    case.model.forget(case.X[:4], case.y[:4], sample_weight=weight)
    case.model.discount(1e-3)
    return case


PASTS: dict[str, Callable[[], Case]] = {
    "compacted": compacted,
    "pruned": pruned,
    "one class": lambda: Case(
        GaussianNB(calibrate="isotonic").fit(np.ones((5, 1)), ["a"] * 5), np.ones((2, 1)), None, ()
    ),
    "no tokens": lambda: Case(TextNB().fit(["", None], ["a", "b"]), ["a"], None, ()),
    "noise": lambda: numbers(NaiveBayes(columns={(0, 1, 2): "multivariate_normal"})),
    **{name: lambda name=name: after_much(name) for name in ("gaussian platt", "table", "text refined", "text tfidf")},
}


def assert_unchanged(model: Any, rows: Any, folder: Path) -> None:
    for sample in (True, False):
        again = stored(model, folder / "model.candide", sample=sample)
        np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))


@pytest.mark.parametrize("name", list(COLUMNS))
def test_columns(name: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"odd": COLUMNS[name](), "even": BASE})
    assert_unchanged(NaiveBayes(order=0).fit(frame, CLASSES), frame, tmp_path)


@pytest.mark.parametrize("name", list(LABELS))
def test_labels(name: str, tmp_path: Path) -> None:
    assert_unchanged(GaussianNB(calibrate="platt").fit(BASE[:, None], LABELS[name]()), BASE[:, None], tmp_path)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "text refined" else name for name in PASTS]
)
def test_pasts(name: str, tmp_path: Path) -> None:
    case = PASTS[name]()
    assert_unchanged(case.model, case.X, tmp_path)
