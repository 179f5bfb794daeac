from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from candide import NaiveBayes, TextNB

MESSAGES = Path(__file__).resolve().parents[2] / "examples" / "messages.csv"


# Rows of ``people``.
N_ROWS = 300


def table(n_rows: int, seed: int = 0) -> dict[str, Any]:
    """Columns of all kinds and all troubles, and a label that two of them tell."""
    rng = np.random.default_rng(seed)
    pay = rng.integers(0, 2, n_rows)
    age = rng.normal(35 + 15 * pay, 8).round(1)
    job = np.where(rng.random(n_rows) < 0.8, np.array(["cook", "smith"])[pay], "baker").astype(object)
    job[::17] = None
    return {
        "age": age,
        "job": job,
        "noise": rng.normal(size=n_rows),
        "children": rng.poisson(1 + pay),
        "key": np.array([f"row {i:05}" for i in range(n_rows)], dtype=object),
        "same": np.full(n_rows, 7),
        "nothing": np.full(n_rows, np.nan),
        "pay": np.array(["low", "high"])[pay],
    }


@pytest.fixture(scope="session")
def people() -> NaiveBayes:
    return NaiveBayes().fit(table(N_ROWS), y="pay")


@pytest.fixture(scope="session")
def messages() -> tuple[list[str], list[str]]:
    with MESSAGES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["label"] for row in rows]


@pytest.fixture(scope="session")
def mail(messages: tuple[list[str], list[str]]) -> TextNB:
    return TextNB().fit(*messages)
