"""Naive Bayes as a linear classifier: the weights and the bias that give the scores of the model.

Inputs are cells, squares of cells, one indicator for each value of a category, or tokens. Scores as functions of them
are derived from the terms of a likelihood.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..exceptions import ParameterError
from ..families.categorical_likelihood import labels_of
from ..families.feature_sets import KnownTokens
from ..families.linear import LinearTerm
from ..families.score_terms import CodeTable, JointNormal, LogGamma, LogQuadratic, Quadratic, RowTotal, Term
from ..families.table_likelihood import TableLikelihood
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Floats, Sparse
from ..kernels.tables import LinearTable
from ..lazy import dataclass
from ..stacking.calibration import Scaling
from .scorer import leaders_only
from .table import Table

if TYPE_CHECKING:
    from .classifier import Classifier


class InputNames(NamedTuple):
    """Names of the inputs, and the column (and value) that each belongs to."""

    inputs: Array
    columns: Array
    values: Array | None = None


class Inputs(Protocol):
    """The inputs of linear scores."""

    def names(self, columns: Array) -> InputNames:
        """Return the names of the inputs, given those of the columns."""

    def read(self, data: Any, kernels: Kernels) -> Data:
        """Return the inputs of rows; NaN where a cell is missing, unless a missing cell adds 0."""


@dataclass(frozen=True)
class Cells:
    """The cells, or whether they are above a threshold."""

    threshold: float | None = None

    def names(self, columns: Array) -> InputNames:
        names = np.array(columns, dtype=object)
        return InputNames(names, names)

    def read(self, data: Data, kernels: Kernels) -> Data:
        if self.threshold is None:
            return data
        if isinstance(data, Sparse):
            return replace(data, values=_above(data.values, self.threshold))
        return Dense.of(_above(data.floats(), self.threshold), data.names)


def _above(values: Array, threshold: float) -> Array:
    return np.where(np.isnan(values), np.nan, values > threshold)


@dataclass(frozen=True)
class CellsAndSquares:
    """The cells, then their squares."""

    def names(self, columns: Array) -> InputNames:
        names = np.asarray(columns, dtype=object)
        squares = [f"{name}²" for name in names]
        return InputNames(np.append(names, squares), np.tile(names, 2))

    def read(self, data: Data, kernels: Kernels) -> Data:
        if not isinstance(data, Sparse):
            x = data.floats()
            return Dense.of(np.hstack([x, np.square(x)]))
        from scipy.sparse import hstack

        x = data.matrix().astype(np.float64)
        return Sparse.of(hstack([x, x**2], format="csr"))


@dataclass(frozen=True)
class OneHot:
    """1 for the value of a cell. Missing cells and values without a code have no input."""

    tables: tuple[CodeTable, ...]  # of the columns
    codes: Callable[[Dense, Kernels], Dense]

    @property
    def sizes(self) -> Array:
        """Number of inputs of each column."""
        return np.array([len(table.table) for table in self.tables])

    def names(self, columns: Array) -> InputNames:
        owners = np.repeat(np.asarray(columns, dtype=object), self.sizes)
        values = np.empty(len(owners), dtype=object)
        values[:] = [value for table in self.tables for value in _values(table)]
        inputs = [f"{column}={value}" for column, value in zip(owners, values, strict=True)]
        return InputNames(np.array(inputs, dtype=object), owners, values)

    def read(self, data: Dense, kernels: Kernels) -> Sparse:
        codes, sizes = self.codes(data, kernels).floats(), self.sizes
        last = [table.lookup.size for table in self.tables if table.lookup is not None]
        code = np.minimum(np.nan_to_num(codes, nan=-1.0), last).astype(np.int64)
        on = (code >= 0) & (code < sizes)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        indptr = np.concatenate([[0], np.cumsum(on.sum(axis=1))])
        return Sparse(indptr, (code + starts[:-1])[on], np.ones(int(indptr[-1])), int(starts[-1]))


def _values(table: CodeTable) -> list[Any]:
    assert table.lookup is not None
    labels = labels_of(table.lookup).tolist()
    others = ["(other codes)"] * (table.lookup.size - len(labels))
    return [*labels, *others, *["(unseen)"] * (table.unseen is not None)]


@dataclass(frozen=True)
class Tokens:
    """The weights of a text's tokens."""

    known: KnownTokens
    cells: Inputs

    def names(self, columns: Array) -> InputNames:
        return self.cells.names(columns)

    def read(self, data: Any, kernels: Kernels) -> Data:
        return self.cells.read(self.known.rows(data, kernels), kernels)


class LinearScores(NamedTuple):
    """Scores as linear functions of inputs, up to a term that is the same for all classes."""

    inputs: Inputs
    finite: LinearTerm
    limits: tuple[LinearTerm, ...] = ()

    def times(self, factor: float) -> LinearScores:
        """Return the scores multiplied by a number, such as an inverse temperature; limits stay."""
        return self._replace(finite=self.finite.times(factor))

    def plus(self, offset: Floats) -> LinearScores:
        """Return the scores with a number added for each class."""
        return self._replace(finite=replace(self.finite, base=self.finite.base + offset))


def not_linear(why: str, remedy: str) -> ParameterError:
    """Return the error for a model whose scores are not linear in any of the inputs."""
    return ParameterError(f"this model has no linear form: {why}; {remedy}")


