"""Bayes' theorem as areas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..exceptions import ParameterError
from ..kernels.layouts import Floats
from ..model.table import Table
from . import style
from .display import Display

_BAR = (1.12, 0.14)  # where the bar of the posterior begins, and its width


def bayes_theorem(
    prior: Mapping[Any, float], likelihood: Mapping[Any, float], *, evidence: str = "evidence", ax: Axes | None = None
) -> Display:
    """Plot p(class | evidence) as areas: width is the prior of a class, height its likelihood.

    The whole square is everything there is. The evidence leaves the colored parts; the bar beside it shows their
    shares, which are the posterior.

    Parameters
    ----------
    prior : dict
        p(class) by class; divided by their sum.
    likelihood : dict
        p(evidence | class) by class, 0 to 1.
    evidence : str
        What was seen.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: class, prior, likelihood, area, posterior. ``numbers``: ``evidence``, the whole colored area.

    Examples
    --------
    >>> shown = bayes_theorem({"ill": 0.01, "well": 0.99}, {"ill": 0.9, "well": 0.1}, evidence="positive test")
    >>> shown.table["posterior"].round(3).tolist()
    [0.083, 0.917]
    """
    width, height = _checked(prior, likelihood)
    area = width * height
    share, begin = area / area.sum(), np.cumsum(width) - width
    texts = [
        f"{label}: {width[i]:.3g} × {height[i]:.3g}, posterior {share[i]:.3g}"
        for i, label in enumerate(style.names(prior))
    ]
    legend = style.legend_size(texts)
    ax = style.one_axes(ax, 4.6 + legend[0], max(3.9, legend[1]))
    for i, text in enumerate(texts):
        bar_style: dict[str, Any] = {
            "facecolor": style.color(i),
            "hatch": style.hatch(i),
            "edgecolor": "white",
            "lw": 0.8,
        }
        ax.bar(begin[i], 1.0, width[i], align="edge", color=style.PALE, edgecolor="white", lw=0.8, alpha=0.6)
        ax.bar(begin[i], height[i], width[i], align="edge", label=text, **bar_style)
        ax.bar(_BAR[0], share[i], _BAR[1], bottom=share[:i].sum(), align="edge", **bar_style)
    _finish(ax, style.name(evidence))
    columns = {"class": np.array(list(prior), dtype=object), "prior": width, "likelihood": height, "area": area}
    return Display((ax,), Table(columns | {"posterior": share}), {"evidence": float(area.sum())})


def _finish(ax: Axes, evidence: str) -> None:
    ax.set_xlim(0.0, sum(_BAR))
    ax.set_ylim(0.0, 1.0)
    shares = np.linspace(0, 1, 6)
    ax.set_xticks([*shares, _BAR[0] + _BAR[1] / 2], [*(f"{share:g}" for share in shares), "posterior"])
    ax.set_xlabel("p(class), as width")
    ax.set_ylabel(f"p({evidence} | class), as height")
    style.plain(ax, "top", "right", "left", "bottom")
    style.legend_right(ax, title="prior × likelihood", alignment="left")


def _checked(prior: Mapping[Any, float], likelihood: Mapping[Any, float]) -> tuple[Floats, Floats]:
    if set(prior) != set(likelihood) or len(prior) < 2:
        raise ParameterError(
            f"prior names {list(prior)} and likelihood {list(likelihood)}; both must name the same two or more classes"
        )
    width, height = (np.array([float(part[label]) for label in prior]) for part in (prior, likelihood))
    if not ((width >= 0).all() and width.sum() > 0 and ((height >= 0) & (height <= 1)).all()):
        raise ParameterError(
            f"prior is {dict(prior)} and likelihood {dict(likelihood)}; a prior is at least 0, and p(evidence | class) "
            "from 0 to 1"
        )
    if not (width * height).any():
        raise ParameterError(
            "the evidence is impossible in every class, and 0/0 is no posterior; smooth the likelihood"
        )
    return width / width.sum(), height
