"""Texts that mark missing cells are declared on the command line too, and stored with the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.terminal import done, run
from tiers import every

import candide
from candide import GaussianNB, NaiveBayes
from candide.exceptions import SourceError

LINES = [f"{i % 9 if i % 4 else '?'},{i % 7},{'ab'[i % 9 > 4]}" for i in range(90)]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["x,z,label", *LINES]) + "\n")
    return path


@pytest.fixture
def model(table: Path) -> Path:
    done("train", table, "--missing", "?", "--missing", "-", "--with-rows", "-q")
    return table.with_suffix(".candide")


def test_stored_with_the_model(model: Path, table: Path) -> None:
    fitted = candide.load(model)
    assert fitted.model_.schema.missing == ("?", "-")
    assert fitted.schema_["kind"].tolist()[:2] == ["number", "number"]
    explicit = candide.read(table, missing=["?"])
    assert fitted.predict_proba(candide.read(table)).tolist() == fitted.predict_proba(explicit).tolist()
    with pytest.raises(SourceError, match=r"column 'x' contains '\?'.*missing=\['\?'\] \(--missing '\?'\)"):
        fitted.predict(candide.read(table, missing=["-"]))
    assert candide.from_json(fitted.to_json()).model_.schema.missing == ("?", "-")


@every("estimator", [NaiveBayes(stacking=None), GaussianNB()])
def test_every_estimator(table: Path, estimator: NaiveBayes | GaussianNB) -> None:
    fitted = estimator.fit(candide.read(table, missing=["?"]))
    assert fitted.predict(candide.read(table)).shape == (90,)


@every("command", ["predict", "evaluate", "update", "forget", "explain", "report"])
def test_commands_read_like_training(model: Path, table: Path, command: str) -> None:
    sources = {"explain": (table, "--row", 1), "report": ("--data", table)}.get(command, (table,))
    done(command, model, *sources, "-q")
    assert "'?'" in run(command, model, *sources, "--missing", "-", "-q").err


def test_other_commands(table: Path) -> None:
    assert "first: '?' at row 0" in run("train", table, "--estimator", "GaussianNB", "-q").err
    done("train", table, "--estimator", "GaussianNB", "--missing", "?", "-q")
    assert done("compare", table, "--missing", "?", "-q", "--json").out.startswith("{")
    assert "--missing does not apply to dask: sources" in run("train", f"dask:{table}", "--missing", "?").err
