"""Export of models as JavaScript modules: the data in JSON, and the ``.js`` files of this folder, which read it."""

from .export import to_js

__all__ = ["to_js"]
