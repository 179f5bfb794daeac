"""Spark: what fit, predict and score take and give, what they refuse, tasks that die, and the command line.

Most of it in one file, for one session serves it all; pytest-xdist mostly gives neighbours to one process.
"""

from __future__ import annotations

import datetime
import decimal
import json
import venv
from collections.abc import Iterator
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cli.terminal import MESSAGES, done, run
from data.type_matrix import CASES, outcome, read_tables, spark_rows
from export.scripts import ASKED, SETTINGS, fitted
from properties.compare import assert_alike
from properties.models import assert_same_model
from properties.tables import assert_predicts_alike, assert_same_table, mixed

import candide
from candide import CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, TextNB
from candide.exceptions import InputError, MissingPackage
from candide.sources import spark as engine

from .mortal import die_once, make_mortal

pytestmark = pytest.mark.spark

FRAME, LABELS = mixed(90)
TABLE = FRAME.assign(label=LABELS)
TEXTS = ["win cash now", "see you at noon", "free prize, win", "lunch at noon?"] * 6
KINDS = ["spam", "ham"] * 12


@pytest.fixture
def mark(tmp_path: Path) -> str:
    """A file that is there once somebody has died."""
    return str(tmp_path / "died")


def spread(spark: Any, frame: pd.DataFrame, n: int = 4) -> Any:
    """So many partitions, the rows in their order; a frame that is created has one."""
    whole = pa.Table.from_pandas(frame, preserve_index=False)
    bounds = np.linspace(0, len(frame), n + 1).astype(int)
    parts = [spark.createDataFrame(whole.slice(low, high - low)) for low, high in pairwise(bounds)]
    return reduce(lambda some, more: some.unionAll(more), parts)


# What is learned.


def test_a_table(spark: Any) -> None:
    table, whole = spread(spark, TABLE), NaiveBayes(n_threads=1).fit(TABLE, "label")
    model = NaiveBayes(n_threads=1).fit(table, "label")
    assert_same_table(model, whole)
    assert_predicts_alike(model, whole, FRAME)
    assert model.model_.row_counts == (90, 0, 4)
    assert model.score(table, "label") == pytest.approx(whole.score(TABLE, "label"))
    answer = model.predict_proba(table)
    assert answer.columns == [*TABLE, "p(u)", "p(v)", "p(w)"]
    np.testing.assert_allclose(
        np.array(answer.select("`p(u)`", "`p(v)`", "`p(w)`").collect()), whole.predict_proba(FRAME), atol=1e-7
    )


def test_rows_without_a_label(spark: Any) -> None:
    rows = TABLE.assign(label=[None if i % 9 == 4 else label for i, label in enumerate(TABLE["label"])])
    known = rows["label"].notna()
    with pytest.warns(UserWarning, match="skipped 10 rows without a label") as found:
        model = NaiveBayes(n_threads=1).fit(spread(spark, rows), "label")
    assert len([one for one in found if "without a label" in str(one.message)]) == 1
    assert_same_table(model, NaiveBayes(n_threads=1).fit(FRAME[known], rows["label"][known]))
    assert model.class_count_.sum() == 80
    with pytest.raises(InputError, match="unlabeled='error' does not allow"):
        NaiveBayes(n_threads=1, unlabeled="error").fit(spread(spark, rows), "label")


