"""The columns of a source that a trained model reads."""

from __future__ import annotations

from ..data.column_selection import Roles, check_columns, similar_name
from ..exceptions import InputError
from ..specs import Spec
from ..specs.schema import Schema


def roles_in(spec: Spec, schema: Schema, names: list[str], text: str | None, label: str | None) -> Roles:
    """Return which of the named columns a model reads; ``text`` and ``label``: if not those of training."""
    trained = schema.roles
    if label is None:
        label = trained.label if trained else ""
    if spec.reads_texts:
        known = trained.text if trained else None
        column = _text_column(text or known, known, names, label)
        return Roles(label, column, (column,))
    others = {label, *((trained.label, trained.weight) if trained else ())}
    return Roles(label, None, _table_columns(spec, schema, names, others))


def _table_columns(spec: Spec, schema: Schema, names: list[str], others: set[str | None]) -> tuple[str, ...]:
    """Return the columns of training; ``others`` are labels and weights."""
    known, roles = schema.feature_names, schema.roles
    if known is None:
        trained = roles.columns if roles else ()
        found = trained if trained and set(trained) <= set(names) else ()
        return found or tuple(name for name in names if name not in others)
    found = tuple(name for name in known if name in names)
    if not found:
        raise InputError(
            f"the model was trained on the columns {', '.join(known)}, and the source has none of them, but "
            f"{', '.join(names)}; pass a source with these columns"
        )
    check_columns(list(known), names, getattr(spec, "absent", None), others)
    return found


def _text_column(wanted: str | None, trained: str | None, names: list[str], label: str | None) -> str:
    if wanted in names:
        return str(wanted)
    others = [name for name in names if name != label]
    if wanted is None and len(others) == 1:
        return others[0]
    raise no_column(wanted, "text", trained, names)


def no_column(name: str | None, role: str, trained: str | None, names: list[str]) -> InputError:
    """Return the error for a column that a source should have: the one of training, or another that was named."""
    why = ", which the model was trained with" if name == trained else ""
    advice = f"name the column of {role}s with {role}= (--{role} in a terminal)"
    meant = None if name is None else similar_name(name, names)
    hint = "" if meant is None else f"did you mean {meant!r}? "
    return InputError(f"the source has no column {name!r} of {role}s{why}; it has {', '.join(names)}; {hint}{advice}")
