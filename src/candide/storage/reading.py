"""The content of a model file in memory, with the training rows still in the file if they are many.

It needs no NumPy: a file is read and its checksum computed while that is loaded.
"""

from __future__ import annotations

import os
import stat
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from .header import Header, header_of, header_size, rows_apart, trees_of
from .verdict import Unsound, judged, require

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
        self._data = _room(status.st_size) if self.seekable else self._whole()
        self._digests: dict[str, tuple[Any, bytes]] = {}
        self.header = self._header()

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self._data)

    def _whole(self) -> memoryview:
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            return memoryview(bytearray(file.read()))

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

    def read(self, later: Iterable[str] = ()) -> None:
        """Reads all arrays but those that are to be read later."""
        if self.seekable:
            for begin, end in _stretches(self.header, set(later)):
                self._fill(begin, end)

    @property
    def content(self) -> memoryview:
        """The bytes of the file, as far as they were read."""
        return self._data.toreadonly()

    def digest(self, later: Iterable[str]) -> str:
        """The checksum of the file, of which all was read but the arrays that are to be read later."""
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

    def rest(self, later: Iterable[str]) -> dict[str, memoryview]:
        """The bytes of arrays that were left in the file, which must be those that its checksum was computed of."""
        found = {}
        for name in later:
            begin, end = self.header.places[name]
            data = _room(end - begin)
            try:
                self._read_into(data, begin)
            except Unsound:
                raise _changed() from None
            before, after = self._digests[name]
            digest = before.copy()
            digest.update(data)
            if digest.digest() != after:
                raise _changed()
            found[name] = data.toreadonly()
        return found


def _room(n_bytes: int) -> memoryview:
    """Memory for so many bytes, without a pass over it to clear it."""
    if n_bytes < _PIECE:
        return memoryview(bytearray(n_bytes))
    from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

    try:
        return memoryview(mmap(-1, n_bytes, flags=MAP_PRIVATE | MAP_ANONYMOUS))
    except OSError:
        raise MemoryError(f"there is no room for {n_bytes:,} bytes") from None


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


class Opened:
    """A model file with what its header says. The rest is read, and its checksum computed, by a thread.

    Nothing that was made of the file may be used before :meth:`check`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        with judged(f"{path} cannot be used"):
            self.file = ModelFile(path)
            self.header = self.file.header
            try:
                self.trees = trees_of(self.header.metadata)
                apart = self.file.seekable and self.header.is_current
                self.later = rows_apart(self.trees["parts"], self.header) if apart else ()
            except Exception:
                self.file.read()
                self.header.check(self.file.digest(()))  # which says more of a file that is damaged
                raise
        self._was_read = threading.Event()
        self._found: str | BaseException = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            self.file.read(self.later)
            self._was_read.set()
            if not self.later:
                self.file.close()
            self._found = self.file.digest(self.later)
        except BaseException as error:
            self._found = error
        finally:
            self._was_read.set()

    def content(self) -> memoryview:
        """The bytes of the file but those that are to be read later; of a small file they have been checked."""
        self._was_read.wait()
        if self.file.size < _LARGE or isinstance(self._found, BaseException):
            self.check()
        return self.file.content

    def check(self) -> None:
        """Raises if the file is not what was stored."""
        self._thread.join()
        if isinstance(self._found, BaseException):
            raise self._found
        self.header.check(self._found)