def test_partitions_of_one_class_each_and_empty_ones(spark: Any) -> None:
    rows = TABLE.sort_values(["label", "job"]).assign(weight=np.arange(90.0) // 30)
    whole = spread(spark, rows, 6)
    left = whole.rdd.filter(lambda row: row.label != "v")
    model = NaiveBayes(n_threads=1).fit(
        spark.createDataFrame(left, whole.schema, verifySchema=False), "label", "weight"
    )
    assert left.glom().map(len).collect().count(0) > 0
    rows = rows[rows["label"] != "v"]
    assert model.model_.row_counts == (len(rows), 0, 6)
    assert_same_table(model, NaiveBayes(n_threads=1).fit(rows[[*FRAME]], rows["label"], rows["weight"]))


@pytest.mark.parametrize("model", ["auto", "multinomial"])
def test_texts(spark: Any, model: str) -> None:
    letters = spread(spark, pd.DataFrame({"text": TEXTS, "label": KINDS}), 5)
    apart, whole = (
        TextNB(model, subsample=100_000).fit(letters, "label"),
        TextNB(model, subsample=100_000).fit(TEXTS, KINDS),
    )
    assert apart.vocabulary_.keys() == whole.vocabulary_.keys()
    assert_alike(apart.model_.classifier.state.sample, whole.model_.classifier.state.sample)
    np.testing.assert_allclose(apart.predict_proba(TEXTS), whole.predict_proba(TEXTS), atol=1e-7)
    answer = whole.predict(letters.select("text"))
    assert [row.prediction for row in answer.collect()] == whole.predict(TEXTS).tolist()


def test_columns_of_arrays(spark: Any) -> None:
    counts = np.random.default_rng(0).poisson(1 + (LABELS == "v")[:, None], (90, 3)).astype(float)
    frame = spark.createDataFrame([(row, label) for row, label in zip(counts.tolist(), LABELS.tolist(), strict=True)],
                                  "features array<double>, label string").repartition(3)  # fmt: skip
    for kind in (GaussianNB, MultinomialNB, CategoricalNB):
        assert_same_model(kind().fit(frame, "label"), kind().fit(counts, LABELS))
    model = GaussianNB().fit(frame, "label")
    answers = model.predict(frame.withColumnRenamed("label", "truth")).collect()
    assert [row.prediction for row in answers] == model.predict([row.features for row in answers]).tolist()
    assert model.score(frame, "label") == pytest.approx(model.score(counts, LABELS))


@pytest.mark.parametrize("length", [4, 2000])
def test_columns_of_vectors(spark: Any, length: int) -> None:
    """Dense and sparse vectors in one column, as VectorAssembler makes them."""
    counts = np.zeros((90, length))
    counts[:, :3] = np.random.default_rng(0).poisson(1 + (LABELS == "v")[:, None], (90, 3))
    from pyspark.ml.linalg import Vectors

    vectors = [Vectors.dense(row) if i % 3 else Vectors.sparse(length, np.flatnonzero(row), row[row > 0])
               for i, row in enumerate(counts)]  # fmt: skip
    frame = spark.createDataFrame(list(zip(vectors, LABELS.tolist(), strict=True)), ["features", "label"])
    model, whole = MultinomialNB().fit(frame.repartition(3), "label"), MultinomialNB().fit(counts, LABELS)
    assert_same_model(model, whole)
    answers = model.predict(frame)
    assert answers.schema["features"] == frame.schema["features"]
    rows = answers.collect()
    assert [row.prediction for row in rows] == whole.predict(counts).tolist()
    assert [row.features for row in rows] == vectors


def test_the_type_of_every_column(spark: Any) -> None:
    """Decimals, booleans, dates, times with and without a zone, whole numbers, and nulls in all of them."""
    rng = np.random.default_rng(0)
    day = datetime.date(2024, 1, 1)
    rows = [
        (decimal.Decimal(int(i)) / 4, bool(i % 3), day + datetime.timedelta(days=int(i)),
         datetime.datetime(2024, 1, 1, int(i % 24)), datetime.datetime(2024, 2, 1, int(i % 24)), int(i), "ab"[i % 2])
        for i in rng.integers(0, 60, 60)
    ]  # fmt: skip
    rows = [
        tuple(None if (i + j) % 7 == 0 and j < 6 else cell for j, cell in enumerate(row)) for i, row in enumerate(rows)
    ]
    schema = "price decimal(10,2), flag boolean, day date, at timestamp, clock timestamp_ntz, n int, label string"
    frame = spark.createDataFrame(rows, schema).repartition(3)
    local = frame.toArrow()
    model = NaiveBayes(n_threads=1, order=0).fit(frame, "label")
    assert_same_table(model, NaiveBayes(n_threads=1, order=0).fit(local.drop_columns("label"), local["label"]))
    assert model.model_.classifier.state.statistics.names == (
        "price", "flag", "day", "day.month", "day.weekday", "at", "at.month", "at.weekday", "at.hour", "clock",
        "clock.month", "clock.weekday", "clock.hour", "n",
    )  # fmt: skip
    answers = model.predict(frame)
    assert [field.dataType for field in answers.schema.fields[:7]] == [field.dataType for field in frame.schema.fields]
    assert answers.drop("prediction").collect() == frame.collect()


@pytest.mark.parametrize("labels", [["a", "b"], [3, 1], [True, False]], ids=["texts", "numbers", "booleans"])
def test_labels_of_any_type(spark: Any, labels: list[Any]) -> None:
    y = np.array(labels)[np.arange(90) % 2]
    model = GaussianNB().fit(spread(spark, FRAME[["visits"]].assign(label=y)), "label")
    answers = model.predict(spread(spark, FRAME[["visits"]]))
    assert model.classes_.tolist() == sorted(labels)
    assert [row.prediction for row in answers.collect()] == model.predict(FRAME[["visits"]]).tolist()


def test_further_rows_and_rows_forgotten(spark: Any) -> None:
    first, second = spread(spark, TABLE[:40], 2), spread(spark, TABLE[40:], 3)
    model = NaiveBayes(n_threads=1).partial_fit(first, "label").partial_fit(second, "label")
    assert_same_table(model, NaiveBayes(n_threads=1).fit(TABLE, "label"))
    assert model.model_.row_counts == (50, 0, 3)
    assert_same_table(model.forget(first, "label"), NaiveBayes(n_threads=1).fit(TABLE[40:], "label"))


def test_columns_that_the_first_rows_do_not_have(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether they are names or texts is told by other rows to all partitions alike."""
    monkeypatch.setattr("candide.model.train._HEAD", 40)
    rng = np.random.default_rng(0)
    note = [" ".join(rng.choice(TEXTS[:4], 3)) + f" {i}" for i in range(90)]
    table = TABLE.assign(note=np.where(np.arange(90) < 45, None, note))
    model = NaiveBayes(n_threads=1, order=0).fit(spread(spark, table, 5), "label")
    assert model.model_.classifier.state.statistics.kinds[-1] == "text"
    assert_same_table(model, NaiveBayes(n_threads=1, order=0).fit(table, "label"))


def test_of_numbers_few_first_rows_are_asked_for(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    first = engine.SparkSource._first
    monkeypatch.setattr(engine.SparkSource, "_first", lambda self, n, having: asked.append(n) or first(self, n, having))
    numbers = pd.DataFrame({"a": np.arange(90.0), "b": np.arange(90) % 7, "c": np.arange(90) % 2 == 0, "label": LABELS})
    assert_same_table(
        NaiveBayes(n_threads=1, order=0).fit(spread(spark, numbers), "label"),
        NaiveBayes(n_threads=1, order=0).fit(numbers, "label"),
    )
    NaiveBayes(n_threads=1, order=0).fit(spread(spark, numbers.assign(d="name")), "label")
    assert asked == [100, 10_000]


def test_sums_that_are_too_large_for_the_driver_meet_before(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_AT_ONCE", 0)
    monkeypatch.setattr(engine, "_FAN_IN", 3)
    model = NaiveBayes(n_threads=1).fit(spread(spark, TABLE, 7), "label")
    assert model.model_.row_counts == (90, 0, 7)
    assert_same_table(model, NaiveBayes(n_threads=1).fit(TABLE, "label"))
    assert not spark.sparkContext._jsc.getPersistentRDDs()


def test_rows_without_a_label_are_left_out(spark: Any) -> None:
    table = TABLE.assign(label=np.where(np.arange(90) % 10 < 3, None, LABELS))
    with pytest.warns(UserWarning, match="skipped 27 rows without a label"):
        model = NaiveBayes(n_threads=1, order=0).fit(spread(spark, table), "label")
    assert model.model_.row_counts == (90, 27, 4)
    assert_same_table(model, NaiveBayes(n_threads=1, order=0).fit(table[table["label"].notna()], "label"))


def test_frames_in_the_manner_of_pandas(spark: Any) -> None:
    pytest.importorskip("pyspark.pandas", reason="it cannot be imported with this pandas", exc_type=ImportError)
    table = spread(spark, TABLE).pandas_api()
    model = NaiveBayes(n_threads=1, order=0).fit(table, "label")
    assert_same_table(model, NaiveBayes(n_threads=1, order=0).fit(TABLE, "label"))
    answers = model.predict(table).to_pandas()
    assert answers["prediction"].tolist() == model.predict(FRAME).tolist()
    assert answers.index.tolist() == list(range(90))


def test_odd_names(spark: Any) -> None:
    table = TABLE.rename(columns={"age": "a.b", "visits": "c`d", "label": "the label"})
    frame = spread(spark, table)
    model = NaiveBayes(n_threads=1, order=0).fit(frame, "the label")
    answers = model.predict(frame).collect()
    assert [row.prediction for row in answers] == model.predict(table).tolist()


# What is refused.


def refused(match: str, X: Any, y: Any = "label", weight: Any = None, model: Any = None) -> None:
    model = model or NaiveBayes()
    with pytest.raises(InputError, match=match):
        model.fit(X, y, weight)
    assert not hasattr(model, "model_")


def test_what_is_refused(spark: Any) -> None:
    table = spread(spark, TABLE)
    refused(
        "y is 'lable', .* its columns are 'age', 'visits', 'job', 'member', 'label'; did you mean 'label'",
        table,
        "lable",
    )
    refused("y is None; with a Spark data frame, expected one of its column names: age, visits", table, None)
    refused("y is array.*; with a Spark data frame, expected", table, LABELS)
    refused("sample_weight is 'w', but X has no such column", table, "label", "w")
    refused(r"X is a Spark RDD; expected a data frame; convert an RDD with toDF\(\)", table.rdd)
    refused("TextNB needs a single text column, but the source has age, visits", table, model=TextNB())
    refused("no rows with a label and a positive weight", table.selectExpr("age", "cast(null AS string) AS label"))
    refused("no rows with a label and a positive weight", table.selectExpr("age", "label", "0 AS w"), "label", "w")


def test_errors_in_rows_tell_the_partition(spark: Any) -> None:
    table = TABLE.assign(age=np.where(np.arange(90) == 80, np.inf, 1.0))
    model = NaiveBayes(n_threads=1, order=0).fit(TABLE, "label")
    with pytest.raises(InputError, match=r"partition 3: .*infinity"):
        model.partial_fit(spread(spark, table), "label")
    assert model.class_count_.sum() == 90


def test_arrays_that_are_no_table(spark: Any) -> None:
    rows = [([1.0, 2.0], "a"), ([1.0], "b")]
    lists = spark.createDataFrame(rows, "features array<double>, label string")
    refused("column 'features' contains lists of lengths 1 and 2; expected lists", lists, model=GaussianNB())
    holes = spark.createDataFrame([*rows[:1], (None, "b")], "features array<double>, label string")
    refused("column 'features' contains a null", holes, model=GaussianNB())
    from pyspark.ml.linalg import Vectors

    vectors = spark.createDataFrame([(Vectors.dense(1.0, 2.0), "a"), (Vectors.sparse(3, [], []), "b")],
                                    ["features", "label"])  # fmt: skip
    refused("column 'features' contains vectors of lengths 2 and 3", vectors, model=GaussianNB())


# Workers.


@pytest.fixture
def bare_python(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The Python of the workers, which has no packages."""
    venv.create(tmp_path / "bare", with_pip=False)
    found = str(tmp_path / "bare" / "bin" / "python")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", found)
    monkeypatch.setattr(engine, "_checked", WeakSet())
    return found


def test_workers_without_candide(spark: Any, bare_python: str) -> None:
    """They are found before any task is started that could only fail, with one message and no stack trace."""
    model = GaussianNB().fit(FRAME[["visits"]], LABELS)
    table = spread(spark, TABLE[["visits", "label"]])
    calls = (GaussianNB().fit, lambda table, _: model.predict(table), model.score)
    for call in calls:
        with pytest.raises(MissingPackage) as found:
            call(table, "label")
        assert str(found.value) == (
            f"candide is not installed for Spark's Python workers ({bare_python}); install it on every worker, or ship "
            "an environment that includes it with spark.archives"
        )


def test_workers_with_another_version(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_checked", WeakSet())
    monkeypatch.setattr(candide, "__version__", "7.0")
    with pytest.raises(MissingPackage, match=r"have candide [\d.]+, but this process has 7\.0; install the same"):
        GaussianNB().fit(spread(spark, TABLE[["visits", "label"]]), "label")


# Tasks that die.


def test_a_task_that_dies_while_it_reads(spark: Any, mark: str) -> None:
    def killed(batches: Any) -> Iterator[Any]:
        for batch in batches:
            if "w" in batch.column("label").to_pylist():
                die_once(mark)
            yield batch

    table = spread(spark, TABLE)
    model = NaiveBayes(n_threads=1).fit(table.mapInArrow(killed, table.schema), "label")
    assert Path(mark).exists()
    assert model.model_.row_counts == (90, 0, 4)
    assert_same_table(model, NaiveBayes(n_threads=1).fit(TABLE, "label"))


def test_a_task_that_dies_when_it_has_counted(spark: Any, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make_mortal(monkeypatch, mark)
    numbers = TABLE[["visits", "label"]]
    model = GaussianNB(subsample=100_000).fit(spread(spark, numbers), "label")
    assert Path(mark).exists()
    whole = GaussianNB(subsample=100_000).fit(numbers[["visits"]], LABELS)
    assert model.model_.row_counts == (90, 0, 4)
    assert_same_model(model, whole)
    assert_alike(model.model_.classifier.state.sample, whole.model_.classifier.state.sample)


# The command line.


def test_train_from_files_of_a_cluster(spark: Any, tmp_path: Path) -> None:
    TABLE.iloc[:50].to_parquet(tmp_path / "a.parquet")
    TABLE.iloc[50:].to_parquet(tmp_path / "b.parquet")
    told = json.loads(done("train", f"spark:{tmp_path}/*.parquet", "-o", tmp_path / "m.candide", "--json").out)
    here = json.loads(
        done("train", tmp_path / "a.parquet", tmp_path / "b.parquet", "-o", tmp_path / "n.candide", "--json").out
    )
    for name in ("label", "columns", "rows", "classes", "kind"):
        assert told[name] == here[name]
    assert told["leave_one_out"]["log_loss"] == pytest.approx(here["leave_one_out"]["log_loss"], abs=1e-7)
    assert (tmp_path / "m.candide").stat().st_size > 0


def test_train_from_a_table_by_its_name(spark: Any, tmp_path: Path) -> None:
    spread(spark, pd.DataFrame({"text": TEXTS, "label": KINDS})).createOrReplaceTempView("letters")
    ran = done("train", "spark:letters", "-o", tmp_path / "m.candide")
    assert "model    TextNB()" in ran.err
    assert "2: spam (12), ham (12)" in ran.err or "2: ham (12), spam (12)" in ran.err


def test_train_from_csv_and_json(spark: Any, tmp_path: Path) -> None:
    """Cells of a CSV may hold line breaks."""
    told = json.loads(done("train", f"spark:{MESSAGES}", "-o", tmp_path / "m.candide", "--json").out)
    assert (told["rows"], told["rows_without_label"], len(told["classes"])) == (400, 0, 5)
    TABLE.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    wanted = ("--label", "label", "--columns", "age,job=categorical", "-o", tmp_path / "m.candide", "--json")
    told = json.loads(done("train", f"spark:{tmp_path / 'a.jsonl'}", *wanted).out)
    assert (told["rows"], told["columns"]) == (90, ["age", "job"])


def test_predict_on_a_cluster(spark: Any, tmp_path: Path) -> None:
    """To a file here and to files there: what is predicted for the same rows here."""
    TABLE.to_parquet(tmp_path / "a.parquet")
    done("train", tmp_path / "a.parquet", "-o", tmp_path / "m.candide", "-q")
    asked = ("predict", tmp_path / "m.candide")
    wanted = ("--proba", "--top", "2", "--explain")
    done(*asked, tmp_path / "a.parquet", "-o", tmp_path / "here.parquet", *wanted)
    done(*asked, f"spark:{tmp_path}/a.parquet", "-o", tmp_path / "b.parquet", *wanted)
    said = done(*asked, f"spark:{tmp_path}/a.parquet", "-o", f"spark:{tmp_path}/there", *wanted)
    assert "90 rows" in said.err
    here = pd.read_parquet(tmp_path / "here.parquet")
    for found in ("b.parquet", "there"):
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / found), here, check_exact=False, rtol=1e-9)
    only = done(*asked, f"spark:{tmp_path}/a.parquet", "--only").out
    assert only.splitlines()[0] == '"prediction","probability"'
    assert only == done(*asked, tmp_path / "a.parquet", "--only").out
    ran = run(*asked, f"spark:{tmp_path}/a.parquet", "-o", f"spark:{tmp_path}/there")
    assert "PATH_ALREADY_EXISTS" in ran.err


def test_train_says_what_is_wrong(spark: Any, tmp_path: Path) -> None:
    ran = run("train", "spark:no_such_table", "-o", tmp_path / "m.candide")
    assert ran.code == 3
    assert "Spark failed: [TABLE_OR_VIEW_NOT_FOUND]" in ran.err
    ran = run("train", f"spark:{tmp_path}/none.parquet")
    assert ran.code == 3
    assert "there is no file" in ran.err


def test_labels_of_text_files_are_texts(spark: Any, tmp_path: Path) -> None:
    TABLE.assign(label=np.where(LABELS == "v", "01", "02")).to_csv(tmp_path / "a.csv", index=False)
    done("train", f"spark:{tmp_path / 'a.csv'}", "-o", tmp_path / "m.candide", "-q")
    assert candide.load(tmp_path / "m.candide").classes_.tolist() == ["01", "02"]


def test_types_of_columns(spark: Any) -> None:
    """As docs/reference/column_types.md lists them."""
    page = read_tables((Path(__file__).parents[2] / "docs" / "reference" / "column_types.md").read_text())
    for name in CASES:
        assert outcome(name, partial(spark_rows, spark=spark)) == page["Spark"][name], name


# Queries.


def test_texts_in_many_scripts_by_a_query(spark: Any) -> None:
    rows = pd.DataFrame({"id": np.arange(len(ASKED)), "text": pd.Series(ASKED, dtype=object)})
    spark.createDataFrame(pa.Table.from_pandas(rows)).createOrReplaceTempView("rows")
    for settings in SETTINGS[1::3]:
        model = fitted(settings)
        found = pd.DataFrame(
            spark.sql(model.to_sql("spark")).collect(), columns=["id", "text", "prediction", *model.classes_]
        )
        scores = found.sort_values("id")[model.classes_].to_numpy()
        np.testing.assert_allclose(scores, model.predict_proba(ASKED), atol=1e-9)
