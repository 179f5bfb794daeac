"""Which columns a table has, what is asked of each, and how other tables are brought into their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..encoding.columns import as_frame, is_sparse, new_frame
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
        given, backend = _given(X), _backend(X)
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

    def read(self, X: Any, known: tuple[Kind, ...] | None, absent: str) -> Columns:
        """Another table, its columns in the order of training and of the kinds that they had."""
        kinds: dict[Any, Kind] = dict(zip(self.names, known or (), strict=False))
        forced = [name for name, want in zip(self.names, self.wanted, strict=True) if want.family in _NAMES]
        kinds |= dict.fromkeys(forced, "category")
        if self.given is None or _given(X) is None:
            data = read_table(X, kinds)
            if data.n_columns != len(self.names):
                raise InputError(
                    f"X has {data.n_columns} features, but NaiveBayes is expecting {len(self.names)} features as "
                    "input; pass the columns that it was trained on"
                )
            return data
        data = read_table(X, kinds)
        found = {column.name: column for column in data.columns}
        lacking = [name for name in self.names if name not in found]
        if lacking and absent == "error":
            raise InputError(
                f"column {lacking[0]!r} is absent, and the model was trained on it; pass it, or construct the model "
                "with absent='missing' to take its cells as missing"
            )
        nothing = np.full(data.n_rows, np.nan)
        columns = (found.get(name, Column(name, "missing", nothing)) for name in self.names)
        return Columns(tuple(columns), data.n_rows)

    def table(self, columns: list[Array]) -> Any:
        """A table like that of training from the cells of its columns; parts of dates are left out."""
        names = list(self.given if self.given is not None else self.names)
        made = {name: columns[self.names.index(name)] for name in names if name in self.names}
        return self._in_kind(made)

    def _in_kind(self, made: dict[Any, Array]) -> Any:
        if self.backend is None:
            if self.given is not None:
                return made
            return np.column_stack(list(made.values()))
        return new_frame(made, self.backend)

    def filled(self, X: Any, data: Columns, guesses: list[Array | None]) -> Any:
        """The table with its holes filled."""
        made: list[Array] = []
        for column, guess in zip(data.columns, guesses, strict=True):
            cells = np.array(column.cells(), dtype=object if column.kind == "category" else np.float64)
            hole = column.values < 0 if column.kind == "category" else np.isnan(cells.astype(np.float64))
            if guess is not None and hole.any():
                cells = cells.astype(guess.dtype) if column.kind == "missing" else cells
                cells[hole] = guess[hole]
            made.append(cells)
        return self.table(made)


def _given(X: Any) -> tuple[Any, ...] | None:
    if isinstance(X, Mapping):
        return tuple(X)
    frame = None if is_sparse(X) else as_frame(X)
    return None if frame is None else tuple(frame.columns)


def _backend(X: Any) -> Any:
    frame = None if isinstance(X, Mapping) or is_sparse(X) else as_frame(X)
    return None if frame is None else frame.implementation


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
