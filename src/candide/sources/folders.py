"""Folders and mailboxes: which documents they hold, and of which classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..exceptions import SourceError
from .documents import Document, Documents
from .kinds import FORMATS, promised_format
from .mailbox import Mailbox, is_mail
from .part import Part
from .places import files_below, visible

# Files of a folder are a table in pieces if all are of these formats.
_TABLES = ("csv", "jsonl", "json", "parquet", "arrow")


def is_documents(place: Path, format: str | None) -> bool:
    """Whether a place is a folder of texts or mails, or a mailbox; not a table in pieces or in one."""
    if place.is_dir():
        files = files_below(place)
        return not files or any(promised_format(file) not in _TABLES for file in files)
    format = format or promised_format(place)
    return format in ("mbox", "eml") or (format is None and place.is_file() and is_mail(place))


def documents_of(places: Sequence[Path], encoding: str | None) -> Part:
    """All documents; several places are a class each, and so is what is in a single folder."""
    classes = _inside(places[0]) if len(places) == 1 else list(places)
    labels = [_class_name(place) for place in classes] if len(classes) > 1 else [None]
    if len(set(labels)) == 1:
        labels = [None] * len(classes)
    found = [Document(file, label) for place, label in zip(classes, labels, strict=True) for file in _files(place)]
    if not found:
        raise SourceError(
            f"the folder {places[0]} holds no files; pass one with a sub-folder of texts for each class, or with files "
            f"of the formats {', '.join(FORMATS)}"
        )
    name = str(places[0]) if len(places) == 1 else "the folders"
    is_mailbox = any(map(_is_maildir, classes)) or is_mail(found[0].path)
    return Mailbox(found, name) if is_mailbox else Documents(found, name, encoding)


def _inside(place: Path) -> list[Path]:
    """The folders and mailboxes in a folder; else the place itself."""
    entries = visible(place) if place.is_dir() and not _is_maildir(place) else []
    return [entry for entry in entries if entry.is_dir() or promised_format(entry) == "mbox"] or [place]


def _class_name(place: Path) -> str | None:
    """A folder's name; that of a mailbox without its ending; for a single mail that of its folder."""
    if place.is_dir():
        return place.name
    return place.parent.name if promised_format(place) == "eml" else place.name.partition(".mbox")[0]


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    folders = [place / "cur", place / "new"] if _is_maildir(place) else [place]
    return [file for folder in folders for file in files_below(folder)]


def _is_maildir(folder: Path) -> bool:
    return (folder / "cur").is_dir() and (folder / "new").is_dir()
