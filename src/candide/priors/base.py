"""Shared code of conjugate priors: representation, checks, point estimates of a posterior, logarithms of shares.

A probability of exactly 0 is kept as a power of ε, and ε goes to 0 from above: ``log p = finite - order · log(1/ε)``.
A row with probability 0 in every class is therefore assigned to the class with the lowest power of ε, which is the
limit of smoothing as the pseudo-count approaches 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np

from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats

Estimate = Literal["mean", "map", "mle", "predictive"]
ESTIMATES: tuple[Estimate, ...] = ("mean", "map", "mle", "predictive")


class Prior(Protocol):
    """Protocol of conjugate priors: a posterior is an object of the same class.

    The parameters of ``posterior``, which summarize the data, differ by prior; ``learn`` takes the data themselves.
    """

    @property
    def is_proper(self) -> bool:
        """Whether the density integrates to 1."""

    def learn(self, values: Any) -> Self:
        """Return the posterior after these observations."""

    def mean(self) -> Any:
        """Return the mean of the parameters."""

    def mode(self) -> Any:
        """Return the mode of the parameters."""

    def interval(self, level: float = 0.95) -> Any:
        """Return the equal-tailed credible interval ``(low, high)``."""

    def predictive(self) -> Any:
        """Return the distribution of the next observation, as a SciPy distribution."""

    def sample(self, n: int = 1, random_state: Any = None) -> Any:
        """Return ``n`` draws of the parameters, along a new first axis."""


class Readable:
    """A readable repr with shortened arrays, and equality that compares arrays.

    Parameters are copied and checked: they are at least 0, or ``least`` by name, and have compatible shapes.
    """

    least: ClassVar[Mapping[str, float]] = {}

    def __post_init__(self) -> None:
        self._check_parameters()
        check_shapes(self)

    def _check_parameters(self, *, above: bool = False) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            least, value = self.least.get(field.name, 0.0), getattr(self, field.name)
            checked = parameter(type(self).__name__, field.name, value, least=least, above=above)
            object.__setattr__(self, field.name, checked)

    def __repr__(self) -> str:
        inside = ", ".join(f"{field.name}={_shown(getattr(self, field.name))}" for field in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({inside})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(map(np.array_equal, _values(self), _values(other)))

    def __hash__(self) -> int:
        return hash((type(self), *(float(np.sum(value)) for value in _values(self))))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        # Copies are made by the constructor, so that their arrays are read-only too.
        return type(self), tuple(_values(self))


def _values(prior: Any) -> list[Any]:
    return [getattr(prior, field.name) for field in fields(prior)]


def _shown(value: Any) -> str:
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{float(array):.12g}"
    if array.size <= 8:
        return np.array2string(array, separator=", ", formatter={"float_kind": "{:.12g}".format}).replace("\n", "")
    return f"array of shape {array.shape}"


def parameter(prior: str, name: str, value: Any, *, least: float = 0.0, above: bool = False) -> float | Floats:
    """Return a copy of a parameter of a prior, a number or an array of at least ``least`` (or above it)."""
    array = _numbers(f"{name} of {prior}", value, least, above)
    array.flags.writeable = False
    return array if array.ndim else float(array)


def summaries(prior: Any, **values: Any) -> list[Floats]:
    """Return checked summaries of data: non-negative except means, and of shapes compatible with the prior."""
    arrays = [_numbers(name, value, -np.inf if name == "mean" else 0.0) for name, value in values.items()]
    check_shapes(prior, **dict(zip(values, arrays, strict=True)))
    return arrays


def check_shapes(prior: Any, **arrays: Any) -> None:
    """Check that the parameters of a prior, and summaries of data, have compatible shapes."""
    parts = {field.name: np.shape(getattr(prior, field.name)) for field in fields(prior)}
    parts |= {name: np.shape(value) for name, value in arrays.items()}
    try:
        np.broadcast_shapes(*parts.values())
    except ValueError:
        shown = ", ".join(f"{name} {shape}" for name, shape in parts.items() if shape)
        raise ParameterError(
            f"the parameters of a {type(prior).__name__} have incompatible shapes: {shown}; pass single numbers, or "
            "arrays of the same shape"
        ) from None


def _floats(value: Any) -> Floats:
    """Return a copy as floats; strings raise an error, even if they could be parsed."""
    array = np.array(value)
    if array.dtype.kind in "USO":
        texts = [cell for cell in array.ravel().tolist() if isinstance(cell, (str, bytes))]
        if texts:
            raise TypeError(f"{texts[0]!r} is a string")
    return np.asarray(array, dtype=np.float64)


def _numbers(what: str, value: Any, least: float = -np.inf, above: bool = False) -> Floats:
    """Return a copy of finite numbers of at least ``least`` (or above it)."""
    try:
        array = _floats(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{what} is {value!r}; expected a number or an array of numbers") from None
    if not array.size:
        raise ParameterError(f"{what} is empty; expected at least one number")
    allowed = array > least if above else array >= least
    if not (allowed & np.isfinite(array)).all():
        bound = "" if least == -np.inf else f" above {least:g}" if above else f" of at least {least:g}"
        raise ParameterError(f"{what} is {value!r}; expected finite numbers{bound}")
    return array


def tails(level: float) -> tuple[float, float]:
    """Return the two quantiles of an equal-tailed interval."""
    if not (isinstance(level, (int, float, np.number)) and 0 < level < 1):
        raise ParameterError(f"level is {level!r}; expected a probability between 0 and 1, such as 0.95")
    return (1 - float(level)) / 2, (1 + float(level)) / 2


def draws(n: Any, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of ``n`` draws of parameters of these shapes."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ParameterError(f"n is {n!r}; expected a positive integer")
    return (int(n), *np.broadcast_shapes(*shapes))


def generator(random_state: Any) -> np.random.Generator:
    """Return a NumPy generator from a seed, a generator or a legacy RandomState."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    return np.random.default_rng(random_state)


