"""Word shift plot of two classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..estimators import TextNB
from ..exceptions import ParameterError
from ..kernels.layouts import Floats
from ..model.table import Table
from . import style
from ._inputs import TokenContrast, check_fitted, contrast_tokens
from .display import Display

_PER = 1_000


def word_shift(model: Any, of: Any = None, against: Any = None, *, most: int = 24, ax: Axes | None = None) -> Display:
    """Plot the tokens that change the log-odds most between texts of two classes.

    To the right, tokens that speak for ``of``: what one says, times how often texts of ``of`` hold it. To the left,
    those that speak for ``against``, times how often its texts do. A rare word that says much and a frequent one that
    says little may be as long.

    Parameters
    ----------
    model : TextNB
    of, against : labels, optional
        By default the second of two classes against the first; of more, ``against`` all others.
    most : int, default 24
        How many tokens.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: token, shift (bits for 1,000 tokens; with model="bernoulli" for a text), bits (of one occurrence),
        count. ``numbers``: the sum of all tokens' shifts to either side, shown or not: ``of``, ``against``.

    Examples
    --------
    >>> from candide import TextNB
    >>> mail = ["win cash now", "win a prize", "lunch at noon", "see you at noon"]
    >>> shown = word_shift(TextNB("multinomial").fit(mail, ["spam", "spam", "ham", "ham"]), most=3)
    >>> sorted(shown.table["token"].tolist())
    ['at', 'noon', 'win']
    """
    if most < 1:
        raise ParameterError(f"most is {most!r}; show at least one token")
    found = contrast_tokens(check_fitted(model, "word_shift", TextNB), of, against)
    shift = _shift(found)
    order = np.argsort(-np.abs(shift), kind="stable")[:most]
    order = order[np.argsort(-shift[order], kind="stable")]
    shown = Table({"token": found.token[order], "shift": shift[order], **_counts_beside(found.take(order))})
    ax = style.one_axes(ax, 6.4, style.thin_rows(len(order), each=0.24))
    _bars(ax, shown)
    unit = "bits a text" if found.by_text else f"bits for {_PER:,} tokens"
    ax.set_xlabel(style.towards(f"log-odds ({unit})", found.against, found.of))
    return Display((ax,), shown, {"of": float(shift[shift > 0].sum()), "against": float(-shift[shift < 0].sum())})


def _shift(found: TokenContrast) -> Floats:
    bits = found.bits
    share = np.where(bits > 0, found.here, found.there)
    return np.asarray(share * bits * (1 if found.by_text else _PER))


def _counts_beside(shown: TokenContrast) -> dict[str, Any]:
    return {"bits": shown.bits, "count": shown.total}


def _bars(ax: Axes, shown: Table) -> None:
    shift, places = shown["shift"], range(shown.n_rows)
    ahead = shift > 0
    ax.barh(
        places, shift, color=np.where(ahead, style.FOR, style.AGAINST).tolist(),
        hatch=["" if one else "//" for one in ahead], edgecolor="white", lw=0.5,
    )  # fmt: skip
    for i, token in enumerate(shown["token"].tolist()):
        ax.annotate(
            style.name(token, 20), (0.0, i), (-4 if ahead[i] else 4, 0), textcoords="offset points", va="center",
            ha="right" if ahead[i] else "left", fontsize="small",
        )  # fmt: skip
    ax.axvline(0.0, color=style.GREY, lw=0.8)
    wide = float(np.abs(shift).max())
    ax.set_xlim(-1.15 * wide, 1.15 * wide)
    ax.set_yticks([])
    ax.margins(y=0.01)
    ax.invert_yaxis()
    style.plain(ax, "top", "right", "left")
