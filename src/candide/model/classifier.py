"""A trained model without scikit-learn: a plan, a state, and the scorer made from them when first needed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ..encoding.index import Index
from ..exceptions import MergeError
from ..families import Family
from ..kernels import Kernels
from ..kernels.data import Array, Floats, Positions, chunks
from .plan import Plan
from .scorer import Scorer
from .state import State
from .table import Table, named


class Classifier:
    """Immutable: learning gives a new one. Predicting only reads, so threads may share it."""

    def __init__(self, plan: Plan, state: State) -> None:
        plan.prior.probability(state.classes, state.rows)  # an impossible prior is an error now, not at predict
        self.plan = plan
        self.state = state

    def __getstate__(self) -> dict[str, Any]:
        return {"plan": self.plan, "state": self.state}

    @property
    def classes(self) -> Index:
        return self.state.classes

    @cached_property
    def family(self) -> Family:
        """The family with all that it takes from the classes together fixed at what they say now."""
        return self.plan.family.settle(self.state.statistics)

    @cached_property
    def likelihood(self) -> Any:
        return self.family.likelihood(self.state.statistics)

    @cached_property
    def class_prior(self) -> Floats:
        """p(class), fitted or given, class weights included."""
        return self.plan.prior.probability(self.classes, self.state.rows)

    @cached_property
    def log_prior(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior)

    @cached_property
    def scorer(self) -> Scorer:
        return Scorer(self.likelihood, self.offset_for(self.state.rows))

    def offset_for(self, rows: Floats) -> Floats:
        """What the classes add to every score if they have so many rows: their log prior, where it has a place."""
        prior = self.plan.prior
        with np.errstate(divide="ignore"):
            if self.plan.prior_in_score or len(self.classes) == 1:
                return np.log(prior.probability(self.classes, rows))
            return np.log(prior.weight(self.classes, rows))

    def with_state(self, state: State) -> Classifier:
        """The same plan over another state."""
        return Classifier(self.plan, state)

    def merge(self, other: Classifier) -> Classifier:
        """The model of both sets of rows."""
        if type(self.plan.family) is not type(other.plan.family):
            raise MergeError("only models of one kind can be merged")
        return self.with_state(self.state.merge(other.state))

    def predict(self, data: Any, kernels: Kernels) -> Array:
        """The label of each row."""
        return self.classes.labels[self.scorer.best(data, kernels)]

    def log_density(self, data: Any, kernels: Kernels) -> Floats:
        """log p(x), row by row."""
        joint = self.scorer.joint(data, kernels)
        top = joint.max(axis=1, keepdims=True)
        safe = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            density = safe[:, 0] + np.log(np.exp(joint - safe).sum(axis=1))
        return _plus(density, self.likelihood.log_base(data))

    def log_likelihood(self, data: Any, classes: Positions, weight: Floats | None, kernels: Kernels) -> float:
        """Σ log p(x, class) over rows."""
        if weight is not None:
            # A row of weight 0 is not there: 0 · (-inf) counts as 0.
            kept = np.flatnonzero(weight > 0)
            data, classes, weight = data.take(kept), classes[kept], weight[kept]
        parts = [self._log_likelihood(*part, kernels) for part in _stretches(data, classes, weight)]
        # Terms that outgrow all others are added apart; the first that does not cancel decides.
        *diverging, finite = np.sum(parts, axis=0)
        left = [term for term in diverging if term]
        return float(np.copysign(np.inf, left[0]) if left else finite)

    def _log_likelihood(self, data: Any, classes: Positions, weight: Floats | float, kernels: Kernels) -> list[float]:
        """Sums over rows of the coefficients of diverging terms, and last of the finite rest."""
        own = np.arange(data.n_rows), classes
        scores = self.likelihood.scores(data, self.scorer.offset, kernels)[own]
        finite = _plus(scores, self.likelihood.log_base(data))
        terms = [limit[own] for limit in self.likelihood.limits(data, kernels)]
        return [float((term * weight).sum()) for term in (*terms, finite)]

    def sample(self, n: int, rng: np.random.Generator, **options: Any) -> tuple[Any, Array]:
        """Rows drawn from the model, and their labels."""
        prior = np.exp(self.scorer.offset)
        classes = rng.choice(len(self.classes), size=n, p=prior / prior.sum()).astype(np.int32)
        return self.likelihood.sample(classes, rng, **options), self.classes.labels[classes]

    def parameters(self, column_names: Array) -> Table:
        """Every parameter of p(x | class) with the count behind it."""
        # Copies: what a reader does to the table must not reach the model.
        columns = {name: np.array(column) for name, column in self.likelihood.parameters().items()}
        columns["class"] = named(columns["class"], self.classes.labels)
        columns["column"] = named(columns["column"], column_names)
        return Table(columns)

    @property
    def n_parameters(self) -> int:
        """Free parameters: those of p(x | class) and of p(class)."""
        prior = len(self.classes) - 1 if self.plan.prior_in_score else 0
        return int(self.family.n_parameters(self.state.statistics)) + prior


def _plus(score: Floats, base: Floats) -> Floats:
    """``score + base``; a base of -inf (the factorial of a huge count) outgrows any score."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(base), -np.inf, score + base)


def _stretches(data: Any, classes: Positions, weight: Floats | None) -> Iterator[tuple[Any, Positions, Floats | float]]:
    for begin, end, part in chunks(data):
        yield part, classes[begin:end], 1.0 if weight is None else weight[begin:end]
