"""Tables that are not in memory: each kind is trained on, predicted and evaluated like a table in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from tiers import every

from candide import GaussianNB, NaiveBayes, TextNB
from candide.exceptions import InputError, SourceError
from candide.sources.lazy_tables import open_frame

N = 3_000
RANDOM = np.random.default_rng(3)
LABELS = RANDOM.choice(["high", "low"], N)
TABLE = pa.table(
    {
        "age": RANDOM.normal(40, 10, N) + 8 * (LABELS == "high"),
        "job": pa.array(RANDOM.choice(["cook", "smith"], N)).dictionary_encode(),
        "note": [None] * 200 + ["late"] * (N - 200),
        "pay": LABELS,
        "w": RANDOM.integers(1, 3, N),
    }
)
COLUMNS = ["age", "job", "note"]


class Stream:
    """A table of another package."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def _dataset(table: pa.Table, folder: Path) -> ds.Dataset:
    for i, part in enumerate(table.to_batches(1_000)):
        pq.write_table(pa.Table.from_batches([part]), folder / f"{i}.parquet")
    return ds.dataset(folder, format="parquet")


def _relation(table: pa.Table, folder: Path) -> Any:
    pq.write_table(table, folder / "rows.parquet")
    return duckdb.connect().read_parquet(str(folder / "rows.parquet"))


def _scan(table: pa.Table, folder: Path) -> pl.LazyFrame:
    pq.write_table(table, folder / "rows.parquet")
    return pl.scan_parquet(folder / "rows.parquet")


def _ibis(table: pa.Table, folder: Path) -> Any:
    pq.write_table(table, folder / "rows.parquet")
    return pytest.importorskip("ibis").duckdb.connect().read_parquet(str(folder / "rows.parquet"))


# Older versions of polars do not return the rows of a LazyFrame in batches.
HAS_BATCHES = hasattr(pl.LazyFrame, "collect_batches")
needs_batches = pytest.mark.skipif(not HAS_BATCHES, reason="this polars has no LazyFrame.collect_batches")
LAZY_FRAMES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "polars LazyFrame of a file": _scan,
    "polars LazyFrame of a frame": lambda table, _: pl.from_arrow(table).lazy(),
    "narwhals LazyFrame": lambda table, _: nw.from_native(pl.from_arrow(table).lazy()),
}
# How each kind of table is made.
KINDS: dict[str, Callable[[pa.Table, Path], Any]] = {
    **(LAZY_FRAMES if HAS_BATCHES else {}),
    "pyarrow Dataset": _dataset,
    "pyarrow InMemoryDataset": lambda table, _: ds.dataset(table),
    "pyarrow RecordBatchReader": lambda table, _: table.to_reader(500),
    "DuckDB relation": _relation,
    "__arrow_c_stream__": lambda table, _: Stream(table),
    "Ibis table": _ibis,
}
# Importing Ibis takes two seconds, and it calls functions of DuckDB by older names.
_IBIS = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*is deprecated, use:DeprecationWarning")]
EACH_KIND = pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=_IBIS if kind == "Ibis table" else []) for kind in KINDS]
)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[], Path]:
    made: list[Path] = []

    def new() -> Path:
        made.append(tmp_path / str(len(made)))
        made[-1].mkdir()
        return made[-1]

    return new


@EACH_KIND
def test_each_kind(kind: str, folder: Callable[[], Path]) -> None:
    """The three operations give what they give for the table in memory."""
    memory = NaiveBayes().fit(TABLE.select(COLUMNS), LABELS)
    lazy = NaiveBayes().fit(KINDS[kind](TABLE.drop_columns("w"), folder()), "pay")
    expected = memory.predict_proba(TABLE.select(COLUMNS))
    found = lazy.predict_proba(KINDS[kind](TABLE, folder()))
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert lazy.predict(KINDS[kind](TABLE.select(COLUMNS), folder())).tolist() == memory.predict(TABLE).tolist()
    report = lazy.evaluate(KINDS[kind](TABLE, folder()), "pay", "w")
    weighted = memory.evaluate(TABLE.select(COLUMNS), LABELS, TABLE["w"].to_numpy())
    assert report.log_loss == pytest.approx(weighted.log_loss)
    assert lazy.evaluate(KINDS[kind](TABLE, folder())).n_rows == N  # the label of training
    assert lazy.score(KINDS[kind](TABLE, folder()), "pay") == memory.score(TABLE.select(COLUMNS), LABELS)


@EACH_KIND
def test_weights_further_rows_and_rows_to_forget(kind: str, folder: Callable[[], Path]) -> None:
    first, second = TABLE.select(["age", "pay", "w"]).slice(0, 1_000), TABLE.select(["w", "pay", "age"]).slice(1_000)
    model = GaussianNB().fit(KINDS[kind](first, folder()), "pay", sample_weight="w")
    model.partial_fit(KINDS[kind](second, folder()), "pay", sample_weight="w")
    ages, weights = TABLE.select(["age"]), TABLE["w"].to_numpy()
    whole = GaussianNB().fit(ages, LABELS, weights)
    np.testing.assert_allclose(model.predict_proba(ages), whole.predict_proba(ages))
    model.forget(KINDS[kind](second, folder()), "pay", sample_weight="w")
    whole.fit(ages.slice(0, 1_000), LABELS[:1_000], weights[:1_000])
    np.testing.assert_allclose(model.predict_proba(ages), whole.predict_proba(ages))


