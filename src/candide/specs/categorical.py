"""Parameters of categorical naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..data.categories import read_categories
from ..data.column_types import like_learned
from ..exceptions import ParameterError
from ..families import Categorical
from ..priors import Dirichlet
from .base import Previous
from .discrete import DiscreteSpec
from .parameters import choice
from .prior_params import read_prior
from .schema import Schema


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CategoricalSpec(DiscreteSpec):
    """Parameters of ``CategoricalNB``."""

    name: ClassVar[str] = "CategoricalNB"
    column_type: ClassVar[str] = "category"
    prior_type: ClassVar[type] = Dirichlet

    min_categories: Any = None
    categories: Any = "range"
    unseen: Any = "ignore"

    def _family(self, schema: Schema) -> Categorical:
        for name, allowed in (("categories", ("range", "seen")), ("unseen", ("ignore", "smooth", "error"))):
            choice(getattr(self, name), name, allowed)
        least = None if self.min_categories is None else np.array(self.min_categories)  # a copy
        prior, estimate = self._prior(schema, Dirichlet)
        family = Categorical(prior, self.categories, self.unseen, least, estimate)
        if family.least(schema.n_features).min() < 1:
            raise ParameterError(f"min_categories is {self.min_categories!r}; a column has at least 1 category")
        return family

    def _given_prior(self, schema: Schema) -> Any:
        return priors_by_column(self.parameter_prior, schema.n_features, schema.feature_names)

    def encode(self, X: Any) -> Any:
        return read_categories(X)

    def read(self, X: Any, schema: Schema, previous: Previous, *, learning: bool = False) -> Any:
        return like_learned(super().read(X, schema, previous, learning=learning), previous.state.statistics.labels)


def priors_by_column(given: Any, n_features: int, names: Any) -> Any:
    """Return the priors of the columns. An array in a Dirichlet has one pseudo-count per category."""
    if isinstance(given, Dirichlet) and np.ndim(given.concentration):
        given = [given] * n_features
    return read_prior(given, (Dirichlet,), n_features, None if names is None else tuple(names))
