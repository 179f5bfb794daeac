"""Which columns of a source a learner learns from, and its rows in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

from ..data.column_selection import Roles, check_columns, similar_name
from ..engines.batches import Groups, cells, labelled_cells, needed
from ..exceptions import InputError

if TYPE_CHECKING:
    from ..sources import Source
    from .chunks import Chunks


def is_source(X: Any) -> TypeGuard[Source]:
    """Whether it is what ``candide.read`` gives; asked without importing what that needs."""
    return hasattr(X, "batches") and hasattr(X, "roles")


def check_alone(*beside: Any) -> None:
    """Nothing may be given beside a source."""
    if any(one is not None for one in beside):
        raise InputError(
            "labels, weights or groups are given beside what candide.read gives, which knows its own; leave them out, "
            "and name the columns in read(…, label=…, weight=…)"
        )


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


def chunks_of(
    learner: Chunks, source: Source, roles: Roles, *, learning: bool = True
) -> Iterator[tuple[Any, Any, Any]]:
    """Rows that have a label, chunk by chunk, as ``fit`` takes them; the learner is told of the others."""
    for batch in Groups(learner.group_bytes).of(source.batches(columns=needed(roles))):
        rows = labelled_cells(batch, roles)
        if rows.n_rows < batch.num_rows:
            learner.note_unlabeled(batch.num_rows - rows.n_rows, learning=learning)
        if rows.n_rows:
            yield rows.X, rows.y, rows.weight
        del batch, rows


def cells_of(learner: Chunks, source: Source) -> Iterator[Any]:
    """What a fitted model looks at, batch by batch; of a source without rows, a batch without rows."""
    roles = roles_for(learner, source)
    n_rows = 0
    for batch in source.batches(columns=list(roles.columns)):
        n_rows += batch.num_rows
        yield cells(batch, roles)
    if not n_rows:
        raise InputError(f"the source has the columns {', '.join(source.names)} and no rows; pass a source with rows")


def roles_for(
    learner: Chunks, source: Source, text: str | None = None, *, label: str | None = None, weight: str | None = None,
    labelled: bool = False,
) -> Roles:  # fmt: skip
    """Which columns of another source are those that a model was trained on."""
    names, trained = source.names, learner.roles_
    label = label or (trained.label if trained else None)
    weight = weight or (trained.weight if trained else None) if labelled else None
    if weight is not None and weight not in names:
        raise _no_column(weight, "weight", trained.weight if trained else None, names)
    if labelled and label is None:
        label = source.roles.label
    if labelled and label not in names:
        raise _no_column(label, "label", trained.label if trained else None, names)
    return roles_among(learner, names, text, label or "")._replace(weight=weight)


def roles_among(learner: Chunks, names: list[str], text: str | None = None, label: str | None = None) -> Roles:
    """Which of the columns of these names a model looks at; of another label than in training, if it is given."""
    trained = learner.roles_
    if label is None:
        label = trained.label if trained else ""
    if learner.reads_texts:
        known = trained.text if trained else None
        column = _text_column(text or known, known, names, label)
        return Roles(label, column, (column,))
    others = {label, *((trained.label, trained.weight) if trained else ())}
    return Roles(label, None, _table_columns(learner, names, others))


def _text_column(wanted: str | None, trained: str | None, names: list[str], label: str | None) -> str:
    if wanted in names:
        return str(wanted)
    others = [name for name in names if name != label]
    if wanted is None and len(others) == 1:
        return others[0]
    raise _no_column(wanted, "text", trained, names)


def _no_column(name: str | None, role: str, trained: str | None, names: list[str]) -> InputError:
    """The error for a column that a source should have: the one of training, or another that the user named."""
    why = ", which the model was trained with" if name == trained else ""
    advice = f"name the column of {role}s with {role}= (--{role} in a terminal)"
    meant = None if name is None else similar_name(name, names)
    hint = "" if meant is None else f"did you mean {meant!r}? "
    return InputError(f"the source has no column {name!r} of {role}s{why}; it has {', '.join(names)}; {hint}{advice}")


def _table_columns(learner: Chunks, names: list[str], others: set[str | None]) -> tuple[str, ...]:
    """Those that the model knows; ``others`` are labels and weights."""
    known = getattr(learner, "feature_names_in_", None)
    if known is None:
        trained = learner.roles_.columns if learner.roles_ else ()
        return (
            trained if trained and set(trained) <= set(names) else tuple(name for name in names if name not in others)
        )
    found = tuple(name for name in known.tolist() if name in names)
    if not found:
        raise InputError(
            f"the model was trained on the columns {', '.join(known.tolist())}, and the source has none of them, but "
            f"{', '.join(names)}; pass a source with these columns"
        )
    check_columns(known.tolist(), names, getattr(learner, "absent", None), others)
    return found
