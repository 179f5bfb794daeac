"""Bernoulli naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..kernels.layouts import Floats
from ..specs.discrete import BernoulliSpec
from .base import BaseNB, feature_count
from .from_counts import given_model, presences, read_table, ready_model


@dataclass(kw_only=True, eq=False, repr=False)
class BernoulliNB(BaseNB):
    """Bernoulli naive Bayes, for binary features; the absence of a feature is informative too.

    A drop-in replacement for ``sklearn.naive_bayes.BernoulliNB``. Missing values (NaN) are ignored cell by cell.

    Parameters
    ----------
    binarize : float or None, default 0.0
        Values above this threshold are read as 1, all others as 0. With None, values must already be between 0 and 1.
    alpha, force_alpha, fit_prior, class_prior, class_weight, estimate,
    calibrate, compute_loo, subsample, unlabeled, n_threads
        As in ``MultinomialNB``; ``alpha`` is added to both outcomes, and chosen separately for each column. The
        posterior predictive equals the mean.
    parameter_prior : Beta, or a list or dict with one per column, optional
        Prior of φ, instead of ``alpha``.

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, n_features)
        Weight of the rows in which the column is 1.
    feature_log_prob_ : array of shape (n_classes, n_features)
        log φ, the log probability that the column is 1.
    prior_, loo_, staleness_
        As in ``MultinomialNB``.

    Examples
    --------
    >>> X = [[1, 0, 1], [1, 1, 1], [0, 0, 1], [0, 1, 0]]
    >>> model = BernoulliNB(alpha=0).fit(X, [1, 1, 0, 0])
    >>> model.parameters()["probability"].reshape(2, 3)         # φ by maximum likelihood
    array([[0. , 0.5, 0.5],
           [1. , 0.5, 1. ]])
    >>> model.n_parameters_
    7
    """

    _spec_type = BernoulliSpec
    _poor_score: ClassVar[bool] = True
    feature_count_ = feature_count

    alpha: Any = None
    force_alpha: bool = True
    binarize: float | None = 0.0
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
        cls, probability: Any, *, classes: Any = None, class_prior: Any = None, feature_names: Any = None
    ) -> Self:
        """Return a model with given probabilities φ.

        Parameters
        ----------
        probability : array of shape (n_classes, n_features)
            Probability that a column is 1.
        classes, class_prior, feature_names
            As in ``MultinomialNB.from_parameters``.

        Examples
        --------
        A test is positive for 99 of 100 ill and for 5 of 100 healthy people; one person in a thousand is ill:

        >>> test = BernoulliNB.from_parameters(
        ...     [[0.99], [0.05]], classes=["ill", "well"], class_prior=[0.001, 0.999], feature_names=["test"]
        ... )
        >>> test.parameters()
        class  column  value  count  probability
        ill    test        1   0.99         0.99
        well   test        1   0.05         0.05
        """
        statistics = presences(read_table(probability, "probability", most=1.0))
        return given_model(cls, statistics, (probability,), classes, class_prior, feature_names)

    @classmethod
    def from_counts(
        cls,
        count: Any,
        class_count: Any,
        *,
        classes: Any = None,
        class_prior: Any = None,
        feature_names: Any = None,
        **settings: Any,
    ) -> Self:
        """Return the model that would be fitted to rows with these counts.

        Parameters
        ----------
        count : array of shape (n_classes, n_features)
            Number of rows of each class in which a column is 1.
        class_count : array of shape (n_classes,)
            Number of rows of each class.
        classes, class_prior, feature_names, **settings
            As in ``MultinomialNB.from_counts``.

        Examples
        --------
        >>> model = BernoulliNB.from_counts([[30, 5], [2, 40]], [40, 60], classes=["spam", "ham"])
        >>> model.predict_proba([[1, 0]]).round(3)        # the classes are sorted: ham, spam
        array([[0.037, 0.963]])
        """
        statistics = presences(count, class_count)
        return ready_model(cls, statistics, (count,), classes, class_prior, feature_names, settings)

    @property
    def feature_log_prob_(self) -> Floats:
        """log φ of each class and column; -inf where φ is 0."""
        model = self._fitted().classifier
        family: Any = model.family
        return np.asarray(family.log_on_off(model.state.statistics)[0].value())
