"""Models in files, and files as models."""

from __future__ import annotations

import json
import mmap
import os
from pathlib import Path

from .aside import write_aside
from .container import Tensors, pieces, unpacked
from .content import Content
from .document import Document, as_json
from .sound import refusing, require
from .versions import CURRENT, upgraded

_FORMAT = "candide"
_TREES = ("provenance", "settings", "parts")


def write_model(path: str | os.PathLike[str], content: Content) -> None:
    """Stores a model; what was there before is replaced at once, or stays if anything goes wrong."""
    document = Document.of(content)
    texts = {name: as_json(getattr(document, name)) for name in _TREES}
    metadata = {"format": _FORMAT, "version": str(CURRENT), "kind": document.kind, **texts}
    write_aside(path, pieces(Tensors(metadata, document.arrays)))


def read_model(path: str | os.PathLike[str]) -> Content:
    """A model that was stored; its arrays stay in the file, and are read where they are asked for.

    Nothing in the file is run, and everything is checked: what is no sound model is refused with a
    ``ModelFileError``.
    """
    with refusing(f"{path} cannot be used"):
        tensors = unpacked(_mapped(path))
        metadata = tensors.metadata
        require(metadata.get("format") == _FORMAT, "it holds arrays, and no model of candide")
        require({"version", "kind", *_TREES} <= metadata.keys(), "it does not say what model it holds")
        trees = {name: json.loads(metadata[name]) for name in _TREES}
        document = Document(metadata["kind"], **trees, arrays=tensors.arrays)
        return upgraded(document, metadata["version"]).content()


def _mapped(path: str | os.PathLike[str]) -> memoryview:
    with Path(path).open("rb") as file:
        # What is empty cannot be mapped.
        if not os.fstat(file.fileno()).st_size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
