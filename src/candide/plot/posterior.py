"""Prior and posterior of a parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from ..exceptions import ParameterError
from ..kernels.layouts import Floats
from ..model.table import Table
from ..priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma
from . import style
from .style import Display

_N_POINTS = 401
_ESTIMATE_STYLES = {"MLE": ("v", "-."), "MAP": ("D", "--"), "mean": ("o", "-")}


class Parameter(NamedTuple):
    """One parameter: its distributions (SciPy's) and estimates."""

    symbol: str
    before: Any  # None if it does not integrate to 1
    after: Any
    estimates: dict[str, float]


def posterior(before: Any, after: Any, *, of: Any = None, level: float = 0.95, ax: Axes | None = None) -> Display:
    """Plot the prior and the posterior of a parameter, and mark maximum likelihood, mode (MAP) and mean.

    Parameters
    ----------
    before : Beta, Dirichlet, Gamma, Normal or NormalInverseGamma
        The prior of a single parameter: numbers, not arrays, except for the pseudo-counts of a Dirichlet.
    after : of the same class
        The posterior: ``before.posterior(…)`` or ``before.learn(values)``.
    of : int, or "mean" or "variance", optional
        The outcome of a Dirichlet, 0 by default; or the parameter of a NormalInverseGamma, "mean" by default, whose
        mode is that of both parameters jointly.
    level : float, default 0.95
        Probability of the shaded interval.
    ax : matplotlib axes, optional

    Returns
    -------
    Display
        ``table``: parameter, prior (NaN if improper), posterior: the curves. ``numbers``: MLE (NaN without data), MAP,
        mean, low, high.

    Examples
    --------
    >>> from candide.priors import Beta
    >>> shown = posterior(Beta(2, 2), Beta(2, 2).posterior(on=7, off=3))
    >>> [round(shown.numbers[name], 3) for name in ("MLE", "MAP", "mean")]
    [0.7, 0.667, 0.643]
    """
    belief = _parameter(before, after, of)
    x = _range(belief)
    curves = [np.full(len(x), np.nan) if one is None else one.pdf(x) for one in (belief.before, belief.after)]
    low, high = (float(belief.after.ppf(tail)) for tail in ((1 - level) / 2, (1 + level) / 2))
    ax = style.one_axes(ax, 6.4, 3.8)
    _draw(ax, x, *curves, inside=(x >= low) & (x <= high), label=f"{level:.0%} interval")
    top = _top(*curves)
    for i, (what, value) in enumerate(belief.estimates.items()):
        if np.isfinite(value):
            _mark(ax, i, what, value, top)
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(0.0, 1.25 * top)
    ax.set_xlabel(belief.symbol)
    ax.set_ylabel("density")
    style.plain(ax)
    style.legend_right(ax)
    table = Table({"parameter": x, "prior": curves[0], "posterior": curves[1]})
    return Display((ax,), table, belief.estimates | {"low": low, "high": high})


def _draw(ax: Axes, x: Floats, prior: Floats, after: Floats, *, inside: Any, label: str) -> None:
    if np.isfinite(prior).any():
        ax.plot(x, prior, color=style.GREY, ls="--", lw=1.5, label="prior")
    ax.plot(x, after, color=style.FOR, lw=2, label="posterior")
    ax.fill_between(x, 0.0, after, where=inside, color=style.FOR, alpha=0.15, lw=0, label=label)


def _mark(ax: Axes, i: int, what: str, value: float, top: float) -> None:
    marker, dash = _ESTIMATE_STYLES[what]
    color, height = style.COLORS[1 + i], (1.08 + 0.06 * i) * top
    ax.vlines(value, 0.0, height, color=color, ls=dash, lw=1.2)
    ax.plot(value, height, marker=marker, color=color, ls="none", clip_on=False, label=f"{what} {value:.3g}")


def _top(*curves: Floats) -> float:
    """Return the height of the posterior; a prior that is infinite at an end is clipped."""
    prior, after = (curve[np.isfinite(curve)] for curve in curves)
    peak = float(after.max(initial=1e-300))
    return max(peak, min(float(prior.max(initial=0.0)), 1.5 * peak))


def _range(belief: Parameter) -> Floats:
    """Return limits that show the posterior, and the prior as far as the posterior stays visible."""
    low, high = (float(end) for end in belief.after.ppf([0.002, 0.998]))
    if belief.before is not None:
        first, last = (float(end) for end in belief.before.ppf([0.025, 0.975]))
        margin = 1.5 * (high - low)
        low, high = min(low, max(first, low - margin)), max(high, min(last, high + margin))
    ends = [value for value in belief.estimates.values() if np.isfinite(value)]
    low, high = min([low, *ends]), max([high, *ends])
    support = belief.after.support()
    if support[0] == 0.0 and low < 0.25 * high:
        low = 0.0
    if support[1] == 1.0:
        low, high = 0.0, 1.0
    # A narrow posterior would fall between points that are evenly spaced.
    within = belief.after.ppf(np.linspace(0.001, 0.999, _N_POINTS // 2))
    return np.union1d(np.linspace(low, high, _N_POINTS), within[(within >= low) & (within <= high)])


def _parameter(before: Any, after: Any, of: Any) -> Parameter:
    makers: dict[type, Callable[[Any, Any, Any], Parameter]] = {
        Beta: _beta,
        Dirichlet: _dirichlet,
        Gamma: _gamma,
        Normal: _normal,
        NormalInverseGamma: _normal_gamma,
    }
    make = makers.get(type(before))
    if make is None or type(after) is not type(before):
        kinds = ", ".join(kind.__name__ for kind in makers)
        raise ParameterError(
            f"before is a {type(before).__name__} and after a {type(after).__name__}; expected a prior ({kinds}) and "
            "its posterior, before.posterior(…)"
        )
    if not after.is_proper:
        raise ParameterError(
            f"{after!r} does not integrate to 1, so it cannot be plotted; update it with data, or choose a proper prior"
        )
    return make(before, after, of)


def _beta(before: Beta, after: Beta, of: Any) -> Parameter:
    _single(before.a, before.b, after.a, after.b)
    return _share("probability φ", (before.a, before.b), (after.a, after.b), after.mean(), after.mode())


def _dirichlet(before: Dirichlet, after: Dirichlet, of: Any) -> Parameter:
    cells = after._cells()
    pseudo = np.broadcast_to(np.asarray(before.concentration, dtype=np.float64), cells.shape)
    outcome = 0 if of is None else of
    if cells.ndim != 1 or outcome not in range(len(cells)):
        raise ParameterError(f"of is {of!r}; expected an outcome of this Dirichlet, 0 to {cells.shape[-1] - 1}")
    first, last = ((one[outcome], one.sum() - one[outcome]) for one in (pseudo, cells))
    return _share(f"share θ of outcome {outcome}", first, last, after.mean()[outcome], after.mode()[outcome])


def _share(symbol: str, before: tuple[Any, Any], after: tuple[Any, Any], mean: float, mode: float) -> Parameter:
    from scipy.stats import beta

    on, off = (float(later - earlier) for earlier, later in zip(before, after, strict=True))
    prior = beta(*before) if min(before) > 0 else None
    return Parameter(symbol, prior, beta(*after), _estimates(_ratio(on, on + off), mode, mean))


def _gamma(before: Gamma, after: Gamma, of: Any) -> Parameter:
    from scipy.stats import gamma

    _single(before.shape, before.rate, after.shape, after.rate)
    events, rows = float(after.shape - before.shape), float(after.rate - before.rate)
    prior = gamma(before.shape, scale=1 / before.rate) if before.is_proper else None
    estimates = _estimates(_ratio(events, rows), after.mode(), after.mean())
    return Parameter("rate λ (events per row)", prior, gamma(after.shape, scale=1 / after.rate), estimates)


def _normal(before: Normal, after: Normal, of: Any) -> Parameter:
    from scipy.stats import norm

    _single(before.location, before.variance, after.location, after.variance)
    mle = _ratio(after.location * after.strength - before.location * before.strength, after.strength - before.strength)
    prior, later = (norm(one.location, np.sqrt(one.variance)) for one in (before, after))
    return Parameter("mean μ", prior, later, _estimates(mle, after.mode(), after.mean()))


def _normal_gamma(before: NormalInverseGamma, after: NormalInverseGamma, of: Any) -> Parameter:
    from scipy.stats import invgamma, t

    if of not in (None, "mean", "variance"):
        raise ParameterError(f"of is {of!r}; expected 'mean' or 'variance'")
    _single(before.location, after.location, after.scale)
    weight = float(after.strength - before.strength)
    mean = _ratio(after.location * after.strength - before.location * before.strength, weight)
    if of == "variance":
        away = before.strength * weight / after.strength * (mean - before.location) ** 2 if weight > 0 else 0.0
        mle = _ratio(max(2 * float(after.scale - before.scale) - away, 0.0), weight)
        prior, later = (invgamma(one.shape, scale=one.scale) if one.is_proper else None for one in (before, after))
        return Parameter("variance σ²", prior, later, _estimates(mle, after.mode().variance, after.mean().variance))
    prior, later = (
        t(2 * one.shape, one.location, np.sqrt(one.scale / (one.shape * one.strength))) if one.is_proper else None
        for one in (before, after)
    )
    return Parameter("mean μ", prior, later, _estimates(mean, after.mode().mean, after.mean().mean))


def _estimates(mle: float, mode: float, mean: float) -> dict[str, float]:
    return {"MLE": float(mle), "MAP": float(mode), "mean": float(mean)}


def _ratio(part: Any, whole: Any) -> float:
    return float(part) / float(whole) if whole > 1e-12 else float("nan")


def _single(*parts: Any) -> None:
    if any(np.ndim(part) for part in parts):
        raise ParameterError("this prior contains arrays, one number per column; pass a prior with single numbers")
