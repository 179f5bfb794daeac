"""Addresses such as ``s3://bucket/mail.csv``: files in object stores and on servers, read and written by fsspec.

This module imports neither fsspec nor NumPy. Nothing is sent over a network unless a path is such an address.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .exceptions import MissingPackage

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://", re.ASCII)
_FILE = re.compile(r"file://(?:localhost(?=/))?", re.IGNORECASE)
# URL schemes of databases.
_DATABASES = ("postgres", "postgresql", "sqlite", "duckdb")
# Read-only schemes, which cannot list folders.
_WEB = ("http", "https")
_WILDCARDS = ("*", "[")
_SHOWN = 200


def is_remote(path: Any) -> bool:
    """Return whether a path is an address elsewhere.

    >>> [is_remote(path) for path in ("s3://bucket/mail.csv", "mail.csv", "C:/mail.csv", "file:///tmp/mail.csv")]
    [True, False, False, False]
    """
    found = _ADDRESS.match(path) if isinstance(path, str) else isinstance(path, RemotePath) and path.scheme
    if not found:
        return False
    return (found if isinstance(found, str) else found[1]).lower() not in ("file", *_DATABASES)


def local_path(path: Any) -> Any:
    """Return the path that an address of a local file means; other paths as they are.

    >>> local_path("file:///tmp/two%20words.csv"), local_path("mail.csv")
    ('/tmp/two words.csv', 'mail.csv')
    """
    found = _FILE.match(path) if isinstance(path, str) else None
    if found is None:
        return path
    from urllib.parse import unquote

    place = unquote(path[found.end() :])
    return place[1:] if os.name == "nt" and re.match(r"/[A-Za-z]:", place) else place


class RemotePath(os.PathLike[str]):
    """An address with those attributes of ``pathlib.Path`` that commands use. ``Path`` would join its two slashes.

    >>> path = RemotePath("s3://bucket/mail.candide")
    >>> path.name, path.stem, path.suffix, str(path.with_suffix(".html"))
    ('mail.candide', 'mail', '.candide', 's3://bucket/mail.html')
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def __fspath__(self) -> str:
        return self._url

    def __str__(self) -> str:
        return self._url

    def __repr__(self) -> str:
        return f"RemotePath({self._url!r})"

    @property
    def scheme(self) -> str:
        """The part before ``://``."""
        return self._url.partition("://")[0]

    @property
    def name(self) -> str:
        """The last part, without the query of a web address."""
        place = self._url.partition("://")[2]
        place = re.split("[?#]", place)[0] if self.scheme.lower() in _WEB else place
        return place.rstrip("/").rpartition("/")[2]

    @property
    def stem(self) -> str:
        """The name without its extension."""
        return Path(self.name).stem

    @property
    def suffix(self) -> str:
        """The extension."""
        return Path(self.name).suffix

    def with_suffix(self, suffix: str) -> RemotePath:
        """Return the address with another extension."""
        before, _, after = self._url.rpartition(self.name)
        return RemotePath(f"{before}{Path(self.name).with_suffix(suffix)}{after}")


if TYPE_CHECKING:
    #: A local path or an address.
    Place = Path | RemotePath
else:  # typer does not accept unions
    Place = os.PathLike


def as_path(path: str) -> Place:
    """Return a local path, or an address."""
    return RemotePath(path) if is_remote(path) else Path(local_path(path))


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an error if an address cannot be written to, before the work rather than after it."""
    scheme = RemotePath(os.fspath(path)).scheme
    if scheme.lower() in _WEB:
        raise OSError(f"{os.fspath(path)}: {scheme}:// addresses can be read but not written; choose another output")
    with naming_address(path):
        _file_system(path)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file elsewhere."""
    with naming_address(path):
        system, place = _file_system(path)
        content: bytes = system.cat_file(place)
        return content


def size_of(path: str | os.PathLike[str]) -> int:
    """Return the number of bytes of a file, here or elsewhere."""
    if not is_remote(os.fspath(path)):
        return os.stat(path).st_size
    with naming_address(path):
        system, place = _file_system(path)
        return int(system.size(place) or 0)


