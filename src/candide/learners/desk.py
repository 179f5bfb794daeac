"""The statistician's verbs: rows left out, evidence, intervals, uncertain log-odds."""

from __future__ import annotations

import copy
from typing import Any, Literal

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..model.classifier import Classifier
from ..model.evidence import LogOdds, bayes_factors, class_place, intervals, log_odds
from ..model.honest import folds_left_out, left_out_posterior
from ..model.leave_one_out import check_prior, read_folds
from ..model.linear_form import LinearForm, linear_form
from ..model.state import State
from ..model.table import Table
from .fitted import Fitted
from .settings import flag


class Desk(Fitted):
    """What the posterior and the summaries can tell beside predictions."""

    _given: State | None = None  # what stands for given parameters, which no row has taught

    def leave_one_out(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        class_prior: Literal["removed", "fixed"] = "removed",
        groups: Any = None,
    ) -> Floats:
        """Log probabilities of training rows, each by the model that has not seen it: exact, without a refit.

        Parameters
        ----------
        X, y, sample_weight
            Rows that the model was trained on, all or some, with their weights.
        class_prior : {"removed", "fixed"}
            Whether the row leaves the class prior too. "fixed" is for choosing between models: with "removed", a model
            that knows nothing is wrong about every row of balanced classes. A blend has biases of its own for the
            classes, which stay either way.
        groups : array of shape (n_rows,), optional
            Rows of one group leave together, as in ``blocked_folds``.

        Returns
        -------
        array of shape (n_rows, n_classes)
            As ``predict_log_proba`` of a model refitted without the row. The variance floor, pseudo-counts and priors
            chosen from data, known categories and the calibration stay as they are.

        Examples
        --------
        >>> from candide import GaussianNB
        >>> X, y = [[1.0], [2.0], [2.5], [6.0], [7.0], [9.0]], [0, 0, 0, 1, 1, 1]
        >>> GaussianNB().fit(X, y).leave_one_out(X, y).argmax(axis=1)
        array([0, 0, 0, 1, 1, 1])
        """
        if groups is not None:
            return self.blocked_folds(X, y, groups, sample_weight=sample_weight, class_prior=class_prior)
        model, batch = self._fitted(), self._batch(X, y, sample_weight)
        return left_out_posterior(model, batch, self._kernels(), check_prior(class_prior))

    def blocked_folds(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        n_folds: int | None = None,
        sample_weight: Any = None,
        class_prior: Literal["removed", "fixed"] = "removed",
    ) -> Floats:
        """Log probabilities of training rows, fold by fold by a model that has not seen the fold.

        Parameters
        ----------
        groups : array of shape (n_rows,), optional
            Rows of one group leave together: threads, patients, duplicates. A blend, which is made again for each
            fold, has groups leave together, in five parts, where there are more than ten.
        n_folds : int, optional
            Without groups: so many stretches of neighbouring rows; 5 by default.
        X, y, sample_weight, class_prior
            As in ``leave_one_out``.
        """
        model, batch = self._fitted(), self._batch(X, y, sample_weight)
        folds = read_folds(groups, n_folds, batch.data.n_rows)
        return folds_left_out(model, batch, folds, self._kernels(), check_prior(class_prior))

    def log_evidence(self, *, per_column: bool = False) -> Any:
        """log p(X | y), the parameters integrated out: how well prior and family explain the training data.

        Rows count by their weight. Terms that no parameter changes (the factorials of counts) are left out. Columns of
        ``MultinomialNB`` compete, so that theirs, each word against all others, do not add up to the total.
        """
        model = self._taught("log_evidence")
        if per_column:
            return model.family.log_evidence(model.state.statistics)
        return model.family.total_log_evidence(model.state.statistics)

    def bayes_factors(self) -> Table:
        """Per column, the evidence for "it depends on the class" against "it does not".

        ``log_bayes_factor`` above 0 speaks for a column that tells something about the class; above 3 strongly so.
        """
        return bayes_factors(self._taught("bayes_factors"), self._column_names())

    def intervals(self, level: float = 0.95) -> Table:
        """``parameters()`` with equal-tailed credible intervals.

        They hold for the parameters of the naive model, under its prior; where that is none (maximum likelihood, a
        pseudo-count of 0), under Jeffreys' for shares and rates, and the one of the classical intervals for normals.
        """
        return intervals(self._taught("intervals"), self._column_names(), level)

    def log_odds(self, X: Any, of: Any = None, against: Any = None) -> LogOdds:
        """Log-odds of one class against another for each row, with their posterior standard deviation.

        Parameters
        ----------
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
        model, data, kernels = self._taught("log_odds"), self._read(X), self._kernels()
        first, second = self._pair(model, data, of, against, kernels)
        return log_odds(model, data, first, second, kernels)

    def as_linear(self, *, squares: bool = False) -> LinearForm:
        """The model as a linear classifier: exact weights and bias, whose softmax is ``predict_proba``.

        ``BernoulliNB``, ``MultinomialNB``, ``ComplementNB``, ``CategoricalNB`` (one input for each value),
        ``PoissonNB``, ``GaussianNB(variance="shared")`` and ``TextNB`` with a textbook's model have such a form, also
        with ``calibrate="temperature"`` or ``"platt"`` where that is one temperature for all rows. For other models it
        is an error that says why.

        Parameters
        ----------
        squares : bool, default False
            Let squares of columns be inputs too: the form of ``GaussianNB`` whose classes have variances of their own,
            which is quadratic in x.

        Examples
        --------
        >>> from candide import GaussianNB
        >>> X, y = [[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]
        >>> boundary = GaussianNB(variance="shared", var_smoothing=0).fit(X, y).as_linear().between("high", "low")
        >>> boundary.weights, boundary.bias                  # 28 x - 140: the classes part at 5
        (array([28.]), -140.0)
        """
        model, reader = self._fitted(), copy.copy(self)
        names, squared = self._column_names(), flag(squares, "squares")
        return linear_form(model, names, reader._read, self._kernels(), squares=squared)

    def _taught(self, what: str) -> Classifier:
        """The model, if its parameters have a posterior."""
        model = self._fitted()
        if model.state is self._given:
            raise ParameterError(
                f"{what} is about parameters that data leave uncertain, and this model was made from given parameters, "
                "which are certain; make it with from_counts, or let it learn rows"
            )
        return model

    def _pair(self, model: Classifier, data: Any, of: Any, against: Any, kernels: Kernels) -> tuple[Array, Array]:
        if len(model.classes) < 2:
            raise ParameterError("log-odds compare two classes, and this model has one; learn another with partial_fit")
        if of is not None and of == against:
            raise ParameterError(f"log-odds compare two classes, and {of!r} is given as both; name another")
        first, second = (None if label is None else class_place(model.classes.labels, label) for label in (of, against))
        if first is None and second is None and len(model.classes) == 2:
            first, second = 1, 0
        scores = model.scorer.posterior(data, kernels, logarithm=True)
        best = _best_but(scores, second) if first is None else np.full(data.n_rows, first)
        return best, _best_but(scores, best) if second is None else np.full(data.n_rows, second)


def _best_but(scores: Floats, excluded: Any) -> Array:
    """The most probable class of each row but for one; None: of all."""
    others = scores.copy()
    if excluded is not None:
        # Where all others are impossible, it is still one of them.
        others = np.maximum(others, -1e308)
        others[np.arange(len(scores)), excluded] = -np.inf
    return np.asarray(others.argmax(axis=1))
