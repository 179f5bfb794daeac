"""Gaussian naive Bayes."""

from __future__ import annotations

from typing import Any

from ..families import Gaussian
from ..kernels.data import Floats
from ..model.plan import ClassPrior
from .base import BaseNB, read_only
from .settings import class_prior_of, number


class GaussianNB(BaseNB):
    """Naive Bayes for measurements: in every class each column follows a normal distribution of its own.

    A drop-in for ``sklearn.naive_bayes.GaussianNB`` that also takes missing values and sparse matrices, and whose
    variance floor does not depend on the order or the chunks of the rows.

    Parameters
    ----------
    priors : array of shape (n_classes,), optional
        Probabilities of the classes in sorted order. By default their shares of the rows.
    var_smoothing : float, default 1e-9
        This share of the largest variance of all columns is added to every variance. 0 is the exact maximum likelihood.
    class_weight : dict, "balanced" or None
        Factors on the class prior; "balanced" makes it uniform.
    n_threads : int, optional
        Threads to use; by default ``CANDIDE_NUM_THREADS`` or all cores. Results do not depend on it.

    Attributes
    ----------
    classes_, class_count_, class_prior_
        Labels, weights and probabilities of the classes.
    theta_, var_ : arrays of shape (n_classes, n_features)
        Means, and variances with the floor.
    epsilon_ : float
        The floor.

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

    def __init__(
        self, *, priors: Any = None, var_smoothing: float = 1e-9, class_weight: Any = None, n_threads: int | None = None
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.class_weight = class_weight
        self.n_threads = n_threads

    def _family(self, n_features: int) -> Gaussian:
        return Gaussian(var_smoothing=number(self.var_smoothing, "var_smoothing"))

    def _class_prior(self) -> ClassPrior:
        return class_prior_of(self.priors, True, self.class_weight)

    @property
    def theta_(self) -> Floats:
        """Mean of each class and column."""
        return read_only(self._fitted().likelihood.mean)

    @property
    def var_(self) -> Floats:
        """Variance of each class and column, floor included."""
        return read_only(self._fitted().likelihood.variance)

    @property
    def epsilon_(self) -> float:
        """What was added to every variance."""
        model = self._fitted()
        family: Any = model.plan.family
        return float(family.floor(model.state.statistics))
