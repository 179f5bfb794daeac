"""Protocols between models and distributed engines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..data.column_selection import Roles, did_you_mean, quote_names
from ..exceptions import InputError
from ..kernels.layouts import Array
from ..model.accumulator import PartialState
from ..model.state import State

if TYPE_CHECKING:
    import pyarrow as pa

Chunk = tuple[Any, Any, Any]  # X, y and weights, as ``fit`` takes them
# From the names of columns, that of the label and that of the weights to what each column is for.
Casting = Callable[[list[Any], str | None, str | None], Roles]


class Counter(Protocol):
    """Counts rows that are read like those of a model; it is sent to workers."""

    @property
    def group_bytes(self) -> int:
        """Bytes of rows that are counted at once."""

    def count(self, chunks: Iterable[Chunk]) -> State | None:
        """The sums of rows; None if there are none."""


class Answerer(Protocol):
    """A model; it is sent to workers too."""

    @property
    def classes(self) -> Array:
        """The labels of the classes."""

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are predicted right."""

    def roles_in(self, names: list[str]) -> Roles:
        """Which of the columns of these names it looks at."""


class FirstRows(ABC):
    """Rows of which some first ones are asked for here."""

    @property
    def are_numbers(self) -> bool:
        """Whether it is known that all columns are numbers, and where first rows are dear: few of them tell all."""
        return False

    def head(self, n: int) -> Chunk:
        """Some first rows by which all others are read.

        Where a column has no value in them, some rows in which it has one come too: what they hold, names or texts,
        dates with or without times of day, all places must agree on.
        """
        found = self._first(n, [])
        if found is None:
            raise InputError("found no rows with a label and a weight; expected at least one")
        while empty := self._empty(found[0]):
            more = self._first(n, empty)
            if more is None:
                break
            found = self._joined([found, more])
        return found

    @abstractmethod
    def _first(self, n: int, having: list[str]) -> Chunk | None:
        """About so many first rows that have a label, a weight and a value in any of these columns."""

    @abstractmethod
    def _empty(self, X: Any) -> list[str]:
        """Columns without any value."""

    @abstractmethod
    def _joined(self, chunks: Sequence[Chunk]) -> Chunk:
        """One after the other."""


class SpreadRows(FirstRows):
    """Rows with labels, in many places."""

    #: What their columns are for; None where they have no names.
    roles: Roles | None

    @abstractmethod
    def count(self, counter: Counter) -> PartialState:
        """The sums of all rows."""

    @abstractmethod
    def score(self, model: Answerer) -> float:
        """The share of rows that are predicted right."""


class Cluster(Protocol):
    """What counts rows and answers them where they are."""

    def rows(self, X: Any, y: Any, sample_weight: Any, casting: Casting) -> SpreadRows:
        """Rows to learn from."""

    def answers(self, model: Answerer, verb: str, X: Any) -> Any:
        """What a verb of the model says of each row, lazily."""

    def head(self, X: Any, n: int) -> pa.Table:
        """The first rows of a data frame."""

    def selected(self, X: Any, names: list[str]) -> Any:
        """Some columns of a data frame."""


def check_name(name: Any, what: str, names: Iterable[Any]) -> None:
    """Refuses the name of a column that is not there."""
    if name not in names:
        hint = did_you_mean(name, names, "pass one of these")
        raise InputError(f"{what} is {name!r}, and X has no such column; it has {quote_names(names)}; {hint}")


_SAID = {"predict_proba": "p({})", "predict_log_proba": "log p({})"}


def column_names(model: Answerer, verb: str) -> list[str]:
    """``prediction``, or one column for each class. They take the place of columns that have their names."""
    return ["prediction"] if verb == "predict" else [_SAID[verb].format(label) for label in model.classes.tolist()]


def columns(model: Answerer, verb: str, X: Any, n_rows: int) -> dict[str, Array]:
    """By their names; of no rows too."""
    names = column_names(model, verb)
    if verb == "predict":
        return {names[0]: model.predict(X) if n_rows else model.classes[:0]}
    said = getattr(model, verb)(X) if n_rows else np.zeros((0, len(names)))
    return {name: np.ascontiguousarray(column) for name, column in zip(names, said.T, strict=True)}


class ArrowRows(FirstRows):
    """Tables, columns of texts, or matrices that were made of a table."""

    def _empty(self, X: Any) -> list[str]:
        import pyarrow as pa

        names = X.column_names if isinstance(X, pa.Table) else []
        return [name for name in names if X.column(name).null_count == X.num_rows]

    def _joined(self, chunks: Sequence[Chunk]) -> Chunk:
        X, y, weight = (_concatenate_labeled([chunk[i] for chunk in chunks]) for i in range(3))
        return X, y, weight


def _concatenate_labeled(pieces: list[Any]) -> Any:
    import pyarrow as pa

    if len(pieces) == 1 or pieces[0] is None:
        return pieces[0]
    if any(isinstance(piece, np.ndarray) for piece in pieces):
        return np.concatenate([np.asarray(piece) for piece in pieces])
    return pa.concat_tables(pieces) if isinstance(pieces[0], pa.Table) else pa.concat_arrays(pieces)
