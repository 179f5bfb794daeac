"""Old name of ``places``."""

from .places import infinite_cell, negative_cell

__all__ = ["infinite_cell", "negative_cell"]
