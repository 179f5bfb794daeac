"""How rows are read: the columns of training and their roles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.column_selection import Roles
from ..data.containers import column_names
from ..exceptions import InputError
from ..kernels.layouts import Array


@dataclass(frozen=True)
class Schema:
    """The columns that a model was trained on.

    Attributes
    ----------
    n_features : int
        How many columns the input has.
    feature_names : tuple of str, optional
        Their names, where all are strings.
    roles : Roles, optional
        Which columns of a source held labels, texts, weights and cells.
    """

    n_features: int
    feature_names: tuple[str, ...] | None = None
    roles: Roles | None = None

    @classmethod
    def of(cls, X: Any, n_columns: int) -> Schema:
        """Return the schema of the first rows."""
        names = column_names(X) or ()
        return Schema(n_columns, tuple(names) if names and all(isinstance(name, str) for name in names) else None)

    def check(self, X: Any, n_columns: int, estimator: str) -> None:
        """Raise an error if ``X`` has other columns than those of training."""
        if n_columns != self.n_features:
            raise InputError(
                f"X has {n_columns} features, but {estimator} is expecting {self.n_features} features as input; pass "
                "the columns it was trained on"
            )
        if self.feature_names is None or type(X) is np.ndarray:
            return
        names = column_names(X) or ()
        if names and all(isinstance(name, str) for name in names) and tuple(names) != self.feature_names:
            raise InputError(
                f"X has the columns {list(names)}, but the model was trained on {list(self.feature_names)}; pass "
                "the training columns in the same order"
            )

    def parts(self) -> dict[str, Any] | None:
        """Return what is written to model files besides the fields of every schema."""
        return None

    def column_names(self) -> Array:
        """Return the names of the columns; ``x0``, ``x1``, … where they have none."""
        names = [f"x{j}" for j in range(self.n_features)] if self.feature_names is None else list(self.feature_names)
        return np.array(names, dtype=None if self.feature_names is None else object)
