"""Which columns a table has, what is asked of each, and how other tables are brought into their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..encoding.columns import new_frame
from ..encoding.containers import Filling, filled, library_of, names_of, some_columns, under_names
from ..encoding.dates import has_parts, moments
from ..encoding.selection import select_columns
from ..encoding.table import Column, Columns, Kind, read_table
from ..exceptions import InputError, ParameterError
from ..families.table import Block, Wanted
from ..kernels.data import Array
from .blocks import BLOCKS, block_family, is_block

# What a column may be asked to be modelled by.
COLUMN_FAMILIES = (
    "auto", "gaussian", "student", "lognormal", "power", "kernel", "bins", "poisson", "bernoulli", "categorical",
    "ignore",
)  # fmt: skip
# Families of values that are names, be they numbers.
_NAMES = ("categorical", "bernoulli")


@dataclass(frozen=True)
class Schema:
    """The columns of training."""

    given: tuple[Any, ...] | None  # the names that the user's columns have; None: they have none
    n_given: int
    names: tuple[Any, ...]  # of the columns that were made of them
    wanted: tuple[Wanted, ...]
    blocks: tuple[Block, ...]
    backend: Any  # of data frames, to answer in kind

    @classmethod
    def of(cls, X: Any, columns: Any) -> tuple[Schema, Columns]:
        """From the first table, and that table read."""
        given, backend = names_of(X), library_of(X)
        data = read_table(X)
        asked = _asked(columns, data)
        wanted = _wanted(asked, data.names)
        forced = [name for name, want in zip(data.names, wanted, strict=True) if want.family in _NAMES]
        if forced:
            kinds = dict(zip(data.names, data.kinds, strict=True)) | dict.fromkeys(forced, "category")
            data = read_table(X, kinds)
        n_given = data.n_columns if given is None else len(given)
        return cls(given, n_given, data.names, wanted, _blocks(asked, data.names), backend), data

    def describe(self, estimator: Any) -> None:
        """Sets the attributes that scikit-learn's users expect."""
        estimator.n_features_in_ = self.n_given
        estimator.__dict__.pop("feature_names_in_", None)
        if self.given is not None and all(isinstance(name, str) for name in self.given):
            estimator.feature_names_in_ = np.array(self.given, dtype=object)

    def again(self, columns: Any, kinds: tuple[Kind, ...]) -> Schema:
        """With other wishes for the same columns, which must not change what is counted."""
        nothing = np.zeros(0)
        header = Columns(tuple(map(Column, self.names, kinds, [nothing] * len(kinds))), 0)
        asked = _asked(columns, header)
        wanted, blocks = _wanted(asked, self.names), _blocks(asked, self.names)
        counted = [(tuple(want.family in _NAMES for want in these), those) for these, those in
                   ((self.wanted, self.blocks), (wanted, blocks))]  # fmt: skip
        if counted[0] != counted[1]:
            raise ParameterError(
                f"columns is now {columns!r}, which takes other columns as categories or together than when the model "
                "was fitted, so it would count different things; set it back, or fit again"
            )
        return replace(self, wanted=wanted)

    def read(self, X: Any, known: tuple[Kind, ...], absent: str) -> Columns:
        """Another table, its columns in the order of training and of the kinds that they had.

        Columns are known by their names, or by their places where one of the tables has no names.
        """
        kinds: dict[Any, Kind] = dict(zip(self.names, known, strict=True))
        forced = [name for name, want in zip(self.names, self.wanted, strict=True) if want.family in _NAMES]
        kinds |= dict.fromkeys(forced, "category")
        theirs = names_of(X)
        if self.given is None or theirs is None:
            mine = range(self.n_given) if self.given is None else self.given
            data = read_table(X if self.given is theirs else under_names(X, mine), kinds)
        else:
            self._refuse_absent(theirs, absent)
            data = read_table(some_columns(X, self.given), kinds)
        return self._in_order(data)

    def _refuse_absent(self, theirs: tuple[Any, ...], absent: str) -> None:
        assert self.given is not None
        lacking = [name for name in self.given if name not in theirs]
        if lacking and (absent == "error" or len(lacking) == len(self.given)):
            raise InputError(
                f"column {lacking[0]!r} is absent, and the model was trained on it; pass it, or construct the model "
                "with absent='missing' to take the cells of some columns as missing"
            )

    def _in_order(self, data: Columns) -> Columns:
        if data.n_columns != len(self.names) and self.given is None:
            raise InputError(
                f"X has {data.n_columns} features, but NaiveBayes is expecting {len(self.names)} features as input; "
                "pass the columns that it was trained on"
            )
        found, nothing = {column.name: column for column in data.columns}, np.full(data.n_rows, np.nan)
        columns = (found.get(name, Column(name, "missing", nothing)) for name in self.names)
        return Columns(tuple(columns), data.n_rows)

    def table(self, columns: list[Array]) -> Any:
        """A table like that of training from the cells of its columns."""
        names = self.given if self.given is not None else tuple(range(self.n_given))
        made = {name: self._as_date(name, columns[self.names.index(name)]) for name in names}
        if self.backend is not None:
            return new_frame(made, self.backend)
        if self.given is not None:
            return made
        alike = all(column.dtype.kind == "f" for column in made.values())
        return np.column_stack([column if alike else column.astype(object) for column in made.values()])

    def _as_date(self, name: Any, cells: Array) -> Array:
        named = dict.fromkeys(self.names)
        if not has_parts(name, named):
            return cells
        days = np.asarray(cells, dtype=np.float64)
        return moments(days if f"{name}.hour" in named else np.round(days))

    def filled(self, X: Any, data: Columns, guesses: list[Array | None]) -> Any:
        """The table with its holes filled."""
        theirs = names_of(X)
        own: Sequence[Any] = range(self.n_given) if theirs is None else theirs
        known: Sequence[Any] = range(self.n_given) if self.given is None else self.given
        if theirs is not None and self.given is not None:
            known = theirs
        found = dict(zip(self.names, map(_filling, data.columns, guesses), strict=True))
        pairs = ((name, found.get(column)) for name, column in zip(own, known, strict=True))
        return filled(X, {name: filling for name, filling in pairs if filling is not None})


