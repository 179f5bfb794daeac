"""Model files that are safe to open, and a JSON form of models that can be read and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_names import lazy_names

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

# A file can be opened before NumPy is imported.
__getattr__ = lazy_names(
    __name__,
    {
        "KINDS": "validation.model",
        "Content": "content",
        "Provenance": "content",
        "content_of": "model_file",
        "from_json_lines": "json_form",
        "locked": "locking",
        "read_model": "model_file",
        "to_json_lines": "json_form",
        "write_model": "model_file",
    },
)
