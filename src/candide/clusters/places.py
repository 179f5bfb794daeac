"""Where rows of a cluster are, as a command line names them: ``spark:mail.parquet``, ``dask:s3://bucket/*.csv``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..exceptions import ParameterError, SourceError
from ..sources.file_formats import format_from_suffix
from ..sources.files import expand_path, list_files

ENGINES = ("spark", "dask")
# What both read, and what JSON means to them: a record a line.
_FORMATS = {"csv": "csv", "jsonl": "jsonl", "json": "jsonl", "parquet": "parquet"}
_ADDRESS = re.compile(r"(spark|dask):(.*)", re.DOTALL)
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


class Files(NamedTuple):
    """Files of one format."""

    format: str
    names: list[str]

    @property
    def separator(self) -> str:
        """Between the cells of a line."""
        return "\t" if ".tsv" in self.names[0] or ".tab" in self.names[0] else ","

    @property
    def are_compressed(self) -> bool:
        return any(name.endswith(_COMPRESSED) for name in self.names)


class Table(NamedTuple):
    """A table that the cluster knows by its name."""

    name: str


def engine_of(sources: Sequence[str] | None) -> str | None:
    """Which engine holds the sources, if any does.

    >>> engine_of(["spark:mail/*.parquet"]), engine_of(["mail.csv"])
    ('spark', None)
    """
    engines = {found[1] if (found := _ADDRESS.match(source)) else None for source in sources or ()}
    if len(engines) > 1:
        raise ParameterError(
            f"the sources {', '.join(sources or ())} are in different places; read all of them with spark:, all with "
            "dask:, or all without"
        )
    return engines.pop() if engines else None


def place_of(source: str) -> str:
    """The source without its engine.

    >>> place_of("dask:mail.csv"), place_of("mail.csv")
    ('mail.csv', 'mail.csv')
    """
    found = _ADDRESS.match(source)
    return found[2] if found else source


def places_of(sources: Sequence[str], format: str | None, *, tables: bool) -> Files | Table:
    """What is meant; ``tables``: a name that is no file may be a table."""
    names = [place_of(source) for source in sources]
    if tables and len(names) == 1 and format is None and _is_name(names[0]):
        return Table(names[0])
    found = [place for name in names for place in _places(name)]
    formats = {format or _format(place) for place in found}
    if len(formats) > 1:
        raise ParameterError(f"the sources are of different formats, {', '.join(sorted(formats))}; pass one at a time")
    one = _checked(formats.pop())
    # A folder of Parquet is a table, whose columns may be in the names of folders within it.
    return Files(one, found if one == "parquet" else [file for place in found for file in _below(place)])


def _is_name(place: str) -> bool:
    """Whether it may be a table: letters with dots between, and no file."""
    return re.fullmatch(r"\w+(\.\w+)*", place) is not None and not Path(place).exists() and not _promised(place)


def _places(name: str) -> list[str]:
    """Files and folders here; places elsewhere are the cluster's to look into."""
    return [name] if "://" in name else [str(path.resolve()) for path in expand_path(name)]


def _below(place: str) -> list[str]:
    """The files of a folder, but for the marks that Spark and others leave beside what they write."""
    if "://" in place or not Path(place).is_dir():
        return [place]
    return [str(file) for file in list_files(Path(place)) if not file.name.startswith("_")]


def _promised(place: str) -> str | None:
    return format_from_suffix(Path(place))


def _format(place: str) -> str:
    """By the ending of its name, or of the first file in it."""
    return next(filter(None, map(_promised, [place, *_below(place)[:1]])), "parquet")


def _checked(format: str) -> str:
    if format not in _FORMATS:
        raise SourceError(
            f"the files are of the format {format}; a cluster reads csv, jsonl and parquet; say what they are with "
            "format='parquet', or leave spark: or dask: out"
        )
    return _FORMATS[format]
