"""Files of any size, to learn from: ``python -m benchmarks.files_data --kind parquet --megabytes 5000 big.parquet``.

``--text`` (if nothing is said) makes rows of a label, one of ``--classes``, and a text of 20 to 200 words out of
50,000, by Zipf's law, in a mix that differs by class. ``--table`` makes ten columns of numbers, six of categories and
one of dates, 4 % of the cells missing, and one of three labels, on which most of them depend. The file grows chunk by
chunk, in constant memory, until it has its size on disk. The same seed makes the same rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.csv import CSVWriter
from pyarrow.parquet import ParquetWriter

from . import data

TOPICS = ("animals", "books", "cities", "engines", "gardens", "music", "oceans", "sports")
OUTCOMES = ("left", "returned", "stayed")
LEVELS = (3, 5, 8, 12, 20, 40)
MISSING = 0.04


class Made(NamedTuple):
    """What was written: rows, bytes on disk, bytes of the same columns in memory, seconds."""

    rows: int
    on_disk: int
    in_memory: int
    seconds: float


class Texts:
    """Makes labels and texts."""

    n_rows, n_words = 10_000, 50_000

    def __init__(self, seed: int, n_classes: int) -> None:
        rng = np.random.default_rng(seed)
        self.topics = TOPICS[:n_classes]
        words = np.array(data.made_words(self.n_words, rng), dtype=object)
        self.words = pa.array(words + rng.choice([" ", ", ", ". "], self.n_words, p=[0.9, 0.06, 0.04]).astype(object))

    def __call__(self, rng: Any) -> pa.Table:
        label = rng.integers(0, len(self.topics), self.n_rows)
        length = rng.integers(20, 201, self.n_rows)
        texts = self._texts(self._codes(np.repeat(label, length), rng), length)
        return pa.table({"label": _named(self.topics, label), "text": texts})

    def _codes(self, label: Any, rng: Any) -> Any:
        """A word for each label; for a fifth of them, the class begins to rank elsewhere in the vocabulary."""
        logarithm = rng.random(len(label), dtype=np.float32) * np.float32(np.log(self.n_words))
        rank = np.exp(logarithm).astype(np.int32) - 1
        own = np.frombuffer(rng.bytes(len(label)), np.uint8) < 256 // 5
        first = (np.arange(1, len(self.topics) + 1, dtype=np.int32) * self.n_words) // (len(self.topics) + 1)
        return (rank + first[label] * own) % self.n_words

    def _texts(self, codes: Any, length: Any) -> Any:
        """Words that were taken lie side by side in memory: texts are longer stretches of the same bytes."""
        _, offsets, letters = self.words.take(pa.array(codes)).buffers()
        bounds = np.frombuffer(offsets, np.int32)[np.concatenate([[0], np.cumsum(length)])]
        return pc.ascii_rtrim_whitespace(pa.StringArray.from_buffers(len(length), pa.py_buffer(bounds), letters))


class Tables:
    """Makes columns of several kinds, independent of each other within a class."""

    n_rows = 50_000

    def __call__(self, rng: Any) -> pa.Table:
        label = rng.integers(0, len(OUTCOMES), self.n_rows)
        columns = {"label": _named(OUTCOMES, label)}
        for j in range(6):
            columns[f"number {j}"] = _with_holes(data.numbers(j, 3 * label, rng), rng)
        for j in range(4):
            columns[f"count {j}"] = _with_holes((4 * np.exp(rng.normal(0.1 * j * label))).astype(np.int32), rng)
        for j, n_levels in enumerate(LEVELS):
            level = _with_holes(data.levels(n_levels, 3 * label, rng), rng)
            columns[f"category {j}"] = _named(data.level_names(n_levels), level)
        day = np.datetime64("2020-01-01") + rng.integers(0, 1000, self.n_rows) + 200 * label
        return pa.table(columns | {"date": _with_holes(day, rng)})


def _named(names: Any, codes: Any) -> Any:
    return pa.array(names).take(pa.array(codes))


def _with_holes(values: Any, rng: Any) -> Any:
    return pa.array(values, mask=rng.random(len(values), dtype=np.float32) < MISSING)


def make(
    path: Path, *, kind: str = "parquet", megabytes: float, table: bool = False, seed: int = 0, n_classes: int = 2
) -> Made:
    """Writes a file of so many million bytes, up to the last chunk."""
    begin, rows, in_memory = time.perf_counter(), 0, 0
    source = Tables() if table else Texts(seed, n_classes)
    schema = source(np.random.default_rng()).schema
    with path.open("wb") as file, _writer(kind, file, schema) as writer:
        for chunk in _chunks(source, seed):
            writer.write_table(chunk)
            rows, in_memory = rows + len(chunk), in_memory + chunk.nbytes
            if file.tell() >= megabytes * 1e6:
                break
    return Made(rows, path.stat().st_size, in_memory, time.perf_counter() - begin)


def _chunks(source: Callable[[Any], pa.Table], seed: int) -> Iterator[pa.Table]:
    """The next chunk is made while the last one is written."""
    with ThreadPoolExecutor(1) as pool:
        chunks = (pool.submit(source, np.random.default_rng([seed, i])) for i in count())
        following = next(chunks)
        while True:
            chunk, following = following, next(chunks)
            yield chunk.result()


def _writer(kind: str, file: Any, schema: pa.Schema) -> Any:
    if kind == "csv":
        return CSVWriter(file, schema)
    # Texts and numbers have no use for a dictionary; the writer would find that out anew in every chunk.
    few = [field.name for field in schema if field.type == pa.string() and field.name != "text"]
    return ParquetWriter(file, schema, use_dictionary=few)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").replace("``", ""))
    parser.add_argument("path", type=Path, metavar="OUT")
    parser.add_argument("--kind", choices=("parquet", "csv"), default="parquet")
    parser.add_argument("--megabytes", type=float, default=100.0, help="of the file (100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--classes", type=int, default=2, choices=range(2, len(TOPICS) + 1), help="of texts (2)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--text", action="store_true", help="rows of a label and a text, if nothing is said")
    what.add_argument("--table", action="store_true", help="rows of numbers, categories and a date")
    given = parser.parse_args()
    how = {"kind": given.kind, "megabytes": given.megabytes, "table": given.table}
    made = make(given.path, **how, seed=given.seed, n_classes=given.classes)
    print(
        f"{given.path}: {made.rows:,} rows, {made.on_disk / 1e6:,.0f} MB ({made.in_memory / 1e6:,.0f} MB in memory) in "
        f"{made.seconds:.1f} s, {made.on_disk / 1e6 / made.seconds:.0f} MB/s"
    )


if __name__ == "__main__":
    main()
