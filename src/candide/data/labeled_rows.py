"""Rows with labels and weights: reading, checking and concatenating them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError, warn
from ..kernels import Kernels
from ..kernels._core import Texts
from ..kernels.counting import Hashes
from ..kernels.layouts import Array, Dense, Floats, Positions, Sparse, TextRows
from .arrays import aligned, as_array, is_missing
from .columns import Column, Columns
from .index import Index, encode, label_type, union_all

# If more classes than this are floats, a warning is issued.
_MAX_FLOAT_CLASSES = 50
# If there are more classes than this, and most have one row, a warning is issued.
_MAX_DISTINCT = 100


def read_labels(y: Any, n_rows: int, kernels: Kernels) -> tuple[Index, Positions]:
    """Return the classes that occur, in order, and the position of each row's class."""
    if y is None:
        raise InputError("this model requires y to be passed, but the target y is None; pass one label per row")
    values = label_array(y)
    if len(values) != n_rows:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {len(values)}; "
            "pass one label per row"
        )
    return encode(values, kernels)


def label_array(y: Any) -> Array:
    """Return labels as a one-dimensional array of integers, booleans or objects."""
    values = y if type(y) is np.ndarray else as_array(y, "y")
    if values.ndim != 1:
        raise InputError(
            f"y should be a 1d array, got an array of shape {values.shape} instead; pass one label per row"
        )
    kind = values.dtype.kind
    if kind in "iub":
        return aligned(values) if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))
    if kind == "f":
        return _float_labels(values)
    if kind == "c":
        raise InputError("Complex data not supported: y contains complex numbers; pass class labels")
    if kind == "M":
        if np.isnat(values).any():
            raise InputError("Input y contains NaT: some rows have no label; drop the rows without a label")
        return values
    return values if kind in "US" else _object_labels(values.astype(object))


def _object_labels(values: Array) -> Array:
    """Return labels of Python types that model files can hold, where there are such."""
    items = values.tolist()
    kinds = set(map(type, items))
    if kinds == {Decimal} and all(label.is_finite() and float(label) == label == int(label) for label in set(items)):
        return values.astype(np.float64)
    if any(hasattr(kind, "to_pydatetime") for kind in kinds):  # of pandas
        items = [item.to_pydatetime() if getattr(item, "nanosecond", None) == 0 else item for item in items]
        values = np.fromiter(items, dtype=object, count=len(items))
    _check_objects(items)
    return values


def declared_labels(y: Any, kind: str) -> Any:
    """Return labels as their declared type: "str", "number" or "boolean".

    >>> declared_labels([0, 1, 1], "str"), declared_labels(["true", "false"], "boolean")
    (array(['0', '1', '1'], dtype='<U1'), array([ True, False]))
    """
    return labels_like(y, [], f"schema declares labels of type {kind}", kind)


def labels_like(y: Any, learned: list[Any], known: str, kind: str | None = None) -> Any:
    """Return labels in the data type of the training labels; raise an error if the meaning of a label would change.

    ``known`` describes the training or declared labels in errors. ``kind`` is the data type if there are none.

    >>> labels_like(np.array([1, 2]), ["1", "2"], "the classes are '1', '2'").tolist()
    ['1', '2']
    >>> labels_like(["spam"], [0, 1], "the classes are 0, 1")
    Traceback (most recent call last):
        ...
    candide.exceptions.InputError: y contains 'spam' at row 0, but the classes are 0, 1; labels of different types \
cannot be sorted; pass labels of the same type
    """
    from .column_types import about_booleans, label_kind, like_labels
    from .factorize import factorize

    values = y if type(y) is np.ndarray else as_array(y, "y")
    kind = kind or label_kind(learned)
    if values.ndim != 1 or kind is None or _KINDS_OF_DTYPES.get(values.dtype.kind) == kind:
        return y
    codes, labels = factorize(label_array(values).tolist())
    if label_kind(labels) in (kind, None):
        return y
    converted = like_labels(labels, learned, kind)
    if None in converted:
        odd = converted.index(None)
        row = int((codes == odd).argmax())
        raise InputError(
            f"y contains {labels[odd]!r} at row {row}, but {known}; labels of different types cannot be sorted; pass "
            f"labels of the same type{about_booleans(labels[odd], learned)}"
        )
    return as_array(converted, "y")[codes]


_KINDS_OF_DTYPES = {"U": "str", "S": "str", "i": "number", "u": "number", "f": "number", "b": "boolean"}


