"""Batches of a source as a learner reads them: the text or the columns, the labels, the weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from ..encoding.roles import Roles
from ..exceptions import InputError, warn

if TYPE_CHECKING:
    from ..sources import Source
    from .chunks import Chunks


# Bytes of a label, of which there is one for each row: 64 characters.
_WIDEST = 256


class LabelledCells(NamedTuple):
    """Rows that have a label, in the form that ``fit`` takes."""

    X: Any
    y: Any
    weight: Any
    n_rows: int


def is_source(X: Any) -> TypeGuard[Source]:
    """Whether it is what ``candide.read`` gives; asked without importing what that needs."""
    return hasattr(X, "batches") and hasattr(X, "roles")


def roles_to_learn(learner: Chunks, source: Source) -> Roles:
    """Which columns a learner learns from."""
    roles = source.roles
    if not learner.reads_texts:
        return roles._replace(text=None)
    if roles.text is None:
        raise InputError(
            f"{type(learner).__name__} learns from one column of texts, and the source has {', '.join(roles.columns)}; "
            "name the column of texts with read(…, text=…), or use NaiveBayes"
        )
    return roles


def chunks_of(source: Source, roles: Roles, group_bytes: int) -> Iterator[tuple[Any, Any, Any]]:
    """Rows that have a label, chunk by chunk, as ``fit`` takes them."""
    left_out = 0
    for batch in Groups(group_bytes).of(source.batches(columns=needed(roles))):
        rows = labelled_cells(batch, roles)
        left_out += batch.num_rows - rows.n_rows
        if rows.n_rows:
            yield rows.X, rows.y, rows.weight
        del batch, rows
    if left_out:
        warn(f"{left_out} rows without a label were left out")


class Groups:
    """Batches of another size: of as many rows, which the size of the first rows tells unless it is given.

    They end at the same rows wherever a pass begins, if it begins where one of them does.
    """

    def __init__(self, n_bytes: int, n_rows: int | None = None) -> None:
        self.n_bytes = n_bytes
        self.n_rows = n_rows

    def of(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The same rows in groups."""
        waiting: list[Any] = []
        for batch in batches:
            if self.n_rows is None:
                self.n_rows = max(1, self.n_bytes * batch.num_rows // max(1, batch.nbytes))
            waiting.append(batch)
            del batch
            while _n_rows(waiting) >= self.n_rows:
                yield self._first(waiting, self.n_rows)
            # Rows may become larger than the first ones were.
            if sum(part.nbytes for part in waiting) >= 2 * self.n_bytes:
                yield self._first(waiting, _n_rows(waiting))
        if _n_rows(waiting):
            yield self._first(waiting, _n_rows(waiting))

    @staticmethod
    def _first(waiting: list[Any], n_rows: int) -> Any:
        """The first rows, which do not wait any longer."""
        import pyarrow as pa

        taken = []
        while n_rows:
            part = waiting.pop(0)
            taken.append(part.slice(0, n_rows))
            if part.num_rows > n_rows:
                waiting.insert(0, part.slice(n_rows))
            n_rows -= taken[-1].num_rows
        return taken[0] if len(taken) == 1 else pa.concat_batches(taken)


def _n_rows(batches: list[Any]) -> int:
    return sum(batch.num_rows for batch in batches)


def needed(roles: Roles) -> list[str]:
    """The columns that are asked for at all."""
    return [name for name in dict.fromkeys([roles.label, roles.weight, *roles.columns]) if name]


def cells(batch: Any, roles: Roles) -> Any:
    """What a learner looks at: a column of texts, or a table."""
    import pyarrow as pa

    if roles.text is not None:
        return batch.column(roles.text)
    return pa.Table.from_batches([batch.select(list(roles.columns))])


def labelled_cells(batch: Any, roles: Roles) -> LabelledCells:
    """The rows of a batch that have a label."""
    labels = batch.column(roles.label)
    if labels.null_count:
        batch = batch.filter(labels.is_valid())
        labels = batch.column(roles.label)
    weight = None if roles.weight is None else batch.column(roles.weight).to_numpy(zero_copy_only=False)
    return LabelledCells(cells(batch, roles), _as_numpy(labels), weight, batch.num_rows)


def _as_numpy(labels: Any) -> Any:
    """Texts that come again and again, each made once; other labels as they are."""
    import pyarrow as pa

    if not (pa.types.is_string(labels.type) or pa.types.is_large_string(labels.type)):
        return labels
    coded = labels.dictionary_encode()
    names = np.array(coded.dictionary.to_pylist(), dtype=str)
    # All cells of such an array are as wide as the widest.
    return labels if names.itemsize > _WIDEST else names[coded.indices.to_numpy(zero_copy_only=False)]


def roles_for(
    learner: Chunks, source: Source, text: str | None = None, *, label: str | None = None, weight: str | None = None,
    labelled: bool = False,
) -> Roles:  # fmt: skip
    """Which columns of another source are those that a model was trained on."""
    names, trained = source.names, learner.roles_
    label = label or (trained.label if trained else None)
    weight = weight or (trained.weight if trained else None) if labelled else None
    if weight is not None and weight not in names:
        raise InputError(
            f"the source has no column {weight!r} of weights, which the model was trained with; it has "
            f"{', '.join(names)}; name the column of weights with weight= (--weight in a terminal)"
        )
    if labelled and label is None:
        label = source.roles.label
    if labelled and label not in names:
        raise InputError(
            f"the source has no column {label!r} of labels, which the model was trained with; it has "
            f"{', '.join(names)}; name the column of labels with label= (--label in a terminal)"
        )
    label = label or ""
    if learner.reads_texts:
        column = _text_column(text or (trained.text if trained else None), names, label)
        return Roles(label, column, (column,), weight)
    return Roles(label, None, _table_columns(learner, names, label), weight)


def _text_column(wanted: str | None, names: list[str], label: str | None) -> str:
    if wanted in names:
        return str(wanted)
    others = [name for name in names if name != label]
    if wanted is None and len(others) == 1:
        return others[0]
    raise InputError(
        f"the source has no column {wanted!r} of texts, which the model was trained on; it has {', '.join(names)}; "
        "name the column of texts with text= (--text in a terminal)"
    )


def _table_columns(learner: Chunks, names: list[str], label: str | None) -> tuple[str, ...]:
    """Those that the model knows; whether some may be absent is the model's to say."""
    known = getattr(learner, "feature_names_in_", None)
    if known is None:
        return tuple(name for name in names if name != label)
    found = tuple(name for name in known.tolist() if name in names)
    if not found:
        raise InputError(
            f"the model was trained on the columns {', '.join(known.tolist())}, and the source has none of them, but "
            f"{', '.join(names)}; pass a source with these columns"
        )
    return found
