"""Models in files that are safe to open, and in a text form that can be read and diffed."""

from .content import Content, Provenance
from .files import read_model, write_model

__all__ = ["Content", "Provenance", "read_model", "write_model"]
