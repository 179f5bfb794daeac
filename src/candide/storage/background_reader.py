"""Read and verify a model file in threads, while the main thread imports modules.

- ``FileReader`` reads the arrays of an open file. Large training rows stay in the file until they are needed.
- ``BackgroundReader`` reads a file in a thread, builds its large vocabularies there, and computes its checksum.

Importing this module does not import NumPy, which takes about as long as reading a file of 100 MB.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .container import Header, header_end, parse_header, parse_trees, verify_checksum
from .errors import InvalidContent, model_file_errors, require

if TYPE_CHECKING:
    from ..kernels import _core

# Bytes that are read or hashed at once.
_CHUNK = 1 << 20
# Size from which the checksum of a file is computed while the file is decoded.
_LARGE_FILE = 1 << 22
# Smaller training rows are read with the model: the file need not stay open for them.
_MIN_DEFERRED_BYTES = 1 << 22
# Bytes of tokens from which a vocabulary is built in a thread, and how many such vocabularies at most.
_LARGE_VOCABULARY, _MAX_VOCABULARIES = 1 << 20, 8
_OFFSET_BYTES = 8
_CHANGED = "load the model again, and replace files instead of overwriting them in place, as save() does"

# The names of the two arrays of a vocabulary: the bytes of the tokens, and their offsets.
VocabularyKey = tuple[str, str]


class FileReader:
    """An open model file. It stays open, so that deferred arrays can be read even if the file has been replaced."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        self.close = weakref.finalize(self, os.close, self._descriptor)
        status = os.fstat(self._descriptor)
        # Pipes, and systems without preadv, are read at once.
        self.is_seekable = stat.S_ISREG(status.st_mode) and hasattr(os, "preadv")
        self._data = _allocate(status.st_size) if self.is_seekable else self._read_all()
        self._digests: dict[str, tuple[Any, bytes]] = {}
        self.header = self._read_header()

    @property
    def size(self) -> int:
        """The number of bytes of the file."""
        return len(self._data)

    @property
    def content(self) -> memoryview:
        """The bytes of the file, as far as they have been read."""
        return self._data.toreadonly()

    def _read_all(self) -> memoryview:
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            return memoryview(bytearray(file.read()))

    def _read_header(self) -> Header:
        n_bytes = len(self._data)
        if self.is_seekable:
            begin = min(n_bytes, 1 << 12)
            self._fill(0, begin)
            self._fill(begin, max(begin, min(n_bytes, header_end(self._data, n_bytes))))
        return parse_header(self._data, n_bytes)

    def _fill(self, begin: int, end: int) -> None:
        self._read_into(self._data[begin:end], begin)

    def _read_into(self, data: memoryview, offset: int) -> None:
        while data:
            n_read = os.preadv(self._descriptor, [data], offset)
            require(n_read > 0, "it was truncated while being read")
            data, offset = data[n_read:], offset + n_read

    def read_arrays(self, deferred: Iterable[str] = ()) -> None:
        """Read all arrays except the deferred ones."""
        if self.is_seekable:
            for begin, end in _ranges_without(self.header, set(deferred)):
                self._fill(begin, end)

    def compute_checksum(self, deferred: Iterable[str]) -> str:
        """Return the checksum of the file; deferred arrays are read in chunks that are not kept."""
        digest, offset = self.header.start_checksum(), self.header.end
        for name in sorted(deferred, key=self.header.places.__getitem__):
            begin, end = self.header.places[name]
            digest.update(self._data[offset:begin])
            before, offset = digest.copy(), end
            for chunk in self._chunks(begin, end):
                digest.update(chunk)
            self._digests[name] = before, digest.digest()
        digest.update(self._data[offset:])
        checksum: str = digest.hexdigest()
        return checksum

    def _chunks(self, begin: int, end: int) -> Iterator[memoryview]:
        buffer = memoryview(bytearray(min(_CHUNK, end - begin)))
        for offset in range(begin, end, _CHUNK):
            chunk = buffer[: min(_CHUNK, end - offset)]
            self._read_into(chunk, offset)
            yield chunk

    def read_deferred(self, names: Iterable[str]) -> dict[str, memoryview]:
        """Return the bytes of deferred arrays, after verifying that they have not changed since the checksum."""
        found = {}
        for name in names:
            begin, end = self.header.places[name]
            data = _allocate(end - begin)
            try:
                self._read_into(data, begin)
            except InvalidContent:
                raise _changed_error() from None
            before, after = self._digests[name]
            digest = before.copy()
            digest.update(data)
            if digest.digest() != after:
                raise _changed_error()
            found[name] = data.toreadonly()
        return found


def _allocate(n_bytes: int) -> memoryview:
    """Return writable memory; large blocks come from ``mmap``, because ``bytearray`` would clear them first."""
    if n_bytes < _CHUNK:
        return memoryview(bytearray(n_bytes))
    import mmap

    try:
        data = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        raise MemoryError(f"cannot allocate {n_bytes:,} bytes") from None
    # Filling pages of 4 kB takes three times as long as reading the file from the cache of the operating system.
    with suppress(OSError, AttributeError):
        data.madvise(mmap.MADV_HUGEPAGE)
    return memoryview(data)


def _changed_error() -> InvalidContent:
    return InvalidContent("the file was changed after the model was loaded", _CHANGED)


