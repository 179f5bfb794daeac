"""Labels and categories that differ by a NUL character at their end, which NumPy's arrays of texts take away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import candide

LABELS = ["a", "a\0", "a\0\0"]
Y = [LABELS[i % 3] for i in range(30)]
X = np.array([[i % 3, 3 - i % 3] for i in range(30)], dtype=float)
TEXTS = [["red sun", "blue sea", "green tree"][i % 3] + f" {i % 7}" for i in range(30)]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *(("GaussianNB", given) for given in (list, tuple, "object", "pandas", "polars", "pyarrow")),
        # One function reads the labels of all.
        *((name, "pandas") for name in ("MultinomialNB", "CategoricalNB", "NaiveBayes", "TextNB")),
    ],
)
def test_they_are_classes_of_their_own(name: str, given: Any, tmp_path: Path) -> None:
    labels = _labels(given)
    rows: Any = TEXTS if name == "TextNB" else X
    model = getattr(candide, name)(**{"order": 0} if name == "NaiveBayes" else {}).fit(rows, labels)
    assert model.classes_.tolist() == LABELS
    assert set(model.predict(rows).tolist()) <= set(LABELS)
    assert model.score(rows, Y) == np.mean([a == b for a, b in zip(model.predict(rows).tolist(), Y, strict=True)])
    model.save(tmp_path / "model.candide")
    assert candide.load(tmp_path / "model.candide").classes_.tolist() == LABELS
    assert candide.from_json(model.to_json()).classes_.tolist() == LABELS


def _labels(given: Any) -> Any:
    if given in (list, tuple):
        return given(Y)
    if given == "object":
        return np.array(Y, dtype=object)
    return getattr(pytest.importorskip(given), {"pandas": "Series", "polars": "Series", "pyarrow": "array"}[given])(Y)


def test_they_are_learned_further_merged_and_forgotten() -> None:
    model = candide.GaussianNB().partial_fit(X[:1], Y[:1]).partial_fit(X[1:], Y[1:])
    assert model.classes_.tolist() == LABELS
    other = candide.GaussianNB().fit(X[:1], Y[:1]).merge(candide.GaussianNB().fit(X[1:], Y[1:]))
    assert other.classes_.tolist() == LABELS
    assert other.class_count_.tolist() == [10.0, 10.0, 10.0]
    assert model.forget(X[1::3], Y[1::3]).classes_.tolist() == ["a", "a\0\0"]
    assert candide.GaussianNB().partial_fit(X[:3], Y[:3], classes=[*LABELS, "b"]).classes_.tolist() == [*LABELS, "b"]


@pytest.mark.parametrize("table", [lambda cells: {"c": cells}, lambda cells: [[cell] for cell in cells]])
def test_so_are_categories(table: Any, tmp_path: Path) -> None:
    cells, labels = Y, ["p" if cell == "a" else "q" for cell in Y]
    model = candide.NaiveBayes(stacking=None).fit(table(cells), labels)
    assert model.predict(table(LABELS)).tolist() == ["p", "q", "q"]
    model.save(tmp_path / "model.candide", sample=True)
    assert candide.load(tmp_path / "model.candide").predict(table(LABELS)).tolist() == ["p", "q", "q"]


def test_categories_of_the_categorical_model() -> None:
    rows, labels = [[cell] for cell in Y], ["p" if cell == "a" else "q" for cell in Y]
    model = candide.CategoricalNB(alpha=1e-6).fit(rows, labels)
    assert model.predict([[cell] for cell in LABELS]).tolist() == ["p", "q", "q"]


def test_files_keep_them(tmp_path: Path) -> None:
    lines = [json.dumps({"x": float(row[0]), "label": label}) for row, label in zip(X, Y, strict=True)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    model = candide.NaiveBayes().fit(candide.read(tmp_path / "rows.jsonl", label="label"))
    assert model.classes_.tolist() == LABELS
