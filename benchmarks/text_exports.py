"""Text models in DuckDB and onnxruntime, beside Python: ``python -m benchmarks.text_exports [PARQUET ...] [--save]``.

Trains on the SMS Spam Collection (``examples/sms_spam.csv.gz``) and on files with the columns ``text`` and ``label``,
and scores the same texts. The input of a graph is tokens, which are made beforehand. All ways take turns; a time is
the median of the rounds, and a ratio is that time divided by Python's.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

import candide
from candide import TextNB

from .javascript import read_messages
from .markdown import heading, line, show

RESULTS = Path(__file__).with_name("TEXT_EXPORTS.md")
# Measured once, on the same machine, beside commit 75c438e9.
BEFORE = """
Before graphs looked up the weights of tokens, they made a table of texts × tokens. In 64 texts at once, with both
graphs and Python in turn, while other programs were running, 5,574 SMS messages took:

| model | Python, ms | graph before, ms | graph, ms |
|---|---|---|---|
| multinomial | 37 | 943 | 192 |
| multinomial, pairs | 39 | 6,000 | 346 |
| bernoulli | 46 | 1,156 | 288 |
| complement | 45 | 1,018 | 192 |
"""
SETTINGS: dict[str, dict[str, Any]] = {
    "multinomial": {"family": "multinomial"},
    "multinomial, pairs": {"family": "multinomial", "ngrams": 2},
    "bernoulli": {"family": "bernoulli"},
    "complement": {"family": "complement"},
}
# Texts that a graph takes at once: they are padded to the longest of them.
BATCH = 64
# Texts that are scored one by one.
SINGLE = 300


def sets(paths: list[Path]) -> Iterator[tuple[str, Any, Any]]:
    """Yield names, texts and labels."""
    yield "sms_spam", *read_messages()
    for path in paths:
        frame = pd.read_parquet(path, columns=["text", "label"])
        yield path.stem, frame["text"].tolist(), frame["label"].tolist()


def padded(rows: list[list[str]]) -> Any:
    """Return tokens as the input of a graph."""
    width = max(1, *map(len, rows))
    return np.array([row + [""] * (width - len(row)) for row in rows], dtype=object)


def batches_of(rows: list[list[str]]) -> list[Any]:
    return [padded(rows[i : i + BATCH]) for i in range(0, len(rows), BATCH)]


def ways(model: TextNB, ngrams: Any, texts: list[str]) -> Iterator[tuple[str, Callable[[], Any], int]]:
    """Yield names, functions that return probabilities, and numbers of texts."""
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    cut = CountVectorizer(ngram_range=(1, ngrams)).build_analyzer()
    tokens = [cut(text) for text in texts]
    by_length = sorted(range(len(tokens)), key=lambda i: len(tokens[i]))
    batches, alike = batches_of(tokens), batches_of([tokens[i] for i in by_length])
    alone, back = [padded([row]) for row in tokens[:SINGLE]], np.argsort(by_length)

    def by_graph(parts: list[Any]) -> Any:
        return np.concatenate([session.run(["probabilities"], {"tokens": part})[0] for part in parts])

    database = duckdb.connect()
    database.execute(f"SET threads = {os.cpu_count()}")
    database.register("frame", pd.DataFrame({"id": np.arange(len(texts)), "text": texts}))
    database.execute("CREATE TABLE rows AS SELECT * FROM frame")
    query = model.to_sql(keep=["id"])

    def by_query() -> Any:
        found = database.execute(query).fetchnumpy()
        return np.column_stack([found[f"p({label})"] for label in model.classes_])[np.argsort(found["id"])]

    yield "Python", lambda: model.predict_proba(texts), len(texts)
    yield "DuckDB", by_query, len(texts)
    yield f"ONNX, {BATCH} at once", lambda: by_graph(batches), len(texts)
    yield f"ONNX, {BATCH} of similar length", lambda: by_graph(alike)[back], len(texts)
    yield "Python, one by one", lambda: np.concatenate([model.predict_proba([text]) for text in texts[:SINGLE]]), SINGLE
    yield "ONNX, one by one", lambda: by_graph(alone), SINGLE


def measured(model: TextNB, ngrams: Any, texts: list[str], rounds: int) -> Iterator[list[str]]:
    """Yield the cells of each way."""
    found = list(ways(model, ngrams, texts))
    expected = model.predict_proba(texts)
    differences = [np.abs(run() - expected[:n]).max() for _, run, n in found]
    seconds: list[list[float]] = [[] for _ in found]
    for _ in range(rounds):
        for own, (_, run, _) in zip(seconds, found, strict=True):
            began = time.perf_counter()
            run()
            own.append(time.perf_counter() - began)
    times = [median(own) for own in seconds]
    for (name, _, n), own, difference in zip(found, times, differences, strict=True):
        ours = times[0] if n == len(texts) else times[-2]
        yield [name, f"{n / own:,.0f}", f"{own / ours:.1f}", f"{difference:.0e}"]


def rows(paths: list[Path], rounds: int) -> Iterator[str]:
    versions = f"candide {candide.__version__}, DuckDB {duckdb.__version__}, onnxruntime {onnxruntime.__version__}"
    yield (
        f"# Text models in SQL and ONNX\n\n{date.today()}, {versions}, {os.cpu_count()} processors, medians of "
        f"{rounds} rounds. Texts per second, time divided by that of Python, and the largest difference between "
        "probabilities. Graphs take tokens, which are made beforehand; the other ways take texts. Command: "
        "`python -m benchmarks.text_exports --save`, with the files of the other texts."
    )
    yield from heading("texts", ["model", "way", "texts/s", "time ÷ Python's", "difference"])
    for name, texts, labels in sets(paths):
        for title, settings in SETTINGS.items():
            model = TextNB(**settings, compute_loo=False).fit(texts, labels)
            for cells in measured(model, settings.get("ngrams", 1), texts, rounds):
                yield line(f"{name}, {len(texts):,}", [title, *cells])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", help="Parquet files with the columns text and label")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    show(rows(arguments.files, arguments.rounds), RESULTS if arguments.save else None, BEFORE)


if __name__ == "__main__":
    main()
