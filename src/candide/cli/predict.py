"""``candide predict``: predict the class of each row of a source."""

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
candide predict messages.candide inbox.csv -o predictions.parquet --proba
candide predict messages.candide inbox.csv --top 3 --only
candide predict messages.candide inbox.csv --explain --only
# Predict 'unsure' where the probability is below 0.9
candide predict messages.candide inbox.csv -o predictions.jsonl --abstain 0.9
cat inbox.csv | candide predict messages.candide | head
"""


@command
def predict(
    model: options.Model,
    sources: options.LocalSources = None,
    output: options.Output = None,
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

    The output is a file (.parquet, .csv, .tsv, .jsonl, .arrow), or CSV on standard output; with --json, JSON Lines.
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
                "predict does not support dask: and spark: sources; name the files without the prefix, or use Python: "
                "candide.load(MODEL).predict(frame)"
            )
        source = source_for(fitted, source)
        roles = source.roles
        assert roles is not None
        made, unseen = Predictions(fitted, proba, abstain, top, explain), UnseenNotes(fitted, session)
        kept = [] if only else source.names
        replaced = [name for name in kept if name in made.types]
        if replaced:
            session.note(
                f"the predictions replace the columns {', '.join(map(repr, replaced))} of the source; rename these "
                "columns to keep them"
            )
        with (
            watched(source, "predicting", session) as passed,
            open_writer(output, "jsonl" if shared.json else "csv", keep_formulas) as writer,
        ):
            for batch in source.to_batches():
                unseen.note(X := cells(batch, roles))
                writer.write(made.appended(batch.select(kept), X))
                passed.update(passed.rows + batch.num_rows)
            if not passed.rows:
                writer.write(made.empty(source.schema, kept))
        say_bad_rows(source, session)
    if writer.n_formulas:
        session.note(
            f"{writer.n_formulas:,} texts that a spreadsheet would run as formulas were written with a leading "
            "apostrophe; --keep-formulas writes them unchanged"
        )
    if not is_stdout(output):
        found = {"output": str(output), "rows": passed.rows, "seconds": passed.seconds}
        rows = f"{passed.rows:,} row{'' if passed.rows == 1 else 's'}"
        session.report(found, lambda: [f"wrote {output}: {rows} in {passed.seconds:.2f} s"])


_N_CONTRIBUTIONS = 5


class Predictions:
    """The columns that a model adds to a batch."""

    def __init__(self, model: Model, proba: bool, abstain: float | None, top: int, explain: bool) -> None:
        import pyarrow as pa

        self.model = model
        self.labels = model.classes
        self.abstain, self.proba, self.explain = abstain, proba, explain
        self.top = min(top, len(self.labels))
        label = pa.array(self.labels.tolist()).type
        self.types = {"prediction": pa.string() if abstain is not None else label, "probability": pa.float64()}
        for rank in range(2, self.top + 1):
            self.types |= {f"prediction_{rank}": label, f"probability_{rank}": pa.float64()}
        if explain:
            self.types["explanation"] = pa.string()
        if proba:
            self.types |= {f"p({label})": pa.float64() for label in self.labels}

    def appended(self, batch: pa.RecordBatch, X: Any) -> pa.Table:
        """Return the batch with the predictions; they replace columns of the same name."""
        return self._joined(dict(zip(batch.schema.names, batch.columns, strict=True)), self._columns(X))

    def empty(self, schema: pa.Schema, kept: list[str]) -> pa.Table:
        """Return the columns without rows."""
        return self._joined({name: _none(schema.field(name).type) for name in kept}, [[] for _ in self.types])

    def _joined(self, columns: dict[str, Any], predictions: list[Any]) -> pa.Table:
        import pyarrow as pa

        made = {name: pa.array(one, kind) for (name, kind), one in zip(self.types.items(), predictions, strict=True)}
        return pa.table({name: column for name, column in columns.items() if name not in made} | made)

    def _columns(self, X: Any) -> list[Any]:
        import numpy as np

        probability = self.model.predict_proba(X)
        order = np.argsort(-probability, axis=1, kind="stable")[:, : self.top]
        out: list[Any] = []
        for rank in range(self.top):
            place = order[:, rank]
            share, label = probability[np.arange(len(place)), place], self.labels[place]
            if rank == 0 and self.abstain is not None:
                names = np.array([*map(str, self.labels.tolist()), "unsure"], dtype=object)
                label = names[np.where(share >= self.abstain, place, len(self.labels))]
            out += [label.tolist(), share]
        if self.explain:
            out.append(self._explanations(X))
        return [*out, *(np.ascontiguousarray(share) for share in (probability.T if self.proba else ()))]

    def _explanations(self, X: Any) -> list[str]:
        from ..explain import explain_rows
        from ..explain.explanation import one_line

        return [one_line(found, _N_CONTRIBUTIONS) for found in explain_rows(self.model, X)]


def _none(kind: Any) -> Any:
    import pyarrow as pa

    return pa.array([], kind)