@contextmanager
def remote_writer(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file, which is sent as a whole at the end; if an error occurs, nothing is sent."""
    import tempfile

    check_writable(path)
    with tempfile.TemporaryDirectory(prefix="candide-") as folder:
        copy = Path(folder, "object")
        with copy.open("wb") as file:
            yield file
        with naming_address(path):
            system, place = _file_system(path)
            system.put_file(str(copy), place)


def download(url: str, folder: Path) -> list[tuple[Path, str]]:
    """Copy the files of an address to a local folder. Return the copies with their addresses.

    The address is that of a file or a folder, or has wildcards: then there may be several. Copies have the names of the
    originals, each in a folder of its own.
    """
    with naming_address(url):
        system, place = _file_system(url)
        return [_copied(system, one, url, folder / str(i)) for i, one in enumerate(_matching(system, place, url))]


def fingerprint(url: str) -> str:
    """Return a string that changes when the file at an address is written again, if its file system reports it."""
    with naming_address(url):
        system, place = _file_system(url)
        files = [file for one in _matching(system, place, url) for file in _files(system, one, url)]
        return " ".join(f"{file} {system.ukey(file)}" for file in files)


def _is_web(url: str) -> bool:
    return RemotePath(url).scheme.lower() in _WEB


def _matching(system: Any, place: str, url: str) -> list[str]:
    """Return the files and folders that an address names."""
    if _is_web(url) or not any(sign in place for sign in _WILDCARDS):
        return [place]
    found: list[str] = sorted(system.glob(place))
    if not found:
        raise FileNotFoundError(url)
    return found


def _files(system: Any, place: str, url: str) -> list[str]:
    """Return a file, or all files in a folder."""
    return [place] if _is_web(url) or not system.isdir(place) else sorted(system.find(place))


def _copied(system: Any, place: str, url: str, folder: Path) -> tuple[Path, str]:
    address = url if _is_web(url) else str(system.unstrip_protocol(place))
    name = RemotePath(address).name
    copy = folder / (name if name not in ("", ".", "..") else "copy")
    folder.mkdir()
    root = place.rstrip("/") + "/"
    for file in _files(system, place, url):
        inside = file.removeprefix(root).split("/") if file.startswith(root) else []
        if ".." in inside:  # an object may have any name
            raise OSError(f"{url}: the name {file!r} points outside the folder; rename the object")
        target = copy.joinpath(*inside)
        target.parent.mkdir(parents=True, exist_ok=True)
        system.get_file(file, str(target))
    if not copy.exists():  # an empty folder
        copy.mkdir()
    return copy, address


def _file_system(path: str | os.PathLike[str]) -> tuple[Any, str]:
    """Return the file system of an address and the path in it."""
    url = os.fspath(path)
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError as error:
        raise MissingPackage(
            f"{url} needs the package fsspec, which is not installed; install it with pip install 'candide[remote]'"
        ) from error
    try:
        system, place = url_to_fs(url)
    except ImportError as error:
        scheme = RemotePath(url).scheme
        raise MissingPackage(
            f"{url} needs the package for {scheme}://, which is not installed ({_first_line(error)}); install it"
        ) from error
    return system, place


@contextmanager
def naming_address(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise errors of file systems, which are of many types, as an ``OSError`` that names the address."""
    url = os.fspath(path)
    try:
        yield
    except (MissingPackage, MemoryError):
        raise
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "no such file", url) from None
    except PermissionError as error:
        raise PermissionError(errno.EACCES, f"permission denied ({_first_line(error)})", url) from error
    except Exception as error:
        if str(error).startswith(url):
            raise
        raise OSError(f"{url}: {_first_line(error)}; check the address, the credentials and the network") from error


def _first_line(error: BaseException) -> str:
    text = (str(error) or type(error).__name__).partition("\n")[0].rstrip(". ")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
