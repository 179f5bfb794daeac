"""The content of a model file in memory, with the training rows still in the file if they are many."""

from __future__ import annotations

import os
import stat
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..kernels.data import Array
from .container import Header, header_of, header_size
from .sound import Unsound, require

# Bytes that are read or hashed at once, and files whose checksum is computed beside their being read.
_PIECE, _LARGE = 1 << 20, 1 << 22
_CHANGED = "load the model again, and replace files by others instead of writing into them, as save() does"


class ModelFile:
    """An open file. It stays open, so that its rows can be read also when another file has taken its place."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        self.close = weakref.finalize(self, os.close, self._descriptor)
        status = os.fstat(self._descriptor)
        # What is no file, such as a pipe, and systems that cannot read from a place, are read in one go.
        self.seekable = stat.S_ISREG(status.st_mode) and hasattr(os, "preadv")
        self._bytes = np.empty(status.st_size, dtype=np.uint8) if self.seekable else self._whole()
        self._data = self._bytes.data
        self._digests: dict[str, tuple[Any, bytes]] = {}
        self.header = self._header()

    def _whole(self) -> Array:
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            return np.frombuffer(bytearray(file.read()), dtype=np.uint8)

    def _header(self) -> Header:
        n_bytes = len(self._data)
        if self.seekable:
            begin = min(n_bytes, 1 << 12)
            self._fill(0, begin)
            self._fill(begin, max(begin, min(n_bytes, 8 + header_size(self._data, n_bytes))))
        return header_of(self._data, n_bytes)

    def _fill(self, begin: int, end: int) -> None:
        self._read_into(self._data[begin:end], begin)

    def _read_into(self, data: memoryview, at: int) -> None:
        while data:
            n_read = os.preadv(self._descriptor, [data], at)
            require(n_read > 0, "it became shorter while it was read")
            data, at = data[n_read:], at + n_read

    def arrays(self, later: Iterable[str] = ()) -> dict[str, Array]:
        """All arrays but those that are to be read later."""
        later = set(later)
        if self.seekable:
            for begin, end in _stretches(self.header, later):
                self._fill(begin, end)
        self._bytes.flags.writeable = False
        return self.header.arrays(self._bytes.data, [name for name in self.header.places if name not in later])

    def digest(self, later: Iterable[str]) -> str:
        """The checksum of the file, of which ``arrays(later)`` are there."""
        digest, at = self.header.digest(), self.header.end
        for name in sorted(later, key=self.header.places.__getitem__):
            begin, end = self.header.places[name]
            digest.update(self._data[at:begin])
            before, at = digest.copy(), end
            for piece in self._pieces(begin, end):
                digest.update(piece)
            self._digests[name] = before, digest.digest()
        digest.update(self._data[at:])
        found: str = digest.hexdigest()
        return found

    def _pieces(self, begin: int, end: int) -> Iterator[memoryview]:
        piece = memoryview(bytearray(min(_PIECE, end - begin)))
        for at in range(begin, end, _PIECE):
            part = piece[: min(_PIECE, end - at)]
            self._read_into(part, at)
            yield part

    def rest(self, later: Iterable[str]) -> dict[str, Array]:
        """The arrays that were left in the file, which must be those that its checksum was computed of."""
        found = {}
        for name in later:
            begin, end = self.header.places[name]
            data = np.empty(end - begin, dtype=np.uint8)
            try:
                self._read_into(data.data, begin)
            except Unsound:
                raise _changed() from None
            before, after = self._digests[name]
            digest = before.copy()
            digest.update(data)
            if digest.digest() != after:
                raise _changed()
            data.flags.writeable = False
            found[name] = self.header.array(name, data.data)
        return found


def _changed() -> Unsound:
    return Unsound("the file was changed after the model was loaded", _CHANGED)


def _stretches(header: Header, without: set[str]) -> Iterator[tuple[int, int]]:
    """Where the bytes of the other arrays begin and end, those of neighbours together."""
    begin = end = header.end
    for name, (first, after) in sorted(header.places.items(), key=lambda item: item[1]):
        if name in without:
            if end > begin:
                yield begin, end
            begin = after
        end = after if name not in without else begin
        assert first <= after
    if end > begin:
        yield begin, end


class Checksum:
    """Compares the checksum of a file, if it is large while others go on with what was read."""

    def __init__(self, file: ModelFile, later: Iterable[str] = ()) -> None:
        self._file, self._later = file, tuple(later)
        self._found: str | BaseException = ""
        self._thread = threading.Thread(target=self._compute, daemon=True)
        self._thread.start()
        if len(file._data) < _LARGE:
            self.check()

    def _compute(self) -> None:
        try:
            self._found = self._file.digest(self._later)
        except BaseException as error:
            self._found = error

    def check(self) -> None:
        """Raises if the file is not what was stored."""
        self._thread.join()
        if isinstance(self._found, BaseException):
            raise self._found
        self._file.header.check(self._found)
