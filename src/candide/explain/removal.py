"""What an answer hangs on: how the log-odds change when one word, or one cell of a row, is taken away.

This asks the model itself, so it holds for every model, blends included. The changes need not add up: two words that
say the same are each little missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from ..kernels.data import Floats
from ..learners.base import BaseNB

_WORD = re.compile(r"\w+")
_AT_ONCE = 200


class Explanation(NamedTuple):
    """An answer, and what speaks for it (bits above 0) and against it (below), the most telling first."""

    label: Any
    probability: float
    probabilities: dict[Any, float]
    parts: list[str]
    bits: list[float]


def explain_text(model: BaseNB, text: str) -> Explanation:
    """Word by word, each with all its occurrences.

    >>> from candide.learners import TextNB
    >>> mail = ["win cash now", "win a prize", "lunch at noon", "see you at noon"]
    >>> model = TextNB("multinomial").fit(mail, ["spam", "spam", "ham", "ham"])
    >>> found = explain_text(model, "win a lunch, win cash")
    >>> found.label, found.parts[0], round(found.bits[0], 2), found.parts[-1], found.bits[-1] < 0
    ('spam', 'win', 3.56, 'lunch', True)
    """
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(text)))
    # Some at a time: all variants of a long text would take its size squared.
    variants = chain([text], (_without(text, word) for word in words))
    return _compared(model, iter(lambda: list(islice(variants, _AT_ONCE)), []), words)


def _without(text: str, word: str) -> str:
    return _WORD.sub(lambda found: "" if found[0].lower() == word else found[0], text)


def explain_row(model: BaseNB, row: Mapping[str, Any]) -> Explanation:
    """Cell by cell of a row of a table."""
    names = [name for name, value in row.items() if value is not None]
    columns = {name: [value] + [None if name == gone else value for gone in names] for name, value in row.items()}
    return _compared(model, [columns], names)


def _compared(model: BaseNB, variants: Iterable[Any], parts: list[str]) -> Explanation:
    """From the whole, first, and the whole without each part."""
    scores = np.concatenate([model.predict_log_proba(some) for some in variants])
    answer = int(scores[0].argmax())
    bits = _less(_log_odds(scores, answer))
    order = np.argsort(-bits, kind="stable").tolist()
    probability, labels = np.exp(scores[0]).tolist(), model.classes_.tolist()
    by_class = dict(zip(labels, probability, strict=True))
    return Explanation(labels[answer], probability[answer], by_class, [parts[i] for i in order], bits[order].tolist())


def _less(odds: Floats) -> Floats:
    """What the odds lose with each part; nothing where they are certain with it and without it."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(odds[0] - odds[1:], nan=0.0, posinf=np.inf, neginf=-np.inf))


def _log_odds(log_probability: Floats, answer: int) -> Floats:
    """Of the answer against all others, in bits; from the others' logarithms, for p may be 1 to the last digit."""
    others = np.delete(log_probability, answer, axis=1)
    rest = np.logaddexp.reduce(others, axis=1) if others.shape[1] else np.full(len(others), -np.inf)
    return np.asarray((log_probability[:, answer] - rest) / np.log(2))
