"""``candide report`` and ``candide train --report``."""

from __future__ import annotations

import json
from pathlib import Path

from report.reading import check

import candide

from .terminal import INBOX, MESSAGES, done, run


def test_beside_the_model(model: Path) -> None:
    ran = done("report", model)
    assert ran.out == ""
    assert "messages.html" in ran.err
    assert "train with --with-rows" in ran.err
    page = check(model.with_suffix(".html").read_text(encoding="utf-8"))
    assert page.all("h1")[0].text == "messages"
    assert f"{100 * candide.load(model).loo_.accuracy:.1f}%" in page.text


def test_with_rows(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    told = json.loads(done("report", model, "--data", MESSAGES, "-o", path, "--title", "A shop", "--json", "-q").out)
    measured = json.loads(done("evaluate", model, MESSAGES, "--json", "-q").out)
    assert (told["page"], told["title"]) == (str(path), "A shop")
    assert told["data"] == measured
    assert told["leave_one_out"]["accuracy"] == candide.load(model).loo_.accuracy
    page = check(path.read_text(encoding="utf-8"))
    assert "A shop" in page.text
    assert MESSAGES.name in page.text
    assert all(one["row"] is not None for one in told["examples"])


def test_with_training_rows(with_rows: Path) -> None:
    told = json.loads(done("report", with_rows, "--json", "-q").out)
    assert told["examples"]
    assert all(one["of_training"] for one in told["examples"])


def test_after_training(people: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    told = json.loads(done("train", people, "--label", "pay", "--report", path, "--json", "-q").out)
    assert told["report"] == str(path)
    page = check(path.read_text(encoding="utf-8"))
    assert "120 rows in" in page.text
    assert [one for one in page.all("article") if one.attributes["class"] == "example"]
    assert not candide.load(people.with_suffix(".candide")).model_.has_training_rows


def test_mistakes(model: Path, tmp_path: Path) -> None:
    before = model.read_bytes()
    ran = run("report", model, "-o", model)
    assert (ran.code, model.read_bytes()) == (1, before)
    assert "would be overwritten" in ran.err
    assert run("report", model, "-o", tmp_path / "nowhere" / "page.html").code == 3
    assert run("report", tmp_path / "no.candide").code == 3
    unlabeled = run("report", model, "--data", INBOX, "-o", tmp_path / "page.html")
    assert unlabeled.code == 1
    assert "column" in unlabeled.err
    assert not (tmp_path / "page.html").exists()
    assert run("train", MESSAGES, "-o", tmp_path / "m.candide", "--report", MESSAGES).code == 1
