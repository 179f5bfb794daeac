"""Tables on the command line: groups of rows, exports, widths and hints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tiers import every, late

import candide
from candide.exceptions import ParameterError
from candide.model import source
from candide.model.classifier import Classifier
from candide.sources import reader

from .terminal import done, run

onnxruntime = late("onnxruntime")


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five visits of each patient, which resemble each other."""
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("visits") / "visits.csv"
    ill = np.repeat(rng.random(40) < 0.5, 5)
    cells = np.repeat(rng.normal(size=(40, 2)), 5, axis=0) + 0.05 * rng.normal(size=(200, 2))
    lines = [
        f"{i // 5},{a:.3f},{b:.3f},{'yes' if own else 'no'}"
        for i, ((a, b), own) in enumerate(zip(cells, ill, strict=True))
    ]
    path.write_text("\n".join(["patient,a,b,ill", *lines]) + "\n")
    return path


def test_groups_leave_together(visits: Path, tmp_path: Path) -> None:
    model, options = tmp_path / "m.candide", ("--label", "ill", "--set", "stacking=null", "--json", "-o")
    alone = json.loads(done("train", visits, "--columns", "a,b", *options, model).out)
    together = json.loads(done("train", visits, "--groups", "patient", *options, model).out)
    assert (alone["groups"], together["groups"], together["columns"]) == (None, "patient", ["a", "b"])
    assert alone["leave_one_out"]["accuracy"] > together["leave_one_out"]["accuracy"] + 0.1
    assert together["leave_one_out"]["accuracy_error"] > 1.5 * alone["leave_one_out"]["accuracy_error"]
    # Later files may have the column or lack it.
    lines = visits.read_text().splitlines()
    (tmp_path / "without.csv").write_text("\n".join(line.split(",", 1)[1] for line in lines))
    answers = [done("predict", model, path, "--only").out for path in (visits, tmp_path / "without.csv")]
    assert answers[0] == answers[1]
    assert done("explain", model, '{"a": 1.0, "patient": 7}').code == 0
    own, rows = (json.loads(done("evaluate", model, path, "--json").out) for path in (visits, tmp_path / "without.csv"))
    assert (own["accuracy"], own["accuracy_error"] > rows["accuracy_error"]) == (rows["accuracy"], True)
    done("train", visits, "--columns", "a,b", *options, model)
    asked = json.loads(done("evaluate", model, visits, "--groups", "patient", "--json").out)
    assert asked["accuracy_error"] > json.loads(done("evaluate", model, visits, "--json").out)["accuracy_error"]


def test_models_are_compared_by_groups(visits: Path) -> None:
    alone, together = (
        json.loads(done("compare", visits, "--label", "ill", "--json", *more).out)["NaiveBayes(stacking=None)"]
        for more in (["--columns", "a,b"], ["--groups", "patient"])
    )
    assert alone["accuracy"] > together["accuracy"] + 0.1


def test_convert_to_sql(table_model: Path, tmp_path: Path) -> None:
    path = tmp_path / "score.sql"
    ran = done("convert", table_model, path, "--table", "people", "--keep", "name", "--json")
    query = path.read_text()
    assert json.loads(ran.out) == {"model": str(path), "bytes": len(query)}
    model = candide.load(table_model)
    assert query == f"{model.to_sql('duckdb', 'people', keep=['name']).rstrip()};\n"
    with duckdb.connect() as database:
        database.execute("CREATE TABLE people AS SELECT 'Ann' AS name, 41 AS age, 'smith' AS job")
        name, label, *shares = database.execute(query).fetchone() or ()
    expected = model.predict_proba({"age": [41], "job": ["smith"]})[0]
    assert (name, label) == ("Ann", model.classes_[expected.argmax()])
    np.testing.assert_allclose(shares, expected, atol=1e-12)
    done("convert", table_model, path, "--dialect", "postgres")
    assert path.read_text() == f"{model.to_sql('postgres').rstrip()};\n"


