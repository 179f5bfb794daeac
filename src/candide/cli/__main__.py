"""Entry point of the command line: install signal handlers first, and import slow modules only when needed."""

from __future__ import annotations

import gc
import os
import sys

from .interrupt import at_once


def main() -> None:
    """Run the command line."""
    # Imports create many objects that all stay; garbage collection takes a tenth of the time of a short command.
    gc.set_threshold(200_000)
    # A thread that reads a model file waits this long for the one that imports modules, each time it needs it.
    sys.setswitchinterval(0.001)
    try:
        with at_once():
            _run(sys.argv[1:])
    finally:
        # Skip the garbage collection at exit, which takes another tenth; the objects it would free are not leaks,
        # but DuckDB would report them as leaks.
        if "duckdb" not in sys.modules:
            gc.freeze()
        core = sys.modules.get("candide.kernels._core")
        if core is not None:
            core.set_leak_warnings(False)


def _run(arguments: list[str]) -> None:
    plain = _classify_arguments(arguments)
    if plain is not None:
        # One text needs no BLAS threads, and starting them takes as long as reading the file.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        # Importing typer takes longer than classifying, and there are no options to parse.
        from .classification import run_without_options

        run_without_options(*plain)
        return
    from .app import run

    run(arguments)


def _classify_arguments(arguments: list[str]) -> tuple[str, list[str]] | None:
    """Return the model and the texts of ``candide classify MODEL [TEXT]...``, or None for other commands and options.

    >>> _classify_arguments(["classify", "mail.candide", "win a prize"])
    ('mail.candide', ['win a prize'])
    >>> _classify_arguments(["classify", "mail.candide", "win a prize", "--json"])
    """
    is_classify = arguments[:1] == ["classify"] and len(arguments) > 1
    # On Windows, programs expand file patterns themselves; shells ask for completions with this variable.
    if not is_classify or os.name == "nt" or "_CANDIDE_COMPLETE" in os.environ:
        return None
    given = arguments[1:]
    return None if any(one.startswith("-") and one != "-" for one in given) else (given[0], given[1:])


# Child processes that are started by multiprocessing import this file too.
if __name__ == "__main__":
    main()