def observations(values: Any) -> Floats:
    """Return the observed numbers without missing values."""
    try:
        array = _floats(values).ravel()
    except (TypeError, ValueError) as error:
        raise ParameterError(f"values are not numeric ({error}); expected numbers, or NaN for missing values") from None
    if np.isinf(array).any():
        raise ParameterError("values contain infinity; drop infinite values, or replace them with NaN (missing)")
    return array[~np.isnan(array)]


def check_proper(prior: Any) -> None:
    """Raise an error unless the prior integrates to 1, which sampling and predictions require."""
    if not prior.is_proper:
        raise ParameterError(
            f"{prior!r} does not integrate to 1, so it has no samples, predictions or marginal likelihood; "
            "choose positive parameters, or update it with data first"
        )


def out(value: Any) -> Any:
    """Return a number as a float, and an array unchanged."""
    array: Array = np.asarray(value)
    return array if array.ndim else float(array)


class LogProbability(NamedTuple):
    """``finite - order · log(1/ε)``. ``order`` is None where no probability is 0."""

    finite: Floats
    order: Floats | None

    def value(self) -> Floats:
        """Return the logarithm: -inf where the probability is 0."""
        return self.finite if self.order is None else np.where(self.order > 0, -np.inf, self.finite)


def pseudo_count(concentration: float | Floats, estimate: Estimate) -> float | Floats:
    """Return the number added to each count: α for the mean, α - 1 for the mode, and 0 for the MLE."""
    if estimate == "mle":
        return 0.0 if np.ndim(concentration) == 0 else np.zeros_like(concentration)
    return concentration - 1.0 if estimate == "map" else concentration


def log_of_wholes(whole: Floats) -> Floats:
    """Return logarithms, ``(classes, columns)``; one column if the totals of all columns are equal."""
    same = whole.ndim == 2 and whole.shape[1] > 1 and bool((whole == whole[:, :1]).all())
    return np.asarray(np.log(whole[:, :1] if same else whole))


