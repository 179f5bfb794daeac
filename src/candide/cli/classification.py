"""The work of ``candide classify``: classify texts, or rows of a table, one per line.

This module does not import typer, so that a call without options starts faster.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..printable import printable
from .errors import run_command
from .reading import STDIN, check_stdin, open_model, texts_or_stdin
from .session import Session
from .session import as_json as to_json

if TYPE_CHECKING:
    from ..kernels.layouts import Floats
    from ..model.model import Model
    from ..remote import Place


def run_without_options(model: str, texts: list[str]) -> None:
    """Run ``candide classify MODEL [TEXT]...``."""
    run_command(lambda: classify_texts(model, texts or None, None, Session()))


def classify_texts(model: str | Place, texts: list[str] | None, abstain: float | None, session: Session) -> None:
    """Write a line for each text; lines of standard input are classified as they arrive."""
    texts = texts if texts is not None else [STDIN]
    check_stdin(model, texts)
    fitted = open_model(model)
    if STDIN in texts and sys.stdin.isatty():
        session.say("enter one text per line; press Ctrl-D to finish")
    probabilities = fitted.predict_proba if fitted.spec.reads_texts else _row_probabilities(fitted, session)
    for lines in texts_or_stdin(texts):
        predictions = _format_predictions(fitted, probabilities(lines), abstain, session.as_json)
        sys.stdout.writelines(f"{prediction}\n" for prediction in predictions)
        sys.stdout.flush()


def _row_probabilities(fitted: Model, session: Session) -> Any:
    from .records import Records

    return Records(fitted, session).probabilities


def _format_predictions(fitted: Model, probability: Floats, abstain: float | None, as_json: bool) -> Iterator[str]:
    labels = fitted.classes.tolist()
    for row in probability.tolist():
        highest = max(row)
        label: Any = labels[row.index(highest)] if abstain is None or highest >= abstain else "unsure"
        if as_json:
            by_class = dict(zip(map(str, labels), row, strict=True))
            yield to_json({"prediction": label, "probability": highest, "probabilities": by_class})
        else:
            yield f"{printable(label)}\t{highest:.4f}"
