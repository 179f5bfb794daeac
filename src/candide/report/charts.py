"""HTML elements, and charts of the page as SVG, each with the table of its numbers.

All texts from data are escaped and shortened here.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..explain.terms import written
from ..kernels.layouts import Array, Floats
from ..model.evaluation import Evaluation
from ..model.table import Table
from ..printable import printable
from .feature_summary import ColumnShares

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


def user_name(value: Any, most: int) -> str:
    """Return a name from data without its middle if it is long, because names often differ at their ends.

    >>> user_name("department of redundancy, floor 12", 20)
    '<bdi>department…floor 12</bdi>'
    """
    text = " ".join(str(value).split())
    end = (most - 1) // 2
    return user_text(text if len(text) <= most else f"{text[: most - 1 - end].rstrip()}…{text[-end:].lstrip()}", most)


def percent(share: float, digits: int = 1) -> str:
    """
    >>> percent(0.1234), percent(float("nan"))
    ('12.3%', '–')
    """
    return f"{100 * share:.{digits}f}%" if math.isfinite(share) else "–"


def number(value: float) -> str:
    """Return a number in a short form with thousands separators.

    >>> number(581012.0), number(0.123456), number(2.5e-7), number(float("nan")), number(float("inf"))
    ('581,012', '0.1235', '2.5e-07', '–', '∞')
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
    """A column of an HTML table: its heading, and whether it contains numbers."""

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


_WIDTH = 340


