"""Naive Bayes as a linear classifier."""

from __future__ import annotations

from typing import Any

from ..model.linear_form import LinearForm, linear_form
from ..specs.parameters import flag
from .inputs import model_of


def as_linear(model: Any, *, squares: bool = False) -> LinearForm:
    """Return the model as a linear classifier: exact weights and bias, whose softmax is ``predict_proba``.

    ``BernoulliNB``, ``MultinomialNB``, ``ComplementNB``, ``CategoricalNB`` (one input for each value), ``PoissonNB``,
    ``GaussianNB(variance="shared")`` and ``TextNB`` with a plain family have such a form, also with
    ``calibrate="temperature"`` or ``"platt"`` where that is one temperature for all rows. For other models it is an
    error that says why.

    Parameters
    ----------
    model : estimator or Model
        A fitted model.
    squares : bool, default False
        Let squares of columns be inputs too: the form of ``GaussianNB`` whose classes have variances of their own,
        which is quadratic in x.

    Examples
    --------
    >>> from candide import GaussianNB, diagnostics
    >>> X, y = [[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]
    >>> model = GaussianNB(variance="shared", var_smoothing=0).fit(X, y)
    >>> boundary = diagnostics.as_linear(model).between("high", "low")
    >>> boundary.weights, boundary.bias                  # 28 x - 140: the classes part at 5
    (array([28.]), -140.0)
    """
    fitted, squared = model_of(model), flag(squares, "squares")
    return linear_form(fitted.classifier, fitted.column_names(), fitted.read, fitted.kernels, squares=squared)
