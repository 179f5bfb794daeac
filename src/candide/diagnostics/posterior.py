"""What the posterior of the parameters says: marginal likelihood, Bayes factors, intervals, log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats
from ..model import marginal_likelihood
from ..model.marginal_likelihood import LogOdds, class_place
from ..model.model import Model
from ..model.table import Table
from .inputs import with_posterior


def log_marginal_likelihood(model: Any, *, per_column: bool = False) -> Any:
    """Return log p(X | y) of the training data, with the parameters integrated out (the log evidence).

    Rows count by their weight. Terms that no parameter changes (the factorials of counts) are left out. The columns of
    ``MultinomialNB`` share their probability, so theirs, each word against all others, do not add up to the total.

    Parameters
    ----------
    model : estimator or Model
        A fitted model.
    per_column : bool, default False
        Whether to return one number per column.

    Examples
    --------
    >>> from candide import BernoulliNB, diagnostics
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 0], [0, 1]], ["spam", "spam", "ham", "ham"])
    >>> round(diagnostics.log_marginal_likelihood(model), 3)
    -5.781
    """
    classifier = with_posterior(model, "log_marginal_likelihood").classifier
    if per_column:
        return classifier.family.log_marginal_likelihood(classifier.state.statistics)
    return classifier.family.total_log_marginal_likelihood(classifier.state.statistics)


def bayes_factors(model: Any) -> Table:
    """Return the Bayes factor of each column for "it depends on the class" against "it does not".

    ``log_bayes_factor`` above 0 favors a column that depends on the class; above 3 strongly so.
    """
    fitted = with_posterior(model, "bayes_factors")
    return marginal_likelihood.bayes_factors(fitted.classifier, fitted.column_names())


def intervals(model: Any, level: float = 0.95) -> Table:
    """Return ``parameters()`` with equal-tailed credible intervals.

    They hold for the parameters of the naive model, under its prior; where that is none (maximum likelihood, a
    pseudo-count of 0), under Jeffreys' for shares and rates, and the one of the classical intervals for normals.
    """
    fitted = with_posterior(model, "intervals")
    return marginal_likelihood.intervals(fitted.classifier, fitted.column_names(), level)


def log_odds(model: Any, X: Any, of: Any = None, against: Any = None) -> LogOdds:
    """Return the log-odds of one class against another for each row, with their posterior standard deviation.

    Parameters
    ----------
    model : estimator or Model
        A fitted model.
    X
        Rows, as in ``predict``.
    of, against : labels, optional
        By default the second class against the first if there are two, else each row's most probable class against
        its runner-up. With one of them given, the most probable of the other classes.

    Returns
    -------
    LogOdds
        ``value`` and ``std``, arrays of shape (n_rows,), of the naive model itself, never calibrated. The deviation
        says how much the log-odds could differ because the parameters were learned from few rows, not how wrong the
        naive assumption is.
    """
    fitted = with_posterior(model, "log_odds")
    data = fitted.read(X)
    first, second = _pair(fitted, data, of, against)
    return marginal_likelihood.log_odds(fitted.classifier, data, first, second, fitted.kernels)


def _pair(model: Model, data: Any, of: Any, against: Any) -> tuple[Array, Array]:
    """Return the positions of the two classes of each row."""
    if len(model.classes) < 2:
        raise ParameterError("log-odds compare two classes, and this model has one; learn another with partial_fit")
    if of is not None and of == against:
        raise ParameterError(f"log-odds compare two classes, and {of!r} is given as both; name another")
    first, second = (None if label is None else class_place(model.classes, label) for label in (of, against))
    if first is None and second is None and len(model.classes) == 2:
        first, second = 1, 0
    scores = model.classifier.scorer.posterior(data, model.kernels, logarithm=True)
    best = _best_except(scores, second) if first is None else np.full(data.n_rows, first)
    return best, _best_except(scores, best) if second is None else np.full(data.n_rows, second)


def _best_except(scores: Floats, excluded: Any) -> Array:
    """Return the most probable class of each row except one; None: of all."""
    others = scores.copy()
    if excluded is not None:
        # Where all others are impossible, it is still one of them.
        others = np.maximum(others, -1e308)
        others[np.arange(len(scores)), excluded] = -np.inf
    return np.asarray(others.argmax(axis=1))
