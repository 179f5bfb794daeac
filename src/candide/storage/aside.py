"""Files that are there as a whole or not at all."""

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

# How a file is called while it is written: the target's name and a number that no other has.
_NUMBER = r"\.[0-9a-f]{16}\.part"
_NUMBER_BYTES = len(".0123456789abcdef.part")
_ATTEMPTS = 10
# Seconds after which a file that nobody has open is taken to be abandoned, where renaming cannot be done under a lock.
_ABANDONED = 3600.0


@contextmanager
def written_aside(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new file beside the old one, which takes its place once all of it is on the disk.

    Whatever goes wrong on the way, the old file stays as it is, and nothing is left beside it; what a process that was
    killed has left there is removed by the next one that writes the same file.
    """
    target = target_of(path)
    with naming(path):
        is_device = target.exists() and not target.is_file()
    if is_device:  # or a pipe: no file that another could take the place of
        with naming(path):
            raw = _Raw(target, "w", path)
        with io.BufferedWriter(raw) as device:
            yield device
        return
    _remove_abandoned(target)
    with naming(path):
        aside, file = _created(target, path)
    try:
        with file:
            yield file
            with naming(path):
                file.flush()
                os.fsync(file.fileno())
                if target.exists():
                    aside.chmod(target.stat().st_mode & 0o7777)
                if os.name != "nt":  # while it is locked: nobody takes it for abandoned
                    aside.replace(target)
        if os.name == "nt":  # where no file is renamed that is open
            with naming(path):
                aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    _settle(target.parent)


def write_aside(path: str | os.PathLike[str], pieces: Iterable[bytes | memoryview]) -> None:
    """All pieces, one after the other."""
    with written_aside(path) as file:
        file.writelines(pieces)


class _Raw(io.FileIO):
    """A file whose errors name the file that the user asked for."""

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
    """Let go of whatever is still written to a file of ``written_aside``, which will not be kept."""
    raw = getattr(file, "raw", None)
    if isinstance(raw, _Raw):
        raw.discards = True


def _created(target: Path, shown: str | os.PathLike[str]) -> tuple[Path, IO[bytes]]:
    """A new file, locked for as long as it is open: it is not abandoned."""
    for attempt in range(_ATTEMPTS):
        aside = target.with_name(f".{short_name(target.name, _NUMBER_BYTES + 1)}.{os.urandom(8).hex()}.part")
        file = io.BufferedWriter(_Raw(aside, "x", shown))
        # Another process may have met it between these two lines, and removed it.
        if (try_lock(file.fileno()) is not False and is_same(file.fileno(), aside)) or attempt == _ATTEMPTS - 1:
            break
        file.close()
        aside.unlink(missing_ok=True)
    return aside, file


def _remove_abandoned(target: Path) -> None:
    """Remove what processes have left that were killed while they wrote this file, or a checkpoint of it."""
    names = (short_name(name, _NUMBER_BYTES + 1) for name in (target.name, f"{target.name}.checkpoint"))
    pattern = re.compile(rf"\.(?:{'|'.join(map(re.escape, names))}){_NUMBER}")
    try:
        with os.scandir(target.parent) as entries:
            found = [Path(one.path) for one in entries if pattern.fullmatch(one.name) and not one.is_symlink()]
    except OSError:
        return  # whoever may not list the folder leaves it as it is
    for path in found:
        with suppress(OSError):
            _remove_if_abandoned(path)


def _remove_if_abandoned(path: Path) -> None:
    if os.name == "nt":
        if time.time() - path.stat().st_mtime > _ABANDONED:
            path.unlink()  # which fails if it is open
        return
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if try_lock(handle):
            path.unlink()
    finally:
        os.close(handle)


def _settle(folder: Path) -> None:
    """The new name is on the disk too; where folders cannot be asked for that, they see to it themselves."""
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
