"""Models in files, and files as models."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ..kernels.data import Array
from ..statistics import Sample
from .aside import write_aside
from .checks import check_stored_rows
from .container import Header, Tensors, pieces, unpacked
from .content import Content
from .decoder import Decoder
from .document import Document, as_json
from .reading import Checksum, ModelFile
from .sound import refusing, require
from .stored_rows import ROWS, StoredSample, rows_apart
from .versions import CURRENT, upgraded

_FORMAT = "candide"
_TREES = ("provenance", "settings", "parts")


def write_model(path: str | os.PathLike[str], content: Content) -> None:
    """Stores a model; what was there before is replaced at once, or stays if anything goes wrong."""
    document = Document.of(content)
    texts = {name: as_json(getattr(document, name)) for name in _TREES}
    metadata = {"format": _FORMAT, "version": str(CURRENT), "kind": document.kind, **texts}
    write_aside(path, pieces(Tensors(metadata, document.arrays)))


def read_model(path: str | os.PathLike[str], *, mmap: bool = False) -> Content:
    """A model that was stored.

    Nothing in the file is run, and everything is checked: what is no sound model is refused with a
    ``ModelFileError``. It is read into memory; many training rows are read when they are first needed, from the file
    that was opened, and are checked then. ``mmap=True``: arrays are views of the file.
    """
    with refusing(f"{path} cannot be used"):
        if mmap:
            tensors = unpacked(_mapped(path))
            return _document(tensors.metadata, _trees(tensors.metadata), tensors.arrays).content()
        file = ModelFile(path)
        try:
            trees = _trees(file.header.metadata)
            later = rows_apart(trees["parts"], file.header) if file.seekable and _is_current(file.header) else ()
        except Exception:
            file.arrays()
            Checksum(file).check()  # which says more of a file that is damaged
            raise
        arrays = file.arrays(later)
        checksum = Checksum(file, later)
        try:
            content = _content(path, _document(file.header.metadata, trees, arrays), file, later)
        except Exception:
            checksum.check()
            raise
        checksum.check()
        return content


def _trees(metadata: Mapping[str, str]) -> dict[str, Any]:
    require(metadata.get("format") == _FORMAT, "it holds arrays, and no model of candide")
    require({"version", "kind", *_TREES} <= metadata.keys(), "it does not say what model it holds")
    return {name: json.loads(metadata[name]) for name in _TREES}


def _document(metadata: Mapping[str, str], trees: dict[str, Any], arrays: Mapping[str, Array]) -> Document:
    return upgraded(Document(metadata["kind"], **trees, arrays=arrays), metadata["version"])


def _is_current(header: Header) -> bool:
    return header.metadata["version"] == str(CURRENT)


def _content(path: Any, document: Document, file: ModelFile, later: tuple[str, ...]) -> Content:
    """The model; with arrays that are to be read later, its training rows are made of them when they are needed."""
    if not later:
        file.close()
        return document.content()

    def read() -> Sample:
        with refusing(f"the training rows of {path} cannot be used"):
            found = file.rest(later)
            decoder = Decoder({**document.arrays, **found}, needed=found)
            sample = decoder.value(document.parts["state"]["sample"], ROWS)
            decoder.require_all_used()
            check_stored_rows(content, sample)
            return cast("Sample", sample)

    content = document.content({ROWS: StoredSample.later(read)})
    return content


def _mapped(path: str | os.PathLike[str]) -> memoryview:
    from mmap import ACCESS_READ, mmap

    with Path(path).open("rb") as file:
        # What is empty cannot be mapped.
        if not os.fstat(file.fileno()).st_size:
            return memoryview(b"")
        return memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
