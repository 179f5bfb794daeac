"""Bytes from files, whatever compresses and encodes them, and on disk where a reader needs a plain file."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from ..exceptions import SourceError

# What is looked at to tell what a file is.
HEAD_BYTES = 1 << 20
_BLOCK_BYTES = 1 << 22
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}


def compression_of(path: Path) -> str | None:
    """How a file is compressed, by its first bytes."""
    with readable(path) as raw:
        start = raw.read(6)
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)


@contextmanager
def readable(path: Path) -> Iterator[BinaryIO]:
    """The bytes on disk."""
    try:
        raw = path.open("rb")
    except PermissionError:
        raise SourceError(
            f"{path} may not be read by you; ask for permission to read it, as in chmod u+r {path.name}"
        ) from None
    with raw:
        yield raw


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A file as plain bytes; ``tell_raw`` of the stream says how many bytes of the file it has read."""
    compression = compression_of(path)
    with readable(path) as raw, _decompressed(raw, compression) as stream:
        try:
            yield Plain(stream, raw)
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, pa.ArrowInvalid) as error:
            raise SourceError(
                f"{path} is compressed ({compression}), and damaged or incomplete: {error}; fetch it again"
            ) from None


class Plain(io.RawIOBase):
    """A stream without its compression, which knows its place in the file."""

    def __init__(self, stream: Any, raw: BinaryIO) -> None:
        self._stream = stream
        self._raw = raw

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        return bytes(self._stream.read(size) if size >= 0 else self._stream.read())

    def readinto(self, buffer: Any, /) -> int:
        block = self.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def tell_raw(self) -> int:
        return self._raw.tell()


def _decompressed(raw: BinaryIO, compression: str | None) -> Any:
    if compression == "gzip":
        return gzip.GzipFile(fileobj=raw)
    if compression == "bz2":
        return bz2.BZ2File(raw)
    if compression == "xz":
        return lzma.LZMAFile(raw)
    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd") if compression else io.BufferedReader(raw)


def decoded(stream: Any, encoding: str) -> Iterator[str]:
    """Blocks of text, without a mark at the beginning; what is not of the encoding becomes U+FFFD."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    text = decoder.decode(stream.read(_BLOCK_BYTES)).removeprefix("\ufeff")
    while block := stream.read(_BLOCK_BYTES):
        yield text
        text = decoder.decode(block)
    yield text + decoder.decode(b"", final=True)


class Spool:
    """A file of one's own on disk, which goes with the object."""

    def __init__(self, suffix: str = "") -> None:
        handle, name = tempfile.mkstemp(prefix="candide-", suffix=suffix)
        os.close(handle)
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)


def spooled_plain(path: Path, encoding: str, one_newline: bool = False) -> Spool:
    """A text file as UTF-8, without compression; ``one_newline``: every line ends with \\n alone."""
    spool = Spool(path.suffix)
    with opened(path) as stream, writing_to(spool) as file:
        decoder = io.IncrementalNewlineDecoder(None, translate=True)
        for text in decoded(stream, encoding):
            file.write((decoder.decode(text) if one_newline else text).encode("utf-8", errors="replace"))
    return spool


def spooled(stream: Any) -> Spool:
    """All of a stream. Rows are looked at before they are read, and some formats begin at the end."""
    spool = Spool()
    with writing_to(spool) as file:
        while block := stream.read(_BLOCK_BYTES):
            file.write(block)
    return spool


@contextmanager
def writing_to(spool: Spool) -> Iterator[BinaryIO]:
    """The file of a spool; if there is no room for it, the error says where."""
    try:
        with spool.path.open("wb") as file:
            yield file
    except OSError as error:
        raise SourceError(
            f"a copy cannot be written to {spool.path.parent} ({error.strerror}); make room there, or name another "
            "folder in the environment variable TMPDIR"
        ) from None
