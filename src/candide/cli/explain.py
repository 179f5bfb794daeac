"""``candide explain``: why a model answers what it answers."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command

if TYPE_CHECKING:
    from ..explain.explanation import Explanation

EXAMPLES = """
candide explain messages.candide "win a free prize, see you at lunch"
candide explain messages.candide "see you at lunch" --of work --against friends
candide explain people.candide '{"age": 40, "job": "smith"}'
"""


@command
def explain(
    model: options.Model,
    texts: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", show_default=False, help="Texts, or rows of a table as JSON; - for stdin."),
    ],
    of: Annotated[str | None, typer.Option(metavar="CLASS", help="The class to argue for; else the answer.")] = None,
    against: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The class to argue against; else the runner-up.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="How many words or cells to show.")] = 20,
    *,
    shared: options.Shared,
) -> None:
    """Show what an answer is made of: the prior, and how much each word, or cell, speaks for it or against it.

    In bits, each of which doubles the odds of the answer against the runner-up. They add up: all terms together are
    the log-odds that the model answers by. --json has every term, and of texts every token.
    """
    from ..explain import explain_rows
    from ..explain.explanation import as_rich, colored
    from .reading import check_stdin, open_model, texts_or_stdin
    from .records import Records

    session = shared.session
    check_stdin(model, texts)
    fitted = open_model(model)
    pair = tuple(None if label is None else _label(label, fitted.classes.tolist()) for label in (of, against))
    records = None if fitted.spec.reads_texts else Records(fitted, session)
    fitted = fitted if records is None else records.model
    for text in chain.from_iterable(texts_or_stdin(texts)):
        found = explain_rows(fitted, [text] if records is None else records.table(text))[0]
        shown = [colored(found, column, *pair) for column in found.texts] if len(found.classes) > 1 else []
        session.answer(_for_machines(found, *pair), *shown, as_rich(found, most, *pair))


def _label(asked: str, known: list[Any]) -> Any:
    """A class by what it is called; labels may be numbers."""
    return next((label for label in known if str(label) == asked), asked)


def _for_machines(found: Explanation, of: Any, against: Any) -> dict[str, Any]:
    labels, shares = found.classes.tolist(), [float(share) for share in found.probabilities]
    answer = {"prediction": found.answer, "probability": found.probability}
    by_class = dict(zip(map(str, labels), shares, strict=True))
    if len(labels) < 2:
        return {**answer, "probabilities": by_class, "terms": []}
    first, second = (labels[place] for place in found.pair(of, against))
    table = found.contributions(of, against)
    terms = [dict(zip(table, row, strict=True)) for row in table.rows()]
    odds = {"of": first, "against": second, "bits": found.log_odds(of, against)}
    return {**answer, "probabilities": by_class, **odds, "terms": terms}
