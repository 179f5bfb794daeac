"""Models in files that are safe to open, and in a text form that can be read and diffed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checks import KINDS
    from .content import Content, Provenance
    from .files import content_of, read_model, write_model
    from .locking import locked
    from .text import from_text, to_text

__all__ = [
    "KINDS",
    "Content",
    "Provenance",
    "content_of",
    "from_text",
    "locked",
    "read_model",
    "to_text",
    "write_model",
]

_MODULES = {
    "KINDS": ".checks",
    "Content": ".content",
    "Provenance": ".content",
    "content_of": ".files",
    "from_text": ".text",
    "locked": ".locking",
    "read_model": ".files",
    "to_text": ".text",
    "write_model": ".files",
}


def __getattr__(name: str) -> Any:
    # Loaded when first used: a file is opened before what reads it is there.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value