def is_unlabeled(y: Any) -> Array:
    """Return a mask of the rows without a label: None, NaN or null.

    >>> is_unlabeled(["spam", None])
    array([False,  True])
    """
    values = y if type(y) is np.ndarray else as_array(y, "y")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or values.dtype.kind not in "fOM":
        return np.zeros(len(values) if values.ndim else 0, dtype=bool)
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind == "M":
        return np.asarray(np.isnat(values))
    labels = values.tolist()
    if set(map(type, labels)) <= {str, int, bool}:
        return np.zeros(len(labels), dtype=bool)
    return np.array([is_missing(label) for label in labels], dtype=bool)


def _float_labels(values: Array) -> Array:
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd):
        what = "NaN" if np.isnan(values).any() else "infinity"
        raise InputError(
            f"Input y contains {what} (first at row {odd[0]}); every row needs a label; drop the rows without a label"
        )
    _reject_fractions(values, values)
    return values


def _reject_fractions(floats: Array, labels: Any) -> None:
    """Raise an error for labels with fractions; ``floats`` are the finite numbers among the labels."""
    fraction = np.flatnonzero(floats != np.trunc(floats))
    if len(fraction):
        found = floats[fraction[0]]
        row = next(row for row, label in enumerate(labels) if label == found)
        raise InputError(
            f"Unknown label type: continuous. y contains {found} at row {row}; a classifier needs discrete labels; "
            "pass integers or strings"
        )


def warn_if_continuous(classes: Array) -> None:
    """Warn if many classes are floats, or strings of floats, which are more likely to be measurements than labels.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_if_continuous(np.arange(72.0))
    >>> print(str(found[0].message).partition(";")[0])
    y contains 72 different floating-point numbers (0.0, 1.0, 2.0, …), and each becomes a class
    """
    if classes.dtype.kind not in "fOU" or len(classes) <= _MAX_FLOAT_CLASSES:
        return
    labels = classes.tolist()
    if not all(isinstance(label, float) or _is_decimal_text(label) for label in labels):
        return
    warn(
        f"y contains {len(labels)} different floating-point numbers ({', '.join(map(repr, labels[:3]))}, …), and each "
        "becomes a class; if they are measurements, bin them into ranges; if they are labels, pass integers or strings"
    )


def warn_if_distinct(classes: Array, n_rows: float) -> None:
    """Warn if most rows have different strings as labels, which suggests a column of identifiers.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_if_distinct(np.array([f"P{i:03d}" for i in range(150)]), 160.0)
    >>> print(str(found[0].message).partition(";")[0])
    y contains 150 different labels in 160 rows ('P000', 'P001', 'P002', …), and each becomes a class
    """
    if classes.dtype.kind not in "OU" or len(classes) <= _MAX_DISTINCT or 2 * len(classes) <= n_rows:
        return
    labels = classes.tolist()
    if not all(isinstance(label, str) for label in labels) or all(map(_is_decimal_text, labels)):
        return  # warn_if_continuous covers decimals
    warn(
        f"y contains {len(labels)} different labels in {n_rows:.6g} rows ({', '.join(map(repr, labels[:3]))}, …), and "
        "each becomes a class; if they are identifiers, choose another column as the label"
    )


def _is_decimal_text(label: Any) -> bool:
    """Return whether a label is a string such as '31.5', which represents a number in text formats."""
    from .conversion import is_number_text

    return isinstance(label, str) and "." in label and is_number_text(label)


def _check_objects(labels: list[Any]) -> None:
    if set(map(type, labels)) == {str}:  # the usual case
        return
    floats = np.array([label for label in labels if isinstance(label, float)])
    _reject_fractions(floats[np.isfinite(floats)], labels)
    for row, label in enumerate(labels):
        if is_missing(label):
            raise InputError(f"Input y contains NaN: row {row} has no label ({label!r}); drop the rows without a label")
    examples = {label_type(label): label for label in {type(label): label for label in labels}.values()}
    if len(examples) > 1:
        raise InputError(
            f"y mixes labels of different types ({', '.join(map(repr, examples.values()))}), which cannot be sorted; "
            "convert all labels to the same type, for example with y.astype(str)"
        )