def test_convert_approximately(table_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Any, *, approximate: bool) -> Any:
        if not approximate:
            raise ParameterError("pass approximate=True to export the model without them, or fit it with refine=False")
        return self

    monkeypatch.setattr(Classifier, "for_export", refused)
    ran = run("convert", table_model, tmp_path / "score.sql")
    assert ran.code == 1
    assert "pass --approximate to export the model without them, or fit it with --no-refine" in ran.err
    done("convert", table_model, tmp_path / "score.sql", "--approximate")


@pytest.mark.onnx
def test_convert_to_onnx(table_model: Path, tmp_path: Path) -> None:
    done("convert", table_model, tmp_path / "people.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "people.onnx")
    cells = {"age": np.array([[41.0]]), "job": np.array([["smith"]], dtype=object)}
    expected = candide.load(table_model).predict_proba({"age": [41], "job": ["smith"]})
    np.testing.assert_allclose(session.run(["probabilities"], cells)[0], expected, atol=1e-5)


@every(
    "output, options, message",
    [
        ("x.txt", [], "expected a name that ends in .candide, .json, .sql, .onnx or .mjs"),
        ("x.json", ["--approximate"], "--approximate applies to .sql, .onnx and .mjs files"),
        ("x.mjs", ["--table", "people"], "--table applies to .sql files, but the output is"),
        ("x.sql", ["--dialect", "sqlite4"], "did you mean 'sqlite'"),
    ],
)
def test_what_convert_refuses(table_model: Path, tmp_path: Path, output: str, options: list[str], message: str) -> None:
    ran = run("convert", table_model, tmp_path / output, *options)
    assert ran.code == 1
    assert message in ran.err
    assert not (tmp_path / output).exists()


def test_refine_is_automatic(people: Path, tmp_path: Path) -> None:
    help_text = " ".join(re.sub("[│ ]+", " ", done("train", "--help").out).split())
    assert "--refine --no-refine" in help_text
    assert "By default, tables of 4,000 rows or more try it." in help_text
    for option, value in (([], "auto"), (["--refine"], True), (["--no-refine"], False)):
        done("train", people, "--label", "pay", "-q", "-o", tmp_path / "m.candide", *option)
        assert candide.load(tmp_path / "m.candide").refine == value


@every(
    "arguments, message",
    [
        (["--label", "ill", "--groups", "patent"], "--groups refers to 'patent', .* did you mean 'patient'"),
        (["--label", "ill", "--groups", "ill"], "--label 'ill' is also passed as --groups;"),
        (["--columns", "ill,patient,a,b"], r"choose the label column with --label '…'$"),
    ],
)
def test_hints_name_options_once(visits: Path, arguments: list[str], message: str) -> None:
    ran = run("train", visits, *arguments)
    assert ran.code == 1
    assert re.search(message, ran.err.strip()), ran.err


def test_output_in_pipes_is_narrow(table_model: Path, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    for arguments in (["show", table_model], ["explain", table_model, people, "--row", "3"]):
        lines = done(*arguments).out.splitlines()
        assert max(map(len, lines)) <= 100
        assert all(line == line.rstrip() for line in lines)


def test_train_tells_that_rows_are_not_kept(people: Path, tmp_path: Path) -> None:
    options = [people, "--label", "pay", "-o", tmp_path / "m.candide"]
    hint = "; --with-rows keeps them for exact forget and refit)"
    assert done("train", *options).err.endswith(f" MB, without training rows{hint}\n")
    for others in (["--with-rows"], ["--estimator", "GaussianNB", "--columns", "age"], ["--set", "subsample=0"]):
        assert hint not in done("train", *options, *others).err


def test_booleans_of_a_query_in_place_of_yes_and_no(tmp_path: Path) -> None:
    rows = "".join(f"{20 + i},{'yes' if i % 3 else 'no'},{'a' if i % 2 else 'b'}\n" for i in range(40))
    (tmp_path / "train.csv").write_text("age,vip,label\n" + rows)
    done("train", tmp_path / "train.csv", "--with-rows", "-q", "--set", "stacking=null")
    model, file = tmp_path / "train.candide", tmp_path / "train.csv"
    ran = run("forget", model, "--sql", f"FROM '{file}' WHERE age < 25")
    assert ran.code == 1
    assert "column 'vip' contains booleans at row 0, but 'no' and 'yes' in training; pass these; DuckDB" in ran.err
    assert ran.err.endswith("unless they are read by FROM read_csv('train.csv', all_varchar=true)\n")
    assert "--type" not in ran.err
    assert "read_csv('a.csv', all_varchar=1)" in done("forget", "--help").out
    query = f"FROM read_csv('{file}', all_varchar=1) WHERE age < '25'"
    assert done("forget", model, "--sql", query).err.startswith("forgot 5 rows")


def test_tables_list_the_largest_class_first(tmp_path: Path) -> None:
    rows = "".join(f"{i % 7},{'small' if i % 4 == 0 else 'tall'}\n" for i in range(80))
    (tmp_path / "rows.csv").write_text("x,label\n" + rows)
    shown = done("train", tmp_path / "rows.csv").err
    classes, confusion = shown.split("\nClasses\n")[1].split("\nConfusion matrix\n")
    assert [line.split()[0] for line in classes.splitlines()[2:4]] == ["tall", "small"]
    assert confusion.splitlines()[0].split()[-2:] == ["tall", "small"]
    assert confusion.splitlines()[2].split()[0] == "tall"
    assert confusion.splitlines()[2].split()[1] == "60"
    assert "calibration error (ECE)" in shown


def test_explain_tells_what_interactions_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(300, 2))
    rows = "".join(f"{a:.3f},{b:.3f},{'in' if a * a + b * b < 1.5 else 'out'}\n" for a, b in cells)
    (tmp_path / "rows.csv").write_text("a,b,label\n" + rows)
    note = ": an interaction of several columns that cannot be divided among them; train --set order=0"
    for options, has_note in (([], True), (["--set", "order=0"], False)):
        done("train", tmp_path / "rows.csv", "-q", *options)
        shown = " ".join(done("explain", tmp_path / "rows.candide", '{"a": 0.1, "b": 0.2}').out.split())
        assert ("random Fourier features" in shown, note in shown) == (has_note, has_note), shown


def test_predictions_of_many_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several are made at a time; they are those of the whole table, in its order, and categories are noted once."""
    rng = np.random.default_rng(0)
    rows = {"a": rng.normal(size=3000), "b": rng.choice(["x", "y", "z"], 3000)}
    model = candide.NaiveBayes().fit(rows, np.where(rows["a"] + (rows["b"] == "x") > 0.5, "high", "low"))
    model.save(tmp_path / "m.candide")
    rows["b"] = np.where(rng.random(3000) < 0.01, "new", rows["b"])
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    monkeypatch.setattr(reader, "BATCH_BYTES", 1 << 12)
    monkeypatch.setattr(reader, "_MIN_BYTES", 1 << 11)
    assert sum(1 for _ in candide.read(tmp_path / "rows.parquet")) > 10
    ran = done("predict", tmp_path / "m.candide", tmp_path / "rows.parquet", "-o", tmp_path / "out.parquet", "--proba")
    assert ran.err.count("contains 'new', which does not occur") == 1
    made, expected = pq.read_table(tmp_path / "out.parquet"), model.predict_proba(rows)
    np.testing.assert_array_equal(np.column_stack([made[f"p({label})"] for label in model.classes_]), expected)
    assert made["prediction"].to_pylist() == model.classes_[expected.argmax(axis=1)].tolist()
    np.testing.assert_array_equal(made["probability"], expected.max(axis=1))
    assert made.select(["a", "b"]).equals(pa.table(rows))
    monkeypatch.setattr(source, "BATCH_BYTES", 1 << 12)
    np.testing.assert_array_equal(model.predict_proba(candide.read(tmp_path / "rows.parquet")), expected)
