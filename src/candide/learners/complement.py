"""Complement naive Bayes."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NoReturn, Self

import numpy as np

from ..exceptions import NotADensity, ParameterError
from ..families import Complement
from ..kernels.layouts import Floats
from ..priors import Dirichlet
from .discrete import CountNB
from .settings import DEFAULTS, flag
from .tables import column_names, read_probabilities, sums
from .textbook import given_model, ready_model


class _Refused:
    """An inherited method that has no meaning here; the error says why."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise NotADensity(
            f"ComplementNB has no {self.name}: its scores compare a row with the other classes and are no log "
            "probability of the row; use MultinomialNB for a density"
        )


def _no_density(asked: str, advice: str) -> ParameterError:
    return ParameterError(f"{asked} asks for a density of the row, and complement scores are none; {advice}")


class ComplementNB(CountNB):
    """Rennie's complement naive Bayes: a class wins where the other classes explain the row badly.

    Suits texts with unequal classes. A drop-in for ``sklearn.naive_bayes.ComplementNB``. Its scores are not log
    probabilities of the data, so it has no ``sample``, ``log_density``, ``log_likelihood``, ``log_evidence`` and the
    like; ``predict_proba`` is the softmax of the scores, which ``calibrate`` makes probabilities. As in scikit-learn,
    the class prior enters only if there is a single class; ``class_weight`` adds the logarithm of the weight to the
    score.

    Parameters
    ----------
    norm : bool, default False
        Divide each class's weights by their sum.
    alpha, estimate
        As in ``MultinomialNB``, but for what needs a density: "evidence" and "predictive".
    force_alpha, fit_prior, class_prior, class_weight, parameter_prior,
    calibrate, evaluate, keep_sample, unlabeled, n_threads
        As in ``MultinomialNB``.

    Attributes
    ----------
    feature_count_, feature_all_ : arrays
        Weighted sums of the columns, per class and over all classes.
    feature_log_prob_ : array of shape (n_classes, n_features)
        The weights, under the name they have in scikit-learn.
    prior_, loo_, staleness_
        As in ``MultinomialNB``.

    Examples
    --------
    >>> X = [[2, 1, 0], [3, 0, 0], [0, 1, 4]]
    >>> ComplementNB().fit(X, ["spam", "spam", "ham"]).predict([[0, 0, 2]])
    array(['ham'], dtype='<U4')
    """

    _positive_only: ClassVar[bool] = True

    _prior_kind: ClassVar[type] = Dirichlet

    def __init__(
        self,
        *,
        alpha: Any = DEFAULTS["alpha"],
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        class_weight: Any = None,
        estimate: Literal["mean", "map", "mle", "predictive"] | None = None,
        parameter_prior: Any = None,
        calibrate: Literal["temperature", "platt", "beta", "isotonic"] | None = None,
        evaluate: bool = False,
        keep_sample: bool | None = None,
        unlabeled: Literal["drop", "error"] = "drop",
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.class_weight = class_weight
        self.estimate = estimate
        self.parameter_prior = parameter_prior
        self.calibrate = calibrate
        self.evaluate = evaluate
        self.keep_sample = keep_sample
        self.unlabeled = unlabeled
        self.n_threads = n_threads

    @classmethod
    def from_parameters(
        cls, probability: Any, *, classes: Any = None, class_prior: Any = None, feature_names: Any = None
    ) -> Self:
        """A model whose classes have given shares of the columns. In a complement all other classes count alike.

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
        n_features, names = statistics.total.shape[1], column_names(feature_names, probability)
        return given_model(cls, statistics, n_features, classes, class_prior, names)

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
        """The model that rows with these counts would give.

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
        n_features, names = statistics.total.shape[1], column_names(feature_names, count)
        return ready_model(cls, statistics, n_features, classes, class_prior, names, settings)

    def _prior_in_score(self) -> bool:
        return False

    def _family(self, n_features: int) -> Any:
        prior, estimate = self._belief(Dirichlet)
        if estimate == "predictive":
            raise _no_density("estimate='predictive'", "use MultinomialNB")
        if self._alpha_choice() == "evidence":
            raise _no_density("alpha='evidence'", "use MultinomialNB, or alpha='loo'")
        return Complement(prior, flag(self.norm, "norm"), estimate)

    sample = _Refused()
    log_density = _Refused()
    log_likelihood = _Refused()
    log_evidence = _Refused()
    bayes_factors = _Refused()
    intervals = _Refused()
    log_odds = _Refused()
    typicality = _Refused()
    impute = _Refused()

    @property
    def feature_all_(self) -> Floats:
        """Weighted sum of each column over all classes."""
        return np.asarray(self._fitted().state.statistics.total.sum(axis=0)).ravel()

    @property
    def feature_log_prob_(self) -> Floats:
        """Weight of each class and column; +inf where no other class has the column (``alpha=0``)."""
        model = self._fitted()
        family: Any = model.family
        finite, order = family.weights(model.state.statistics)
        return np.asarray(finite if order is None else np.where(order > 0, np.inf, finite))
