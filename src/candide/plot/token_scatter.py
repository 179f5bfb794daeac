"""All tokens of a text model at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..estimators import TextNB
from ..kernels.layouts import Array
from . import style
from .asked import fitted
from .display import Display
from .labels import Named, put_names
from .tokens import Spoken, spoken

_MOST_POINTS = 20_000


def token_scatter(
    model: Any, of: Any = None, against: Any = None, *, most: int = 40, ax: Axes | None = None
) -> Display:
    """Every token of a ``TextNB``: how often it was seen, and what one occurrence says for a class.

    Rare tokens spread wide, because few counts say anything by chance; those that are frequent and far from 0 carry the
    model. They have their names written beside them, as far as there is room. ``TextNB()`` ("auto") shows its words
    under plain shares, which its blend weighs further.

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
    found = spoken(fitted(model, "token_scatter", TextNB), of, against)
    order = np.argsort(-_worth(found), kind="stable")
    shown = found.take(order[:_MOST_POINTS])
    ax = style.one_axes(ax, 7.2, 5.0)
    for side, colour, marker in ((shown.bits >= 0, style.FOR, "o"), (shown.bits < 0, style.AGAINST, "^")):
        ax.scatter(shown.total[side], shown.bits[side], s=9, color=colour, marker=marker, alpha=0.45, lw=0)
    ax.axhline(0.0, color=style.GREY, lw=0.8)
    ax.set_xscale("log")
    ax.margins(x=0.08, y=0.1)
    ax.set_xlabel("texts that hold the token" if found.by_text else "occurrences of the token, in all classes")
    ax.set_ylabel(style.towards("log-odds of one occurrence (bits)", found.against, found.of))
    style.plain(ax)
    placed = put_names(ax, _points(shown), most)
    return Display((ax,), found.table(), {"tokens": len(found.token), "named": len(placed)})


def _worth(found: Spoken) -> Array:
    """What a token says over all its occurrences; the root, lest the frequent ones take all places."""
    return np.asarray(np.abs(found.bits) * np.sqrt(found.total))


def _points(shown: Spoken) -> list[Named]:
    return [
        Named(x, y, style.name(token, 16), style.FOR if y >= 0 else style.AGAINST)
        for x, y, token in zip(shown.total.tolist(), shown.bits.tolist(), shown.token.tolist(), strict=True)
    ]
