"""Email messages from mbox files, Maildirs and .eml files."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from email.policy import default
from email.utils import parsedate_to_datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from .file_formats import detect_encoding
from .files import open_decompressed
from .reader import Reader, ReadProgress, record_batches, replace_surrogates
from .text_files import Document, document_schema

_SPACE = re.compile(r"[ \t\r\f\v]*\n\s*|[ \t\r\f\v]+")
# Parts declared as multipart without any parts are texts.
_TEXT_TYPES = ("text", "multipart")
_TAG = re.compile(r"<[^>]*>")


class Email(NamedTuple):
    """The text and the headers of a message."""

    subject: str | None
    sender: str | None
    to: str | None
    date: datetime | None
    body: str
    #: Name and type of each attachment.
    attachments: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return headers and text as one string."""
        return "\n".join(filter(None, [self.subject, self.sender, self.body, *self.attachments]))


def parse_email(content: bytes) -> Email:
    """Parse a message, also a malformed one.

    >>> mail = parse_email(b"From: Ann <ann@example.org>\\nSubject: =?utf-8?q?Caf=C3=A9?=\\n\\nAt noon?\\n")
    >>> mail.subject, mail.sender, mail.body
    ('Café', 'Ann <ann@example.org>', 'At noon?')
    """
    message = message_from_bytes(content, policy=default)
    body = replace_surrogates("\n".join(_text_parts(message)).strip())
    subject, sender, to = (_header(message, name) for name in ("subject", "from", "to"))
    return Email(subject, sender, to, _parse_date(message), body, tuple(_attachments(message)))


def _header(message: Message, name: str) -> str | None:
    try:
        found = message.get(name)
    except Exception:  # the standard library's parser raises various errors for invalid headers
        found = next((value for key, value in message.raw_items() if key.lower() == name), None)
    return None if found is None else replace_surrogates(" ".join(str(found).split()))


def _parse_date(message: Message) -> datetime | None:
    try:
        date = parsedate_to_datetime(_header(message, "date") or "")
        return date.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _text_parts(part: Message) -> Iterator[str]:
    """Yield the texts of a part; of alternatives the plain one, unless it is empty."""
    if part.is_multipart():
        inner = [(child, text) for child in _children(part) for text in _text_parts(child)]
        plain = [text for child, text in inner if child.get_content_type() == "text/plain" and text.strip()]
        alternatives = part.get_content_subtype() == "alternative" and plain
        yield from plain if alternatives else (text for _, text in inner)
    elif part.get_content_maintype() in _TEXT_TYPES and not _is_attachment(part):
        text = _decode_part(part)
        yield plain_text(text) if part.get_content_subtype() == "html" else text


def _children(part: Message) -> list[Any]:
    children = part.get_payload()
    return children if isinstance(children, list) else []


def _decode_part(part: Message) -> str:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return str(part.get_payload())
    try:
        return content.decode(part.get_content_charset() or "utf-8")
    except (LookupError, UnicodeError):
        return content.decode(detect_encoding(content) or "utf-8", errors="replace")


def _attachments(message: Message) -> Iterator[str]:
    for part in message.walk():
        if not part.is_multipart() and (_is_attachment(part) or part.get_content_maintype() not in _TEXT_TYPES):
            yield replace_surrogates(f"{_filename(part) or 'attachment'} ({part.get_content_type()})")


def _is_attachment(part: Message) -> bool:
    try:
        return part.get_content_disposition() == "attachment" or _filename(part) is not None
    except Exception:  # as with headers
        return False


def _filename(part: Message) -> str | None:
    try:
        return part.get_filename()
    except Exception:  # as with headers
        return None


class _TextExtractor(HTMLParser):
    """Collects the text that a browser shows."""

    _HIDDEN = ("script", "style", "head", "template")
    _TOGETHER = frozenset(
        ["a", "abbr", "b", "big", "em", "font", "i", "s", "small", "span", "strong", "sub", "sup", "u"]
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.shown: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._hidden += tag in self._HIDDEN
        if tag not in self._TOGETHER:
            self.shown.append("\n")
        if tag == "body":
            self._hidden = 0  # in many messages, the head element is not closed

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in self._HIDDEN))

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.shown.append(data)


def plain_text(html: str) -> str:
    """Return HTML without its tags, scripts and styles.

    >>> plain_text("<style>p {}</style><p>Win &euro;100<br>now</p>")
    'Win €100\\nnow'
    """
    stripper = _TextExtractor()
    try:
        stripper.feed(html)
        stripper.close()
        text = "".join(stripper.shown)
    except Exception:  # truncated declarations
        text = _TAG.sub(" ", html)
    return _SPACE.sub(lambda space: "\n" if "\n" in space[0] else " ", text).strip()


_FIELDS = [(name, pa.string()) for name in ("text", "subject", "from", "to")]
_FIELDS += [("date", pa.timestamp("us")), ("attachments", pa.string()), ("file", pa.string())]


class MailboxReader(Reader):
    """Messages of one or several files, each an mbox or a single message; with a label where there are classes."""

    is_texts = True

    def __init__(self, documents: Sequence[Document], name: str) -> None:
        super().__init__(name, *(document.path for document in documents))
        self._documents = documents
        self.schema = document_schema(_FIELDS, documents)

    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return record_batches(self._records(progress), self.schema)

    def _records(self, progress: ReadProgress) -> Iterator[dict[str, Any]]:
        n_before = 0
        for path, label, name in self._documents:
            with open_decompressed(path) as stream:
                for place, content in iter_messages(name, stream):
                    progress.bytes_current = n_before + stream.tell_raw()
                    yield {**_message_cells(content), "file": place, "label": label}
            n_before += path.stat().st_size


def _message_cells(content: bytes) -> dict[str, Any]:
    mail = parse_email(content)
    cells = {"text": mail.text, "subject": mail.subject, "from": mail.sender, "to": mail.to, "date": mail.date}
    return {**cells, "attachments": ", ".join(mail.attachments) or None}


def iter_messages(name: str, stream: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the messages of a file with their positions: several for an mbox, else one."""
    lines = iter(io.BufferedReader(stream, 1 << 20))
    first = next(lines, b"")
    if not first.startswith(b"From "):
        yield name, first + b"".join(lines)
        return
    for number, content in enumerate(_split_mbox(lines), start=1):
        yield f"{name}:{number}", content


def _split_mbox(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the messages between lines that begin with «From » after a blank line."""
    mail: list[bytes] = []
    after_blank = False
    for line in lines:
        if after_blank and line.startswith(b"From "):
            yield b"".join(mail)
            mail = []
        else:
            # Within a message, such a line is escaped with ">".
            mail.append(line[1:] if line.startswith(b">") and line.lstrip(b">").startswith(b"From ") else line)
        after_blank = not line.strip()
    yield b"".join(mail)


def is_email(path: Path) -> bool:
    """Return whether a file is a delivered message, by its first headers."""
    if path.suffix.lower() == ".eml":
        return True
    with open_decompressed(path) as stream:
        start = stream.read(2048).lower()
    marks = (b"return-path:", b"received:", b"delivered-to:", b"from ", b"x-envelope-from:")
    return bool(start.startswith(marks) and (b"\nreceived:" in start or b"\nfrom:" in start or b"\nsubject:" in start))
