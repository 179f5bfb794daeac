"""Which columns of a source a model reads, and the rows of a source in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

from ..data.arrow_batches import Groups, cells, labelled_cells, needed
from ..data.column_selection import Roles
from ..exceptions import InputError
from ..model.labels import LabelFilter
from ..model.model import Model
from ..model.source_columns import no_column
from ..specs import Spec

if TYPE_CHECKING:
    from ..sources import Source


def is_source(X: Any) -> TypeGuard[Source]:
    """Return whether ``X`` comes from ``candide.read``, without importing what that needs."""
    return hasattr(type(X), "batches") and hasattr(type(X), "roles")


def check_alone(*others: Any) -> None:
    """Raise an error if labels, weights or groups are given beside a source."""
    if any(one is not None for one in others):
        raise InputError(
            "labels, weights or groups are given beside a source of candide.read, which has its own; leave them out, "
            "and name the columns in read(…, label=…, weight=…)"
        )


def roles_to_learn(spec: Spec, source: Source) -> Roles:
    """Return the columns of a source that a model is trained on."""
    roles = source.roles
    if not spec.reads_texts:
        return roles._replace(text=None)
    if roles.text is None:
        raise InputError(
            f"{spec.name} learns from one column of texts, and the source has {', '.join(roles.columns)}; "
            "name the column of texts with read(…, text=…), or use NaiveBayes"
        )
    return roles


def roles_for(
    model: Model, source: Source, text: str | None = None, *, label: str | None = None, weight: str | None = None,
    labelled: bool = False,
) -> Roles:  # fmt: skip
    """Return the columns of another source that a model reads; ``labelled``: those of labels and weights too."""
    names, trained = source.names, model.schema.roles
    label = label or (trained.label if trained else None)
    weight = weight or (trained.weight if trained else None) if labelled else None
    if weight is not None and weight not in names:
        raise no_column(weight, "weight", trained.weight if trained else None, names)
    if labelled and label is None:
        label = source.roles.label
    if labelled and label not in names:
        raise no_column(label, "label", trained.label if trained else None, names)
    return model.roles_in(names, text, label or "")._replace(weight=weight)


def chunks_of(spec: Spec, source: Source, roles: Roles, labeled: LabelFilter) -> Iterator[tuple[Any, Any, Any]]:
    """Return the rows of a source that have a label, chunk by chunk; the others are counted."""
    for batch in Groups(spec.group_bytes).of(source.batches(columns=needed(roles))):
        rows = labelled_cells(batch, roles)
        if rows.n_rows < batch.num_rows:
            labeled.add(batch.num_rows - rows.n_rows)
        if rows.n_rows:
            yield rows.X, rows.y, rows.weight
        del batch, rows


def cells_of(model: Model, source: Source) -> Iterator[Any]:
    """Return the columns of a source that a model predicts from, batch by batch."""
    roles = roles_for(model, source)
    n_rows = 0
    for batch in source.batches(columns=list(roles.columns)):
        n_rows += batch.num_rows
        yield cells(batch, roles)
    if not n_rows:
        raise InputError(f"the source has the columns {', '.join(source.names)} and no rows; pass a source with rows")
