"""Rows without a label: left out and counted, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.containers import count_rows, take_rows
from ..data.labeled_rows import is_unlabeled
from ..exceptions import InputError, warn
from ..specs import Spec


class NoLabels(InputError):
    """No row has a label."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(
            f"Input y contains NaN or None: {n_rows} rows, and none of them has a label; found no labeled rows, "
            "expected at least one; check y"
        )
        self.n_rows = n_rows


class LabelFilter:
    """Drops rows whose label is None, NaN, NaT or a null, and counts them.

    ``unlabeled="drop"`` leaves them out with one warning that counts them, wherever rows come from; "error" refuses
    them. It is always an error if no row has a label, and so are infinite labels: scikit-learn requires both.

    Parameters
    ----------
    spec : Spec
        Whose parameter ``unlabeled`` is followed.
    learning : bool, default True
        Whether rows are learned from; else they are scored.
    """

    def __init__(self, spec: Spec, *, learning: bool = True) -> None:
        self.spec = spec
        self.learning = learning
        self.n_unlabeled = 0

    def drop(self, X: Any, y: Any, *others: Any) -> tuple[Any, ...]:
        """Return the rows that have a label, and the same rows of weights and groups."""
        choice = self.spec.unlabeled_choice()
        missing = np.zeros(0, dtype=bool) if y is None else is_unlabeled(y)
        n_missing = int(np.count_nonzero(missing))
        if not n_missing:
            return X, y, *others
        n_rows = count_rows(X)
        if n_rows != len(missing):
            raise InputError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has "
                f"{len(missing)}; give each row one label"
            )
        if n_missing == len(missing) and choice != "error":
            raise NoLabels(n_missing)
        self.add(n_missing, first=int(np.argmax(missing)))
        rows = np.flatnonzero(~missing)
        # Weights of another length are refused where they are read.
        kept = (take_rows(part, rows) if count_rows(part) == n_rows else part for part in others)
        return take_rows(X, rows), take_rows(y, rows), *kept

    def add(self, n_rows: int, first: int | None = None) -> None:
        """Count rows without a label, or refuse them."""
        choice = self.spec.unlabeled_choice()
        where = "" if first is None else f" (first at row {first})"
        if choice == "error":
            raise InputError(
                f"Input y contains NaN or None: {n_rows} rows have no label{where}, and unlabeled='error' refuses "
                "them; drop the rows without one, or pass unlabeled='drop'"
            )
        if self.learning and choice != "drop":
            raise InputError(
                f"{n_rows} texts have no label{where}, and unlabeled={choice!r} learns from such texts only in fit, "
                "with all texts in memory; pass lists to fit, or unlabeled='drop'"
            )
        self.n_unlabeled += n_rows

    def warn(self) -> None:
        """Give one warning about all rows that were left out."""
        if self.n_unlabeled:
            warn(f"{self.n_unlabeled} rows without a label were left out")
            self.n_unlabeled = 0
