"""One small model of each kind and setting, with rows to predict and rows to learn."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from candide import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    TextNB,
)
from candide.families import MultivariateNormal
from candide.priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma, NormalInverseWishart


class Case(NamedTuple):
    """A fitted model, rows it has learned with their labels, and others."""

    model: Any
    X: Any
    y: Any
    more: tuple[Any, Any]


X_IRIS, Y_IRIS = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
PROSE = [
    "win a free prize now", "see you at lunch", "free cash, win cash!", "lunch is at noon", "a prize: 1000 pounds free",
    "are we meeting at noon?", "win win win", "the meeting is moved to lunch", "claim your free cash", "see you soon",
]  # fmt: skip
TOPICS = ["spam", "ham", "spam", "ham", "spam", "ham", "spam", "ham", "spam", "ham"]


def numbers(model: Any) -> Case:
    return Case(model.fit(X_IRIS[:140], Y_IRIS[:140]), X_IRIS[:140], Y_IRIS[:140], (X_IRIS[140:], Y_IRIS[140:]))


def named_numbers(model: Any) -> Case:
    frame, labels = pd.DataFrame(X_IRIS, columns=list("abcd")), NAMES[Y_IRIS]
    return Case(model.fit(frame[:140], labels[:140]), frame[:140], labels[:140], (frame[140:], labels[140:]))


def sparse(model: Any) -> Case:
    X = csr_array(np.where(X_IRIS > 2, X_IRIS, 0))
    return Case(model.fit(X[:140], Y_IRIS[:140]), X[:140], Y_IRIS[:140], (X[140:], Y_IRIS[140:]))


def categories(model: Any) -> Case:
    rows = {"a": ["x", "y", None] * 20, "b": [True, False, True] * 20, "c": [1, "one", 2.5] * 20}
    frame, labels = pd.DataFrame(rows), ["p", "q", "r"] * 20
    return Case(model.fit(frame[:51], labels[:51]), frame[:51], labels[:51], (frame[51:], labels[51:]))


def codes(model: Any) -> Case:
    X = np.round(X_IRIS).astype(np.int64)
    return Case(model.fit(X[:140], Y_IRIS[:140]), X[:140], Y_IRIS[:140], (X[140:], Y_IRIS[140:]))


def table(model: Any) -> Case:
    frame = pd.DataFrame(X_IRIS[:, :3].copy(), columns=list("abc"))
    frame["day"] = pd.date_range("2020-01-01", periods=150)
    frame["job"] = ["cook", "smith", None] * 50
    frame["member"] = np.arange(150) % 7 > 2
    frame.loc[3:9, "b"] = np.nan
    order = np.random.default_rng(0).permutation(150)[:100]
    frame, labels = frame.iloc[order].reset_index(drop=True), NAMES[Y_IRIS][order]
    return Case(model.fit(frame[:90], labels[:90]), frame[:90], labels[:90], (frame[90:], labels[90:]))


def table_with_texts(model: Any) -> Case:
    rng = np.random.default_rng(1)
    rows = {"size": rng.normal(size=200), "colour": rng.choice(["red", "green"], 200), "text": PROSE * 20}
    frame, labels = pd.DataFrame(rows), np.array(TOPICS * 20)
    return Case(model.fit(frame[:180], labels[:180]), frame[:180], labels[:180], (frame[180:], labels[180:]))


def texts(model: Any) -> Case:
    X, y = [f"{text} {i % 7}" for i, text in enumerate(PROSE * 6)], TOPICS * 6
    return Case(model.fit(X[:50], y[:50]), X[:50], y[:50], (X[50:], y[50:]))


def topics(model: Any) -> Case:
    """Texts of three classes, some of them missing, with whole numbers as labels."""
    X = [f"{text} {i % 5}" for i, text in enumerate(PROSE * 6)]
    X[7] = None
    y = [i % 10 % 3 for i in range(60)]
    return Case(model.fit(X[:50], y[:50]), X[:50], y[:50], (X[50:], y[50:]))


def half_labelled(model: Any) -> Case:
    X, y = [f"{text} {i % 7}" for i, text in enumerate(PROSE * 12)], TOPICS * 12
    some = [label if i % 3 else None for i, label in enumerate(y[:100])]
    return Case(model.fit(X[:100], some), X[:100], y[:100], (X[100:], y[100:]))


_BINARY_PRIOR = [0.2, 0.3, 0.5]

_WISHART = MultivariateNormal(NormalInverseWishart([0.0, 0.0], 1.0, 4.0, np.eye(2)), "mean")

_MADE: dict[str, Callable[[], Case]] = {
    "gaussian": lambda: numbers(GaussianNB()),
    "gaussian names": lambda: named_numbers(GaussianNB(priors=_BINARY_PRIOR, compute_loo=True)),
    "gaussian temperature": lambda: numbers(GaussianNB(calibrate="temperature")),
    "gaussian platt": lambda: numbers(GaussianNB(calibrate="platt")),
    "gaussian beta": lambda: named_numbers(GaussianNB(calibrate="beta")),
    "gaussian isotonic": lambda: numbers(GaussianNB(calibrate="isotonic")),
    "gaussian conjugate": lambda: numbers(
        GaussianNB(parameter_prior=NormalInverseGamma(0.0, 1.0, 2.0, 1.0), estimate="predictive")
    ),
    "gaussian known variance": lambda: numbers(GaussianNB(parameter_prior=Normal(0.0, 10.0, 1.0), estimate="mean")),
    "gaussian kept": lambda: numbers(GaussianNB(subsample=100_000)),
    "multinomial": lambda: numbers(MultinomialNB()),
    "multinomial loo": lambda: numbers(MultinomialNB(alpha="loo")),
    "multinomial evidence": lambda: sparse(MultinomialNB(alpha="evidence")),
    "multinomial prior": lambda: numbers(MultinomialNB(parameter_prior=Dirichlet([1.0, 2.0, 3.0, 4.0]))),
    "multinomial mle": lambda: numbers(MultinomialNB(estimate="mle")),
    "multinomial balanced": lambda: sparse(MultinomialNB(class_weight="balanced", calibrate="platt")),
    "complement": lambda: numbers(ComplementNB(norm=True)),
    "complement calibrated": lambda: numbers(ComplementNB(calibrate="isotonic")),
    "bernoulli": lambda: numbers(BernoulliNB(binarize=2.0)),
    "bernoulli loo": lambda: numbers(BernoulliNB(binarize=2.0, alpha="loo")),
    "bernoulli prior": lambda: numbers(BernoulliNB(binarize=1.0, parameter_prior=Beta(2.0, 3.0), calibrate="beta")),
    "poisson": lambda: codes(PoissonNB()),
    "poisson prior": lambda: codes(PoissonNB(parameter_prior=Gamma(2.0, 0.5), class_weight={0: 2.0})),
    "categorical": lambda: categories(CategoricalNB()),
    "categorical codes": lambda: codes(CategoricalNB(min_categories=12, calibrate="temperature")),
    "categorical kept": lambda: categories(CategoricalNB(subsample=100_000)),
    "table": lambda: table(NaiveBayes()),
    "table plain": lambda: table(NaiveBayes(stacking=None)),
    "table order 1": lambda: table(
        NaiveBayes(order=1, class_prior={"setosa": 0.2, "versicolor": 0.3, "virginica": 0.5})
    ),
    "table block": lambda: table(
        NaiveBayes(columns={("a", "b"): "multivariate_normal", "c": ("bins", {"n_bins": 4})}, order=0)
    ),
    "table block prior": lambda: table(NaiveBayes(columns={("a", "b"): _WISHART}, stacking=None)),
    "table isotonic": lambda: table(NaiveBayes(calibrate="isotonic", missing="category", order=0)),
    "table of texts": lambda: table_with_texts(NaiveBayes(columns={"text": "text"}, order=0)),
    "table of numbers": lambda: numbers(NaiveBayes(order=1)),
    "text": lambda: texts(TextNB()),
    "text three classes": lambda: topics(TextNB()),
    "text refined": lambda: texts(TextNB(refine=True)),
    "text named": lambda: texts(TextNB(buckets=None)),
    "text few buckets": lambda: texts(TextNB(buckets=8)),
    "text some looks": lambda: texts(TextNB(feature_sets=["words", "places"])),
    "text half labelled": lambda: half_labelled(TextNB(unlabeled="em")),
    "text ignored": lambda: half_labelled(TextNB(unlabeled="sfe", family="multinomial")),
    "text multinomial": lambda: texts(TextNB("multinomial", ngrams=2)),
    "text tfidf": lambda: texts(TextNB("multinomial", weighting="tfidf", min_df=2, max_features=20)),
    "text log": lambda: topics(TextNB("multinomial", weighting="log", calibrate="platt")),
    "text bernoulli": lambda: texts(TextNB("bernoulli", alpha="loo")),
    "text complement": lambda: topics(TextNB("complement", analyzer="char_wb", ngrams=(2, 3))),
    "text polya": lambda: texts(TextNB("polya", alpha="evidence")),
    "text fixed vocabulary": lambda: texts(TextNB("multinomial", vocabulary=["win", "lunch", "free"])),
    "text stop words": lambda: texts(TextNB("multinomial", stop_words=["a", "at", "the"], strip_accents="ascii")),
    "text pattern": lambda: texts(TextNB("multinomial", pattern=r"\w+|[!?]")),
    "text buckets": lambda: texts(TextNB("multinomial", buckets=10)),
}


@cache
def _fitted(name: str) -> Case:
    return _MADE[name]()


def _copy(name: str) -> Case:
    """For the caller to change: models are fitted once."""
    return copy.deepcopy(_fitted(name))


EXAMPLES: dict[str, Callable[[], Case]] = {name: partial(_copy, name) for name in _MADE}
