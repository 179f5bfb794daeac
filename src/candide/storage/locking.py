"""Advisory locks, released by the operating system when the process that holds them ends, however it ends."""

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
# Bytes that file systems allow in a name.
_LONGEST_NAME = 255
# Seconds between two attempts.
_BETWEEN = 0.05
# What file systems without locks answer.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}
# What is answered if another process holds the lock.
_HELD = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}


@contextmanager
def locked(
    path: str | os.PathLike[str],
    timeout: float = DEFAULT_TIMEOUT,
    on_wait: Callable[[], object] | None = None,
) -> Iterator[None]:
    """Lock a model file while it is read, changed and written again.

    The commands that write a model (``candide update``, say) take the same lock, so that of several processes that
    change one file each sees what the one before has written. The lock is advisory: ``load`` and ``save`` alone do not
    ask for it. It is a file beside the model (``.NAME.lock``), removed when the block ends; the lock on it does not
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
    if target.exists() and not target.is_file():  # a device or a pipe is never read, changed and written again
        yield
        return
    beside = target.with_name(f".{short_name(target.name, len('..lock'))}.lock")
    handle = _acquired(beside, target, timeout, on_wait)
    try:
        yield
    finally:
        _release(handle, beside)


def target_of(path: str | os.PathLike[str]) -> Path:
    """The file behind all links; if it is a pipe that has no name, as ``/dev/stdout`` may be, the path itself."""
    target = Path(os.path.realpath(path))
    return target if target.exists() or not Path(path).exists() else Path(path)


def _acquired(beside: Path, target: Path, timeout: float, on_wait: Callable[[], object] | None) -> int:
    deadline, waits = time.monotonic() + timeout, False
    while True:
        with naming(target):
            handle = _opened(beside)
        try:
            state = try_lock(handle)
            if state is None:
                warn(
                    f"the file system of {target} has no locks; if another process changes this file at the same time, "
                    "one of the changes is lost"
                )
                return handle
            if state and is_same(handle, beside):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if state and time.monotonic() < deadline + 1.0:
            continue  # the file was removed by the process that held it before
        if time.monotonic() >= deadline:
            raise LockTimeout(
                f"{target}: another process is changing this file, and did not finish within {timeout:g} s; nothing "
                "was written; run this again later, or allow more time with timeout= (--lock-timeout in a terminal)"
            )
        if not waits and on_wait is not None:
            on_wait()
        waits = True
        time.sleep(max(0.0, min(_BETWEEN, deadline - time.monotonic())))


def _opened(beside: Path) -> int:
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(beside, flags | os.O_CREAT, 0o666)
    except PermissionError:
        # One that another user has made may be there to be read only, which is enough to lock it.
        if not beside.exists():
            raise
        return os.open(beside, flags & ~os.O_RDWR)


def _release(handle: int, beside: Path) -> None:
    if fcntl is None:
        os.close(handle)  # Windows removes no file that is open, neither ours nor that of a process that waits
    # Elsewhere it is removed while it is locked: a process that waits for it sees that it is gone, and makes another.
    with suppress(OSError):
        beside.unlink()
    if fcntl is not None:
        os.close(handle)


def try_lock(handle: int) -> bool | None:
    """Whether an open file could be locked at once; None where the file system has no locks."""
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


def short_name(name: str, room: int) -> str:
    """The first characters of a file's name, so that there is room for so many bytes more.

    >>> short_name("mail.candide", 6), len(short_name("ä" * 127, 6).encode())
    ('mail.candide', 248)
    """
    most, encoded = _LONGEST_NAME - room, os.fsencode(name)
    return name if len(encoded) <= most else encoded[:most].decode(errors="ignore")


def is_same(handle: int, path: Path) -> bool:
    """Whether an open file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False
