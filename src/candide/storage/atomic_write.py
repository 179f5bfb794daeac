"""Write files atomically: the new file replaces the old one once it is complete."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..exceptions import naming
from .locking import is_same, short_name, target_of, try_lock

# A temporary file has the name of the target and a random number.
_NUMBER = r"\.[0-9a-f]{16}\.part"
_NUMBER_BYTES = len(".0123456789abcdef.part")
_ATTEMPTS = 10
# On Windows, where an open file cannot be renamed, temporary files are abandoned after so many seconds.
_ABANDONED_AFTER = 3600.0


@contextmanager
def atomic_writer(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file next to the target, which it replaces once all of it is on the disk.

    If an error occurs, the old file stays as it is and the temporary file is removed. Temporary files of killed
    processes are removed by the next process that writes the same file.
    """
    target = target_of(path)
    with naming(path):
        is_device = target.exists() and not target.is_file()
    if is_device:  # or a pipe, which cannot be replaced
        with naming(path):
            raw = _Raw(target, "w", path)
        with io.BufferedWriter(raw) as device:
            yield device
        return
    _remove_abandoned(target)
    with naming(path):
        temporary, file = _create(target, path)
    try:
        with file:
            yield file
            with naming(path):
                file.flush()
                os.fsync(file.fileno())
                if target.exists():
                    temporary.chmod(target.stat().st_mode & 0o7777)
                if os.name != "nt":  # while it is locked, so that no other process removes it as abandoned
                    temporary.replace(target)
        if os.name == "nt":  # an open file cannot be renamed
            with naming(path):
                temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def write_atomically(path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview]) -> None:
    """Write chunks to a file, which replaces an existing one as a whole."""
    with atomic_writer(path) as file:
        file.writelines(chunks)


class _Raw(io.FileIO):
    """A file whose errors name the path that the user passed."""

    discards = False

    def __init__(self, path: Path, mode: str, shown: str | os.PathLike[str]) -> None:
        super().__init__(path, mode)
        self._shown = shown

    def write(self, data: Any) -> int:
        if self.discards:
            return memoryview(data).nbytes
        with naming(self._shown):
            return super().write(data)


def discard(file: IO[bytes]) -> None:
    """Discard further writes to a file of ``atomic_writer`` that will not be kept."""
    raw = getattr(file, "raw", None)
    if isinstance(raw, _Raw):
        raw.discards = True


def _create(target: Path, shown: str | os.PathLike[str]) -> tuple[Path, IO[bytes]]:
    """Create a temporary file, locked while it is open: others can tell that it is not abandoned."""
    for attempt in range(_ATTEMPTS):
        temporary = target.with_name(f".{short_name(target.name, _NUMBER_BYTES + 1)}.{os.urandom(8).hex()}.part")
        file = io.BufferedWriter(_Raw(temporary, "x", shown))
        # Another process may have removed it before it was locked.
        if (try_lock(file.fileno()) is not False and is_same(file.fileno(), temporary)) or attempt == _ATTEMPTS - 1:
            break
        file.close()
        temporary.unlink(missing_ok=True)
    return temporary, file


def _remove_abandoned(target: Path) -> None:
    """Remove temporary files of processes that were killed while they wrote this file, or a checkpoint of it."""
    names = (short_name(name, _NUMBER_BYTES + 1) for name in (target.name, f"{target.name}.checkpoint"))
    pattern = re.compile(rf"\.(?:{'|'.join(map(re.escape, names))}){_NUMBER}")
    try:
        with os.scandir(target.parent) as entries:
            found = [Path(one.path) for one in entries if pattern.fullmatch(one.name) and not one.is_symlink()]
    except OSError:
        return  # the folder cannot be listed
    for path in found:
        with suppress(OSError):
            _remove_if_abandoned(path)


def _remove_if_abandoned(path: Path) -> None:
    if os.name == "nt":
        if time.time() - path.stat().st_mtime > _ABANDONED_AFTER:
            path.unlink()  # which fails if it is open
        return
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if try_lock(handle):
            path.unlink()
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Write the new name to the disk, on systems where folders can be synced."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
