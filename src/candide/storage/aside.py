"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path


def write_aside(path: str | os.PathLike[str], pieces: Iterable[bytes | memoryview]) -> None:
    """Writes a new file beside the old one and lets it take its place, once all of it is on the disk.

    Whatever goes wrong on the way, the old file stays as it is, and nothing is left beside it.
    """
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        _write(aside, pieces)
        if target.exists():
            aside.chmod(target.stat().st_mode & 0o7777)
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    _settle(target.parent)


def _write(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    with path.open("xb") as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


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
