"""What an answer hangs on: how the log-odds change when one word, or one cell of a row, is taken away.

This asks the model itself, so it holds for every model, blends included. The changes need not add up: two words that
say the same are each little missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..kernels.data import Floats
from ..learners.base import BaseNB

_WORD = re.compile(r"\w+")


class Removal(NamedTuple):
    """An answer, and what speaks for it (bits above 0) and against it (below), the most telling first."""

    label: Any
    probability: float
    probabilities: dict[Any, float]
    parts: list[str]
    bits: list[float]


def explain_text(model: BaseNB, text: str) -> Removal:
    """Word by word, each with all its occurrences.

    >>> from candide.learners import TextNB
    >>> mail = ["win cash now", "win a prize", "lunch at noon", "see you at noon"]
    >>> model = TextNB("multinomial").fit(mail, ["spam", "spam", "ham", "ham"])
    >>> found = explain_text(model, "win a lunch, win cash")
    >>> found.label, found.parts[0], round(found.bits[0], 2), found.parts[-1], found.bits[-1] < 0
    ('spam', 'win', 3.56, 'lunch', True)
    """
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(text)))
    return _compared(model, [text, *(_without(text, word) for word in words)], words)


def _without(text: str, word: str) -> str:
    return _WORD.sub(lambda found: "" if found[0].lower() == word else found[0], text)


def explain_row(model: BaseNB, row: Mapping[str, Any]) -> Removal:
    """Cell by cell of a row of a table."""
    names = [name for name, value in row.items() if value is not None]
    columns = {name: [value] + [None if name == gone else value for gone in names] for name, value in row.items()}
    return _compared(model, columns, names)


def _compared(model: BaseNB, X: Any, parts: Iterable[str]) -> Removal:
    """From the whole, first, and the whole without each part."""
    probability = model.predict_proba(X)
    answer = int(probability[0].argmax())
    odds = _log_odds(probability[:, answer], model.predict_log_proba(X), answer)
    bits = odds[0] - odds[1:]
    order = np.argsort(-bits, kind="stable").tolist()
    labels, named = model.classes_.tolist(), list(parts)
    by_class = dict(zip(labels, probability[0].tolist(), strict=True))
    return Removal(
        labels[answer], float(probability[0, answer]), by_class, [named[i] for i in order], bits[order].tolist()
    )


def _log_odds(probability: Floats, log_probability: Floats, answer: int) -> Floats:
    """Of the answer against all others, in bits; from the others' logarithms, for p may be 1 to the last digit."""
    others = np.delete(log_probability, answer, axis=1)
    rest = np.logaddexp.reduce(others, axis=1) if others.shape[1] else np.full(len(others), -np.inf)
    return np.asarray((log_probability[:, answer] - rest) / np.log(2))
