"""Rows without a label: left out and counted, or refused."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..data.containers import count_rows, take_rows
from ..data.labeled_rows import is_unlabeled
from ..exceptions import InputError, warn
from .settings import choice


class NoLabels(InputError):
    """Rows of which none has a label."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(
            f"Input y contains NaN or None: {n_rows} rows, and none of them has a label; found no labeled rows, "
            "expected at least one; check y"
        )
        self.n_rows = n_rows


class Labeling:
    """What an estimator does with rows whose label is None, NaN, NaT or a null.

    "drop" leaves them out and warns once with their number, however the rows come: in memory, in chunks, from files,
    databases or a cluster. "error" refuses them. Rows of which none has a label are always an error, and so are
    infinite labels: scikit-learn demands both of its estimators.
    """

    unlabeled: str
    # What the parameter may be.
    _unlabeled_ways: ClassVar[tuple[str, ...]] = ("drop", "error")

    def _unlabeled(self) -> str:
        return choice(self.unlabeled, "unlabeled", self._unlabeled_ways)

    def _with_labels(self, X: Any, y: Any, *beside: Any, learning: bool = True) -> tuple[Any, ...]:
        """The rows that have a label, and what stands beside them; ``_tell_unlabeled`` tells how many have none."""
        way = self._unlabeled()
        missing = np.zeros(0, dtype=bool) if y is None else is_unlabeled(y)
        n_missing = int(np.count_nonzero(missing))
        if not n_missing:
            return X, y, *beside
        n_rows = count_rows(X)
        if n_rows != len(missing):
            raise InputError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has "
                f"{len(missing)}; give each row one label"
            )
        if n_missing == len(missing) and way != "error":
            raise NoLabels(n_missing)
        self.note_unlabeled(n_missing, learning=learning, first=int(np.argmax(missing)))
        rows = np.flatnonzero(~missing)
        # What has another length is refused by whoever reads it.
        kept = (take_rows(part, rows) if count_rows(part) == n_rows else part for part in beside)
        return take_rows(X, rows), take_rows(y, rows), *kept

    def _check_other_settings(self) -> None:
        """Those that are not in the plan."""
        self._unlabeled()

    def refuse_unlabeled(self, n_rows: int, *, learning: bool = True, first: int | None = None) -> None:
        """So many rows have no label: an error, unless they may be left out."""
        way = self._unlabeled()
        where = "" if first is None else f" (first at row {first})"
        if way == "error":
            raise InputError(
                f"Input y contains NaN or None: {n_rows} rows have no label{where}, and unlabeled='error' refuses "
                "them; drop the rows without one, or pass unlabeled='drop'"
            )
        if learning and way != "drop":
            raise InputError(
                f"{n_rows} texts have no label{where}, and unlabeled={way!r} learns from such texts only in fit, with "
                "all texts in memory; pass lists to fit, or unlabeled='drop'"
            )

    def note_unlabeled(self, n_rows: int, *, learning: bool = True, first: int | None = None) -> None:
        """So many rows have no label: an error, or they are counted."""
        self.refuse_unlabeled(n_rows, learning=learning, first=first)
        self.__dict__["_n_unlabeled"] = self.__dict__.get("_n_unlabeled", 0) + n_rows

    def _tell_unlabeled(self) -> None:
        """One warning about all rows that were left out."""
        n_rows = self.__dict__.pop("_n_unlabeled", 0)
        if n_rows:
            warn(f"{n_rows} rows without a label were left out")
