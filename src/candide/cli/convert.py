"""``candide dump``, ``load``, ``convert``: a model as JSON text, and back."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ..exceptions import ParameterError
from ..remote import Place, as_path, is_remote, local_path, read_bytes
from . import options
from .command import command

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
# Export to a JavaScript module
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


@command
def convert(
    model: options.Model,
    output: Annotated[
        Place,
        typer.Argument(metavar="OUTPUT", show_default=False, parser=as_path, help="A .candide, .json or .mjs file."),
    ],
    without_rows: Annotated[bool, typer.Option("--without-rows", help="Omit the training rows.")] = False,
    approximate: Annotated[
        bool, typer.Option("--approximate", help="Export to .mjs without random grids of columns.")
    ] = False,
    *,
    writing: options.Writing,
    shared: options.Shared,
) -> None:
    """Convert a model to a model file in the newest format (.candide), to JSON text (.json), or to JavaScript (.mjs).

    A JavaScript module has no training rows and cannot be converted back.
    """
    from ..storage.atomic_write import atomic_writer
    from ..storage.models import dump_lines, save_model
    from .reading import open_model
    from .training_report import rows_text
    from .writing import checked_path

    if output.suffix not in (".candide", ".json", ".mjs"):
        raise ParameterError(f"the output is {output}; expected a name that ends in .candide, .json or .mjs")
    if approximate and output.suffix != ".mjs":
        raise ParameterError(f"--approximate applies to .mjs files, but the output is {output}; omit --approximate")
    session = shared.session
    if output.suffix == ".mjs":
        from ..export.javascript import to_js

        with writing.locked(checked_path(output), session):
            source = to_js(open_model(model), approximate=approximate).encode()
            with atomic_writer(output) as file:
                file.write(source)
        session.report({"model": str(output), "bytes": len(source)}, lambda: [f"wrote {output}, {len(source):,} bytes"])
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
