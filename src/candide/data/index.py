"""Index of distinct labels and their positions, for classes and categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..exceptions import InputError
from ..kernels import Kernels
from ..kernels.counting import mix64
from ..kernels.layouts import Array, Dense, Positions
from ..lazy import dataclass

# From here on, float64 does not represent all integers.
EXACT = 1 << 53
# Bits of the hash that distinguishes few texts, and the width up to which hashing is faster than making objects.
_HASH_BITS, _MAX_WIDTH = 16, 32


@dataclass(frozen=True, eq=False)
class Index:
    """Distinct labels in sorted order. Positions of two indexes are comparable only after ``positions_in``.

    >>> a, b = Index(np.array(["ham", "spam"])), Index(np.array(["news", "spam"]))
    >>> both = a.union(b)
    >>> both.labels.tolist(), b.positions_in(both).tolist()
    (['ham', 'news', 'spam'], [1, 2])
    """

    labels: Array

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and self.labels.tolist() == other.labels.tolist()

    __hash__ = None  # type: ignore[assignment]

    def union(self, other: Index) -> Index:
        """Return the index of the labels of both."""
        return self if self == other else Index(union_labels(self.labels, other.labels))

    def positions_in(self, other: Index) -> Array:
        """Return the position of each label in ``other``, -1 if it is not there."""
        place = {label: i for i, label in enumerate(other.labels.tolist())}
        return np.array([place.get(label, -1) for label in self.labels.tolist()], dtype=np.int64)

    def take(self, keep: Array) -> Index:
        """Return some of the labels, by mask or position."""
        return Index(self.labels[keep])


def union_all(parts: Sequence[Index]) -> tuple[Index, list[Array]]:
    """Return the union of several indexes, and the positions of the labels of each in it.

    >>> both, places = union_all([Index(np.array(["ham", "spam"])), Index(np.array(["news", "spam"]))])
    >>> both.labels.tolist(), [place.tolist() for place in places]
    (['ham', 'news', 'spam'], [[0, 2], [1, 2]])
    """
    labels = _union_tree([part.labels for part in parts])
    place = {label: i for i, label in enumerate(labels.tolist())}
    return Index(labels), [np.array([place[label] for label in part.labels.tolist()], dtype=np.int64) for part in parts]


def _union_tree(parts: Sequence[Array]) -> Array:
    """Return the union by halves, so that each label takes part in a logarithmic number of unions."""
    middle = len(parts) // 2
    return union_labels(_union_tree(parts[:middle]), _union_tree(parts[middle:])) if middle else parts[0]


def union_labels(a: Array, b: Array) -> Array:
    """Return the distinct labels of both in order; objects if a common data type would round them."""
    if not len(a) or not len(b):
        return a if len(a) else b
    kinds = {a.dtype.kind, b.dtype.kind}
    if kinds == {"U"} or kinds == {"S"} or kinds == {"M"}:
        return np.union1d(a, b)
    if kinds <= set("biuf"):
        rounds = np.result_type(a, b).kind == "f"  # also for signed with unsigned
        if not rounds or (is_exact(a) and is_exact(b)):
            both = np.union1d(a, b)
            return both.astype(np.int64) if rounds and "f" not in kinds else both
    return canonical_labels(sort_labels([*a.tolist(), *b.tolist()]))


def is_exact(numbers: Array) -> bool:
    """Return whether all numbers are below 2^53 in absolute value, so that float64 represents integers exactly."""
    return numbers.dtype == bool or bool((np.abs(numbers.astype(np.float64)) < EXACT).all())


def is_whole(numbers: Array) -> bool:
    """Return whether all numbers are integers that float64 represents exactly."""
    return bool((numbers == np.trunc(numbers)).all()) and is_exact(numbers)


def canonical_labels(labels: Array) -> Array:
    """Return labels in the data type that they have on their own: int64 for integers, even if texts were removed."""
    if not len(labels):
        return np.empty(0, dtype=np.int64)
    if labels.dtype.kind == "O":
        items = labels.tolist()
        if all(isinstance(item, (int, np.integer)) and -(2**63) <= int(item) < 2**63 for item in items):
            return labels.astype(np.int64)
        if not all(isinstance(item, (int, float, np.number)) for item in items):
            return labels
        if any(isinstance(item, (int, np.integer)) and abs(int(item)) >= EXACT for item in items):
            return labels
        labels = labels.astype(np.float64)
    return labels.astype(np.int64) if labels.dtype.kind == "f" and is_whole(labels) else labels


def sort_labels(labels: list[Any]) -> Array:
    """Return the distinct labels in a fixed order: by type, then by value."""
    distinct = set(labels)
    # Texts alone need no sort key, which takes longer than sorting.
    texts = set(map(type, distinct)) == {str}
    in_order = sorted(distinct) if texts else sorted(distinct, key=lambda label: (label_type(label), label))
    out = np.empty(len(in_order), dtype=object)
    out[:] = in_order
    return out


def label_type(label: Any) -> str:
    """Return the type of a label for sorting: "" for numbers and booleans, "str" for texts, else its class name."""
    if isinstance(label, (bool, int, float, np.number, np.bool_)):
        return ""
    return "str" if isinstance(label, str) else type(label).__name__


def encode(values: Array, kernels: Kernels) -> tuple[Index, Positions]:
    """Return the distinct values of a column without missing cells, and the position of each row's value."""
    kind = values.dtype.kind
    if kind in "iub":
        found = kernels.encode_labels(values)
        if found is not None:
            return Index(found[0].astype(values.dtype)), found[1]
    if kind in "US":
        return _encode_texts(values, kernels) or _encode_objects(values)
    if kind in "OT":
        return _encode_objects(values)
    labels, positions = np.unique(values, return_inverse=True)
    return Index(labels), positions.astype(np.int32)


