"""Parameters of the models with pseudo-counts: multinomial, complement, Bernoulli, Poisson, categorical."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ..data.categories import read_categories
from ..data.column_types import like_learned
from ..exceptions import ParameterError, warn
from ..families import Bernoulli, Categorical, Complement, Multinomial, Poisson
from ..kernels.layouts import Floats
from ..priors import Beta, Dirichlet, Estimate, Gamma
from .base import BoundSpec, Previous, Spec
from .parameters import choice, flag, number, read_estimate, read_prior, stacked
from .schema import Schema

_ALPHA_MIN = 1e-10


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DiscreteSpec(Spec):
    """Parameters that models with pseudo-counts share.

    ``alpha`` is one number, one per column, or one per class and column; or "evidence" or "loo". None is 1.0, and no
    pseudo-count with ``estimate="mle"``.
    """

    prior_type: ClassVar[type]
    #: Parameters that define the prior of the distribution.
    prior_parameters: ClassVar[tuple[str, ...]] = ("alpha", "parameter_prior")

    alpha: Any = None
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    estimate: str | None = None
    parameter_prior: Any = None

    def check_classes(self, bound: BoundSpec, n_classes: int) -> None:
        shape: tuple[int, ...] = () if isinstance(self.alpha, str) else np.shape(self.alpha)
        if len(shape) == 2 and shape[0] != n_classes:
            raise ParameterError(
                f"alpha has {shape[0]} rows for {n_classes} classes; pass one row per class, in sorted order, or one "
                "value per feature"
            )
        super().check_classes(bound, n_classes)

    def _alpha_choice(self) -> Literal["evidence", "loo"] | None:
        if isinstance(self.alpha, str) and self.alpha == "evidence":
            return "evidence"
        return "loo" if isinstance(self.alpha, str) and self.alpha == "loo" else None

    def _prior(self, schema: Schema, make: Callable[[Any], Any]) -> tuple[Any, Estimate]:
        """Return the prior of the parameters and the kind of estimate; ``make``: a prior from pseudo-counts."""
        estimate = read_estimate(self.estimate, "mean")
        given = [name for name in self.prior_parameters if getattr(self, name) is not None]
        if estimate == "mle" and given:
            raise ParameterError(
                f"{given[0]} cannot be combined with estimate='mle', because maximum likelihood has no prior; omit one "
                "of them"
            )
        if self.parameter_prior is None:
            prior = make(self._checked_alpha(schema))
        else:
            if len(given) > 1:
                raise ParameterError(
                    f"{given[0]} and parameter_prior are both given, but both set the prior of the parameters; omit "
                    "one of them"
                )
            prior = self._given_prior(schema)
        self._check_proper(prior, estimate)
        return prior, estimate

    def _given_prior(self, schema: Schema) -> Any:
        return stacked(read_prior(self.parameter_prior, (self.prior_type,), schema.n_features, schema.feature_names))

    def _check_proper(self, prior: Any, estimate: Estimate) -> None:
        priors = prior if isinstance(prior, tuple) else (prior,)
        averages = {"estimate": estimate if estimate == "predictive" else None, "alpha": self._alpha_choice()}
        for name, value in averages.items():
            if value in ("predictive", "evidence") and not all(one.is_proper for one in priors):
                raise ParameterError(
                    f"{name} is {value!r}, which averages over a prior, but {priors[0]!r} is improper; expected "
                    "pseudo-counts above 0"
                )

    def _checked_alpha(self, schema: Schema) -> float | Floats:
        alpha = self._alpha_array(schema)
        flag(self.force_alpha, "force_alpha")
        if np.min(alpha) >= _ALPHA_MIN or self.force_alpha:
            return alpha
        warn(
            f"alpha too small will result in numeric errors, setting alpha = {_ALPHA_MIN:.1e}. Use "
            "`force_alpha=True` to keep alpha unchanged."
        )
        return np.maximum(alpha, _ALPHA_MIN) if np.ndim(alpha) else max(float(alpha), _ALPHA_MIN)

    def _alpha_array(self, schema: Schema) -> float | Floats:
        if self.alpha is None or self._alpha_choice() is not None:
            return 1.0
        if isinstance(self.alpha, (bool, str)):
            raise ParameterError(
                f"alpha is {self.alpha!r}; expected a non-negative number, an array of non-negative numbers, "
                "'evidence' or 'loo'"
            )
        try:
            alpha = np.array(self.alpha, dtype=np.float64)  # a copy: the caller may change the array later
        except (TypeError, ValueError):
            raise ParameterError(f"alpha is {self.alpha!r}; expected a non-negative number, or an array") from None
        if alpha.ndim and (alpha.ndim > 2 or alpha.shape[-1] != schema.n_features):
            raise ParameterError(
                f"alpha has shape {alpha.shape} for {schema.n_features} features; expected a number, one value per "
                "feature, or one row of such values per class"
            )
        if not ((alpha >= 0) & (alpha < np.inf)).all():
            raise ParameterError(
                f"alpha is {self.alpha!r}; expected finite, non-negative numbers; 0 means no smoothing, and 1 means "
                "Laplace smoothing"
            )
        return alpha if alpha.ndim else float(alpha)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MultinomialSpec(DiscreteSpec):
    """Parameters of ``MultinomialNB``."""

    name: ClassVar[str] = "MultinomialNB"
    prior_type: ClassVar[type] = Dirichlet

    def _family(self, schema: Schema) -> Any:
        return Multinomial(*self._prior(schema, Dirichlet))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ComplementSpec(DiscreteSpec):
    """Parameters of ``ComplementNB``."""

    name: ClassVar[str] = "ComplementNB"
    prior_type: ClassVar[type] = Dirichlet

    norm: bool = False

    def _prior_in_score(self) -> bool:
        return False

    def _family(self, schema: Schema) -> Any:
        prior, estimate = self._prior(schema, Dirichlet)
        if estimate == "predictive":
            raise _no_density("estimate='predictive'", "use MultinomialNB")
        if self._alpha_choice() == "evidence":
            raise _no_density("alpha='evidence'", "use MultinomialNB, or alpha='loo'")
        return Complement(prior, flag(self.norm, "norm"), estimate)


def _no_density(what: str, advice: str) -> ParameterError:
    return ParameterError(f"{what} needs a density of the row, but complement scores are not a density; {advice}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BernoulliSpec(DiscreteSpec):
    """Parameters of ``BernoulliNB``."""

    name: ClassVar[str] = "BernoulliNB"
    prior_type: ClassVar[type] = Beta
    counting: ClassVar[Mapping[str, str]] = {"binarize": "threshold"}

    binarize: float | None = 0.0

    def _family(self, schema: Schema) -> Bernoulli:
        threshold = None if self.binarize is None else number(self.binarize, "binarize")
        prior, estimate = self._prior(schema, lambda alpha: Beta(alpha, alpha))
        return Bernoulli(prior, threshold, estimate)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PoissonSpec(DiscreteSpec):
    """Parameters of ``PoissonNB``."""

    name: ClassVar[str] = "PoissonNB"
    prior_type: ClassVar[type] = Gamma
    prior_parameters: ClassVar[tuple[str, ...]] = ("alpha", "beta", "parameter_prior")

    beta: float | None = None

    def _family(self, schema: Schema) -> Poisson:
        rate = 1.0 if self.beta is None else number(self.beta, "beta")
        return Poisson(*self._prior(schema, lambda alpha: Gamma(alpha, rate)))


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
            raise ParameterError(f"min_categories is {self.min_categories!r}; expected at least 1")
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
