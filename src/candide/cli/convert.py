"""``candide dump``, ``load``, ``convert``: a model as JSON text, and back, and its exports."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exceptions import ParameterError
from ..remote import Place, as_path, is_remote, local_path, read_bytes
from . import options
from .command import command

if TYPE_CHECKING:
    from ..model.model import Model

DUMP_EXAMPLES = """
candide dump messages.candide | less
candide dump messages.candide -o messages.json
diff <(candide dump monday.candide) <(candide dump tuesday.candide)
"""
LOAD_EXAMPLES = """
candide load messages.json -o messages.candide
candide dump a.candide | candide load - -o b.candide
"""
CONVERT_EXAMPLES = """
# Convert to the newest format
candide convert old.candide new.candide
# Convert to JSON text
candide convert messages.candide messages.json
# Export to SQL, to score a table of a database
candide convert people.candide score.sql --table people --dialect duckdb
# Export to ONNX (pip install 'candide[onnx]') and to a JavaScript module
candide convert people.candide people.onnx
candide convert messages.candide messages.mjs
candide convert with_rows.candide small.candide --without-rows
"""


@command
def dump(
    model: options.Model,
    output: options.Output = None,
    *,
    writing: options.Writing,
    shared: options.Shared,
) -> None:
    """Write a model as JSON text, to standard output or a file. Numbers are exact."""
    from ..storage.atomic_write import atomic_writer
    from ..storage.models import dump_lines
    from .reading import open_model
    from .training_report import rows_text
    from .writing import checked_path, is_stdout

    dumped = open_model(model)
    if output is None or is_stdout(output):
        sys.stdout.writelines(dump_lines(dumped, rows=True))
        return
    with writing.locked(checked_path(output), shared.session), atomic_writer(output) as file:
        file.writelines(line.encode() for line in dump_lines(dumped, rows=True))
    kept = dumped.has_training_rows
    shared.session.report(
        {"output": str(output), "training_rows": kept}, lambda: [f"wrote {output}, {rows_text(kept)}"]
    )


@command
def load(
    text: Annotated[
        str, typer.Argument(metavar="FILE", show_default=False, help="A file written by dump, or - for standard input.")
    ],
    output: options.Output = None,
    *,
    writing: options.Writing,
    shared: options.Shared,
) -> None:
    """Create a model file from the output of dump. The loaded model is identical to the dumped one."""
    from ..storage.models import load_lines, save_model
    from .training_report import rows_text
    from .writing import checked_path

    if output is None:
        raise ParameterError("load needs an output file; pass -o FILE")
    if text == "-":
        loaded = load_lines(sys.stdin, "stdin")
    elif is_remote(text):
        loaded = load_lines(read_bytes(text).decode().splitlines(keepends=True), text)
    else:
        with open(local_path(text), encoding="utf-8") as file:
            loaded = load_lines(file, text)
    with writing.locked(checked_path(output), shared.session):
        save_model(loaded, output, rows=(kept := loaded.has_training_rows))
    shared.session.report({"model": str(output), "training_rows": kept}, lambda: [f"wrote {output}, {rows_text(kept)}"])


_EXPORTS = (".mjs", ".sql", ".onnx")
_in_sql = partial(typer.Option, rich_help_panel="SQL", show_default=False)


@command
def convert(
    model: options.Model,
    output: Annotated[
        Place,
        typer.Argument(
            metavar="OUTPUT", show_default=False, parser=as_path, help="A .candide, .json, .sql, .onnx or .mjs file."
        ),
    ],
    without_rows: Annotated[bool, typer.Option("--without-rows", help="Omit the training rows.")] = False,
    approximate: Annotated[
        bool,
        typer.Option(
            "--approximate", help="Export without random grids of columns, which .sql, .onnx and .mjs cannot express."
        ),
    ] = False,
    table: Annotated[
        str | None, _in_sql(metavar="NAME", help="The table to score, or a query in parentheses; by default rows.")
    ] = None,
    dialect: Annotated[
        str | None,
        _in_sql(
            metavar="NAME",
            help="The dialect: duckdb (the default), postgres, sqlite, or one of sqlglot such as spark or bigquery.",
        ),
    ] = None,
    keep: Annotated[
        str | None,
        _in_sql(metavar="COLUMNS", help="The columns of the table to keep, separated by commas; by default all."),
    ] = None,
    *,
    writing: options.Writing,
    shared: options.Shared,
) -> None:
    """Convert a model to a model file in the newest format (.candide) or to JSON text (.json), or export it.

    Exports are a query that scores a table in a database (.sql), an ONNX graph (.onnx), and a JavaScript module (.mjs).
    They have no training rows and cannot be converted back.
    """
    from ..storage.atomic_write import atomic_writer
    from ..storage.models import dump_lines, save_model
    from .reading import open_model
    from .training_report import rows_text
    from .writing import checked_path

    given = {"table": table, "dialect": dialect, "keep": options.names_of(keep)}
    of_query = {name: value for name, value in given.items() if value is not None}
    _check_output(output, approximate, of_query)
    session = shared.session
    if output.suffix in _EXPORTS:
        with writing.locked(checked_path(output), session):
            made = _exported(open_model(model), output, {**of_query, "approximate": approximate})
            with atomic_writer(output) as file:
                file.write(made)
        session.report({"model": str(output), "bytes": len(made)}, lambda: [f"wrote {output}, {len(made):,} bytes"])
        return
    with writing.locked(checked_path(output), session):
        fitted = open_model(model).for_file()
        kept = fitted.has_training_rows and not without_rows
        if output.suffix == ".candide":
            save_model(fitted, output, rows=kept)
        else:
            with atomic_writer(output) as file:
                file.writelines(line.encode() for line in dump_lines(fitted, rows=kept))
    session.report({"model": str(output), "training_rows": kept}, lambda: [f"wrote {output}, {rows_text(kept)}"])


def _check_output(output: Place, approximate: bool, of_query: dict[str, Any]) -> None:
    """Raise an error for an output of an unknown format, and for options that do not apply to it."""
    if output.suffix not in (".candide", ".json", *_EXPORTS):
        raise ParameterError(
            f"the output is {output}; expected a name that ends in .candide, .json, .sql, .onnx or .mjs"
        )
    if approximate and output.suffix not in _EXPORTS:
        raise ParameterError(
            f"--approximate applies to .sql, .onnx and .mjs files, but the output is {output}; omit --approximate"
        )
    if of_query and output.suffix != ".sql":
        name = next(iter(of_query))
        raise ParameterError(f"--{name} applies to .sql files, but the output is {output}; omit --{name}")


def _exported(model: Model, output: Place, settings: dict[str, Any]) -> bytes:
    """Return the content of an exported file."""
    from ..estimators.functions import from_model

    estimator = from_model(model)
    if output.suffix == ".sql":
        return f"{estimator.to_sql(**settings).rstrip()};\n".encode()
    if output.suffix == ".onnx":
        return bytes(estimator.to_onnx(**settings).SerializeToString())
    return str(estimator.to_js(**settings)).encode()
