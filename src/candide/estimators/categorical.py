"""Categorical naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..kernels.layouts import Array, Floats
from ..priors import Dirichlet
from ..specs.discrete import CategoricalSpec, priors_by_column
from .base import BaseNB
from .from_counts import category_counts, category_shares, given_model, ready_model, table_categories
from .model_estimator import read_only


@dataclass(kw_only=True, eq=False, repr=False)
class CategoricalNB(BaseNB):
    """Categorical naive Bayes, for columns of categories: strings, booleans, codes or categoricals.

    A drop-in replacement for ``sklearn.naive_bayes.CategoricalNB`` on integer codes. Missing values are ignored cell by
    cell.

    Parameters
    ----------
    min_categories : int or array of shape (n_features,), optional
        Minimum number of categories per column.
    categories : {"range", "seen"}, default "range"
        Number of categories of a column of integer codes: the largest code + 1, as in scikit-learn, or the number of
        codes that occurred. Columns of strings and other values always use those that occurred.
    unseen : {"ignore", "smooth", "error"}, default "ignore"
        What to do with a category that did not occur in training: ignore the cell; treat it as one more category, for
        which smoothing reserves a probability; or raise an error.
    alpha : float, array, "evidence", "loo" or None, default None
        Pseudo-count per category: one number, one per column, or one per class and column; or chosen for each column
        by marginal likelihood or leave-one-out. None is 1, or 0 with ``estimate="mle"``.
    parameter_prior : Dirichlet, or a list or dict with one per column, optional
        Prior of θ, instead of ``alpha``. An array in it has one pseudo-count per category.
    force_alpha, fit_prior, class_prior, class_weight, estimate,
    calibrate, compute_loo, subsample, unlabeled, n_threads
        As in ``MultinomialNB``. The posterior predictive equals the mean.

    Attributes
    ----------
    n_categories_ : array of shape (n_features,)
        Number of categories of each column.
    categories_ : list of arrays
        The categories of each column, in the order of the arrays below.
    category_count_, feature_log_prob_ : lists of arrays of shape (n_classes, n_categories)
        Counts and log θ.
    prior_, loo_, staleness_
        As in ``MultinomialNB``; ``prior_`` is a tuple if columns have different priors.

    Examples
    --------
    >>> X = [["red", "yes"], ["red", "no"], ["green", "no"], ["green", None]]
    >>> model = CategoricalNB().fit(X, ["a", "a", "b", "b"])
    >>> model.predict_proba([["red", "no"], ["blue", None]]).round(3)
    array([[0.692, 0.308],
           [0.5  , 0.5  ]])
    """

    _spec_type = CategoricalSpec
    _poor_score: ClassVar[bool] = True
    _positive_only: ClassVar[bool] = True
    _input_tags: ClassVar[dict[str, bool]] = {"categorical": True, "string": True, "sparse": False}

    alpha: Any = None
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    min_categories: Any = None
    categories: Literal["range", "seen"] = "range"
    unseen: Literal["ignore", "smooth", "error"] = "ignore"
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
        cls,
        tables: Any,
        categories: Any = None,
        *,
        classes: Any = None,
        class_prior: Any = None,
        feature_names: Any = None,
    ) -> Self:
        """Return a model with given probabilities θ.

        Parameters
        ----------
        tables : list of arrays of shape (n_classes, n_categories)
            For each column, the probabilities of its categories in each class; rows sum to 1.
        categories : list of lists, optional
            For each column, its categories in the order of its table; by default the column names of data frames, or
            the codes 0, 1, …
        classes, class_prior, feature_names
            As in ``MultinomialNB.from_parameters``.

        Examples
        --------
        >>> model = CategoricalNB.from_parameters([[[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]], [["red", "green", "blue"]])
        >>> model.predict_proba([["green"], ["red"]]).round(3)
        array([[0.333, 0.667],
               [1.   , 0.   ]])
        """
        categories = table_categories(categories, tables)
        statistics, _ = category_shares(tables, categories)
        values: Any = "range" if categories is None else "seen"
        return given_model(cls, statistics, (), classes, class_prior, feature_names, categories=values)

    @classmethod
    def from_counts(
        cls,
        tables: Any,
        class_count: Any = None,
        categories: Any = None,
        *,
        classes: Any = None,
        class_prior: Any = None,
        feature_names: Any = None,
        **settings: Any,
    ) -> Self:
        """Return the model that would be fitted to rows with these counts.

        Parameters
        ----------
        tables : list of arrays of shape (n_classes, n_categories)
            For each column, the number of rows of each class with each of its categories.
        class_count : array of shape (n_classes,), optional
            Number of rows of each class, needed if every column has missing values; by default the largest sum of a
            table.
        categories : list of lists, optional
            As in ``from_parameters``. Listed categories with a count of 0 take part in smoothing, others do not.
        classes, class_prior, feature_names, **settings
            As in ``MultinomialNB.from_counts``.

        Examples
        --------
        >>> model = CategoricalNB.from_counts([[[3, 1, 0], [0, 2, 0]]], categories=[["sun", "rain", "snow"]], alpha=1)
        >>> model.predict_proba([["snow"]])               # (4/6) · 1/7 and (2/6) · 1/5
        array([[0.58823529, 0.41176471]])
        """
        categories = table_categories(categories, tables)
        statistics, orders = category_counts(tables, class_count, categories)
        if "parameter_prior" in settings:
            priors = priors_by_column(settings["parameter_prior"], len(orders), feature_names)
            settings["parameter_prior"] = _in_value_order(priors, orders)
        settings["categories"] = "range" if categories is None else "seen"
        if not statistics.count.any(axis=0).all():
            # So that the smoothing does not change when rows are forgotten, and with them categories with a count of 0.
            settings.setdefault("min_categories", np.diff(statistics.offsets))
        return ready_model(cls, statistics, (), classes, class_prior, feature_names, settings)

    @property
    def n_categories_(self) -> Array:
        """Number of categories of each column."""
        family, statistics = self._parts()
        return np.asarray(family.n_values(statistics))

    @property
    def categories_(self) -> list[Array]:
        """Categories of each column."""
        family, statistics = self._parts()
        return [read_only(values) for values in family.values(statistics)]

    @property
    def category_count_(self) -> list[Floats]:
        """Weight of each category in each class, one array per column."""
        family, statistics = self._parts()
        return list(family.full_counts(statistics))

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """log θ of each category in each class, one array per column."""
        family, statistics = self._parts()
        return list(family.full_log_shares(statistics))

    def _parts(self) -> tuple[Any, Any]:
        model = self._fitted().classifier
        return model.family, model.state.statistics


def _in_value_order(priors: Any, orders: list[Array]) -> Any:
    """Return the priors of the columns with pseudo-counts in the order of the sorted values."""
    if not isinstance(priors, tuple):
        return priors
    counts = [np.asarray(prior.concentration) for prior in priors]
    return [
        Dirichlet(count[order]) if count.shape == order.shape else prior
        for prior, count, order in zip(priors, counts, orders, strict=True)
    ]