def log_share(part: Floats, whole: Floats, n_cells: int) -> LogProbability:
    """Return ``log(part / whole)``; 0/0 is an equal share, and 0/positive a power of ε."""
    if not part.size:
        return LogProbability(part, None)
    zero = part <= 0
    if not zero.any():
        return LogProbability(np.log(part) - log_of_wholes(whole), None)
    empty = np.broadcast_to(whole <= 0, part.shape)
    finite = np.log(np.where(zero, 1.0, part)) - np.log(np.where(whole <= 0, 1.0, whole))
    finite = np.where(empty, -np.log(n_cells), finite)
    order = np.where(zero & ~empty, 1.0, 0.0)
    return LogProbability(finite, order if order.any() else None)


def parts_of(raw: Floats) -> Floats:
    """Return the parts of a total from counts with pseudo-counts, with cells on the last axis; negative parts are 0.

    If no part is above 0, the mode of a Dirichlet is in the corner of the largest cell; equal cells share it.
    """
    part = above_zero(raw)
    if (raw < 0).any():
        cornered = part.sum(axis=-1, keepdims=True) <= 0
        part = np.where(cornered, largest(raw, raw.max(axis=-1, keepdims=True)), part)
    return part


# Modes subtract 1 from sums of weights; smaller remainders are treated as rounding errors.
_ROUNDING = 1e-12


def above_zero(raw: Floats) -> Floats:
    """Return ``raw`` with negative values set to 0; if there are any, values within rounding of 0 are set to 0 too."""
    return np.asarray(np.where(raw > _ROUNDING, raw, 0.0) if (raw < 0).any() else raw)


def largest(raw: Floats, top: Floats) -> Array:
    """Return which cells are the largest, up to rounding."""
    return np.asarray(raw >= top - _ROUNDING)


# log Γ(z) = (z - ½) log z - z + ½ log 2π + Σ of these over z, z³, z⁵, …: accurate to the last digit for z ≥ 15.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
_LARGE = 15.0
_HALF_LOG_2PI = 0.5 * float(np.log(2 * np.pi))


def log_rising(start: Any, steps: Any) -> Floats:
    """Return log Γ(start + steps) / Γ(start) without cancellation if the two are large and close."""
    from scipy.special import betaln, gammaln

    start, steps = np.broadcast_arrays(start, steps)
    some = np.where(steps > 0, steps, 1.0)
    return np.asarray(np.where(steps > 0, gammaln(some) - betaln(start, some), 0.0))


def log_run(hits: Any, others: Any, steps: Any) -> Floats:
    """Return log [Γ(hits + steps) Γ(hits + others) / (Γ(hits) Γ(hits + others + steps))].

    This is the log probability that the next ``steps`` draws from a Pólya urn are all hits.

    Stirling's formula is expanded for all four terms, so that large terms cancel before they are computed.
    """
    hits, others, steps = (np.asarray(part, dtype=np.float64) for part in (hits, others, steps))
    whole = hits + others
    # (hits + steps) · whole / (hits · (whole + steps)) exceeds 1 by this amount.
    log_p = (hits - 0.5) * np.log1p(others / hits * (steps / (whole + steps)))
    log_p = log_p - steps * np.log1p(others / (hits + steps)) - others * np.log1p(steps / whole)
    return np.asarray(log_p + _rest(hits + steps) - _rest(hits) + _rest(whole) - _rest(whole + steps))


def _rest(z: Floats) -> Floats:
    """Return log Γ(z) without the large terms of Stirling's formula."""
    from scipy.special import gammaln

    small, large = np.minimum(z, _LARGE), np.maximum(z, _LARGE)
    exact = gammaln(small) - (small - 0.5) * np.log(small) + small - _HALF_LOG_2PI
    series = np.polynomial.polynomial.polyval(1 / large**2, _STIRLING) / large
    return np.where(z < _LARGE, exact, series)
