"""Errors that named the wrong cause: each says what was found, what is expected and what to do."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from cli.terminal import run

import candide
from candide import CategoricalNB, GaussianNB, NaiveBayes, TextNB, diagnostics
from candide.exceptions import InputError, ModelFileError, SourceError

FRAME = pd.DataFrame({"age": [25, 38, 28, 44, 18, 34], "job": ["a", "b", "a", "b", "a", "a"], "pay": [*"xyxyxx"]})


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    FRAME.to_csv(path, index=False)
    return path


@pytest.fixture
def model(people: Path) -> Path:
    path = people.with_suffix(".candide")
    NaiveBayes(order=0).fit(candide.read(people, label="pay")).save(path)
    return path


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_data_given_as_a_model(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"people.{ending}"
    path.write_text(FRAME.to_csv(index=False) if ending == "csv" else FRAME.to_json(orient="records", lines=True))
    told = run("classify", path, "hello").err
    assert "not a model" in told
    assert "begins with" in told
    assert "candide train" in told
    assert "damaged" not in told


def test_a_model_file_that_was_cut_is_still_damaged(model: Path) -> None:
    model.write_bytes(model.read_bytes()[:100])
    with pytest.raises(ModelFileError, match="damaged"):
        candide.load(model)


@pytest.mark.parametrize("label", [None, "pay"])
def test_a_header_alone(label: str | None, tmp_path: Path) -> None:
    path = tmp_path / "header.csv"
    path.write_text("age,job,pay\n")
    with pytest.raises(InputError, match=r"header.csv has the columns 'age', 'job', 'pay' but no rows; .* with rows"):
        NaiveBayes().fit(candide.read(path, label=label))
    told = run("train", path, *(["--label", label] if label else [])).err
    assert "has the columns 'age', 'job', 'pay' but no rows" in told


@pytest.mark.parametrize("command", ["update", "forget"])
def test_a_header_alone_for_a_model(command: str, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "header.csv"
    path.write_text("age,job,pay\n")
    told = run(command, model, path).err
    assert "the columns age, job, pay, but no rows" in told
    assert "has a label" not in told


@pytest.mark.parametrize("command", ["evaluate", "update", "forget"])
def test_a_misspelt_label_at_the_command_line(command: str, model: Path, people: Path) -> None:
    told = run(command, model, people, "--label", "pya").err
    assert "refers to 'pya', but the source has no such column; its columns are" in told
    assert "did you mean 'pay'?" in told
    assert "trained with" not in told  # it was not: that was 'pay'


def test_a_misspelt_label_in_python() -> None:
    with pytest.raises(InputError, match="did you mean 'pay'"):
        NaiveBayes().fit(FRAME, "pya")


def test_many_float_classes_are_remarked() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(720, 2)), np.tile(np.arange(72.0), 10)
    with pytest.warns(UserWarning, match="72 different floating-point numbers .* each becomes a class"):
        GaussianNB().fit(X, y)
    with pytest.warns(UserWarning, match="72 different floating-point numbers"):
        GaussianNB().fit(iter([(X[:100], y[:100]), (X[100:], y[100:])]))
    GaussianNB().fit(X, y.astype(int))  # integers are labels
    GaussianNB().fit(X, y % 3)


def test_many_float_classes_are_remarked_as_they_come() -> None:
    X, y = np.arange(144.0)[:, None], np.tile(np.arange(72.0), 2)
    with pytest.warns(UserWarning, match="y contains 72 different floating-point numbers"):
        model = GaussianNB().partial_fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X, y)
        few = GaussianNB().partial_fit(X[:40], y[:40])
    with pytest.warns(UserWarning, match="y contains 72 different floating-point numbers"):
        few.partial_fit(X, y)


def test_many_float_classes_are_remarked_at_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "ages.csv"
    path.write_text("x,age\n" + "".join(f"{i % 7},{float(i % 72)}\n" for i in range(720)))
    ran = run("train", path, "--label", "age", "--set", "order=0", "--set", "compute_loo=false")
    assert ran.code == 0, ran.err
    assert "72 different floating-point numbers" in ran.err


def test_fractions_are_no_labels_whatever_they_come_in() -> None:
    y = np.array([0.5, 1.5, 0.5], dtype=object)
    with pytest.raises(InputError, match=r"continuous. y contains 0.5 at row 0"):
        GaussianNB().fit([[1.0], [2.0], [3.0]], y)


def lazy(kind: str) -> Any:
    table = pa.table(FRAME)
    if kind == "relation":
        import duckdb

        return duckdb.connect().from_arrow(table)
    return ds.dataset(table) if kind == "dataset" else table.to_reader()


INSTEAD = {"dataset": r"X\.to_table\(\)", "reader": r"X\.read_all\(\)", "relation": r"candide\.fit_sql"}


@pytest.mark.parametrize("kind", INSTEAD)
def test_rows_that_are_not_in_memory(kind: str) -> None:
    model = NaiveBayes(order=0).fit(lazy(kind), "pay")
    with pytest.raises(InputError, match=rf"not in memory; pass .*{INSTEAD[kind]}") as told:
        model.explain(lazy(kind))
    assert "no names" not in str(told.value)


@pytest.mark.parametrize("kind", INSTEAD)
@pytest.mark.parametrize("estimator", [NaiveBayes(order=0), GaussianNB(), CategoricalNB()], ids=repr)
def test_predicting_rows_that_are_not_in_memory(estimator: Any, kind: str) -> None:
    estimator.fit(FRAME[["age"]], FRAME["pay"])
    assert estimator.predict(lazy(kind)).tolist() == estimator.predict(FRAME[["age"]]).tolist()
    with pytest.raises(InputError, match="not in memory"):
        estimator.predict_joint_log_proba(lazy(kind))


def test_predicting_a_source(people: Path, tmp_path: Path) -> None:
    table = NaiveBayes(order=0).fit(FRAME, "pay")
    np.testing.assert_array_equal(table.predict(candide.read(people)), table.predict(FRAME))
    np.testing.assert_array_equal(table.predict_proba(candide.read(people)), table.predict_proba(FRAME))
    numbers = GaussianNB().fit(candide.read(people, columns=["age"], label="pay"))
    np.testing.assert_array_equal(numbers.predict(candide.read(people)), numbers.predict(FRAME[["age"]]))
    mail = tmp_path / "mail.csv"
    mail.write_text("text,label\n" + "win a prize,spam\nsee you at noon,ham\n" * 5)
    texts = TextNB("multinomial").fit(candide.read(mail))
    assert texts.predict(candide.read(mail)).tolist() == ["spam", "ham"] * 5
    with pytest.raises(InputError, match=r"candide ArrowSource, which is not in memory; pass X\.to_table\(\)"):
        diagnostics.log_density(table, candide.read(people))


@pytest.mark.parametrize("verb", ["evaluate", "score"])
@pytest.mark.parametrize("estimator", [NaiveBayes(order=0), GaussianNB()], ids=repr)
def test_evaluating_a_source(estimator: Any, verb: str, tmp_path: Path) -> None:
    path, rows = tmp_path / "people.csv", FRAME[["age", "pay"]]
    rows.to_csv(path, index=False)
    model = estimator.fit(candide.read(path, label="pay"))
    found, expected = getattr(model, verb)(candide.read(path)), getattr(model, verb)(rows[["age"]], rows["pay"])
    assert str(found) == str(expected)
    for y in ("pay", rows["pay"]):
        with pytest.raises(InputError, match=r"cannot be passed with a source from candide.read.*omit them"):
            getattr(model, verb)(candide.read(path), y)


def test_weights_of_a_source_count_in_its_score(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    FRAME[["age", "pay"]].assign(w=[1, 2, 3, 4, 5, 6]).to_csv(path, index=False)
    source = candide.read(path, label="pay", weight="w", columns=["age"])
    model = GaussianNB().fit(source)
    FRAME[["age", "pay"]].assign(w=[1, 2, 3, 4, 5, 6], pay=[*"yyxyxx"]).to_csv(path, index=False)
    source = candide.read(path, label="pay", weight="w", columns=["age"])
    assert model.score(source) == pytest.approx(model.evaluate(source).accuracy) == pytest.approx(20 / 21)


def test_a_reader_given_as_texts() -> None:
    with pytest.raises(InputError, match="y is of type list, but X is a RecordBatchReader, whose rows are read"):
        TextNB().fit(pa.table({"text": ["a b", "c d"]}).to_reader(), ["x", "y"])
    with pytest.raises(InputError) as refused:
        TextNB().fit([pa.table({"text": ["a b"] * 1000}), "c d"], ["x", "y"])
    assert len(str(refused.value)) < 250
    assert "\n" not in str(refused.value)


@pytest.mark.dask
def test_a_dask_partition_without_a_column() -> None:
    import dask
    import dask.dataframe as dd

    parts = [dask.delayed(FRAME), dask.delayed(FRAME.drop(columns="job"))]
    frame = dd.from_delayed(parts, meta=FRAME, verify_meta=False)
    with dask.config.set(scheduler="sync"):
        with pytest.raises(InputError, match="partition 1 has no column 'job'; its columns are 'age', 'pay'"):
            NaiveBayes(order=0).fit(frame, "pay")
        with pytest.raises(InputError, match="partition 1 has no column 'job'"):
            NaiveBayes(order=0).fit(FRAME, "pay").score(frame, "pay")


@pytest.mark.slow  # a file of 40 MB
@pytest.mark.parametrize("before", [0, 500], ids=["first", "later"])
def test_a_huge_quoted_cell(before: int, tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    path.write_text("text,label\n" + '"see you",h\n' * before + f'"{"x" * (34 << 20)}",h\n"more",s\n')
    with pytest.raises(SourceError, match=rf"huge\.csv, line {before + 2}: a row of more than 16 MB"):
        candide.read(path, text="text", label="label").to_table()


@pytest.mark.slow  # a file of 40 MB
def test_a_huge_quoted_cell_of_many_lines(tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    path.write_text('text,label\n"see you",h\n"' + ("x" * 99 + "\n") * 400_000 + '",h\n"more",s\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SourceError, match=r"line 3: a row of more than 16 MB"):
            candide.read(path, text="text", label="label").to_table()


def test_a_quote_that_is_not_closed_is_still_told(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_text("text,label\n" + '"see you",h\n' * 500 + '"never closed,h\n' + '"see you",h\n' * 5)
    with pytest.raises(SourceError, match="line 502: a quote is not closed"):
        candide.read(path, text="text", label="label").to_table()
