"""What columns and values tell about the class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..explain import information as _information
from ..model.summary import summary
from ..model.table import Table
from ..specs.parameters import whole_number
from ..specs.table_schema import TableSchema
from .inputs import model_of


def information(model: Any) -> Table:
    """Return the mutual information of each column with the class under the model, in bits, the largest first.

    Between 0 (the column is independent of the class) and the entropy of the classes. For the words of
    ``MultinomialNB``, what each adds to the information of a single word drawn from a text. For ``NaiveBayes``,
    estimated on rows left out.

    Examples
    --------
    >>> from candide import BernoulliNB, diagnostics
    >>> model = BernoulliNB(alpha=0).fit([[1, 0], [1, 1], [0, 0], [0, 1]], ["spam", "spam", "ham", "ham"])
    >>> diagnostics.information(model)
    column  bits
    x0         1
    x1         0
    """
    fitted = model_of(model)
    if not isinstance(fitted.schema, TableSchema):
        return _information.information(fitted.classifier, fitted.column_names())
    table, n_columns = summary(fitted.classifier), len(fitted.schema.names)
    order = np.argsort(-table["bits"][:n_columns], kind="stable")
    return Table({name: table[name][:n_columns][order] for name in ("column", "bits")})


def top_features(model: Any, n: int = 10) -> Table:
    """Return the values of columns that identify most of each class's rows, the best first.

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
        Sorted by ``score``: the share of the class's rows that have the value, times how far it raises the
        probability of the class from its share of all rows (0) towards 1 (1). ``bits``: how much more often rows of
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
    fitted = model_of(model)
    return _information.top_values(fitted.classifier, fitted.column_names(), whole_number(n, "n"))


def unseen_categories(model: Any, X: Any) -> dict[Any, dict[Any, int]]:
    """Return the categories in ``X`` that no training row has, by column, and in how many rows of ``X`` each is.

    Of ``NaiveBayes``; other models have none.

    Examples
    --------
    >>> from candide import NaiveBayes, diagnostics
    >>> model = NaiveBayes(order=0).fit({"job": ["cook", "smith", "cook", "smith"]}, ["low", "high", "low", "high"])
    >>> diagnostics.unseen_categories(model, {"job": ["cook", "pilot"]})
    {'job': {'pilot': 1}}
    """
    return model_of(model).unseen_categories(X)
