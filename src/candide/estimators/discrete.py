"""What the models with pseudo-counts share: ``alpha``, ``force_alpha``, ``fit_prior``, ``class_prior``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..exceptions import ParameterError, warn
from ..kernels.data import Floats
from ..model.classifier import Classifier
from ..model.plan import ClassPrior
from .base import BaseNB, read_only
from .settings import class_prior_of

_ALPHA_MIN = 1e-10


class DiscreteNB(BaseNB):
    """Counting models. ``alpha`` is a pseudo-count: one number, one per column, or one per class and column."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    class_weight: Any

    def _class_prior(self) -> ClassPrior:
        return class_prior_of(self.class_prior, self.fit_prior, self.class_weight)

    def _become(self, model: Classifier) -> Self:
        shape = np.shape(self.alpha)
        if len(shape) == 2 and shape[0] != len(model.classes):
            raise ParameterError(
                f"alpha has {shape[0]} rows for {len(model.classes)} classes; give one row per class, in sorted order, "
                "or one value per feature"
            )
        return super()._become(model)

    def _check_alpha(self) -> float | Floats:
        """``alpha`` as it will be used."""
        alpha = self._alpha_array()
        if not isinstance(self.force_alpha, (bool, np.bool_)):
            raise ParameterError(f"force_alpha is {self.force_alpha!r}; it must be True or False")
        if np.min(alpha) >= _ALPHA_MIN or self.force_alpha:
            return alpha
        warn(
            f"alpha too small will result in numeric errors, setting alpha = {_ALPHA_MIN:.1e}. Use "
            "`force_alpha=True` to keep alpha unchanged."
        )
        return np.maximum(alpha, _ALPHA_MIN) if np.ndim(alpha) else max(float(alpha), _ALPHA_MIN)

    def _alpha_array(self) -> float | Floats:
        if isinstance(self.alpha, (bool, str)) or self.alpha is None:
            raise ParameterError(f"alpha is {self.alpha!r}; it must be a number of at least 0, or an array of such")
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class CountNB(DiscreteNB):
    """Models whose statistic is a sum per class and column."""

    @property
    def feature_count_(self) -> Floats:
        """Weighted sum of each column in each class (``BernoulliNB``: weight of the rows in which it is on)."""
        return read_only(self._fitted().state.statistics.dense())
