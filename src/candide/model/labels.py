"""Labels of rows: reading, counting missing ones, and comparison with the classes of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import as_array
from ..data.containers import count_rows, take_rows
from ..data.index import Index
from ..data.labeled_rows import (
    LabeledRows,
    declared_labels,
    is_unlabeled,
    labels_like,
    read_labels,
    read_weights,
)
from ..exceptions import InputError, ParameterError, warn
from ..kernels import Kernels
from ..specs import Spec
from ..statistics.hashing import group_hashes

# Maximum number of classes listed in an error.
_SHOWN = 5


class NoLabels(InputError):
    """No row has a label."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(
            f"Input y contains NaN or None: none of the {n_rows} rows has a label; expected at least one labeled row; "
            "check y"
        )
        self.n_rows = n_rows


class LabelFilter:
    """Drops rows whose label is None, NaN, NaT or a null, and counts them.

    With ``unlabeled="drop"``, such rows are skipped, and one warning gives their number; with "error", they raise an
    error. If no row has a label, or a label is infinite, an error is always raised, as scikit-learn requires.

    Parameters
    ----------
    spec : Spec
        The parameters, of which ``unlabeled`` is used.
    learning : bool, default True
        Whether rows are learned; otherwise they are scored.
    """

    def __init__(self, spec: Spec, *, learning: bool = True) -> None:
        self.choice = spec.unlabeled_choice()
        self.learning = learning
        self.n_unlabeled = 0

    def drop(self, X: Any, y: Any, *others: Any) -> tuple[Any, ...]:
        """Return the rows that have a label, with their weights and groups."""
        missing = np.zeros(0, dtype=bool) if y is None else is_unlabeled(y)
        n_missing = int(np.count_nonzero(missing))
        if not n_missing:
            return X, y, *others
        n_rows = count_rows(X)
        if n_rows != len(missing):
            raise InputError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has "
                f"{len(missing)}; pass one label per row"
            )
        if n_missing == len(missing) and self.choice != "error":
            raise NoLabels(n_missing)
        self.add(n_missing, first=int(np.argmax(missing)))
        rows = np.flatnonzero(~missing)
        # Weights of the wrong length raise an error when they are read.
        kept = (take_rows(part, rows) if count_rows(part) == n_rows else part for part in others)
        return take_rows(X, rows), take_rows(y, rows), *kept

    def add(self, n_rows: int, first: int | None = None) -> None:
        """Count rows without a label, or raise an error."""
        where = "" if first is None else f" (first at row {first})"
        if self.choice == "error":
            raise InputError(
                f"Input y contains NaN or None: {n_rows} rows have no label{where}, and unlabeled='error' does not "
                "allow that; drop the rows without a label, or pass unlabeled='drop'"
            )
        if self.learning and self.choice != "drop":
            raise InputError(
                f"{n_rows} texts have no label{where}, but unlabeled={self.choice!r} uses unlabeled texts only in fit, "
                "with all texts in memory; pass lists to fit, or pass unlabeled='drop'"
            )
        self.n_unlabeled += n_rows

    def warn(self) -> None:
        """Warn once of all rows that were dropped."""
        if self.n_unlabeled:
            warn(f"skipped {self.n_unlabeled} row{'' if self.n_unlabeled == 1 else 's'} without a label")
            self.n_unlabeled = 0


def drop_unlabeled(spec: Spec, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """Return the rows that have a label, for scoring; warn of the others."""
    labeled = LabelFilter(spec, learning=False)
    X, y, sample_weight = labeled.drop(*spec.split_label(X, y), sample_weight)
    labeled.warn()
    return X, y, sample_weight


def with_labels(
    data: Any, y: Any, sample_weight: Any, groups: Any, kernels: Kernels, known: Index | None = None
) -> LabeledRows:
    """Return encoded rows with classes, weights and groups; labels get the type of the ``known`` classes."""
    classes, positions = read_labels(like_classes(y, known), data.n_rows, kernels)
    weight = read_weights(sample_weight, data.n_rows)
    return LabeledRows(data, classes, positions, weight, group_hashes(groups, data.n_rows))


def as_declared(spec: Spec, X: Any, y: Any) -> Any:
    """Return the labels of the first rows as a one-dimensional array of the declared type."""
    y = one_dimensional(y)
    kind = None if y is None else spec.label_type(X)
    return y if kind is None else declared_labels(y, kind)


def like_classes(y: Any, known: Index | None) -> Any:
    """Return labels as a one-dimensional array of the type of a model's classes."""
    y = one_dimensional(y)
    if y is None or known is None:
        return y
    learned = known.labels.tolist()
    listed = ", ".join(map(repr, learned[:_SHOWN])) + (", …" if len(learned) > _SHOWN else "")
    return labels_like(y, learned, f"the classes of the model are {listed}")


def one_dimensional(y: Any) -> Any:
    """Return labels as a one-dimensional array; a table must have one column."""
    if y is not None and type(y) is not np.ndarray:
        y = as_array(y, "y")
    return y.ravel() if y is not None and y.ndim == 2 and y.shape[1] == 1 else y


def check_declared(declared: Index, n_given: int, known: Index) -> None:
    """Raise an error if the declared classes differ from those of a model."""
    if declared != known or len(declared) != n_given:
        raise ParameterError(
            f"classes={declared.labels!r} is not the same as on last call to partial_fit, which had {known.labels!r}; "
            "omit classes to add new ones"
        )
