"""Write files atomically, so that the new file replaces the old one once it is complete; lock model files.

Locks are advisory; the operating system releases them when a process ends for any reason.
"""

from __future__ import annotations

import errno
import io
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..exceptions import LockTimeout, naming, warn
from ..remote import is_remote, local_path, remote_writer

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

DEFAULT_TIMEOUT = 300.0
# The bytes of a file name that file systems allow.
_MAX_NAME_BYTES = 255
# Seconds between two attempts.
_RETRY_INTERVAL = 0.05
# Errors of file systems without locks.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}
# Errors if another process holds the lock.
_HELD = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}


@contextmanager
def locked(
    path: str | os.PathLike[str],
    timeout: float = DEFAULT_TIMEOUT,
    on_wait: Callable[[], object] | None = None,
) -> Iterator[None]:
    """Lock a model file while it is read, changed and written again.

    The commands that write a model, such as ``candide update``, take the same lock, so that if several processes change
    one file, each reads what the previous one has written. The lock is advisory: ``load`` and ``save`` do not take it.
    It is a file next to the model (``.NAME.lock``), removed when the block ends; the lock is released when the process
    ends. It is not reentrant. Addresses such as ``s3://bucket/mail.candide`` have no lock.

    Parameters
    ----------
    path : str or Path
        The model file, which need not exist yet.
    timeout : float, default 300
        Seconds to wait for another process before ``LockTimeout`` is raised; 0 for a single attempt.
    on_wait : callable, optional
        Called once, without arguments, if the lock is not free at the first attempt.

    Examples
    --------
    >>> import candide, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/mail.candide"
    ...     candide.TextNB("multinomial").fit(["win cash", "see you"], ["spam", "ham"]).save(path)
    ...     with candide.locked(path):
    ...         model = candide.load(path)
    ...         model.partial_fit(["win a prize"], ["spam"]).save(path)
    ...     candide.load(path).class_count_.tolist()
    [1.0, 2.0]
    """
    if is_remote(os.fspath(path)):
        yield
        return
    target = target_of(path)
    if target.exists() and not target.is_file():  # a device or a pipe cannot be updated in place
        yield
        return
    lock_file = target.with_name(f".{short_name(target.name, len('..lock'))}.lock")
    handle = _acquire(lock_file, target, timeout, on_wait)
    try:
        yield
    finally:
        _release(handle, lock_file)


def target_of(path: str | os.PathLike[str]) -> Path:
    """Return the path without symbolic links, or the path itself if that is a pipe without a name (``/dev/stdout``)."""
    path = local_path(os.fspath(path))
    target = Path(os.path.realpath(path))
    return target if target.exists() or not Path(path).exists() else Path(path)


def _acquire(lock_file: Path, target: Path, timeout: float, on_wait: Callable[[], object] | None) -> int:
    deadline, waits = time.monotonic() + timeout, False
    while True:
        with naming(target):
            handle = _open_lock_file(lock_file)
        try:
            state = try_lock(handle)
            if state is None:
                warn(
                    f"the file system of {target} does not support locks; if another process changes this file at the "
                    "same time, one of the changes is lost"
                )
                return handle
            if state and is_same(handle, lock_file):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if state and time.monotonic() < deadline + 1.0:
            continue  # the process that held the lock removed the file
        if time.monotonic() >= deadline:
            raise LockTimeout(
                f"{target}: another process is changing this file and did not finish within {timeout:g} s; nothing "
                "was written; try again later, or wait longer with timeout= (--lock-timeout on the command line)"
            )
        if not waits and on_wait is not None:
            on_wait()
        waits = True
        time.sleep(max(0.0, min(_RETRY_INTERVAL, deadline - time.monotonic())))


def _open_lock_file(lock_file: Path) -> int:
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(lock_file, flags | os.O_CREAT, 0o666)
    except PermissionError:
        # A file of another user may be read-only, which is enough to lock it.
        if not lock_file.exists():
            raise
        return os.open(lock_file, flags & ~os.O_RDWR)


def _release(handle: int, lock_file: Path) -> None:
    if fcntl is None:
        os.close(handle)  # Windows does not remove open files
    # Elsewhere the file is removed while it is locked: a waiting process notices, and creates another.
    with suppress(OSError):
        lock_file.unlink()
    if fcntl is not None:
        os.close(handle)


def try_lock(handle: int) -> bool | None:
    """Lock an open file without waiting. Return whether this succeeded, or None if the file system has no locks."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return None
        if error.errno in _HELD:
            return False
        raise
    return True


def short_name(name: str, n_added: int) -> str:
    """Return the first characters of a file name, so that a number of bytes can be added.

    >>> short_name("mail.candide", 6), len(short_name("ä" * 127, 6).encode())
    ('mail.candide', 248)
    """
    limit, encoded = _MAX_NAME_BYTES - n_added, os.fsencode(name)
    return name if len(encoded) <= limit else encoded[:limit].decode(errors="ignore")


def is_same(handle: int, path: Path) -> bool:
    """Return whether an open file is still the one at this path."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


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
    processes are removed by the next process that writes the same file. At a remote address, the whole file is written
    at the end.
    """
    if is_remote(os.fspath(path)):
        with remote_writer(path) as file:
            yield file
        return
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
