"""Errors of commands as messages and exit codes."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from ..exceptions import CandideError, LockTimeout, SourceError
from ..printable import printable
from .interrupt import INTERRUPTED, STOPPED, TERMINATED, Terminated, terminable
from .session import as_json

# 0: done. 2: the command line itself is wrong (typer says so).
UNUSABLE = 1  # data, a model or a setting cannot be used
NO_FILE = 3  # a file cannot be read or written
LOCKED = 4  # another process is changing the model file


def run_command(run: Callable[[], None], *, machine: bool = False) -> None:
    """Run a command; an error becomes one message, with ``machine`` also as JSON, and an exit code."""
    try:
        with terminable(), warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _as_note
            run()
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe; Python would raise again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except KeyboardInterrupt as stop:
        _fail(str(stop) or STOPPED, INTERRUPTED, "Interrupted", machine)
    except Terminated as stop:
        _fail(str(stop) or STOPPED, TERMINATED, "Terminated", machine)
    except SourceError as error:
        _fail(str(error), NO_FILE, type(error).__name__, machine)
    except LockTimeout as error:
        _fail(str(error), LOCKED, type(error).__name__, machine)
    except OSError as error:
        _fail(_about_files(error), NO_FILE, type(error).__name__, machine)
    except MemoryError:
        _fail("not enough memory; nothing was written", UNUSABLE, "MemoryError", machine)
    except CandideError as error:
        _fail(str(error), UNUSABLE, type(error).__name__, machine)


def _as_note(message: Any, *_: Any, **__: Any) -> None:
    print(f"note: {printable(in_a_terminal(str(message)))}", file=sys.stderr)


_FREE_SPACE = "free some space, or write to another disk; existing files are unchanged"
_ABOUT_FILES = {
    errno.ENOENT: "no such file or folder; check the name",
    errno.EACCES: "permission denied; choose another path, or change the permissions",
    errno.EPERM: "permission denied; choose another path, or change the permissions",
    errno.EISDIR: "is a folder; expected a file",
    errno.ENOTDIR: "part of this path is a file, not a folder; check the name",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.EROFS: "the file system is read-only; choose another path",
    errno.ENOSPC: f"the disk is full; {_FREE_SPACE}",
    errno.EDQUOT: f"the disk quota is exceeded; {_FREE_SPACE}",
    errno.EFBIG: f"the file would exceed the maximum file size; {_FREE_SPACE}",
    errno.EIO: "input/output error; check the disk, and try again",
    errno.EMFILE: "too many open files; raise the limit (ulimit -n)",
}


def _about_files(error: OSError) -> str:
    if error.strerror is None or error.errno is None:
        return str(error)
    what = _ABOUT_FILES.get(error.errno, f"{error.strerror.lower()}; existing files are unchanged")
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {what}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):  # errors of written files include their names
        return f"standard output: {error.strerror.lower()}; the output is incomplete; write to a file instead"
    return what


# Parameters in messages for Python, and the options of the command line.
_IN_A_TERMINAL = (
    # What a message says for Python, and in parentheses for the command line.
    (r"(with|pass|example|as|type:) [^;()]*\((--[^()]+?) on the command line\)", r"\1 \2"),
    (r"on_bad_row='skip'", "--on-bad-row skip"),
    (r"extensions=True", "--extensions"),
    (r"pass unlabeled='drop'", "pass --set unlabeled=drop"),
    (r"set_params\(absent='missing'\)", "pass --absent missing"),
    (r"approximate=True", "--approximate"),
    (r"refine=False", "--no-refine"),
    (r"keep=\['(\w+)'\], or pass keep=False", r"with --keep \1"),
    (r"construct it with subsample=[\d_]+", "train it with --with-rows"),
    (r"pass columns=\{'([^']+)': '(\w+)'\}", r"pass --columns with \1=\2 in it"),
    (r"\b(label|text|weight|groups|columns|sql|format|encoding)=(?=['\s])", r"--\1 "),
    (r"\b(text|weight|groups|columns)=(?=;)", r"--\1"),
)


def in_a_terminal(message: str) -> str:
    """
    >>> in_a_terminal("mail.csv, line 3: 3 cells; correct the line, or leave such rows out with on_bad_row='skip'")
    'mail.csv, line 3: 3 cells; correct the line, or leave such rows out with --on-bad-row skip'
    >>> in_a_terminal("try again later, or wait longer with timeout= (--lock-timeout on the command line)")
    'try again later, or wait longer with --lock-timeout'
    """
    for pattern, said in _IN_A_TERMINAL:
        message = re.sub(pattern, said, message)
    return message.replace("  ", " ")


def _fail(message: str, code: int, kind: str, machine: bool) -> NoReturn:
    message = in_a_terminal(message)
    if machine:
        print(as_json({"error": {"kind": kind, "message": message}}))
    print(f"candide: {printable(message)}", file=sys.stderr)
    raise SystemExit(code)
