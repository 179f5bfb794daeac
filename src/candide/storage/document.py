"""A model as files hold it: trees of plain values, and arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

from ..kernels.layouts import Array
from .ahead import Ahead
from .checks import check_content
from .content import Content, Provenance
from .decoder import Decoder
from .encoder import Encoder, Tree
from .hints import fits, hints_of
from .sound import MOST_WEIGHT, refusing, require

_MODERATE = (
    f"readers would refuse it; fit again with weights up to {MOST_WEIGHT:g} and values of moderate size, or keep the "
    "model by pickle"
)


class Document(NamedTuple):
    """What both forms of a model file, bytes and text, are made of."""

    kind: str
    provenance: dict[str, Any]
    settings: Tree
    parts: Tree
    arrays: Mapping[str, Array]

    @classmethod
    def of(cls, content: Content) -> Document:
        """The form in which a model is stored; what could not be read again is refused."""
        encoder = Encoder()
        settings = encoder.tree(content.settings, "settings")
        parts = encoder.tree(content.parts, "model")
        document = cls(content.kind, content.provenance._asdict(), settings, parts, encoder.arrays)
        with refusing("the model cannot be stored", _MODERATE):
            document.content()
        return document

    def content(self, made: Mapping[str, Any] | None = None, ahead: Ahead | None = None) -> Content:
        """The model again; nothing in it is believed.

        ``made``: parts that are not in ``arrays``, by their place; ``ahead``: vocabularies that are being made.
        """
        decoder = Decoder(self.arrays, made, ahead=ahead)
        settings, parts = decoder.value(self.settings, "settings"), decoder.value(self.parts, "model")
        for name, found in (("settings", settings), ("model", parts)):
            require(fits(found, dict[str, Any]), f"the {name} have no names")
        decoder.require_all_used()
        content = Content(self.kind, settings, parts, _provenance(self.provenance))
        check_content(content)
        return content


def _provenance(found: Any) -> Provenance:
    hints = hints_of(Provenance)
    named = isinstance(found, dict) and found.keys() == hints.keys()
    require(named and all(fits(found[name], hint) for name, hint in hints.items()), "it does not say where it is from")
    require(
        isfinite(found["rows"]) and found["rows"] >= 0, "the weight of its training rows is no finite number from 0"
    )
    return Provenance(**found)


def as_json(tree: Tree) -> str:
    """A tree in one line."""
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