def _encode_texts(values: Array, kernels: Kernels) -> tuple[Index, Positions] | None:
    """Encode texts of fixed width by a few bits of their hash; None if two texts collide."""
    part = np.dtype(np.uint32 if values.dtype.kind == "U" else np.uint8)
    width = values.dtype.itemsize // part.itemsize
    if not len(values) or not 0 < width <= _MAX_WIDTH:
        return None
    parts = np.ascontiguousarray(values).view(part).reshape(-1, width)
    keys = mix64(np.arange(1, width + 1, dtype=np.uint64))
    found = kernels.encode_labels(kernels.hash_rows(Dense.of(parts), keys) >> np.uint64(64 - _HASH_BITS))
    assert found is not None  # hashes of few bits are small integers
    first = np.empty(len(found[0]), dtype=np.int64)
    first[found[1][::-1]] = np.arange(len(values))[::-1]
    if not np.array_equal(parts, parts[first[found[1]]]):
        return None
    index, order = _encode_objects(values[first])
    return index, order[found[1]]


def _encode_objects(values: Array) -> tuple[Index, Positions]:
    # A dictionary over the values is several times faster than sorting the rows.
    items = values.tolist()
    try:
        labels = sort_labels(items)
    except TypeError:
        raise InputError(_unsortable_message(items)) from None
    place = {label: i for i, label in enumerate(labels.tolist())}
    positions = np.fromiter(map(place.__getitem__, items), dtype=np.int32, count=len(items))
    return Index(labels if values.dtype.kind == "O" else labels.astype(values.dtype)), positions


def _unsortable_message(items: list[Any]) -> str:
    odd = next((item for item in items if not _hashable(item)), None)
    if odd is not None:
        return f"found a label or category of type {type(odd).__name__} ({odd!r}); use numbers, strings or booleans"
    kinds = sorted({type(item).__name__ for item in items})
    return f"labels or categories of types {', '.join(kinds)} cannot be sorted; use numbers, strings or booleans"


def _hashable(item: Any) -> bool:
    try:
        hash(item)
    except TypeError:
        return False
    return True
