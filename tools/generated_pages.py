"""A hook of mkdocs: writes into pages what is generated from the program, or is kept elsewhere in the repository.

In a page, the line ``<!-- commands -->`` stands for all commands with their arguments, options and examples, as
``candide --help`` shows them, ``<!-- api: candide.plot -->`` for the docstrings of all public names of a module, and
``<!-- include: benchmarks/TEXT.md -->`` for that file, its headings two levels lower. Docstrings have headings one
level below the heading before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import typer

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = "<!-- commands -->"
API = re.compile(r"^<!-- api: (.+) -->$", re.MULTILINE)
OBJECT = re.compile(r"^(?P<heading>##+) |^::: \S+$(?!\n +options:)", re.MULTILINE)
INCLUDE = re.compile(r"^<!-- include: (.+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return the page with commands, docstrings and files in place of their marks."""
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, commands_page())
    markdown = API.sub(lambda mark: "\n\n".join(f"::: {path}" for path in public_paths(mark[1])), markdown)
    markdown = with_heading_levels(markdown)
    return INCLUDE.sub(lambda mark: included(ROOT / mark[1]), markdown)


def public_paths(module: str) -> list[str]:
    """Return where the public names of a module are defined: a plot may have the name of its module."""
    names = import_module(module)
    found = [getattr(names, name) for name in names.__all__]
    return [f"{one.__module__}.{one.__qualname__}" for one in found]


def with_heading_levels(markdown: str) -> str:
    """Return the page with its ``:::`` lines one level below the heading before them, unless they have options."""
    level = 2

    def replaced(mark: re.Match[str]) -> str:
        nonlocal level
        if mark["heading"]:
            level = len(mark["heading"]) + 1
            return mark[0]
        return f"{mark[0]}\n    options:\n      heading_level: {level}"

    return OBJECT.sub(replaced, markdown)


def included(path: Path) -> str:
    """Return a Markdown file with its headings two levels lower."""
    return re.sub(r"^#", "###", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


def commands_page() -> str:
    """Return Markdown about all commands, by panel as in ``candide --help``."""
    from candide.cli.app import app

    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return "\n".join(line for name, command in commands.items() for line in command_lines(name, command))


def command_lines(name: str, command: Any) -> Iterator[str]:
    """Yield the lines about one command."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    yield from (f"## candide {name}", "", command.help, "")
    yield from ("```sh", " ".join(["candide", name, *map(placeholder, arguments), "[OPTIONS]"]), "```", "")
    yield from table("Argument", [(code(placeholder(one)), one.help) for one in arguments])
    for panel, group in groupby(sorted(options, key=panel_order), key=lambda one: one.rich_help_panel):
        yield from table(panel or "Option", [(option_names(one), option_help(one)) for one in group])
    examples = re.findall(r"\[cyan\](.*?)\[/cyan\]", command.epilog or "", re.DOTALL)
    if examples:
        yield from ("Examples:", "", "```sh", *(one.replace("\\[", "[") for one in examples), "```", "")


def placeholder(argument: Any) -> str:
    """Return an argument as it stands in the usage line."""
    text = argument.metavar or argument.name.upper()
    return text if argument.required or text.startswith("[") else f"[{text}]"


def panel_order(option: Any) -> tuple[bool, str]:
    """Sort options of the command itself before those that several commands share."""
    return option.rich_help_panel is not None, option.rich_help_panel or ""


def option_names(option: Any) -> str:
    """Return the names of an option, with its values."""
    names = ", ".join(code(name) for name in [*option.opts, *option.secondary_opts])
    if option.is_flag:
        return names
    return f"{names} {code(option.metavar or option.type.name.split()[0].upper())}"


def code(text: str) -> str:
    """Return inline code without line breaks."""
    return f'`{text}`{{: style="white-space: nowrap" }}'


def option_help(option: Any) -> str:
    """Return what an option does, with its default."""
    default = option.default
    shown = not option.is_flag and default is not None and not callable(default) and default != ()
    return f"{option.help or ''} Default: `{default}`." if shown else option.help or ""


def table(title: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    """Yield a Markdown table of two columns."""
    if not rows:
        return
    yield from (f"| {title} | |", "|---|---|")
    for left, right in rows:
        # A bar within code does not end the cell, and shows its backslash.
        yield f"| {left} | {' '.join(right.split()).replace('|', chr(92) + '|')} |"
    yield ""
