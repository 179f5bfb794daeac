"""Training rows that stay in the model file until they are used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from ..statistics import Sample

# The path of the training rows in the tree of a model.
SAMPLE_PATH = "model.state.sample"
_FIELDS = frozenset(field.name for field in fields(Sample))


class DeferredSample(Sample):
    """A ``Sample`` whose fields are read when one of them is first used; then it becomes a plain ``Sample``."""

    @classmethod
    def from_reader(cls, read: Callable[[], Sample]) -> DeferredSample:
        """Return the sample that ``read`` returns; it is called once, or again after an error."""
        deferred = object.__new__(cls)
        vars(deferred)["read"] = read
        return deferred

    @property
    def is_empty(self) -> bool:
        """False, because only large samples are deferred."""
        return False

    def load(self) -> None:
        """Read the rows, unless they have been read."""
        read = vars(self).get("read")
        if read is not None:
            vars(self).update({name: value for name, value in vars(read()).items() if name in _FIELDS})
            # A second thread may be in this method at the same time, so the order of these steps matters.
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
