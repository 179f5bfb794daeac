"""``candide show``: what is in a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command

if TYPE_CHECKING:
    from ..learners.base import BaseNB

EXAMPLES = """
candide show messages.candide
candide show messages.candide --words 20
candide show messages.candide --parameters | less
"""


@command
def show(
    model: options.Model,
    words: Annotated[int, typer.Option(min=0, help="How many telling words of each class.")] = 8,
    parameters: Annotated[bool, typer.Option("--parameters", help="The parameters of all columns too.")] = False,
    *,
    shared: options.Shared,
) -> None:
    """Show what a model is, what it was trained on, how good it honestly is and what it looks at."""
    from ..model.text_summary import by_look
    from .pictures import of_honest, of_summary, of_table
    from .reading import open_model
    from .training_report import telling_words

    session = shared.session
    learner = open_model(model)
    lines: list[Any] = [_origin(learner)]
    if hasattr(learner, "summary"):
        summary = learner.summary()
        lines += of_summary(by_look(summary) if learner.reads_texts else summary, "what it looks at")
    if learner.can_report:
        lines += of_honest(learner.loo_)
    if learner.reads_texts and words:
        lines.append(telling_words(learner, words))
    if parameters:
        lines.append(of_table(learner.parameters(), "parameters", most=100_000))
    session.answer(_as_machine(learner, words, parameters), *lines)


def _origin(learner: BaseNB) -> Any:
    from .pictures import picture

    table = picture(repr(learner), "", "")
    table.show_header = False
    for name, value in origin(learner).items():
        table.add_row(name, str(value))
    return table


def origin(learner: BaseNB) -> dict[str, Any]:
    """Where a model comes from."""
    from .training_report import classes_text

    roles = learner.roles_
    what: dict[str, Any] = {"classes": classes_text(learner)}
    if roles is not None:
        what["label"] = roles.label
        what["text" if roles.text else "columns"] = roles.text or ", ".join(map(str, roles.columns))
    rows = "in the file" if learner.has_training_rows else "not kept"
    return what | {name: _short(value) for name, value in (learner.provenance_ or {}).items()} | {"training rows": rows}


def _as_machine(learner: Any, words: int, parameters: bool) -> dict[str, Any]:
    found = {
        "kind": type(learner).__name__,
        "settings": {name: value for name, value in learner.get_params().items() if value is not None},
        "classes": dict(zip(learner.classes_.tolist(), learner.class_count_.tolist(), strict=True)),
        "provenance": learner.provenance_,
        "training_rows": learner.has_training_rows,
    }
    if learner.can_report:
        found["leave_one_out"] = learner.loo_.as_dict()
    if hasattr(learner, "summary"):
        found["summary"] = dict(learner.summary())
    if learner.reads_texts and words:
        found["telling"] = dict(learner.telling(words))
    if parameters:
        found["parameters"] = dict(learner.parameters())
    return found


def _short(value: Any) -> str:
    return f"{value:,.12g}" if isinstance(value, float) else str(value)
