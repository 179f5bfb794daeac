"""Text classifiers of other makers, with scikit-learn's verbs; each is used where it is installed."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np


class FastText:
    """fastText with scikit-learn's verbs; it learns from a file."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def fit(self, texts: list[str], labels: Any) -> FastText:
        self.classes_, places = np.unique(labels, return_inverse=True)
        with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False, encoding="utf-8") as lines:
            lines.writelines(f"__label__{k} {_one_line(text)}" for k, text in zip(places, texts, strict=True))
        self.model = _trained(lines.name, **{"lr": 0.1, **self.settings})
        os.unlink(lines.name)
        return self

    def predict_proba(self, texts: list[str]) -> Any:
        out = np.full((len(texts), len(self.classes_)), 1e-9)
        for row, text in zip(out, texts, strict=True):
            for probability, label in self.model.f.predict(_one_line(text), -1, 0.0, "strict"):
                row[int(label.removeprefix("__label__"))] = probability
        return out


def _trained(path: str, lr: float, **settings: Any) -> Any:
    """At half the rate where it does not converge, which its threads let happen now and then."""
    import fasttext

    try:
        return fasttext.train_supervised(path, lr=lr, thread=2, verbose=0, **settings)
    except RuntimeError as error:
        if "NaN" not in str(error):
            raise
        return _trained(path, lr / 2, **settings)


def _one_line(text: str) -> str:
    return " ".join(text.lower().split()) + "\n"


class VowpalWabbit:
    """Vowpal Wabbit, one against all; a round takes the texts in their order."""

    def __init__(self, options: str = "", passes: int = 1) -> None:
        self.options, self.passes = options, passes

    def fit(self, texts: list[str], labels: Any) -> VowpalWabbit:
        from vowpalwabbit import Workspace

        self.classes_, places = np.unique(labels, return_inverse=True)
        how = f"--oaa {len(self.classes_)} --loss_function logistic --probabilities -b 24 --quiet"
        self.model = Workspace(f"{how} {self.options}")
        lines = [f"{k + 1} {_features(text)}" for k, text in zip(places, texts, strict=True)]
        for _ in range(self.passes):
            for line in lines:
                self.model.learn(line)
        return self

    def predict_proba(self, texts: list[str]) -> Any:
        return np.array([self.model.predict(_features(text)) for text in texts])


def _features(text: str) -> str:
    """Words; a colon or a bar between them would mean something."""
    return "| " + _one_line(text).translate(str.maketrans(":|", "  "))