@EACH_KIND
def test_texts(kind: str, folder: Callable[[], Path]) -> None:
    texts = pa.table({"text": ["win cash now", "see you at noon"] * 50, "label": ["spam", "ham"] * 50})
    model = TextNB("multinomial").fit(KINDS[kind](texts, folder()), "label")
    assert model.predict(KINDS[kind](texts.slice(0, 2), folder())).tolist() == ["spam", "ham"]


def test_tables_in_memory_are_not_streams() -> None:
    rows = TABLE.select(COLUMNS)
    for table in (rows, pl.from_arrow(rows), rows.to_pandas(), nw.from_native(pl.from_arrow(rows))):
        assert NaiveBayes(stacking=None).fit(table, LABELS).n_features_in_ == 3
    texts = pa.chunked_array([["win cash", "see you"]])
    assert TextNB("multinomial").fit(texts, ["spam", "ham"]).predict(pl.Series(["cash"])).tolist() == ["spam"]


@needs_batches
def test_the_label_is_inferred_as_in_files() -> None:
    frame = pl.LazyFrame({"age": [31.0, 58.0, 33.0], "label": ["a", "b", "a"]})
    assert GaussianNB().fit(frame).predict(frame).tolist() == ["a", "b", "a"]
    with pytest.raises(InputError, match="the label column cannot be detected"):
        GaussianNB().fit(frame.rename({"label": "price"}).with_columns(price=pl.col("age") * 1.5))


@every(
    "arguments, message",
    [
        ({"y": ["a", "b"]}, "y is of type list, but X is a LazyFrame, whose rows are read in batches; pass the name"),
        ({"y": "pay", "sample_weight": np.ones(2)}, "sample_weight is of type ndarray, but X is a LazyFrame"),
        ({"y": "pya"}, "did you mean 'pay'"),
        ({"y": "pay", "groups": [1, 2]}, "groups is of type list, but X is a LazyFrame, .* as in groups='customer_id'"),
    ],
)
@needs_batches
def test_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GaussianNB().fit(pl.LazyFrame({"age": [31.0, 58.0], "pay": ["a", "b"]}), **arguments)


def test_a_stream_is_read_once() -> None:
    source = open_frame(TABLE.to_reader(), "pay")
    assert GaussianNB().fit(TABLE.select(["age", "pay"]).to_reader(), "pay").class_count_.sum() == N
    assert sum(chunk.X.num_rows for chunk in source.batches(1 << 20)) == N
    with pytest.raises(SourceError, match="RecordBatchReader is a stream that has already been read; pass a new one"):
        list(source.batches(1 << 20))


def test_few_batches_are_in_memory(tmp_path: Path) -> None:
    """Batches that were read stay in memory only while first rows are looked at."""
    made, alive, most = 0, set(), 0

    def batches() -> Any:
        nonlocal made, most
        for i in range(200):
            cells = np.full(10_000, float(i))
            alive.add(i)
            buffer = pa.py_buffer(cells)
            made += 1
            most = max(most, pa.total_allocated_bytes())
            labels = pa.array(["a", "b"] * 5_000)
            yield pa.RecordBatch.from_arrays([pa.Array.from_buffers(pa.float64(), 10_000, [None, buffer]), labels],
                                             names=["x", "label"])  # fmt: skip

    schema = pa.schema({"x": pa.float64(), "label": pa.string()})
    before = pa.total_allocated_bytes()
    model = GaussianNB().fit(pa.RecordBatchReader.from_batches(schema, batches()), "label")
    assert (made, model.class_count_.sum()) == (200, 2_000_000)
    assert most - before < 100 << 20


def test_a_relation_leaves_its_connection_free(tmp_path: Path) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT i AS age, i % 2 AS price FROM range(100) r(i)")
    relation = connection.table("people")
    with pytest.raises(InputError) as refused:
        GaussianNB().fit(relation, "age ")
    assert connection.execute("SELECT count(*) FROM people").fetchall() == [(100,)]
    assert "did you mean 'age'" in str(refused.value)
    model = GaussianNB().fit(relation, "price")
    assert connection.execute("SELECT count(*) FROM people").fetchall() == [(100,)]
    assert len(model.predict(relation)) == 100


@needs_batches
def test_a_query_is_computed_once(tmp_path: Path) -> None:
    """Where all columns are read, the pass goes on after the first rows."""
    calls = 0

    def counted(frame: pl.DataFrame) -> pl.DataFrame:
        nonlocal calls
        calls += 1
        return frame

    frame = pl.LazyFrame({"age": np.arange(100.0), "label": ["a", "b"] * 50})
    lazy = frame.map_batches(counted, schema={"age": pl.Float64, "label": pl.String})
    GaussianNB().fit(lazy, "label")
    assert calls == 1


def test_documented_kinds() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/files.md").read_text(encoding="utf-8")
    for word in ("LazyFrame", "Dataset", "RecordBatchReader", "relation", "Ibis", "__arrow_c_stream__"):
        assert word in page
