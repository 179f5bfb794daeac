"""Names beside points, none of which lies on another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from .style import figure_of


class Named(NamedTuple):
    """A point and its name."""

    x: float
    y: float
    text: str
    colour: str


# Where a name may stand, in points from its mark: the first place with room is taken.
_PLACES = (
    ((4, 3), "left", "bottom"),
    ((4, -3), "left", "top"),
    ((-4, 3), "right", "bottom"),
    ((-4, -3), "right", "top"),
)


def put_names(ax: Axes, points: Iterable[Named], most: int) -> list[Annotation]:
    """The first names that find room, so many at most."""
    # Only then it is known where the axes will be.
    figure_of(ax).draw_without_rendering()
    inside, taken, placed = ax.get_window_extent(), list[Bbox](), list[Annotation]()
    for point in points:
        if len(placed) == most:
            break
        text = _put(ax, point, inside, taken)
        if text is not None:
            placed.append(text)
    return placed


def _put(ax: Axes, point: Named, inside: Bbox, taken: list[Bbox]) -> Annotation | None:
    for offset, ha, va in _PLACES:
        text = ax.annotate(
            point.text, (point.x, point.y), offset, textcoords="offset points", ha=ha, va=va, fontsize="x-small",
            color=point.colour,
        )  # fmt: skip
        box = text.get_window_extent().padded(1.5)
        if _holds(inside, box) and not box.count_overlaps(taken):
            taken.append(box)
            return text
        text.remove()
    return None


def _holds(outer: Bbox, inner: Bbox) -> bool:
    return bool(outer.x0 <= inner.x0 and inner.x1 <= outer.x1 and outer.y0 <= inner.y0 and inner.y1 <= outer.y1)
