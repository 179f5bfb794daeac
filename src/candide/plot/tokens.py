"""Tokens that distinguish classes: word shift plot and scatter plot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from ..estimators import TextNB
from ..exceptions import NotADensity, ParameterError
from ..kernels.layouts import Array, Floats
from ..model.table import Table
from . import style
from ._inputs import check_fitted, class_pair
from .style import Display, figure_of

_PER = 1_000


def word_shift(model: Any, of: Any = None, against: Any = None, *, most: int = 24, ax: Axes | None = None) -> Display:
    """Plot the tokens that contribute most to the difference between two classes.

    Bars to the right are tokens that favor ``of``: the contribution of the token to the log-odds, times its mean count
    in texts of ``of``. Bars to the left are tokens that favor ``against``, times their mean count in its texts. A rare
    token with a large contribution and a frequent one with a small contribution may have bars of the same length.

    Parameters
    ----------
    model : TextNB
    of, against : labels, optional
        By default the second of two classes against the first; with more classes, ``against`` all others.
    most : int, default 24
        Number of tokens.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: token, shift (bits per 1,000 tokens; with family="bernoulli" per text), bits (of one occurrence),
        count. ``numbers``: the sums ``of`` and ``against`` of all shifts to each side, shown or not.

    Examples
    --------
    >>> from candide import TextNB
    >>> mail = ["win cash now", "win a prize", "lunch at noon", "see you at noon"]
    >>> shown = word_shift(TextNB("multinomial").fit(mail, ["spam", "spam", "ham", "ham"]), most=3)
    >>> sorted(shown.table["token"].tolist())
    ['at', 'noon', 'win']
    """
    if most < 1:
        raise ParameterError(f"most is {most!r}; expected at least 1")
    found = contrast_tokens(check_fitted(model, "word_shift", TextNB), of, against)
    shift = _shift(found)
    order = np.argsort(-np.abs(shift), kind="stable")[:most]
    order = order[np.argsort(-shift[order], kind="stable")]
    shown = Table({"token": found.token[order], "shift": shift[order], **_counts_beside(found.take(order))})
    ax = style.one_axes(ax, 6.4, style.thin_rows(len(order), each=0.24))
    _shift_bars(ax, shown)
    unit = "bits per text" if found.by_text else f"bits per {_PER:,} tokens"
    ax.set_xlabel(style.towards(f"log-odds ({unit})", found.against, found.of))
    return Display((ax,), shown, {"of": float(shift[shift > 0].sum()), "against": float(-shift[shift < 0].sum())})


def _shift(found: TokenContrast) -> Floats:
    bits = found.bits
    share = np.where(bits > 0, found.here, found.there)
    return np.asarray(share * bits * (1 if found.by_text else _PER))


def _counts_beside(shown: TokenContrast) -> dict[str, Any]:
    return {"bits": shown.bits, "count": shown.total}


def _shift_bars(ax: Axes, shown: Table) -> None:
    shift, places = shown["shift"], range(shown.n_rows)
    is_positive = shift > 0
    ax.barh(
        places, shift, color=np.where(is_positive, style.FOR, style.AGAINST).tolist(),
        hatch=["" if one else "//" for one in is_positive], edgecolor="white", lw=0.5,
    )  # fmt: skip
    for i, token in enumerate(shown["token"].tolist()):
        ax.annotate(
            style.name(token, 20), (0.0, i), (-4 if is_positive[i] else 4, 0), textcoords="offset points", va="center",
            ha="right" if is_positive[i] else "left", fontsize="small",
        )  # fmt: skip
    ax.axvline(0.0, color=style.GREY, lw=0.8)
    wide = float(np.abs(shift).max())
    ax.set_xlim(-1.15 * wide, 1.15 * wide)
    ax.set_yticks([])
    ax.margins(y=0.01)
    ax.invert_yaxis()
    style.plain(ax, "top", "right", "left")


_MAX_POINTS = 20_000


def token_scatter(
    model: Any, of: Any = None, against: Any = None, *, most: int = 40, ax: Axes | None = None
) -> Display:
    """Plot every token of a ``TextNB``: its frequency, and what one occurrence adds to the log-odds of a class.

    The log-odds of rare tokens vary widely by chance; tokens that are frequent and far from 0 have the most influence,
    and are labeled where there is space. For ``TextNB()`` ("auto"), the words are shown with plain multinomial
    log-odds, without stacking weights.

    Parameters
    ----------
    model : TextNB
    of, against : labels, optional
        The class of the log-odds, and the class to compare it with. By default, the second of two classes against the
        first; with more classes, ``against`` all others.
    most : int, default 40
        Maximum number of labels.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: token, count and bits of all tokens. Of more than 20,000, the most informative are drawn.
        ``numbers``: the number of ``tokens``, and how many are ``named``.

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
    ax.set_xlabel("texts with the token" if found.by_text else "occurrences of the token in all classes")
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


# Possible offsets of a label from its marker, in points: the first free position is used.
_LABEL_POSITIONS = (
    ((4, 3), "left", "bottom"),
    ((4, -3), "left", "top"),
    ((-4, 3), "right", "bottom"),
    ((-4, -3), "right", "top"),
)


def place_labels(ax: Axes, points: Iterable[PointLabel], most: int) -> list[Annotation]:
    """Draw the first names that fit without overlap, up to a maximum number."""
    # The position of the axes is known only after drawing.
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


class TokenContrast(NamedTuple):
    """Tokens with their probabilities in a class and in the one it is compared with."""

    of: str  # as shown in plots
    against: str
    token: Array
    total: Floats  # number of occurrences in all classes
    here: Floats  # p(token | of)
    there: Floats  # p(token | against)
    by_text: bool  # whether p is the probability that a text contains the token, not that of one draw

    @property
    def bits(self) -> Floats:
        """Return what one occurrence adds to the log-odds of ``of``."""
        return np.asarray(np.log2(self.here) - np.log2(self.there))

    def take(self, rows: Array) -> TokenContrast:
        """Return some of the tokens."""
        return self._replace(
            token=self.token[rows], total=self.total[rows], here=self.here[rows], there=self.there[rows]
        )

    def table(self) -> Table:
        """Return the tokens as columns for ``Display.numbers``."""
        return Table({"token": self.token, "count": self.total, "bits": self.bits})


def contrast_tokens(model: TextNB, of: Any, against: Any) -> TokenContrast:
    """Return every token that was seen in some class."""
    first, second = class_pair(model, of, against)
    if model.family == "complement":
        raise NotADensity(
            "family='complement' has token weights instead of token probabilities; train a "
            "TextNB('multinomial') on the same texts"
        )
    parameters, labels = model._fitted().classifier.likelihood.parameters(), model.classes_
    probability = parameters["probability"].reshape(len(labels), -1)
    total = model.token_count_
    count = np.asarray(total.sum(axis=0), dtype=np.float64).ravel()
    seen = np.flatnonzero(count > 0)
    there = (
        _mixture_of_others(probability[:, seen], model.class_prior_, first)
        if second is None
        else probability[second, seen]
    )
    called = style.names(labels)
    other = "all other classes" if second is None else called[second]
    names = model._fitted().column_names()[seen]
    return TokenContrast(
        called[first], other, names, count[seen], probability[first, seen], there, "value" in parameters
    )


def _mixture_of_others(probability: Floats, prior: Floats, of: int) -> Floats:
    """Return p(token | any other class), classes weighted by their probability."""
    weight = np.delete(prior, of)
    return np.asarray(weight @ np.delete(probability, of, axis=0) / max(float(weight.sum()), 1e-300))
