"""``candide predict``: predict the class of each row of a source."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command

if TYPE_CHECKING:
    import pyarrow as pa

    from ..data.column_selection import Roles
    from ..kernels.layouts import Array, Floats
    from ..model.model import Model
    from ..remote import Place
    from .progress import Pass
    from .records import UnseenNotes
    from .session import Session

EXAMPLES = """
candide predict messages.candide inbox.csv
candide predict messages.candide inbox.csv -o predictions.parquet --proba
candide predict messages.candide inbox.csv --top 3 --only
candide predict messages.candide inbox.csv --explain --only
# Predict 'unsure' where the probability is below 0.9
candide predict messages.candide inbox.csv -o predictions.jsonl --abstain 0.9
cat inbox.csv | candide predict messages.candide | head
candide predict messages.candide spark:shop.inbox -o spark:shop.predictions
"""


@command
def predict(
    model: options.Model,
    sources: options.PredictSources = None,
    output: options.PredictOutput = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write the probability of every class.")] = False,
    abstain: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Predict 'unsure' if no class has at least this probability.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Write the N most probable classes.")] = 1,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also write the largest contributions to each prediction, in bits.")
    ] = False,
    only: Annotated[
        bool, typer.Option("--only", help="Write only the predictions, not the columns of the source.")
    ] = False,
    keep_formulas: Annotated[
        bool,
        typer.Option(
            "--keep-formulas",
            help="CSV and TSV: write texts that begin with =, +, - or @ unchanged. By default, they are "
            "prefixed with an apostrophe, so that spreadsheets do not run them as formulas.",
        ),
    ] = False,
    text: options.Text = None,
    absent: options.Absent = None,
    *,
    reading: options.Reading,
    shared: options.Shared,
) -> None:
    """Write the rows of a source with their most probable class and its probability.

    The output is a file (.parquet, .csv, .tsv, .jsonl, .arrow), or CSV on standard output; with --json, JSON Lines. Of
    a source on Spark, it can also be a new table or new files there. Cells are written as they were read: dates in ISO
    format, and missing cells empty.
    """
    from ..model.source import source_for
    from .progress import watched
    from .reading import STDIN, check_stdin, open_model, refuse_source, say_bad_rows, with_absent
    from .records import UnseenNotes
    from .writing import is_stdout

    session, on_spark = shared.session, _is_on_spark(sources, output)
    if not sources and reading.sql is None and not sys.stdin.isatty():
        sources = [STDIN]
    check_stdin(model, sources)
    fitted = with_absent(open_model(model), absent)
    if output is not None and not is_stdout(output):
        refuse_source(output, [str(model), *(sources or [])])
    with reading.opened(sources, shared.threads, labeled=False, text=text) as found:
        source: Any = source_for(fitted, found)
        roles = source.roles
        assert roles is not None
        kept = [] if only else list(source.names or ())
        model_there, notes = (fitted.for_workers(), None) if on_spark else (fitted, UnseenNotes(fitted, session))
        made = Predictions(model_there, roles, kept, notes, proba=proba, abstain=abstain, top=top, explain=explain)
        replaced = [name for name in kept if name in made.types]
        if replaced:
            session.note(
                f"the predictions replace the columns {', '.join(map(repr, replaced))} of the source; rename these "
                "columns to keep them"
            )
        with watched(source, "predicting", session) as passed:
            if str(output).startswith(_SPARK):
                passed.update(source.save_with_columns(fitted, made.columns, made.schema, kept, str(output)))
            else:
                tables = made.there(source) if on_spark else made.here(source)
                _write(tables, passed, output, "jsonl" if shared.json else "csv", keep_formulas, session)
        say_bad_rows(source, session)
    if not is_stdout(output):
        done = {"output": str(output), "rows": passed.rows, "seconds": passed.seconds}
        rows = f"{passed.rows:,} row{'' if passed.rows == 1 else 's'}"
        session.report(done, lambda: [f"wrote {output}: {rows} in {passed.seconds:.2f} s"])


_SPARK = "spark:"


def _is_on_spark(sources: list[str] | None, output: Place | None) -> bool:
    """Return whether the rows are on Spark, where they are predicted."""
    from ..exceptions import ParameterError
    from ..sources.cluster_files import engine_of

    engine = engine_of(sources)
    if engine == "dask":
        raise ParameterError(
            "predict does not support dask: sources; name the files without the prefix, or use Python: "
            "candide.load(MODEL).predict(frame)"
        )
    if str(output).startswith(_SPARK) and engine is None:
        raise ParameterError(
            f"--output is {output}, but the source is not on Spark; name a file, or use a source such as spark:TABLE"
        )
    return engine is not None


def _write(
    tables: Iterable[pa.Table], passed: Pass, output: Place | None, on_stdout: str, keep_formulas: bool,
    session: Session,
) -> None:  # fmt: skip
    """Write tables to a file or to standard output."""
    from .writing import open_writer

    with open_writer(output, on_stdout, keep_formulas) as writer:
        for table in tables:
            writer.write(table)
            passed.update(passed.rows + table.num_rows)
            del table
    if writer.n_formulas:
        session.note(
            f"{writer.n_formulas:,} texts that a spreadsheet would run as formulas were written with a leading "
            "apostrophe; --keep-formulas writes them unchanged"
        )


_N_CONTRIBUTIONS = 5


class Predictions:
    """The columns that a model adds to those of a source."""

    def __init__(
        self, model: Model, roles: Roles, kept: list[str], notes: UnseenNotes | None, *, proba: bool,
        abstain: float | None, top: int, explain: bool,
    ) -> None:  # fmt: skip
        import pyarrow as pa

        self.model, self.roles, self.kept, self.notes = model, roles, kept, notes
        self.abstain, self.proba, self.explain = abstain, proba, explain
        labels = model.classes.tolist()
        self.labels = pa.array(labels)
        self.names = self.labels if abstain is None else pa.array([*map(str, labels), "unsure"])
        self.top = min(top, len(labels))
        self.types = {"prediction": self.names.type, "probability": pa.float64()}
        for rank in range(2, self.top + 1):
            self.types |= {f"prediction_{rank}": self.labels.type, f"probability_{rank}": pa.float64()}
        if explain:
            self.types["explanation"] = pa.string()
        if proba:
            self.types |= {f"p({label})": pa.float64() for label in model.classes}

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        import pyarrow as pa

        return pa.schema(self.types.items())

    def here(self, source: Any) -> Iterator[pa.Table]:
        """Yield the rows of a source with predictions; one table without rows, if there are none."""
        n_rows = 0
        for table in self.tables(source.to_batches()):
            n_rows += table.num_rows
            yield table
            del table
        if not n_rows:
            yield self.empty(source.schema)

    def there(self, source: Any) -> list[pa.Table]:
        """Return the rows of a source on Spark, with what workers predict."""
        return [source.with_columns(self.model, self.columns, self.schema, self.kept).toArrow()]

    def columns(self, X: Any, n_rows: int) -> dict[str, Any]:
        """Return the predictions for some rows, on a worker."""
        if not n_rows:
            return {name: [] for name in self.types}
        return dict(zip(self.types, self._columns(self.model.predict_proba(X), X), strict=True))

    def tables(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        """Yield batches with predictions, which replace columns of the same name; note unseen categories."""
        for table, unseen in self.model.map_in_order(self._table, batches):
            if self.notes is not None:
                self.notes.note_unseen(unseen)
            yield table
            del table

    def empty(self, schema: pa.Schema) -> pa.Table:
        """Return the columns without rows."""
        import pyarrow as pa

        made = [pa.array([], kind) for kind in self.types.values()]
        return self._joined({name: pa.array([], schema.field(name).type) for name in self.kept}, made)

    def _table(self, model: Model, batch: pa.RecordBatch) -> tuple[pa.Table, dict[Any, dict[Any, int]]]:
        from ..data.arrow_batches import cells

        X = cells(batch, self.roles)
        data = model.read(X)
        unseen = model.unseen_in(data) if self.notes is not None and self.notes.are_wanted else {}
        made = self._columns(model.classifier.posterior(data, model.kernels, logarithm=False), X)
        return self._joined({name: batch.column(name) for name in self.kept}, made), unseen

    def _joined(self, columns: dict[str, Any], predictions: list[Any]) -> pa.Table:
        import pyarrow as pa

        made = dict(zip(self.types, predictions, strict=True))
        return pa.table({name: column for name, column in columns.items() if name not in made} | made)

    def _columns(self, probability: Floats, X: Any) -> list[Any]:
        import numpy as np
        import pyarrow as pa

        rows, out = np.arange(len(probability)), []
        for rank, place in enumerate(_first_places(probability, self.top)):
            share, labels = probability[rows, place], self.labels
            if rank == 0 and self.abstain is not None:
                labels, place = self.names, np.where(share >= self.abstain, place, len(self.labels))
            out += [labels.take(pa.array(place)), pa.array(share)]
        if self.explain:
            out.append(pa.array(self._explanations(X), pa.string()))
        return [*out, *(pa.array(np.ascontiguousarray(share)) for share in (probability.T if self.proba else ()))]

    def _explanations(self, X: Any) -> list[str]:
        from ..explain import explain_rows
        from ..explain.explanation import one_line

        return [one_line(found, _N_CONTRIBUTIONS) for found in explain_rows(self.model, X)]


def _first_places(probability: Floats, n: int) -> Iterable[Array]:
    """Return the position of the most probable class of each row, then of the second, …; of equals, the first."""
    if n == 1:
        return [probability.argmax(axis=1)]
    order: Array = (-probability).argsort(axis=1, kind="stable")
    return order.T[:n]
