"""From probabilities to answers: decisions, sets of labels, unusual rows, holes filled, other class priors."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ..data.arrays import frame_like, missing_cells
from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats, Sparse
from ..model.decisions import adapt_prior, conformal_threshold, label_set, least_cost, read_costs
from ..model.evaluation import Report
from ..model.typicality import typicality
from .fitted import Fitted
from .settings import flag, number


class Answers(Fitted):
    """What to do with a prediction, and how far to trust it."""

    evaluate: bool

    # Deciding.

    def decide(self, X: Any, costs: Any = None, abstain: float | None = None, unsure: Any = "unsure") -> Array:
        """The answer of least expected cost for each row, or ``unsure``.

        Parameters
        ----------
        costs : array of shape (n_classes, n_classes) or dict, optional
            ``costs[i, j]`` is the cost of answering class ``j`` where class ``i`` is true, in the order of
            ``classes_``; or ``{(true, answer): cost}``, where other mistakes cost 1. By default every mistake costs 1.
        abstain : float, optional
            Without ``costs``: the least probability of an answer. With ``costs``: the cost of no answer.
        unsure : label, default "unsure"
            What stands for no answer.

        Examples
        --------
        >>> from candide import BernoulliNB
        >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 0]], ["spam", "spam", "ham", "ham"])
        >>> model.decide([[1, 0], [0, 1]], abstain=0.9).tolist()
        ['unsure', 'unsure']
        >>> model.decide([[1, 0]], costs={("ham", "spam"): 10}).tolist()        # a lost letter is worse than a leaflet
        ['ham']
        """
        model = self._fitted()
        labels = model.classes.labels
        probability = model.posterior(self._read(X), self._kernels(), logarithm=False)
        chosen = least_cost(probability, read_costs(costs, labels), abstain)
        if abstain is None:
            return np.asarray(labels[chosen])
        if unsure in labels.tolist():
            raise ParameterError(f"{unsure!r} is a class of this model; pass another word as unsure")
        answers = np.empty(len(labels) + 1, dtype=object)
        answers[:-1], answers[-1] = labels, unsure
        return np.asarray(answers[chosen])

    def predict_set(self, X: Any, coverage: float = 0.9, by_class: bool = False) -> Array:
        """Which classes are to be reckoned with: sets that hold the true class in about ``coverage`` of all rows.

        Thresholds come from training rows, each scored by a model that never saw it (conformal prediction). The
        coverage is approximate, and holds for rows like those of training. Needs training rows (``keep_sample=True``).

        Parameters
        ----------
        coverage : float, default 0.9
            The share of rows whose set holds the true class.
        by_class : bool, default False
            Make it hold for the rows of each class, not only on the whole.

        Returns
        -------
        bool array of shape (n_rows, n_classes)
            In the order of ``classes_``; the most probable class is always in.
        """
        model, by_class = self._fitted(), flag(by_class, "by_class")
        share = number(coverage, "coverage", most=1.0)
        result = model.honest
        classes, weight = result.seen.batch.classes, result.seen.case_weight
        own = result.log_probability[np.arange(len(classes)), classes]
        thresholds = conformal_threshold(
            own, classes, weight, share, by_class, len(model.classes), result.seen.multiplicity
        )
        return label_set(model.posterior(self._read(X), self._kernels(), logarithm=True), thresholds)

    def typicality(self, X: Any) -> Floats:
        """How usual each row is under the model: the share of training rows that are no more probable (left out).

        Near 0: nothing like it was seen, and the prediction is a guess far from home. Needs training rows
        (``keep_sample=True``).
        """
        return typicality(self._fitted(), self._read(X), self._kernels())

    def impute(self, X: Any) -> Any:
        """``X`` with its missing cells filled from p(cell | what is observed in the row).

        Means for measurements and counts, the most probable value for categories and on/off columns. A data frame comes
        back as one, with its names; anything else as an array (sparse if it was). A column that nobody observed in
        training stays empty.
        """
        model, data, kernels = self._fitted(), self._read(X), self._kernels()
        posterior = model.posterior(data, kernels, logarithm=False)
        if isinstance(data, Sparse):
            return _filled_sparse(data, lambda rows: model.likelihood.expected(data.take(rows), posterior[rows]))
        guess = model.likelihood.expected(data, posterior)
        columns = [_filled(data.column(j), guess[:, j]) for j in range(data.n_columns)]
        frame = frame_like(X, columns)
        return np.column_stack(columns) if frame is None else frame

    # Class priors.

    def with_class_prior(self, class_prior: Any) -> Self:
        """A copy of the model for rows among which the classes have other shares than in training.

        ``class_prior``: probabilities in the order of ``classes_``, a dict by label, or "uniform". Exact: the columns
        are not touched. Where probabilities are calibrated, the change comes after the calibration.
        """
        model = self._fitted()
        if not model.plan.prior_in_score and model.plan.calibrate is None:
            raise ParameterError(
                f"the scores of {type(self).__name__} hold no class prior that could be changed; make them "
                "probabilities with calibrate='temperature' (or 'platt') first"
            )
        prior = read_shares(class_prior, model.classes.labels)
        out = copy.copy(self)
        out._model = model.with_class_prior(prior)
        return out

    def adapt_class_prior(self, X: Any) -> Self:
        """A copy of the model whose class prior suits unlabeled rows ``X``: Saerens' EM on their probabilities."""
        model = self._fitted()
        probability = model.posterior(self._read(X), self._kernels(), logarithm=False)
        return self.with_class_prior(adapt_prior(probability, model.class_prior))

    # How good it is.

    @property
    def loo_(self) -> Report:
        """Honest accuracy, log-loss and calibration of this very model, without a test set.

        Training rows are scored with themselves left out; what was chosen or fitted on such scores is chosen again
        without a fifth of the rows and scored on it. ``loo_.optimistic`` is the figure without that.
        """
        if not self.evaluate:
            raise AttributeError(f"{type(self).__name__} has loo_ if it is constructed with evaluate=True")
        model = self._fitted()
        if not model.can_report and model.state.sample is not None:
            raise AttributeError(
                "loo_ needs training rows, and every one is larger than the room for those that are kept "
                f"({model.plan.sample_bytes:,} bytes for each class); fit again with shorter rows"
            )
        if not model.can_report:
            raise AttributeError(
                "loo_ needs training rows, and this model keeps none that stand for all it has learned; construct it "
                "with keep_sample=True and fit again"
            )
        return model.report

    def refit(self) -> Self:
        """Choose, weigh, calibrate and refine again now, with the parameters of now.

        ``fit`` ends with this. ``partial_fit``, ``forget`` and ``merge`` do it by themselves once a tenth of the weight
        has changed; until then they update the sums alone. After ``refit`` the model is the one that a single ``fit``
        on the same rows gives. It needs the training rows that the model keeps.
        """
        model = self._fitted()
        plan = replace(self._plan(self.n_features_in_, first=False), target=model.plan.target)
        self._model = model.refitted(plan).complete()
        return self

    @property
    def staleness_(self) -> float:
        """The weight learned and forgotten since the last refit, as a share of the weight at that refit.

        0.0 after ``fit`` and ``refit``, and for models in which nothing is chosen or fitted on rows left out. Above 0.1
        only where no training rows are kept to refit on.
        """
        return self._fitted().staleness

    @property
    def calibration_(self) -> dict[str, Any]:
        """The numbers of the calibration by name: its temperature, biases, bend or curves. Empty without one."""
        blend = self._fitted().blend
        return {} if blend is None or blend.calibration is None else blend.calibration.describe()


