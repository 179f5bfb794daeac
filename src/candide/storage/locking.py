"""Advisory locks on model files, which the operating system releases when a process ends for any reason."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..exceptions import LockTimeout, naming, warn

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

    The commands that write a model, such as ``candide update``, take the same lock, so that of several processes that
    change one file, each reads what the one before has written. The lock is advisory: ``load`` and ``save`` do not
    take it. It is a file next to the model (``.NAME.lock``), removed when the block ends; the lock on it does not
    outlive the process. It is not reentrant.

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
                    f"the file system of {target} has no locks; if another process changes this file at the same time, "
                    "one of the changes is lost"
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
                f"{target}: another process is changing this file, and did not finish within {timeout:g} s; nothing "
                "was written; run this again later, or allow more time with timeout= (--lock-timeout in a terminal)"
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
    """Return the first characters of a file name, so that so many bytes can be added.

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
