"""One mail, as a person sees it: who wrote, about what, the text, and which attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from email.policy import default
from email.utils import parsedate_to_datetime
from html.parser import HTMLParser
from typing import Any, NamedTuple

from .kinds import encoding_of
from .records import encodable

_SPACE = re.compile(r"[ \t\r\f\v]*\n\s*|[ \t\r\f\v]+")
# Parts that say they have parts and have none are texts.
_WRITTEN = ("text", "multipart")
_TAG = re.compile(r"<[^>]*>")


class Mail(NamedTuple):
    """What a mail says."""

    subject: str | None
    sender: str | None
    to: str | None
    date: datetime | None
    body: str
    #: Name and type of each.
    attachments: tuple[str, ...]

    @property
    def text(self) -> str:
        """Everything that speaks for a class, one below the other."""
        return "\n".join(filter(None, [self.subject, self.sender, self.body, *self.attachments]))


def read_mail(content: bytes) -> Mail:
    """A mail from its bytes, however badly it is written.

    >>> mail = read_mail(b"From: Ann <ann@example.org>\\nSubject: =?utf-8?q?Caf=C3=A9?=\\n\\nAt noon?\\n")
    >>> mail.subject, mail.sender, mail.body
    ('Café', 'Ann <ann@example.org>', 'At noon?')
    """
    message = message_from_bytes(content, policy=default)
    body = encodable("\n".join(_texts(message)).strip())
    subject, sender, to = (_header(message, name) for name in ("subject", "from", "to"))
    return Mail(subject, sender, to, _date(message), body, tuple(_attachments(message)))


def _header(message: Message, name: str) -> str | None:
    try:
        found = message.get(name)
    except Exception:  # the standard library's parser has several for headers that are no headers
        found = next((value for key, value in message.raw_items() if key.lower() == name), None)
    return None if found is None else encodable(" ".join(str(found).split()))


def _date(message: Message) -> datetime | None:
    try:
        date = parsedate_to_datetime(_header(message, "date") or "")
        return date.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _texts(part: Message) -> Iterator[str]:
    """The texts of a part; of alternatives the plain one, if it says anything."""
    if part.is_multipart():
        inner = [(child, text) for child in _children(part) for text in _texts(child)]
        plain = [text for child, text in inner if child.get_content_type() == "text/plain" and text.strip()]
        alternatives = part.get_content_subtype() == "alternative" and plain
        yield from plain if alternatives else (text for _, text in inner)
    elif part.get_content_maintype() in _WRITTEN and not _is_attachment(part):
        text = _decoded(part)
        yield plain_text(text) if part.get_content_subtype() == "html" else text


def _children(part: Message) -> list[Any]:
    children = part.get_payload()
    return children if isinstance(children, list) else []


def _decoded(part: Message) -> str:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return str(part.get_payload())
    try:
        return content.decode(part.get_content_charset() or "utf-8")
    except (LookupError, UnicodeError):
        return content.decode(encoding_of(content) or "utf-8", errors="replace")


def _attachments(message: Message) -> Iterator[str]:
    for part in message.walk():
        if not part.is_multipart() and (_is_attachment(part) or part.get_content_maintype() not in _WRITTEN):
            yield encodable(f"{_filename(part) or 'attachment'} ({part.get_content_type()})")


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


class _Stripper(HTMLParser):
    """Keeps what a browser shows."""

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
            self._hidden = 0  # many a mail never closes its head

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in self._HIDDEN))

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.shown.append(data)


def plain_text(html: str) -> str:
    """HTML without its tags, scripts and styles.

    >>> plain_text("<style>p {}</style><p>Win &euro;100<br>now</p>")
    'Win €100\\nnow'
    """
    stripper = _Stripper()
    try:
        stripper.feed(html)
        stripper.close()
        text = "".join(stripper.shown)
    except Exception:  # declarations cut off half-way
        text = _TAG.sub(" ", html)
    return _SPACE.sub(lambda space: "\n" if "\n" in space[0] else " ", text).strip()