# Why a kind of term is not linear, and what to do.
_NOT_LINEAR: dict[type[Term], tuple[str, str]] = {
    LogQuadratic: (
        "estimate='predictive' models every column by a Student's t distribution, whose log density is not quadratic",
        "choose estimate='mle', 'mean' or 'map', with variance='shared'",
    ),
    RowTotal: (
        "the token probabilities of a Pólya model vary between rows, so that repeated tokens count less and less",
        "choose estimate='mean' (TextNB: family='multinomial')",
    ),
    LogGamma: (
        (
            "estimate='predictive' models every count by a negative binomial, whose log probability is not linear in "
            "the count"
        ),
        "choose estimate='mean'",
    ),
    JointNormal: ("a full covariance includes products of columns", "use GaussianNB(variance='shared')"),
}


def linear_scores(likelihood: Any, *, squares: bool) -> LinearScores:
    """Return the scores of a likelihood as linear functions; raise an error if they are not linear.

    ``squares``: whether squares of cells may be inputs.
    """
    if isinstance(likelihood, TableLikelihood):
        raise not_linear(
            "NaiveBayes models each column by its own family, such as bins or kernels",
            "train a model with a single family, such as CategoricalNB, or GaussianNB(variance='shared')",
        )
    if isinstance(likelihood, TextLikelihood):
        made = linear_scores(likelihood.inner, squares=squares)
        return made._replace(inputs=Tokens(likelihood.known, made.inputs))
    finite, limits = likelihood.terms
    kinds = {type(term) for term in finite}
    reason = next((reason for kind, reason in _NOT_LINEAR.items() if kind in kinds), None)
    if reason is not None:
        raise not_linear(*reason)
    if kinds == {CodeTable}:
        tables = [_one_hot_term(terms) for terms in (finite, *limits)]
        return LinearScores(OneHot(finite, likelihood.codes), tables[0], tuple(tables[1:]))
    (term,) = finite
    if isinstance(term, Quadratic):
        return _quadratic(term, is_limit=bool(limits), squares=squares)
    # Inputs are compared with the threshold when they are read.
    terms = [replace(own, threshold=None) for (own,) in ((term,), *limits)]
    return LinearScores(Cells(term.threshold), terms[0], tuple(terms[1:]))


def _one_hot_term(tables: tuple[CodeTable, ...]) -> LinearTerm:
    weights = np.ascontiguousarray(np.concatenate([table.table for table in tables]).T)
    return LinearTerm(LinearTable(weights), np.zeros(len(weights)))


def _quadratic(term: Quadratic, *, is_limit: bool, squares: bool) -> LinearScores:
    """Return scores that are linear in x if the classes share a variance, and otherwise linear in x and x²."""
    if is_limit:
        raise not_linear(
            "a column has zero variance within a class, so its weight would be infinite",
            "set var_smoothing above 0, or estimate='mean'",
        )
    constant, spread, center = term.constant, term.spread, term.center
    if squares:
        at_zero = constant - spread * center**2
        weights = np.hstack([2 * spread * center, -spread])
        table = LinearTable(weights, np.hstack([-at_zero, 0 * at_zero]), signed=True)
        return LinearScores(CellsAndSquares(), LinearTerm(table, at_zero.sum(axis=1)))
    if np.ptp(spread, axis=0).any() or np.ptp(constant, axis=0).any():
        raise not_linear(
            "each class has its own variance, which makes the log-odds quadratic",
            "choose variance='shared', or call as_linear(squares=True), which is linear in x and x²",
        )
    # Centered at the mean of the class means, because large terms shared by all classes would cause cancellation.
    middle = center.mean(axis=0)
    away = spread * (center - middle)
    at_zero = -away * (center + middle)
    return LinearScores(Cells(), LinearTerm(LinearTable(2 * away, -at_zero, signed=True), at_zero.sum(axis=1)))


# Maximum number of classes and inputs that are shown in full.
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
        -inf where a probability is 0, and inf where its complement is 0.
    bias : array of shape (n_classes,)
        Bias of each class, including its log prior.
    missing : array of shape (n_classes, n_inputs) or None
        Contribution of a missing cell in place of ``weights · input``; None if it is 0.

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
            return f"{size}; see table() for their weights"
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
            raise ParameterError(f"of is {of!r} and against is {against!r}; expected two different classes of {known}")
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
    """Return the linear form of a model; raise an error if its scores are not linear."""
    if model.bound_spec.order is not None:
        raise not_linear(
            "its scores are stacked views, which are not linear in the columns",
            "train a model with a single family, such as CategoricalNB or TextNB('multinomial')",
        )
    parts = linear_scores(model.likelihood, squares=squares).plus(model.scorer.offset)
    calibration = None if model.fitted is None else model.fitted.calibration
    if calibration is not None:
        parts = _calibrated(parts, calibration, str(model.bound_spec.calibrate))
    parts = parts.plus(model.prior_change)
    return LinearForm(model.classes.labels.copy(), parts.inputs.names(column_names), parts, reader, kernels)


def _calibrated(parts: LinearScores, calibration: Any, method: str) -> LinearScores:
    """Return calibrated scores, which are linear if the calibration is a temperature and biases."""
    if not isinstance(calibration, Scaling):
        raise not_linear(
            f"calibrate={method!r} transforms its scores nonlinearly",
            "choose calibrate='temperature', 'platt' or None",
        )
    if calibration.growth or calibration.bend:
        how = (
            "increases with the length of a row" if calibration.growth else ("shrinks large differences between scores")
        )
        raise not_linear(f"the temperature of calibrate={method!r} {how}", "choose calibrate=None")
    scaled = parts.times(1.0 / float(calibration.temperature(None)[0]))
    return scaled if calibration.bias is None else scaled.plus(calibration.bias)
