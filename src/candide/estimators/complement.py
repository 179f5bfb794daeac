"""Complement naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn, Self

import numpy as np

from ..exceptions import NotADensity
from ..kernels.layouts import Floats
from ..specs.discrete import ComplementSpec
from .base import BaseNB, feature_count
from .from_counts import given_model, read_probabilities, ready_model, sums


@dataclass(kw_only=True, eq=False, repr=False)
class ComplementNB(BaseNB):
    """Complement naive Bayes, for word counts with imbalanced classes.

    A drop-in replacement for ``sklearn.naive_bayes.ComplementNB``. A class is scored by how poorly the other classes
    explain the row. Scores are not log probabilities of the data, so there is no ``sample`` and no density in
    ``candide.diagnostics``; ``predict_proba`` is the softmax of the scores, and ``calibrate`` turns them into
    probabilities. As in scikit-learn, the class prior has no effect unless there is a single class; ``class_weight``
    adds the logarithm of the weight to the score.

    Parameters
    ----------
    norm : bool, default False
        Divide the weights of each class by their sum.
    alpha, estimate
        As in ``MultinomialNB``, except "evidence" and "predictive", which need a density.
    force_alpha, fit_prior, class_prior, class_weight, parameter_prior,
    calibrate, compute_loo, subsample, unlabeled, n_threads
        As in ``MultinomialNB``.

    Attributes
    ----------
    feature_count_, feature_all_ : arrays
        Weighted sum of each column, per class and over all classes.
    feature_log_prob_ : array of shape (n_classes, n_features)
        The weights, under the name used by scikit-learn.
    prior_, loo_, staleness_
        As in ``MultinomialNB``.

    Examples
    --------
    >>> X = [[2, 1, 0], [3, 0, 0], [0, 1, 4]]
    >>> ComplementNB().fit(X, ["spam", "spam", "ham"]).predict([[0, 0, 2]])
    array(['ham'], dtype='<U4')
    """

    _spec_type = ComplementSpec
    _poor_score: ClassVar[bool] = True
    feature_count_ = feature_count
    _positive_only: ClassVar[bool] = True

    alpha: Any = None
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    norm: bool = False
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
        """Return a model whose classes have given shares of the columns; in a complement, all classes count equally.

        Parameters
        ----------
        probability, classes, class_prior, feature_names
            As in ``MultinomialNB.from_parameters``.

        Examples
        --------
        >>> model = ComplementNB.from_parameters([[0.5, 0.5], [0.9, 0.1], [0.7, 0.3]])
        >>> np.exp(-model.feature_log_prob_)              # means of the other two
        array([[0.8, 0.2],
               [0.6, 0.4],
               [0.7, 0.3]])
        """
        statistics = sums(read_probabilities(probability), "probability")
        return given_model(cls, statistics, (probability,), classes, class_prior, feature_names)

    @classmethod
    def from_counts(
        cls,
        count: Any,
        class_count: Any = None,
        *,
        classes: Any = None,
        class_prior: Any = None,
        feature_names: Any = None,
        **settings: Any,
    ) -> Self:
        """Return the model that would be fitted to rows with these counts.

        Parameters
        ----------
        count, class_count, classes, class_prior, feature_names, **settings
            As in ``MultinomialNB.from_counts``.

        Examples
        --------
        >>> ComplementNB.from_counts([[5, 0, 1], [0, 1, 4]], classes=["spam", "ham"]).predict([[0, 0, 2]])
        array(['ham'], dtype='<U4')
        """
        statistics = sums(count, "count", class_count)
        return ready_model(cls, statistics, (count,), classes, class_prior, feature_names, settings)

    @property
    def sample(self) -> NoReturn:
        """Not available, because complement scores are not a density."""
        raise NotADensity(
            "ComplementNB has no sample: its scores compare a row with the other classes and are not log "
            "probabilities of the row; use MultinomialNB"
        )

    @property
    def feature_all_(self) -> Floats:
        """Weighted sum of each column over all classes."""
        return np.asarray(self._fitted().state.statistics.total.sum(axis=0)).ravel()

    @property
    def feature_log_prob_(self) -> Floats:
        """Weight of each class and column; +inf where no other class has the column (``alpha=0``)."""
        model = self._fitted().classifier
        family: Any = model.family
        finite, order = family.weights(model.state.statistics)
        return np.asarray(finite if order is None else np.where(order > 0, np.inf, finite))