def _ranges_without(header: Header, excluded: set[str]) -> Iterator[tuple[int, int]]:
    """Yield where runs of arrays begin and end, without the excluded arrays."""
    begin = end = header.end
    for name, (first, after) in sorted(header.places.items(), key=lambda item: item[1]):
        if name in excluded:
            if end > begin:
                yield begin, end
            begin = after
        end = after if name not in excluded else begin
        assert first <= after
    if end > begin:
        yield begin, end


class BackgroundReader:
    """A model file whose header has been read. A thread reads the arrays and computes the checksum.

    Nothing decoded from the file may be used before :meth:`verify`.

    Parameters
    ----------
    path : str or Path
        The file.
    build_vocabularies : bool, default False
        Whether the thread builds large vocabularies too, before the checksum, which is needed last.
    """

    def __init__(self, path: str | os.PathLike[str], *, build_vocabularies: bool = False) -> None:
        self.path = path
        with model_file_errors(f"{path} cannot be loaded"):
            self.file = FileReader(path)
            self.header = self.file.header
            try:
                self.trees = parse_trees(self.header.metadata)
                can_defer = self.file.is_seekable and self.header.is_current
                self.deferred = _deferred_arrays(self.trees["parts"], self.header) if can_defer else ()
            except Exception:
                # If the file is damaged, a checksum error is more informative than this error.
                self.file.read_arrays()
                verify_checksum(self.file.compute_checksum(()), self.header.metadata)
                raise
        self._keys = _large_vocabularies(self.trees, self.header, self.deferred) if build_vocabularies else []
        self._built: dict[VocabularyKey, _core.Vocabulary] = {}
        if self._keys:
            # Imported here, because a thread that imports waits for the one that imports all other modules.
            from ..kernels import _core as _  # noqa: F401
        self._arrays_read, self._vocabularies_built = threading.Event(), threading.Event()
        self._result: str | BaseException = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            self.file.read_arrays(self.deferred)
            self._arrays_read.set()
            if not self.deferred:
                self.file.close()
            self._build_vocabularies()
            self._vocabularies_built.set()
            self._result = self.file.compute_checksum(self.deferred)
        except BaseException as error:
            self._result = error
        finally:
            self._arrays_read.set()
            self._vocabularies_built.set()

    def _build_vocabularies(self) -> None:
        """Build large vocabularies. If this fails, the decoder does it again and reports the error."""
        for key in self._keys:
            from ..kernels import _core

            utf8, offsets = (self.file.content[slice(*self.header.places[name])] for name in key)
            with suppress(ValueError, TypeError):
                self._built[key] = _core.Vocabulary.of_buffers(utf8, offsets.cast("q"))

    def content(self) -> memoryview:
        """Return the bytes of the file without deferred arrays; those of a small file have been verified."""
        self._arrays_read.wait()
        if self.file.size < _LARGE_FILE or isinstance(self._result, BaseException):
            self.verify()
        return self.file.content

    def verify(self) -> None:
        """Wait for the checksum, and raise if it does not match the content."""
        self._thread.join()
        if isinstance(self._result, BaseException):
            raise self._result
        verify_checksum(self._result, self.header.metadata)

    def vocabulary(self, key: VocabularyKey) -> _core.Vocabulary | None:
        """Return a vocabulary that was built in the background, or None if there is none."""
        if key in self._keys:
            self._vocabularies_built.wait()
        return self._built.get(key)


def _large_vocabularies(trees: Mapping[str, Any], header: Header, deferred: Iterable[str]) -> list[VocabularyKey]:
    """Return the keys of the large vocabularies of a file that the native module can build from its bytes."""
    entries, places = header.entries, header.places
    read = places.keys() - set(deferred)
    keys = (key for key in dict.fromkeys(_vocabulary_keys(trees)) if read.issuperset(key))
    found = [
        (utf8, offsets)
        for utf8, offsets in keys
        if places[utf8][1] - places[utf8][0] >= _LARGE_VOCABULARY
        and (entries[utf8].get("dtype"), entries[offsets].get("dtype")) == ("U8", "I64")
        and places[offsets][0] % _OFFSET_BYTES == 0
    ]
    return found[:_MAX_VOCABULARIES] if sys.byteorder == "little" else []


def _vocabulary_keys(trees: Mapping[str, Any]) -> Iterator[VocabularyKey]:
    """Yield the keys of all vocabularies in the trees."""
    todo: list[Any] = list(trees.values())
    while todo:
        item = todo.pop()
        if isinstance(item, dict) and item.get("$") == "vocabulary":
            utf8, offsets = item.get("utf8"), item.get("offsets")
            if isinstance(utf8, str) and isinstance(offsets, str) and utf8 != offsets:
                yield utf8, offsets
        elif isinstance(item, (list, dict)):
            todo.extend(item if isinstance(item, list) else item.values())


def _deferred_arrays(parts: Any, header: Header) -> tuple[str, ...]:
    """Return the names of the arrays that only the training rows use, or none if they are small."""
    state: Any = parts.get("state") if isinstance(parts, dict) else None
    sample: Any = state.get("sample") if isinstance(state, dict) else None
    if not isinstance(sample, dict):
        return ()
    in_sample = {text for text in _strings_in(sample) if text in header.places}
    others = {**parts, "state": {**state, "sample": None}}
    names = tuple(sorted(in_sample - set(_strings_in(others))))
    n_bytes = sum(end - begin for begin, end in (header.places[name] for name in names))
    return names if n_bytes >= _MIN_DEFERRED_BYTES else ()


def _strings_in(tree: Any) -> Iterator[str]:
    """Yield all strings in a tree, which include the names of its arrays."""
    todo = [tree]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, (list, dict)):
            todo.extend(item if isinstance(item, list) else item.values())
