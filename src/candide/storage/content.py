"""The content of a model file: as objects (``Content``), and encoded as trees of plain values and arrays.

Files of earlier format versions are upgraded to the current one, step by step (``upgrade``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernels.layouts import Array
from ..lazy import dataclass
from .container import CURRENT_VERSION
from .decoder import Decoder
from .errors import InvalidContent, model_file_errors, require
from .registry import field_types, matches_type
from .validation import MAX_WEIGHT
from .validation.model import check_content

if TYPE_CHECKING:
    from ..kernels import _core
    from .encoder import Tree

_MODERATE = (
    f"it could not be loaded again; fit again with weights up to {MAX_WEIGHT:g} and values of moderate size, or use "
    "pickle"
)


class Provenance(NamedTuple):
    """The origin of a model."""

    rows: float  # weight of the training rows
    date: str  # ISO 8601, UTC
    candide: str  # version
    fingerprint: str  # of the columns: models with equal fingerprints accept the same tables

    @classmethod
    def now(cls, rows: float, columns: Any) -> Provenance:
        """Return the provenance of a model that is stored now.

        Parameters
        ----------
        rows : float
            Weight of the training rows.
        columns : object
            Description of the columns, in any form that can be stored.

        Examples
        --------
        >>> Provenance.now(150, ("age", "job")).fingerprint
        '0142edcdd29c959b'
        """
        # Imported here because models are read far more often than written.
        from importlib.metadata import version

        from .encoder import Encoder

        date = datetime.now(UTC).isoformat(timespec="seconds")
        tree = json.dumps(Encoder().tree(columns, "columns"), sort_keys=True)
        return cls(float(rows), date, version("candide"), hashlib.sha256(tree.encode()).hexdigest()[:16])


@dataclass(frozen=True)
class Content:
    """The parts of a model.

    ``kind`` is the name of its estimator, ``settings`` are the parameters that were passed to it, and ``parts`` holds
    by name what was learned.
    """

    kind: str
    settings: dict[str, Any]
    parts: dict[str, Any]
    provenance: Provenance


class EncodedContent(NamedTuple):
    """Content as both forms of a model file store it: trees of plain values, and arrays."""

    kind: str
    provenance: dict[str, Any]
    settings: Tree
    parts: Tree
    arrays: Mapping[str, Array]

    @classmethod
    def of(cls, content: Content) -> EncodedContent:
        """Encode content; content that could not be decoded again is refused."""
        from .encoder import Encoder

        encoder = Encoder()
        settings = encoder.tree(content.settings, "settings")
        parts = encoder.tree(content.parts, "model")
        encoded = cls(content.kind, content.provenance._asdict(), settings, parts, encoder.arrays)
        with decoding_errors("the model cannot be stored", _MODERATE):
            encoded.decode()
        return encoded

    def decode(
        self,
        replacements: Mapping[str, Any] | None = None,
        vocabulary: Callable[[tuple[str, str]], _core.Vocabulary | None] | None = None,
    ) -> Content:
        """Decode and validate the content.

        Parameters
        ----------
        replacements : mapping, optional
            Values to use in place of parts of the tree, by path.
        vocabulary : callable, optional
            Returns the native part of a vocabulary if it is already built, given the names of its arrays, or None.
        """
        decoder = Decoder(self.arrays, replacements, vocabulary=vocabulary)
        settings, parts = decoder.value(self.settings, "settings"), decoder.value(self.parts, "model")
        for name, found in (("settings", settings), ("model", parts)):
            require(matches_type(found, dict[str, Any]), f"the {name} are not named")
        decoder.require_all_used()
        content = Content(self.kind, settings, parts, _provenance(self.provenance))
        check_content(content)
        return content


@contextmanager
def decoding_errors(prefix: str, remedy: str | None = None) -> Iterator[None]:
    """As ``model_file_errors``, without NumPy's warnings: validation finds numbers that are not finite."""
    with model_file_errors(prefix, remedy), np.errstate(all="ignore"):
        yield


def _provenance(found: Any) -> Provenance:
    types = field_types(Provenance)
    named = isinstance(found, dict) and found.keys() == types.keys()
    require(named and all(matches_type(found[name], hint) for name, hint in types.items()), "its provenance is invalid")
    valid = isfinite(found["rows"]) and found["rows"] >= 0
    require(valid, "the weight of its training rows is not a finite number of at least 0")
    return Provenance(**found)


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


# Versions up to 3 had a budget of bytes for each class.
_CLASSES_IN_BUDGET = 3


def _from_3(encoded: EncodedContent) -> EncodedContent:
    """Add the threshold of all classes, and make budgets those of all classes together."""

    def of_plan(plan: Tree) -> Tree:
        n_bytes = plan.pop("sample_bytes")
        return plan | {"budget": _budget(n_bytes) if n_bytes else None}

    def of_sample(sample: Tree) -> Tree:
        # The sample contains the rows of all classes below the lowest threshold.
        floor = sample.pop("threshold")
        overall = {"$": "scalar", "dtype": "uint64", "value": int(encoded.arrays[floor["tensor"]].min())}
        thresholds = {"$": "thresholds", "floor": floor, "overall": overall}
        return sample | {"thresholds": thresholds, "budget": _budget(sample["budget"])}

    return encoded._replace(parts=_changed(encoded.parts, {"plan": of_plan, "sample": of_sample}))


def _budget(n_bytes: int) -> Tree:
    return {"$": "budget", "size": _CLASSES_IN_BUDGET * n_bytes, "unit": "bytes"}


def _changed(tree: Any, changes: Mapping[str, Callable[[Tree], Tree]]) -> Any:
    """Return the tree with objects changed, by the names that their classes have in files."""
    if isinstance(tree, list):
        return [_changed(part, changes) for part in tree]
    if not isinstance(tree, dict):
        return tree
    found = {name: _changed(part, changes) for name, part in tree.items()}
    change = changes.get(str(tree.get("$")))
    return found if change is None else change(found)


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
_UPGRADES: Upgrades = {1: _from_1, 2: _from_2, 3: _from_3}


def upgrade(encoded: EncodedContent, version: str, upgrades: Upgrades = _UPGRADES) -> EncodedContent:
    """Return the content of a file of some format version in the current version."""
    require(
        version.isdecimal() and version.isascii() and len(version) <= 9,
        f"its format version is invalid: {version!r:.20}",
    )
    if int(version) > CURRENT_VERSION:
        raise InvalidContent(
            f"its format version is {version}, but this version of candide reads only up to {CURRENT_VERSION}",
            "install a newer candide",
        )
    for step in range(int(version), CURRENT_VERSION):
        require(step in upgrades, f"its format version is {version}, which no version of candide writes")
        encoded = upgrades[step](encoded)
    return encoded
