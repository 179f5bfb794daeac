"""``candide explain``: the contributions to a prediction."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command

if TYPE_CHECKING:
    from ..explain.explanation import Explanation
    from ..model.model import Model
    from ..model.source import Source
    from .session import Session

EXAMPLES = """
candide explain messages.candide "win a free prize, see you at lunch"
candide explain messages.candide "see you at lunch" --of order --against spam
candide explain people.candide '{"age": 40, "job": "smith"}'
candide explain people.candide people.csv --row 17
"""


@command
def explain(
    model: options.Model,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT|SOURCE...",
            show_default=False,
            help="Texts, or rows of a table as JSON, or - for standard input; with --row, files and other sources.",
        ),
    ] = None,
    row: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            metavar="N",
            show_default=False,
            help="Explain the Nth row of the source; 1 is the first row after the header. May be given several times.",
        ),
    ] = None,
    of: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The class to explain; by default the predicted class.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The class to compare it with; by default the runner-up.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Number of contributions to show.")] = 20,
    text: options.Text = None,
    absent: options.Absent = None,
    *,
    reading: options.Reading,
    shared: options.Shared,
) -> None:
    """Show the contributions to a prediction: the prior, and each word or cell.

    Contributions are in bits: each bit doubles the odds of the predicted class against the runner-up. Their sum is the
    log-odds of the model. --json includes every term and, for texts, every token.
    """
    from ..exceptions import ParameterError
    from ..explain import explain_rows
    from ..explain.explanation import as_rich, colored
    from .reading import check_stdin, open_model, with_absent

    session = shared.session
    check_stdin(model, texts)
    if not texts and reading.sql is None:
        raise ParameterError(
            f"nothing to explain; after the model {model}, pass texts or JSON rows, or a source and --row N"
        )
    fitted = with_absent(open_model(model), absent)
    pair = tuple(None if label is None else _label(label, fitted.classes.tolist()) for label in (of, against))
    rows: Iterator[tuple[str | None, Model, Any]]
    if row or reading.sql is not None:
        rows = _source_rows(fitted, row or [1], reading.opened(texts, shared.threads, text=text), session)
    else:
        rows = _given_rows(fitted, texts or [], session)
    for name, reader, X in rows:
        found = explain_rows(reader, X)[0]
        shown: list[Any] = [] if name is None else [name]
        shown += [colored(found, column, *pair) for column in found.texts] if len(found.classes) > 1 else []
        machine = _for_machines(found, *pair)
        shown += [as_rich(found, most, *pair), *_about_interactions(found, most, *pair)]
        session.answer(machine if name is None else {"row": name} | machine, *shown)


def _given_rows(fitted: Model, texts: list[str], session: Session) -> Iterator[tuple[str | None, Model, Any]]:
    """Yield texts, or JSON rows of a table."""
    from ..exceptions import ParameterError
    from .reading import texts_or_stdin
    from .records import Records

    records = None if fitted.spec.reads_texts else Records(fitted, session)
    for text in chain.from_iterable(texts_or_stdin(texts)):
        if os.path.isfile(text):
            raise ParameterError(f"{text} is a file; to explain one of its rows, pass the row number, such as --row 1")
        yield (None, fitted, [text]) if records is None else (None, records.model, records.table(text))


def _source_rows(
    fitted: Model, numbers: list[int], opened: AbstractContextManager[Source], session: Session
) -> Iterator[tuple[str | None, Model, Any]]:
    """Yield the rows of a source that have these numbers, in the order of the source."""
    from ..data.arrow_batches import cells
    from ..exceptions import InputError, ParameterError
    from ..model.source import source_for
    from ..sources import ArrowSource
    from .records import UnseenNotes

    wanted, begin, unseen = sorted(set(numbers)), 0, UnseenNotes(fitted, session)
    with opened as source:
        if not isinstance(source, ArrowSource):
            raise ParameterError("explain does not support dask: and spark: sources; name the files without the prefix")
        source = source_for(fitted, source)
        assert source.roles is not None
        for batch in source.to_batches():
            while wanted and wanted[0] <= begin + batch.num_rows:
                number = wanted.pop(0)
                X = cells(batch.slice(number - 1 - begin, 1), source.roles)
                unseen.note(X)
                yield f"row {number:,}", fitted, X
            begin += batch.num_rows
            if not wanted:
                return
    raise InputError(f"the source has {begin:,} rows, but --row is {wanted[0]:,}; expected at most {begin:,}")


def _about_interactions(found: Explanation, most: int, of: Any, against: Any) -> list[Any]:
    """Return a line on terms that cannot be divided among columns, if one of them is shown."""
    from rich.text import Text

    from ..explain.explanation import bars

    views = {term.view for term in found.terms if term.kind == "rest" and term.value == term.view}
    shown = [bar.name for bar in bars(found, most, of, against)[0]] if len(found.classes) > 1 else []
    joint = [name for name in shown if name in views and name.startswith("random ")]
    if not joint:
        return []
    meaning = "an interaction of several columns that cannot be divided among them"
    return [Text(f"{joint[0]}: {meaning}; train --set order=0 trains a model without such terms", "dim")]


def _label(text: str, known: list[Any]) -> Any:
    """Return a class by its text; labels may be numbers."""
    return next((label for label in known if str(label) == text), text)


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
