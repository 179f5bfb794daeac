"""Saving models to files, and loading them."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, BinaryIO

from ..data.column_selection import Roles
from ..exceptions import InputError, ModelFileError, ParameterError
from ..families.base import is_table
from ..kernels.layouts import Array
from ..model.classifier import Classifier
from ..model.model import Model
from ..remote import is_remote, local_path, read_bytes
from ..specs import Spec, spec_class
from ..specs.schema import Schema
from ..statistics.counts import CategoryCounts
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
from .content import Content, EncodedContent, Provenance, decoding_errors, upgrade
from .decoder import Decoder
from .validation.model import check_deferred_sample

# Arguments of a classifier, by their names in files.
_LEARNED = {"plan": "bound_spec", "state": "state", "blend": "fitted", "report": "report",
            "token_names": "token_names", "importance": "importance"}  # fmt: skip
# Errors that a parameter of an unexpected type may raise.
_OF_UNEXPECTED_TYPES = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
# Number of kept rows for models saved with keep_sample=True, if their estimator keeps none by default.
_KEPT_ROWS = 100_000
# Parameters of 0.1.0 under the names that they have now.
_RENAMED = {
    "unlabelled": "unlabeled",
    "evaluate": "compute_loo",
    "blend": "stacking",
    "model": "family",
    "looks": "feature_sets",
}


def save_model(model: Model, path: str | os.PathLike[str] | BinaryIO, *, rows: bool = False) -> None:
    """Write a model to a file; ``rows`` includes the training rows that it keeps.

    The file is written under another name and renamed, so there is always either the old file or the new one. At an
    address elsewhere, the whole object is replaced. A file object is written to from its position on.
    ``Model.for_file`` comes before.
    """
    if rows:
        made = model.classifier.resolved(compute_loo=model.spec.compute_loo is not False)
        write_model(path, content_of(replace(model, classifier=made)))
    else:
        write_model(path, content_of(without_rows(model)))


def save_checkpoint(model: Model, path: str | os.PathLike[str], note: dict[str, Any]) -> None:
    """Write a model during training, with a note, without fitting anything."""
    write_model(path, content_of(model, note))


def load_model(path: str | os.PathLike[str] | BinaryIO, *, mmap: bool = False) -> Model:
    """Read a model from a file, an address or a file object; ``mmap`` maps the file into memory."""
    return model_of(read_model(path, mmap=mmap), _shown(path))


def load_bytes(data: bytes, name: str) -> Model:
    """Return the model in the bytes of a file; ``name`` is used in errors."""
    return model_of(_parsed(memoryview(data), name), name)


def load_from(reader: BackgroundReader) -> Model:
    """Return the model in a file that is being read."""
    return model_of(read_content(reader), reader.path)


def note_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the note of a checkpoint."""
    note: dict[str, Any] = read_model(path).parts.get("note") or {}
    return note


def dump_lines(model: Model, *, rows: bool) -> Iterator[str]:
    """Return the model as lines of JSON, each with its end."""
    from .json_form import to_json_lines

    return iter(to_json_lines(content_of(model if rows else without_rows(model))))


def load_lines(lines: Iterable[str], name: str) -> Model:
    """Return the model that was dumped as these lines; ``name`` is used in errors."""
    from .json_form import from_json_lines

    return model_of(from_json_lines(lines, name), name)


def without_rows(model: Model) -> Model:
    """Return the model without training rows; the importance of columns is computed before."""
    classifier = model.classifier
    if classifier.state.sample is None:
        return model
    if is_table(classifier.bound_spec.family):
        from ..explain.importance import importance

        importance(classifier, model.column_names(), model.kernels)
    return replace(model, classifier=classifier.without_sample(compute_loo=model.spec.compute_loo is not False))


