"""Conversion of fitted scikit-learn estimators to candide."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import naive_bayes as theirs
from sklearn.utils.validation import check_is_fitted

from ..exceptions import InputError, ParameterError
from ..kernels.layouts import Floats
from ..specs.gaussian import VAR_SMOOTHING
from ..statistics import CategoryCounts, Counts, Moments
from .base import BaseNB
from .bernoulli import BernoulliNB
from .categorical import CategoricalNB
from .complement import ComplementNB
from .from_counts import ready_model
from .gaussian import GaussianNB
from .multinomial import MultinomialNB


def from_sklearn(fitted: Any) -> Any:
    """Convert a fitted scikit-learn naive Bayes estimator to candide, with its counts and settings.

    Predictions are the same, and ``partial_fit``, ``merge`` and ``forget`` continue from the counts.

    Parameters
    ----------
    fitted : GaussianNB, BernoulliNB, CategoricalNB, MultinomialNB or ComplementNB of ``sklearn.naive_bayes``
        A fitted estimator. Its counts are copied.

    Returns
    -------
    estimator
        The candide estimator of the same name. If the variance floor of a ``GaussianNB`` is not ``var_smoothing``
        times the largest variance of all rows (after ``partial_fit``, or with weights), ``var_smoothing`` is set to
        the value that reproduces the floor.

    Examples
    --------
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> import candide
    >>> X, y = [[2, 0, 1], [0, 3, 0], [1, 0, 2]], ["spam", "ham", "spam"]
    >>> model = candide.from_sklearn(MultinomialNB(alpha=0.5).fit(X, y))
    >>> model
    MultinomialNB(alpha=0.5)
    >>> model.partial_fit([[0, 1, 1]], ["ham"]).class_count_
    array([2., 2.])
    """
    kind = next((kind for kind in _READERS if isinstance(fitted, kind)), None)
    if kind is None or isinstance(fitted, BaseNB):
        raise InputError(
            f"from_sklearn got a {type(fitted).__module__}.{type(fitted).__name__}; expected a fitted GaussianNB, "
            "BernoulliNB, CategoricalNB, MultinomialNB or ComplementNB of sklearn.naive_bayes"
        )
    check_is_fitted(fitted)
    return _READERS[kind](fitted)


def _gaussian(fitted: Any) -> Any:
    rows, seen = np.array(fitted.class_count_, dtype=np.float64), fitted.class_count_ > 0
    # A class without rows has nothing but the floor.
    floor = min(float(fitted.epsilon_), float(fitted.var_[seen].min(initial=np.inf)))
    mean, variance = (np.where(seen[:, None], part, 0.0) for part in (fitted.theta_, fitted.var_ - floor))
    weight = np.repeat(rows[:, None], mean.shape[1], axis=1)
    statistics = Moments(rows, weight, mean, variance * weight)
    settings = {"var_smoothing": _smoothing(float(fitted.var_smoothing), floor, statistics)}
    return _ready(GaussianNB, fitted, statistics, fitted.priors, settings)


def _smoothing(given: float, floor: float, statistics: Moments) -> float:
    """Return the share of the largest variance that gives this floor."""
    largest = float(statistics.pooled()[2].max())
    share = floor / largest if largest > 0 else given
    return given if np.isclose(share, given, rtol=1e-9, atol=0.0) else share


def _bernoulli(fitted: Any) -> Any:
    if np.ndim(fitted.alpha):
        raise ParameterError(
            f"alpha is {fitted.alpha!r}, but scikit-learn's BernoulliNB does not apply an array to its columns; fit "
            "it with a single alpha"
        )
    settings = {**_smoothed(fitted), "binarize": fitted.binarize}
    return _ready(BernoulliNB, fitted, _sums(fitted, presence=True), fitted.class_prior, settings)


def _multinomial(fitted: Any) -> Any:
    return _ready(MultinomialNB, fitted, _sums(fitted), fitted.class_prior, _smoothed(fitted))


def _complement(fitted: Any) -> Any:
    settings = {**_smoothed(fitted), "norm": fitted.norm}
    return _ready(ComplementNB, fitted, _sums(fitted), fitted.class_prior, settings)


def _categorical(fitted: Any) -> Any:
    tables = [np.array(count, dtype=np.float64) for count in fitted.category_count_]
    labels = tuple(np.arange(table.shape[1]) for table in tables)
    statistics = CategoryCounts.of(_rows(fitted), labels, np.hstack(tables))
    settings = {**_smoothed(fitted), "min_categories": fitted.min_categories}
    ends = [int(column[-1]) + 1 if len(column) else 0 for column in statistics.labels]
    if fitted.min_categories is None and ends != list(map(len, labels)):
        # Codes that do not occur, but are included in the smoothing.
        settings["min_categories"] = [len(column) for column in labels]
    return _ready(CategoricalNB, fitted, statistics, fitted.class_prior, settings)


def _rows(fitted: Any) -> Floats:
    return np.array(fitted.class_count_, dtype=np.float64)


def _sums(fitted: Any, *, presence: bool = False) -> Counts:
    return Counts(_rows(fitted), np.array(fitted.feature_count_, dtype=np.float64), None, presence)


def _smoothed(fitted: Any) -> dict[str, Any]:
    return {"alpha": fitted.alpha, "force_alpha": fitted.force_alpha, "fit_prior": fitted.fit_prior}


def _ready(kind: Any, fitted: Any, statistics: Any, prior: Any, settings: dict[str, Any]) -> Any:
    # Defaults stay None, so that ``estimate="mle"`` can be set later.
    defaults = {"alpha": 1.0, "var_smoothing": VAR_SMOOTHING}
    given = {
        name: None if name in defaults and np.array_equal(value, defaults[name]) else value
        for name, value in settings.items()
    }
    names = getattr(fitted, "feature_names_in_", None)
    return ready_model(kind, statistics, (), fitted.classes_, prior, names, given)


_READERS = {
    theirs.GaussianNB: _gaussian,
    theirs.BernoulliNB: _bernoulli,
    theirs.MultinomialNB: _multinomial,
    theirs.ComplementNB: _complement,
    theirs.CategoricalNB: _categorical,
}
