"""Gaussian naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

from ..kernels.layouts import Floats
from ..specs.gaussian import GaussianSpec
from ..specs.parameters import number
from .base import BaseNB
from .from_counts import given_model, moments, ready_model
from .model_estimator import read_only


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianNB(BaseNB):
    """Gaussian naive Bayes, for measurements: each column is normal within each class.

    A drop-in replacement for ``sklearn.naive_bayes.GaussianNB`` that also accepts missing values and sparse matrices,
    and whose variance floor does not depend on the order of the rows or on batches.

    Parameters
    ----------
    priors : array of shape (n_classes,), dict, "smoothed", "uniform" or Dirichlet, optional
        Class probabilities, in the order of ``classes_`` or by label, or how to estimate them. By default the class
        frequencies.
    var_smoothing : float, optional
        Share of the largest column variance that is added to every variance. By default 1e-9, and 0 with
        ``estimate="mle"``; 0 is exact maximum likelihood.
    ddof : float, default 0
        The divisor of the variance is the number of rows minus ``ddof``; 1 makes the variance unbiased.
    variance : {"class", "shared"}, default "class"
        One variance per class, or one for all classes, which makes the log-odds linear.
    class_weight : dict, "balanced" or None
        Factors that multiply the class prior; "balanced" makes it uniform.
    estimate : {"mean", "map", "mle", "predictive"}, optional
        Estimate of mean and variance: posterior mean, posterior mode, maximum likelihood (no prior and, unless
        ``var_smoothing`` is given, no floor), or the posterior predictive (Student's t). By default maximum likelihood
        with the floor, or the posterior mean if there is a ``parameter_prior``.
    parameter_prior : NormalInverseGamma or Normal, or a list or dict with one per column, optional
        Prior of mean and variance. If ``estimate`` needs one, the default is a weak prior around the overall mean and
        variance of each column.
    calibrate : {"temperature", "platt", "beta", "isotonic"}, optional
        Calibrate the probabilities on training rows, each left out of the model that scores it.
    compute_loo : bool, optional
        Whether ``loo_``, the leave-one-out evaluation, is available. By default it is available while the model keeps
        training rows. True keeps the rows that it needs, or with ``subsample=0`` computes it in ``fit``.
    subsample : "auto" or int, default "auto"
        Maximum number of distinct training rows to keep in the model, for ``refit``, ``loo_`` and ``predict_set``.
        "auto": up to 24 MB if ``calibrate`` or ``compute_loo`` needs them (for ``calibrate`` alone 15,000 rows), else
        none. 0: none; rows are used in ``fit`` and dropped, ``refit`` raises an error, and a warning is given when a
        refit is due.
    unlabeled : {"drop", "error"}, default "drop"
        What to do with rows whose label is None, NaN or null: drop them with a warning that states their number, or
        raise an error. At least one row must have a label.
    n_threads : int, optional
        Number of threads; by default ``CANDIDE_NUM_THREADS``, else all cores. Results do not depend on it.

    Attributes
    ----------
    classes_, class_count_, class_prior_
        Labels, weights and probabilities of the classes.
    theta_, var_ : arrays of shape (n_classes, n_features)
        Means, and variances with the floor; with ``estimate="predictive"`` location and squared scale of Student's t.
    epsilon_ : float
        The floor.
    prior_ : NormalInverseGamma, Normal or None
        The prior, given or estimated from the columns; None for maximum likelihood.
    loo_ : Evaluation
        Leave-one-out accuracy, log-loss and calibration (``compute_loo``).
    staleness_ : float
        Weight of the rows added and removed since the calibration was fitted, as a share of the weight at that time.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0, 2.0], [-2.0, np.nan], [1.0, 7.0], [2.0, 9.0]])
    >>> model = GaussianNB().fit(X, ["left", "left", "right", "right"])
    >>> model.predict([[-0.8, np.nan], [np.nan, 8.0]])
    array(['left', 'right'], dtype='<U5')
    >>> model.theta_
    array([[-1.5,  2. ],
           [ 1.5,  8. ]])
    """

    _spec_type = GaussianSpec

    priors: Any = None
    var_smoothing: float | None = None
    ddof: float = 0
    variance: Literal["class", "shared"] = "class"
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
        cls, mean: Any, variance: Any, *, classes: Any = None, class_prior: Any = None, feature_names: Any = None
    ) -> Self:
        """Return a model with given means and variances, without a floor.

        Parameters
        ----------
        mean, variance : arrays of shape (n_classes, n_features)
            μ and σ² of each column in each class. A variance of 0 is a point mass.
        classes, class_prior, feature_names
            As in ``MultinomialNB.from_parameters``.

        Examples
        --------
        With equal variances, the decision boundary is halfway between the means:

        >>> model = GaussianNB.from_parameters([[0.0], [2.0]], [[1.0], [1.0]])
        >>> model.predict_proba([[1.0]])
        array([[0.5, 0.5]])
        """
        statistics = moments(mean, variance)
        return given_model(cls, statistics, (mean, variance), classes, class_prior, feature_names)

    @classmethod
    def from_counts(
        cls,
        class_count: Any,
        mean: Any,
        variance: Any,
        /,
        ddof: float = 0,
        *,
        classes: Any = None,
        class_prior: Any = None,
        feature_names: Any = None,
        **settings: Any,
    ) -> Self:
        """Return the model that would be fitted to rows with these means and variances.

        Parameters
        ----------
        class_count : array of shape (n_classes,)
            Number of rows of each class.
        mean, variance : arrays of shape (n_classes, n_features)
            Mean and variance of each column in each class.
        ddof : float, default 0
            Divisor of the given variances: number of rows minus ``ddof``; 1 if they are unbiased. The model uses the
            same divisor, unless it has a prior.
        classes, class_prior, feature_names, **settings
            As in ``MultinomialNB.from_counts``.

        Examples
        --------
        >>> model = GaussianNB.from_counts([4, 6], [[178.0], [165.0]], [[30.0], [24.0]], ddof=1)
        >>> model.var_.round(3), model.class_prior_
        (array([[30.],
               [24.]]), array([0.4, 0.6]))
        """
        statistics = moments(mean, variance, class_count, number(ddof, "ddof"))
        if settings.get("parameter_prior") is None and settings.get("estimate") in (None, "mle"):
            settings["ddof"] = ddof
        return ready_model(cls, statistics, (mean, variance), classes, class_prior, feature_names, settings)

    @property
    def theta_(self) -> Floats:
        """Mean of each class and column."""
        return read_only(self._fitted().classifier.likelihood.mean)

    @property
    def var_(self) -> Floats:
        """Variance of each class and column, including the floor."""
        return read_only(self._fitted().classifier.likelihood.variance)

    @property
    def epsilon_(self) -> float:
        """The variance floor, which is added to every variance."""
        model = self._fitted().classifier
        family: Any = model.family
        return float(family.floor(model.state.statistics))
