"""Diagnostics of a fitted estimator or ``Model``: densities, marginal likelihood, intervals, unusual rows.

>>> import candide
>>> model = candide.GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
>>> candide.diagnostics.log_density(model, [[1.5], [5.0]]).round(2)
array([ -0.92, -24.73])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .data.arrays import frame_like, missing_cells
from .exceptions import NotADensity, NotFitted, ParameterError
from .explain import importance as _importance
from .kernels.layouts import Array, Floats, Sparse
from .model import marginal_likelihood
from .model.linear_form import LinearForm, linear_form
from .model.marginal_likelihood import LogOdds, class_place
from .model.model import Model
from .model.summary import summary
from .model.table import Table
from .model.typicality import typicality as _typicality
from .specs.parameters import flag, whole_number
from .specs.table_schema import TableSchema

__all__ = [
    "as_linear",
    "bayes_factors",
    "impute",
    "information",
    "intervals",
    "log_density",
    "log_likelihood",
    "log_marginal_likelihood",
    "log_odds",
    "top_features",
    "typicality",
    "unseen_categories",
]


def _model_of(fitted: Any) -> Model:
    """Return the model of a fitted estimator, or the model itself."""
    if isinstance(fitted, Model):
        return fitted
    if not hasattr(type(fitted), "_spec_type"):
        raise ParameterError(f"expected a fitted candide estimator or model, got {fitted!r:.60}")
    if not hasattr(fitted, "model_"):
        raise NotFitted(f"this {type(fitted).__name__} is not fitted; call fit first")
    model: Model = fitted._fitted()
    return model


def _with_density(fitted: Any, what: str) -> Model:
    """Return the model, if its scores are log probabilities of the rows."""
    model = _model_of(fitted)
    if model.spec.name == "ComplementNB":
        raise NotADensity(
            f"ComplementNB has no {what}: its scores compare a row with the other classes and are not log "
            "probabilities of the row; use MultinomialNB"
        )
    return model


def _with_posterior(fitted: Any, what: str) -> Model:
    """Return the model, if its parameters were learned from data."""
    model = _with_density(fitted, what)
    if model.has_given_parameters:
        raise ParameterError(
            f"{what} describes the uncertainty of estimated parameters, but this model was created from given "
            "parameters; use from_counts, or fit it on rows"
        )
    return model


def information(model: Any) -> Table:
    """Return the mutual information of each column and the class in bits, largest first.

    It is between 0 (the column is independent of the class) and the entropy of the classes. For the words of
    ``MultinomialNB`` it is the contribution of each to the information of one word drawn from a text. For
    ``NaiveBayes`` it is estimated on left-out rows.

    Examples
    --------
    >>> from candide import BernoulliNB, diagnostics
    >>> model = BernoulliNB(alpha=0).fit([[1, 0], [1, 1], [0, 0], [0, 1]], ["spam", "spam", "ham", "ham"])
    >>> diagnostics.information(model)
    column  bits
    x0         1
    x1         0
    """
    fitted = _model_of(model)
    if not isinstance(fitted.schema, TableSchema):
        return _importance.information(fitted.classifier, fitted.column_names())
    table, n_columns = summary(fitted.classifier), len(fitted.schema.names)
    order = np.argsort(-table["bits"][:n_columns], kind="stable")
    return Table({name: table[name][:n_columns][order] for name in ("column", "bits")})


def top_features(model: Any, n: int = 10) -> Table:
    """Return the most informative values of each class, most informative first.

    For texts, see ``TextNB.top_features``.

    Parameters
    ----------
    model : estimator or Model
        A fitted model.
    n : int
        The number of values per class.

    Returns
    -------
    Table
        Sorted by ``score``: the share of the class's rows that have the value, multiplied by how far it raises the
        probability of the class from its share of all rows (0) toward 1 (1). ``bits``: how much more often rows of
        the class have the value than rows of all other classes.

    Examples
    --------
    >>> from candide import CategoricalNB, diagnostics
    >>> model = CategoricalNB().fit([["sun"], ["sun"], ["rain"], ["fog"]], ["out", "out", "in", "in"])
    >>> diagnostics.top_features(model, 1)
    class  column  value     score     bits  probability  count
    in     x0      fog    0.133333        1          0.4      1
    out    x0      sun         0.3  1.58496          0.6      2
    """
    fitted = _model_of(model)
    return _importance.top_values(fitted.classifier, fitted.column_names(), whole_number(n, "n"))


def unseen_categories(model: Any, X: Any) -> dict[Any, dict[Any, int]]:
    """Return categories in ``X`` that did not occur in training, with the number of rows, by column.

    For ``NaiveBayes``; empty for other models.

    Examples
    --------
    >>> from candide import NaiveBayes, diagnostics
    >>> model = NaiveBayes(order=0).fit({"job": ["cook", "smith", "cook", "smith"]}, ["low", "high", "low", "high"])
    >>> diagnostics.unseen_categories(model, {"job": ["cook", "pilot"]})
    {'job': {'pilot': 1}}
    """
    return _model_of(model).unseen_categories(X)


def log_density(model: Any, X: Any) -> Floats:
    """Return the log density log p(x) of each row, including all constant terms.

    Examples
    --------
    >>> from candide import GaussianNB, diagnostics
    >>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
    >>> diagnostics.log_density(model, [[1.5], [5.0]]).round(2)
    array([ -0.92, -24.73])
    """
    fitted = _with_density(model, "log_density")
    return fitted.classifier.log_density(fitted.read(X), fitted.kernels)


def log_likelihood(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the log-likelihood of labeled rows, Σ log p(x, class), which maximum likelihood maximizes.

    Examples
    --------
    >>> from candide import BernoulliNB, diagnostics
    >>> X, y = [[1], [1], [0], [0]], ["a", "a", "b", "b"]
    >>> round(diagnostics.log_likelihood(BernoulliNB(alpha=0).fit(X, y), X, y), 3)        # 4 log ½
    -2.773
    """
    fitted = _with_density(model, "log_likelihood")
    batch = fitted.labeled_batch(X, y, sample_weight)
    return fitted.classifier.log_likelihood(batch.data, batch.classes, batch.weight, fitted.kernels)


