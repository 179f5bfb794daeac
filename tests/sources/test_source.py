"""Several files as one source; passes, beginnings, and what is collected on the way."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import candide
from candide import NaiveBayes
from candide.exceptions import InputError, ParameterError, SourceError
from candide.sources.reader import BATCH_BYTES, MAX_ROWS, rebatch
from candide.sources.source import prefetch

from .files import json_lines, write


def numbered(n: int, start: int = 0) -> str:
    return "n,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(start, start + n))


def test_files_are_read_in_their_order(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, numbered(1000, 1000 * i)) for i, name in enumerate(["b.csv", "a.csv"])]
    source = candide.read(*paths)
    assert source.to_table()["n"].to_pylist() == list(range(2000))
    assert source.n_bytes == sum(path.stat().st_size for path in paths) == source.bytes_read


def test_columns_in_another_order_and_format(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "n,label\n1,ham\n")
    write(tmp_path / "b.jsonl", json_lines({"label": "spam", "n": 2}))
    pq.write_table(pa.table({"label": ["ham"], "n": [3.5]}), tmp_path / "c.parquet")
    table = candide.read(*[tmp_path / name for name in ("a.csv", "b.jsonl", "c.parquet")]).to_table()
    assert table.to_pydict() == {"n": [1.0, 2.0, 3.5], "label": ["ham", "spam", "ham"]}


def test_other_columns_are_refused(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a.csv", "n,label\n1,x\n"), write(tmp_path / "b.csv", "n,lable,more\n1,x,y\n")
    with pytest.raises(
        SourceError,
        match=r"b\.csv is missing columns 'label' and has additional columns 'lable', 'more', compared with .*a\.csv",
    ):
        candide.read(one, two)


def test_types_that_hold_all_files(tmp_path: Path) -> None:
    """Leading zeros stay: a column that is text in one file is read as text in all."""
    one, two = write(tmp_path / "a.csv", "code,x\n007,1\n"), write(tmp_path / "b.csv", "code,x\nA12,1.5\n")
    assert candide.read(one, two).to_table().to_pydict() == {"code": ["007", "A12"], "x": [1.0, 1.5]}


def test_many_files_are_looked_at_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("candide.sources.source._MAX_CHECKED", 2)
    for i in range(4):
        write(tmp_path / f"{i}.csv", numbered(1, i))
    assert candide.read(str(tmp_path / "*.csv")).to_table()["n"].to_pylist() == [0, 1, 2, 3]
    write(tmp_path / "9.csv", "m,label\n1,x\n")
    with pytest.raises(SourceError, match=r"9\.csv is missing columns 'n' and has additional columns 'm'"):
        candide.read(str(tmp_path / "*.csv")).to_table()


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_skip(tmp_path: Path, format: str) -> None:
    lines = {"csv": numbered(1000), "jsonl": json_lines(*({"n": i} for i in range(1000)))}
    path = write(tmp_path / f"a.{format}", lines[format])
    source = candide.read(path, path)
    for skip in (0, 1, 999, 1000, 1500, 2000, 3000):
        found = [n for batch in source.to_batches(skip) for n in batch["n"].to_pylist()]
        assert found == (list(range(1000)) * 2)[skip:], skip


def test_order_of_a_large_file(tmp_path: Path) -> None:
    n = 140_000
    assert n > MAX_ROWS
    path = write(tmp_path / "a.csv", "n,text\n" + "".join(f'{i},"some words, {i}"\n' for i in range(n)))
    batches = list(candide.read(path))
    assert len(batches) > 1
    assert [i for batch in batches for i in batch["n"].to_pylist()] == list(range(n))
    assert max(batch.nbytes for batch in batches) < 20_000_000


@pytest.mark.parametrize("format", ["csv", "jsonl", "json", "parquet", "sql"])
@pytest.mark.usefixtures("short_sample")
def test_long_rows_after_short_ones(tmp_path: Path, format: str) -> None:
    texts = ["hi"] * 2_500 + [f"{i} " + "word " * 4_000 for i in range(600)]
    path = tmp_path / f"a.{format}"
    if format == "csv":
        write(path, "text,x\n" + "".join(f"{text},1\n" for text in texts))
    elif format in ("json", "jsonl"):
        records = [{"text": text} for text in texts]
        write(path, json_lines(*records) if format == "jsonl" else json.dumps(records))
    else:
        pq.write_table(pa.table({"text": texts}), path)
    settings = {"sql": f"SELECT * FROM read_parquet('{path}')"} if format == "sql" else {}
    batches = list(candide.read(*([] if settings else [path]), **settings))
    assert max(batch.nbytes for batch in batches) <= BATCH_BYTES
    assert [text for batch in batches for text in batch["text"].to_pylist()] == texts


def test_batches_are_evened() -> None:
    sizes = [1, 3 * BATCH_BYTES, 1, 1, BATCH_BYTES // 2, BATCH_BYTES // 2, 1]
    batch = pa.RecordBatch.from_pydict({"text": ["x" * size for size in sizes]})
    batches = list(rebatch([batch.slice(0, 3), batch.slice(3)]))
    assert pa.Table.from_batches(batches).equals(pa.Table.from_batches([batch]))
    assert [len(batch) for batch in batches if batch.nbytes > BATCH_BYTES] == [1]
    assert list(rebatch([])) == []
    assert [len(batch) for batch in rebatch([batch.slice(0, 1)] * 1000)] == [1000]


def test_head_and_columns(tmp_path: Path) -> None:
    source = candide.read(write(tmp_path / "a.csv", numbered(1000)))
    assert source.first_rows(3).to_pydict() == {"n": [0, 1, 2], "label": ["a", "b", "a"]}
    assert source.first_rows(5000).num_rows == 1000
    assert next(source.to_batches(columns=["label"])).schema.names == ["label"]
    assert source.schema.names == source.names == ["n", "label"]


def test_fingerprint(tmp_path: Path) -> None:
    one, two = (candide.read(write(tmp_path / f"{n}.csv", numbered(n))) for n in (3, 5))
    other = candide.read(write(tmp_path / "b.csv", "n,label\n1.5,x\n"))
    assert one.fingerprint == two.fingerprint != other.fingerprint


BAD = numbered(3) + "4\n5,6,7\n" + "8,b\n"


def test_bad_rows_in_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", BAD)
    source = candide.read(path, on_bad_row=tmp_path / "bad.jsonl")
    for _ in range(2):  # a file holds the rows of the last pass
        assert source.to_table()["n"].to_pylist() == [0, 1, 2, 8]
        collected = [json.loads(line) for line in (tmp_path / "bad.jsonl").read_text().splitlines()]
        assert [(bad["line"], bad["row"]) for bad in collected] == [(5, "4"), (6, "5,6,7")]
    assert source.bad_rows.n_rows == len(source.bad_rows) == 2
    assert "n_rows=2" in repr(source.bad_rows)


def test_bad_rows_to_a_function(tmp_path: Path) -> None:
    collected: list[candide.sources.BadRow] = []
    candide.read(write(tmp_path / "a.csv", BAD), on_bad_row=collected.append).to_table()
    assert [bad.problem for bad in collected] == [
        "found 1 cells, expected 2",
        "found 3 cells, expected 2",
    ]


def test_bad_rows_are_counted_and_few_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", numbered(3_000) + "x,y,z\n" * 2_000)
    source = candide.read(path, on_bad_row="skip")
    assert source.to_table().num_rows == 3_000
    assert (source.bad_rows.n_rows, len(source.bad_rows.rows)) == (2_000, 1_000)


def test_bad_rows_cannot_be_written(tmp_path: Path) -> None:
    source = candide.read(write(tmp_path / "a.csv", BAD), on_bad_row=tmp_path / "none" / "bad.jsonl")
    with pytest.raises(SourceError, match="cannot write bad rows to"):
        source.to_table()


def test_source_is_light_to_show(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", numbered(3))
    assert repr(candide.read(path)) == f"Source({path}, columns n, label)"
    assert repr(candide.read(path, path)) == "Source(2 places, columns n, label)"


def test_one_ahead_ends_its_thread() -> None:
    closed = threading.Event()

    def items() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.set()

    before = threading.active_count()
    some = prefetch(items())
    assert [next(some), next(some)] == [0, 1]
    some.close()
    assert closed.is_set()
    assert threading.active_count() == before


def test_one_ahead_passes_errors_on() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    some = prefetch(items())
    assert next(some) == 1
    with pytest.raises(ValueError, match="no more"):
        next(some)


# Declared types.


def test_declared_types(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "zip,on,day,n,class\n7,1,2024-02-29,1,0\n8,0,2024-03-01,2,1\n")
    schema = {"zip": "category", "on": "boolean", "day": "str", "n": "number"}
    source = candide.read(path, schema=schema)
    assert source.to_table().to_pylist()[0] == {"zip": "7", "on": True, "day": "2024-02-29", "n": 1.0, "class": "0"}
    again = candide.read(path).with_types({**schema, "other": "text"})
    assert again.schema.equals(source.schema, check_metadata=True)
    with pytest.raises(InputError, match=r"schema= refers to 'zap'.* did you mean 'zip'"):
        candide.read(path, schema={"zap": "category"})
    with pytest.raises(ParameterError, match="schema declares 'zip' as 'code'; expected one of number, category"):
        candide.read(path, schema={"zip": "code"})


def test_the_first_file_decides(tmp_path: Path) -> None:
    """Others are converted without loss, or refused with file and row."""
    numbers, texts = (tmp_path / name for name in ("a.parquet", "b.parquet"))
    pq.write_table(pa.table({"age": [17.0, 18.5]}), numbers)
    pq.write_table(pa.table({"age": ["17.0", None]}), texts)
    assert candide.read(numbers, texts).to_table()["age"].to_pylist() == [17.0, 18.5, 17.0, None]
    with pytest.raises(SourceError, match=r"a.parquet: column 'age' .* several ways.*schema=\{'age': 'number'\}"):
        candide.read(texts, numbers).to_table()
    assert candide.read(texts, numbers, schema={"age": "number"}).to_table()["age"].to_pylist()[2:] == [17.0, 18.5]
    assert candide.read(numbers, texts, schema={"age": "category"}).to_table()["age"].to_pylist()[0] == "17"
    pq.write_table(pa.table({"age": ["17.0", "old"]}), texts)
    with pytest.raises(SourceError, match=r"b.parquet: column 'age' .*'old' at row 1.*--type age"):
        candide.read(numbers, texts).to_table()


@pytest.mark.usefixtures("short_sample")
def test_models_tell_the_types_of_text_files(tmp_path: Path) -> None:
    """What only later rows show is read as in training, and not by what the first rows look like."""
    model = NaiveBayes(stacking=None, calibrate=None).fit({"code": ["12", "A1"] * 9, "x": [1, 2] * 9}, [0, 1] * 9)
    path = write(tmp_path / "a.csv", "code,x,y\n" + "12,1,0\n" * 2_000 + "A1,2.5,1\n")
    source = candide.read(path, label="y")
    assert source.schema.field("code").type == pa.int64()
    assert model.predict(source)[-1] == 1
    assert model.score(source) == 1.0


def test_predictions_of_rows_without_a_label(tmp_path: Path) -> None:
    """The label of training may be absent or missing."""
    model = NaiveBayes(stacking=None).fit(candide.read(write(tmp_path / "a.csv", numbered(50)), label="label"))
    assert len(model.predict(candide.read(write(tmp_path / "b.csv", "n\n1\n2\n")))) == 2
    assert len(model.predict(candide.read(write(tmp_path / "c.csv", "n,label\n1,a\n2,\n")))) == 2
