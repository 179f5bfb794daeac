"""Poisson naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..kernels.layouts import Floats
from ..specs.discrete import PoissonSpec
from .base import BaseNB, feature_count
from .from_counts import given_model, ready_model, sums
from .model_estimator import read_only


@dataclass(kw_only=True, eq=False, repr=False)
class PoissonNB(BaseNB):
    """Poisson naive Bayes, for independent counts of events: each column is Poisson within each class.

    Unlike in ``MultinomialNB``, the total number of events matters too. The rate is the posterior mean
    (Σx + alpha) / (n + beta) under a Gamma(alpha, beta) prior.

    Parameters
    ----------
    alpha : float, array, "evidence", "loo" or None, default None
        Shape of the prior, in events: one number, one per column, or one per class and column; or chosen for each
        column by marginal likelihood or leave-one-out. None is 1, or 0 with ``estimate="mle"``.
    beta : float, optional
        Rate of the prior, in rows; None as for ``alpha``. ``alpha=0, beta=0`` is maximum likelihood.
    parameter_prior : Gamma, or a list or dict with one per column, optional
        Prior of λ, instead of ``alpha`` and ``beta``.
    fit_prior, class_prior, class_weight, estimate, calibrate, compute_loo, subsample, unlabeled, n_threads
        As in ``MultinomialNB``. The posterior predictive is negative binomial.

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, n_features)
        Weighted sum of each column.
    rate_ : array of shape (n_classes, n_features)
        λ.
    prior_, loo_, staleness_
        As in ``MultinomialNB``.

    Examples
    --------
    >>> calls = [[2, 0], [3, 1], [9, 4], [11, 6]]               # calls by day and by night
    >>> model = PoissonNB(alpha=0, beta=0).fit(calls, ["quiet", "quiet", "busy", "busy"])
    >>> model.rate_
    array([[10. ,  5. ],
           [ 2.5,  0.5]])
    >>> model.predict([[8, 3]])
    array(['busy'], dtype='<U5')
    """

    _spec_type = PoissonSpec
    _poor_score: ClassVar[bool] = True
    feature_count_ = feature_count
    _positive_only: ClassVar[bool] = True

    alpha: Any = None
    beta: float | None = None
    fit_prior: bool = True
    class_prior: Any = None
    class_weight: Any = None
    estimate: Literal["mean", "map", "mle", "predictive"] | None = None
    parameter_prior: Any = None
    calibrate: Literal["temperature", "platt", "beta", "isotonic"] | None = None
    compute_loo: bool | None = None
    subsample: Literal["auto"] | int = "auto"
    unlabeled: Literal["drop", "error"] = "drop"
    n_threads: int | None = None

    @classmethod
    def from_parameters(
        cls, rate: Any, *, classes: Any = None, class_prior: Any = None, feature_names: Any = None
    ) -> Self:
        """Return a model with given rates λ.

        Parameters
        ----------
        rate : array of shape (n_classes, n_features)
            Mean count of each column in each class.
        classes, class_prior, feature_names
            As in ``MultinomialNB.from_parameters``.

        Examples
        --------
        >>> model = PoissonNB.from_parameters([[2.0], [8.0]], classes=["quiet", "busy"])
        >>> model.predict([[4], [5]])
        array(['quiet', 'busy'], dtype='<U5')
        """
        statistics = sums(rate, "rate")
        return given_model(cls, statistics, (rate,), classes, class_prior, feature_names)

    @classmethod
    def from_counts(
        cls,
        total: Any,
        class_count: Any,
        *,
        classes: Any = None,
        class_prior: Any = None,
        feature_names: Any = None,
        **settings: Any,
    ) -> Self:
        """Return the model that would be fitted to rows with these sums.

        Parameters
        ----------
        total : array of shape (n_classes, n_features)
            Sum of each column over all rows of each class.
        class_count : array of shape (n_classes,)
            Number of rows of each class.
        classes, class_prior, feature_names, **settings
            As in ``MultinomialNB.from_counts``.

        Examples
        --------
        >>> PoissonNB.from_counts([[12, 3], [90, 45]], [6, 9], alpha=0, beta=0).rate_
        array([[ 2. ,  0.5],
               [10. ,  5. ]])
        """
        statistics = sums(total, "total", class_count)
        return ready_model(cls, statistics, (total,), classes, class_prior, feature_names, settings)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(x, class) of each row and class, including the term log x!."""
        model = self._fitted(X)
        data, classifier = model.read(X), model.classifier
        return np.asarray(classifier.scorer.joint(data, model.kernels) + classifier.likelihood.log_base(data)[:, None])

    @property
    def rate_(self) -> Floats:
        """Rate λ of each class and column."""
        return read_only(self._fitted().classifier.likelihood.rate)
