"""Tables with hundreds and thousands of columns: ``python -m benchmarks.wide [--columns 500 5000] [--save]``.

3,000 rows of three classes are fitted and 2,000 scored, of which 20 columns and their correlations, or one 0/1 column
in ten, tell about the class. Each model has a process of its own; its memory is the largest amount that it takes
besides the table and the imported packages.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import candide

from .markdown import heading, line, show
from .memory import MB, peak_of

RESULTS = Path(__file__).with_name("WIDE.md")
# Measured once, on the same machine, at commit a56c20d4.
BEFORE = """
Before views of several columns used a part of the columns of wide tables, `NaiveBayes()` had these figures. With 500
and 5,000 columns, its log-loss was lower on numbers, which are correlated here, and higher on the other tables; on
sparse ones it was higher than that of `order=0`.

| columns | fit, s | fit, CPU s | 2,000 rows, s | log-loss | memory, MB |
|---|---|---|---|---|---|
| 100, numbers | 1.0 | 1.0 | 0.04 | 0.8848 | 154 |
| 100, half categories | 0.8 | 0.9 | 0.05 | 0.9432 | 120 |
| 100, sparse 0/1 | 0.4 | 0.4 | 0.03 | 1.0928 | 49 |
| 500, numbers | 6.0 | 8.2 | 0.36 | 0.7974 | 1328 |
| 500, half categories | 6.7 | 8.1 | 0.67 | 0.8547 | 1253 |
| 500, sparse 0/1 | 3.8 | 3.7 | 0.07 | 0.9538 | 304 |
| 5,000, numbers | 23.7 | 23.5 | 1.12 | 0.8979 | 2118 |
| 5,000, half categories | 18.8 | 17.6 | 1.59 | 0.9802 | 1803 |
| 5,000, sparse 0/1 | 10.4 | 9.9 | 1.13 | 0.2001 | 935 |
"""
ROWS, NEW_ROWS, CLASSES = 3_000, 2_000, 3
# Boosting takes many minutes with more columns.
MOST_BOOSTED = 500
KINDS = ("numbers", "half categories", "sparse 0/1")


def table(kind: str, n_columns: int) -> tuple[Any, Any]:
    """Return rows and labels, a function of the arguments alone."""
    rng = np.random.default_rng(0)
    y, shape = rng.integers(0, CLASSES, ROWS + NEW_ROWS), (ROWS + NEW_ROWS, n_columns)
    if kind == "sparse 0/1":
        base, tells = rng.beta(0.5, 10, n_columns), rng.random(n_columns) < 0.1
        factor = np.exp(rng.normal(0, 0.5, (CLASSES, n_columns)) * tells)
        return (rng.random(shape) < np.clip(base * factor[y], 0, 0.9)).astype(float), y
    means = rng.normal(0, 0.35, (CLASSES, n_columns)) * (rng.random(n_columns) < 20 / n_columns)
    X = means[y] + rng.normal(size=(len(y), 10)) @ rng.normal(0, 0.4, (10, n_columns)) + rng.normal(size=shape)
    if kind == "numbers":
        return X, y
    codes = np.digitize(X, [-1, 0, 0.5, 1.5])
    columns = (
        X[:, j] if j % 2 else pd.Categorical.from_codes(codes[:, j], list("abcde")) for j in range(n_columns)
    )  # fmt: skip
    return pd.DataFrame({f"c{j}": column for j, column in enumerate(columns)}), y


def _one_hot(model: Any) -> Any:
    """Return scikit-learn's model, with categories as indicators."""
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    is_category = [f"c{j}" for j in range(0, 100_000, 2)]
    chosen = make_column_transformer(
        (encoder, lambda X: [name for name in is_category if name in X]), remainder="passthrough"
    )
    return make_pipeline(chosen, model)


MODELS: dict[str, Callable[[bool], Any]] = {
    "NaiveBayes()": lambda _: candide.NaiveBayes(),
    "NaiveBayes(order=0)": lambda _: candide.NaiveBayes(order=0),
    "GaussianNB, scikit-learn": lambda encoded: _one_hot(GaussianNB()) if encoded else GaussianNB(),
    "HistGradientBoosting, scikit-learn": lambda encoded: HistGradientBoostingClassifier(
        categorical_features="from_dtype" if encoded else None, random_state=0
    ),
}


def _measure(kind: str, n_columns: int, name: str, out: Any) -> None:
    X, y = table(kind, n_columns)
    framed = isinstance(X, pd.DataFrame)
    train, new = (X.iloc[:ROWS], X.iloc[ROWS:]) if framed else (X[:ROWS], X[ROWS:])
    MODELS[name](framed).fit(train[:100], y[:100])  # imports
    model, began, cpu = MODELS[name](framed), time.perf_counter(), time.process_time()
    n_bytes, _ = peak_of(lambda: model.fit(train, y[:ROWS]))
    fitted, cpu = time.perf_counter(), time.process_time() - cpu
    loss = log_loss(y[ROWS:], model.predict_proba(new))
    out.put((fitted - began, cpu, time.perf_counter() - fitted, loss, n_bytes / MB))


def rows(columns: list[int]) -> Iterator[str]:
    versions = f"candide {candide.__version__}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}"
    yield (
        f"# Wide tables\n\n{date.today()}, {versions}. {ROWS:,} rows are fitted and {NEW_ROWS:,} others scored. "
        "Memory is the largest additional amount while fitting. Command: `python -m benchmarks.wide --save`."
    )
    yield from heading("columns", ["model", "fit, s", "fit, CPU s", "2,000 rows, s", "log-loss", "memory, MB"])
    processes = multiprocessing.get_context("spawn")
    for n_columns in columns:
        for kind in KINDS:
            for name in MODELS:
                if name.startswith("Hist") and n_columns > MOST_BOOSTED:
                    continue
                out = processes.Queue()
                process = processes.Process(target=_measure, args=(kind, n_columns, name, out))
                process.start()
                seconds, cpu, predicted, loss, n_bytes = out.get()
                process.join()
                cells = [f"{seconds:.1f}", f"{cpu:.1f}", f"{predicted:.2f}", f"{loss:.4f}", f"{n_bytes:.0f}"]
                yield line(f"{n_columns:,}, {kind}", [name, *cells])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, nargs="+", default=[100, 500, 5_000])
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    show(rows(arguments.columns), RESULTS if arguments.save else None, BEFORE)


if __name__ == "__main__":
    main()