@dataclass
class Frame:
    """The mapping from data to SVG coordinates. Small enough to be readable on a phone."""

    x: tuple[float, float]
    y: tuple[float, float]
    height: int = 220
    left: int = 58
    right: int = 22
    top: int = 10
    bottom: int = 42
    parts: list[str] = field(default_factory=list)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the coordinates of a point; points outside are moved to the border."""
        along, up = _share(x, *self.x), _share(y, *self.y)
        wide, high = _WIDTH - self.left - self.right, self.height - self.top - self.bottom
        return round(self.left + along * wide, 1), round(self.height - self.bottom - up * high, 1)

    def line(self, points: Iterable[tuple[float, float]], css: str) -> None:
        """Draw a polyline."""
        drawn = " ".join(f"{x},{y}" for x, y in (self.at(*point) for point in points))
        self.parts.append(f'<polyline class="line {css}" points="{drawn}"/>')

    def steps(self, edges: Sequence[float], heights: Sequence[float], css: str) -> None:
        """Draw a step function over bins."""
        corners = [(edge, height) for i, height in enumerate(heights) for edge in edges[i : i + 2]]
        self.line([(edges[0], 0.0), *corners, (edges[-1], 0.0)], css)

    def dots(self, points: Iterable[tuple[float, float]], css: str, radius: float = 3.0) -> None:
        """Draw a dot at each point."""
        places = (self.at(*point) for point in points)
        self.parts += [f'<circle class="dot {css}" cx="{x}" cy="{y}" r="{radius}"/>' for x, y in places]

    def axes(
        self, x_label: str, y_label: str, as_percent: tuple[bool, bool] = (False, False), *, dates: bool = False
    ) -> None:
        """Draw both axes with grid lines at round numbers; ``dates``: the numbers on the x axis are days."""
        for value, shown in _ticks(*self.x, as_percent=as_percent[0], most=4 if dates else 6):
            x, y = self.at(value, self.y[0])
            self.parts.append(f'<line class="grid" x1="{x}" y1="{y}" x2="{x}" y2="{self.top}"/>')
            self._text(x, y + 18, str(written(round(value))) if dates else shown, "middle")
        for value, shown in _ticks(*self.y, as_percent=as_percent[1]):
            x, y = self.at(self.x[0], value)
            self.parts.append(f'<line class="grid" x1="{x}" y1="{y}" x2="{_WIDTH - self.right}" y2="{y}"/>')
            self._text(x - 5, y + 4, shown, "end")
        middle = (self.left + _WIDTH - self.right) / 2
        self._text(middle, self.height - 6, escape_text(x_label, 48), "middle")
        self._text(13, (self.top + self.height - self.bottom) / 2, escape_text(y_label, 30), "middle", turned=True)

    def name(self, x: float, y: float, text: str, anchor: str = "end") -> None:
        """Draw a text at coordinates of the chart."""
        self._text(x, y, escape_text(text, 17), anchor)

    def block(self, x: float, y: float, width: float, height: float, css: str) -> None:
        """Draw a bar at coordinates of the chart."""
        self.parts.append(
            f'<rect class="{css}" x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{height:.1f}"/>'
        )

    def _text(self, x: float, y: float, text: str, anchor: str, turned: bool = False) -> None:
        turn = f' transform="rotate(-90 {x} {y})"' if turned else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{text}</text>')

    def svg(self, title: str, description: str) -> str:
        """Return the SVG element with a title and a description for screen readers."""
        return (
            f'<svg role="img" viewBox="0 0 {_WIDTH} {self.height}"><title>{escape_text(title, 120)}</title>'
            f"<desc>{escape_text(description, 600)}</desc>{''.join(self.parts)}</svg>"
        )

    @property
    def width(self) -> int:
        return _WIDTH


def _share(value: float, low: float, high: float) -> float:
    if not high > low:
        return 0.5
    return max(0.0, min(1.0, (value / 2 - low / 2) / (high / 2 - low / 2)))


def _ticks(low: float, high: float, as_percent: bool = False, most: int = 6) -> list[tuple[float, str]]:
    """Return round numbers within bounds, and their labels.

    >>> _ticks(0.0, 1.0), _ticks(17.0, 90.0), _ticks(0.0, 0.24, True)[1]
    ([(0.0, '0'), (0.2, '0.2'), (0.4, '0.4'), (0.6, '0.6'), (0.8, '0.8'), (1.0, '1')],
     [(20.0, '20'), (40.0, '40'), (60.0, '60'), (80.0, '80')], (0.05, '5%'))
    """
    if not (math.isfinite(high - low) and high > low):
        return [(low, f"{low:.3g}")]
    rough = (high - low) / (most - 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [float(f"{k * step:.12g}") for k in range(first, last + 1)]
    return [(value, f"{100 * value:.4g}%" if as_percent else _short(value)) for value in values]


def _short(value: float) -> str:
    """
    >>> _short(150000.0), _short(0.25), _short(1500000.0)
    ('150k', '0.25', '1.5M')
    """
    if 1e4 <= abs(value) < 1e6:
        return f"{value / 1e3:.4g}k"
    return f"{value / 1e6:.4g}M" if 1e6 <= abs(value) < 1e10 else f"{value:.4g}"


_SHARES = (True, True)
# Coverages for which the table shows the risk.
_COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.1)
# Height of a bar with its number, and the gap between values.
_BAR, _GAP = 15, 9


def reliability(lines: Sequence[tuple[str, Evaluation]]) -> str:
    """Return the reliability diagram: accuracy by predicted probability."""
    bounds = _bounds([report.reliability for _, report in lines])
    frame = Frame(bounds, bounds)
    frame.axes("predicted probability", "accuracy", _SHARES)
    frame.line([(frame.x[0], frame.x[0]), (1.0, 1.0)], "ideal")
    for i, (_, report) in enumerate(lines):
        points = list(zip(report.reliability["confidence"], report.reliability["accuracy"], strict=True))
        frame.line(points, f"s{i}")
        frame.dots(points, f"s{i}")
    words = "; ".join(f"{name}: calibration error {percent(report.ece)}" for name, report in lines)
    picture = frame.svg("Reliability", f"Accuracy by predicted probability. {words}.")
    behind = "".join(_reliability_table(name, report) for name, report in lines)
    caption = "On the dotted line, probabilities equal observed frequencies; below it, the model is overconfident."
    return figure(picture, caption, details("The numbers", behind), legend([name for name, _ in lines]))


def _reliability_table(name: str, report: Evaluation) -> str:
    columns = [Column("probability", True), Column("accuracy", True), Column("weight of rows", True)]
    rows = [[percent(p, 2), percent(right, 2), number(w)] for p, right, w in report.reliability.rows()]
    return table(columns, rows, f"Reliability, {name}")


def risk_coverage(lines: Sequence[tuple[str, Evaluation]]) -> str:
    """Return the risk-coverage curve."""
    top = max(float(report.risk_coverage["risk"].max()) for _, report in lines)
    frame = Frame((0.0, 1.0), (0.0, _round_up(top)))
    frame.axes("coverage, the most confident first", "error rate", _SHARES)
    for i, (_, report) in enumerate(lines):
        frame.line(zip(report.risk_coverage["coverage"], report.risk_coverage["risk"], strict=True), f"s{i}")
    half = ", ".join(f"{name}: {percent(risk_at(report, 0.5))} among the most confident half" for name, report in lines)
    picture = frame.svg("Risk by coverage", f"Error rate among the most confident predictions. {half}.")
    columns = [Column("coverage", True), *(Column(f"error rate, {name}", True) for name, _ in lines)]
    rows = [[percent(c, 0), *(percent(risk_at(report, c), 2) for _, report in lines)] for c in _COVERAGES]
    caption = "The error rate falls if the least confident predictions are rejected: decide(X, abstain=…)."
    return figure(
        picture, caption, details("The numbers", table(columns, rows, "Error rate by coverage")),
        legend([name for name, _ in lines]),
    )  # fmt: skip


def risk_at(report: Evaluation, coverage: float) -> float:
    """Return the error rate of the most confident predictions at a coverage."""
    return float(np.interp(coverage, report.risk_coverage["coverage"], report.risk_coverage["risk"]))


def column_chart(
    name: str, facts: dict[str, Any], shares: ColumnShares, labels: list[Any], classes: Array, *, dates: bool = False
) -> str:
    """Return the chart of one column for some of the classes; ``dates``: its numbers are days."""
    shown, chosen = _in_classes(shares, classes), [labels[k] for k in classes.tolist()]
    bars = shares.edges is None
    drawn = (
        _bars(name, shown, chosen, max(float(shown.modeled.max(initial=0.0)), 1e-12))
        if bars
        else _numbers(name, shown, chosen, dates)
    )
    if shown.point_masses is not None:
        words = "Point mass: the share of each class that has exactly this value."
        drawn = (
            f"<p><small>{words}</small></p>{_bars(name, _written(shown.point_masses), chosen, 1.0)}"
            f"<p><small>Other values:</small></p>{drawn}"
        )
    head = f"<h4>{user_text(name)}</h4>"
    words = f"{escape_text(model_of(facts['family'], facts['parameters']))}; {facts['bits']:.3g} bits about the class"
    behind = details("The numbers", _shares_table(name, shown, chosen, dates))
    return figure(f"{head}{legend([user_name(label, 34) for label in chosen], bars)}{drawn}", words, behind)


def _in_classes(shares: ColumnShares, classes: Array) -> ColumnShares:
    apart = shares.point_masses
    return shares._replace(
        counted=shares.counted[:, classes],
        modeled=shares.modeled[:, classes],
        point_masses=None if apart is None else _in_classes(apart, classes),
    )


def _written(shares: ColumnShares) -> ColumnShares:
    return shares._replace(values=[f"= {number(value)}" for value in shares.values])


def model_of(family: str, parameters: str) -> str:
    """Return a short description of the likelihood of a column.

    >>> model_of("kernel", "kernel, width 0.04"), model_of("categorical", "6 values, alpha 1"), model_of("-", "")
    ('kernel, width 0.04', 'categorical: 6 values, alpha 1', '-')
    """
    return parameters if parameters.startswith(family) else f"{family}: {parameters}" if parameters else family


def _numbers(name: str, shares: ColumnShares, labels: list[Any], dates: bool) -> str:
    edges = shares.edges
    assert edges is not None
    top = max(float(shares.modeled.max(initial=0.0)), float(shares.counted.max(initial=0.0)), 1e-12)
    frame = Frame((float(edges[0]), float(edges[-1])), (0.0, 1.05 * top), height=190)
    frame.axes("", "share of the class", (False, True), dates=dates)
    middle = (edges[:-1] + edges[1:]) / 2
    for i in range(len(labels)):
        frame.steps(edges.tolist(), shares.modeled[:, i].tolist(), f"s{i}")
        frame.dots(zip(middle.tolist(), shares.counted[:, i].tolist(), strict=True), f"s{i}", 2.5)
    tops = middle[shares.modeled.argmax(axis=0)].tolist()
    peaks = [f"{label}: most at {_number(top, dates)}" for label, top in zip(labels, tops, strict=True)]
    return frame.svg(f"{name} by class", f"Lines: the model. Dots: the data. {'; '.join(peaks)}.")


def _bars(name: str, shares: ColumnShares, labels: list[Any], full: float) -> str:
    """Return a chart with a bar and its share for each value and class; the full width is the share ``full``."""
    step = len(labels) * _BAR + _GAP
    frame = Frame((0.0, 1.0), (0.0, 1.0), height=step * len(shares.values) + 14, left=122, bottom=8)
    wide = frame.width - frame.left - 58
    for row, value in enumerate(shares.values):
        y = frame.top + row * step
        frame.name(frame.left - 8, y + (step - _GAP) / 2 + 4, str(value))
        for i in range(len(labels)):
            share, top = float(shares.modeled[row, i]), y + i * _BAR
            frame.block(frame.left, top, wide * share / full, _BAR - 3, f"fill s{i}")
            frame.name(frame.left + wide * share / full + 6, top + _BAR - 5, percent(share), "start")
    spoken = "; ".join(
        f"{label}: {percent(share)} {value}"
        for row, value in enumerate(shares.values)
        for label, share in zip(labels, shares.modeled[row].tolist(), strict=True)
    )
    return frame.svg(f"{name} by class", f"Share of each class that has a value. {spoken}.")


def _number(value: float, dates: bool) -> str:
    return str(written(round(value))) if dates else number(value)


def _shares_table(name: str, shares: ColumnShares, labels: list[Any], dates: bool) -> str:
    heads = [Column(f"{user_name(label, 24)}, {what}", True) for label in labels for what in ("model", "data")]
    if shares.edges is None:
        firsts = [user_text(value) for value in shares.values]
    else:
        ends = [_number(float(edge), dates) for edge in shares.edges]
        firsts = [f"{low} to {high}" for low, high in pairwise(ends)]
    if shares.point_masses is not None:
        apart = _written(shares.point_masses)
        firsts = [*map(user_text, apart.values), *firsts]
        shares = shares._replace(
            counted=np.vstack([apart.counted, shares.counted]), modeled=np.vstack([apart.modeled, shares.modeled])
        )
    pairs: Floats = np.stack([shares.modeled, shares.counted], axis=2).reshape(len(firsts), -1)
    rows = [[first, *(percent(share, 2) for share in row)] for first, row in zip(firsts, pairs.tolist(), strict=True)]
    return table([Column("value"), *heads], rows, f"Shares of each class by {escape_text(name)}")


def _bounds(tables: list[Table]) -> tuple[float, float]:
    """Return bounds from a round number below all confidences and accuracies to 1."""
    lowest = min(float(found[column].min()) for found in tables for column in ("confidence", "accuracy"))
    return min(0.9, max(0.0, float(np.floor(lowest * 10) / 10))), 1.0


def _round_up(top: float) -> float:
    """Return a round number of at most twice the value, so that the chart is filled."""
    return max(0.01, min(1.0, float(np.ceil(top * 20) / 20) if top > 0.05 else float(np.ceil(top * 100) / 100)))
