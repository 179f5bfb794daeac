"""What ``candide classify`` does: texts, or rows of a table, and an answer to each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..printable import printable
from .guard import guarded
from .reading import STDIN, check_stdin, open_model, texts_or_stdin
from .session import Session, as_json

if TYPE_CHECKING:
    from ..kernels.layouts import Floats
    from ..model.model import Model


def answer(model: str, texts: list[str]) -> None:
    """The command without options."""
    guarded(lambda: classified(Path(model), texts or None, None, Session()))


def classified(model: Path, texts: list[str] | None, abstain: float | None, session: Session) -> None:
    """Writes a line for each text; those of stdin are answered as they come."""
    texts = texts if texts is not None else [STDIN]
    check_stdin(model, texts)
    fitted = open_model(model)
    if STDIN in texts and sys.stdin.isatty():
        session.say("one text a line; Ctrl-D ends")
    probabilities = fitted.predict_proba if fitted.spec.reads_texts else _of_rows(fitted, session)
    for lines in texts_or_stdin(texts):
        answers = _answers(fitted, probabilities(lines), abstain, session.as_json)
        sys.stdout.writelines(f"{answer}\n" for answer in answers)
        sys.stdout.flush()


def _of_rows(model: Model, session: Session) -> Any:
    from .records import Records

    return Records(model, session).probabilities


def _answers(model: Model, probability: Floats, abstain: float | None, machine: bool) -> Iterator[str]:
    labels = model.classes.tolist()
    for shares in probability.tolist():
        surest = max(shares)
        label: Any = labels[shares.index(surest)] if abstain is None or surest >= abstain else "unsure"
        if machine:
            by_class = dict(zip(map(str, labels), shares, strict=True))
            yield as_json({"prediction": label, "probability": surest, "probabilities": by_class})
        else:
            yield f"{printable(label)}\t{surest:.4f}"
