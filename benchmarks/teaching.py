"""Figures that teachers ask for: ``python -m benchmarks.teaching --data FOLDER``.

Which event model suits texts of which length (texts cut after so many words, two halves that predict each other), and
how long a naive Bayes model trains beside a linear support vector machine and a small neural network. The folder holds
Parquet files with columns ``text`` and ``label``; without one, texts are made of words. ``--save`` keeps the tables in
``benchmarks/TEACHING.md``.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import candide

from .markdown import heading, line
from .text_sets import TextSet, judge, text_sets

RESULTS = Path(__file__).with_name("TEACHING.md")
LENGTHS = [3, 5, 10, 20, 50, 100, 200, None]
ROUNDS = 3
EVENTS = {
    "Bernoulli": lambda: candide.TextNB("bernoulli", alpha="evidence", compute_loo=False),
    "multinomial": lambda: candide.TextNB("multinomial", alpha="evidence", compute_loo=False),
    "multinomial, a word once": lambda: candide.TextNB(
        "multinomial", weighting="binary", alpha="evidence", compute_loo=False
    ),
}


def cut(data: TextSet, n_words: int | None) -> TextSet:
    """Every text up to so many words."""
    if n_words is None:
        return data
    return data._replace(texts=[" ".join(text.split()[:n_words]) for text in data.texts])


def by_length(folder: str | None, only: list[str]) -> Iterator[str]:
    """Accuracy of the event models on texts that are cut."""
    columns = ["all" if n is None else f"{n} words" for n in LENGTHS]
    for name in only:
        for data in text_sets(folder, name):
            yield from heading(f"{data.name} ({len(data.texts):,} texts): accuracy", columns)
            for model, make in EVENTS.items():
                yield line(model, [f"{judge(cut(data, n), make).accuracy:.3f}" for n in LENGTHS])


def classifiers(sparse: bool) -> dict[str, Callable[[], Any]]:
    """What is trained on the same rows, with the settings a course would use."""
    naive = candide.MultinomialNB if sparse else candide.GaussianNB
    return {
        naive.__name__: naive,
        "linear SVM": LinearSVC,
        "neural network, 100 units": lambda: MLPClassifier(random_state=0, early_stopping=True),
    }


def timed(make: Callable[[], Any], X: Any, y: Any, held: Any) -> tuple[float, float]:
    """Median seconds of fits, and the accuracy on held-out rows."""
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        model = make().fit(X, y)
        times.append(time.perf_counter() - begin)
    return statistics.median(times), float(model.score(*held))


def training_time(name: str, X: Any, y: Any, sizes: list[int], *, sparse: bool) -> Iterator[str]:
    """Seconds and accuracy as rows grow; the last rows are held out."""
    n_held = len(y) // 5
    held = X[-n_held:], y[-n_held:]
    yield from heading(f"{name}: seconds of fit, accuracy", [f"{n:,} rows" for n in sizes])
    for model, make in classifiers(sparse).items():
        cells = [timed(make, X[:n], y[:n], held) for n in sizes]
        yield line(model, [f"{seconds:.4f} s, {accuracy:.3f}" for seconds, accuracy in cells])


def times(folder: str | None, only: str) -> Iterator[str]:
    rng = np.random.default_rng(0)
    X, y = make_classification(125_000, 30, n_informative=10, n_redundant=5, flip_y=0.05, random_state=0)
    yield from training_time(
        "30 made columns", StandardScaler().fit_transform(X), y, [1_000, 10_000, 100_000], sparse=False
    )
    data = next(text_sets(folder, only))
    order = rng.permutation(len(data.texts))
    counts = CountVectorizer().fit_transform([data.texts[i] for i in order])
    most = len(order) - len(order) // 5
    sizes = [n for n in (1_000, 5_000) if n < most] + [most]
    title = f"{data.name}, counts of {counts.shape[1]:,} words"
    yield from training_time(title, counts.tocsr(), data.labels[order], sizes, sparse=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").replace("``", ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="a folder of Parquet files of texts")
    parser.add_argument("--sets", default="", help="names of sets to cut, with commas between them")
    parser.add_argument("--timed", default="", help="the set that training is timed on")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    lines = [
        "# Figures for teaching",
        "",
        f"{date.today()}, candide {candide.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}. "
        "Texts are truncated after the given number of words; two-fold cross-validation; pseudo-counts chosen by "
        "marginal likelihood; times are medians "
        f"of {ROUNDS} fits. Command: `python -m benchmarks.teaching --data FOLDER --sets {arguments.sets or 'NAMES'} "
        f"--timed {arguments.timed or 'NAME'} --save`.",
    ]
    print("\n".join(lines))
    parts = (by_length(arguments.data, arguments.sets.split(",")), times(arguments.data, arguments.timed))
    for text in (text for part in parts for text in part):
        print(text, flush=True)
        lines.append(text)
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
