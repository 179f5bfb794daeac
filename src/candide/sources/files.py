"""Files: paths and globs, decompression, decoding, and temporary copies."""

from __future__ import annotations

import bz2
import codecs
import glob
import gzip
import io
import lzma
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from ..exceptions import SourceError

# Number of bytes read to detect the format of a file.
HEAD_BYTES = 1 << 20
_BLOCK_BYTES = 1 << 22
_COMPRESSION_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}


def detect_compression(path: Path) -> str | None:
    """Return the compression of a file, by its first bytes."""
    with open_raw(path) as raw:
        start = raw.read(6)
    return next((name for magic, name in _COMPRESSION_MAGIC.items() if start.startswith(magic)), None)


@contextmanager
def open_raw(path: Path) -> Iterator[BinaryIO]:
    """Open the raw bytes of a file."""
    try:
        raw = path.open("rb")
    except PermissionError:
        raise SourceError(
            f"{path} cannot be read: permission denied; change its permissions, as in chmod u+r {path.name}"
        ) from None
    with raw:
        yield raw


@contextmanager
def open_decompressed(path: Path) -> Iterator[Any]:
    """Open a file, decompressed; ``tell_raw`` of the stream is the number of compressed bytes read."""
    compression = detect_compression(path)
    with open_raw(path) as raw, _decompress(raw, compression) as stream:
        try:
            yield DecompressedStream(stream, raw)
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, pa.ArrowInvalid) as error:
            raise SourceError(
                f"{path} is a damaged or incomplete {compression} file: {error}; download it again"
            ) from None


class DecompressedStream(io.RawIOBase):
    """A decompressed stream with its position in the compressed file."""

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


def _decompress(raw: BinaryIO, compression: str | None) -> Any:
    if compression == "gzip":
        return gzip.GzipFile(fileobj=raw)
    if compression == "bz2":
        return bz2.BZ2File(raw)
    if compression == "xz":
        return lzma.LZMAFile(raw)
    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd") if compression else io.BufferedReader(raw)


def decode_blocks(stream: Any, encoding: str) -> Iterator[str]:
    """Yield blocks of text without a byte order mark; invalid bytes become U+FFFD."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    text = decoder.decode(stream.read(_BLOCK_BYTES)).removeprefix("\ufeff")
    while block := stream.read(_BLOCK_BYTES):
        yield text
        text = decoder.decode(block)
    yield text + decoder.decode(b"", final=True)


class TemporaryCopy:
    """A temporary file that is deleted with the object."""

    def __init__(self, suffix: str = "") -> None:
        handle, name = tempfile.mkstemp(prefix="candide-", suffix=suffix)
        os.close(handle)
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)


class TemporaryFolder:
    """A temporary folder that is deleted with the object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="candide-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def copy_as_utf8(path: Path, encoding: str, one_newline: bool = False) -> TemporaryCopy:
    """Return a text file as UTF-8, decompressed; ``one_newline``: every line ends with \\n."""
    spool = TemporaryCopy(path.suffix)
    with open_decompressed(path) as stream, open_for_writing(spool) as file:
        decoder = io.IncrementalNewlineDecoder(None, translate=True)
        for text in decode_blocks(stream, encoding):
            file.write((decoder.decode(text) if one_newline else text).encode("utf-8", errors="replace"))
    return spool


def copy_stream(stream: Any) -> TemporaryCopy:
    """Copy a stream to a temporary file: the first rows are read twice, and some formats start at the end."""
    spool = TemporaryCopy()
    with open_for_writing(spool) as file:
        while block := stream.read(_BLOCK_BYTES):
            file.write(block)
    return spool


@contextmanager
def open_for_writing(spool: TemporaryCopy) -> Iterator[BinaryIO]:
    """Open a temporary file; if the disk is full, the error names its folder."""
    try:
        with spool.path.open("wb") as file:
            yield file
    except OSError as error:
        raise SourceError(
            f"cannot write a temporary copy to {spool.path.parent} ({error.strerror}); free some space, or set the "
            "environment variable TMPDIR to another folder"
        ) from None


_WILDCARDS = ("*", "?", "[")


def expand_path(path: str) -> list[Path]:
    """Return the files of a path: itself, or all that its wildcards match, in sorted order."""
    if os.path.lexists(path) or not any(sign in path for sign in _WILDCARDS):
        return [check_exists(Path(path))]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise SourceError(f"no file matches {path!r} in the working folder {str(Path.cwd())!r}; check the spelling")
    return [Path(name) for name in found]


def check_exists(path: Path) -> Path:
    if not path.exists():
        raise not_found_error(str(path))
    return path


def not_found_error(path: str) -> SourceError:
    """Return the error for a missing file, with a suggestion."""
    parent = Path(path).parent
    if not parent.is_dir():
        return SourceError(f"there is no file {path!r}: the folder {str(parent)!r} does not exist; check the path")
    names = sorted(entry.name for entry in parent.iterdir())
    near = get_close_matches(Path(path).name, names, n=3, cutoff=0.6)
    what = f"did you mean {' or '.join(map(repr, near))}?" if near else f"the folder contains {_shorten_list(names)}"
    return SourceError(f"there is no file {path!r}; {what}")


def _shorten_list(names: list[str]) -> str:
    if not names:
        return "nothing"
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def list_visible(folder: Path) -> list[Path]:
    """Return the content of a folder in sorted order, without hidden files."""
    try:
        entries = sorted(folder.iterdir())
    except PermissionError:
        raise SourceError(f"the folder {folder} cannot be read: permission denied; change its permissions") from None
    return [entry for entry in entries if not entry.name.startswith((".", "__MACOSX")) and entry.exists()]


def list_files(folder: Path) -> list[Path]:
    """Return all files in a folder and its subfolders."""
    files = []
    for entry in list_visible(folder):
        if not entry.is_dir():
            files.append(entry)
        elif not entry.is_symlink():  # links may be cyclic
            files.extend(list_files(entry))
    return files
