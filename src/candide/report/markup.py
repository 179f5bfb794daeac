"""Pieces of HTML. Whatever a user has written is escaped here, and kept from running over its place."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..printable import printable

MOST_ROWS = 200
_MOST_CHARACTERS = 60


def plain(value: Any, most: int = _MOST_CHARACTERS) -> str:
    """What a user has written, for an attribute or a picture: cut, on one line, without signs that control anything.

    >>> plain("a\\x00 <b> & " + "very " * 20, 20)
    'a␀ &lt;b&gt; &amp; very very…'
    """
    text = printable(" ".join(str(value)[: 4 * most].split()))
    return html.escape(text if len(text) <= most else text[: most - 1].rstrip() + "…")


def users(value: Any, most: int = _MOST_CHARACTERS) -> str:
    """The same for a page, in a place of its own: a text that runs from right to left does not turn others around."""
    return f"<bdi>{plain(value, most)}</bdi>"


def percent(share: float, digits: int = 1) -> str:
    """
    >>> percent(0.1234), percent(float("nan"))
    ('12.3\\xa0%', '–')
    """
    return f"{100 * share:.{digits}f}\u00a0%" if math.isfinite(share) else "–"


def number(value: float) -> str:
    """Short, and readable when large.

    >>> number(581012.0), number(0.123456), number(2.5e-7), number(float("nan")), number(float("inf"))
    ('581,012', '0.1235', '2.5e-07', '–', '∞')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def bar(share: float, series: int = 0) -> str:
    """A bar in a cell, as long as a share of it; the number stands beside."""
    width = 0.0 if not math.isfinite(share) else max(0.0, min(1.0, share))
    return f'<span class="bar s{series}" style="width:{100 * width:.1f}%"></span>'


class Column(NamedTuple):
    """Of a table: its heading, and whether it holds numbers."""

    heading: str
    numeric: bool = False


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], caption: str) -> str:
    """Cells are HTML already; the first of each row is its heading. Of very many rows the first are shown."""
    head = "".join(f'<th scope="col"{_class(column)}>{column.heading}</th>' for column in columns)
    every = list(rows)
    body = "".join(f"<tr>{_cells(columns, row)}</tr>" for row in every[:MOST_ROWS])
    more = f"<p>… and {len(every) - MOST_ROWS:,} more.</p>" if len(every) > MOST_ROWS else ""
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{html.escape(caption)}"><table>'
        f"<caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}"
    )


def _cells(columns: Sequence[Column], row: Sequence[str]) -> str:
    first, *others = row
    rest = "".join(f"<td{_class(column)}>{cell}</td>" for column, cell in zip(columns[1:], others, strict=True))
    return f'<th scope="row">{first}</th>{rest}'


def _class(column: Column) -> str:
    return ' class="n"' if column.numeric else ""


def facts(of: dict[str, str], caption: str) -> str:
    """Names and what belongs to them; both are HTML already."""
    body = "".join(f'<tr><th scope="row">{name}</th><td>{value}</td></tr>' for name, value in of.items())
    return f'<div class="wide"><table class="facts"><caption>{caption}</caption><tbody>{body}</tbody></table></div>'


def track(share: float) -> str:
    """A bar in a cell of fixed width."""
    return f'<span class="track">{bar(share)}</span>'


def details(summary: str, content: str) -> str:
    """Folded away until someone asks."""
    return f"<details><summary>{summary}</summary>{content}</details>"


def figure(picture: str, caption: str, behind: str = "", legend: str = "") -> str:
    """A picture with what it says in words, and the numbers behind it."""
    return f"<figure>{legend}{picture}<figcaption>{caption}</figcaption>{behind}</figure>"


def legend(names: Sequence[str]) -> str:
    """Which line is which; names are HTML already."""
    entries = "".join(f'<li><span class="key s{i}"></span>{name}</li>' for i, name in enumerate(names))
    return f'<ul class="legend">{entries}</ul>'


def section(anchor: str, heading: str, content: str) -> str:
    """A part of the page."""
    return f'<section id="{anchor}" aria-labelledby="{anchor}-h"><h2 id="{anchor}-h">{heading}</h2>{content}</section>'
