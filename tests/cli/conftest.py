from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .terminal import MESSAGES, done


@pytest.fixture(scope="session")
def _trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    done("train", MESSAGES, "-o", folder / "messages.candide", "--quiet")
    done("train", MESSAGES, "-o", folder / "with_rows.candide", "--with-rows", "--quiet")
    done("train", _write_people(folder), "--label", "pay", "--columns", "age=gaussian,job", "--quiet")
    return folder


@pytest.fixture
def model(_trained: Path, tmp_path: Path) -> Path:
    """A model of the messages, to be changed at will."""
    return Path(shutil.copy(_trained / "messages.candide", tmp_path))


@pytest.fixture
def with_rows(_trained: Path, tmp_path: Path) -> Path:
    """The same with its training rows."""
    return Path(shutil.copy(_trained / "with_rows.candide", tmp_path))


@pytest.fixture
def table_model(_trained: Path, tmp_path: Path) -> Path:
    """A model of ``people``."""
    return Path(shutil.copy(_trained / "people.candide", tmp_path))


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A table."""
    return _write_people(tmp_path)


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """The first 60 messages."""
    path = tmp_path / "few.csv"
    path.write_bytes(b"".join(MESSAGES.read_bytes().splitlines(keepends=True)[:61]))
    return path


def _write_people(folder: Path) -> Path:
    path = folder / "people.csv"
    rows = [f"{20 + i % 50},{'smith' if i % 3 else 'cook'},{'high' if i % 50 > 20 else 'low'}" for i in range(120)]
    path.write_text("age,job,pay\n" + "\n".join(rows) + "\n")
    return path
