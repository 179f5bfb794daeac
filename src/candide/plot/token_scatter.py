"""Scatter plot of the tokens of a text model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from ..estimators import TextNB
from ..kernels.layouts import Array
from . import style
from ._inputs import TokenContrast, check_fitted, contrast_tokens
from .display import Display
from .style import figure_of

_MAX_POINTS = 20_000


def token_scatter(
    model: Any, of: Any = None, against: Any = None, *, most: int = 40, ax: Axes | None = None
) -> Display:
    """Plot every token of a ``TextNB``: its frequency, and what one occurrence adds to the log-odds of a class.

    Rare tokens spread wide, because few counts say anything by chance; those that are frequent and far from 0 carry the
    model. They have their names written beside them, as far as there is room. ``TextNB()`` ("auto") shows its words
    under plain shares, before stacking weights.

    Parameters
    ----------
    model : TextNB
    of, against : labels, optional
        The class spoken for, and the one against it: by default the second of two classes against the first; of more,
        ``against`` all others.
    most : int, default 40
        Names written at most.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: token, count, bits, of all tokens seen. Of more than 20,000, those that tell most are drawn.
        ``numbers``: how many ``tokens`` there are, and how many are ``named``.

    Examples
    --------
    >>> from candide import TextNB
    >>> mail = ["win cash now", "win a prize", "lunch at noon", "see you at noon"]
    >>> shown = token_scatter(TextNB("multinomial").fit(mail, ["spam", "spam", "ham", "ham"]))
    >>> shown.table["token"][shown.table["bits"].argmax()]
    'win'
    """
    found = contrast_tokens(check_fitted(model, "token_scatter", TextNB), of, against)
    order = np.argsort(-_informative_order(found), kind="stable")
    shown = found.take(order[:_MAX_POINTS])
    ax = style.one_axes(ax, 7.2, 5.0)
    for side, color, marker in ((shown.bits >= 0, style.FOR, "o"), (shown.bits < 0, style.AGAINST, "^")):
        ax.scatter(shown.total[side], shown.bits[side], s=9, color=color, marker=marker, alpha=0.45, lw=0)
    ax.axhline(0.0, color=style.GREY, lw=0.8)
    ax.set_xscale("log")
    ax.margins(x=0.08, y=0.1)
    ax.set_xlabel("texts that hold the token" if found.by_text else "occurrences of the token, in all classes")
    ax.set_ylabel(style.towards("log-odds of one occurrence (bits)", found.against, found.of))
    style.plain(ax)
    placed = place_labels(ax, _points(shown), most)
    return Display((ax,), found.table(), {"tokens": len(found.token), "named": len(placed)})


def _informative_order(found: TokenContrast) -> Array:
    """Return the importance of tokens: log-odds times the root of occurrences, lest frequent ones dominate."""
    return np.asarray(np.abs(found.bits) * np.sqrt(found.total))


def _points(shown: TokenContrast) -> list[PointLabel]:
    return [
        PointLabel(x, y, style.name(token, 16), style.FOR if y >= 0 else style.AGAINST)
        for x, y, token in zip(shown.total.tolist(), shown.bits.tolist(), shown.token.tolist(), strict=True)
    ]


class PointLabel(NamedTuple):
    """Draw a point and its name."""

    x: float
    y: float
    text: str
    color: str


# Where a name may stand, in points from its mark: the first place with room is taken.
_LABEL_POSITIONS = (
    ((4, 3), "left", "bottom"),
    ((4, -3), "left", "top"),
    ((-4, 3), "right", "bottom"),
    ((-4, -3), "right", "top"),
)


def place_labels(ax: Axes, points: Iterable[PointLabel], most: int) -> list[Annotation]:
    """Draw the first names that fit without overlap, at most so many."""
    # Only then it is known where the axes will be.
    figure_of(ax).draw_without_rendering()
    inside, taken, placed = ax.get_window_extent(), list[Bbox](), list[Annotation]()
    for point in points:
        if len(placed) == most:
            break
        text = _place_label(ax, point, inside, taken)
        if text is not None:
            placed.append(text)
    return placed


def _place_label(ax: Axes, point: PointLabel, inside: Bbox, taken: list[Bbox]) -> Annotation | None:
    for offset, ha, va in _LABEL_POSITIONS:
        text = ax.annotate(
            point.text, (point.x, point.y), offset, textcoords="offset points", ha=ha, va=va, fontsize="x-small",
            color=point.color,
        )  # fmt: skip
        box = text.get_window_extent().padded(1.5)
        if _contains(inside, box) and not box.count_overlaps(taken):
            taken.append(box)
            return text
        text.remove()
    return None


def _contains(outer: Bbox, inner: Bbox) -> bool:
    return bool(outer.x0 <= inner.x0 and inner.x1 <= outer.x1 and outer.y0 <= inner.y0 and inner.y1 <= outer.y1)
