"""NaiveBayes and others on tables of full size: ``python -m benchmarks.full_size --data FOLDER``.

Random splits, three quarters of the rows to learn from and one quarter to predict: log-loss, accuracy, AUC (of more
than two classes the mean of one against the rest), calibration error, CPU seconds of fit and predict, peak memory of
fit beyond what was there before, and the size of the model file (others: pickle). Intervals are 95 % by Student's t
of the differences to candide, split by split. LightGBM, CatBoost, EBM and Khiops take part where they are installed.
Results are added to the file given by ``--cache``, and a run takes from there what it holds. Run with
OMP_NUM_THREADS=1. ``--save`` keeps the tables in ``benchmarks/FULL_SIZE.md``.
"""

from __future__ import annotations

import argparse
import os
import pickle
import platform
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn
from scipy.stats import t as student
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import candide
from candide.model.evaluation import Evaluation

from .halves import LEAST, Table, tables
from .markdown import heading, line
from .memory import MB, peak_of
from .peers import METHODS as PEERS
from .peers import Boosting, Method, by_kind, numbers_and_texts, ordinal
from .quality import OURS, Cache

RESULTS = Path(__file__).with_name("FULL_SIZE.md")
SETS = ("adult", "letter", "covertype", "waveform", "pendigits", "spambase", "mushroom", "kr_vs_kp")
TITLE = "# Tables of full size"
NOTES = (
    "Boosting is scikit-learn's HistGradientBoosting. *Default*: default settings, native categories. *With care*: "
    "learning_rate 0.08, max_leaf_nodes 63, l2_regularization 1, max_features 0.5, at most 1,000 steps, stopped when "
    "the loss on a held-out tenth of the rows has not improved for 25 steps; native categories. *Forest*: 500 trees, "
    "at least 2 rows per leaf, 0.3 of the columns at each split. LightGBM: 500 steps with learning rate 0.05, 63 "
    "leaves. CatBoost, EBM, Khiops: default settings, first split only.",
)


# Methods that take minutes see the first split alone.
FEW_SPLITS = {"catboost": 1, "ebm": 1, "khiops": 1}


class Default(Boosting):
    """HistGradientBoosting as it is, with native categories."""

    def rounds(self, frame: Any, y: Any) -> dict[str, Any]:
        return {}


class WithCare(Boosting):
    """Many steps, ended by a tenth of the rows; a hundred where a class is too small for that."""

    def rounds(self, frame: Any, y: Any) -> dict[str, Any]:
        if y.value_counts().min() < 10:
            return {"max_iter": 100, "early_stopping": False}
        return {"max_iter": 1_000, "early_stopping": True, "validation_fraction": 0.1, "n_iter_no_change": 25}


def forest(frame: Any) -> Any:
    model = RandomForestClassifier(500, min_samples_leaf=2, max_features=0.3, random_state=0)
    return make_pipeline(by_kind(frame, "passthrough", ordinal()), model)


class AsCategories:
    """A classifier of another package, given texts as categories; ``read`` says in which form."""

    def __init__(self, model: Any, read: Callable[[Any], Any], **fit: Any) -> None:
        self.model, self.read, self.given = model, read, fit

    def fit(self, X: Any, y: Any) -> AsCategories:
        self.kinds = {column: sorted(X[column].dropna().unique()) for column in numbers_and_texts(X)[1]}
        self.model.fit(self.frame(X), np.asarray(y), **self.given)
        self.classes_ = self.model.classes_
        return self

    def frame(self, X: Any) -> Any:
        import pandas as pd

        parts = {name: self.read(X[name].astype(pd.CategoricalDtype(kind))) for name, kind in self.kinds.items()}
        return X.assign(**parts)

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(self.frame(X))


def same(column: Any) -> Any:
    return column


def objects(column: Any) -> Any:
    return column.astype(object)


def texts(column: Any) -> Any:
    return objects(column).where(column.notna(), "?").astype(str)


