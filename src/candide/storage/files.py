"""Models in files, and files as models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ..kernels.layouts import Array
from ..statistics import Sample
from .ahead import Ahead
from .aside import write_aside
from .checks import check_stored_rows
from .container import Tensors, array_of, arrays_of, pieces, unpacked
from .content import Content
from .decoder import Decoder
from .document import Document, as_json
from .header import CURRENT, FORMAT, TREES, trees_of
from .reading import Opened
from .sound import refusing
from .stored_rows import ROWS, StoredSample
from .versions import upgraded


def write_model(path: str | os.PathLike[str], content: Content) -> None:
    """Stores a model; what was there before is replaced at once, or stays if anything goes wrong."""
    document = Document.of(content)
    texts = {name: as_json(getattr(document, name)) for name in TREES}
    metadata = {"format": FORMAT, "version": str(CURRENT), "kind": document.kind, **texts}
    write_aside(path, pieces(Tensors(metadata, document.arrays)))


def read_model(path: str | os.PathLike[str], *, mmap: bool = False) -> Content:
    """A model that was stored.

    Nothing in the file is run, and everything is checked: what is no sound model is refused with a
    ``ModelFileError``. It is read into memory; many training rows are read when they are first needed, from the file
    that was opened, and are checked then. ``mmap=True``: arrays are views of the file.
    """
    if not mmap:
        return content_of(Opened(path))
    with refusing(f"{path} cannot be used"):
        tensors = unpacked(_mapped(path))
        return _document(tensors.metadata, trees_of(tensors.metadata), tensors.arrays).content()


def content_of(opened: Opened, ahead: Ahead | None = None) -> Content:
    """The model in a file that was opened, with the same checks; some of its vocabularies may be being made."""
    with refusing(f"{opened.path} cannot be used"):
        data, header = opened.content(), opened.header
        try:
            arrays = arrays_of(header, data, [name for name in header.places if name not in opened.later])
            content = _content(opened, _document(header.metadata, opened.trees, arrays), ahead)
        except Exception:
            opened.check()
            raise
        opened.check()
        return content


def _document(metadata: Mapping[str, str], trees: dict[str, Any], arrays: Mapping[str, Array]) -> Document:
    return upgraded(Document(metadata["kind"], **trees, arrays=arrays), metadata["version"])


def _content(opened: Opened, document: Document, ahead: Ahead | None) -> Content:
    """The model; with arrays that are to be read later, its training rows are made of them when they are needed."""
    file, later = opened.file, opened.later
    if not later:
        return document.content(ahead=ahead)

    def read() -> Sample:
        with refusing(f"the training rows of {opened.path} cannot be used"):
            found = {name: array_of(file.header, name, data) for name, data in file.rest(later).items()}
            decoder = Decoder({**document.arrays, **found}, needed=found)
            sample = decoder.value(document.parts["state"]["sample"], ROWS)
            decoder.require_all_used()
            check_stored_rows(content, sample)
            return cast("Sample", sample)

    content = document.content({ROWS: StoredSample.later(read)}, ahead)
    return content


def _mapped(path: str | os.PathLike[str]) -> memoryview:
    from mmap import ACCESS_READ, mmap

    with Path(path).open("rb") as file:
        # What is empty cannot be mapped.
        if not os.fstat(file.fileno()).st_size:
            return memoryview(b"")
        return memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
