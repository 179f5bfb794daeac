"""What the models with pseudo-counts share: ``alpha``, ``parameter_prior``, ``estimate``, ``class_prior``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

from ..exceptions import ParameterError, warn
from ..kernels.layouts import Floats
from ..model.classifier import Classifier
from ..model.plan import ClassPrior
from ..priors import Estimate
from .base import BaseNB
from .beliefs import class_prior_of, read_estimate, read_prior, stacked
from .learned import read_only
from .settings import flag, is_given

_ALPHA_MIN = 1e-10
_CHOSEN = ("evidence", "loo")


class DiscreteNB(BaseNB):
    """Counting models. ``alpha`` is a pseudo-count: one number, one per column, or one per class and column."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    class_weight: Any

    _prior_kind: ClassVar[type]

    def _class_prior(self) -> ClassPrior:
        return class_prior_of(self.class_prior, self.fit_prior, self.class_weight)

    def _hold(self, model: Classifier) -> None:
        shape = np.shape(self.alpha)
        if len(shape) == 2 and shape[0] != len(model.classes):
            raise ParameterError(
                f"alpha has {shape[0]} rows for {len(model.classes)} classes; give one row per class, in sorted order, "
                "or one value per feature"
            )
        super()._hold(model)

    def _alpha_choice(self) -> Literal["evidence", "loo"] | None:
        chosen: Literal["evidence", "loo"] | None = None
        if isinstance(self.alpha, str) and self.alpha in _CHOSEN:
            chosen = self.alpha  # type: ignore[assignment]
        return chosen

    def _belief(self, make: Callable[[Any], Any]) -> tuple[Any, Estimate]:
        """The prior of the parameters and the way to estimate; what contradicts itself is refused."""
        estimate = read_estimate(self.estimate, "mean")
        given = [name for name in self._prior_settings() if is_given(name, getattr(self, name))]
        if estimate == "mle" and given:
            raise ParameterError(
                f"{given[0]} is given with estimate='mle', and maximum likelihood knows no prior; leave one of them out"
            )
        if self.parameter_prior is None:
            prior = make(self._check_alpha())
        else:
            if len(given) > 1:
                raise ParameterError(
                    f"{given[0]} and parameter_prior are both given, and both say what is believed before data; leave "
                    "one of them out"
                )
            prior = self._read_prior()
        self._check_proper(prior, estimate)
        return prior, estimate

    def _read_prior(self) -> Any:
        names = getattr(self, "feature_names_in_", None)
        return stacked(read_prior(self.parameter_prior, (self._prior_kind,), self.n_features_in_, names))

    def _prior_settings(self) -> tuple[str, ...]:
        """Parameters that say what is believed before data."""
        return ("alpha", "parameter_prior")

    def _check_proper(self, prior: Any, estimate: Estimate) -> None:
        priors = prior if isinstance(prior, tuple) else (prior,)
        asked = {"estimate": "predictive"} if estimate == "predictive" else {"alpha": self._alpha_choice()}
        for name, value in asked.items():
            if value in ("predictive", "evidence") and not all(one.is_proper for one in priors):
                raise ParameterError(
                    f"{name} is {value!r}, which averages over a prior, and {priors[0]!r} is none; pseudo-counts must "
                    "be above 0"
                )

    def _check_alpha(self) -> float | Floats:
        """``alpha`` as it will be used."""
        alpha = self._alpha_array()
        flag(self.force_alpha, "force_alpha")
        if np.min(alpha) >= _ALPHA_MIN or self.force_alpha:
            return alpha
        warn(
            f"alpha too small will result in numeric errors, setting alpha = {_ALPHA_MIN:.1e}. Use "
            "`force_alpha=True` to keep alpha unchanged."
        )
        return np.maximum(alpha, _ALPHA_MIN) if np.ndim(alpha) else max(float(alpha), _ALPHA_MIN)

    def _alpha_array(self) -> float | Floats:
        if self._alpha_choice() is not None:
            return 1.0
        if self.alpha is None or isinstance(self.alpha, (bool, str)):
            raise ParameterError(
                f"alpha is {self.alpha!r}; it must be a number of at least 0, an array of such, 'evidence' or 'loo'"
            )
        try:
            alpha = np.array(self.alpha, dtype=np.float64)  # a copy: the caller may change its own later
        except (TypeError, ValueError):
            raise ParameterError(f"alpha is {self.alpha!r}; it must be a number of at least 0, or an array") from None
        if alpha.ndim and (alpha.ndim > 2 or alpha.shape[-1] != self.n_features_in_):
            raise ParameterError(
                "When alpha is an array, it should contains `n_features` values, or one row of them per class. Got "
                f"shape {alpha.shape} for {self.n_features_in_} features."
            )
        if not ((alpha >= 0) & (alpha < np.inf)).all():
            raise ParameterError(
                f"All values in alpha must be greater than 0. Got {self.alpha!r}; a pseudo-count is finite and at "
                "least 0, where 0 is no smoothing and 1 is Laplace's"
            )
        return alpha if alpha.ndim else float(alpha)


class CountNB(DiscreteNB):
    """Models whose statistic is a sum per class and column."""

    @property
    def feature_count_(self) -> Floats:
        """Weighted sum of each column in each class (``BernoulliNB``: weight of the rows in which it is on)."""
        return read_only(self._fitted().state.statistics.dense())
