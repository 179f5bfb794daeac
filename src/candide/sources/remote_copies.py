"""Temporary copies of files elsewhere: rows are read several times, and some formats start at the end."""

from __future__ import annotations

from pathlib import Path

from ..exceptions import SourceError
from ..remote import download, is_remote, local_path
from .files import TemporaryFolder, expand_path


class RemoteCopies:
    """The copies of a source. They are deleted with its readers."""

    def __init__(self) -> None:
        self._addresses: dict[Path, str] = {}
        #: What the readers keep.
        self.files: tuple[TemporaryFolder, ...] = ()

    def expand(self, path: str) -> list[Path]:
        """Return the files of a path; those of an address are copied."""
        if not is_remote(path):
            return expand_path(local_path(path))
        folder = TemporaryFolder()
        try:
            copies = download(path, folder.path)
        except FileNotFoundError:
            raise SourceError(f"there is no file {path!r}; check the address") from None
        except OSError as error:
            raise SourceError(f"cannot copy {path!r} to {str(folder.path.parent)!r}: {_problem(error)}") from error
        self.files += (folder,)
        self._addresses.update(copies)
        return [copy for copy, _ in copies]

    def name(self, path: Path) -> str:
        """Return what messages call a path: an address, if it is the copy of a file elsewhere."""
        for copy, address in self._addresses.items():
            if path == copy:
                return address
            if copy in path.parents:
                return f"{address.rstrip('/')}/{path.relative_to(copy).as_posix()}"
        return str(path)


def _problem(error: OSError) -> str:
    return str(error) if error.strerror is None else error.strerror
