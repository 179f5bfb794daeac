"""``candide explain``: why a model answers what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command
from .session import Session

if TYPE_CHECKING:
    from ..explain.removal import Explanation

EXAMPLES = """
candide explain messages.candide "win a free prize, see you at lunch"
candide explain people.candide '{"age": 40, "job": "smith"}'
"""


@command
def explain(
    model: options.Model,
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXT...", show_default=False, help="Texts, or rows of a table as JSON.")
    ],
    most: Annotated[int, typer.Option(min=1, help="How many words or cells to show.")] = 20,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Show what an answer hangs on: how much each word, or cell, speaks for it or against it.

    In bits of log-odds: how much less sure the model would be if the word were not there.
    """
    from ..explain.removal import explain_row, explain_text
    from .classify import known_cells
    from .reading import open_model

    session = Session(quiet, json, threads)
    learner = open_model(model)
    for text in texts:
        found = explain_text(learner, text) if learner.reads_texts else explain_row(learner, known_cells(learner, text))
        shown = [_coloured(text, found)] if learner.reads_texts else []
        session.answer(found._asdict(), *shown, _as_picture(found, most))


def _as_picture(found: Explanation, most: int) -> Any:
    from .pictures import picture

    table = picture(f"{found.label}, with probability {found.probability:.4f}", "part", "bits", "", right=("bits",))
    largest = max((abs(bits) for bits in found.bits if abs(bits) < float("inf")), default=0.0) or 1.0
    order = sorted(range(len(found.bits)), key=lambda i: -abs(found.bits[i]))[:most]
    for i in sorted(order):
        bits = found.bits[i]
        bar = "█" * round(20 * min(1.0, abs(bits) / largest))
        table.add_row(found.parts[i], f"{bits:+.2f}", bar, style=_style(bits))
    return table


def _coloured(text: str, found: Explanation) -> Any:
    from rich.text import Text

    shown = Text(text)
    for part, bits in zip(found.parts, found.bits, strict=True):
        if abs(bits) >= 0.1:
            shown.highlight_words(
                [part], f"bold {_style(bits)}" if abs(bits) >= 1 else _style(bits), case_sensitive=False
            )
    return shown


def _style(bits: float) -> str:
    return "green" if bits > 0 else "red" if bits < 0 else ""
