"""What the verbs of a fitted estimator stand on, whoever gives it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ..families import Batch
from ..kernels import Kernels
from ..kernels.layouts import Array
from ..model.classifier import Classifier
from ..model.plan import Plan


class Fitted(ABC):
    """A model, and how rows, labels and settings reach it."""

    _model: Classifier
    n_features_in_: int
    reads_texts: ClassVar[bool] = False  # rows are texts, not tables

    @abstractmethod
    def _fitted(self) -> Classifier:
        """The model; an error before ``fit``."""

    @abstractmethod
    def _plan(self, n_features: int, *, first: bool) -> Plan:
        """The plan with the parameters of now; ``first``: before anything was learned."""

    @abstractmethod
    def _read(self, X: Any, reset: bool = False) -> Any:
        """Encoded rows; checks the number and names of the columns, or with ``reset`` takes them as new."""

    def _read_to_learn(self, X: Any, reset: bool) -> Any:
        """Encoded rows that may hold what nobody has seen."""
        return self._read(X, reset=reset)

    @abstractmethod
    def _batch(self, X: Any, y: Any, sample_weight: Any) -> Batch:
        """Rows with labels that the model knows."""

    @abstractmethod
    def _column_names(self) -> Array:
        """How tables speak of the columns."""

    @abstractmethod
    def _kernels(self) -> Kernels:
        """The loops over rows, on as many threads as the estimator may use."""
