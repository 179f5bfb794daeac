"""``candide classify``: one text, or one after the other from a pipe."""

from __future__ import annotations

import json as json_room
import sys
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exceptions import InputError
from ..printable import printable
from . import options
from .command import command
from .session import as_json

if TYPE_CHECKING:
    from ..learners.base import BaseNB

EXAMPLES = """
candide classify messages.candide "win a free prize"
tail -f messages.log | candide classify messages.candide --abstain 0.9
candide classify people.candide '{"age": 40, "job": "smith"}'
"""


@command
def classify(
    model: options.Model,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", show_default=False, help="Texts; - or none for the lines of stdin."),
    ] = None,
    abstain: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Below this probability the answer is 'unsure'.")
    ] = None,
    *,
    shared: options.Shared,
) -> None:
    """Say which class texts are of: a line each, the class and its probability.

    Rows of a table are JSON: an object for each row, with the columns' names. Lines of stdin are answered as they come.
    """
    from .reading import STDIN, check_stdin, open_model, texts_or_stdin

    session = shared.session
    texts = texts if texts is not None else [STDIN]
    check_stdin(model, texts)
    learner = open_model(model)
    if STDIN in texts and sys.stdin.isatty():
        session.say("one text a line; Ctrl-D ends")
    for lines in texts_or_stdin(texts):
        sys.stdout.writelines(f"{answer}\n" for answer in _answers(learner, lines, abstain, shared.json))
        sys.stdout.flush()


def _answers(learner: BaseNB, lines: list[str], abstain: float | None, machine: bool) -> Iterator[str]:
    probability = learner.predict_proba(lines if learner.reads_texts else _table(learner, lines))
    labels = learner.classes_.tolist()
    for shares in probability.tolist():
        surest = max(shares)
        label: Any = labels[shares.index(surest)] if abstain is None or surest >= abstain else "unsure"
        if machine:
            by_class = dict(zip(map(str, labels), shares, strict=True))
            yield as_json({"prediction": label, "probability": surest, "probabilities": by_class})
        else:
            yield f"{printable(label)}\t{surest:.4f}"


def _table(learner: BaseNB, lines: list[str]) -> dict[str, list[Any]]:
    """The columns of the model; what a row does not have is missing."""
    rows = [read_row(line) for line in lines]
    known = getattr(learner, "feature_names_in_", None)
    names = list(dict.fromkeys(name for row in rows for name in row)) if known is None else known.tolist()
    for row in rows:
        if row.keys().isdisjoint(names):
            raise InputError(
                f"the row {as_json(row):.60} has none of the columns that the model was trained on: {', '.join(names)}"
            )
    return {name: _as_learned(learner, name, [row.get(name) for row in rows]) for name in names}


def _as_learned(learner: BaseNB, name: str, cells: list[Any]) -> Any:
    """JSON knows no dates, and files may have held its booleans as words."""
    import numpy as np

    example = getattr(learner, "example_cells_", {}).get(name)
    if isinstance(example, np.datetime64 | date):
        try:
            return np.array([None if cell is None else np.datetime64(cell) for cell in cells], dtype="datetime64[us]")
        except ValueError as error:
            raise InputError(f"column {name!r} holds dates, and {error}; write them as 2024-02-29") from None
    if any(isinstance(cell, bool) for cell in cells) and not isinstance(example, bool):
        return [str(cell).lower() if isinstance(cell, bool) else cell for cell in cells]
    return cells


def known_cells(learner: BaseNB, line: str) -> dict[str, Any]:
    """A row with all columns of the model."""
    return {name: cells[0] for name, cells in _table(learner, [line]).items()}


def read_row(line: str) -> dict[str, Any]:
    try:
        row = json_room.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise InputError(
            f'{line!r:.60} is no row: this model is of a table, and a row is a JSON object such as {{"age": 40, "job": '
            '"smith"}; for files use candide predict'
        )
    return row
