"""Training rows that stay in their file until somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from ..statistics import Sample

# Where training rows stand in a model.
ROWS = "model.state.sample"
_FIELDS = frozenset(field.name for field in fields(Sample))


class StoredSample(Sample):
    """A ``Sample`` whose fields are read when the first of them is used; then it is a plain one."""

    @classmethod
    def later(cls, read: Callable[[], Sample]) -> StoredSample:
        """The sample that ``read`` returns; it is called once, or again after an error."""
        stored = object.__new__(cls)
        vars(stored)["read"] = read
        return stored

    @property
    def is_empty(self) -> bool:
        """Few rows are not left in a file."""
        return False

    def load(self) -> None:
        """Reads the rows, if they are not there yet."""
        read = vars(self).get("read")
        if read is not None:
            vars(self).update({name: value for name, value in vars(read()).items() if name in _FIELDS})
            # Also for a second thread, which may be in here too.
            object.__setattr__(self, "__class__", Sample)
            vars(self).pop("read", None)

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.load()
        return object.__getattribute__(self, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.load()
        return object.__reduce_ex__(self, protocol)
