"""Rows without a label: the same in memory, in chunks, from files, databases and clusters, for every estimator."""

from __future__ import annotations

import datetime
import sqlite3
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from cli.terminal import run
from tiers import late

import candide
from candide import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    TextNB,
    diagnostics,
)
from candide.exceptions import InputError, ParameterError

duckdb = late("duckdb")
pl = late("polars")

RNG = np.random.default_rng(8)
N = 40
X = RNG.integers(0, 4, (N, 3))
Y = np.where(RNG.random(N) < 0.5, "a", "b").astype(object)
KEPT = np.arange(N) % 4 != 1
HOLED = np.where(KEPT, Y, None)
TEXTS = [f"{'win cash' if label == 'a' else 'see you'} {i % 5}" for i, label in enumerate(Y)]
FRAME = pd.DataFrame(X, columns=["u", "v", "w"]).assign(label=HOLED)
WARNED = "skipped 10 rows without a label"
ESTIMATORS = [BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes, PoissonNB]


def once(fit: Any) -> Any:
    """What it gives, with one warning that counts the rows."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model = fit()
    assert [str(one.message) for one in found] == [WARNED]
    return model


def expected(estimator: Any) -> Any:
    return estimator().fit(X[KEPT], Y[KEPT])


def rows(estimator: Any) -> Any:
    return TEXTS if estimator is TextNB else X


@pytest.mark.parametrize("estimator", [*ESTIMATORS, TextNB])
def test_in_memory_and_in_chunks(estimator: Any) -> None:
    data = rows(estimator)
    kept = [row for row, keep in zip(TEXTS, KEPT, strict=True) if keep] if estimator is TextNB else X[KEPT]
    weight = np.linspace(0.5, 2.0, N)
    whole = estimator().fit(kept, Y[KEPT], sample_weight=weight[KEPT])
    found = once(lambda: estimator().fit(data, HOLED, sample_weight=weight))
    np.testing.assert_array_equal(found.class_count_, whole.class_count_)
    np.testing.assert_allclose(found.predict_proba(data), whole.predict_proba(data), rtol=1e-9)
    pieces = [(data[at : at + 10], HOLED[at : at + 10], weight[at : at + 10]) for at in range(0, N, 10)]
    nothing = (data[:0] + data[1:2] if estimator is TextNB else data[1:2], HOLED[1:2], weight[1:2])
    with pytest.warns(UserWarning, match="skipped 11 rows without a label") as told:
        chunked = estimator().fit(iter([nothing, *pieces]))
    assert len(told) == 1
    np.testing.assert_allclose(chunked.class_count_, whole.class_count_)
    once(lambda: estimator().partial_fit(data, HOLED))


@pytest.mark.parametrize("estimator", [*ESTIMATORS, TextNB])
def test_where_every_row_needs_a_label(estimator: Any) -> None:
    data, strict = rows(estimator), estimator(unlabeled="error")
    for call in (
        lambda: strict.fit(data, HOLED),
        lambda: strict.partial_fit(data, HOLED),
        lambda: strict.fit(iter([(data, HOLED)])),
    ):
        with pytest.raises(InputError, match=r"10 rows have no label \(first at row 1\).*unlabeled='drop'"):
            call()
    with pytest.raises(InputError, match="rows has a label"):
        estimator().fit(data, [None] * N)
    with pytest.raises(ParameterError, match="unlabeled is 'ignore'"):
        estimator(unlabeled="ignore").fit(data, Y)


CONTAINERS: dict[str, Any] = {
    "lists": lambda: (X.tolist(), HOLED.tolist()),
    "NaN among texts": lambda: (X, [label or float("nan") for label in HOLED]),
    "pandas": lambda: (FRAME[["u", "v", "w"]], FRAME["label"]),
    "pandas, another index": lambda: (FRAME[["u", "v", "w"]].set_axis(range(100, 100 + N)), FRAME["label"]),
    "polars": lambda: (pl.DataFrame(X, schema=["u", "v", "w"]), pl.Series(HOLED.tolist())),
    "pyarrow": lambda: (pa.table({name: X[:, j] for j, name in enumerate("uvw")}), pa.array(HOLED.tolist())),
    "sparse": lambda: (sp.csr_array(X), HOLED),
    "a column of labels": lambda: (X, HOLED[:, None]),
}


@pytest.mark.filterwarnings("ignore:A column-vector")
@pytest.mark.parametrize("kind", CONTAINERS)
def test_containers(kind: str) -> None:
    data, labels = CONTAINERS[kind]()
    with pytest.warns(UserWarning, match=WARNED):
        model = MultinomialNB().fit(data, labels)
    np.testing.assert_array_equal(model.feature_count_, expected(MultinomialNB).feature_count_)


def test_a_table_with_the_labels_in_it() -> None:
    model = once(lambda: NaiveBayes(order=0).fit(FRAME, "label"))
    whole = NaiveBayes(order=0).fit(FRAME[KEPT], "label")
    np.testing.assert_allclose(model.predict_proba(FRAME), whole.predict_proba(FRAME), rtol=1e-9)
    dict_of_columns = {name: FRAME[name].tolist() for name in FRAME}
    assert once(lambda: NaiveBayes(order=0).fit(dict_of_columns, "label")).class_count_.sum() == 30


def test_labels_keep_their_type() -> None:
    numbers = [None if label is None else int(label == "a") for label in HOLED]
    for labels in (pl.Series(numbers), pa.array(numbers), pd.Series(numbers, dtype="Int64")):
        assert once(lambda labels=labels: GaussianNB().fit(X, labels)).classes_.tolist() == [0, 1]
    days = np.array([None if label is None else datetime.date(2024, 1, 1 + (label == "a")) for label in HOLED])
    assert len(once(lambda: GaussianNB().fit(X, days.astype("datetime64[D]"))).classes_) == 2


def test_infinite_labels_are_no_missing_ones() -> None:
    with pytest.raises(InputError, match="contains infinity"):
        GaussianNB().fit(X, np.where(KEPT, 1.0, np.inf))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        FRAME.to_csv(path, index=False)
    else:
        numbers = [np.nan if label is None else float(label == "a") for label in HOLED]
        pq.write_table(pa.table({**{n: X[:, j] for j, n in enumerate("uvw")}, "label": pa.array(numbers)}), path)
    source = candide.read(path, label="label")
    model = once(lambda: MultinomialNB().fit(source))
    np.testing.assert_array_equal(model.class_count_.sum(), 30)
    once(lambda: model.evaluate(source))
    with pytest.raises(InputError, match=r"10 rows have no label.*unlabeled='drop'"):
        MultinomialNB(unlabeled="error").fit(source)


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_databases(kind: str) -> None:
    connection: Any = duckdb.connect() if kind == "duckdb" else sqlite3.connect(":memory:")
    numbers = [None if label is None else float(label == "a") for label in HOLED]
    if kind == "duckdb":
        numbers[1] = float("nan")  # no class either
    connection.execute("CREATE TABLE t (u INT, v INT, w INT, label DOUBLE)")
    connection.executemany(
        "INSERT INTO t VALUES (?, ?, ?, ?)", [[*map(int, x), y] for x, y in zip(X, numbers, strict=True)]
    )
    model = once(lambda: candide.fit_sql(MultinomialNB(), connection, "t", label="label"))
    assert model.classes_.tolist() == [0.0, 1.0]
    np.testing.assert_array_equal(model.class_count_[::-1], expected(MultinomialNB).class_count_)
    with pytest.raises(InputError, match=r"10 rows have no label.*unlabeled='drop'"):
        candide.fit_sql(MultinomialNB(unlabeled="error"), connection, "t", label="label")


@pytest.mark.dask
def test_dask() -> None:
    import dask
    import dask.dataframe as dd

    with dask.config.set(scheduler="sync"):
        frame = dd.from_pandas(FRAME, npartitions=3)
        model = once(lambda: MultinomialNB().fit(frame, "label"))
        np.testing.assert_array_equal(model.class_count_, expected(MultinomialNB).class_count_)
        with pytest.raises(InputError, match=r"partition \d: .*rows have no label.*unlabeled='drop'"):
            MultinomialNB(unlabeled="error").fit(frame, "label")


def test_evaluation() -> None:
    model = expected(GaussianNB)
    for call in (model.score, partial(diagnostics.log_likelihood, model)):
        assert once(lambda call=call: call(X, HOLED)) == call(X[KEPT], Y[KEPT])
    assert once(lambda: model.evaluate(X, HOLED)).n_rows == 30
    assert once(lambda: model.evaluate(iter([(X[:20], HOLED[:20]), (X[20:], HOLED[20:])]))).n_rows == 30
    with pytest.raises(InputError, match="row 1 has no label"):  # one score for each row
        model.leave_one_out(X, HOLED)
    before = model.class_count_.sum()
    once(lambda: model.partial_fit(X, HOLED))
    assert model.class_count_.sum() == before + 30


def test_texts_are_learned_from_only_where_asked(tmp_path: Path) -> None:
    model = once(lambda: TextNB("multinomial").fit(TEXTS, HOLED))
    assert not hasattr(model, "unlabeled_")
    learned = TextNB("multinomial", unlabeled="em").fit(TEXTS, HOLED)
    assert learned.unlabeled_.n_texts == 10
    path = tmp_path / "texts.csv"
    pd.DataFrame({"text": TEXTS, "label": HOLED}).to_csv(path, index=False)
    for call in (
        lambda: TextNB(unlabeled="em").fit(candide.read(path)),
        lambda: TextNB(unlabeled="sfe").fit(iter([(TEXTS, HOLED)])),
        lambda: TextNB(unlabeled="em").partial_fit(TEXTS, HOLED),
    ):
        with pytest.raises(InputError, match=r"10 texts have no label.*only in fit, with all texts in memory"):
            call()


@pytest.mark.parametrize("command", ["train", "compare", "evaluate", "update"])
def test_the_command_line(command: str, tmp_path: Path) -> None:
    path, model = tmp_path / "rows.csv", tmp_path / "rows.candide"
    FRAME.to_csv(path, index=False)
    expected(GaussianNB)
    NaiveBayes(order=0).fit(candide.read(_complete(tmp_path), label="label")).save(model)
    plain = ["--set", "order=0"] if command == "train" else []
    ran = run(command, *([] if command in ("train", "compare") else [model]), path, "--label", "label", *plain)
    assert ran.code == 0, ran.err
    assert ran.err.count("skipped 10 rows without a label") == 1
    if command == "train":
        told = run("train", path, "--label", "label", "--set", "unlabeled=error", "-o", tmp_path / "m.candide")
        assert told.code == 1
        assert "10 rows have no label" in told.err
        assert "--set unlabeled=drop" in told.err


def _complete(folder: Path) -> Path:
    path = folder / "complete.csv"
    FRAME.assign(label=Y).to_csv(path, index=False)
    return path


def test_model_files_of_the_first_version() -> None:
    """They call the setting otherwise."""
    stored = Path(__file__).parents[1] / "storage" / "v1" / "text.candide"
    assert candide.load(stored).unlabeled == "em"
