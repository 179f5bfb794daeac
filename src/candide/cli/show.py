"""``candide show``: describe a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command

if TYPE_CHECKING:
    from ..model.model import Model

EXAMPLES = """
candide show messages.candide
candide show messages.candide --words 20
candide show messages.candide --parameters | less
"""


@command
def show(
    model: options.Model,
    words: Annotated[int, typer.Option(min=0, help="Number of informative words per class.")] = 8,
    parameters: Annotated[bool, typer.Option("--parameters", help="Also show the parameters of all columns.")] = False,
    *,
    shared: options.Shared,
) -> None:
    """Show a model: its settings and origin, its columns, its leave-one-out evaluation and its top features."""
    from ..model.summary import by_feature_set
    from .reading import open_model
    from .tables import of_loo, of_summary, of_table
    from .training_report import summary_of, top_words

    session = shared.session
    fitted = open_model(model)
    lines: list[Any] = [_origin(fitted), of_table(fitted.schema_table(), "Columns as read")]
    summary = summary_of(fitted)
    if summary is not None:
        lines += of_summary(
            by_feature_set(summary) if fitted.spec.reads_texts else summary,
            "Token features" if fitted.spec.reads_texts else "Columns",
        )
    if fitted.has_loo:
        lines += of_loo(fitted.loo)
    if fitted.spec.reads_texts and words:
        lines.append(top_words(fitted, words))
    if parameters:
        lines.append(of_table(fitted.parameters(), "Parameters", most=100_000, exact=True))
    session.answer(_as_machine(fitted, words, parameters), *lines)


def _origin(model: Model) -> Any:
    from .tables import name_and_value

    return name_and_value(repr(model.spec), origin(model))


def origin(model: Model) -> dict[str, Any]:
    """Return the origin of a model."""
    from .training_report import classes_text, listed

    roles = model.schema.roles
    what: dict[str, Any] = {"classes": classes_text(model)}
    if roles is not None:
        what["label"] = roles.label
        what["text" if roles.text else "columns"] = roles.text or listed(roles.columns)
    rows = "in the file" if model.has_training_rows else "not kept"
    return what | {name: _short(value) for name, value in (model.provenance or {}).items()} | {"training rows": rows}


def _as_machine(model: Model, words: int, parameters: bool) -> dict[str, Any]:
    from ..model.top_features import top_features
    from .training_report import summary_of

    schema = model.schema_table()
    found = {
        "kind": model.spec.name,
        "settings": {name: value for name, value in model.spec.parameters.items() if value is not None},
        "classes": dict(zip(model.classes.tolist(), model.class_count.tolist(), strict=True)),
        "provenance": model.provenance,
        "training_rows": model.has_training_rows,
        "schema": [dict(zip(schema, row, strict=True)) for row in schema.rows()],
    }
    if model.has_loo:
        found["leave_one_out"] = model.loo.as_dict()
    summary = summary_of(model)
    if summary is not None:
        found["summary"] = dict(summary)
    if model.spec.reads_texts and words:
        found["top_features"] = dict(top_features(model.classifier, words, None, model.kernels))
    if parameters:
        found["parameters"] = dict(model.parameters())
    return found


def _short(value: Any) -> str:
    return f"{value:,.12g}" if isinstance(value, float) else str(value)
