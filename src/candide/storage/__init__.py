"""Model files that are safe to open, and a JSON form of models that can be read and compared."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .content import Content, Provenance
    from .json_form import from_json_lines, to_json_lines
    from .locking import locked
    from .model_file import content_of, read_model, write_model
    from .validation.model import KINDS

__all__ = [
    "KINDS",
    "Content",
    "Provenance",
    "content_of",
    "from_json_lines",
    "locked",
    "read_model",
    "to_json_lines",
    "write_model",
]

_MODULES = {
    "KINDS": ".validation.model",
    "Content": ".content",
    "Provenance": ".content",
    "content_of": ".model_file",
    "from_json_lines": ".json_form",
    "locked": ".locking",
    "read_model": ".model_file",
    "to_json_lines": ".json_form",
    "write_model": ".model_file",
}


def __getattr__(name: str) -> Any:
    # Imported at first use, so that a file can be opened before NumPy is imported.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value