def light(frame: Any) -> Any:
    package = import_module("lightgbm")
    model = package.LGBMClassifier(n_estimators=500, learning_rate=0.05, num_leaves=63, n_jobs=1, verbose=-1)
    return AsCategories(model, same)


def cat(frame: Any) -> Any:
    package = import_module("catboost")
    categories = numbers_and_texts(frame)[1]
    model = package.CatBoostClassifier(
        thread_count=1, verbose=False, allow_writing_files=False, cat_features=categories
    )
    return AsCategories(model, texts)


def additive(frame: Any) -> Any:
    package = import_module("interpret.glassbox")
    return AsCategories(package.ExplainableBoostingClassifier(n_jobs=1), objects)


def installed(name: str) -> Callable[[], bool]:
    return lambda: find_spec(name) is not None


METHODS = {
    OURS: PEERS[OURS],
    "boosting": Method("boosting, default", lambda frame: Default()),
    "boosting_care": Method(
        "boosting, with care",
        lambda frame: WithCare(learning_rate=0.08, max_leaf_nodes=63, l2_regularization=1.0, max_features=0.5),
    ),
    "forest": Method("random forest", forest),
    "logistic": PEERS["logistic"],
    "lightgbm": Method("LightGBM", light, installed("lightgbm")),
    "catboost": Method("CatBoost", cat, installed("catboost")),
    "ebm": Method("EBM", additive, installed("interpret")),
    "khiops": PEERS["khiops"],
}


class Score(NamedTuple):
    """One line of the cache: a method on one split of a set."""

    set: str
    method: str
    rows: int
    columns: int
    classes: int
    log_loss: float
    accuracy: float
    auc: float
    ece: float
    fit_seconds: float
    predict_seconds: float
    memory: float
    file: float
    seed: int


SHOWN = {"log_loss": 4, "accuracy": 4, "auc": 4, "ece": 4, "fit_seconds": 2, "predict_seconds": 2, "memory": 0,
         "file": 2}  # fmt: skip
HEADS = ["log-loss", "accuracy", "AUC", "ECE", "fit CPU s", "predict CPU s", "fit MB", "file MB",
         "log-loss − candide's", "accuracy − candide's"]  # fmt: skip


def measure(table: Table, method: str, seed: int) -> Score:
    known, held = train_test_split(np.arange(len(table.labels)), test_size=0.25, random_state=seed,
                                   stratify=table.labels)  # fmt: skip
    frame, labels = table.frame.iloc[known], table.labels.iloc[known]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of regressions that have not ended
        begin = time.process_time()
        memory, model = peak_of(lambda: METHODS[method].make(table.frame).fit(frame, labels))
        fitted = time.process_time()
        found = model.predict_proba(table.frame.iloc[held])
        seconds = time.process_time() - fitted
    probability = np.full((len(held), len(table.classes)), LEAST)
    position = np.searchsorted(table.classes, np.asarray(model.classes_).astype(str))
    probability[:, position] = np.maximum(found, LEAST)
    probability /= probability.sum(axis=1, keepdims=True)
    classes = np.searchsorted(table.classes, table.labels.iloc[held])
    judged = Evaluation.of(np.log(probability), classes, np.ones(len(held)), table.classes)
    return Score(
        table.name, method, *table.frame.shape, len(table.classes), round(judged.log_loss, 6),
        round(judged.accuracy, 6), round(auc(probability, classes), 6), round(judged.ece, 6),
        round(fitted - begin, 3), round(seconds, 3), round(memory / MB, 1), round(size(model) / MB, 3), seed,
    )  # fmt: skip


def auc(probability: Any, classes: Any) -> float:
    one = probability[:, 1] if probability.shape[1] == 2 else probability
    return float(roc_auc_score(classes, one, multi_class="ovr"))


def size(model: Any) -> int:
    """Bytes of the model in a file."""
    if not hasattr(model, "save"):
        return len(pickle.dumps(model))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.candide"
        model.save(path)
        return path.stat().st_size


