"""Models in files that are safe to open, and in a text form that can be read and diffed."""

from .checks import KINDS
from .content import Content, Provenance
from .files import read_model, write_model
from .locking import locked
from .text import from_text, to_text

__all__ = ["KINDS", "Content", "Provenance", "from_text", "locked", "read_model", "to_text", "write_model"]
