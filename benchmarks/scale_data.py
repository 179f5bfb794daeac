"""Texts and a table in Parquet files, for all engines to learn from: see ``benchmarks.scale``."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import files_data

Source = Callable[[Any], pa.Table]

N_CLASSES, N_FILES = 4, 8
TEXT_MB, TABLE_ROWS = 200.0, 2_000_000
HELD_OUT_TEXTS, HELD_OUT_ROWS = 5_000, 50_000


class Data(NamedTuple):
    """Files to learn from, and rows that nobody learns from."""

    folder: Path
    held_out: pa.Table
    n_rows: int
    megabytes: float  # in memory

    @property
    def pattern(self) -> str:
        return str(self.folder / "*.parquet")

    @property
    def columns(self) -> list[str]:
        return [name for name in self.held_out.column_names if name != "label"]


class Texts(files_data.Texts):
    """Words come in bursts and a few labels are wrong, as people write: else every model would be sure, and right."""

    n_rows = 500
    bursts, wrong = 0.3, 0.03

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed, N_CLASSES)

    def __call__(self, rng: Any) -> pa.Table:
        label = rng.integers(0, N_CLASSES, self.n_rows)
        length = rng.integers(20, 201, self.n_rows)
        codes = self._bursting(self._codes(np.repeat(label, length), rng), rng)
        told = np.where(rng.random(self.n_rows) < self.wrong, rng.integers(0, N_CLASSES, self.n_rows), label)
        return pa.table({"label": told, "text": self._texts(codes, length)})

    def _bursting(self, codes: Any, rng: Any) -> Any:
        """Some words are the one before once more."""
        again = rng.random(len(codes), dtype=np.float32) < self.bursts
        return codes[np.maximum.accumulate(np.where(again, 0, np.arange(len(codes))))]


class Rows:
    """Twenty columns of numbers, normal, log-normal and counts, that share what the class does not explain."""

    n_rows = 2_500

    def __call__(self, rng: Any) -> pa.Table:
        label = rng.integers(0, N_CLASSES, self.n_rows)
        shared = rng.normal(size=self.n_rows)
        columns: dict[str, Any] = {"label": label}
        for j in range(20):
            number = 0.4 * ((label + j) % N_CLASSES) + 0.7 * shared + rng.normal(size=self.n_rows)
            columns[f"x{j}"] = (number, np.exp(0.5 * number), np.floor(np.exp(1 + 0.4 * number)))[(j > 11) + (j > 15)]
        return pa.table(columns)


def texts(folder: Path, scale: float) -> Data:
    return _made(folder, Texts(), lambda table: table.nbytes / 1e6 >= TEXT_MB * scale / N_FILES, HELD_OUT_TEXTS)


def rows(folder: Path, scale: float) -> Data:
    return _made(folder, Rows(), lambda table: len(table) >= TABLE_ROWS * scale / N_FILES, HELD_OUT_ROWS)


def _made(folder: Path, source: Source, enough: Callable[[pa.Table], bool], n_held_out: int) -> Data:
    """Files of about one size."""
    folder.mkdir(parents=True)
    n_rows, n_bytes = 0, 0
    for number in range(N_FILES):
        table = _gathered(source, number, enough)
        pq.write_table(table, folder / f"part-{number}.parquet", row_group_size=len(table) // 4 + 1)
        n_rows, n_bytes = n_rows + len(table), n_bytes + table.nbytes
    held_out = _gathered(source, N_FILES, lambda table: len(table) >= n_held_out)
    return Data(folder, held_out.slice(0, n_held_out).combine_chunks(), n_rows, n_bytes / 1e6)


def _gathered(source: Source, number: int, enough: Callable[[pa.Table], bool]) -> pa.Table:
    chunks = (source(np.random.default_rng([number, i])) for i in count())
    table = next(chunks)
    while not enough(table):
        table = pa.concat_tables([table, next(chunks)])
    return table
