"""Mailboxes: mbox files, Maildirs and .eml files."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from .documents import LABEL, Document
from .mail import read_mail
from .part import Part, Reading
from .records import record_batches
from .streams import opened

_COLUMNS = [(name, pa.string()) for name in ("text", "subject", "from", "to")]
_COLUMNS += [("date", pa.timestamp("us")), ("attachments", pa.string()), ("file", pa.string())]


class Mailbox(Part):
    """Mails of one or several files, each an mbox or a single mail; with a label where there are classes."""

    is_texts = True

    def __init__(self, documents: Sequence[Document], name: str) -> None:
        self.name = name
        self.n_bytes = sum(document.path.stat().st_size for document in documents)
        self._documents = documents

    @property
    def schema(self) -> pa.Schema:
        labelled = any(document.label is not None for document in self._documents)
        return pa.schema([*_COLUMNS, *([LABEL] if labelled else [])])

    def batches(self, reading: Reading, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return record_batches(self._records(reading), self.schema)

    def _records(self, reading: Reading) -> Iterator[dict[str, Any]]:
        n_before = 0
        for path, label in self._documents:
            with opened(path) as stream:
                for place, content in mails_in(path, stream):
                    reading.bytes_here = n_before + stream.tell_raw()
                    yield {**_cells(content), "file": place, "label": label}
            n_before += path.stat().st_size


def _cells(content: bytes) -> dict[str, Any]:
    mail = read_mail(content)
    cells = {"text": mail.text, "subject": mail.subject, "from": mail.sender, "to": mail.to, "date": mail.date}
    return {**cells, "attachments": ", ".join(mail.attachments) or None}


def mails_in(path: Path, stream: Any) -> Iterator[tuple[str, bytes]]:
    """The mails of a file with their places: many where it is an mbox, else one."""
    lines = iter(io.BufferedReader(stream, 1 << 20))
    first = next(lines, b"")
    if not first.startswith(b"From "):
        yield str(path), first + b"".join(lines)
        return
    for number, content in enumerate(_parted(lines), start=1):
        yield f"{path}:{number}", content


def _parted(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Mails between the lines that begin with «From » after a blank one."""
    mail: list[bytes] = []
    after_blank = False
    for line in lines:
        if after_blank and line.startswith(b"From "):
            yield b"".join(mail)
            mail = []
        else:
            # Within a mail such a line was written with a mark.
            mail.append(line[1:] if line.startswith(b">") and line.lstrip(b">").startswith(b"From ") else line)
        after_blank = not line.strip()
    yield b"".join(mail)


def is_mail(path: Path) -> bool:
    """Whether a file is a mail that was delivered, by its first headers."""
    if path.suffix.lower() == ".eml":
        return True
    with opened(path) as stream:
        start = stream.read(2048).lower()
    marks = (b"return-path:", b"received:", b"delivered-to:", b"from ", b"x-envelope-from:")
    return bool(start.startswith(marks) and (b"\nreceived:" in start or b"\nfrom:" in start or b"\nsubject:" in start))
