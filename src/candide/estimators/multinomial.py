"""Multinomial naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats
from ..specs.discrete import MultinomialSpec
from .base import BaseNB, feature_count
from .from_counts import given_model, read_probabilities, ready_model, sums


@dataclass(kw_only=True, eq=False, repr=False)
class MultinomialNB(BaseNB):
    """Multinomial naive Bayes, for word counts and other multinomial features.

    A drop-in replacement for ``sklearn.naive_bayes.MultinomialNB`` that can also ``forget``, ``merge``, ``explain`` and
    leave rows out. ``alpha=0`` is exact maximum likelihood. Missing counts (NaN) are ignored cell by cell.

    Parameters
    ----------
    alpha : float, array, "evidence", "loo" or None, default None
        Pseudo-count added to every count: one number, one per column, or one per class and column; or chosen by
        marginal likelihood ("evidence") or by leave-one-out log-loss ("loo"). None is 1, or 0 with
        ``estimate="mle"``.
    force_alpha : bool, default True
        If False, pseudo-counts below 1e-10 are set to 1e-10.
    fit_prior : bool, default True
        If False, the class prior is uniform.
    class_prior : array of shape (n_classes,), dict, "smoothed", "uniform" or Dirichlet, optional
        Class probabilities, in the order of ``classes_`` or by label, or how to estimate them. By default the class
        frequencies.
    class_weight : dict, "balanced" or None
        Factors that multiply the class prior; "balanced" makes it uniform.
    estimate : {"mean", "map", "mle", "predictive"}, optional
        Estimate of the shares θ: posterior mean (the default), posterior mode, maximum likelihood (no prior), or the
        posterior predictive, which is the Pólya distribution.
    parameter_prior : Dirichlet, or a list or dict with one per column, optional
        Prior of θ, instead of ``alpha``.
    calibrate : {"temperature", "platt", "beta", "isotonic"}, optional
        Calibrate the probabilities on training rows, each left out of the model that scores it.
    compute_loo : bool, optional
        Whether ``loo_``, the leave-one-out evaluation, is available. By default it is available while the model keeps
        training rows. True keeps the rows that it needs, or with ``subsample=0`` computes it in ``fit``.
    subsample : "auto" or int, default "auto"
        Maximum number of distinct training rows to keep in the model, for ``refit``, ``loo_`` and ``predict_set``.
        "auto": up to 24 MB if ``calibrate``, ``compute_loo`` or ``alpha`` needs them (for ``calibrate`` alone 15,000
        rows), else none. 0: none; rows are used in ``fit`` and dropped, ``refit`` raises an error, and a warning is
        given when a refit is due.
    unlabeled : {"drop", "error"}, default "drop"
        What to do with rows whose label is None, NaN or null: drop them with a warning that states their number, or
        raise an error. At least one row must have a label.
    n_threads : int, optional
        Number of threads; by default ``CANDIDE_NUM_THREADS``, else all cores. Results do not depend on it.

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, n_features)
        Weighted sum of each column.
    feature_log_prob_ : array of shape (n_classes, n_features)
        log θ.
    prior_ : Dirichlet
        The prior, with the chosen ``alpha``.
    loo_ : Evaluation
        Leave-one-out accuracy, log-loss and calibration (``compute_loo``).
    staleness_ : float
        Weight of the rows added and removed since calibration and ``alpha="loo"`` were fitted, as a share of the
        weight at that time.

    Examples
    --------
    >>> X = [[2, 1, 0], [3, 0, 0], [0, 1, 4]]        # counts of "win", "hello", "meeting"
    >>> model = MultinomialNB().fit(X, ["spam", "spam", "ham"])
    >>> model.predict([[1, 0, 0]])
    array(['spam'], dtype='<U4')
    """

    _spec_type = MultinomialSpec
    _poor_score: ClassVar[bool] = True
    feature_count_ = feature_count
    _positive_only: ClassVar[bool] = True

    alpha: Any = None
    force_alpha: bool = True
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
        """Return a model with given shares θ.

        When the model is updated, the given parameters count as one row per class. Before that, the parameters have no
        uncertainty, so ``diagnostics.intervals``, ``log_odds`` and ``log_marginal_likelihood`` raise an error.

        Parameters
        ----------
        probability : array of shape (n_classes, n_features)
            The share of each column in each class; rows sum to 1.
        classes : array of shape (n_classes,), optional
            Labels of the rows, in any order; by default 0, 1, …
        class_prior : array of shape (n_classes,) or dict, optional
            Probabilities of the classes, in the order of ``classes`` or by label; uniform by default.
        feature_names : list of str, optional
            Names of the columns; by default those of the table, if it is a data frame.

        Examples
        --------
        >>> model = MultinomialNB.from_parameters(
        ...     [[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]], classes=["spam", "ham"], class_prior=[0.2, 0.8]
        ... )
        >>> model.predict_proba([[2, 0, 0]])              # 0.8 / 64 and 0.2 / 4
        array([[0.2, 0.8]])
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
        """Return the model that would be fitted to rows with these counts; it can be updated and merged.

        Parameters
        ----------
        count : array of shape (n_classes, n_features)
            The sum of each column over the rows of each class.
        class_count : array of shape (n_classes,), optional
            Number of rows of each class; by default one.
        class_prior : optional
            As for the constructor, but in the order of ``classes``, or a dict by label; by default the shares of
            ``class_count``.
        classes, feature_names
            As in ``from_parameters``.
        **settings
            Constructor parameters; arrays with one entry per class are in the order of ``classes``.

        Examples
        --------
        >>> model = MultinomialNB.from_counts([[5, 195], [20, 80]], classes=["good", "bad"], alpha=1)
        >>> model.parameters()["probability"]             # 21/102, 81/102; 6/202, 196/202
        array([0.20588235, 0.79411765, 0.02970297, 0.97029703])
        """
        statistics = sums(count, "count", class_count)
        return ready_model(cls, statistics, (count,), classes, class_prior, feature_names, settings)

    def sample(self, n: int = 1, random_state: Any = None, length: Any = 100) -> tuple[Array, Array]:
        """Draw ``n`` rows of counts, ``(X, y)``, with ``length`` tokens each: one number, or one per row."""
        lengths = np.asarray(length)
        if lengths.dtype.kind not in "iu" or (lengths < 0).any() or lengths.shape not in ((), (n,)):
            raise ParameterError(
                f"length is {length!r}; expected a number of tokens, or one such number for each of the {n} rows"
            )
        return self._fitted().sample(n, random_state, length=length)

    @property
    def feature_log_prob_(self) -> Floats:
        """log θ of each class and column; -inf where θ is 0."""
        model = self._fitted().classifier
        family: Any = model.family
        return np.asarray(family.log_shares(model.state.statistics).value())
