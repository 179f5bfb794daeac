"""``candide classify``: one text, or one after the other from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..printable import printable
from . import options
from .command import command
from .session import as_json

if TYPE_CHECKING:
    from ..kernels.data import Floats
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

    Rows of a table are JSON: an object for each row, with the columns' names; columns may be left out. Lines of stdin
    are answered as they come.
    """
    from .reading import STDIN, check_stdin, open_model, texts_or_stdin
    from .records import Records

    session = shared.session
    texts = texts if texts is not None else [STDIN]
    check_stdin(model, texts)
    learner = open_model(model)
    if STDIN in texts and sys.stdin.isatty():
        session.say("one text a line; Ctrl-D ends")
    probabilities = learner.predict_proba if learner.reads_texts else Records(learner, session).probabilities
    for lines in texts_or_stdin(texts):
        answers = _answers(learner, probabilities(lines), abstain, shared.json)
        sys.stdout.writelines(f"{answer}\n" for answer in answers)
        sys.stdout.flush()


def _answers(learner: BaseNB, probability: Floats, abstain: float | None, machine: bool) -> Iterator[str]:
    labels = learner.classes_.tolist()
    for shares in probability.tolist():
        surest = max(shares)
        label: Any = labels[shares.index(surest)] if abstain is None or surest >= abstain else "unsure"
        if machine:
            by_class = dict(zip(map(str, labels), shares, strict=True))
            yield as_json({"prediction": label, "probability": surest, "probabilities": by_class})
        else:
            yield f"{printable(label)}\t{surest:.4f}"
