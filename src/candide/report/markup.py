"""HTML elements. All texts from data are escaped and shortened here."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..printable import printable

MAX_ROWS = 200
_MAX_CHARACTERS = 60


def escape_text(value: Any, most: int = _MAX_CHARACTERS) -> str:
    """Return text from data for an attribute or a chart: shortened, on one line, without control characters.

    >>> escape_text("a\\x00 <b> & " + "very " * 20, 20)
    'a␀ &lt;b&gt; &amp; very very…'
    """
    text = printable(" ".join(str(value)[: 4 * most].split()))
    return html.escape(text if len(text) <= most else text[: most - 1].rstrip() + "…")


def user_text(value: Any, most: int = _MAX_CHARACTERS) -> str:
    """Return text from data for the page, isolated so that right-to-left text does not affect its surroundings."""
    return f"<bdi>{escape_text(value, most)}</bdi>"


def percent(share: float, digits: int = 1) -> str:
    """
    >>> percent(0.1234), percent(float("nan"))
    ('12.3\\xa0%', '–')
    """
    return f"{100 * share:.{digits}f}\u00a0%" if math.isfinite(share) else "–"


def number(value: float) -> str:
    """Return a number in a short form with thousands separators.

    >>> number(581012.0), number(0.123456), number(0.5), number(2.5e-7), number(float("nan")), number(float("inf"))
    ('581,012', '0.1235', '0.5', '2.5e-07', '–', '∞')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def fixed(value: float, digits: int = 4) -> str:
    """Return a number with a fixed number of decimals, for columns of a table.

    >>> fixed(0.07), fixed(12345.678, 2), fixed(float("nan"))
    ('0.0700', '12,345.68', '–')
    """
    return f"{value:,.{digits}f}" if math.isfinite(value) else number(value)


def bar(share: float, series: int = 0) -> str:
    """Return a bar whose length is a share of its cell."""
    width = 0.0 if not math.isfinite(share) else max(0.0, min(1.0, share))
    return f'<span class="bar s{series}" style="width:{100 * width:.1f}%"></span>'


class Column(NamedTuple):
    """A column of an HTML table: its heading, and whether it holds numbers."""

    heading: str
    numeric: bool = False


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], caption: str) -> str:
    """Return a table. Cells are HTML; the first of each row is its heading. At most ``MAX_ROWS`` rows are shown."""
    head = "".join(f'<th scope="col"{_class(column)}>{column.heading}</th>' for column in columns)
    every = list(rows)
    body = "".join(f"<tr>{_cells(columns, row)}</tr>" for row in every[:MAX_ROWS])
    more = f"<p>… and {len(every) - MAX_ROWS:,} more.</p>" if len(every) > MAX_ROWS else ""
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{html.escape(caption)}"><table>'
        f"<caption><span>{html.escape(caption)}</span></caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>{more}"
    )


def _cells(columns: Sequence[Column], row: Sequence[str]) -> str:
    first, *others = row
    rest = "".join(f"<td{_class(column)}>{cell}</td>" for column, cell in zip(columns[1:], others, strict=True))
    return f'<th scope="row">{first}</th>{rest}'


def _class(column: Column) -> str:
    return ' class="n"' if column.numeric else ""


def facts(of: dict[str, str], caption: str) -> str:
    """Return a table of names and values, both HTML."""
    body = "".join(f'<tr><th scope="row">{name}</th><td>{value}</td></tr>' for name, value in of.items())
    head = f"<caption><span>{caption}</span></caption>"
    return f'<div class="wide"><table class="facts">{head}<tbody>{body}</tbody></table></div>'


def track(share: float) -> str:
    """Return a bar in a cell of fixed width."""
    return f'<span class="track">{bar(share)}</span>'


def details(summary: str, content: str) -> str:
    """Return collapsed content."""
    return f"<details><summary>{summary}</summary>{content}</details>"


def figure(picture: str, caption: str, behind: str = "", legend: str = "") -> str:
    """Return a chart with its caption and the table of its numbers."""
    return f"<figure>{legend}{picture}<figcaption>{caption}</figcaption>{behind}</figure>"


def legend(names: Sequence[str], bars: bool = False) -> str:
    """Return a legend of lines, or of bars; names are HTML."""
    css = "key box" if bars else "key"
    entries = "".join(f'<li><span class="{css} s{i}"></span>{name}</li>' for i, name in enumerate(names))
    return f'<ul class="legend">{entries}</ul>'


def section(anchor: str, heading: str, content: str) -> str:
    """Return a section of the page."""
    return f'<section id="{anchor}" aria-labelledby="{anchor}-h"><h2 id="{anchor}-h">{heading}</h2>{content}</section>'
