"""An explanation for people: as text, as a table in a terminal, as HTML in a notebook."""

from __future__ import annotations

import html
from typing import Any, NamedTuple

from ..printable import printable
from .explanation import Explanation

_MOST = 20
_WIDEST = 24
# Bits from which a word has a colour, and a strong one.
_LEAST, _STRONG = 0.1, 1.0
# Blue for, orange against: told apart by all eyes, and by the side of the axis they are on.
_FOR, _AGAINST = "#0072b2", "#d55e00"
# The same on the dark or light ground of a terminal.
_FOR_SHOWN, _AGAINST_SHOWN = "dodger_blue1", "dark_orange"
# What is less is shown as 0.00, and says nothing by itself.
_SHOWN = 0.005


class Bar(NamedTuple):
    """A term as it is shown: its name, bits, and a length from -1 to 1."""

    name: str
    bits: float
    length: float


def bars(found: Explanation, most: int = _MOST, of: Any = None, against: Any = None) -> tuple[list[Bar], Bar | None]:
    """The strongest terms, and all the others as one; of texts that are looked at in several ways, their words."""
    table = found.contributions(of, against, by=found.for_people)
    pairs = list(zip(table["term"].tolist(), table["bits"].tolist(), strict=True))
    largest = max((abs(bits) for _, bits in pairs if abs(bits) < float("inf")), default=0.0) or 1.0
    made = [Bar(printable(name), bits, max(-1.0, min(1.0, bits / largest))) for name, bits in pairs]
    shown = [bar for bar in made[:most] if abs(bar.bits) >= _SHOWN]
    others = made[len(shown) :]
    if len(others) == 1:  # its name takes no more room than its number
        return made, None
    rest = Bar(f"{len(others)} more", sum(bar.bits for bar in others), 0.0) if others else None
    return shown, rest


def heading(found: Explanation, of: Any = None, against: Any = None) -> str:
    """The answer in words."""
    if len(found.classes) < 2:
        return f"{printable(found.answer)}: the model knows no other class"
    first, second = (found.classes.tolist()[place] for place in found.pair(of, against))
    prefix = "" if first == found.answer else f"{first} "
    odds = found.log_odds(first, second)
    return printable(f"{found.answer} ({found.probability:.4f}), {prefix}against {second}: {odds:+.2f} bits")


def as_text(found: Explanation) -> str:
    """Plain lines."""
    if len(found.classes) < 2:
        return heading(found)
    shown, rest = bars(found)
    every = [*shown, *([rest] if rest else [])]
    width = min(_WIDEST * 2, max(len(bar.name) for bar in every))
    lines = [f"  {_cut(bar.name, width).ljust(width)}  {bar.bits:+8.2f}  {_line(bar.length)}".rstrip() for bar in every]
    return "\n".join([heading(found), *lines])


def as_rich(found: Explanation, most: int = _MOST, of: Any = None, against: Any = None) -> Any:
    """A table for a terminal."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(heading(found, of, against)), title_justify="left", box=None, pad_edge=False)
    table.add_column("contribution", overflow="fold")
    table.add_column("bits", justify="right", no_wrap=True)
    table.add_column("")
    if len(found.classes) > 1:
        shown, rest = bars(found, most, of, against)
        for bar in [*shown, *([rest] if rest else [])]:
            table.add_row(Text(bar.name), f"{bar.bits:+.2f}", _line(bar.length), style=colour_of(bar.bits))
    return table


def coloured(found: Explanation, column: Any = None, of: Any = None, against: Any = None) -> Any:
    """A text for a terminal, its words colored by their contributions."""
    from rich.text import Text

    text = Text(printable(found.texts[column], lines=True))
    for word in found.words(of, against, column=column).words:
        if abs(word.amount) >= _LEAST:
            strong = "bold " if abs(word.amount) >= _STRONG else ""
            text.stylize(strong + colour_of(word.amount), word.begin, word.end)
    return text


def colour_of(bits: float) -> str:
    """Of a terminal."""
    return _FOR_SHOWN if bits > 0 else _AGAINST_SHOWN if bits < 0 else ""


def as_html(found: Explanation) -> str:
    """A table with bars, for a notebook; it reads without colours too."""
    head = f"<p><b>{html.escape(heading(found))}</b></p>"
    if len(found.classes) < 2:
        return head
    shown, rest = bars(found)
    rows = "".join(map(_row, [*shown, *([rest] if rest else [])]))
    return (
        f"{head}<table><thead><tr><th>contribution</th><th>bits</th><th></th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(bar: Bar) -> str:
    colour, width = (_FOR if bar.bits > 0 else _AGAINST), round(120 * abs(bar.length))
    drawn = f'<div style="background:{colour};height:0.8em;width:{width}px"></div>' if width else ""
    return (
        f'<tr><td style="text-align:left">{html.escape(bar.name)}</td>'
        f'<td style="text-align:right">{bar.bits:+.2f}</td><td style="text-align:left">{drawn}</td></tr>'
    )


def _line(length: float) -> str:
    return ("█" if length > 0 else "░") * round(20 * abs(length))


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"
