"""``candide predict``: a source, with what a model says of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command
from .session import Session

if TYPE_CHECKING:
    import pyarrow as pa

    from ..learners.base import BaseNB

EXAMPLES = """
candide predict messages.candide inbox.csv
candide predict messages.candide inbox.csv -o answers.parquet --proba
candide predict messages.candide inbox.csv -o answers.jsonl --abstain 0.9     # no answer below 0.9
cat inbox.csv | candide predict messages.candide - | head
"""


@command
def predict(
    model: options.Model,
    sources: options.Sources = None,
    output: options.Output = None,
    proba: Annotated[bool, typer.Option("--proba", help="The probability of every class too.")] = False,
    abstain: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Below this probability the answer is 'unsure'.")
    ] = None,
    only: Annotated[bool, typer.Option("--only", help="Write the answers without the columns of the source.")] = False,
    text: options.Text = None,
    sql: options.Sql = None,
    format: options.Format = None,
    on_bad_row: options.OnBadRow = "error",
    threads: options.Threads = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Write the rows of a source with their most probable class and its probability.

    To a file (.parquet, .csv, .tsv, .jsonl, .arrow), or as CSV (with --json as JSON Lines) to stdout.
    """
    from ..learners.sourced import cells, roles_for
    from .interrupt import Interrupts
    from .progress import watched
    from .reading import open_model, open_source, say_bad_rows
    from .writing import open_writer

    session = Session(quiet, json, threads)
    learner = open_model(model, session)
    source = open_source(sources, sql=sql, format=format, on_bad_row=on_bad_row)
    roles = roles_for(learner, source, text)
    answers = Answers(learner, proba, abstain)
    kept = [] if only else source.names
    with (
        Interrupts().caught(),
        watched(source, "predicting", session) as passed,
        open_writer(output, "jsonl" if json else "csv") as writer,
    ):
        for batch in source.batches():
            writer.write(answers.beside(batch.select(kept), cells(batch, roles)))
            passed.advance(batch.num_rows)
    say_bad_rows(source, session)
    if output is not None:
        session.say(f"wrote {output}: {passed.rows:,} rows in {passed.seconds:.2f} s")


class Answers:
    """Columns that a model adds to a batch."""

    def __init__(self, learner: BaseNB, proba: bool, abstain: float | None) -> None:
        self.learner = learner
        self.proba = proba
        self.abstain = abstain

    def beside(self, batch: pa.RecordBatch, X: Any) -> pa.Table:
        """The batch with the answers; a column of the same name is left out."""
        import pyarrow as pa

        made = self._columns(X)
        columns = {name: batch.column(name) for name in batch.schema.names if name not in made}
        return pa.table({**columns, **made})

    def _columns(self, X: Any) -> dict[str, Any]:
        import numpy as np
        import pyarrow as pa

        probability = self.learner.predict_proba(X)
        best = probability.argmax(axis=1)
        surest, labels = probability[np.arange(len(best)), best], self.learner.classes_
        answer = labels[best]
        if self.abstain is not None:
            answer = np.where(surest >= self.abstain, answer.astype(str), "unsure")
        columns = {"prediction": pa.array(answer.tolist()), "probability": pa.array(surest)}
        if self.proba:
            shares = {
                f"p({label})": pa.array(np.ascontiguousarray(probability[:, j])) for j, label in enumerate(labels)
            }
            columns |= shares
        return columns
