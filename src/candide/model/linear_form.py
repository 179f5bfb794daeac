"""Naive Bayes as a linear classifier: the weights and the bias that give the scores of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..families.linear import LinearTerm
from ..families.linear_scores import InputNames, LinearScores, linear_scores, not_linear
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Sparse
from ..lazy_dataclass import dataclass
from ..stacking.calibration import Scaling
from .scorer import leaders_only
from .table import Table

if TYPE_CHECKING:
    from .classifier import Classifier

# Classes and inputs that are shown in full.
_SHOWN_CLASSES, _SHOWN_INPUTS = 6, 16


class Boundary(NamedTuple):
    """Log-odds of one class against another, ``bias + Σ weights · inputs``; the decision boundary is where it is 0."""

    weights: Floats  # (inputs,)
    bias: float


@dataclass(frozen=True, eq=False, repr=False)
class LinearForm:
    """The scores of a naive Bayes model as linear functions of inputs, one for each class.

    ``score = bias + Σ weights · inputs``, and p(class | x) is the softmax of the scores. Terms that all
    classes share are left out, so scores compare classes but are not log probabilities of a row.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        Labels, in the order of ``classes_``.
    inputs : array of shape (n_inputs,)
        Names of the inputs: of columns, of values such as ``"wind=calm"``, of tokens; ``"x²"`` is the square of ``x``.
    columns, values : arrays of shape (n_inputs,)
        The column of each input and, where the inputs are values of categories, the value; else None.
    weights : array of shape (n_classes, n_inputs)
        -inf where a probability is 0, and inf where its opposite is.
    bias : array of shape (n_classes,)
        The log prior of the classes included.
    missing : array of shape (n_classes, n_inputs) or None
        What a missing cell adds in place of ``weights · input``; None where that is nothing.

    Examples
    --------
    >>> import candide
    >>> from candide import BernoulliNB
    >>> model = BernoulliNB.from_parameters([[0.8, 0.5], [0.2, 0.1]], classes=["ham", "spam"])
    >>> form = candide.diagnostics.as_linear(model)
    >>> form
    2 classes, 2 inputs
                 ham      spam
    (bias)  -2.99573  -1.02165
    x0       1.38629  -1.38629
    x1             0  -2.19722
    >>> boundary = form.between("spam", "ham")
    >>> boundary.weights.round(3), round(boundary.bias, 3)
    (array([-2.773, -2.197]), 1.974)
    >>> form.log_odds([[0, 0], [1, 0]], "spam", "ham").round(3)        # 1.974, and 1.974 - 2.773
    array([ 1.974, -0.799])
    """

    classes: Array
    names: InputNames
    parts: LinearScores
    reader: Callable[[Any], Any]
    kernels: Kernels

    @property
    def inputs(self) -> Array:
        """Names of the inputs."""
        return self.names.inputs

    @property
    def columns(self) -> Array:
        """Column of each input."""
        return self.names.columns

    @property
    def values(self) -> Array | None:
        """Category of each input, if the inputs are categories."""
        return self.names.values

    @property
    def weights(self) -> Floats:
        """Weights, (n_classes, n_inputs)."""
        return self._with_limits(lambda score: score.dense()[0])

    @property
    def bias(self) -> Floats:
        """Bias of each class, log prior included."""
        return self._with_limits(lambda score: score.base)

    @property
    def missing(self) -> Floats | None:
        """Score of a missing cell, (n_classes, n_inputs); None if it is 0."""
        if self.parts.finite.dense()[1] is None:
            return None
        return self._with_limits(_absent)

    def _with_limits(self, part: Callable[[LinearTerm], Floats]) -> Floats:
        out = part(self.parts.finite).copy()
        for limit in map(part, self.parts.limits):
            out = np.where(limit == 0, out, np.copysign(np.inf, limit))
        return out

    def design(self, X: Any) -> Any:
        """Return the inputs of rows ``X``, ``(n_rows, n_inputs)``, dense or sparse; NaN where a cell is missing."""
        data = self._read(X)
        return data.matrix() if isinstance(data, Sparse) else data.floats()

    def scores(self, X: Any) -> Floats:
        """Return the score of each row and class, whose softmax is ``predict_proba``; -inf for impossible classes."""
        data = self._read(X)
        finite, *limits = (score.of(data, 0.0, self.kernels) for score in (self.parts.finite, *self.parts.limits))
        return leaders_only(finite, limits, np.isfinite(self.parts.finite.base)) if limits else finite

    def log_odds(self, X: Any, of: Any = None, against: Any = None) -> Floats:
        """Return log p(of | x) - log p(against | x) of each row; by default the second class against the first."""
        first, second = self._pair(of, against)
        scores = self.scores(X)
        with np.errstate(invalid="ignore"):
            return np.asarray(scores[:, first] - scores[:, second])

    def between(self, of: Any = None, against: Any = None) -> Boundary:
        """Return the log-odds of two classes as one linear function, like the coefficients of a logistic regression."""
        first, second = self._pair(of, against)
        weights = self._with_limits(lambda score: _difference(score.dense()[0], first, second))
        return Boundary(weights, float(self._with_limits(lambda score: _difference(score.base, first, second))))

    def table(self) -> Table:
        """Return a table with one row for each class and input, the bias first."""
        n_classes, n_inputs = len(self.classes), len(self.inputs) + 1
        labels, inputs = np.asarray(self.classes, dtype=object), np.append("(bias)", self.inputs)
        weights = np.hstack([self.bias[:, None], self.weights])
        return Table({"class": labels.repeat(n_inputs), "input": np.tile(inputs, n_classes), "weight": weights.ravel()})

    def __repr__(self) -> str:
        size = f"{len(self.classes)} classes, {len(self.inputs)} inputs"
        if len(self.classes) > _SHOWN_CLASSES:
            return f"{size}; table() has their weights"
        rows = np.hstack([self.bias[:, None], self.weights[:, :_SHOWN_INPUTS]])
        shown = Table({"": np.append("(bias)", self.inputs[:_SHOWN_INPUTS])})
        shown |= {str(label): row for label, row in zip(self.classes.tolist(), rows, strict=True)}
        hidden = len(self.inputs) - _SHOWN_INPUTS
        return f"{size}\n{shown}" + (f"\n… {hidden} more inputs" if hidden > 0 else "")

    def _read(self, X: Any) -> Data:
        return self.parts.inputs.read(self.reader(X), self.kernels)

    def _pair(self, of: Any, against: Any) -> tuple[int, int]:
        known = self.classes.tolist()
        if of is None and against is None and len(known) == 2:
            return 1, 0
        if of not in known or against not in known or of == against:
            raise ParameterError(
                f"log-odds compare two classes, and of={of!r}, against={against!r} are not two of {known}; name two"
            )
        return known.index(of), known.index(against)


def _difference(parts: Floats, first: int, second: int) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(parts[first] - parts[second])


def _absent(score: LinearTerm) -> Floats:
    weights, absent = score.dense()
    return np.zeros_like(weights) if absent is None else absent


def linear_form(
    model: Classifier, column_names: Array, reader: Callable[[Any], Any], kernels: Kernels, *, squares: bool
) -> LinearForm:
    """The linear form of a model; an error where it has none."""
    if model.bound_spec.order is not None:
        raise not_linear(
            "its scores are stacked views, which are not linear in the columns",
            "train a model of one family, such as CategoricalNB or TextNB('multinomial')",
        )
    parts = linear_scores(model.likelihood, squares=squares).plus(model.scorer.offset)
    calibration = None if model.fitted is None else model.fitted.calibration
    if calibration is not None:
        parts = _calibrated(parts, calibration, str(model.bound_spec.calibrate))
    parts = parts.plus(model.prior_change)
    return LinearForm(model.classes.labels.copy(), parts.inputs.names(column_names), parts, reader, kernels)


def _calibrated(parts: LinearScores, calibration: Any, method: str) -> LinearScores:
    """Scores divided by one temperature, and shifted, are linear still."""
    if not isinstance(calibration, Scaling):
        raise not_linear(f"calibrate={method!r} bends its scores", "take calibrate='temperature', 'platt' or None")
    if calibration.growth or calibration.bend:
        how = "grows with the length of a row" if calibration.growth else "shortens large differences of scores"
        raise not_linear(f"the temperature of calibrate={method!r} {how}", "take calibrate=None")
    scaled = parts.times(1.0 / float(calibration.temperature(None)[0]))
    return scaled if calibration.bias is None else scaled.plus(calibration.bias)
