"""The format and the encoding of a file, detected from its first bytes and its name."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import NamedTuple

from ..exceptions import ParameterError, SourceError
from .files import HEAD_BYTES, open_decompressed

# Formats and their file name extensions.
SUFFIXES = {
    "csv": ("csv", "tsv", "tab"),
    "jsonl": ("jsonl", "ndjson"),
    "json": ("json",),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "feather", "ipc", "arrows"),
    "text": ("txt", "text"),
    "mbox": ("mbox",),
    "eml": ("eml",),
    "sqlite": ("sqlite", "sqlite3"),
    "duckdb": ("duckdb",),
}
FORMATS = tuple(SUFFIXES)
_FORMAT_OF = {ending: kind for kind, endings in SUFFIXES.items() for ending in endings}
_COMPRESSED_ENDINGS = (".gz", ".zst", ".zstd", ".bz2", ".xz")

# First bytes by which formats are recognized, regardless of the name.
_MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrow"), (b"SQLite format 3\0", "sqlite"))
_UNSUPPORTED = ((b"PK\x03\x04", "a zip archive or an Excel workbook"), (b"%PDF", "a PDF"), (b"\x89PNG", "an image"))
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Maximum share of control characters in a text.
_MAX_CONTROL_SHARE = 0.05


class FileFormat(NamedTuple):
    """The format of a file, and its encoding if it is text."""

    format: str
    encoding: str = "utf-8"

    @property
    def is_utf8(self) -> bool:
        return self.encoding in ("utf-8", "utf-8-sig")


def detect_format(path: Path, name: str, format: str | None, encoding: str | None) -> FileFormat:
    """Detect the format of a file, unless ``format`` and ``encoding`` are given."""
    with open_decompressed(path) as stream:
        head = stream.read(HEAD_BYTES)
    if not head:
        raise SourceError(f"{name} is empty (0 bytes); pass a file with rows")
    format = format or _binary_format(head)
    if format in ("parquet", "arrow", "sqlite", "duckdb"):
        return FileFormat(format)
    _reject_unsupported(head, name)
    encoding = _check_encoding(encoding) or detect_encoding(head, whole=len(head) < HEAD_BYTES)
    if encoding is None:
        raise SourceError(
            f"{name} is neither text nor one of the formats {', '.join(FORMATS)}; pass a file of one of these "
            "formats, or the encoding of the text, such as encoding='shift_jis'"
        )
    text = head.decode(encoding, errors="replace")
    return FileFormat(format or _format_from_name(path, text) or _text_format(text, name), encoding)


def check_format(format: str | None) -> str | None:
    if format is None or format in FORMATS:
        return format
    raise ParameterError(f"format is {format!r}; expected one of {', '.join(FORMATS)}, or None to detect it")


def format_from_suffix(path: Path) -> str | None:
    """Return the format by the file name extension, ignoring that of a compression."""
    endings = [ending for ending in path.suffixes if ending.lower() not in _COMPRESSED_ENDINGS]
    return _FORMAT_OF.get(endings[-1][1:].lower()) if endings else None


def detect_encoding(head: bytes, whole: bool = True) -> str | None:
    """Return the encoding of a text, given its beginning; None if it is not text.

    >>> [detect_encoding("naïve".encode(encoding)) for encoding in ("utf-8", "latin-1", "utf-16")]
    ['utf-8', 'cp1252', 'utf-16']
    """
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    for encoding in _candidate_encodings(head):
        text = _try_decode(head, encoding, whole)
        if text is not None:
            # Other text is rarely valid UTF-8 by chance, but every byte is a character in the other encodings.
            return (
                encoding
                if _n_controls(text) <= max(_MAX_CONTROL_SHARE * len(text), 20 * (encoding == "utf-8"))
                else None
            )
    return None


def _candidate_encodings(head: bytes) -> tuple[str, ...]:
    # Half of the bytes of Western text in UTF-16 are zeros; without a byte order mark this is the only indication.
    zeros_even, zeros_odd = head[0:4096:2].count(0), head[1:4096:2].count(0)
    if max(zeros_even, zeros_odd) > 0.3 * min(len(head), 4096) / 2:
        return ("utf-16-le",) if zeros_odd > zeros_even else ("utf-16-be",)
    return ("utf-8", "cp1252", "latin-1")


def _try_decode(head: bytes, encoding: str, whole: bool) -> str | None:
    try:
        # A truncated text may end within a character.
        return codecs.getincrementaldecoder(encoding)().decode(head, final=whole)
    except UnicodeDecodeError:
        return None


_CONTROLS = bytes(code for code in range(32) if chr(code) not in "\t\n\r\f\x1b")


def _n_controls(text: str) -> int:
    content = text.encode(errors="replace")
    return len(content) - len(content.translate(None, _CONTROLS))


def _check_encoding(encoding: str | None) -> str | None:
    try:
        return encoding and codecs.lookup(encoding).name
    except LookupError:
        raise ParameterError(
            f"encoding is {encoding!r}, which is not a Python encoding; pass an encoding such as 'utf-8', "
            "'latin-1', 'cp1252' or 'utf-16', or None to detect it"
        ) from None


def _binary_format(head: bytes) -> str | None:
    if head[8:12] == b"DUCK":
        return "duckdb"
    return next((format for magic, format in _MAGIC if head.startswith(magic)), None)


def _reject_unsupported(head: bytes, name: str) -> None:
    for magic, what in _UNSUPPORTED:
        if head.startswith(magic):
            raise SourceError(f"{name} is {what}; export its rows as one of {', '.join(FORMATS)}")


def _format_from_name(path: Path, text: str) -> str | None:
    format = format_from_suffix(path)
    if format == "json" and not text.lstrip().startswith("["):
        return "jsonl"
    return "csv" if format == "text" and _has_tabs(text) else format


def _text_format(text: str, name: str) -> str:
    """Return the format of a text by its content."""
    from .csv_dialect import is_delimited

    start = text.lstrip()
    if start.startswith(("{", "[")):
        return "jsonl" if start.startswith("{") else "json"
    if start.startswith("From "):
        return "mbox"
    if is_delimited(text) or _is_one_column(text):
        return "csv"
    raise SourceError(
        f"{name} is a text file, but its format cannot be detected from its name or content; set "
        f"format to 'text' (one text per line) or one of {', '.join(FORMATS)}"
    )


def _is_one_column(text: str) -> bool:
    """Return whether there are quoted cells under a name."""
    name, *cells = text.splitlines()[:100]
    return re.fullmatch(r"\w{1,40}", name) is not None and any(cell.startswith('"') for cell in cells)


def _has_tabs(text: str) -> bool:
    """Return whether every line has the same number of tabs, at least one."""
    lines = text.splitlines()[:100]
    return len({line.count("\t") for line in lines if line}) == 1 and "\t" in lines[0]