def content_of(model: Model, note: dict[str, Any] | None = None) -> Content:
    """Return the content of a model file."""
    _check_values(model)
    spec, schema = model.spec, model.schema
    settings = spec.given
    if isinstance(settings.get("vocabulary"), os.PathLike):
        # The vocabulary is stored, because its file may not exist when the model is loaded.
        settings["vocabulary"] = model.column_names().tolist()
    learned, sample, copies = model.classifier.parts(), model.state.sample, None
    if sample is not None and note is None and is_table(model.classifier.bound_spec.family):
        # Families of columns are chosen again when a model is loaded, without reading its training rows.
        copies = sample.copies_per_row()
    parts = {
        **{stored: learned[name] for stored, name in _LEARNED.items()},
        "n_features": schema.n_features,
        "feature_names": schema.feature_names,
        "schema": schema.parts(),
        "unlabelled": model.unlabeled,
        "given": model.has_given_parameters,
        "roles": None if schema.roles is None else _roles(schema.roles),
        "note": note,
        "copies": copies,
        **({"missing": schema.missing} if schema.missing else {}),
    }
    columns = parts["feature_names"] or (parts["n_features"], parts["roles"])
    if model.provenance is not None:
        provenance = Provenance(**model.provenance)
    else:
        provenance = Provenance.now(model.state.rows.sum(), columns)
    return Content(spec.name, settings, parts, provenance)


def _roles(roles: Roles) -> dict[str, Any]:
    """Return roles as they are stored. Earlier versions can read those without groups."""
    return {name: value for name, value in roles._asdict().items() if name != "groups" or value is not None}


def _check_values(model: Model) -> None:
    """Raise an error that names the values that a file cannot hold."""
    from .encoder import check_values

    check_values(model.classes.tolist(), "the labels")
    if model.spec.reads_texts:
        return
    names, statistics = model.column_names().tolist(), model.state.statistics
    check_values(getattr(model.schema, "given", None) or (), "the column names")
    if is_table(model.classifier.bound_spec.family):
        names = [name for name, kind in zip(names, statistics.kinds, strict=True) if kind == "category"]
        statistics = statistics.categories
    if isinstance(statistics, CategoryCounts):
        for name, labels in zip(names, statistics.labels, strict=True):
            if labels.dtype.kind == "O":
                check_values(labels.tolist(), f"the categories of column {name!r}")


def model_of(content: Content, path: Any) -> Model:
    """Return the model in a file."""
    kind = spec_class(content.kind)
    settings = _renamed(content.settings, kind)
    unknown = settings.keys() - {field.name for field in fields(kind)}
    if unknown:
        raise ModelFileError(
            f"{path} has a parameter {min(unknown)!r}, which {content.kind} does not have; it was modified, or "
            "written by another version of candide"
        )
    spec, parts = kind(**settings), content.parts
    learned: dict[str, Any] = {name: parts.get(stored) for stored, name in _LEARNED.items()}
    model = Model(
        spec,
        _schema(parts, path),
        Classifier(**learned),
        unlabeled=parts["unlabelled"],
        has_given_parameters=bool(parts["given"]),
        provenance=content.provenance._asdict(),
    )
    _check_parameters(model, path)
    return model


def _schema(parts: Mapping[str, Any], path: Any) -> Schema:
    roles = None if parts["roles"] is None else Roles(**parts["roles"])
    missing = parts.get("missing") or ()
    if parts["schema"] is None:
        return Schema(parts["n_features"], parts["feature_names"], roles, missing)
    from ..specs.table_schema import TableSchema

    with decoding_errors(f"{path} cannot be loaded"):
        return replace(TableSchema.of_parts(parts["schema"]), roles=roles, missing=missing)


def _check_parameters(model: Model, path: Any) -> None:
    """Raise an error if a method would fail later because of a parameter."""
    spec = model.spec
    try:
        bound = spec.bind(spec.resolved(model.schema, model.classifier), model.classifier)
        bound.prior.check(model.classifier.classes, model.classifier.state.rows)
        spec.check_other_parameters()
    except (ParameterError, InputError, *_OF_UNEXPECTED_TYPES) as error:
        raise ModelFileError(
            f"{path} cannot be loaded: {error}; the file was modified; load the original file"
        ) from None


def _renamed(settings: Mapping[str, Any], kind: type[Spec]) -> dict[str, Any]:
    found = {_RENAMED.get(name, name): value for name, value in settings.items()}
    if found.get("unlabeled") == "ignore":
        found["unlabeled"] = "drop"
    if (kept := found.pop("keep_sample", None)) is not None:
        found["subsample"] = 0 if not kept else "auto" if kind.keeps_rows else _KEPT_ROWS
    return found


