"""Statistics for specialists: functions of a fitted estimator or a ``Model``.

>>> import candide
>>> model = candide.GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
>>> candide.diagnostics.log_density(model, [[1.5], [5.0]]).round(2)
array([  -0.92, -25.92])
"""

from .columns import information, top_features, unseen_categories
from .density import impute, log_density, log_likelihood, typicality
from .linear import as_linear
from .posterior import bayes_factors, intervals, log_marginal_likelihood, log_odds

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
