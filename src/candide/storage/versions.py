"""Files of earlier versions of the format, brought to that of now step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..kernels.layouts import Array
from .document import Document
from .header import CURRENT as CURRENT
from .verdict import Unsound, require

# Number columns of waves in files of version 1, at most.
_MOST_RANKS = 1_000


def _from_1(document: Document) -> Document:
    """Version 1 had no joint distribution of columns: take them for independent, levels for equally frequent."""
    arrays: dict[str, Array] = {}
    for place, inputs in _inputs_of(document.parts, "model"):
        n_ranks = len(document.arrays[inputs["ranks"]["columns"]["tensor"]])
        require(n_ranks <= _MOST_RANKS, "waves run through too many columns")
        sizes = [int(document.arrays[codes["tensor"]].max(initial=0)) + 1 for codes in inputs["levels"]["maps"]]
        new = {
            "covariance": 1.01 * np.eye(n_ranks),
            "share": np.concatenate([np.full(n, 1 / n) for n in [1, *sizes]])[1:],
        }
        for name, array in new.items():
            arrays[f"{place}.{name}"] = array
            inputs[name] = {"$": "array", "tensor": f"{place}.{name}"}
    return document._replace(arrays={**document.arrays, **arrays}) if arrays else document


# Fields that were renamed in version 3, by the name that their class has in files.
_RENAMED_IN_3: Mapping[str, Mapping[str, str]] = {
    "mixture": {"size": "scale"},
    "blended": {"look": "binning", "mixture": "weights", "unit": "row_weight", "below": "hash_bound"},
    "text blended": {"mixture": "weights"},
    "text view": {"bands": "stacked"},
    "one-dependence": {"merging": "merged"},
    "joint slots": {"merging": "merged"},
    "rank coordinates": {"places": "quantiles"},
    "waves": {"cosines": "features", "below": "hash_bound"},
    "wave sums": {"heights": "sums"},
}


def _from_2(document: Document) -> Document:
    return document._replace(parts=_with_renamed_fields(document.parts, _RENAMED_IN_3))


def _with_renamed_fields(tree: Any, renamed: Mapping[str, Mapping[str, str]]) -> Any:
    """Return the tree with fields renamed; their arrays keep the names that they have in the file."""
    if isinstance(tree, list):
        return [_with_renamed_fields(part, renamed) for part in tree]
    if not isinstance(tree, dict):
        return tree
    names = renamed.get(str(tree.get("$")), {})
    return {names.get(name, name): _with_renamed_fields(part, renamed) for name, part in tree.items()}


def _inputs_of(tree: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(tree, dict) and tree.get("$") == "inputs":
        yield place, tree
    elif isinstance(tree, dict | list):
        for name, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _inputs_of(part, f"{place}.{name}")


# From a version to the next.
UPGRADES: Mapping[int, Callable[[Document], Document]] = {1: _from_1, 2: _from_2}


def upgraded(
    document: Document, version: str, upgrades: Mapping[int, Callable[[Document], Document]] = UPGRADES
) -> Document:
    """What a file of some version would be if it were written now."""
    require(version.isdecimal() and version.isascii() and len(version) <= 9, f"its format version is {version!r:.20}")
    if int(version) > CURRENT:
        raise Unsound(
            f"its format version is {version}, and this version of candide reads up to {CURRENT}",
            "install a newer candide",
        )
    for step in range(int(version), CURRENT):
        require(step in upgrades, f"its format version is {version}, which no candide has written")
        document = upgrades[step](document)
    return document
