"""``candide predict``: a source, with what a model says of each row."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command

if TYPE_CHECKING:
    import pyarrow as pa

    from ..model.model import Model

EXAMPLES = """
candide predict messages.candide inbox.csv
candide predict messages.candide inbox.csv -o answers.parquet --proba
candide predict messages.candide inbox.csv -o answers.jsonl --abstain 0.9     # no answer below 0.9
cat inbox.csv | candide predict messages.candide | head
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
    keep_formulas: Annotated[
        bool,
        typer.Option(
            "--keep-formulas",
            help="CSV and TSV: write texts that a spreadsheet runs as formulas (=, +, -, @ first) without an "
            "apostrophe before them.",
        ),
    ] = False,
    text: options.Text = None,
    absent: options.Absent = None,
    *,
    reading: options.Reading,
    shared: options.Shared,
) -> None:
    """Write the rows of a source with their most probable class and its probability.

    To a file (.parquet, .csv, .tsv, .jsonl, .arrow), or as CSV (with --json as JSON Lines) to stdout.
    """
    from ..data.arrow_batches import cells
    from ..exceptions import ParameterError
    from ..model.source import source_for
    from ..sources import ArrowSource
    from .progress import watched
    from .reading import STDIN, check_stdin, open_model, refuse_source, say_bad_rows, with_absent
    from .records import UnseenNotes
    from .writing import is_stdout, open_writer

    session = shared.session
    if not sources and reading.sql is None and not sys.stdin.isatty():
        sources = [STDIN]
    check_stdin(model, sources)
    fitted = with_absent(open_model(model), absent)
    if output is not None and not is_stdout(output):
        refuse_source(output, [str(model), *(sources or [])])
    with reading.opened(sources, text=text) as source:
        if not isinstance(source, ArrowSource):
            raise ParameterError(
                "predictions of rows on a cluster stay there; read the files here, without dask: or spark:, or predict "
                "in Python: candide.load(MODEL).predict(frame)"
            )
        source = source_for(fitted, source)
        roles = source.roles
        assert roles is not None
        answers, unseen = Answers(fitted, proba, abstain), UnseenNotes(fitted, session)
        kept = [] if only else source.names
        with (
            watched(source, "predicting", session) as passed,
            open_writer(output, "jsonl" if shared.json else "csv", keep_formulas) as writer,
        ):
            for batch in source.to_batches():
                unseen.note(X := cells(batch, roles))
                writer.write(answers.beside(batch.select(kept), X))
                passed.update(passed.rows + batch.num_rows)
            if not passed.rows:
                writer.write(answers.of_nothing(source.schema, kept))
        say_bad_rows(source, session)
    if writer.n_formulas:
        session.remark(
            f"{writer.n_formulas:,} texts that a spreadsheet would run as formulas were written with an apostrophe "
            "before them; --keep-formulas writes them as they are"
        )
    if not is_stdout(output):
        session.say(f"wrote {output}: {passed.rows:,} rows in {passed.seconds:.2f} s")


class Answers:
    """Columns that a model adds to a batch."""

    def __init__(self, model: Model, proba: bool, abstain: float | None) -> None:
        import pyarrow as pa

        self.model = model
        self.labels = model.classes
        self.abstain = abstain
        answer = pa.string() if abstain is not None else pa.array(self.labels.tolist()).type
        shares = {f"p({label})": pa.float64() for label in self.labels} if proba else {}
        self.types = {"prediction": answer, "probability": pa.float64(), **shares}

    def beside(self, batch: pa.RecordBatch, X: Any) -> pa.Table:
        """The batch with the answers; a column of the same name is left out."""
        return self._joined(dict(zip(batch.schema.names, batch.columns, strict=True)), self._columns(X))

    def of_nothing(self, schema: pa.Schema, kept: list[str]) -> pa.Table:
        """The columns that there would be, without a row."""
        return self._joined({name: _none(schema.field(name).type) for name in kept}, [[] for _ in self.types])

    def _joined(self, columns: dict[str, Any], answers: list[Any]) -> pa.Table:
        import pyarrow as pa

        made = {name: pa.array(one, kind) for (name, kind), one in zip(self.types.items(), answers, strict=True)}
        return pa.table({name: column for name, column in columns.items() if name not in made} | made)

    def _columns(self, X: Any) -> list[Any]:
        import numpy as np

        probability = self.model.predict_proba(X)
        best = probability.argmax(axis=1)
        surest, answer = probability[np.arange(len(best)), best], self.labels[best]
        if self.abstain is not None:
            names = np.array([*map(str, self.labels.tolist()), "unsure"], dtype=object)
            answer = names[np.where(surest >= self.abstain, best, len(self.labels))]
        shares = [np.ascontiguousarray(share) for share in probability.T] if len(self.types) > 2 else []
        return [answer.tolist(), surest, *shares]


def _none(kind: Any) -> Any:
    import pyarrow as pa

    return pa.array([], kind)