def lines_of(scores: dict[str, list[Score]]) -> Iterator[str]:
    """The table of one set."""
    first = next(iter(scores.values()))[0]
    name = f"{first.set} ({first.rows:,} × {first.columns}, {first.classes})"
    yield from heading(name, HEADS)
    for method, own in scores.items():
        means = {field: float(np.mean([getattr(score, field) for score in own])) for field in SHOWN}
        cells = [f"{means[field]:.{digits}f}" for field, digits in SHOWN.items()]
        ours = scores.get(OURS, own)
        cells += [lead(own, ours, field) if method != OURS else "" for field in ("log_loss", "accuracy")]
        yield line(METHODS[method].label, cells)


def lead(own: list[Score], ours: list[Score], field: str) -> str:
    """Mean and interval of the paired differences to candide."""
    paired = {score.seed: getattr(score, field) for score in ours}
    apart = np.array([getattr(score, field) - paired[score.seed] for score in own])
    if len(apart) < 2:
        return f"{apart.mean():+.4f}"
    wide = student.ppf(0.975, len(apart) - 1) * apart.std(ddof=1) / np.sqrt(len(apart))
    return f"{apart.mean():+.4f} ± {wide:.4f}"


def collect(arguments: argparse.Namespace, methods: list[str]) -> Iterator[dict[str, list[Score]]]:
    """Scores of all methods and splits, one set after the other."""
    cache = Cache(arguments.cache, arguments.fresh, Score)
    for table in (table for name in arguments.sets for table in tables(arguments.data, arguments.rows, name)):
        scores: dict[str, list[Score]] = {method: [] for method in methods}
        for split in range(arguments.splits):
            for method in (name for name in methods if split < FEW_SPLITS.get(name, arguments.splits)):
                seed = arguments.seed + split
                key = (table.name, method, len(table.frame), seed)
                if key not in cache.scores:
                    cache.add(measure(table, method, seed))
                    print(*cache.scores[key], sep=",", flush=True)
                scores[method].append(cache.scores[key])
        yield scores


def introduction(arguments: argparse.Namespace, command: str) -> list[str]:
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    return [
        TITLE,
        "",
        f"{date.today()}, candide {candide.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, "
        f"Python {platform.python_version()}, OMP_NUM_THREADS={threads}. {arguments.splits} random splits, three "
        f"quarters of the rows for training and one for testing, at most {arguments.rows:,} rows per dataset. "
        f"Command: `python -m benchmarks.{command} --data FOLDER --rows {arguments.rows} "
        f"--splits {arguments.splits} --seed {arguments.seed} --save`.",
        "",
        *NOTES,
    ]


def parse(description: str | None, n_splits: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(description or "").replace("``", ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of Parquet files with a column 'label'; else scikit-learn's own sets")
    parser.add_argument("--sets", nargs="+", metavar="SET", help=f"({' '.join(SETS)})")
    parser.add_argument("--rows", type=int, default=60_000, help="most rows of a set (60000)")
    parser.add_argument("--splits", type=int, default=n_splits,
                        help=f"random splits ({n_splits})")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="seed of the first split (0)")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS), metavar="METHOD",
                        help=f"of {', '.join(METHODS)} (all that are installed)")  # fmt: skip
    parser.add_argument("--cache", help="file of results to take up and to continue")
    parser.add_argument("--fresh", nargs="+", default=[], metavar="METHOD", help="methods to measure again")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    arguments.sets = arguments.sets or (SETS if arguments.data else [""])
    return arguments


def main(description: str | None = __doc__, command: str = "full_size", n_splits: int = 5) -> None:
    arguments = parse(description, n_splits)
    methods = [name for name in arguments.methods if METHODS[name].prepare()]
    for name in arguments.methods:
        if name not in methods:
            print(f"{METHODS[name].label} is not installed and left out")
    lines = introduction(arguments, command)
    for scores in collect(arguments, methods):
        lines += lines_of(scores)
    print("\n".join(lines))
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
