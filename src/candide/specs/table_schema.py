"""The schema of a mixed table: columns and their families, and reading other tables in the same order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import numpy as np

from ..data.arrays import as_2d_array, is_sparse, new_frame
from ..data.categories import unseen_categories, warn_if_all_unseen, warn_if_not_categories
from ..data.column_selection import check_columns, did_you_mean, select_columns
from ..data.column_types import DECLARED, MIXED, STRINGS, ColumnType, is_mixed, label_kind
from ..data.columns import Column, Columns, Kind, Records, with_omitted
from ..data.containers import (
    Imputation,
    column_names,
    column_values,
    date_formats,
    fill_missing,
    frame_library,
    frame_library_by_name,
    neutral_cells,
    rename_columns,
    select_existing,
    storage_types,
    time_zones,
    to_cell_types,
)
from ..data.dates import ISO, has_date_parts
from ..data.index import is_whole
from ..data.table import read_table
from ..exceptions import InputError, ParameterError
from ..families import Family, Multinomial, MultivariateNormal
from ..families.columns.choose import FROM_0, OPTIONS, Option, check_options, one_of
from ..families.table import Block, ColumnSpec
from ..kernels.layouts import Array
from ..priors import ESTIMATES, Dirichlet, NormalInverseWishart
from ..statistics.table import TableStatistics
from .schema import Schema

# Allowed families of a column.
COLUMN_FAMILIES = ("auto", *OPTIONS, "text", "ignore")
# Families that treat values as categories, also numbers.
_NAMES = ("categorical", "bernoulli")
# Families of several columns together.
BLOCKS = ("multinomial", "multivariate_normal")
_BLOCK_OPTIONS: dict[str, dict[str, Option]] = {
    "multinomial": {
        "prior": Option(lambda value: isinstance(value, Dirichlet), "a candide.priors.Dirichlet"),
        "estimate": one_of(*ESTIMATES),
    },
    "multivariate_normal": {
        "prior": Option(lambda value: isinstance(value, NormalInverseWishart), "a candide.priors.NormalInverseWishart"),
        "estimate": one_of(*ESTIMATES),
        "var_smoothing": FROM_0,
    },
}


@dataclass(frozen=True, kw_only=True)
class TableSchema(Schema):
    """The columns of training, and the columns computed from them: a date gives several columns.

    Attributes
    ----------
    given : tuple, optional
        Names of the columns of the input; None if they have none.
    names : tuple
        Names of the columns computed from them.
    column_specs : tuple of ColumnSpec
        The requested family of each of these.
    blocks : tuple of Block
        Families of several columns together.
    backend : narwhals implementation, optional
        The data frame library of the input, in which tables are returned.
    examples : dict
        By given name or position, a cell of the type of the column, with the time zone of its dates.
    whole : frozenset
        Columns that contained only integers.
    types : dict
        By given name or position, the type of the column and how it was determined: declared, or from the first rows.
    """

    given: tuple[Any, ...] | None
    names: tuple[Any, ...]
    column_specs: tuple[ColumnSpec, ...]
    blocks: tuple[Block, ...]
    backend: Any
    examples: dict[Any, Any] = field(default_factory=dict)
    whole: frozenset[Any] = frozenset()
    types: dict[Any, ColumnType] = field(default_factory=dict)

    @classmethod
    def of_table(cls, X: Any, columns: Any, declared: Mapping[Any, str]) -> tuple[TableSchema, Columns]:
        """Return the schema of the first table, and that table encoded; ``declared``: types of its columns."""
        given, backend = column_names(X), frame_library(X)
        examples, formats = neutral_cells(X), date_formats(X)
        zones = time_zones(examples)
        types = {name: ColumnType.of(kind, DECLARED) for name, kind in declared.items()}
        types = {name: _with_format(column_type, formats.get(name)) for name, column_type in types.items()}
        data = read_table(X, types=types, zones=zones)
        settings = _parse_columns(columns, data)
        column_specs = _column_specs(settings, data.names)
        forced = tuple(map(_kind_for, column_specs, data.kinds))
        if forced != data.kinds:
            _check_families(data, forced, declared)
            data = read_table(X, dict(zip(data.names, forced, strict=True)), types, zones)
        parts = {
            "given": given,
            # Columns without names are identified by position, and parts of dates by strings.
            "n_given": sum(isinstance(name, int) for name in data.names) if given is None else len(given),
            "names": data.names,
            "wanted": column_specs,
            "blocks": _blocks(settings, data.names),
            "backend": None,
            "examples": examples
            | {name: _EXAMPLES[t.kind] for name, t in types.items() if t.kind in _EXAMPLES and name not in zones},
            "whole": frozenset(column.name for column in data.columns if _is_whole(column)),
        }
        decided = _decided_types(X, data, examples, types, column_specs)
        for column in data.columns:
            if column.kind == "category" and column.name in decided and decided[column.name].decided == STRINGS:
                warn_if_not_categories(column)
        return replace(cls.of_parts(parts), backend=backend, types=decided), data

    def parts(self) -> dict[str, Any]:
        """Return what is written to model files, where column specs are called "wanted"."""
        names = ("given", "names", "blocks", "examples", "whole")
        backend = None if self.backend is None else self.backend.value
        types = {name: (column_type.name, column_type.decided) for name, column_type in self.types.items()}
        return {
            **{name: getattr(self, name) for name in names},
            "wanted": self.column_specs,
            "n_given": self.n_features,
            "backend": backend,
            "types": types,
        }

    @classmethod
    def of_parts(cls, parts: dict[str, Any]) -> TableSchema:
        """Return the schema that ``parts`` describes."""
        parts = dict(parts)
        n_features, column_specs, given = parts.pop("n_given"), parts.pop("wanted"), parts["given"]
        named = given is not None and all(isinstance(name, str) for name in given)
        parts["backend"] = frame_library_by_name(parts["backend"])
        parts["types"] = {name: ColumnType.of(*stored[:2]) for name, stored in parts.get("types", {}).items()}
        feature_names = given if named else None
        return cls(n_features=n_features, feature_names=feature_names, column_specs=column_specs, **parts)

    def again(self, columns: Any, kinds: tuple[Kind, ...]) -> TableSchema:
        """Return the schema with other families for the same columns, which must not change what is counted."""
        nothing = np.zeros(0)
        header = Columns(tuple(map(Column, self.names, kinds, [nothing] * len(kinds))), 0)
        settings = _parse_columns(columns, header)
        column_specs, blocks = _column_specs(settings, self.names), _blocks(settings, self.names)
        counted = [(_counted(these, kinds), those) for these, those in
                   ((self.column_specs, self.blocks), (column_specs, blocks))]  # fmt: skip
        if counted[0] != counted[1]:
            raise ParameterError(
                f"columns is now {columns!r}, which changes which columns are categories, texts or jointly modeled; "
                "restore the old value, or fit again"
            )
        return replace(self, column_specs=column_specs)

    def read(self, X: Any, statistics: TableStatistics, absent: str) -> Columns:
        """Return another table with the columns in the order and types of training.

        Columns are matched by name, or by position if one of the tables has no names.
        """
        theirs = column_names(X)
        if self.given is None and theirs is None:
            X = X if is_sparse(X) else as_2d_array(X)
            self._check_width(X.shape[1])
        if self.given is None or theirs is None:
            mine = range(self.n_features) if self.given is None else self.given
            data = self.read_some(X if self.given is theirs else rename_columns(X, mine), statistics)
        else:
            check_columns(self.given, theirs, absent, () if self.roles is None else self.roles.others)
            data = self.read_some(select_existing(X, self.given), statistics)
            if isinstance(X, Records):
                data = with_omitted(data, X.omitted, self.given)
        return self._in_order(data)

    def read_some(self, X: Any, statistics: TableStatistics) -> Columns:
        """Return some columns of another table."""
        kinds = dict(zip(self.names, map(_kind_for, self.column_specs, statistics.kinds), strict=True))
        return read_table(X, kinds, self.column_types(statistics), time_zones(self.examples))

    def column_types(self, statistics: TableStatistics) -> dict[Any, ColumnType]:
        """Return the types of the input columns, including those decided after the first rows."""
        given = range(self.n_features) if self.given is None else self.given
        return {name: self._column_type(name, statistics) for name in given}

    def text_types(self, statistics: TableStatistics) -> dict[Any, str]:
        """Return the types as which text formats are read, by column.

        Categories that are numbers or booleans are recognized by their values, some of which may be missing.
        """
        found = {}
        for name, column_type in self.column_types(statistics).items():
            labels = [] if column_type.labels is None else column_type.labels.tolist()
            if column_type.kind == "date":
                found[name] = f"date:{column_type.format or ISO}"
            elif column_type.kind != "missing" and label_kind(labels) in ("str", None):
                found[name] = column_type.kind
        return found

    def _column_type(self, name: Any, statistics: TableStatistics) -> ColumnType:
        j = self.names.index(name)
        known = self.types.get(name, ColumnType("missing", "not recorded"))
        kind: str = _kind_for(self.column_specs[j], statistics.kinds[j])
        if known.kind in ("boolean", "date") and kind in ("number", "missing"):
            return known
        if name not in self.types and kind == "number":
            kind = _number_type(name, _parts_of_dates(self.names, self.given), self.examples)
        if kind == "missing":
            return known
        decided = "the first values" if name in self.types and known.kind == "missing" else known.decided
        labels = (
            statistics.categories.labels[statistics.place(j)] if kind == statistics.kinds[j] == "category" else None
        )
        if labels is not None and not len(labels):
            labels = None
        return ColumnType(kind, decided, labels)

    def _check_width(self, n_columns: int) -> None:
        if n_columns != self.n_features:
            raise InputError(
                f"X has {n_columns} features, but NaiveBayes is expecting {self.n_features} features as input; pass "
                "the columns it was trained on"
            )

    def _in_order(self, data: Columns) -> Columns:
        found, nothing = {column.name: column for column in data.columns}, np.full(data.n_rows, np.nan)
        absent = np.ones(data.n_rows, dtype=bool)
        columns = (found.get(name, Column(name, "missing", nothing, absent=absent)) for name in self.names)
        return Columns(tuple(columns), data.n_rows)

    def warn_of_unseen_categories(self, data: Columns, statistics: TableStatistics) -> None:
        """Warn of columns in which no category was seen in training. Parts of dates are ignored."""
        given = set(range(self.n_features) if self.given is None else self.given)
        for j, column in enumerate(data.columns):
            if column.kind == statistics.kinds[j] == "category" and column.name in given:
                warn_if_all_unseen(column, statistics.categories.labels[statistics.place(j)])

    def unseen(self, data: Columns, statistics: TableStatistics) -> dict[Any, dict[Any, int]]:
        """Return categories that do not occur in training, by column, with their numbers of rows.

        Parts of dates are ignored.
        """
        given = set(range(self.n_features) if self.given is None else self.given)
        found = {}
        for j, column in enumerate(data.columns):
            if column.kind == statistics.kinds[j] == "category" and column.name in given:
                counts = unseen_categories(column, statistics.categories.labels[statistics.place(j)])
                found.update({column.name: counts} if counts else {})
        return found

    def table(self, columns: list[Array]) -> Any:
        """Return a table like that of training, from the cells of its columns."""
        names = self.given if self.given is not None else tuple(range(self.n_features))
        made = {name: to_cell_types(self.examples.get(name), columns[self.names.index(name)]) for name in names}
        if self.backend is not None:
            return new_frame(made, self.backend)
        if self.given is not None:
            return made
        alike = all(column.dtype.kind in "bif" for column in made.values())
        return np.column_stack([column if alike else column.astype(object) for column in made.values()])

    def fill_missing(self, X: Any, data: Columns, guesses: list[Array | None]) -> Any:
        """Return the table with missing values filled in."""
        theirs = column_names(X)
        places = range(self.n_features)
        mine = theirs if theirs is not None and self.given is not None else self.given or places
        own = places if theirs is None else theirs
        pairs_of = zip(self.names, data.columns, guesses, strict=True)
        found = {name: _filling(column, guess) for name, column, guess in pairs_of}
        for name in time_zones(self.examples).keys() & found.keys():
            one = found[name]
            if one is not None:
                found[name] = one._replace(values=to_cell_types(self.examples[name], one.values))
        pairs = ((name, found.get(known)) for name, known in zip(own, mine, strict=True))
        return fill_missing(X, {name: filling for name, filling in pairs if filling is not None})


# Example cells of types that are stored as numbers.
_EXAMPLES: dict[str, Any] = {"boolean": False, "date": date(1970, 1, 1)}


def _with_format(column_type: ColumnType, format: str | None) -> ColumnType:
    """Return a date type with the format in which dates were read, if none was declared."""
    is_open = column_type.kind == "date" and column_type.format is None
    return column_type._replace(format=format) if is_open else column_type


def _parts_of_dates(names: tuple[Any, ...], given: Sequence[Any] | None) -> dict[Any, None]:
    """Return the names of columns derived from dates, because a table may have a column of the same name."""
    return dict.fromkeys(name for name in names if given is None or name not in given)


def _number_type(name: Any, made: Mapping[Any, Any], examples: Mapping[Any, Any]) -> str:
    """Return the type of a column that is counted as a number; ``made``: names of columns computed from dates."""
    if has_date_parts(name, made):
        return "date"
    return "boolean" if isinstance(examples.get(name), bool) else "number"


def _decided_types(
    X: Any, data: Columns, examples: Mapping[Any, Any], declared: Mapping[Any, ColumnType],
    column_specs: tuple[ColumnSpec, ...],
) -> dict[Any, ColumnType]:  # fmt: skip
    """Return the types of the columns of the first table, and how they were decided."""
    storage, made, formats = storage_types(X), {column.name: column for column in data.columns}, date_formats(X)
    of_dates = _parts_of_dates(data.names, column_names(X))
    families = {name: column_spec.family for name, column_spec in zip(data.names, column_specs, strict=True)}
    types = {}
    for name in storage:
        kind = made[name].kind
        if name in declared:
            types[name] = declared[name]._replace(kind=kind) if declared[name].kind == "str" else declared[name]
        elif kind == "category" and families[name] in _NAMES:
            types[name] = ColumnType(kind, f"columns={{{name!r}: {families[name]!r}}}")
        elif kind in ("number", "missing") and has_date_parts(name, of_dates):
            types[name] = ColumnType("date", storage[name], format=formats.get(name))
        elif kind == "category" and storage[name].endswith("object") and is_mixed(column_values(X, name)):
            types[name] = ColumnType(kind, MIXED)
        else:
            found = _number_type(name, of_dates, examples) if kind == "number" else kind
            types[name] = ColumnType(found, storage[name])
    return types


def _check_families(data: Columns, forced: tuple[Kind, ...], declared: Mapping[Any, str]) -> None:
    """Raise an error for a column whose declared type does not match its family."""
    for column, kind in zip(data.columns, forced, strict=True):
        if column.name in declared and column.kind not in (kind, "missing"):
            raise ParameterError(
                f"schema declares {column.name!r} as {declared[column.name]!r}, but columns assigns it a family for "
                f"{'categories' if kind == 'category' else 'texts'}; change one of them"
            )


def _kind_for(column_spec: ColumnSpec, kind: Kind) -> Kind:
    """Return the kind as which a column is read."""
    if column_spec.family in _NAMES or (kind == "text" and column_spec.family not in ("auto", "text")):
        return "category"
    return "text" if column_spec.family == "text" else kind


def _counted(column_specs: tuple[ColumnSpec, ...], kinds: tuple[Kind, ...]) -> tuple[bool, ...]:
    """Return which columns are counted as another kind than their own."""
    return tuple(
        column_spec.family in _NAMES or _kind_for(column_spec, kind) != kind
        for column_spec, kind in zip(column_specs, kinds, strict=True)
    )


def _is_whole(column: Column) -> bool:
    if column.kind != "number" or column.values.dtype.kind != "f":
        return column.kind == "number"
    known = column.values[~np.isnan(column.values)]
    return is_whole(known[:1024]) and is_whole(known)


def _filling(column: Column, guess: Array | None) -> Imputation | None:
    """Return the filled column; None if no cell is missing, or no value is known."""
    missing = column.values < 0 if column.kind == "category" else np.isnan(column.values.astype(np.float64))
    return Imputation(missing, guess) if guess is not None and missing.any() else None


def _parse_columns(columns: Any, data: Columns) -> list[tuple[list[Any], Any]]:
    """Return the column names and families that the user set, by group."""
    if not isinstance(columns, (Mapping, list)):
        columns = [(list(data.names), columns)]
    pairs = list(columns.items() if isinstance(columns, Mapping) else columns)
    odd = [pair for pair in pairs if not isinstance(pair, (tuple, list)) or len(pair) != 2]
    if odd:
        raise ParameterError(
            f"columns is a list that contains {odd[0]!r}; expected pairs such as ('age', 'gaussian'), a dict such as "
            "{'age': 'gaussian'}, or one family for all columns"
        )
    return select_columns(pairs, data)


def _column_specs(settings: list[tuple[list[Any], Any]], names: tuple[Any, ...]) -> tuple[ColumnSpec, ...]:
    """Return the settings of single columns."""
    singles = ((group, setting) for group, setting in settings if not _is_block(setting))
    found = {name: column_spec for group, setting in singles for name, column_spec in _each(group, setting).items()}
    return tuple(found.get(name, ColumnSpec()) for name in names)


def _each(group: list[Any], setting: Any) -> dict[Any, ColumnSpec]:
    """Return the settings of the columns of a group; a setting that matches no column is checked too."""
    family, options = setting if isinstance(setting, tuple) and len(setting) == 2 else (setting, {})
    if not isinstance(family, str) or family not in COLUMN_FAMILIES or not isinstance(options, Mapping):
        hint = f"; {did_you_mean(family, COLUMN_FAMILIES, '')}" if isinstance(family, str) else ""
        raise ParameterError(
            f"columns contains {setting!r}; expected one of {', '.join(COLUMN_FAMILIES)}, for a tuple of columns "
            f"{' or '.join(BLOCKS)}, a family of candide.families, or a tuple of a name and a dict of options"
            f"{hint.rstrip('; ')}"
        )
    check_options(f"column {group[0]!r}" if group else "columns", family, options)
    return dict.fromkeys(group, ColumnSpec(family, tuple(options.items())))


def _blocks(settings: list[tuple[list[Any], Any]], names: tuple[Any, ...]) -> tuple[Block, ...]:
    groups = [(group, setting) for group, setting in settings if group and _is_block(setting)]
    return tuple(Block(tuple(map(names.index, group)), _block_family(setting, group)) for group, setting in groups)


def _is_block(setting: Any) -> bool:
    """Return whether a setting is a joint family of several columns."""
    if isinstance(setting, tuple) and len(setting) == 2 and isinstance(setting[1], Mapping):
        setting = setting[0]
    elif hasattr(setting, "observe") and not isinstance(setting, type):
        return True
    return isinstance(setting, str) and setting in BLOCKS


def _block_family(setting: Any, names: list[Any]) -> Family:
    """Return the joint family of the named columns."""
    if not isinstance(setting, (str, tuple)):
        family: Family = setting
        return family
    name, options = setting if isinstance(setting, tuple) else (setting, {})
    if len(names) < 2:
        raise ParameterError(
            f"columns assigns {name!r} to the single column {names[0]!r}; it needs at least two: {{('a', 'b'): "
            f"{name!r}}}"
        )
    check_options(f"the block with {names[0]!r}", name, options, _BLOCK_OPTIONS[name])
    return Multinomial(**options) if name == "multinomial" else MultivariateNormal(**options)