def read_shares(class_prior: Any, labels: Array) -> Floats:
    """Probabilities of the classes as a user gives them: in order, by label, or "uniform"."""
    if isinstance(class_prior, str) and class_prior == "uniform":
        return np.full(len(labels), 1 / len(labels))
    if isinstance(class_prior, dict):
        if set(class_prior) != set(labels.tolist()):
            raise ParameterError(f"class_prior names {list(class_prior)}; it must name each of {labels.tolist()}")
        class_prior = [class_prior[label] for label in labels.tolist()]
    try:
        return np.array(list(class_prior), dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"class_prior is {class_prior!r}; give one probability per class, a dict by label, or 'uniform'"
        ) from None


def _filled(column: Array, guess: Array) -> Array:
    """A column with guesses where it has no value; numbers stay numbers."""
    known = ~missing_cells(column)
    filled = np.where(known, column.astype(object), guess)
    try:
        return filled.astype(np.float64) if column.dtype.kind in "fiub" else filled
    except (TypeError, ValueError):
        return filled  # a column without any value, of a model that knows texts in it


def _filled_sparse(data: Sparse, expected: Any) -> Any:
    """Stored holes filled; rows without any are not looked at."""
    matrix = data.matrix().astype(np.float64)
    row = np.repeat(np.arange(data.n_rows), np.diff(data.indptr))
    hole = np.isnan(matrix.data)
    rows = np.unique(row[hole])
    if len(rows):
        values = expected(rows)
        matrix.data[hole] = values[np.searchsorted(rows, row[hole]), data.indices[hole]]
    return matrix
