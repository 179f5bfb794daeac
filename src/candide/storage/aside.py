"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def written_aside(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new file beside the old one, which takes its place once all of it is on the disk.

    Whatever goes wrong on the way, the old file stays as it is, and nothing is left beside it.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as device:  # a device or a pipe is no file that another could take the place of
            yield device
        return
    aside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        with aside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            aside.chmod(target.stat().st_mode & 0o7777)
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    _settle(target.parent)


def write_aside(path: str | os.PathLike[str], pieces: Iterable[bytes | memoryview]) -> None:
    """All pieces, one after the other."""
    with written_aside(path) as file:
        file.writelines(pieces)


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
