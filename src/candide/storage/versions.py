"""Upgrade files of earlier format versions to the current one, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..kernels.layouts import Array
from .container import CURRENT_VERSION
from .content import EncodedContent
from .errors import InvalidContent, require

# Number columns in the random Fourier features of files of version 1, at most.
_MAX_RANKS = 1_000


def _from_1(encoded: EncodedContent) -> EncodedContent:
    """Add the covariance and the category shares of random Fourier features.

    Version 1 did not store them: columns are taken to be independent, and categories equally frequent.
    """
    arrays: dict[str, Array] = {}
    for path, inputs in _fourier_inputs(encoded.parts, "model"):
        n_ranks = len(encoded.arrays[inputs["ranks"]["columns"]["tensor"]])
        require(n_ranks <= _MAX_RANKS, "random Fourier features have too many columns")
        sizes = [int(encoded.arrays[codes["tensor"]].max(initial=0)) + 1 for codes in inputs["levels"]["maps"]]
        new = {
            "covariance": 1.01 * np.eye(n_ranks),
            "share": np.concatenate([np.full(n, 1 / n) for n in [1, *sizes]])[1:],
        }
        for name, array in new.items():
            arrays[f"{path}.{name}"] = array
            inputs[name] = {"$": "array", "tensor": f"{path}.{name}"}
    return encoded._replace(arrays={**encoded.arrays, **arrays}) if arrays else encoded


# Fields that were renamed in version 3, by the names that their classes have in files.
_RENAMED_IN_3: Mapping[str, Mapping[str, str]] = {
    "blend": {"plan": "bound_spec", "lasting": "frozen"},
    "table family": {"wanted": "column_specs"},
    "text family": {"looks": "feature_sets"},
    "text statistics": {"looks": "feature_sets"},
    "token look": {"recipe": "tokenizer"},
    "band name": {"look": "feature_set", "band": "bin"},
    "refinement": {"looks": "feature_sets"},
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


def _from_2(encoded: EncodedContent) -> EncodedContent:
    """Rename fields."""
    return encoded._replace(parts=_rename_fields(encoded.parts, _RENAMED_IN_3))


def _rename_fields(tree: Any, renamed: Mapping[str, Mapping[str, str]]) -> Any:
    """Return the tree with fields renamed. Arrays keep the names that they have in the file."""
    if isinstance(tree, list):
        return [_rename_fields(part, renamed) for part in tree]
    if not isinstance(tree, dict):
        return tree
    names = renamed.get(str(tree.get("$")), {})
    return {names.get(name, name): _rename_fields(part, renamed) for name, part in tree.items()}


def _fourier_inputs(tree: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(tree, dict) and tree.get("$") == "inputs":
        yield path, tree
    elif isinstance(tree, dict | list):
        for name, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _fourier_inputs(part, f"{path}.{name}")


Upgrades = Mapping[int, Callable[[EncodedContent], EncodedContent]]
# From a version to the next.
_UPGRADES: Upgrades = {1: _from_1, 2: _from_2}


def upgrade(encoded: EncodedContent, version: str, upgrades: Upgrades = _UPGRADES) -> EncodedContent:
    """Return the content of a file of some format version in the current version."""
    require(version.isdecimal() and version.isascii() and len(version) <= 9, f"its format version is {version!r:.20}")
    if int(version) > CURRENT_VERSION:
        raise InvalidContent(
            f"its format version is {version}, and this version of candide reads up to {CURRENT_VERSION}",
            "install a newer candide",
        )
    for step in range(int(version), CURRENT_VERSION):
        require(step in upgrades, f"its format version is {version}, which no version of candide writes")
        encoded = upgrades[step](encoded)
    return encoded
