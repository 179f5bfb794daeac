"""Pictures drawn by hand: a frame with two axes, and lines, steps, dots and bars in it. Colours are the page's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .markup import plain

_WIDTH = 340


@dataclass
class Frame:
    """From numbers to places on the picture. Small enough to be read on a phone without scaling."""

    x: tuple[float, float]
    y: tuple[float, float]
    height: int = 220
    left: int = 58
    right: int = 22
    top: int = 10
    bottom: int = 42
    parts: list[str] = field(default_factory=list)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is; one outside is at the border."""
        along, up = _share(x, *self.x), _share(y, *self.y)
        wide, high = _WIDTH - self.left - self.right, self.height - self.top - self.bottom
        return round(self.left + along * wide, 1), round(self.height - self.bottom - up * high, 1)

    def line(self, points: Iterable[tuple[float, float]], css: str) -> None:
        """Straight from point to point."""
        drawn = " ".join(f"{x},{y}" for x, y in (self.at(*point) for point in points))
        self.parts.append(f'<polyline class="line {css}" points="{drawn}"/>')

    def steps(self, edges: Sequence[float], heights: Sequence[float], css: str) -> None:
        """A height between each edge and the next."""
        corners = [(edge, height) for i, height in enumerate(heights) for edge in edges[i : i + 2]]
        self.line([(edges[0], 0.0), *corners, (edges[-1], 0.0)], css)

    def dots(self, points: Iterable[tuple[float, float]], css: str, radius: float = 3.0) -> None:
        """One a point."""
        places = (self.at(*point) for point in points)
        self.parts += [f'<circle class="dot {css}" cx="{x}" cy="{y}" r="{radius}"/>' for x, y in places]

    def axes(self, x_label: str, y_label: str, as_percent: tuple[bool, bool] = (False, False)) -> None:
        """Both, with grid lines at round numbers."""
        for value, shown in _ticks(*self.x, as_percent=as_percent[0]):
            x, y = self.at(value, self.y[0])
            self.parts.append(f'<line class="grid" x1="{x}" y1="{y}" x2="{x}" y2="{self.top}"/>')
            self._text(x, y + 15, shown, "middle")
        for value, shown in _ticks(*self.y, as_percent=as_percent[1]):
            x, y = self.at(self.x[0], value)
            self.parts.append(f'<line class="grid" x1="{x}" y1="{y}" x2="{_WIDTH - self.right}" y2="{y}"/>')
            self._text(x - 5, y + 4, shown, "end")
        middle = (self.left + _WIDTH - self.right) / 2
        self._text(middle, self.height - 6, plain(x_label, 48), "middle")
        self._text(13, (self.top + self.height - self.bottom) / 2, plain(y_label, 30), "middle", turned=True)

    def name(self, x: float, y: float, text: str, anchor: str = "end") -> None:
        """A word at a place of the picture."""
        self._text(x, y, plain(text, 17), anchor)

    def block(self, x: float, y: float, width: float, height: float, css: str) -> None:
        """A bar at a place of the picture."""
        self.parts.append(
            f'<rect class="{css}" x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{height:.1f}"/>'
        )

    def _text(self, x: float, y: float, text: str, anchor: str, turned: bool = False) -> None:
        turn = f' transform="rotate(-90 {x} {y})"' if turned else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{text}</text>')

    def svg(self, title: str, description: str) -> str:
        """The picture, and what it shows for who does not see it; both are plain texts."""
        return (
            f'<svg role="img" viewBox="0 0 {_WIDTH} {self.height}"><title>{plain(title, 120)}</title>'
            f"<desc>{plain(description, 600)}</desc>{''.join(self.parts)}</svg>"
        )

    @property
    def width(self) -> int:
        return _WIDTH


def _share(value: float, low: float, high: float) -> float:
    if not high > low:
        return 0.5
    return max(0.0, min(1.0, (value / 2 - low / 2) / (high / 2 - low / 2)))


def _ticks(low: float, high: float, as_percent: bool = False, most: int = 6) -> list[tuple[float, str]]:
    """Round numbers within the bounds, and how they are written.

    >>> _ticks(0.0, 1.0), _ticks(17.0, 90.0), _ticks(0.0, 0.24, True)[1]
    ([(0.0, '0'), (0.2, '0.2'), (0.4, '0.4'), (0.6, '0.6'), (0.8, '0.8'), (1.0, '1')],
     [(20.0, '20'), (40.0, '40'), (60.0, '60'), (80.0, '80')], (0.05, '5 %'))
    """
    if not (math.isfinite(high - low) and high > low):
        return [(low, f"{low:.3g}")]
    rough = (high - low) / (most - 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [float(f"{k * step:.12g}") for k in range(first, last + 1)]
    return [(value, f"{100 * value:.4g} %" if as_percent else _short(value)) for value in values]


def _short(value: float) -> str:
    """
    >>> _short(150000.0), _short(0.25), _short(1500000.0)
    ('150k', '0.25', '1.5M')
    """
    if 1e4 <= abs(value) < 1e6:
        return f"{value / 1e3:.4g}k"
    return f"{value / 1e6:.4g}M" if 1e6 <= abs(value) < 1e10 else f"{value:.4g}"
