"""The tokens of a text model under two classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..estimators import TextNB
from ..exceptions import NotADensity
from ..kernels.layouts import Array, Floats
from ..model.table import Table
from . import style
from .asked import pair_of


class Spoken(NamedTuple):
    """Tokens that occur, with their probabilities in a class and in what it is compared with."""

    of: str  # as pictures write it
    against: str
    token: Array
    total: Floats  # how often it was seen, in all classes
    here: Floats  # p(token | of)
    there: Floats  # p(token | against)
    by_text: bool  # p is that a text holds the token, not that one of its tokens is it

    @property
    def bits(self) -> Floats:
        """What one occurrence says for ``of``."""
        return np.asarray(np.log2(self.here) - np.log2(self.there))

    def take(self, rows: Array) -> Spoken:
        """Some of the tokens."""
        return self._replace(
            token=self.token[rows], total=self.total[rows], here=self.here[rows], there=self.there[rows]
        )

    def table(self) -> Table:
        """As a picture keeps them."""
        return Table({"token": self.token, "count": self.total, "bits": self.bits})


def spoken(model: TextNB, of: Any, against: Any) -> Spoken:
    """Every token that was seen in some class."""
    first, second = pair_of(model, of, against)
    if model.family == "complement":
        raise NotADensity(
            "the tokens of model='complement' have weights, and no probabilities in a class; show a "
            "TextNB('multinomial') of the same texts"
        )
    parameters, labels = model._fitted().classifier.likelihood.parameters(), model.classes_
    probability = parameters["probability"].reshape(len(labels), -1)
    total = model.token_count_
    count = np.asarray(total.sum(axis=0), dtype=np.float64).ravel()
    seen = np.flatnonzero(count > 0)
    there = _others(probability[:, seen], model.class_prior_, first) if second is None else probability[second, seen]
    called = style.names(labels)
    other = "all other classes" if second is None else called[second]
    names = model._fitted().column_names()[seen]
    return Spoken(called[first], other, names, count[seen], probability[first, seen], there, "value" in parameters)


def _others(probability: Floats, prior: Floats, of: int) -> Floats:
    """p(token | any other class), the classes weighed by how probable they are."""
    weight = np.delete(prior, of)
    return np.asarray(weight @ np.delete(probability, of, axis=0) / max(float(weight.sum()), 1e-300))
