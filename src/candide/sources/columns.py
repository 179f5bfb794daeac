"""The columns of several parts as those of one table."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pyarrow as pa

from ..exceptions import SourceError
from .part import Part


def plain(schema: pa.Schema) -> pa.Schema:
    """Types as learners read them: strings lie in one piece, and a category is what it is called."""
    return pa.schema([(field.name, _plain(field.type)) for field in schema])


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_decimal(kind):
        return pa.float64()
    # Null columns may hold something later; a view of strings is no buffer that the core reads.
    return pa.string() if pa.types.is_null(kind) or str(kind) == "string_view" else kind


def joined(parts: Sequence[Part]) -> pa.Schema:
    """One schema for all parts: the names of the first, in its order, with types that hold all of them."""
    schema = plain(parts[0].schema)
    for part in parts[1:]:
        check_names(part, schema, parts[0].name)
        theirs = plain(part.schema)
        schema = pa.schema([(field.name, _wider(field.type, theirs.field(field.name).type)) for field in schema])
    return schema


def check_names(part: Part, schema: pa.Schema, first: str) -> None:
    """All parts have the same columns, in any order."""
    lacking, new = set(schema.names) - set(part.schema.names), set(part.schema.names) - set(schema.names)
    if not lacking and not new:
        return
    differences = [f"lacks {', '.join(map(repr, sorted(lacking)))}"] if lacking else []
    differences += [f"has {', '.join(map(repr, sorted(new)))} besides"] if new else []
    raise SourceError(
        f"{part.name} {' and '.join(differences)}, compared with {first}; files that are read together have the same "
        "columns; give them the same header, or read them one by one"
    )


def _wider(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if one.equals(other):
        return one
    if _is_number(one) and _is_number(other):
        return pa.float64() if pa.types.is_floating(one) or pa.types.is_floating(other) else pa.int64()
    return pa.large_string() if pa.large_string() in (one, other) else pa.string()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def conformed(batch: pa.RecordBatch, schema: pa.Schema, name: str) -> pa.RecordBatch:
    """The columns of a schema, in its order and types."""
    if batch.schema.equals(schema):
        return batch
    return pa.RecordBatch.from_arrays([_cast(batch.column(f.name), f, name) for f in schema], schema=schema)


def _cast(column: pa.Array, field: pa.Field, name: str) -> pa.Array:
    if column.type.equals(field.type):
        return column
    try:
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        said = str(error).partition("\n")[0]
        raise SourceError(
            f"{name}: column {field.name!r} is of type {column.type}, which cannot be read as {field.type} ({said}); "
            "write it with the same type in all files"
        ) from None


def fingerprint(schema: pa.Schema) -> str:
    """A short name for names and types."""
    lines = "".join(f"{field.name}\0{field.type}\n" for field in schema)
    return hashlib.sha256(lines.encode("utf-8", errors="replace")).hexdigest()[:16]
