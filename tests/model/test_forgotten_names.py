"""Names of categories leave the model, and its file, with the last row that has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import candide
from candide import NaiveBayes


def people(n_rows: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    return {
        "name": np.array([f"person {i // 3:03}" for i in range(n_rows)], dtype=object),
        "age": rng.normal(40 + 8 * y, 9),
        "town": np.array(["Oslo", "Rome", "Bern"], dtype=object)[(y + rng.integers(0, 2, n_rows)) % 3],
        "y": np.array(["no", "yes"])[y],
    }


@pytest.mark.parametrize("with_rows", [False, True])
def test_a_forgotten_name_is_in_no_part_of_the_file(tmp_path: Path, with_rows: bool) -> None:
    rows, path = people(), tmp_path / "people.candide"
    NaiveBayes().fit(rows, y="y").save(path, sample=with_rows)
    assert b"person 007" in path.read_bytes()
    model = candide.load(path).forget({name: cells[21:24] for name, cells in rows.items()}, y="y")
    (model.refit() if with_rows else model).save(path)
    assert b"person 007" not in path.read_bytes()
    assert b"person 008" in path.read_bytes()
    again = candide.load(path)
    some = {name: cells[18:30] for name, cells in rows.items() if name != "y"}
    np.testing.assert_array_equal(again.predict_proba(some), model.predict_proba(some))


def test_a_forgotten_name_is_unseen_and_may_come_back(tmp_path: Path) -> None:
    rows, path = people(), tmp_path / "people.candide"
    NaiveBayes().fit(rows, y="y").save(path)
    some = {name: cells[21:24] for name, cells in rows.items()}
    model = candide.load(path).forget(some, y="y")
    one = {name: cells[21:22] for name, cells in rows.items() if name != "y"}
    other = one | {"name": np.array(["nobody"], dtype=object)}
    np.testing.assert_allclose(model.predict_proba(one), model.predict_proba(other))
    back = model.partial_fit(some, y="y")
    assert back.class_count_.sum() == 300
    assert np.isfinite(back.predict_proba(one)).all()
    assert "person 007" in back.to_sql("duckdb", "people")
