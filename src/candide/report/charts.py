"""The pictures of a report, each with the table behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernels.layouts import Array, Floats
from ..model.evaluation import Report
from ..model.table import Table
from .markup import Column, details, figure, legend, number, percent, plain, table, users
from .pictures import Shares
from .svg import Frame

_SHARES = (True, True)
# Coverages at which the table names the risk.
_COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.1)
# Bars of one value in a picture of categories.
_BAR, _GAP = 9, 9
# Those with a number beside each.
_THICK_BAR = 15


def reliability(lines: Sequence[tuple[str, Report]]) -> str:
    """How often answers are right, by the probability that they are given."""
    frame = Frame(_bounds([report.reliability for _, report in lines], "confidence"), (0.0, 1.0))
    frame.axes("probability of the answer", "share that is right", _SHARES)
    frame.line([(frame.x[0], frame.x[0]), (1.0, 1.0)], "ideal")
    for i, (_, report) in enumerate(lines):
        points = list(zip(report.reliability["confidence"], report.reliability["accuracy"], strict=True))
        frame.line(points, f"s{i}")
        frame.dots(points, f"s{i}")
    words = "; ".join(f"{name}: off by {percent(report.ece)} on average" for name, report in lines)
    picture = frame.svg("Reliability", f"Share of right answers by the probability of the answer. {words}.")
    behind = "".join(_reliability_table(name, report) for name, report in lines)
    caption = "On the dotted line probabilities mean what they say; below it they promise too much."
    return figure(picture, caption, details("The numbers", behind), legend([name for name, _ in lines]))


def _reliability_table(name: str, report: Report) -> str:
    columns = [Column("probability", True), Column("share right", True), Column("weight of rows", True)]
    rows = [[percent(p, 2), percent(right, 2), number(w)] for p, right, w in report.reliability.rows()]
    return table(columns, rows, f"Reliability, {name}")


def risk_coverage(lines: Sequence[tuple[str, Report]]) -> str:
    """What not answering buys."""
    top = max(float(report.risk_coverage["risk"].max()) for _, report in lines)
    frame = Frame((0.0, 1.0), (0.0, _round_up(top)))
    frame.axes("share of rows answered, the surest first", "share that is wrong", _SHARES)
    for i, (_, report) in enumerate(lines):
        frame.line(zip(report.risk_coverage["coverage"], report.risk_coverage["risk"], strict=True), f"s{i}")
    half = ", ".join(f"{name}: {percent(risk_at(report, 0.5))} of the surest half" for name, report in lines)
    picture = frame.svg("Risk by coverage", f"Share of wrong answers if only the surest rows are answered. {half}.")
    columns = [Column("answered", True), *(Column(f"wrong, {name}", True) for name, _ in lines)]
    rows = [[percent(c, 0), *(percent(risk_at(report, c), 2) for _, report in lines)] for c in _COVERAGES]
    caption = "Leave the unsure rows to people, and fewer of the answers are wrong: decide(X, abstain=…)."
    return figure(
        picture, caption, details("The numbers", table(columns, rows, "Wrong answers by share of rows answered")),
        legend([name for name, _ in lines]),
    )  # fmt: skip


def risk_at(report: Report, coverage: float) -> float:
    """The error rate of the surest rows that make up a share of all."""
    return float(np.interp(coverage, report.risk_coverage["coverage"], report.risk_coverage["risk"]))


def column_picture(name: str, facts: dict[str, Any], shares: Shares, labels: list[Any], classes: Array) -> str:
    """How one column is modelled, in a few of the classes."""
    shown, chosen = _in_classes(shares, classes), [labels[k] for k in classes.tolist()]
    drawn = _values(name, shown, chosen) if shares.edges is None else _numbers(name, shown, chosen)
    if shown.point_masses is not None:
        words = "Point mass: the share of each class that has exactly this value."
        drawn = (
            f"<p><small>{words}</small></p>{_point_masses(name, _written(shown.point_masses), chosen)}"
            f"<p><small>Other values:</small></p>{drawn}"
        )
    head = f"<h4>{users(name)}</h4>"
    words = f"{plain(model_of(facts['family'], facts['parameters']))}; {facts['bits']:.3g} bits about the class"
    behind = details("The numbers", _shares_table(name, shown, chosen))
    return figure(f"{head}{legend([users(label, 24) for label in chosen])}{drawn}", words, behind)


def _in_classes(shares: Shares, classes: Array) -> Shares:
    apart = shares.point_masses
    return shares._replace(
        counted=shares.counted[:, classes],
        modelled=shares.modelled[:, classes],
        point_masses=None if apart is None else _in_classes(apart, classes),
    )


def _written(shares: Shares) -> Shares:
    return shares._replace(values=[f"= {number(value)}" for value in shares.values])


def model_of(family: str, parameters: str) -> str:
    """How a column is modelled, in a few words.

    >>> model_of("kernel", "kernel, width 0.04"), model_of("categorical", "6 values, alpha 1"), model_of("-", "")
    ('kernel, width 0.04', 'categorical: 6 values, alpha 1', '-')
    """
    return parameters if parameters.startswith(family) else f"{family}: {parameters}" if parameters else family


def _numbers(name: str, shares: Shares, labels: list[Any]) -> str:
    edges = shares.edges
    assert edges is not None
    top = max(float(shares.modelled.max(initial=0.0)), float(shares.counted.max(initial=0.0)), 1e-12)
    frame = Frame((float(edges[0]), float(edges[-1])), (0.0, 1.05 * top), height=190)
    frame.axes("", "share of the class", (False, True))
    middle = (edges[:-1] + edges[1:]) / 2
    for i in range(len(labels)):
        frame.steps(edges.tolist(), shares.modelled[:, i].tolist(), f"s{i}")
        frame.dots(zip(middle.tolist(), shares.counted[:, i].tolist(), strict=True), f"s{i}", 2.5)
    tops = middle[shares.modelled.argmax(axis=0)].tolist()
    peaks = [f"{label}: most at {number(top)}" for label, top in zip(labels, tops, strict=True)]
    return frame.svg(f"{name} by class", f"Lines as modelled, dots as counted. {'; '.join(peaks)}.")


def _point_masses(name: str, shares: Shares, labels: list[Any]) -> str:
    """A bar for each value and class, with its share; a whole class is as long as the picture is wide."""
    step = len(labels) * _THICK_BAR + _GAP
    frame = Frame((0.0, 1.0), (0.0, 1.0), height=step * len(shares.values) + 14, left=122, bottom=8)
    wide = frame.width - frame.left - 58
    for row, value in enumerate(shares.values):
        y = frame.top + row * step
        frame.name(frame.left - 8, y + (step - _GAP) / 2 + 4, str(value))
        for i in range(len(labels)):
            share, top = float(shares.modelled[row, i]), y + i * _THICK_BAR
            frame.block(frame.left, top, wide * share, _THICK_BAR - 3, f"fill s{i}")
            frame.name(frame.left + wide * share + 6, top + _THICK_BAR - 5, percent(share), "start")
    spoken = "; ".join(
        f"{label}: {percent(share)} {value}"
        for row, value in enumerate(shares.values)
        for label, share in zip(labels, shares.modelled[row].tolist(), strict=True)
    )
    return frame.svg(f"Point masses of {name} by class", f"Share of each class that has exactly a value. {spoken}.")


def _values(name: str, shares: Shares, labels: list[Any]) -> str:
    step = len(labels) * _BAR + _GAP
    frame = Frame((0.0, 1.0), (0.0, 1.0), height=step * len(shares.values) + 14, left=122, bottom=8)
    top = max(float(shares.modelled.max(initial=0.0)), 1e-12)
    wide = frame.width - frame.left - 48
    for row, value in enumerate(shares.values):
        y = frame.top + row * step
        base, most = y + (step - _GAP) / 2 + 4, float(shares.modelled[row].max())
        frame.name(frame.left - 8, base, str(value))
        frame.name(frame.left + wide * most / top + 6, base, percent(most, 0), "start")
        for i in range(len(labels)):
            share = float(shares.modelled[row, i])
            frame.block(frame.left, y + i * _BAR, wide * share / top, _BAR - 2, f"fill s{i}")
    return frame.svg(f"{name} by class", f"Share of each class that has a value, for {len(shares.values)} values.")


def _shares_table(name: str, shares: Shares, labels: list[Any]) -> str:
    heads = [Column(f"{users(label, 24)}, {what}", True) for label in labels for what in ("modelled", "counted")]
    if shares.edges is None:
        firsts = [users(value) for value in shares.values]
    else:
        firsts = [f"{number(low)} to {number(high)}" for low, high in zip(shares.edges, shares.edges[1:], strict=False)]
    if shares.point_masses is not None:
        apart = _written(shares.point_masses)
        firsts = [*map(users, apart.values), *firsts]
        shares = shares._replace(
            counted=np.vstack([apart.counted, shares.counted]), modelled=np.vstack([apart.modelled, shares.modelled])
        )
    pairs: Floats = np.stack([shares.modelled, shares.counted], axis=2).reshape(len(firsts), -1)
    rows = [[first, *(percent(share, 2) for share in row)] for first, row in zip(firsts, pairs.tolist(), strict=True)]
    return table([Column("value"), *heads], rows, f"Shares of each class by {plain(name)}")


def _bounds(tables: list[Table], column: str) -> tuple[float, float]:
    """From a round number below all to 1."""
    lowest = min(float(found[column].min()) for found in tables)
    return (max(0.0, np.floor(lowest * 10) / 10), 1.0) if lowest < 1 else (0.0, 1.0)


def _round_up(top: float) -> float:
    """At most twice as much, so that the picture is filled."""
    return max(0.01, min(1.0, float(np.ceil(top * 20) / 20) if top > 0.05 else float(np.ceil(top * 100) / 100)))
