"""The content of a model file: as objects (``Content``), and encoded as trees of plain values and arrays."""

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
from ..lazy_dataclass import dataclass
from .decoder import Decoder
from .errors import model_file_errors, require
from .registry import field_types, matches_type
from .validation.model import check_content
from .validation.predicates import MAX_WEIGHT

if TYPE_CHECKING:
    from ..kernels import _core
    from .encoder import Tree

_MODERATE = (
    f"readers would refuse it; fit again with weights up to {MAX_WEIGHT:g} and values of moderate size, or keep the "
    "model by pickle"
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
