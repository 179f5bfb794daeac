"""Tables of results."""

from __future__ import annotations


def line(name: str, cells: list[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def heading(first: str, columns: list[str]) -> list[str]:
    return ["", line(first, columns), f"|---|{'---|' * len(columns)}"]
