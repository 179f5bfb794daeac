"""The model that a report describes, and the contents of the report: numbers, names and examples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from typing import Any

from ..data.column_selection import Roles
from ..explain.contributions import explained
from ..explain.explanation import Explanation
from ..explain.importance import summary_with_importance
from ..families import Batch
from ..families.table import TableFamily
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.counting import Hashes
from ..kernels.layouts import Array
from ..model.classifier import Classifier
from ..model.evaluation import Evaluation
from ..model.summary import text_summary
from ..model.table import Table
from ..model.top_features import top_features
from ..statistics.table import TableStatistics
from .evaluation import DataEvaluation, TrainingEvaluation, evaluate_given_rows, evaluate_training_rows
from .feature_summary import FeatureSummary, summarize_features
from .quality_warnings import ModelWarning, find_warnings
from .row_checks import Example

_WORDS = 10


@dataclass(frozen=True)
class ReportedModel:
    """A model with the names and settings of its estimator."""

    kind: str  # the name of the estimator's class
    described: str  # the repr, with the parameters that were set
    model: Classifier
    names: Array  # names of columns; empty for texts
    kernels: Kernels
    evaluate: bool  # whether leave-one-out evaluation is enabled
    provenance: dict[str, Any] | None = None  # of a model that was loaded from a file
    roles: Roles | None = None  # roles of the columns of the training source

    @cached_property
    def labels(self) -> list[Any]:
        """The classes."""
        labels: list[Any] = self.model.classes.labels.tolist()
        return labels

    @cached_property
    def loo(self) -> Evaluation | None:
        """The leave-one-out evaluation; None if it is disabled or not available."""
        return self.model.report if self.evaluate and self.model.can_report else None

    @property
    def has_groups(self) -> bool:
        """Whether rows of a group were left out together."""
        sample = self.model.state.sample
        named = self.roles is not None and self.roles.groups is not None
        return named or (sample is not None and sample.grouped)

    @property
    def is_table(self) -> bool:
        """Whether every column has its own likelihood."""
        return isinstance(self.model.bound_spec.family, TableFamily)

    @cached_property
    def reads_texts(self) -> bool:
        """Whether rows are texts."""
        return isinstance(self.model.likelihood, TextLikelihood)

    @property
    def holds_texts(self) -> bool:
        """Whether rows are texts or have text columns, which take longer to score."""
        statistics = self.model.state.statistics
        return self.reads_texts or (isinstance(statistics, TableStatistics) and bool(statistics.texts))

    @cached_property
    def summary(self) -> Table | None:
        """The importance of each column, or of each group of token features."""
        if self.is_table:
            return summary_with_importance(self.model, self.names, self.kernels)
        return text_summary(self.model) if self.reads_texts else None

    @cached_property
    def words(self) -> Table | None:
        """The most informative words of each class; other tokens if the model uses no words."""
        if not self.reads_texts:
            return None
        # Words are stored in the vocabulary; other tokens must be searched for in training texts.
        found = top_features(self.model, _WORDS, "words", self.kernels)
        return found if found.n_rows else top_features(self.model, _WORDS, None, self.kernels)


@dataclass(frozen=True)
class ExplainedExample:
    """An example row with its explanation by the model."""

    example: Example
    explanation: Explanation
    of_training: bool


@dataclass(frozen=True)
class ModelReport:
    """A report on a model: description, quality, features, example rows and warnings.

    ``html()`` returns the page, ``as_dict()`` its numbers.
    """

    reported: ReportedModel
    title: str
    made: str  # when, ISO 8601
    training: TrainingEvaluation | None
    given: DataEvaluation | None
    features: FeatureSummary
    warnings: list[ModelWarning]
    examples: list[ExplainedExample]
    notes: dict[str, str]  # how the model was trained, as given by the user

    def html(self) -> str:
        """Return the report as one HTML page that needs no other file and no network."""
        from .page import page

        return page(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as numbers, lists and dicts, for example for JSON."""
        reported, given = self.reported, self.given
        return {
            "title": self.title,
            "kind": reported.kind,
            "made": self.made,
            "candide": version("candide"),
            "classes": dict(zip(reported.labels, reported.model.state.rows.tolist(), strict=True)),
            "leave_one_out": None if reported.loo is None else reported.loo.as_dict(),
            "data": None if given is None else given.report.as_dict(),
            "warnings": [warning._asdict() for warning in self.warnings],
            "columns": None if self.features.table is None else _to_lists(self.features.table),
            "top_features": None if self.features.top_features is None else _to_lists(self.features.top_features),
            "examples": [_example_dict(shown, reported.labels) for shown in self.examples],
            "provenance": reported.provenance,
        }

    def __repr__(self) -> str:
        loo = self.reported.loo
        figure = "" if loo is None else f", leave-one-out accuracy {loo.accuracy:.4f}"
        return f"<report on {self.title!r}: {len(self.warnings)} warnings{figure}>"


def build_report(
    reported: ReportedModel,
    batches: Iterable[tuple[Batch, Hashes | None]] | None,
    title: str | None,
    notes: dict[str, str],
) -> ModelReport:
    """Return the report on a model, its kept training rows and the evaluation rows."""
    given = None if batches is None else evaluate_given_rows(reported, batches)
    training = evaluate_training_rows(reported)
    features = summarize_features(reported)
    return ModelReport(
        reported=reported,
        title=title or reported.kind,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        training=training,
        given=given,
        features=features,
        warnings=find_warnings(reported, features, training, given),
        examples=_explain_examples(reported, training, given),
        notes=notes,
    )


def _explain_examples(
    reported: ReportedModel, training: TrainingEvaluation | None, given: DataEvaluation | None
) -> list[ExplainedExample]:
    """Explain the examples: training rows if the model keeps some, else evaluation rows."""
    lot = training or given
    out = []
    for example in [] if lot is None else lot.examples:
        (explanation,) = explained(reported.model, example.row, reported.names, reported.kernels)
        out.append(ExplainedExample(example, explanation, training is not None))
    return out


def _to_lists(table: Table) -> dict[str, Any]:
    return {name: column.tolist() for name, column in table.items()}


def _example_dict(shown: ExplainedExample, labels: list[Any]) -> dict[str, Any]:
    example = shown.example
    probability = float(shown.example.log_probability.max())
    return {
        "kind": example.kind,
        "row": example.place,
        "label": labels[example.label],
        "answer": labels[example.answer],
        "log_probability": probability,
        "of_training": shown.of_training,
    }
