"""The model that a report describes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..data.column_selection import Roles
from ..explain.importance import summary_with_importance
from ..families.table import TableFamily
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array
from ..model.classifier import Classifier
from ..model.evaluation import Evaluation
from ..model.table import Table
from ..model.text_summary import text_summary
from ..model.top_features import top_features
from ..statistics.table import TableStatistics

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
