"""What belongs to a row besides its cells: its class and its weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InputError, warn
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions
from .columns import aligned, as_array, is_missing
from .index import Index, encode, kind_of

# More classes than this that are floating-point numbers are worth a warning.
_FEW_FLOAT_CLASSES = 50


def read_labels(y: Any, n_rows: int, kernels: Kernels) -> tuple[Index, Positions]:
    """The classes that occur, in order, and the position of each row's class."""
    if y is None:
        raise InputError("this model requires y to be passed, but the target y is None; give each row a label")
    values = label_array(y)
    if len(values) != n_rows:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {len(values)}; "
            "give each row one label"
        )
    return encode(values, kernels)


def label_array(y: Any) -> Array:
    """Labels as a one-dimensional array of whole numbers, booleans or objects."""
    values = y if type(y) is np.ndarray else as_array(y, "y")
    if values.ndim != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {values.shape} instead; pass one label a row")
    kind = values.dtype.kind
    if kind in "iub":
        return aligned(values) if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))
    if kind == "f":
        return _float_labels(values)
    if kind == "c":
        raise InputError("Complex data not supported: y holds complex numbers; pass labels")
    if kind == "M":
        if np.isnat(values).any():
            raise InputError("Input y contains NaT: a row has no label; drop the rows without one")
        return values
    if kind not in "US":
        values = values.astype(object)
        _check_objects(values.tolist())
    return values


def without_label(y: Any) -> Array:
    """Which rows have no label: None, NaN or a null.

    >>> without_label(["spam", None])
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
            f"Input y contains {what} (first at row {odd[0]}); every row needs a label; drop the rows without one"
        )
    _refuse_fractions(values, values)
    return values


def _refuse_fractions(floats: Array, labels: Any) -> None:
    """``floats``: the finite numbers among the labels."""
    fraction = np.flatnonzero(floats != np.trunc(floats))
    if len(fraction):
        found = floats[fraction[0]]
        row = next(row for row, label in enumerate(labels) if label == found)
        raise InputError(
            f"Unknown label type: continuous. y holds {found} at row {row}; a classifier needs labels; pass whole "
            "numbers or texts"
        )


def warn_of_measurements(classes: Array) -> None:
    """Warns of so many classes that are floating-point numbers: they are more likely measurements than labels.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_of_measurements(np.arange(72.0))
    >>> print(str(found[0].message).partition(";")[0])
    y holds 72 different floating-point numbers (0.0, 1.0, 2.0, …), and each becomes a class
    """
    if classes.dtype.kind not in "fO" or len(classes) <= _FEW_FLOAT_CLASSES:
        return
    labels = classes.tolist()
    if not all(isinstance(label, float) for label in labels):
        return
    warn(
        f"y holds {len(labels)} different floating-point numbers ({', '.join(map(repr, labels[:3]))}, …), and each "
        "becomes a class; if they are measurements, pass ranges of them as labels; if they are labels, pass integers "
        "or texts"
    )


def _check_objects(labels: list[Any]) -> None:
    if set(map(type, labels)) == {str}:  # the usual
        return
    floats = np.array([label for label in labels if isinstance(label, float)])
    _refuse_fractions(floats[np.isfinite(floats)], labels)
    for row, label in enumerate(labels):
        if is_missing(label):
            raise InputError(f"Input y contains NaN: row {row} has no label ({label!r}); drop the rows without one")
    examples = {kind_of(label): label for label in {type(label): label for label in labels}.values()}
    if len(examples) > 1:
        raise InputError(
            f"y mixes labels of different types ({', '.join(map(repr, examples.values()))}), which have no order; give "
            "all labels the same type, for example with y.astype(str)"
        )


def read_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Row weights, all finite and none negative; None stands for all ones."""
    if sample_weight is None:
        return None
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight holds no numbers ({error}); give one finite weight of 0 or more") from None
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array; give one weight a row")
    if len(weight) != n_rows:
        raise InputError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}: one weight a row")
    odd = np.flatnonzero(~(weight >= 0) | np.isinf(weight))
    if len(odd):
        raise InputError(
            f"Input sample_weight contains {weight[odd[0]]} at row {odd[0]}; negative, NaN or infinite weights mean "
            "nothing here; use 0 to leave a row out, and forget() to remove learned rows"
        )
    if not np.isfinite(weight.sum()):
        raise InputError(f"sample_weight adds up to infinity (largest: {weight.max():g}); divide the weights by it")
    if not weight.any():
        raise InputError("all sample weights are zero: nothing would be learned; give a row a weight above 0")
    return np.require(weight, requirements=("C", "A"))
