"""Texts for classifiers, what TextNB is compared with on them, and the protocol.

A set is a Parquet file with columns ``text`` and ``label``. Where a column ``split`` says so, its parts are kept; else
stratified folds, two unless others are asked for, predict each other. Without a folder, sentences made of words by
class take the place of sets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

import candide

from .text_peers import FastText, VowpalWabbit

# What a probability of 0 counts as, for all methods alike.
LEAST = 1e-12
# What takes less than so many seconds is timed so many times.
_LITTLE, _ROUNDS = 2.0, 7


class TextSet(NamedTuple):
    """Texts, their labels, and pairs of row positions: to learn from, and to predict."""

    name: str
    texts: Any
    labels: Any
    parts: list[tuple[Any, Any]]

    @property
    def classes(self) -> Any:
        return np.unique(self.labels)

    @property
    def megabytes(self) -> float:
        return sum(len(text.encode()) for text in self.texts) / 1e6


class Judged(NamedTuple):
    """Probabilities of the rows that were predicted, their classes, and the seconds of all fits and predictions."""

    probability: Any
    own: Any
    fit_seconds: float
    predict_seconds: float

    @property
    def accuracy(self) -> float:
        return float(np.mean(self.probability.argmax(axis=1) == self.own))

    @property
    def log_loss(self) -> float:
        return float(-np.log(self.probability[np.arange(len(self.own)), self.own]).mean())

    @property
    def calibration_error(self) -> float:
        """Of the largest probability, in fifteen bins of equal size."""
        sure, right = self.probability.max(axis=1), self.probability.argmax(axis=1) == self.own
        bins = np.array_split(np.argsort(sure, kind="stable"), 15)
        return float(
            sum(len(rows) * abs(sure[rows].mean() - right[rows].mean()) for rows in bins if len(rows)) / len(sure)
        )

    @property
    def ranking_error(self) -> float:
        """1 − AUC of the second of two classes; NaN of more."""
        if self.probability.shape[1] != 2:
            return float("nan")
        return 1.0 - float(roc_auc_score(self.own, self.probability[:, 1]))


def is_folder_of_texts(folder: str | None) -> bool:
    """Whether the first file of a folder has a column of texts."""
    import pyarrow.parquet

    first = None if folder is None else next(iter(sorted(Path(folder).glob("*.parquet"))), None)
    return first is not None and "text" in pyarrow.parquet.read_schema(first).names


def text_sets(folder: str | None, only: str = "", folds: int = 2) -> Iterator[TextSet]:
    """Every set of the folder whose name contains ``only``."""
    if folder is None:
        yield _of("made of words", made_texts(), folds)
        return
    for path in sorted(Path(folder).glob("*.parquet")):
        if only in path.stem:
            yield _of(path.stem, pd.read_parquet(path), folds)


def made_texts(n: int = 600, seed: int = 0) -> Any:
    """Sentences of words, some of which are more frequent in one of three classes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    words = [rng.zipf(1.3, rng.integers(5, 40)) % 2000 + 40 * label * (rng.random() < 0.7) for label in labels]
    texts = [" ".join(f"w{word}" for word in row) for row in words]
    return pd.DataFrame({"text": texts, "label": labels})


def _of(name: str, frame: Any, folds: int) -> TextSet:
    frame = frame.dropna(subset=["text", "label"]).reset_index(drop=True)
    labels = frame["label"].astype(str)
    if "split" in frame and frame["split"].nunique() > 1:
        test = frame["split"].eq("test").to_numpy()
        parts = [(np.flatnonzero(~test), np.flatnonzero(test))]
    else:
        name = name if folds == 2 else f"{name} by {folds} folds"
        kept = labels.map(labels.value_counts()) >= folds
        frame, labels = frame[kept].reset_index(drop=True), labels[kept].reset_index(drop=True)
        parts = list(StratifiedKFold(folds, shuffle=True, random_state=1).split(frame, labels))
    return TextSet(name, frame["text"].tolist(), labels.to_numpy(), parts)


def judge(data: TextSet, make: Callable[[], Any]) -> Judged:
    """Let a method learn each part and predict the other."""
    probability, fitting, predicting = np.zeros((len(data.labels), len(data.classes))), 0.0, 0.0
    for known, held in data.parts:
        texts, asked = ([data.texts[i] for i in rows] for rows in (known, held))
        model, seconds = fitted(make, texts, data.labels[known])
        begin = time.perf_counter()
        found = model.predict_proba(asked)
        fitting, predicting = fitting + seconds, predicting + time.perf_counter() - begin
        places = np.searchsorted(data.classes, np.asarray(model.classes_).astype(str))
        probability[np.ix_(held, places)] = found
    rows = np.concatenate([held for _, held in data.parts])
    probability = np.clip(probability[rows], LEAST, None)
    own = np.searchsorted(data.classes, data.labels[rows])
    return Judged(probability / probability.sum(axis=1, keepdims=True), own, fitting, predicting)


def fitted(make: Callable[[], Any], texts: list[str], labels: Any) -> tuple[Any, float]:
    """A model and the seconds that it took: what takes little time is done again, for a median."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < _ROUNDS and max(seconds) < _LITTLE):
        begin = time.perf_counter()
        model = make().fit(texts, labels)
        seconds.append(time.perf_counter() - begin)
    return model, median(seconds)


class Method(NamedTuple):
    """A classifier to compare, and the module it needs."""

    label: str
    make: Callable[[], Any]
    needs: str = "sklearn"

    def is_there(self) -> bool:
        return find_spec(self.needs) is not None


METHODS = {
    "candide": Method("candide", candide.TextNB),
    "refine": Method("candide, refined", lambda: candide.TextNB(refine=True)),
    "multinomial": Method("MultinomialNB", lambda: make_pipeline(CountVectorizer(), MultinomialNB())),
    "multinomial_pairs": Method(
        "MultinomialNB, pairs",
        lambda: make_pipeline(CountVectorizer(ngram_range=(1, 2), binary=True), MultinomialNB(alpha=0.1)),
    ),
    "complement": Method(
        "ComplementNB, tf-idf", lambda: make_pipeline(TfidfVectorizer(sublinear_tf=True), ComplementNB())
    ),
    "bernoulli": Method("BernoulliNB", lambda: make_pipeline(CountVectorizer(), BernoulliNB())),
    "logistic": Method(
        "logistic regression, tf-idf",
        lambda: make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=10, max_iter=200)),
    ),
    "fasttext": Method("fastText", lambda: FastText(epoch=25, lr=0.5, wordNgrams=2, minCount=1), "fasttext"),
    "vowpalwabbit": Method("Vowpal Wabbit", lambda: VowpalWabbit("--ngram 2", passes=10), "vowpalwabbit"),
}
