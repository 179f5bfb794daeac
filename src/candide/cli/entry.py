"""Entry point of the command line: install signal handlers first, and import slow modules only when needed."""

from __future__ import annotations

import gc
import os
import sys

from .interrupt import at_once


def main() -> None:
    """The console script."""
    # Imports create many objects that all stay; garbage collection takes a tenth of the time of a short command.
    gc.set_threshold(200_000)
    try:
        with at_once():
            _run(sys.argv[1:])
    finally:
        # Skip the garbage collection at exit, which takes another tenth.
        gc.freeze()


def _run(arguments: list[str]) -> None:
    question = _question(arguments)
    if question is not None:
        # One text needs no BLAS threads, and starting them takes as long as reading the file.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        # Importing typer takes longer than answering, and there are no options to parse.
        from .answering import answer

        answer(*question)
        return
    from .app import run

    run(arguments)


def _question(arguments: list[str]) -> tuple[str, list[str]] | None:
    """The model and the texts of ``candide classify MODEL [TEXT]...``; None if there are options, or if it is another.

    >>> _question(["classify", "mail.candide", "win a prize"])
    ('mail.candide', ['win a prize'])
    >>> _question(["classify", "mail.candide", "win a prize", "--json"])
    """
    asked = arguments[:1] == ["classify"] and len(arguments) > 1
    # Windows leaves patterns of file names to programs, and shells that complete words ask by this variable.
    if not asked or os.name == "nt" or "_CANDIDE_COMPLETE" in os.environ:
        return None
    given = arguments[1:]
    return None if any(one.startswith("-") and one != "-" for one in given) else (given[0], given[1:])
