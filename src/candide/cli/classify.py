"""``candide classify``: one text, or one after the other from a pipe."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options
from .answering import classified
from .command import command

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

    Rows of a table are JSON: an object for each row, with the columns' names; columns may be left out. Lines of stdin
    are answered as they come.
    """
    classified(model, texts, abstain, shared.session)