def read_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return row weights, finite and not negative; None means that all weights are 1."""
    if sample_weight is None:
        return None
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight is not numeric ({error}); pass finite, non-negative weights") from None
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        raise InputError(
            f"Sample weights must be 1D array or scalar, got {weight.ndim}D array; pass one weight per row"
        )
    if len(weight) != n_rows:
        raise InputError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}: one weight per row")
    odd = np.flatnonzero(~(weight >= 0) | np.isinf(weight))
    if len(odd):
        raise InputError(
            f"Input sample_weight contains {weight[odd[0]]} at row {odd[0]}; negative, NaN or infinite weights are "
            "not allowed; use 0 to ignore a row, and forget() to remove rows from a fitted model"
        )
    if not np.isfinite(weight.sum()):
        raise InputError(
            f"the sum of sample_weight overflows (largest: {weight.max():g}); divide the weights by the largest"
        )
    if not weight.any():
        raise InputError(
            "all sample weights are zero; expected at least one positive weight; pass a positive weight for at least "
            "one row"
        )
    return np.require(weight, requirements=("C", "A"))


class LabeledRows(NamedTuple):
    """Encoded rows, their classes, and the position of the class, the weight and the group of each row.

    ``weight`` is None if all weights are 1. ``groups`` are hashes, 0 for rows without a group, or None.
    """

    data: Any
    classes: Index
    positions: Positions
    weight: Floats | None
    groups: Hashes | None = None

    def can_concatenate(self, other: LabeledRows) -> bool:
        """Return whether these rows can be concatenated with others."""
        kinds = {label_type(rows.classes.labels[:1].tolist()[0]) for rows in (self, other)}
        return len(kinds) == 1 and same_layout(self.data, other.data)


def concatenate_labeled(parts: Sequence[LabeledRows]) -> LabeledRows:
    """Return the concatenation of rows for which ``can_concatenate`` holds, as a copy."""
    classes, places = union_all([part.classes for part in parts])
    positions = np.concatenate([place[part.positions] for place, part in zip(places, parts, strict=True)])
    weight = None
    if any(part.weight is not None for part in parts):
        weight = np.concatenate([np.ones(len(p.positions)) if p.weight is None else p.weight for p in parts])
    groups = None
    if any(part.groups is not None for part in parts):
        none = (np.zeros(len(part.positions), dtype=np.uint64) for part in parts)
        groups = np.concatenate([zeros if p.groups is None else p.groups for p, zeros in zip(parts, none, strict=True)])
    return LabeledRows(
        concatenate_rows([part.data for part in parts]), classes, positions.astype(np.int32), weight, groups
    )


Rows = Dense | Sparse | Columns | TextRows


def same_layout(a: Rows, b: Rows) -> bool:
    """Return whether rows have the same layout and data types, so that concatenation does not change any cell."""
    return type(a) is type(b) and _layout(a) == _layout(b)


def _layout(data: Rows) -> Any:
    if isinstance(data, TextRows):
        return None
    if isinstance(data, Columns):
        return [(column.name, column.kind, column.values.dtype) for column in data.columns]
    if isinstance(data.values, tuple):
        return [column.dtype for column in data.values]
    return data.values.dtype, data.n_columns


def concatenate_rows(parts: Sequence[Any]) -> Any:
    """Return the concatenation of rows of the same layout. All but texts, which are immutable, are copied.

    >>> concatenate_rows([Dense.of(np.array([[1, 2]])), Dense.of(np.array([[3, 4], [5, 6]]))]).values.tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    first = parts[0]
    if isinstance(first, TextRows):
        return TextRows(Texts.joined([part.texts for part in parts]))
    if isinstance(first, Sparse):
        from scipy.sparse import vstack

        return Sparse.of(vstack([part.matrix() for part in parts], format="csr"))
    if isinstance(first, Columns):
        columns = map(_concatenate_columns, zip(*(part.columns for part in parts), strict=True))
        return Columns(tuple(columns), sum(part.n_rows for part in parts))
    cells = [part.values for part in parts]
    if isinstance(first.values, tuple):
        return Dense.of(tuple(np.concatenate(column) for column in zip(*cells, strict=True)), first.names)
    return Dense.of(np.concatenate(cells), first.names)


def _concatenate_columns(parts: tuple[Column, ...]) -> Column:
    first, absent = parts[0], None
    if any(part.absent is not None for part in parts):
        given = (np.zeros(len(part.values), dtype=bool) if part.absent is None else part.absent for part in parts)
        absent = np.concatenate(list(given))
    if first.labels is None:
        texts = None if first.texts is None else concatenate_rows([part.texts for part in parts])
        values = np.concatenate([part.values for part in parts])
        return Column(first.name, first.kind, values, None, texts, absent)
    index, places = union_all([Index(part.labels) for part in parts if part.labels is not None])
    # The code -1 selects the last entry.
    codes = [np.append(place, -1)[part.values] for place, part in zip(places, parts, strict=True)]
    return Column(first.name, first.kind, np.concatenate(codes).astype(np.int32), index.labels, absent=absent)
