"""What NaiveBayes is compared with on tables: pipelines of scikit-learn, Khiops, and gradient boosting set with care.

Each method is a function from a frame of numbers and texts to a classifier that is not fitted yet. Khiops is measured
only where it is installed (``pip install khiops``); nothing in candide needs it.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler

import candide

from .halves import is_number

N_BINS = 10


def numbers_and_texts(frame: Any) -> tuple[list[Any], list[Any]]:
    """Names of the columns of numbers, and of the rest."""
    numbers = [column for column in frame if is_number(frame[column])]
    return numbers, [column for column in frame if column not in numbers]


def by_kind(frame: Any, numbers: Any, texts: Any) -> ColumnTransformer:
    """One transformer for the columns of numbers and one for the rest."""
    names = numbers_and_texts(frame)
    return ColumnTransformer([("numbers", numbers, names[0]), ("texts", texts, names[1])])


def ordinal() -> OrdinalEncoder:
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)


def naive_bayes(frame: Any) -> Any:
    return candide.NaiveBayes()


def bins(frame: Any) -> Any:
    """Quantile bins; unknown texts are code 0."""
    numbers = make_pipeline(
        SimpleImputer(strategy="median"), KBinsDiscretizer(N_BINS, encode="ordinal", strategy="quantile")
    )
    fill = SimpleImputer(strategy="constant", fill_value="?")
    texts = make_pipeline(fill, ordinal(), FunctionTransformer(lambda codes: codes + 1))
    most = max([N_BINS] + [frame[column].nunique() + 3 for column in numbers_and_texts(frame)[1]])
    return make_pipeline(by_kind(frame, numbers, texts), CategoricalNB(min_categories=most))


def gaussian(frame: Any) -> Any:
    texts = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(by_kind(frame, SimpleImputer(), texts), GaussianNB())


def logistic(frame: Any) -> Any:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    texts = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(by_kind(frame, numbers, texts), LogisticRegression(max_iter=500))


def khiops(**settings: Any) -> Callable[[Any], Any]:
    def make(frame: Any) -> Any:
        from khiops.sklearn import KhiopsClassifier

        return KhiopsClassifier(**settings)

    return make


def prepare_khiops() -> bool:
    """Whether it is installed; loads it, so that no set pays for that.

    Its programs lie beside the interpreter. As installed, Open MPI was seen to sleep for a second whenever one of
    them starts, six times a set; a process that talks to itself alone does not need the devices it waits for.
    """
    if find_spec("khiops") is None:
        return False
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    os.environ.setdefault("KHIOPS_PROC_NUMBER", "1")
    os.environ.setdefault("OMPI_MCA_btl", "self")
    import_module("khiops.sklearn")
    return True


def boosting(frame: Any) -> Any:
    return make_pipeline(by_kind(frame, "passthrough", ordinal()), HistGradientBoostingClassifier())


class Boosting(ABC):
    """Gradient boosting with native categories; ``rounds`` says how many steps are taken."""

    def __init__(self, **settings: Any) -> None:
        self.settings = {"categorical_features": "from_dtype", "random_state": 0} | settings

    def fit(self, X: Any, y: Any) -> Boosting:
        self.kinds = {column: pd.CategoricalDtype(X[column].dropna().unique()) for column in numbers_and_texts(X)[1]}
        frame = self.read(X)
        self.model = HistGradientBoostingClassifier(**self.settings, **self.rounds(frame, y)).fit(frame, y)
        self.classes_ = self.model.classes_
        return self

    @abstractmethod
    def rounds(self, frame: Any, y: Any) -> dict[str, Any]:
        """The settings that say how many steps are taken."""

    def read(self, X: Any) -> Any:
        return X.assign(**{column: self.categories(X[column], kind) for column, kind in self.kinds.items()})

    def categories(self, column: Any, kind: Any) -> Any:
        """Categories, or their codes as numbers where there are more than boosting takes."""
        column = column.astype(kind)
        return column if len(kind.categories) <= 255 else column.cat.codes.astype(float)

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(self.read(X))


class StoppedEarly(Boosting):
    """Steps end when 15 % of the rows say so; a hundred where a class is too small for that."""

    def rounds(self, frame: Any, y: Any) -> dict[str, Any]:
        if y.value_counts().min() < 10:
            return {"max_iter": 100, "early_stopping": False}
        return {"max_iter": 500, "early_stopping": True, "validation_fraction": 0.15, "n_iter_no_change": 15}


class StoppedByFolds(Boosting):
    """As many steps as three folds found best on average, then all rows; also where classes are small."""

    def rounds(self, frame: Any, y: Any) -> dict[str, Any]:
        folds = StratifiedKFold(3, shuffle=True, random_state=0).split(frame, y)
        best = [self.best(frame, y, known, held) for known, held in folds]
        return {"max_iter": max(1, round(np.mean(best))), "early_stopping": False}

    def best(self, frame: Any, y: Any, known: Any, held: Any) -> int:
        model = HistGradientBoostingClassifier(
            **self.settings, max_iter=500, early_stopping=True, n_iter_no_change=20
        ).fit(frame.iloc[known], y.iloc[known], X_val=frame.iloc[held], y_val=y.iloc[held])
        return int(np.argmax(model.validation_score_))


class Method(NamedTuple):
    """How a method is called in tables, what makes it, and whether it can be run here."""

    label: str
    make: Callable[[Any], Any]
    prepare: Callable[[], bool] = lambda: True


METHODS = {
    "candide": Method("candide", naive_bayes),
    "sklearn_bins": Method("scikit-learn, bins", bins),
    "sklearn_gaussian": Method("scikit-learn, Gaussian", gaussian),
    "khiops_no_trees": Method("Khiops, no trees", khiops(n_trees=0), prepare_khiops),
    "khiops": Method("Khiops", khiops(), prepare_khiops),
    "logistic": Method("logistic regression", logistic),
    "boosting": Method("boosting, default", boosting),
    "boosting_early": Method(
        "boosting, stopped early",
        lambda frame: StoppedEarly(learning_rate=0.05, max_leaf_nodes=15, min_samples_leaf=10),
    ),
    "boosting_folds": Method(
        "boosting, tuned by cross-validation",
        lambda frame: StoppedByFolds(
            learning_rate=0.08, max_leaf_nodes=15, min_samples_leaf=5, l2_regularization=1.0, max_features=0.3
        ),
    ),
}
