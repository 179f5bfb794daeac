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
    """Waves did not know how columns go together: these are taken for independent, and levels for equally frequent."""
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


def _inputs_of(tree: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(tree, dict) and tree.get("$") == "inputs":
        yield place, tree
    elif isinstance(tree, dict | list):
        for name, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _inputs_of(part, f"{place}.{name}")


# From a version to the next.
UPGRADES: Mapping[int, Callable[[Document], Document]] = {1: _from_1}


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