def typicality(model: Any, X: Any) -> Floats:
    """Return how typical each row is: the share of left-out training rows that are at most as probable.

    Near 0, the row is unlike all training rows, and its prediction is an extrapolation. Needs training rows
    (``subsample=100_000``).

    Examples
    --------
    >>> from candide import GaussianNB, diagnostics
    >>> X, y = [[1.0], [2.0], [3.0], [8.0], [9.0], [9.5]], [0, 0, 0, 1, 1, 1]
    >>> diagnostics.typicality(GaussianNB(subsample=100_000).fit(X, y), [[100.0]])
    array([0.])
    """
    fitted = _with_density(model, "typicality")
    return _typicality(fitted.classifier, fitted.read(X), fitted.kernels)


def impute(model: Any, X: Any) -> Any:
    """Return ``X`` with its missing cells filled from p(cell | observed cells of the row).

    The values are means for numbers and counts (rounded in columns of integers), and the most probable value for
    categories and binary columns. Data frames are returned as data frames with the same columns and types; other
    input as an array (sparse if it was). A column without any value in training stays empty.

    Examples
    --------
    >>> import numpy as np
    >>> from candide import GaussianNB, diagnostics
    >>> X = np.array([[1.0, 10.0], [2.0, 20.0], [8.0, 80.0], [9.0, 90.0]])
    >>> diagnostics.impute(GaussianNB().fit(X, ["low", "low", "high", "high"]), [[1.5, np.nan]])
    array([[ 1.5, 15. ]])
    """
    fitted = _with_density(model, "impute")
    data, likelihood = fitted.read(X), fitted.classifier.likelihood
    posterior = fitted.classifier.posterior(data, fitted.kernels, logarithm=False)
    if isinstance(fitted.schema, TableSchema):
        return fitted.schema.fill_missing(X, data, likelihood.expected(data, posterior))
    if isinstance(data, Sparse):
        return _filled_sparse(data, lambda rows: likelihood.expected(data.take(rows), posterior[rows]))
    guess = likelihood.expected(data, posterior)
    columns = [_filled(data.column(j), guess[:, j]) for j in range(data.n_columns)]
    frame = frame_like(X, columns)
    return np.column_stack(columns) if frame is None else frame


def _filled(column: Array, guess: Array) -> Array:
    """Return a column with missing cells replaced; numbers stay numbers."""
    known = ~missing_cells(column)
    filled = np.where(known, column.astype(object), guess)
    try:
        return filled.astype(np.float64) if column.dtype.kind in "fiub" else filled
    except (TypeError, ValueError):
        return filled  # a column without any value, where the model has strings


