"""Sources and models, opened for a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedReader
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from ..exceptions import ModelFileError, ParameterError
from ..remote import is_remote, local_path, read_bytes
from .session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from ..model.model import Model
    from ..model.source import Source
    from ..remote import Place


STDIN = "-"


def check_stdin(*given: object) -> None:
    """Raise an error if more than one argument is standard input."""
    each = [one for value in given for one in (value if isinstance(value, list) else [value])]
    count = sum(str(one) == STDIN for one in each)
    if count > 1:
        raise ParameterError(
            f"standard input was given {count} times (as '-', or by omitting an argument that defaults to it), but it "
            "can be read only once; pass files for the other arguments"
        )


def check_output(model: Place, output: Place | None) -> None:
    """Raise an error if a model from standard input has no output file."""
    if str(model) == STDIN and output is None:
        raise ParameterError("the model is read from standard input, so the result needs a file name; pass -o FILE")


def lines_of_stdin() -> Iterator[list[str]]:
    """Yield the lines of standard input in groups, as they become available."""
    rest, pipe = b"", cast("BufferedReader", sys.stdin.buffer)
    while piece := pipe.read1(1 << 20):
        *lines, rest = (rest + piece).split(b"\n")
        if lines:
            yield [line.decode(errors="replace").removesuffix("\r") for line in lines]
    if rest:
        yield [rest.decode(errors="replace")]


def texts_or_stdin(texts: list[str]) -> Iterator[list[str]]:
    """Yield the texts in groups and in order; for "-", the lines of standard input as they arrive."""
    for is_stdin, some in groupby(texts, lambda text: text == STDIN):
        if is_stdin:
            yield from lines_of_stdin()
        else:
            yield list(some)


@contextmanager
def open_source(
    sources: list[str] | None, n_threads: int | None, roles: dict[str, Any], options: dict[str, Any], labeled: bool
) -> Iterator[Source]:
    """Open what the arguments of a command name, here or on a cluster."""
    if not sources and not options["sql"]:
        raise ParameterError("no source was given; name a file, a folder, a mailbox or a database, or pass --sql")
    from ..sources.cluster_files import engine_of

    engine = engine_of(sources)
    if engine is not None:
        from ..model.source import RequestedRoles, check_names
        from ..sources.cluster_files import open_cluster

        _refuse_file_options(engine, {**options, "groups": roles.get("groups")})
        columns, declared = roles.get("columns"), roles.pop("schema", None)
        requested = RequestedRoles(**roles | {"columns": None if columns is None else tuple(columns)})
        with open_cluster(engine, sources or [], requested, options["format"], n_threads, labeled) as source:
            check_names(declared or (), list(source.names or ()))
            yield source
        return
    from ..sources import read

    check_stdin(sources)
    bad = _collecting(options["on_bad_row"])
    if not isinstance(bad, str):
        refuse_source(bad, sources)
    yield read(*(sources or []), **roles, **options | {"on_bad_row": bad, "missing": options["missing"] or ()})


def _refuse_file_options(engine: str, options: dict[str, Any]) -> None:
    """Refuse options that only what reads files itself can follow."""
    defaults = {
        "sql": None, "groups": None, "encoding": None, "missing": None, "on_bad_row": "error", "extensions": False,
    }  # fmt: skip
    for name, default in defaults.items():
        if options[name] != default:
            raise ParameterError(
                f"--{name.replace('_', '-')} does not apply to {engine}: sources; omit the option, or omit {engine}:"
            )


def refuse_source(path: Place, sources: list[str] | None) -> None:
    """Raise an error if the output would overwrite a source."""
    from ..sources.cluster_files import without_engine

    for source in map(local_path, map(without_engine, sources or [])):
        here = os.path.exists(path) and os.path.exists(source)
        if os.path.samefile(path, source) if here else is_remote(source) and str(path) == source:
            raise ParameterError(
                f"{path} is both a source and the output, and would be overwritten; name another output file"
            )


def _collecting(on_bad_row: str) -> str | Path:
    """ "error", "skip", or the file that is meant by "collect" or "collect FILE"."""
    if on_bad_row in ("error", "skip"):
        return on_bad_row
    verb, _, file = on_bad_row.partition(" ")
    if verb == "collect":
        from pathlib import Path

        return Path(file.strip() or "bad_rows.jsonl")
    raise ParameterError(f"--on-bad-row is {on_bad_row!r}; expected error, skip, or 'collect FILE'")


def open_model(path: str | Place) -> Model:
    """Return the model in a file or in standard input, also in the JSON form of ``dump``."""
    if str(path) == STDIN:
        from ..sources.files import copy_stream

        copy = copy_stream(sys.stdin.buffer)
        try:
            return _model_in(copy.path)
        except ModelFileError as error:
            raise ModelFileError(str(error).replace(str(copy.path), "standard input")) from None
    return _model_in(path)


def _model_in(path: str | Place) -> Model:
    if is_remote(path):
        return _downloaded(str(path))
    path = local_path(path)
    with open(path, "rb") as file:
        is_text = file.read(1) == b"{"
    if not is_text:
        return _loaded(path)
    from ..storage.models import load_lines

    with open(path, encoding="utf-8") as lines:
        return load_lines(lines, str(path))


def _downloaded(url: str) -> Model:
    """Return the model at an address."""
    from ..storage.models import load_bytes, load_lines

    data = read_bytes(url)
    return load_lines(data.decode(errors="replace").splitlines(), url) if data[:1] == b"{" else load_bytes(data, url)


def _loaded(path: str | Place) -> Model:
    """Return the model in a file, which threads read and verify while modules are imported."""
    from ..storage.background_reader import BackgroundReader

    reader = BackgroundReader(path, build_vocabularies=True)
    from ..storage.models import load_from

    return load_from(reader)


def with_absent(model: Model, absent: str | None) -> Model:
    """Return the model for tables that may lack columns, as set by ``--absent``."""
    if absent is None:
        return model
    if absent not in ("error", "missing"):
        raise ParameterError(f"--absent is {absent!r}; expected error or missing")
    if not hasattr(model.spec, "absent"):
        raise ParameterError(f"--absent applies only to tables, but the model is a {model.spec.name}; omit --absent")
    return replace(model, spec=model.spec.with_parameters(absent=absent))


def say_bad_rows(source: Source, session: Session) -> None:
    """Print a note with the number of rows that could not be read, and the first of them."""
    bad = source.bad_rows
    if bad:
        first, rows = next(iter(bad)), f"{len(bad):,} row{'' if len(bad) == 1 else 's'}"
        session.note(
            f"skipped {rows} that could not be read; the first is {first.file}, line {first.line}: {first.problem}"
        )
