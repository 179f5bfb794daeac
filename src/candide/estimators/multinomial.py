"""Multinomial naive Bayes."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from ..exceptions import ParameterError
from ..families import Multinomial
from ..kernels.data import Array, Floats
from ..priors import Dirichlet
from .discrete import CountNB
from .settings import DEFAULTS


class MultinomialNB(CountNB):
    """Naive Bayes for counts that compete, such as the words of a text: each class has shares θ of the columns.

    A drop-in for ``sklearn.naive_bayes.MultinomialNB``, where ``alpha=0`` is the exact maximum likelihood. A missing
    count (NaN) is left out of the sum and of the row's length.

    Parameters
    ----------
    alpha : float, array, "evidence" or "loo", default 1.0
        Pseudo-count added to every cell: one number, one per column, or one per class and column; or chosen by the
        data, as the one that makes them most probable, or predicts rows that are left out best.
    force_alpha : bool, default True
        False raises pseudo-counts below 1e-10 to 1e-10.
    fit_prior : bool, default True
        False makes the class prior uniform.
    class_prior : array of shape (n_classes,), "smoothed", "uniform" or Dirichlet, optional
        Probabilities of the classes in sorted order, or how to find them. By default their shares of the rows.
    class_weight : dict, "balanced" or None
        Factors on the class prior; "balanced" makes it uniform.
    estimate : {"mean", "map", "mle", "predictive"}, optional
        What becomes of the posterior of θ: its mean (the default), its mode, maximum likelihood (no prior), or the
        average over all of it, here the Pólya distribution.
    parameter_prior : Dirichlet, or a list or dict with one per column, optional
        What is believed about θ before data, in place of ``alpha``.
    calibrate : {"temperature", "platt", "beta", "isotonic"}, optional
        Correct the probabilities by what rows that are left out teach.
    evaluate : bool, default False
        Keep what ``loo_`` needs: an honest report without a test set.
    keep_sample : bool, optional
        Whether training rows stay in the model for what looks at them again. By default they do if something needs
        them; False throws them away after ``fit``.
    n_threads : int, optional
        Threads to use; by default ``CANDIDE_NUM_THREADS`` or all cores. Results do not depend on it.

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, n_features)
        Weighted sums of the columns.
    feature_log_prob_ : array of shape (n_classes, n_features)
        log θ; made when asked for.
    prior_ : Dirichlet
        What was believed before data, a chosen ``alpha`` included.
    loo_ : Report
        With ``evaluate=True``: accuracy, log-loss and calibration on rows left out.
    blend_age_ : float
        How much was learned since calibration and ``alpha="loo"`` were fitted, as a share of what they saw.

    Examples
    --------
    >>> X = [[2, 1, 0], [3, 0, 0], [0, 1, 4]]        # counts of "win", "hello", "meeting"
    >>> model = MultinomialNB().fit(X, ["spam", "spam", "ham"])
    >>> model.predict([[1, 0, 0]])
    array(['spam'], dtype='<U4')
    """

    _positive_only: ClassVar[bool] = True

    _prior_kind: ClassVar[type] = Dirichlet

    def __init__(
        self,
        *,
        alpha: Any = DEFAULTS["alpha"],
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        class_weight: Any = None,
        estimate: Literal["mean", "map", "mle", "predictive"] | None = None,
        parameter_prior: Any = None,
        calibrate: Literal["temperature", "platt", "beta", "isotonic"] | None = None,
        evaluate: bool = False,
        keep_sample: bool | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.estimate = estimate
        self.parameter_prior = parameter_prior
        self.calibrate = calibrate
        self.evaluate = evaluate
        self.keep_sample = keep_sample
        self.n_threads = n_threads

    def _family(self, n_features: int) -> Any:
        return Multinomial(*self._belief(Dirichlet))

    def sample(self, n: int = 1, random_state: Any = None, length: Any = 100) -> tuple[Array, Array]:
        """Draw ``n`` rows of counts: ``(X, y)``; ``length`` tokens a row, one number or one per row."""
        lengths = np.asarray(length)
        if lengths.dtype.kind not in "iu" or (lengths < 0).any() or lengths.shape not in ((), (n,)):
            raise ParameterError(f"length is {length!r}; it must be a whole number of tokens, or {n} of them")
        return self._draw(n, random_state, length=length)

    @property
    def feature_log_prob_(self) -> Floats:
        """log θ of each class and column; -inf where θ is 0."""
        model = self._fitted()
        family: Any = model.family
        return np.asarray(family.log_shares(model.state.statistics).value())
