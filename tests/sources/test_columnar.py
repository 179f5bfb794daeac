"""Parquet and Arrow files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import candide
from candide.exceptions import SourceError

from .files import COMPRESSIONS, write

TABLE = pa.table(
    {
        "text": ["hello", None, "you"] * 1000,
        "city": pa.array(["Rome", "Oslo", "Rome"] * 1000).dictionary_encode(),
        "n": list(range(3000)),
        "price": pa.array([1, 2, 3] * 1000).cast(pa.decimal128(21, 2)),
    }
)


def store(table: pa.Table, path: Path, how: str) -> Path:
    if how == "parquet":
        pq.write_table(table, path, row_group_size=1000)
    elif how == "feather":
        feather.write_feather(table, path, compression="zstd", chunksize=700)
    else:
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, 700)
    return path


@pytest.mark.parametrize("how", ["parquet", "feather", "stream"])
def test_round_trip(tmp_path: Path, how: str) -> None:
    source = candide.read(store(TABLE, tmp_path / f"a.{how}", how), format=None if how != "stream" else "arrow")
    assert [str(field.type) for field in source.schema] == ["string", "string", "int64", "double"]
    assert source.to_table().to_pylist() == TABLE.cast(source.schema).to_pylist()
    assert source.n_rows == (3000 if how == "parquet" else None)
    assert source.bytes_read == source.n_bytes


@pytest.mark.parametrize("how", ["parquet", "feather"])
def test_views_of_strings_become_strings(tmp_path: Path, how: str) -> None:
    table = pa.table({"text": pa.array(["a", "b"], pa.string_view())})
    try:
        path = store(table, tmp_path / f"a.{how}", how)
    except pa.ArrowNotImplementedError:
        pytest.skip("this version of pyarrow does not write views of strings")
    source = candide.read(path)
    assert pa.types.is_string(source.to_table()["text"].type) or pa.types.is_large_string(source.schema.field(0).type)


def test_arrow_files_of_polars(tmp_path: Path) -> None:
    """Texts and categories are views of strings there."""
    table = {"text": ["a", None], "city": ["Rome", "Paris"]}
    pl.DataFrame(table, {"text": pl.String, "city": pl.Categorical}).write_ipc(tmp_path / "a.feather")
    assert candide.read(tmp_path / "a.feather").to_table().to_pydict() == table


def test_some_columns(tmp_path: Path) -> None:
    source = candide.read(store(TABLE, tmp_path / "a.parquet", "parquet"))
    assert next(source.to_batches(columns=["n", "text"])).schema.names == ["n", "text"]


@pytest.mark.parametrize("skip", [0, 1, 2999, 3000, 4000])
def test_skip(tmp_path: Path, skip: int) -> None:
    path = store(TABLE, tmp_path / "a.parquet", "parquet")
    numbers = [n for batch in candide.read(path, path).to_batches(skip) for n in batch["n"].to_pylist()]
    assert numbers == (list(range(3000)) * 2)[skip:]


@pytest.mark.parametrize("how", ["parquet", "feather"])
def test_damaged(tmp_path: Path, how: str) -> None:
    path = store(TABLE, tmp_path / f"a.{how}", how)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(SourceError, match=rf"a\.{how} cannot be read as (Parquet|Arrow)"):
        candide.read(path).to_table()


def test_compressed(tmp_path: Path) -> None:
    path = store(TABLE, tmp_path / "a.parquet", "parquet")
    packed = write(tmp_path / "a.parquet.gz", COMPRESSIONS["gz"](path.read_bytes()))
    assert candide.read(packed).to_table().equals(candide.read(path).to_table())


def test_large_batches_are_cut(tmp_path: Path) -> None:
    table = pa.table({"text": ["x" * 1000] * 50_000})
    with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    sizes = [batch.nbytes for batch in candide.read(tmp_path / "a.arrow")]
    assert len(sizes) > 3
    assert max(sizes) < 20_000_000
