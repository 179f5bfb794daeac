"""Write models to files, and read them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ..kernels.layouts import Array
from .background_reader import BackgroundReader
from .container import (
    CURRENT_VERSION,
    FORMAT,
    TREES,
    Tensors,
    array_from,
    arrays_in,
    file_chunks,
    parse_file,
    parse_trees,
)
from .content import Content, EncodedContent, decoding_errors, upgrade
from .decoder import Decoder
from .validation.model import check_deferred_sample

# The path of the training rows in the tree of a model.
_SAMPLE = "model.state.sample"


def write_model(path: str | os.PathLike[str], content: Content) -> None:
    """Write a model to a file. An existing file is replaced as a whole, or stays as it is if an error occurs."""
    from .atomic_write import write_atomically

    encoded = EncodedContent.of(content)
    trees = {
        name: json.dumps(getattr(encoded, name), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        for name in TREES
    }
    metadata = {"format": FORMAT, "version": str(CURRENT_VERSION), "kind": encoded.kind, **trees}
    write_atomically(path, file_chunks(Tensors(metadata, encoded.arrays)))


def read_model(path: str | os.PathLike[str], *, mmap: bool = False) -> Content:
    """Read a model from a file.

    No code in the file is executed, and everything is validated: an invalid file raises ``ModelFileError``. The file is
    read into memory; large training rows are read from the open file when they are first needed, and validated then.
    With ``mmap=True``, arrays are views of the file.
    """
    if not mmap:
        return content_of(BackgroundReader(path))
    with decoding_errors(f"{path} cannot be used"):
        tensors = parse_file(_mapped(path))
        return _encoded(tensors.metadata, parse_trees(tensors.metadata), tensors.arrays).decode()


def content_of(reader: BackgroundReader) -> Content:
    """Return the validated content of a file that is being read."""
    with decoding_errors(f"{reader.path} cannot be used"):
        data, header = reader.content(), reader.header
        try:
            arrays = arrays_in(header, data, [name for name in header.places if name not in reader.deferred])
            content = _decoded(reader, _encoded(header.metadata, reader.trees, arrays))
        except Exception:
            reader.verify()
            raise
        reader.verify()
        return content


def _encoded(metadata: Mapping[str, str], trees: dict[str, Any], arrays: Mapping[str, Array]) -> EncodedContent:
    return upgrade(EncodedContent(metadata["kind"], **trees, arrays=arrays), metadata["version"])


def _decoded(reader: BackgroundReader, encoded: EncodedContent) -> Content:
    """Return the content; deferred training rows are decoded when they are needed."""
    file, deferred = reader.file, reader.deferred
    if not deferred:
        return encoded.decode(vocabulary=reader.vocabulary)
    from ..statistics.sample import DeferredSample

    def read() -> dict[str, Any]:
        with decoding_errors(f"the training rows of {reader.path} cannot be used"):
            arrays = {name: array_from(file.header, name, data) for name, data in file.read_deferred(deferred).items()}
            decoder = Decoder({**encoded.arrays, **arrays}, required=arrays)
            sample = decoder.value(encoded.parts["state"]["sample"], _SAMPLE)
            decoder.require_all_used()
            check_deferred_sample(content, sample)
            return dict(vars(sample))

    content = encoded.decode({_SAMPLE: DeferredSample.deferred(read)}, reader.vocabulary)
    return content


def _mapped(path: str | os.PathLike[str]) -> memoryview:
    from mmap import ACCESS_READ, mmap

    with open(path, "rb") as file:
        # An empty file cannot be mapped.
        if not os.fstat(file.fileno()).st_size:
            return memoryview(b"")
        return memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
