"""Predicting the rows of a Parquet file into another one: ``python -m benchmarks.predict --data FOLDER``.

The folder has tables as Parquet files whose last column is ``label``, such as adult and covertype. Their rows are
repeated, with noise, until there are ``--rows``. Each side predicts the file in a process of its own, in turn, and
writes all columns with the class and its probability: ``candide predict``, and scikit-learn over batches of pandas. The
models are trained before, on ``--trained`` rows at most. ``--save`` keeps the table in ``benchmarks/PREDICT.md``.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from .files import Ran, run
from .markdown import heading, line

RESULTS = Path(__file__).with_name("PREDICT.md")
_BATCH, _SEED = 1 << 17, 0
_NOISE, _REPLACED = 0.02, 0.01


def _gaussian() -> Any:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    names = make_column_selector(dtype_include=[object, "str"])
    return make_pipeline(make_column_transformer((encoder, names), remainder="passthrough"), GaussianNB())


def _boosting() -> Any:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    names = make_column_selector(dtype_include=[object, "str"])
    encoded = make_column_transformer((encoder, names), remainder="passthrough")
    return make_pipeline(encoded, HistGradientBoostingClassifier(random_state=0))


#: Settings of ``candide.NaiveBayes`` and the model of scikit-learn that it is compared with.
MODELS: dict[str, tuple[dict[str, Any], str, Callable[[], Any]]] = {
    "NaiveBayes(order=0)": ({"order": 0}, "one-hot encoding, GaussianNB", _gaussian),
    "NaiveBayes()": ({}, "HistGradientBoostingClassifier", _boosting),
}


def noisy(table: pd.DataFrame, n_rows: int) -> Iterator[pa.Table]:
    """Yield rows at random; numbers get noise, and some categories are those of other rows."""
    rng = np.random.default_rng(_SEED)
    for begin in range(0, n_rows, _BATCH):
        n = min(_BATCH, n_rows - begin)
        columns = {}
        for name, column in table.take(rng.integers(0, len(table), n)).items():
            cells = column.to_numpy()
            if cells.dtype.kind == "f":
                known = table[name].to_numpy()
                moved = cells + rng.normal(0.0, _NOISE * np.nanstd(known), n)
                columns[name] = np.round(moved) if np.nanmax(np.abs(known % 1)) == 0 else moved
            else:
                others = table[name].to_numpy()[rng.integers(0, len(table), n)]
                columns[name] = np.where(rng.random(n) < _REPLACED, others, cells)
        yield pa.table({name: pa.array(cells, from_pandas=True) for name, cells in columns.items()})


def make(path: Path, table: pd.DataFrame, n_rows: int) -> None:
    """Write a file of so many rows, without labels."""
    batches = noisy(table.drop(columns="label"), n_rows)
    first = next(batches)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as file:
        file.write_table(first)
        for batch in batches:
            file.write_table(batch)


def train(folder: Path, table: pd.DataFrame, n_rows: int, threads: int) -> None:
    """Train the models of both sides on random rows, and keep them in files."""
    import candide

    some = table.sample(min(len(table), n_rows), random_state=_SEED)
    X, y = some.drop(columns="label"), some["label"]
    for name, (settings, peer, make_peer) in MODELS.items():
        candide.NaiveBayes(**settings, n_threads=threads).fit(X, y).save(folder / f"{name}.candide")
        (folder / f"{peer}.pickle").write_bytes(pickle.dumps(make_peer().fit(X, y)))


def predict_by_peer(model: Path, path: Path, output: Path) -> None:
    """Predict batch by batch, as ``candide predict`` does."""
    peer, writer = pickle.loads(model.read_bytes()), None
    for batch in pq.ParquetFile(path).iter_batches(_BATCH):
        probability = peer.predict_proba(batch.to_pandas())
        best = probability.argmax(axis=1)
        made = pa.Table.from_batches([batch]).append_column("prediction", pa.array(peer.classes_[best]))
        made = made.append_column("probability", pa.array(probability[np.arange(len(best)), best]))
        writer = writer or pq.ParquetWriter(output, made.schema, compression="zstd")
        writer.write_table(made)
    if writer is not None:
        writer.close()


_TIMES: tuple[Callable[[Ran], float], ...] = (lambda one: one.seconds, lambda one: one.cpu)


def measured(name: str, folder: Path, path: Path, n_rows: int, rounds: int) -> Iterator[str]:
    """Yield the lines of a table: medians, all sides in turn."""
    candide, output = str(Path(sys.executable).with_name("candide")), folder / "out.parquet"
    commands, ours = {}, {}
    for model, (_, peer, _) in MODELS.items():
        own = [candide, "predict", str(folder / f"{model}.candide"), str(path), "-o", str(output), "--quiet"]
        by_peer = [sys.executable, "-m", "benchmarks.predict", "--peer", str(folder / f"{peer}.pickle"), str(path)]
        commands[model], commands[f"{peer}, scikit-learn"] = own, [*by_peer, str(output)]
        ours[model] = ours[f"{peer}, scikit-learn"] = model
    ran: dict[str, list[Ran]] = {side: [] for side in commands}
    for _ in range(rounds):
        for side, command in commands.items():
            ran[side].append(run(*command))
    seconds, cpu = ({side: median(part(one) for one in times) for side, times in ran.items()} for part in _TIMES)
    titles = ["seconds", "rows/s", "times candide", "CPU s", "times candide"]
    yield from heading(f"{name}, {n_rows:,} rows", titles)
    for side in commands:
        cells = [f"{seconds[side]:.1f}", f"{n_rows / seconds[side]:,.0f}", f"{seconds[side] / seconds[ours[side]]:.1f}"]
        cells += [f"{cpu[side]:.1f}", f"{cpu[side] / cpu[ours[side]]:.1f}"]
        yield line(side, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").replace("``", ""))
    parser.add_argument("--data", type=Path, help="folder of tables")
    parser.add_argument("--sets", nargs="+", default=["adult", "covertype"], help="names of files in it")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows to predict (1,000,000)")
    parser.add_argument("--trained", type=int, default=100_000, help="rows that models are trained on (100,000)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median is shown (3)")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--peer", nargs=3, type=Path, metavar=("MODEL", "ROWS", "OUTPUT"), help=argparse.SUPPRESS)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    if arguments.peer:
        predict_by_peer(*arguments.peer)
        return
    if arguments.data is None:
        parser.error("--data is missing: a folder of Parquet files with a column label")
    names = ("candide", "scikit-learn", "pandas", "pyarrow")
    lines = [
        "# Predicting files",
        "",
        f"{date.today()}, {', '.join(f'{name} {version(name)}' for name in names)}, {arguments.threads} threads. From "
        f"Parquet to Parquet, as a process, with its start; {arguments.rounds} interleaved rounds, medians. Models are "
        f"trained on up to {arguments.trained:,} rows. Command: "
        "`python -m benchmarks.predict --data FOLDER --save`.",
    ]
    for name in arguments.sets:
        with tempfile.TemporaryDirectory() as temporary:
            folder, table = Path(temporary), pd.read_parquet(arguments.data / f"{name}.parquet")
            make(folder / "rows.parquet", table, arguments.rows)
            train(folder, table, arguments.trained, arguments.threads)
            lines += measured(name, folder, folder / "rows.parquet", arguments.rows, arguments.rounds)
        print("\n".join(lines), flush=True)
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
