"""Training rows that stay in their file until somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from ..statistics import Sample
from .container import Header

# Where training rows stand in a model.
ROWS = "model.state.sample"
# Bytes of them that are read with the model: a file need not stay open for few.
_FEW = 1 << 22
_FIELDS = frozenset(field.name for field in fields(Sample))


class StoredSample(Sample):
    """A ``Sample`` whose fields are read when the first of them is used; then it is a plain one."""

    @classmethod
    def later(cls, read: Callable[[], Sample]) -> StoredSample:
        """The sample that ``read`` returns; it is called once, or again after an error."""
        stored = object.__new__(cls)
        vars(stored)["read"] = read
        return stored

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


def rows_apart(parts: Any, header: Header) -> tuple[str, ...]:
    """The arrays that nothing but the training rows is made of; none if they are small."""
    state: Any = parts.get("state") if isinstance(parts, dict) else None
    sample: Any = state.get("sample") if isinstance(state, dict) else None
    if not isinstance(sample, dict):
        return ()
    inside = {text for text in _texts(sample) if text in header.places}
    others = {**parts, "state": {**state, "sample": None}}
    names = tuple(sorted(inside - set(_texts(others))))
    n_bytes = sum(end - begin for begin, end in (header.places[name] for name in names))
    return names if n_bytes >= _FEW else ()


def _texts(tree: Any) -> Iterator[str]:
    """All texts in a tree, among them the names of its arrays."""
    todo = [tree]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, (list, dict)):
            todo.extend(item if isinstance(item, list) else item.values())
