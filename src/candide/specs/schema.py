"""The columns of training and their roles, which determine how rows are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.column_selection import Roles
from ..exceptions import InputError
from ..kernels.layouts import Array, Data


@dataclass(frozen=True)
class Schema:
    """The columns that a model was trained on.

    Attributes
    ----------
    n_features : int
        Number of columns of the input.
    feature_names : tuple of str, optional
        Names of the columns, if all are strings.
    roles : Roles, optional
        The columns of a source that contain labels, texts, weights and cells.
    missing : tuple of str
        Texts that marked missing cells in a text format, as set by the user.
    """

    n_features: int
    feature_names: tuple[str, ...] | None = None
    roles: Roles | None = None
    missing: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: Data) -> Schema:
        """Return the schema of the first rows."""
        return Schema(data.n_columns, _feature_names(data))

    def check(self, data: Data, estimator: str) -> None:
        """Raise an error if rows have other columns than those of training."""
        if data.n_columns != self.n_features:
            raise InputError(
                f"X has {data.n_columns} features, but {estimator} is expecting {self.n_features} features as input; "
                "pass the columns it was trained on"
            )
        names = _feature_names(data)
        if self.feature_names is not None and names is not None and names != self.feature_names:
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


def _feature_names(data: Data) -> tuple[str, ...] | None:
    """Return the names of the columns, if all are strings."""
    return data.names if data.names and all(isinstance(name, str) for name in data.names) else None
