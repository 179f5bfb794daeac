"""All commands by name, with their help and examples."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Annotated, Any

import typer

from .__main__ import main as main

_TRAINING, _USING, _FILES = "Training", "Using a model", "Model files"
# For each command: its module, the variable with its examples, and its panel in the help.
_COMMANDS = {
    "train": ("train", "EXAMPLES", _TRAINING),
    "update": ("change", "UPDATE_EXAMPLES", _TRAINING),
    "forget": ("change", "FORGET_EXAMPLES", _TRAINING),
    "merge": ("change", "MERGE_EXAMPLES", _TRAINING),
    "compare": ("compare", "EXAMPLES", _TRAINING),
    "predict": ("predict", "EXAMPLES", _USING),
    "classify": ("classify", "EXAMPLES", _USING),
    "evaluate": ("evaluate", "EXAMPLES", _USING),
    "explain": ("explain", "EXAMPLES", _USING),
    "report": ("report", "EXAMPLES", _USING),
    "show": ("show", "EXAMPLES", _FILES),
    "dump": ("convert", "DUMP_EXAMPLES", _FILES),
    "load": ("convert", "LOAD_EXAMPLES", _FILES),
    "convert": ("convert", "CONVERT_EXAMPLES", _FILES),
}


def app_of(names: Iterable[str]) -> typer.Typer:
    """Return an app with only some commands, because typer inspects the options of every command in an app."""
    app = typer.Typer(
        name="candide",
        help="Train, evaluate, update and merge naive Bayes models on files of any size, and predict and explain with "
        "them.",
        epilog="[bold]Examples[/bold]\n"
        "[cyan]candide train messages.csv[/cyan]\n"
        "[cyan]candide evaluate messages.candide later.csv[/cyan]\n"
        "[cyan]candide classify messages.candide 'win a free prize'[/cyan]\n\n"
        "Exit codes: 0 success, 1 the data or the model cannot be used, 2 usage error, 3 a file cannot be read or "
        "written, 4 another process is changing the model file, 130 Ctrl-C, 143 SIGTERM.",
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
    """Handle the options of the program itself."""


def _add(app: typer.Typer, function: Callable[..., Any], examples: str, panel: str) -> None:
    lines = "\n".join(_example(line) for line in examples.strip().splitlines())
    app.command(help=_unwrapped(function), epilog=f"[bold]Examples[/bold]\n{lines}", rich_help_panel=panel)(function)


def _unwrapped(function: Callable[..., Any]) -> str:
    """Return the docstring with one line per paragraph, so that the terminal wraps the lines."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _example(line: str) -> str:
    escaped = line.replace("[", "\\[")
    return f"[dim]{escaped}[/dim]" if line.startswith("#") else f"[cyan]{escaped}[/cyan]"


def __getattr__(name: str) -> Any:
    if name == "app":
        globals()["app"] = app_of(_COMMANDS)
        return globals()["app"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def run(arguments: list[str]) -> None:
    """Run the command named by the arguments; without a command, show the help."""
    named = arguments[:1]
    app_of(named if named and named[0] in _COMMANDS else _COMMANDS)()
