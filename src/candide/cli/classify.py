"""``candide classify``: classify single texts, or lines of a pipe."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options
from .classification import classify_texts
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
        typer.Argument(
            metavar="[TEXT]...",
            show_default=False,
            help="Texts to classify; omit them or pass - to read lines from standard input.",
        ),
    ] = None,
    abstain: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Print 'unsure' if no class has at least this probability.")
    ] = None,
    *,
    shared: options.Shared,
) -> None:
    """Classify texts: print the class and its probability, one line per text.

    Pass each row of a table as a JSON object with the column names as keys; columns may be omitted. Lines of standard
    input are classified as they arrive.
    """
    classify_texts(model, texts, abstain, shared.session)