# The path of the training rows in the tree of a model.
_SAMPLE = "model.state.sample"


def write_model(path: str | os.PathLike[str] | BinaryIO, content: Content) -> None:
    """Write a model to a file. An existing file is replaced as a whole, or stays as it is if an error occurs."""
    encoded = EncodedContent.of(content)
    trees = {
        name: json.dumps(getattr(encoded, name), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        for name in TREES
    }
    metadata = {"format": FORMAT, "version": str(CURRENT_VERSION), "kind": encoded.kind, **trees}
    chunks = file_chunks(Tensors(metadata, encoded.arrays))
    if isinstance(path, (str, os.PathLike)):
        from .atomic_write import write_atomically

        write_atomically(path, chunks)
    else:
        _write_to(path, chunks)


def _write_to(file: BinaryIO, chunks: Iterable[bytes | memoryview]) -> None:
    """Write chunks to a file object, which may take only a part at once."""
    _check_binary(file, "write", "wb")
    for chunk in chunks:
        rest = memoryview(chunk)
        while rest:
            n_written = file.write(rest)
            rest = rest[len(rest) if n_written is None else n_written :]


def _check_binary(file: Any, method: str, mode: str) -> None:
    if hasattr(file, method) and not isinstance(file, io.TextIOBase):
        return
    what = "is opened as text" if hasattr(file, method) else f"is a {type(file).__name__}"
    raise ParameterError(
        f"path {what}; expected a path or a binary file object; pass a path, or open the file with open(…, {mode!r})"
    )


def _shown(path: Any) -> Any:
    """Return the name of a file in messages."""
    return path if isinstance(path, (str, os.PathLike)) else getattr(path, "name", "the file object")


def read_model(path: str | os.PathLike[str] | BinaryIO, *, mmap: bool = False) -> Content:
    """Read a model from a file.

    No code in the file is executed, and everything is validated: an invalid file raises ``ModelFileError``. The file is
    read into memory; large training rows are read from the open file when they are first needed, and validated then.
    With ``mmap=True``, arrays are views of the file.
    """
    if not isinstance(path, (str, os.PathLike)):
        _check_binary(path, "read", "rb")
        return _parsed(memoryview(path.read()), _shown(path))
    if is_remote(os.fspath(path)):
        return _parsed(memoryview(read_bytes(path)), path)
    place: str | os.PathLike[str] = local_path(path)
    return _parsed(_mapped(place), place) if mmap else read_content(BackgroundReader(place))


def _parsed(data: memoryview, name: Any) -> Content:
    """Return the validated content of a file that is in memory."""
    with decoding_errors(f"{name} cannot be loaded"):
        tensors = parse_file(data)
        return _encoded(tensors.metadata, parse_trees(tensors.metadata), tensors.arrays).decode()


def read_content(reader: BackgroundReader) -> Content:
    """Return the validated content of a file that is being read."""
    with decoding_errors(f"{reader.path} cannot be loaded"):
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
        with decoding_errors(f"the training rows of {reader.path} cannot be loaded"):
            arrays = {name: array_from(file.header, name, data) for name, data in file.read_deferred(deferred).items()}
            decoder = Decoder({**encoded.arrays, **arrays}, required=arrays)
            sample = decoder.value(encoded.parts["state"]["sample"], _SAMPLE)
            decoder.require_all_used()
            check_deferred_sample(content, sample)
            return dict(vars(sample))

    sample = DeferredSample.deferred(read)
    content = encoded.decode({_SAMPLE: sample}, reader.vocabulary)
    vars(sample).update(copies=content.parts.get("copies"), grouped=encoded.parts["state"]["sample"].get("grouped"))
    return content


def _mapped(path: str | os.PathLike[str]) -> memoryview:
    from mmap import ACCESS_READ, mmap

    with open(path, "rb") as file:
        # An empty file cannot be mapped.
        if not os.fstat(file.fileno()).st_size:
            return memoryview(b"")
        return memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
