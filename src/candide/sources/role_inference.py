"""Role inference: which column is the label, and which are the features."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data.column_kinds import is_free_text
from ..data.column_selection import Roles, quote_names
from ..data.factorize import Factorized
from ..exceptions import InputError
from ..model.source import RequestedRoles

# Names of label columns, in order of precedence.
_LABEL_NAMES = (
    "label",
    "labels",
    "class",
    "target",
    "category",
    "y",
    "outcome",
    "spam",
    "sentiment",
    "topic",
    "species",
)
_LABEL_PATTERN = re.compile(r"is_\w+|\w+_(label|class|category|target)|(label|class|category|target)_\w+")
_TEXT_NAMES = frozenset(
    ["text", "message", "body", "content", "review", "comment", "tweet", "document", "sms", "email"]
)
# A column with more distinct values than this is not a label.
_MAX_CLASSES = 50
# Up to this many rows, texts are detected by their words alone, because there cannot be many distinct values.
_SMALL_TABLE = 20


def infer_roles(requested: RequestedRoles, rows: pa.Table, is_texts: bool = False, name: str = "the source") -> Roles:
    """Return the roles: those requested, and others inferred from names and first rows; ``is_texts``: of documents.

    ``name`` is what messages call the source.

    >>> rows = pa.table({"age": [31, 40, 52], "job": ["cook", "smith", "cook"], "class": ["a", "b", "a"]})
    >>> infer_roles(RequestedRoles(), rows)
    Roles(label='class', text=None, columns=('age', 'job'), weight=None, groups=None)
    """
    if not rows.num_rows:
        raise InputError(
            f"{name} has the columns {quote_names(rows.column_names)} but no rows; expected at least one labeled row; "
            "pass a source with rows"
        )
    names = [name for name in rows.column_names if name not in (requested.weight, requested.groups)]
    label = requested.label or _infer_label(rows.select(names), requested, is_texts)
    others = requested.weight, requested.groups
    if requested.text is not None:
        return Roles(label, requested.text, (requested.text,), *others)
    if is_texts and requested.columns is None:
        return Roles(label, "text", ("text",), *others)
    columns = requested.columns or tuple(name for name in names if name != label)
    if not columns:
        raise InputError(
            f"{label!r} is the only column; a model needs at least one other column; pass a table with more columns"
        )
    only_text = requested.columns is None and len(columns) == 1 and _is_text(rows, columns[0])
    return Roles(label, columns[0] if only_text else None, columns, *others)


def _infer_label(rows: pa.Table, requested: RequestedRoles, is_texts: bool) -> str:
    free = [name for name in rows.column_names if name != requested.text and name not in (requested.columns or ())]
    found = label_by_name(free) or (None if is_texts else _label_by_content(rows, free))
    if found is None:
        raise InputError(_no_classes_message() if is_texts else _no_label_message(rows))
    return found


def label_by_name(names: list[str]) -> str | None:
    """Return the column that is called like a label; None if there is none, or several alike."""
    folded = {name.strip().casefold().replace(" ", "_"): name for name in names}
    for known in _LABEL_NAMES:
        if known in folded:
            return folded[known]
    alike = [name for key, name in folded.items() if _LABEL_PATTERN.fullmatch(key)]
    return alike[0] if len(alike) == 1 else None


def _label_by_content(rows: pa.Table, free: list[str]) -> str | None:
    if len(rows.column_names) == 2:
        texts = [name for name in rows.column_names if _is_text(rows, name)]
        others = [name for name in free if name not in texts]
        if len(texts) == 1 and others:
            return others[0]
    return free[-1] if free and free[-1] == rows.column_names[-1] and _holds_classes(rows.column(free[-1])) else None


def _holds_classes(column: pa.ChunkedArray) -> bool:
    """Return whether a column has few repeated values that are not measurements."""
    n_values = pc.count_distinct(column).as_py()
    is_named = not pa.types.is_floating(column.type) and not pa.types.is_temporal(column.type)
    return is_named and 2 <= n_values <= min(_MAX_CLASSES, max(2, len(column) // 2))


def _is_text(rows: pa.Table, name: str) -> bool:
    column = rows.column(name)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return False
    if name.strip().casefold() in _TEXT_NAMES:
        return True
    encoded = column.combine_chunks().dictionary_encode()
    labels = encoded.dictionary.to_pylist()
    cells = Factorized(np.asarray(encoded.indices.fill_null(-1)), labels)
    return is_free_text(cells, 0) if len(rows) <= _SMALL_TABLE else is_free_text(cells)


def _describe_column(rows: pa.Table, name: str) -> str:
    column = rows.column(name)
    if _is_text(rows, name):
        return "texts"
    if pa.types.is_temporal(column.type):
        return "dates"
    n_values = pc.count_distinct(column).as_py()
    what = "numbers" if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) else "names"
    return f"{what}, {n_values} distinct" if n_values < len(rows) else what


def _no_label_message(rows: pa.Table) -> str:
    kinds = "; ".join(f"{name!r} ({_describe_column(rows, name)})" for name in rows.column_names)
    return f"the label column cannot be detected; the columns are {kinds}; choose the label column with label='…'"


def _no_classes_message() -> str:
    return (
        "the texts have no labels; pass a folder with one subfolder per class, or one folder or mailbox per class: "
        "read('ham.mbox', 'spam.mbox')"
    )
