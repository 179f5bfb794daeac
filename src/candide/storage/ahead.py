"""Build the vocabularies of an opened file in a thread while other modules are imported."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from ..kernels.layouts import Array
from ..kernels.vocabulary import Vocabulary
from .container import arrays_of
from .reading import Opened

# Names of two arrays: the bytes of the tokens, and where each ends.
Key = tuple[str, str]
# Bytes of tokens that are worth a thread, and vocabularies that are made ahead: files hold few.
_LARGE, _MOST = 1 << 20, 8


class Ahead:
    """Large vocabularies of a file. Invalid ones are left out; the decoder then reports what is wrong."""

    def __init__(self, opened: Opened) -> None:
        self._made: dict[Key, Vocabulary] = {}
        places = opened.header.places
        wanted = dict.fromkeys(key for key in _keys(opened.trees) if all(name in places for name in key))
        large = (key for key in wanted if places[key[0]][1] - places[key[0]][0] >= _LARGE)
        self._keys = list(islice(large, _MOST))
        self._thread = threading.Thread(target=self._make, args=(opened,), daemon=True)
        if self._keys:
            self._thread.start()

    def _make(self, opened: Opened) -> None:
        try:
            content = opened.content()
            for key in self._keys:
                arrays = arrays_of(opened.header, content, key)
                if _are_strings(*arrays.values()):
                    self._made[key] = Vocabulary.from_arrays(*arrays.values())
        except Exception:
            return  # the decoder meets the same, and says what is wrong

    def get(self, key: Key) -> Vocabulary | None:
        """The vocabulary of two arrays, if it was made."""
        if key not in self._keys:
            return None
        self._thread.join()
        return self._made.get(key)


def _are_strings(utf8: Array, offsets: Array) -> bool:
    return utf8.dtype == np.uint8 and utf8.ndim == 1 and offsets.dtype == np.int64 and offsets.ndim == 1


def _keys(trees: Mapping[str, Any]) -> Iterator[Key]:
    """What the trees name as vocabularies."""
    todo: list[Any] = list(trees.values())
    while todo:
        item = todo.pop()
        if isinstance(item, dict) and item.get("$") == "vocabulary":
            key = item.get("utf8"), item.get("offsets")
            if isinstance(key[0], str) and isinstance(key[1], str) and key[0] != key[1]:
                yield key[0], key[1]
        elif isinstance(item, (list, dict)):
            todo.extend(item if isinstance(item, list) else item.values())