def _filled_sparse(data: Sparse, expected: Any) -> Any:
    """Return a sparse matrix with stored NaN replaced; rows without any are skipped."""
    matrix = data.matrix().astype(np.float64)
    row = np.repeat(np.arange(data.n_rows), np.diff(data.indptr))
    missing = np.isnan(matrix.data)
    rows = np.unique(row[missing])
    if len(rows):
        values = expected(rows)
        matrix.data[missing] = values[np.searchsorted(rows, row[missing]), data.indices[missing]]
    return matrix


def as_linear(model: Any, *, squares: bool = False) -> LinearForm:
    """Return the model as a linear classifier: exact weights and bias, whose softmax is ``predict_proba``.

    ``BernoulliNB``, ``MultinomialNB``, ``ComplementNB``, ``CategoricalNB`` (one input for each value), ``PoissonNB``,
    ``GaussianNB(variance="shared")`` and ``TextNB`` with a plain family have such a form, also with
    ``calibrate="temperature"`` or ``"platt"`` if that is one temperature for all rows. Other models raise an error.

    Parameters
    ----------
    model : estimator or Model
        A fitted model.
    squares : bool, default False
        Use squares of columns as inputs too, for ``GaussianNB`` with one variance per class, which is quadratic in x.

    Examples
    --------
    >>> from candide import GaussianNB, diagnostics
    >>> X, y = [[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]
    >>> model = GaussianNB(variance="shared", var_smoothing=0).fit(X, y)
    >>> boundary = diagnostics.as_linear(model).between("high", "low")
    >>> boundary.weights, boundary.bias                  # 28 x - 140: the boundary is at 5
    (array([28.]), -140.0)
    """
    fitted, squared = _model_of(model), flag(squares, "squares")
    return linear_form(fitted.classifier, fitted.column_names(), fitted.read, fitted.kernels, squares=squared)


def log_marginal_likelihood(model: Any, *, per_column: bool = False) -> Any:
    """Return the log marginal likelihood log p(X | y) of the training data (the log evidence).

    The parameters are integrated out over their prior. Constant terms (the factorials of counts) are left out. For
    ``MultinomialNB``, the numbers per column compare each word with all others and do not add up to the total.

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
    classifier = _with_posterior(model, "log_marginal_likelihood").classifier
    if per_column:
        return classifier.family.log_marginal_likelihood(classifier.state.statistics)
    return classifier.family.total_log_marginal_likelihood(classifier.state.statistics)


def bayes_factors(model: Any) -> Table:
    """Return the Bayes factor of each column, for dependence on the class versus independence.

    A ``log_bayes_factor`` above 0 favors dependence, above 3 strongly.

    Examples
    --------
    >>> from candide import BernoulliNB, diagnostics
    >>> model = BernoulliNB().fit([[1], [1], [1], [0], [0], [0]], ["a", "a", "a", "b", "b", "b"])
    >>> diagnostics.bayes_factors(model)["log_bayes_factor"].round(2)
    array([2.17])
    """
    fitted = _with_posterior(model, "bayes_factors")
    return marginal_likelihood.bayes_factors(fitted.classifier, fitted.column_names())


def intervals(model: Any, level: float = 0.95) -> Table:
    """Return ``parameters()`` with equal-tailed credible intervals.

    Without a prior (maximum likelihood, or a pseudo-count of 0), Jeffreys' prior is used for probabilities and rates,
    and 1/σ² for normals, which gives the classical confidence intervals.

    Parameters
    ----------
    model : estimator or Model
        A fitted model.
    level : float, default 0.95
        Probability of the intervals.

    Examples
    --------
    >>> from candide import BernoulliNB, diagnostics
    >>> model = BernoulliNB().fit([[1], [1], [0]], ["a", "a", "b"])
    >>> diagnostics.intervals(model)["low"].round(3)
    array([0.292, 0.013])
    """
    fitted = _with_posterior(model, "intervals")
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
        ``value`` and ``std``, arrays of shape (n_rows,), of the naive model, never calibrated. The standard deviation
        reflects the uncertainty of parameters learned from few rows, not the error of the naive assumption.
    """
    fitted = _with_posterior(model, "log_odds")
    data = fitted.read(X)
    first, second = _pair(fitted, data, of, against)
    return marginal_likelihood.log_odds(fitted.classifier, data, first, second, fitted.kernels)


def _pair(model: Model, data: Any, of: Any, against: Any) -> tuple[Array, Array]:
    """Return the positions of the two classes of each row."""
    if len(model.classes) < 2:
        raise ParameterError("log-odds need two classes, but this model has only one; add another with partial_fit")
    if of is not None and of == against:
        raise ParameterError(f"of and against are both {of!r}; expected two different classes")
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
