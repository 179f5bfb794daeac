"""How good probabilities are, measured on rows that the model did not learn from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError
from ..kernels.layouts import Array, Floats, Positions
from ..lazy_dataclass import dataclass
from . import measures
from .table import Table

_MEASURES = ("accuracy", "log_loss", "brier", "ece", "aurc")


class RowScores(NamedTuple):
    """What is left of rows once their probabilities were held against the truth: no more with more classes."""

    surprise: Floats  # -log p(true class)
    confidence: Floats  # of the answer
    right: Array
    squared_error: Floats
    weight: Floats  # above 0
    copies: Array
    groups: Array  # the hash of each row's group, 0 for rows without one
    confusion: Floats

    @classmethod
    def of(
        cls,
        log_probability: Floats,
        classes: Positions,
        weight: Floats,
        multiplicity: Array | None = None,
        groups: Array | None = None,
    ) -> RowScores:
        """Of the rows that count."""
        kept = np.flatnonzero(weight > 0)
        log_probability, classes, weight = log_probability[kept], classes[kept], weight[kept]
        copies = np.ones(len(kept), dtype=np.int64) if multiplicity is None else multiplicity[kept]
        probability, answer, each = np.exp(log_probability), log_probability.argmax(axis=1), np.arange(len(kept))
        return cls(
            surprise=-log_probability[each, classes],
            confidence=probability[each, answer],
            right=answer == classes,
            squared_error=measures.squared_error(probability, classes),
            weight=weight,
            copies=copies,
            groups=np.zeros(len(kept), dtype=np.uint64) if groups is None else groups[kept],
            confusion=measures.confusion(classes, answer, weight, log_probability.shape[1]),
        )

    def observation(self) -> Array | None:
        """Which rows are one observation, those of a group; None where rows have no groups."""
        if not self.groups.any():
            return None
        alone = np.arange(len(self.groups)) + len(self.groups)
        return np.where(self.groups == 0, alone, np.unique(self.groups, return_inverse=True)[1])

    @classmethod
    def joined(cls, parts: Iterable[RowScores], n_classes: int) -> RowScores:
        """Of all parts."""
        nothing = cls.of(np.zeros((0, n_classes)), np.zeros(0, dtype=np.int32), np.zeros(0))
        confusion, columns = nothing.confusion, [nothing[:-1]]
        for part in parts:
            confusion += part.confusion
            columns.append(part[:-1])
        return cls._make([*map(np.concatenate, zip(*columns, strict=True)), confusion])


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Measures of a model's probabilities, and the tables behind them.

    Attributes
    ----------
    n_rows : int
        Rows with a weight above 0, each as often as it was seen.
    accuracy, log_loss : float
        Share of rows whose most probable class is right; mean of -log p(true class), infinite if one of them is 0.
    accuracy_error, log_loss_error : float
        Their standard errors. A weight says how much a row counts, not how often it was seen; rows of one group are one
        observation.
    brier : float
        Mean of the squared error of the probabilities, summed over all classes: 0 to 2, for two classes twice the
        one-sided score.
    ece : float
        Expected calibration error: how far the probability of the answer is from how often it is right, on average
        over 15 bins of equal weight.
    aurc : float
        Area under the curve of risk by coverage: the mean error rate if only the surest rows are answered.
    reliability : Table
        The bins behind ``ece``: confidence, accuracy, weight.
    per_class : Table
        class, precision, recall, f1, weight; NaN where there is nothing to divide by.
    confusion : array of shape (classes, classes)
        Weight of rows, true × predicted.
    risk_coverage : Table
        Error rate (risk) of the surest rows that make up a share (coverage) of all.
    optimistic : Evaluation, optional
        The same where choices and calibration were made on the very rows they are measured on.

    Examples
    --------
    >>> log_probability = np.log([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.2, 0.8]])
    >>> Evaluation.of(log_probability, np.array([0, 1, 1, 1]), np.ones(4), np.array(["ham", "spam"]))
    4 rows
    measure   value
    accuracy  0.7500 ± 0.2500
    log_loss  0.5108 ± 0.2462
    brier     0.3500
    ece       0.3500
    aurc      0.1458
    <BLANKLINE>
    class  precision    recall        f1  weight
    ham          0.5         1  0.666667       1
    spam           1  0.666667       0.8       3
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
        """Measure log probabilities ``(rows, classes)`` against the positions of the true classes.

        With a ``multiplicity``, a row stands for so many equal ones, and its weight is that of all of them.
        """
        return cls.from_row_scores([RowScores.of(log_probability, classes, weight, multiplicity, groups)], labels)

    @classmethod
    def from_row_scores(cls, parts: Iterable[RowScores], labels: Array) -> Evaluation:
        """Measure rows that were judged part by part."""
        rows = RowScores.joined(parts, len(labels))
        if not len(rows.weight):
            raise InputError("no row has a weight above 0, so there is nothing to measure; pass rows that count")
        beside = rows.weight, rows.copies, rows.observation()
        accuracy, accuracy_error = measures.mean_and_error(rows.right.astype(np.float64), *beside)
        log_loss, log_loss_error = measures.mean_and_error(rows.surprise, *beside)
        confidences = measures.Confidences.of(rows.confidence, rows.right, rows.weight)
        reliability = confidences.reliability()
        risk_coverage, aurc = confidences.risk_by_coverage()
        return cls(
            n_rows=int(rows.copies.sum()),
            accuracy=accuracy,
            accuracy_error=accuracy_error,
            log_loss=log_loss,
            log_loss_error=log_loss_error,
            brier=float(np.average(rows.squared_error, weights=rows.weight)),
            ece=measures.expected_calibration_error(reliability),
            aurc=aurc,
            reliability=reliability,
            per_class=measures.per_class(rows.confusion, labels),
            confusion=rows.confusion,
            risk_coverage=risk_coverage,
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and dicts, say, for JSON."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def confusions(self, n: int = 10) -> Table:
        """What was most often taken for what: ``class``, ``answer``, ``weight`` and its share of the class's rows.

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

    def scoreboard(self) -> Table:
        """The measures as texts, the optimistic ones beside them."""
        columns = {"measure": np.array(_MEASURES, dtype=object), "value": self._texts()}
        if self.optimistic is not None:
            columns["optimistic"] = self.optimistic._texts()
        return Table(columns)

    def _texts(self) -> Array:
        def text(name: str) -> str:
            error = getattr(self, f"{name}_error", None)
            return f"{getattr(self, name):.4f}" + ("" if error is None else f" ± {error:.4f}")

        return np.array([text(name) for name in _MEASURES], dtype=object)

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
