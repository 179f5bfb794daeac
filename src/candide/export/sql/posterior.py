"""From scores to probabilities: what cannot be, the logarithm of the sum, the best class.

Scores are the columns s0, s1, … of a query; NULL where a class cannot be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dialects import Dialect
from .expressions import exponential, total
from .query import Query

# Sums of fractions: 0.1 + 0.2 and 0.3 are the same power of ε, as in ``model.scorer``.
_SLACK = 1e-12
_LEAST = -1.7e308


class Posterior:
    """Scores of some classes on their way to probabilities."""

    def __init__(self, query: Query, alive: Sequence[int], n_classes: int) -> None:
        self.query = query
        self.alive = list(alive)  # classes that can be at all
        self.n_classes = n_classes
        self.nullable = False  # whether a row may rule out some of them

    @property
    def dialect(self) -> Dialect:
        return self.query.dialect

    @property
    def names(self) -> list[str]:
        """Of the scores."""
        return [f"s{k}" for k in self.alive]

    def top(self, names: Sequence[str]) -> str:
        """The largest of some columns."""
        if not self.nullable:
            return self.dialect.greatest(list(names))
        least = self.dialect.number(_LEAST)
        return self.dialect.greatest([f"COALESCE({name}, {least})" for name in names])

    def power(self, number: str) -> str:
        """e to a power that may be NULL: then 0."""
        whole = exponential(number, self.dialect)
        return f"COALESCE({whole}, 0.0)" if self.nullable else whole

    def rule_out(self, n_limits: int) -> None:
        """Only the classes that lead in the first limit live on, of these only those that lead in the second."""
        for i in range(n_limits):
            limits = {k: f"l{i}_{k}" for k in self.alive}
            self.query.step("foremost", {"top": self.top(list(limits.values()))})
            self.nullable = True
            slack = f"top - {self.dialect.number(_SLACK)} * ABS(top)"
            later = [f"l{j}" for j in range(i + 1, n_limits)]
            living = {
                name: f"CASE WHEN {limit} >= {slack} THEN {name} END"
                for k, limit in limits.items()
                for name in (f"s{k}", *(f"{each}_{k}" for each in later))
            }
            self.query.step("living", living)

    def shift(self, change: dict[int, float]) -> None:
        """Adds something to the score of each class; those without a change cannot be."""
        self.alive = [k for k in self.alive if k in change]
        self.query.step("shifted", {f"s{k}": f"s{k} + {self.dialect.number(change[k])}" for k in self.alive})

    def answer(self, labels: Sequence[str], *, proba: bool) -> list[str]:
        """The last steps; expressions of the prediction and, if asked for, of the probabilities of all classes."""
        if not self.alive:
            return [labels[0], *[self.dialect.number(1 / self.n_classes)] * (self.n_classes * proba)]
        self.query.step("best", {"top": self.top(self.names)})
        leads = " ".join(f"WHEN s{k} = top THEN {labels[k]}" for k in self.alive)
        prediction = f"CASE {leads} ELSE {labels[0]} END" if self.nullable else f"CASE {leads} END"
        if not proba:
            return [prediction]
        shares = {f"e{k}": self.power(f"s{k} - top") for k in self.alive}
        self.query.step("shares", {"prediction": prediction, **shares})
        self.query.step("total", {"total": total(list(shares))})
        return ["prediction", *map(self._probability, range(self.n_classes))]

    def _probability(self, k: int) -> str:
        own = f"e{k} / total" if k in self.alive else self.dialect.first_number(0)
        if not self.nullable:
            return own
        return f"CASE WHEN total > 0 THEN {own} ELSE {self.dialect.number(1 / self.n_classes)} END"


def label_text(label: Any, dialect: Dialect) -> str:
    """A class label as a query writes it."""
    if isinstance(label, str):
        return dialect.text(label)
    if isinstance(label, bool):
        return dialect.truth(label)
    return (
        str(label)
        if isinstance(label, int)
        else dialect.number(label)
        if isinstance(label, float)
        else dialect.text(str(label))
    )
