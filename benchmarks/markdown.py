"""Tables of results."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def line(name: str, cells: list[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def show(lines: Iterable[str], save_to: Path | None, end: str = "") -> None:
    """Print lines as they are made, and write them to a file, followed by ``end``."""
    shown = []
    for text in lines:
        print(text, flush=True)
        shown.append(text)
    if save_to is not None:
        save_to.write_text("\n".join(shown) + "\n" + end)


def heading(first: str, columns: list[str]) -> list[str]:
    return ["", line(first, columns), f"|---|{'---|' * len(columns)}"]
