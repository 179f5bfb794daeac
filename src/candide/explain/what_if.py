"""The smallest changes of a row after which the answer is another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, TextRows
from ..model.classifier import Classifier
from ..printable import printable
from .contributions import explained
from .variants import Cells, Variants, Words

# Changes of cells that are tried together, and halvings of the way to a number.
_MOST_CHANGES = 5
_HALVINGS = 20
# Digits of a number that are tried, after the first two.
_DIGITS = 10
# Other answers that are tried for.
_TARGETS = 2
# Words of a text that are tried.
_MOST_WORDS = 50
_NOTHING: Mapping[int, Any] = {}


class Change(NamedTuple):
    """A cell, what it held and what it would hold; a word that is taken away has no column, and None after."""

    column: Any
    before: Any
    after: Any

    def __str__(self) -> str:
        if self.column is None:
            return f"without {self.before!r}"
        return printable(f"{self.column}: {_shown(self.before)} → {_shown(self.after)}")


class Flip(NamedTuple):
    """Changes that make another answer, and how sure it is."""

    changes: tuple[Change, ...]
    answer: Any
    probability: float

    def __str__(self) -> str:
        return printable(f"{', '.join(map(str, self.changes))}: {self.answer} ({self.probability:.4f})")


@dataclass(frozen=True, repr=False)
class WhatIf:
    """The answer about a row, and what it would take to be another, the least first."""

    answer: Any
    probability: float
    flips: tuple[Flip, ...]

    def __repr__(self) -> str:
        none = ["  no change of a few cells or words was found that makes another answer"]
        lines = [f"  {flip}" for flip in self.flips] or none
        return "\n".join([f"{printable(self.answer)} ({self.probability:.4f}), unless", *lines])


def what_if(model: Classifier, data: Any, names: Array, to: Any, most: int, kernels: Kernels) -> Iterator[WhatIf]:
    """Row by row; ``to``: the answer that is wanted, any other if None."""
    labels = model.classes.labels.tolist()
    if to is not None and to not in labels:
        raise ParameterError(f"to is {to!r}, which is no class of this model; it knows {labels}")
    for i in range(data.n_rows):
        row = data.take(np.array([i]))
        variants: Variants = _words(model, row, kernels) if isinstance(row, TextRows) else Cells(model, row, names)
        yield _Search(model, variants, None if to is None else labels.index(to), kernels).found(most)


def _words(model: Classifier, row: TextRows, kernels: Kernels) -> Words:
    """Words by what they say for the answer, the strongest first; few of a long text."""
    (found,) = explained(model, row, np.zeros(0), kernels)
    text, amounts = found.texts[None], defaultdict[str, float](float)
    for word in found.words().words if len(found.classes) > 1 else []:
        amounts[text[word.begin : word.end].lower()] += word.amount
    return Words(text, sorted(amounts, key=lambda word: -amounts[word])[:_MOST_WORDS])


class _Search:
    """Changes of one row, asked of the model many at a time."""

    def __init__(self, model: Classifier, variants: Variants, to: int | None, kernels: Kernels) -> None:
        self.model, self.variants, self.to, self.kernels = model, variants, to, kernels
        self.start = self._ask([{}])[0]
        self.answer = int(self.start.argmax())

    def _ask(self, changes: list[Mapping[int, Any]]) -> Floats:
        return self.model.posterior(self.variants.changed(changes), self.kernels, logarithm=True)

    def _lead(self, scores: Floats) -> Floats:
        """How far the answer that is wanted is ahead of the one that is given; above 0 it is reached."""
        others = np.delete(scores, self.answer, axis=1).max(axis=1) if self.to is None else scores[:, self.to]
        rest = scores[:, self.answer] if self.to is None else np.delete(scores, self.to, axis=1).max(axis=1)
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(others - rest, nan=0.0, posinf=1e300, neginf=-1e300)

    def found(self, most: int) -> WhatIf:
        label, sure = self.model.classes.labels.tolist()[self.answer], float(np.exp(self.start[self.answer]))
        if self.to == self.answer or len(self.start) < 2:
            return WhatIf(label, sure, ())
        singles = [
            (place, value) for place in range(len(self.variants.names)) for value in self.variants.candidates(place)
        ]
        if not singles:
            return WhatIf(label, sure, ())
        lead = self._lead(self._ask([{place: value} for place, value in singles]))
        flipping = [(place, value) for (place, value), ahead in zip(singles, lead, strict=True) if ahead > 0]
        if flipping:
            return WhatIf(label, sure, tuple(self._smallest(flipping))[:most])
        together = [changes for to in self._targets for changes in self._toward(to)._together(singles)]
        return WhatIf(label, sure, tuple(self._flip(changes) for _, changes in sorted(together, key=itemgetter(0))[:1]))

    @property
    def _targets(self) -> list[int]:
        """The answer that is wanted, or the next best ones."""
        others: list[int] = np.argsort(-self.start, kind="stable")[1 : 1 + _TARGETS].tolist()
        return others if self.to is None else [self.to]

    def _toward(self, to: int) -> _Search:
        return _Search(self.model, self.variants, to, self.kernels)

    def _smallest(self, flipping: list[tuple[int, Any]]) -> Iterator[Flip]:
        """Of each cell the least change that is enough; numbers by their deviations, others as one."""
        best: dict[int, tuple[float, Any]] = {}
        for place, value in flipping:
            size, nearest = self._nearest(place, value)
            if place not in best or size < best[place][0]:
                best[place] = size, nearest
        for place, (_, value) in sorted(best.items(), key=lambda item: item[1][0]):
            yield self._flip({place: value})

    def _nearest(self, place: int, value: Any, beside: Mapping[int, Any] = _NOTHING) -> tuple[float, Any]:
        """A number between that is still enough, beside other changes, and how many deviations away it is."""
        step, before = self.variants.step(place), self.variants.before[place]
        if step is None or before is None:
            return 1.0, value
        enough = self._border(place, float(before), float(value), beside)
        return abs(enough - float(before)) / step, enough

    def _border(self, place: int, near: float, far: float, beside: Mapping[int, Any]) -> float:
        """The number nearest to the first that is enough, with as few digits as that takes."""

        def is_enough(number: float) -> bool:
            return bool(self._lead(self._ask([{**beside, place: number}]))[0] > 0)

        if self.variants.is_whole(place):
            while abs(far - near) > 1:
                middle = float(round((near + far) / 2))
                near, far = (near, middle) if is_enough(middle) else (middle, far)
            return far
        last = far
        for _ in range(_HALVINGS):
            middle = (near + far) / 2
            near, far = (near, middle) if is_enough(middle) else (middle, far)
        unit = 10.0 ** np.floor(np.log10(max(abs(far), 1e-300)) - 1)
        for _ in range(_DIGITS):
            whole = np.ceil(far / unit) if last > near else np.floor(far / unit)
            short = float(_number(whole * unit))
            if abs(short - far) <= 0.01 * abs(last - far) + abs(far - near) and is_enough(short):
                return short
            unit /= 10
        return far

    def _together(self, singles: list[tuple[int, Any]]) -> list[tuple[float, dict[int, Any]]]:
        """The change that helps most, then another, until it is enough; each then as small as it can be.

        None, or one, and how large it is.
        """
        changes: dict[int, Any] = {}
        for _ in range(_MOST_CHANGES):
            lead = self._lead(self._ask([changes | {place: value} for place, value in singles]))
            place, value = singles[int(lead.argmax())]
            changes[place] = value
            if lead.max() > 0:
                return [self._lessened(self._needed(changes))]
            singles = [(other, value) for other, value in singles if other not in changes]
            if not singles:
                break
        return []

    def _lessened(self, changes: dict[int, Any]) -> tuple[float, dict[int, Any]]:
        whole = 0.0
        for place, value in list(changes.items()):
            beside = {other: kept for other, kept in changes.items() if other != place}
            size, changes[place] = self._nearest(place, value, beside)
            whole += size
        return whole, changes

    def _needed(self, changes: dict[int, Any]) -> dict[int, Any]:
        for place in list(changes):
            fewer = {other: value for other, value in changes.items() if other != place}
            if fewer and self._lead(self._ask([fewer]))[0] > 0:
                changes = fewer
        return changes

    def _flip(self, changes: Mapping[int, Any]) -> Flip:
        scores, names, before = self._ask([changes])[0], self.variants.names, self.variants.before
        shown = self.variants.shown
        made = tuple(
            Change(names[place], shown(place, before[place]), shown(place, value)) for place, value in changes.items()
        )
        best = int(scores.argmax())
        return Flip(made, self.model.classes.labels.tolist()[best], float(np.exp(scores[best])))


def _shown(value: Any) -> str:
    return "nothing" if value is None else _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    """Digits enough that what is read is what was meant, without those of rounding."""
    return f"{value:.12g}"
