"""Sources on a cluster: ``candide train dask:…``. (Spark's are with its other tests.)"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from tiers import every

import candide

from .terminal import MESSAGES, command, done, run


@pytest.mark.dask
def test_train_where_the_rows_are(tmp_path: Path) -> None:
    """As its own process, for it starts others."""
    rows = pd.read_csv(MESSAGES)
    rows.loc[3, "label"] = None
    rows[:150].to_parquet(tmp_path / "a.parquet")
    rows[150:].to_parquet(tmp_path / "b.parquet")
    asked = ("train", f"dask:{tmp_path}/*.parquet", "-o", tmp_path / "m.candide", "--json", "--threads", "2")
    ran = subprocess.run(command(*asked), capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "skipped 1 row without a label" in ran.stderr
    assert "TextNB()" in ran.stderr
    told = json.loads(ran.stdout)
    here = json.loads(
        done("train", tmp_path / "a.parquet", tmp_path / "b.parquet", "-o", tmp_path / "n.candide", "--json").out
    )
    for name in ("label", "text", "rows", "rows_without_label", "classes", "kind", "bad_rows"):
        assert told[name] == here[name]
    assert told["leave_one_out"]["log_loss"] == pytest.approx(here["leave_one_out"]["log_loss"], abs=1e-7)
    labels = [done("predict", tmp_path / name, MESSAGES, "--only").out for name in ("m.candide", "n.candide")]
    assert labels[0].count("\n") == labels[1].count("\n") == 401


@every(
    "options,message",
    [
        (("--sql", "SELECT 1"), "--sql does not apply to dask: sources"),
        (("--encoding", "cp1252"), "--encoding does not apply"),
        (("--on-bad-row", "skip"), "--on-bad-row does not apply"),
        (("inbox.csv",), "mix spark:, dask: and local files"),
    ],
)
def test_options_that_a_cluster_does_not_heed(options: tuple[str, ...], message: str) -> None:
    ran = run("train", f"dask:{MESSAGES}", *options)
    assert ran.code == 1
    assert message in ran.err


@pytest.mark.dask
def test_predictions_stay_on_a_cluster(tmp_path: Path) -> None:
    done("train", MESSAGES, "-o", tmp_path / "m.candide", "--model", "multinomial", "-q")
    ran = run("predict", tmp_path / "m.candide", f"dask:{MESSAGES}")
    assert ran.code == 1
    assert "predict does not support dask: sources" in ran.err
    ran = run("predict", tmp_path / "m.candide", MESSAGES, "-o", "spark:inbox")
    assert "--output is spark:inbox, but the source is not on Spark" in ran.err


@pytest.mark.dask
def test_other_commands_where_the_rows_are(tmp_path: Path) -> None:
    """evaluate, update and forget: what they give here."""
    model, here = tmp_path / "m.candide", tmp_path / "here.candide"
    rows = pd.read_csv(MESSAGES)
    rows[:300].to_parquet(tmp_path / "a.parquet")
    rows[300:].to_parquet(tmp_path / "b.parquet")
    for path in (model, here):
        done("train", tmp_path / "a.parquet", "-o", path, "--model", "multinomial", "-q")
    engine = f"dask:{tmp_path}/b.parquet"

    def dask(*arguments: object) -> str:
        asked = command(*arguments, "--threads", "1")
        ran = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    found = json.loads(dask("evaluate", model, engine, "--json"))
    expected = json.loads(done("evaluate", here, tmp_path / "b.parquet", "--json").out)
    assert found["log_loss"] == pytest.approx(expected["log_loss"], rel=1e-12)
    dask("update", model, engine)
    done("update", here, tmp_path / "b.parquet", "-q")
    assert candide.load(model).class_count_.tolist() == candide.load(here).class_count_.tolist()
    dask("forget", model, engine)
    assert candide.load(model).class_count_.sum() == 300


@pytest.mark.slow
def test_nothing_of_it_is_imported_for_other_sources(people: Path) -> None:
    code = (
        "import sys; from candide.cli.app import app\n"
        f"app(['train', {str(people)!r}, '--quiet'], standalone_mode=False)\n"
        "print({'dask', 'distributed', 'pyspark', 'candide.sources.dask'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
