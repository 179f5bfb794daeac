"""All commands, by name."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Annotated, Any

import typer

from . import change, classify, compare, evaluate, explain, forms, predict, report, show, train

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
_LEARNING, _ASKING, _FILES = "Learning", "Asking", "Model files"


def _version(wanted: bool) -> None:
    if wanted:
        import candide

        print(f"candide {candide.__version__}")
        raise typer.Exit


@app.callback()
def _candide(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """All of it is in the commands."""


def _add(function: Callable[..., Any], examples: str, panel: str) -> None:
    lines = "\n\n".join(f"[cyan]{line.replace('[', chr(92) + '[')}[/cyan]" for line in examples.strip().splitlines())
    app.command(epilog=f"[bold]Examples[/bold]\n\n{lines}", rich_help_panel=panel)(function)


_add(train.train, train.EXAMPLES, _LEARNING)
_add(change.update, change.UPDATE_EXAMPLES, _LEARNING)
_add(change.forget, change.FORGET_EXAMPLES, _LEARNING)
_add(change.merge, change.MERGE_EXAMPLES, _LEARNING)
_add(compare.compare, compare.EXAMPLES, _LEARNING)
_add(predict.predict, predict.EXAMPLES, _ASKING)
_add(classify.classify, classify.EXAMPLES, _ASKING)
_add(evaluate.evaluate, evaluate.EXAMPLES, _ASKING)
_add(explain.explain, explain.EXAMPLES, _ASKING)
_add(report.report, report.EXAMPLES, _ASKING)
_add(show.show, show.EXAMPLES, _FILES)
_add(forms.dump, forms.DUMP_EXAMPLES, _FILES)
_add(forms.load, forms.LOAD_EXAMPLES, _FILES)
_add(forms.convert, forms.CONVERT_EXAMPLES, _FILES)


def main() -> None:
    """The console script."""
    # Imports make very many objects that all stay; to look for garbage among them takes a tenth of a short command.
    gc.set_threshold(200_000)
    app()
