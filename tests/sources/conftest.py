from __future__ import annotations

import pytest


@pytest.fixture
def short_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Infer types from the first 500 rows, so that a file with a different row after them can be small."""
    monkeypatch.setattr("candide.sources.csv_dialect._TYPE_ROWS", 500)
    monkeypatch.setattr("candide.sources.json_reader._TYPE_ROWS", 500)
