"""What surrounds every command: errors become messages and exit codes."""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast

from ..exceptions import CandideError, LockTimeout, SourceError
from ..printable import printable
from .groups import spread
from .interrupt import Terminated, terminable
from .session import as_json

# 0: done. 2: the command line itself is wrong (typer says so).
CANNOT = 1  # data, a model or a setting cannot be used
NO_FILE = 3  # a file cannot be read or written
HELD = 4  # another process is changing the model file
INTERRUPTED, TERMINATED = 130, 143

_Command = TypeVar("_Command", bound=Callable[..., None])


def command(function: _Command) -> _Command:
    """A command whose errors are one message each, and whose groups of options are spread out."""
    whole = spread(function)

    @functools.wraps(whole)
    def guarded(*args: Any, **kwargs: Any) -> None:
        machine = bool(kwargs.get("json"))
        try:
            with terminable(), warnings.catch_warnings():
                warnings.simplefilter("default")
                warnings.showwarning = _as_note
                whole(*args, **kwargs)
                sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read has read enough; Python would complain again when it closes stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(0) from None
        except KeyboardInterrupt as stop:
            _fail(str(stop) or "stopped; nothing was written", INTERRUPTED, "Interrupted", machine)
        except Terminated as stop:
            _fail(str(stop) or "stopped; nothing was written", TERMINATED, "Terminated", machine)
        except SourceError as error:
            _fail(str(error), NO_FILE, type(error).__name__, machine)
        except LockTimeout as error:
            _fail(str(error), HELD, type(error).__name__, machine)
        except OSError as error:
            _fail(_about_files(error), NO_FILE, type(error).__name__, machine)
        except MemoryError:
            _fail("there is not enough memory for this; nothing was written", CANNOT, "MemoryError", machine)
        except CandideError as error:
            _fail(str(error), CANNOT, type(error).__name__, machine)

    return cast(_Command, guarded)


def _as_note(message: Any, *_: Any, **__: Any) -> None:
    print(f"note: {printable(in_a_terminal(str(message)))}", file=sys.stderr)


def _about_files(error: OSError) -> str:
    if error.filename is None or error.strerror is None:
        return str(error)
    name = os.fspath(error.filename)
    what = {
        FileNotFoundError: "there is no such file or folder; check the name",
        PermissionError: "there is no permission; choose another place, or change the permissions",
        IsADirectoryError: "it is a folder; name a file",
    }.get(type(error), f"{error.strerror.lower()}; nothing was lost of what was there before")
    return f"{name}: {what}"


# What messages say to people who write Python, and how it is said in a terminal.
_IN_A_TERMINAL = (
    (r" with \w+= \((--[\w-]+) in a terminal\)", r" with \1"),
    (r"on_bad_row='skip'", "--on-bad-row skip"),
    (r"extensions=True", "--extensions"),
    (r"set_params\(absent='missing'\)", "pass --absent missing"),
    (r"construct it with keep_sample=True", "train it with --updatable"),
    (r"pass columns=\{'([^']+)': '(\w+)'\}", r"pass --columns with \1=\2 in it"),
    (r"\b(label|text|weight|columns|sql|format|encoding)=(?=['\s])", r"--\1 "),
)


def in_a_terminal(message: str) -> str:
    """
    >>> in_a_terminal("mail.csv, line 3: 3 cells; correct the line, or leave such rows out with on_bad_row='skip'")
    'mail.csv, line 3: 3 cells; correct the line, or leave such rows out with --on-bad-row skip'
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
