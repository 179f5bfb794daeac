"""What a report is about."""

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
from ..model.evaluation import Report
from ..model.table import Table
from ..model.telling import telling
from ..model.text_summary import text_summary
from ..statistics.table import TableStatistics

_WORDS = 10


@dataclass(frozen=True)
class Subject:
    """A model, and what its learner knows beside."""

    kind: str  # the name of the learner
    described: str  # with the settings that someone gave
    model: Classifier
    names: Array  # of the columns; none where rows are texts
    kernels: Kernels
    evaluate: bool  # whether rows left out may be asked how good it is
    provenance: dict[str, Any] | None = None  # of a model that comes from a file
    roles: Roles | None = None  # of the columns of the source it learned from

    @cached_property
    def labels(self) -> list[Any]:
        """The classes."""
        labels: list[Any] = self.model.classes.labels.tolist()
        return labels

    @cached_property
    def honest(self) -> Report | None:
        """How good it is by rows left out."""
        return self.model.report if self.evaluate and self.model.can_report else None

    @property
    def is_table(self) -> bool:
        """Whether every column has a model of its own choice."""
        return isinstance(self.model.plan.family, TableFamily)

    @cached_property
    def reads_texts(self) -> bool:
        """Whether rows are texts."""
        return isinstance(self.model.likelihood, TextLikelihood)

    @property
    def holds_texts(self) -> bool:
        """Whether rows are texts, or have some among their cells: they take longer to judge."""
        statistics = self.model.state.statistics
        return self.reads_texts or (isinstance(statistics, TableStatistics) and bool(statistics.texts))

    @cached_property
    def summary(self) -> Table | None:
        """What each column, or look at a text, is worth."""
        if self.is_table:
            return summary_with_importance(self.model, self.names, self.kernels)
        return text_summary(self.model) if self.reads_texts else None

    @cached_property
    def words(self) -> Table | None:
        """What speaks most for each class of texts: words, or other tokens where no words are heard."""
        if not self.reads_texts:
            return None
        # Words have names, which others must be searched for in training texts.
        found = telling(self.model, _WORDS, "words", self.kernels)
        return found if found.n_rows else telling(self.model, _WORDS, None, self.kernels)
