"""All commands, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Annotated, Any

import typer

from .entry import main as main

_LEARNING, _ASKING, _FILES = "Learning", "Asking", "Model files"
# By name: the module, the name of its examples, and where the help has it.
_COMMANDS = {
    "train": ("train", "EXAMPLES", _LEARNING),
    "update": ("change", "UPDATE_EXAMPLES", _LEARNING),
    "forget": ("change", "FORGET_EXAMPLES", _LEARNING),
    "merge": ("change", "MERGE_EXAMPLES", _LEARNING),
    "compare": ("compare", "EXAMPLES", _LEARNING),
    "predict": ("predict", "EXAMPLES", _ASKING),
    "classify": ("classify", "EXAMPLES", _ASKING),
    "evaluate": ("evaluate", "EXAMPLES", _ASKING),
    "explain": ("explain", "EXAMPLES", _ASKING),
    "report": ("report", "EXAMPLES", _ASKING),
    "show": ("show", "EXAMPLES", _FILES),
    "dump": ("forms", "DUMP_EXAMPLES", _FILES),
    "load": ("forms", "LOAD_EXAMPLES", _FILES),
    "convert": ("forms", "CONVERT_EXAMPLES", _FILES),
}


def app_of(names: Iterable[str]) -> typer.Typer:
    """An app of some commands: typer looks at all options of all commands that an app has, whichever is called."""
    app = typer.Typer(
        name="candide",
        help="Naive Bayes in a terminal: train on files of any size, predict, ask why, merge, forget.",
        epilog="Exit codes: 0 done, 1 data or model cannot be used, 2 wrong usage, 3 a file cannot be read or written, "
        "4 another process is changing the model file, 130 Ctrl-C, 143 SIGTERM.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_candide)
    for name in names:
        module, examples, panel = _COMMANDS[name]
        found = import_module(f".{module}", __package__)
        _add(app, getattr(found, name), getattr(found, examples), panel)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        import candide

        print(f"candide {candide.__version__}")
        raise typer.Exit


def _candide(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """All of it is in the commands."""


def _add(app: typer.Typer, function: Callable[..., Any], examples: str, panel: str) -> None:
    lines = "\n\n".join(f"[cyan]{line.replace('[', chr(92) + '[')}[/cyan]" for line in examples.strip().splitlines())
    app.command(epilog=f"[bold]Examples[/bold]\n\n{lines}", rich_help_panel=panel)(function)


def __getattr__(name: str) -> Any:
    if name == "app":
        globals()["app"] = app_of(_COMMANDS)
        return globals()["app"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def run(arguments: list[str]) -> None:
    """The command that arguments name; an app of all commands for whoever names none."""
    asked = arguments[:1]
    app_of(asked if asked and asked[0] in _COMMANDS else _COMMANDS)()
