"""Evaluation of probabilities on rows that the model was not trained on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError, ParameterError
from ..families import Batch
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions
from ..lazy import dataclass
from .classifier import Classifier
from .state import State
from .table import Table, named

_METRICS = ("accuracy", "log_loss", "brier", "ece", "aurc")


class RowScores(NamedTuple):
    """Scores of evaluated rows: a few numbers per row, regardless of the number of classes, and sums over rows."""

    surprise: Floats  # -log p(true class)
    confidence: Floats  # probability of the predicted class
    right: Array
    squared_error: Floats
    weight: Floats  # above 0
    copies: Array
    groups: Array  # the hash of each row's group, 0 for rows without one
    confusion: Floats
    ranks: Floats  # (classes, 2, bins): weight of the rows of other classes, and of the class, by its log-odds
    plain: RowScores | None = None  # the same rows without stacking and calibration

    @classmethod
    def of(
        cls,
        log_probability: Floats,
        classes: Positions,
        weight: Floats,
        multiplicity: Array | None = None,
        groups: Array | None = None,
    ) -> RowScores:
        """Return the scores of rows with a positive weight."""
        kept = np.flatnonzero(weight > 0)
        log_probability, classes, weight = log_probability[kept], classes[kept], weight[kept]
        copies = np.ones(len(kept), dtype=np.int64) if multiplicity is None else multiplicity[kept]
        probability, answer, each = np.exp(log_probability), log_probability.argmax(axis=1), np.arange(len(kept))
        return cls(
            surprise=-log_probability[each, classes],
            confidence=probability[each, answer],
            right=answer == classes,
            squared_error=squared_error(probability, classes),
            weight=weight,
            copies=copies,
            groups=np.zeros(len(kept), dtype=np.uint64) if groups is None else groups[kept],
            confusion=confusion(classes, answer, weight, log_probability.shape[1]),
            ranks=rank_counts(log_probability, classes, weight),
        )

    def observation(self) -> Array | None:
        """Return the group of each row, which counts as one observation; None if rows have no groups."""
        if not self.groups.any():
            return None
        alone = np.arange(len(self.groups)) + len(self.groups)
        return np.where(self.groups == 0, alone, np.unique(self.groups, return_inverse=True)[1])


class _RowScoresSum:
    """Accumulator of scores that stores only one table of sums at a time."""

    def __init__(self, n_classes: int) -> None:
        self._n_classes = n_classes
        self._sum = RowScores.of(np.zeros((0, n_classes)), np.zeros(0, dtype=np.int32), np.zeros(0))
        self._columns = [self._sum[:7]]
        self._plain: _RowScoresSum | None = None

    def add(self, part: RowScores) -> None:
        self._sum.confusion[...] += part.confusion
        self._sum.ranks[...] += part.ranks
        self._columns.append(part[:7])
        if part.plain is not None:
            self._plain = self._plain or _RowScoresSum(self._n_classes)
            self._plain.add(part.plain)

    def total(self) -> RowScores:
        columns = map(np.concatenate, zip(*self._columns, strict=True))
        plain = None if self._plain is None else self._plain.total()
        return RowScores._make([*columns, self._sum.confusion, self._sum.ranks, plain])


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Accuracy, log-loss, calibration and other metrics of a model on rows with labels.

    Attributes
    ----------
    n_rows : int
        Number of rows with a weight above 0; duplicates count.
    accuracy, log_loss : float
        Share of rows whose most probable class is correct; mean of -log p(true class), infinite if a true
        class has probability 0.
    accuracy_error, log_loss_error : float
        Standard errors. Rows of one group count as one observation; weights do not increase the number of
        observations.
    brier : float
        Brier score: mean squared error of the probabilities, summed over all classes. Between 0 and 2; for two
        classes it is twice the score of one class.
    ece : float
        Expected calibration error: mean distance between the probability of the predicted class and its accuracy,
        in 15 bins of equal weight.
    ece_by_chance : float
        The calibration error to expect on so many rows if the probabilities are perfectly calibrated.
    aurc : float
        Area under the risk-coverage curve: the mean error rate if only the most confident predictions are kept.
    reliability : Table
        The bins behind ``ece``: confidence, accuracy, weight.
    per_class : Table
        ``class``, ``precision``, ``recall``, ``f1``, ``auc`` and ``weight``; NaN where the denominator is 0. ``auc`` is
        the area under the ROC curve of the class against all others; log-odds that differ by less than 0.4% may
        count as equal.
    confusion : array of shape (classes, classes)
        Weight of rows, true × predicted.
    risk_coverage : Table
        Error rate (risk) of the most confident predictions, by their share of all rows (coverage).
    optimistic : Evaluation, optional
        The same metrics without cross-fitting: families, weights and calibration were chosen on the evaluated rows.
    plain : Evaluation, optional
        The metrics of plain naive Bayes, without stacking and calibration, on the same rows. None for models that
        are plain themselves.

    Examples
    --------
    >>> log_probability = np.log([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.2, 0.8]])
    >>> Evaluation.of(log_probability, np.array([0, 1, 1, 1]), np.ones(4), np.array(["ham", "spam"]))
    4 rows
    metric    value
    accuracy  0.7500 ± 0.2500
    log_loss  0.5108 ± 0.2462
    brier     0.3500
    ece       0.3500
    aurc      0.1458
    <BLANKLINE>
    class  precision    recall        f1  auc  weight
    ham          0.5         1  0.666667    1       1
    spam           1  0.666667       0.8    1       3
    """

    n_rows: int
    accuracy: float
    accuracy_error: float
    log_loss: float
    log_loss_error: float
    brier: float
    ece: float
    aurc: float
    reliability: Table
    per_class: Table
    confusion: Floats
    risk_coverage: Table
    optimistic: Evaluation | None = None
    plain: Evaluation | None = None

    @classmethod
    def of(
        cls,
        log_probability: Floats,
        classes: Positions,
        weight: Floats,
        labels: Array,
        multiplicity: Array | None = None,
        groups: Array | None = None,
    ) -> Evaluation:
        """Compute the metrics from log probabilities ``(rows, classes)`` and the positions of the true classes.

        With a ``multiplicity``, a row represents several equal rows, and its weight is their total weight.
        """
        return cls.from_row_scores([RowScores.of(log_probability, classes, weight, multiplicity, groups)], labels)

    @classmethod
    def from_row_scores(cls, parts: Iterable[RowScores], labels: Array) -> Evaluation:
        """Compute the metrics of rows that were scored in several batches."""
        total = _RowScoresSum(len(labels))
        for part in parts:
            total.add(part)
        return cls._measured(total.total(), labels)

    @classmethod
    def _measured(cls, rows: RowScores, labels: Array) -> Evaluation:
        if not len(rows.weight):
            raise InputError(
                "found no rows with a positive weight; expected at least one; pass rows with a positive weight"
            )
        shared = rows.weight, rows.copies, rows.observation()
        accuracy, accuracy_error = mean_and_error(rows.right.astype(np.float64), *shared)
        log_loss, log_loss_error = mean_and_error(rows.surprise, *shared)
        confidences = Confidences.of(rows.confidence, rows.right, rows.weight)
        reliability = confidences.reliability()
        risk_coverage, aurc = confidences.risk_by_coverage()
        return cls(
            n_rows=int(rows.copies.sum()),
            accuracy=accuracy,
            accuracy_error=accuracy_error,
            log_loss=log_loss,
            log_loss_error=log_loss_error,
            brier=float(np.average(rows.squared_error, weights=rows.weight)),
            ece=expected_calibration_error(reliability),
            aurc=aurc,
            reliability=reliability,
            per_class=per_class(rows.confusion, rows.ranks, labels),
            confusion=rows.confusion,
            risk_coverage=risk_coverage,
            plain=None if rows.plain is None else cls._measured(rows.plain, labels),
        )

    @property
    def ece_by_chance(self) -> float:
        """The calibration error to expect of perfectly calibrated probabilities."""
        return self._ece_by_chance()[0]

    @property
    def is_miscalibrated(self) -> bool:
        """Whether the calibration error exceeds what chance explains, by three standard deviations."""
        expected, deviation = self._ece_by_chance()
        return self.ece > expected + 3.0 * deviation

    def _ece_by_chance(self) -> tuple[float, float]:
        """Return mean and standard deviation of the calibration error if the confidences are the true probabilities.

        The gap of a bin is then about normal with mean 0.
        """
        # Rows of one group or with unequal weights count as fewer observations.
        variance = self.accuracy * (1.0 - self.accuracy)
        effective = variance / self.accuracy_error**2 if self.accuracy_error > 0 else np.inf
        share = self.reliability["weight"] / self.reliability["weight"].sum()
        confidence = self.reliability["confidence"].clip(0.0, 1.0)
        gap = np.sqrt(confidence * (1.0 - confidence) / (share * min(effective, self.n_rows)))
        mean, deviation = (
            share @ gap * np.sqrt(2.0 / np.pi),
            np.sqrt((share * gap) @ (share * gap) * (1.0 - 2.0 / np.pi)),
        )
        return float(mean), float(deviation)

    def as_dict(self) -> dict[str, Any]:
        """Return the metrics as numbers, lists and dicts, for example for JSON."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def confusions(self, n: int = 10) -> Table:
        """Return the most frequent confusions: ``class``, ``answer``, ``weight`` and its share of the class's rows.

        Examples
        --------
        >>> log_probability = np.log([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.2, 0.8]])
        >>> Evaluation.of(log_probability, np.array([0, 1, 1, 1]), np.ones(4), np.array(["ham", "spam"])).confusions()
        class  answer  weight     share
        spam   ham          1  0.333333
        """
        labels, wrong = self.per_class["class"], self.confusion * ~np.eye(len(self.confusion), dtype=bool)
        order = np.argsort(-wrong, axis=None, kind="stable")[:n]
        true, answer = np.unravel_index(order[wrong.ravel()[order] > 0], wrong.shape)
        share = wrong[true, answer] / self.confusion.sum(axis=1)[true]
        return Table({"class": labels[true], "answer": labels[answer], "weight": wrong[true, answer], "share": share})

    def by_weight(self) -> Array:
        """Return the positions of the classes, that of the most rows first."""
        return np.argsort(-self.per_class["weight"], kind="stable")

    def scoreboard(self) -> Table:
        """Return the metrics as a table of strings, next to those of plain naive Bayes and the optimistic ones."""
        columns = {"metric": np.array(_METRICS, dtype=object), "value": self._texts()}
        if self.plain is not None:
            columns["plain"] = self.plain._texts()
        if self.optimistic is not None:
            columns["optimistic"] = self.optimistic._texts()
        return Table(columns)

    def _texts(self) -> Array:
        def text(name: str) -> str:
            error = getattr(self, f"{name}_error", None)
            return f"{getattr(self, name):.4f}" + ("" if error is None else f" ± {error:.4f}")

        return np.array([text(name) for name in _METRICS], dtype=object)

    def __repr__(self) -> str:
        return f"{self.n_rows} rows\n{self.scoreboard()!r}\n\n{self.per_class!r}"

    def _repr_html_(self) -> str:
        return f"<p>{self.n_rows} rows</p>{self.scoreboard()._repr_html_()}{self.per_class._repr_html_()}"


def _plain(value: Any) -> Any:
    if isinstance(value, Table):
        return {name: column.tolist() for name, column in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.as_dict() if isinstance(value, Evaluation) else value


N_BINS = 15
N_POINTS = 200


def mean_and_error(
    values: Floats, weight: Floats, multiplicity: Array, groups: Array | None = None
) -> tuple[float, float]:
    """Return the weighted mean and its standard error: infinite if the mean is infinite, NaN for a single row or group.

    The weight of a row includes all of its copies. The number of observations is the sum of the multiplicities, so
    large weights do not reduce the error. Rows of the same group count as one observation.
    """
    mean, n_rows = float(np.average(values, weights=weight)), multiplicity.sum()
    if groups is not None:
        own = np.unique(groups, return_inverse=True)[1]
        n_rows = int(own.max(initial=-1)) + 1
    if n_rows < 2 or np.isinf(mean):
        return mean, mean if np.isinf(mean) else np.nan
    if groups is not None:
        variance = (np.bincount(own, weight * (values - mean)) ** 2).sum() * n_rows / (n_rows - 1)
        return mean, float(np.sqrt(variance) / weight.sum())
    variance = ((weight * (values - mean)) ** 2 / multiplicity).sum() * n_rows / (n_rows - 1)
    return mean, float(np.sqrt(variance) / weight.sum())


def squared_error(probability: Floats, classes: Positions) -> Floats:
    """Return Σ (p - truth)² over all classes for each row."""
    own = probability[np.arange(len(classes)), classes]
    return np.asarray(np.maximum(np.einsum("rc,rc->r", probability, probability) + 1.0 - 2.0 * own, 0.0))


def confusion(classes: Positions, answer: Array, weight: Floats, n_classes: int) -> Floats:
    """Return the weight of rows, true × predicted."""
    cells = np.bincount(classes * np.int64(n_classes) + answer, weight, minlength=n_classes**2)
    return np.asarray(cells.reshape(n_classes, n_classes), dtype=np.float64)


# Bins of log-odds on an arcsinh scale, which has a high resolution near even odds and covers the range of a float.
_N_RANKS, _MAX_RANK_CELLS, _LARGEST_RANK = 4096, 1 << 19, 8.0


def rank_counts(log_probability: Floats, classes: Positions, weight: Floats) -> Floats:
    """Return the weight of rows by the log-odds of each class, ``(classes, 2, bins)``: rows of other classes first."""
    n_classes = log_probability.shape[1]
    n_bins = int(np.clip(_MAX_RANK_CELLS // max(n_classes, 1), 64, _N_RANKS))
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = log_probability - np.log(-np.expm1(log_probability))
    place = np.nan_to_num(np.arcsinh(odds), nan=0.0, posinf=_LARGEST_RANK, neginf=-_LARGEST_RANK)
    bins = ((place / _LARGEST_RANK + 1.0) / 2.0 * n_bins).astype(np.int64).clip(0, n_bins - 1)
    own = np.arange(n_classes) == classes[:, None]
    cells = ((np.arange(n_classes) * 2 + own) * n_bins + bins).ravel()
    counts = np.bincount(cells, np.repeat(weight, n_classes), minlength=n_classes * 2 * n_bins)
    return np.asarray(counts.reshape(n_classes, 2, n_bins), dtype=np.float64)


def _areas(ranks: Floats) -> Floats:
    """Return the area under the ROC curve of each class: how often a row of the class ranks above another row."""
    others, own = ranks[:, 0], ranks[:, 1]
    below = np.cumsum(others, axis=1) - others / 2.0
    return _share((own * below).sum(axis=1), own.sum(axis=1) * others.sum(axis=1))


def per_class(confused: Floats, ranks: Floats, labels: Array) -> Table:
    """Return precision, recall, F1 and the area under the ROC curve; NaN where the denominator is 0."""
    right, answered, true = np.diag(confused), confused.sum(axis=0), confused.sum(axis=1)
    return Table(
        {
            "class": named(np.arange(len(labels)), labels),
            "precision": _share(right, answered),
            "recall": _share(right, true),
            "f1": _share(2.0 * right, answered + true),
            "auc": _areas(ranks),
            "weight": true,
        }
    )


class Confidences(NamedTuple):
    """Weights of all predictions and of correct ones by distinct confidence, in ascending order."""

    confidence: Floats
    weight: Floats
    right: Floats

    @classmethod
    def of(cls, confidence: Floats, right: Array, weight: Floats) -> Confidences:
        distinct, place = np.unique(confidence, return_inverse=True)
        return cls(distinct, *(np.bincount(place, part).astype(np.float64) for part in (weight, weight * right)))

    def reliability(self) -> Table:
        """Return the mean confidence and accuracy in bins of about equal weight."""
        middle = (np.cumsum(self.weight) - self.weight / 2.0) / self.weight.sum()
        place = np.minimum((middle * N_BINS).astype(np.intp), N_BINS - 1)
        weight = np.bincount(place, self.weight)
        filled = np.flatnonzero(weight)
        confidence = np.bincount(place, self.weight * self.confidence)[filled] / weight[filled]
        accuracy = np.bincount(place, self.right)[filled] / weight[filled]
        return Table({"confidence": confidence, "accuracy": accuracy, "weight": weight[filled]})

    def risk_by_coverage(self) -> tuple[Table, float]:
        """Return the error rate of the most confident predictions by their share of rows, and its mean."""
        weight, wrong = self.weight[::-1], (self.weight - self.right)[::-1]
        answered = np.cumsum(weight)
        risk = np.maximum(np.cumsum(wrong), 0.0) / answered
        shown = np.unique(np.linspace(0, len(risk) - 1, N_POINTS).round().astype(np.intp))
        curve = Table({"coverage": (answered / answered[-1])[shown], "risk": risk[shown]})
        return curve, float(np.average(risk, weights=weight))


def expected_calibration_error(reliability: Table) -> float:
    """Return the mean distance between confidence and accuracy."""
    gap = np.abs(reliability["confidence"] - reliability["accuracy"])
    return float(np.average(gap, weights=reliability["weight"]))


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0))


def learning_curve(model: Classifier, batch: Batch, n_blocks: int, kernels: Kernels) -> list[tuple[float, Evaluation]]:
    """Return the mean training weight and the evaluation on left-out rows, for sums of 1 to ``n_blocks - 1`` blocks.

    A row is scored with models of the consecutive blocks after its own, so each row is scored once for each size.
    """
    block = blocks_of(batch.classes, n_blocks)
    rows = [np.flatnonzero(block == b) for b in range(n_blocks)]
    states = [_state(model, batch.take(of_block), kernels) for of_block in rows]
    sums: list[State] = [states[(b + 1) % n_blocks] for b in range(n_blocks)]
    found = []
    for size in range(1, n_blocks):
        if size > 1:
            sums = [sums[b].merge(states[(b + size) % n_blocks]) for b in range(n_blocks)]
        found.append(_evaluated_at_size(model, batch, sums, rows, kernels))
    return found


def _evaluated_at_size(
    model: Classifier, batch: Batch, sums: list[State], rows: list[Array], kernels: Kernels
) -> tuple[float, Evaluation]:
    scores = np.empty((len(batch.classes), batch.n_classes))
    for state, held in zip(sums, rows, strict=True):
        part = batch.take(held)
        scores[held] = Classifier(model.bound_spec, state).posterior(part.data, kernels, logarithm=True)
    weight: Floats = np.ones(len(scores)) if batch.weight is None else batch.weight
    learned = float(np.mean([state.rows.sum() for state in sums]))
    return learned, Evaluation.of(scores, batch.classes, weight, model.classes.labels)


def _state(model: Classifier, batch: Batch, kernels: Kernels) -> State:
    """Return the state of a block, with the classes of the model."""
    bound_spec, sample = model.bound_spec, None
    statistics: Any = bound_spec.family.observe(batch, kernels)
    if bound_spec.budget is not None:
        from ..statistics import Sample

        sample = Sample.of(batch.data, batch.classes, batch.weight, batch.n_classes, bound_spec.budget)
    return State(model.classes, np.ones(batch.n_classes, dtype=bool), statistics, sample=sample)


def blocks_of(classes: Positions, n_blocks: int) -> Array:
    """Return the block of each row: the rows of each class are assigned to the blocks in turn."""
    if isinstance(n_blocks, bool) or not isinstance(n_blocks, (int, np.integer)) or not 2 <= n_blocks <= len(classes):
        raise ParameterError(
            f"n_blocks is {n_blocks!r}; expected an integer from 2 to the number of rows, {len(classes)}"
        )
    block = np.empty(len(classes), dtype=np.int64)
    block[np.argsort(classes, kind="stable")] = np.arange(len(classes)) % n_blocks
    return block
