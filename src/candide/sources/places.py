"""Paths as users give them: globs, folders, and names that are nearly right."""

from __future__ import annotations

import glob
import os
from difflib import get_close_matches
from pathlib import Path

from ..exceptions import SourceError

_WILD = ("*", "?", "[")


def expanded(path: str) -> list[Path]:
    """The files that a path stands for: itself, or all that its wildcards match, in sorted order."""
    if os.path.lexists(path) or not any(sign in path for sign in _WILD):
        return [existing(Path(path))]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise SourceError(
            f"no file matches {path!r}; the folder {str(Path.cwd())!r} is where such a path begins; check its spelling"
        )
    return [Path(name) for name in found]


def existing(path: Path) -> Path:
    if not path.exists():
        raise missing_place(str(path))
    return path


def missing_place(path: str) -> SourceError:
    """That there is no such file, and what it may have been."""
    parent = Path(path).parent
    if not parent.is_dir():
        return SourceError(f"there is no file {path!r}, and no folder {str(parent)!r}; check the spelling of both")
    names = sorted(entry.name for entry in parent.iterdir())
    near = get_close_matches(Path(path).name, names, n=3, cutoff=0.6)
    what = f"did you mean {' or '.join(map(repr, near))}?" if near else f"the folder holds {_some(names)}"
    return SourceError(f"there is no file {path!r}; {what}")


def _some(names: list[str]) -> str:
    if not names:
        return "nothing"
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def visible(folder: Path) -> list[Path]:
    """What is in a folder, in sorted order, without hidden things."""
    try:
        entries = sorted(folder.iterdir())
    except PermissionError:
        raise SourceError(f"the folder {folder} may not be read by you; ask for permission to read it") from None
    return [entry for entry in entries if not entry.name.startswith((".", "__MACOSX")) and entry.exists()]


def files_below(folder: Path) -> list[Path]:
    """All files in a folder and in those within it."""
    files = []
    for entry in visible(folder):
        if not entry.is_dir():
            files.append(entry)
        elif not entry.is_symlink():  # which may lead back
            files.extend(files_below(entry))
    return files
