"""What an answer is the sum of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..kernels.layouts import Floats

Kind = Literal["prior", "cell", "token", "rest", "limit", "calibration"]
BITS = float(np.log(2.0))


@dataclass(frozen=True)
class Term:
    """What one thing adds to the score of each class, in natural logarithms.

    ``kind`` is "prior" (what is believed of the classes before anything is seen, and the biases of stacking), "cell" (a
    column's cell), "token" (of a text), "rest" (what no cell alone says: tokens that are not there, columns together),
    "limit" (what a view says beyond anything it said in training, and is not believed) or "calibration".
    """

    kind: Kind
    scores: Floats  # (classes,)
    column: Any = None  # the name of the column; None if it belongs to none
    value: Any = None  # of the cell; or the token
    view: str = ""  # by which view of the row, where there are several
    count: float | None = None  # of a token, how often it occurs
    limits: tuple[Floats, ...] = ()  # coefficients of diverging terms, (classes,) each: probabilities of 0

    @property
    def name(self) -> str:
        """What people call it.

        >>> Term("cell", np.zeros(2), "pay", 1234567.0).name, Term("token", np.zeros(2), value="win", count=2.0).name
        ('pay = 1234567', 'win ×2')
        """
        if self.kind == "cell":
            return f"{self.column} = {_shown(self.value)}"
        if self.kind == "token":
            times = f" ×{_shown(self.count)}" if self.count not in (None, 1) else ""
            return f"{'' if self.column is None else f'{self.column}: '}{_spaced(self.value)}{times}"
        return ": ".join(str(part) for part in (self.column, self.value) if part is not None) or self.kind

    @property
    def key(self) -> tuple[Any, ...]:
        """The same for terms about the same thing, seen in different ways. Tokens are what one feature set finds."""
        return self.kind, self.column, self.value, self.view if self.kind == "token" else ""

    def between(self, of: int, against: int) -> float:
        """What it adds to the log-odds of one class against another; infinite where it makes one impossible."""
        for limit in self.limits:
            if limit[of] != limit[against]:
                return float(np.copysign(np.inf, limit[of] - limit[against]))
        if self.scores[of] == self.scores[against]:  # both may be infinite
            return 0.0
        return float(self.scores[of] - self.scores[against])


def _shown(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.15g}" if value.is_integer() else f"{value:.6g}"


def _spaced(token: str) -> str:
    """With spaces at its ends to be seen."""
    return "␣" * (len(token) - len(token.lstrip(" "))) + token.strip(" ") + "␣" * (len(token) - len(token.rstrip(" ")))


def joined(terms: list[Term]) -> Term:
    """Terms about one thing as one."""
    first = terms[0]
    if len(terms) == 1:
        return first
    limits = tuple(np.sum([term.limits[i] for term in terms], axis=0) for i in range(len(first.limits)))
    scores = np.sum([term.scores for term in terms], axis=0)
    return Term(first.kind, scores, first.column, first.value, "", first.count, limits)