def _filling(column: Column, guess: Array | None) -> Filling | None:
    """None where there is nothing to fill, or nothing to fill it with."""
    hole = column.values < 0 if column.kind == "category" else np.isnan(column.values.astype(np.float64))
    return Filling(hole, guess) if guess is not None and hole.any() else None


def _asked(columns: Any, data: Columns) -> list[tuple[list[Any], Any]]:
    """Names of columns with what is asked of them, as the user grouped them."""
    if isinstance(columns, str) or not isinstance(columns, (Mapping, list)):
        columns = [(list(data.names), columns)]
    pairs = list(columns.items() if isinstance(columns, Mapping) else columns)
    select_columns(pairs, data)  # refuses unknown columns, and those meant twice
    return [(list(select_columns([(key, setting)], data)), setting) for key, setting in pairs]


def _wanted(asked: list[tuple[list[Any], Any]], names: tuple[Any, ...]) -> tuple[Wanted, ...]:
    """What is asked of each column by itself."""
    found = {name: _one(setting) for group, setting in asked if not is_block(setting) for name in group}
    return tuple(found.get(name, Wanted()) for name in names)


def _one(setting: Any) -> Wanted:
    family, options = setting if isinstance(setting, tuple) and len(setting) == 2 else (setting, {})
    if not isinstance(family, str) or family not in COLUMN_FAMILIES or not isinstance(options, Mapping):
        raise ParameterError(
            f"columns asks for {setting!r}; it must be one of {', '.join(COLUMN_FAMILIES)}, for a list of columns "
            f"together {' or '.join(BLOCKS)}, a family of candide.families, or a pair of a name and a dict of options"
        )
    return Wanted(family, tuple(options.items()))


def _blocks(asked: list[tuple[list[Any], Any]], names: tuple[Any, ...]) -> tuple[Block, ...]:
    groups = [(group, setting) for group, setting in asked if is_block(setting)]
    return tuple(Block(tuple(map(names.index, group)), block_family(setting, len(group))) for group, setting in groups)
