"""The type of a column, decided once, and the lossless conversion of further cells to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError, ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Dense
from .arrays import overflow_error
from .categories import distinct_values
from .columns import Kind
from .conversion import (
    is_ambiguous,
    is_boolean_text,
    is_date_text,
    is_number_text,
    to_boolean,
    to_exact_number,
    to_number,
    to_text,
)
from .dates import date_categories, describe_format, is_date_format, to_date
from .factorize import NUMBERS, Factorized, array_cells, unbox_cells

Cells = Array | Factorized

#: What a column may be declared as. A column of type "str" is read as texts, which are categories or free text by
#: what they look like; a label of this type is a text.
TYPES = ("number", "category", "boolean", "date", "text", "str")
_LABEL_TYPES = ("str", "category", "number", "boolean")
# The kind that columns of a type are counted as; what the others are counted as depends on their cells.
_KINDS: dict[str, Kind] = {"number": "number", "boolean": "number", "category": "category", "text": "text"}
_NOUNS = {"number": "numbers", "boolean": "booleans", "date": "dates", "category": "categories", "str": "strings"}


#: How the type was decided for columns whose categories are texts regardless of their data type.
DECLARED, MIXED = "declared", "values are strings and numbers"
#: How it was decided for columns of words in text files.
STRINGS = "values are strings"


class ColumnType(NamedTuple):
    """The type of a column, and how it was decided.

    ``labels`` are the categories learned so far, whose data type further categories are converted to. None: all become
    texts, because they are declared, or because the first ones were texts and numbers. ``format`` is the format of
    dates in text, besides that of ISO.
    """

    kind: str
    decided: str
    labels: Array | None = None
    format: str | None = None

    @classmethod
    def of(cls, name: str, decided: str) -> ColumnType:
        """Return the type of this name, such as "number", "date" or "date:%m/%d/%Y"."""
        kind, format = split_type(name)
        return cls(kind, decided, format=format)

    @property
    def name(self) -> str:
        """The kind of the type, with the format of dates."""
        return self.kind if self.format is None else f"{self.kind}:{self.format}"

    @property
    def counted_as(self) -> Kind | None:
        """The kind of the column in a table; None if the cells decide."""
        return _KINDS.get(self.kind)


def split_type(name: str) -> tuple[str, str | None]:
    """Return the kind of a type, and the format if it is of dates.

    >>> split_type("number"), split_type("date:%m/%d/%Y")
    (('number', None), ('date', '%m/%d/%Y'))
    """
    kind, _, format = name.partition(":")
    return kind, format or None


def is_type(name: str) -> bool:
    """Return whether this is the name of a type."""
    kind, format = split_type(name)
    return name in TYPES or (kind == "date" and format is not None and is_date_format(format))


def check_declared(schema: Any) -> dict[Any, str]:
    """Return the declared types by column; raise an error for other types."""
    if schema is None:
        return {}
    if not isinstance(schema, Mapping):
        raise ParameterError(
            f"schema is {schema!r:.80}; expected a dict of column types, such as {{'zip': 'category'}}"
        )
    for name, kind in schema.items():
        if not isinstance(kind, str) or not is_type(kind):
            raise ParameterError(
                f"schema declares {name!r} as {kind!r:.80}; expected one of {', '.join(TYPES)}, or dates with a "
                "format of day, month and year, such as 'date:%m/%d/%Y'"
            )
    return dict(schema)


def check_label_type(name: Any, kind: str) -> str:
    """Return the declared type of the label; raise an error for types that no label has."""
    if kind not in _LABEL_TYPES:
        raise ParameterError(
            f"schema declares {name!r} as {kind!r}; X has no such column, and a label can only be one of "
            f"{', '.join(_LABEL_TYPES)}; name a column of X"
        )
    return "str" if kind == "category" else kind


def convert_cells(name: Any, cells: Cells, column_type: ColumnType) -> Cells:
    """Return cells as their type requires, if no value changes its meaning by that; raise an error otherwise.

    >>> number = ColumnType("number", "storage type int64")
    >>> convert_cells("age", Factorized(np.array([0, 1, -1]), ["17", "18.5"]), number)
    array([17. , 18.5,  nan])
    >>> convert_cells("age", Factorized(np.array([0, 1]), ["17", "old"]), number)
    Traceback (most recent call last):
        ...
    candide.exceptions.InputError: column 'age' contains 'old' at row 1, but it is a column of numbers (storage type \
int64); pass numbers, or declare another type and fit again, for example schema={'age': 'category'} (--type \
age=category on the command line)
    """
    kind = column_type.kind
    if isinstance(cells, Factorized) and not cells.declared:
        cells = unbox_cells(cells, name, numbers=kind not in ("category", "str"))
    if is_empty(cells):
        # An empty column may have any data type.
        return np.full(n_cells(cells), "NaT", dtype="datetime64[s]") if kind == "date" else cells
    if kind in ("category", "str"):
        return _categories(name, cells, column_type)
    if kind not in _CONVERTERS:
        return cells
    if not isinstance(cells, Factorized):
        odd = ~_ACCEPTED[kind](cells)
        if odd.any():
            row = int(odd.argmax())
            raise _refusal(name, cells[row].item(), row, column_type)
        return cells
    convert, dtype, missing = _CONVERTERS[kind]
    if kind == "date":
        convert = partial(to_date, format=column_type.format)
    try:
        values = [convert(label) for label in cells.labels]
    except OverflowError:
        row = int(cells.rows_where([isinstance(label, int) and abs(label) > 1 << 1000 for label in cells.labels])[0])
        raise overflow_error(name, row) from None
    rows = cells.rows_where([value is None for value in values])
    if len(rows):
        raise _refusal(name, cells.labels[cells.codes[rows[0]]], int(rows[0]), column_type)
    # Labels that do not occur may be anything.
    return cells.expand(np.array([missing if value is None else value for value in values], dtype=dtype), missing)


def n_cells(cells: Cells) -> int:
    """Return the number of cells."""
    return len(cells.codes if isinstance(cells, Factorized) else cells)


def is_empty(cells: Cells) -> bool:
    """Return whether all cells are missing."""
    if isinstance(cells, Factorized):
        return not (cells.codes >= 0).any()
    # The first cell decides most columns.
    return cells.dtype.kind == "f" and bool(np.isnan(cells[:1]).all() and np.isnan(cells).all())


def _all_but_dates(cells: Array) -> Array:
    return np.full(len(cells), cells.dtype.kind != "M")


def _zeros_and_ones(cells: Array) -> Array:
    if cells.dtype.kind in "mM":
        return np.zeros(len(cells), dtype=bool)
    return np.asarray((cells == 0) | (cells == 1) | (cells != cells))


def _dates(cells: Array) -> Array:
    return np.full(len(cells), cells.dtype.kind == "M")


_ACCEPTED: dict[str, Callable[[Array], Array]] = {"number": _all_but_dates, "boolean": _zeros_and_ones, "date": _dates}
_CONVERTERS: dict[str, tuple[Callable[[Any], Any], str, Any]] = {
    "number": (to_number, "f8", np.nan),
    "boolean": (to_boolean, "f8", np.nan),
    "date": (to_date, "datetime64[us]", np.datetime64("NaT")),
}


def _categories(name: Any, cells: Cells, column_type: ColumnType) -> Cells:
    learned = [] if column_type.labels is None else column_type.labels.tolist()
    if isinstance(cells, Factorized) and {*map(type, cells.labels), *map(type, learned)} == {str}:
        return cells  # the usual case
    if column_type.labels is not None and label_kind(learned) is None:
        return cells
    if not isinstance(cells, Factorized):
        cells = date_categories(cells) if cells.dtype.kind == "M" else number_labels(name, cells)
    occurring = np.unique(cells.codes[cells.codes >= 0]).tolist()
    values = list(cells.labels)
    converted = like_labels([values[code] for code in occurring], learned)
    for code, value in zip(occurring, converted, strict=True):
        if value is None:
            row = int((cells.codes == code).argmax())
            raise _refusal(name, values[code], row, column_type, learned)
        values[code] = value
    return Factorized(cells.codes, values, cells.declared)


def like_learned(data: Dense, labels: tuple[Array, ...]) -> Dense:
    """Return columns of categories as numbers where numbers were learned, and as texts where texts were.

    ``labels`` are the categories learned, by column.
    """
    odd = [
        j for j, known in enumerate(labels) if len(known) and _holds_numbers(data.column(j)) != _holds_numbers(known)
    ]
    if not odd:
        return data
    columns = [data.column(j) for j in range(data.n_columns)]
    for j in odd:
        name = j if data.names is None else data.names[j]
        cells = array_cells(columns[j], name)
        found = convert_cells(name, cells, ColumnType("category", "the categories in training", labels[j]))
        if isinstance(found, Factorized) and found is not cells:
            columns[j] = found.expand(np.array([*found.labels, None], dtype=object)[:-1], None)
    return Dense.of(tuple(columns), data.names)


def _holds_numbers(values: Array) -> bool:
    return values.dtype.kind in "biuf"


def number_labels(name: Any, values: Array) -> Factorized:
    """Return numbers or durations (in seconds) as categories."""
    if values.dtype.kind == "m":
        values = np.asarray(values / np.timedelta64(1, "s"))
    known, index, positions = distinct_values(values, f"column {name!r}", Kernels())
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[known] = positions
    return Factorized(codes, index.labels.tolist())


def one_label_type(cells: Factorized) -> Factorized:
    """Return cells of which some are texts and others numbers as texts, as text formats hold them."""
    if not is_mixed(cells.labels):
        return cells
    return cells._replace(labels=[to_text(label) for label in cells.labels])


def are_numbers(cells: Factorized) -> bool:
    """Return whether cells are numbers, some of which are written as texts."""
    return is_mixed(cells.labels) and all(
        is_number_text(label) if isinstance(label, str) else _label_kind(type(label)) == "number"
        for label in cells.labels
    )


def is_mixed(labels: list[Any]) -> bool:
    """Return whether some labels are texts, and the others numbers or booleans."""
    kinds = {_label_kind(kind) for kind in set(map(type, labels))}
    return len(kinds) > 1 and "str" in kinds and None not in kinds


def label_kind(labels: list[Any]) -> str | None:
    """Return "str", "boolean" or "number" if all labels are of this kind; None if they are mixed, others or none.

    >>> label_kind(["ham", "spam"]), label_kind([0, 1.5]), label_kind([True]), label_kind(["ham", 1])
    ('str', 'number', 'boolean', None)
    """
    kinds = {_label_kind(kind) for kind in set(map(type, labels))}
    return kinds.pop() if len(kinds) == 1 else None


def _label_kind(kind: type) -> str | None:
    if issubclass(kind, str):
        return "str"
    if issubclass(kind, (bool, np.bool_)):
        return "boolean"
    return "number" if issubclass(kind, NUMBERS) else None


def like_labels(labels: list[Any], learned: list[Any], kind: str | None = "str") -> list[Any]:
    """Return labels in the data type of those learned, or of a kind if there are none; None where that loses something.

    Numbers become texts only where texts that are numbers were learned, written as ``to_text`` writes them; so do
    booleans and dates. To a column of names they are something else.

    >>> like_labels([1, 2.0, True], ["1", "2", "true"]), like_labels(["1", "2.0", "x"], [1, 2])
    (['1', '2', 'true'], [1, 2, None])
    >>> like_labels([7], ["007"]), like_labels([3], ["Paris"]), like_labels([True], ["True", "False"])
    ([None], [None], ['True'])
    """
    kind = label_kind(learned) if learned else kind
    if kind == "number":
        return [to_exact_number(label) for label in labels]
    if kind == "boolean":
        return [to_boolean(label) for label in labels]
    if kind is None or all(isinstance(label, str) for label in labels):
        return labels
    if not learned:
        return [to_text(label) for label in labels]
    words = {label.lower(): label for label in learned if is_boolean_text(label)}
    has_numbers = any(map(is_number_text, learned)) and not any(map(is_ambiguous, learned))
    has_dates = any(map(is_date_text, learned))
    return [_as_text(label, words, has_numbers, has_dates) for label in labels]


def _as_text(label: Any, words: dict[str, str], has_numbers: bool, has_dates: bool) -> str | None:
    kind = _label_kind(type(label))
    if kind == "boolean":
        return words.get("true" if label else "false")
    learned = kind == "str" or (has_numbers if kind == "number" else has_dates)
    return to_text(label) if learned else None


# What SQL engines read as booleans.
_BOOLEAN_WORDS = frozenset({"yes", "no", "y", "n", "true", "false", "t", "f"})


def about_booleans(found: Any, learned: list[Any]) -> str:
    """Return advice if a boolean, perhaps as 0 or 1, was found in place of yes and no; "" otherwise.

    >>> about_booleans(True, ["no", "yes"])
    "; DuckDB reads yes and no in CSV files as booleans unless they are read by \
FROM read_csv('train.csv', all_varchar=true)"
    >>> about_booleans(2, ["no", "yes"]), about_booleans(True, ["cook", "smith"])
    ('', '')
    """
    words = {label.strip().lower() if isinstance(label, str) else "" for label in learned}
    if isinstance(found, str) or found not in (0, 1) or not words <= _BOOLEAN_WORDS:
        return ""
    return (
        "; DuckDB reads yes and no in CSV files as booleans unless they are read by "
        "FROM read_csv('train.csv', all_varchar=true)"
    )


def _refusal(name: Any, found: Any, row: int, column_type: ColumnType, learned: list[Any] | None = None) -> InputError:
    if learned and (advice := about_booleans(found, learned)):
        known = " and ".join(map(repr, learned))
        return InputError(
            f"column {name!r} contains booleans at row {row}, but {known} in training; pass these{advice}"
        )
    kind = column_type.kind
    noun = f"categories such as {learned[0]!r}" if learned else _NOUNS[kind]
    if learned:
        kind = label_kind(learned) or kind
    if kind == "date":
        noun += f" in {describe_format(column_type.format)}"
    other = "category" if column_type.kind in ("number", "boolean", "date") else "number"
    terminal = f" (--type {name}={other} on the command line)" if isinstance(name, str) else ""
    return InputError(
        f"column {name!r} contains {found!r} at row {row}, but it is a column of {noun} ({column_type.decided}); pass "
        f"{_NOUNS[kind]}, or declare another type and fit again, for example schema={{{name!r}: {other!r}}}{terminal}"
    )
