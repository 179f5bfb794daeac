"""What all conjugate priors share: a readable form, checks, and the four ways from a posterior to a number."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal, Protocol, Self

import numpy as np

from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats

Estimate = Literal["mean", "map", "mle", "predictive"]
ESTIMATES: tuple[Estimate, ...] = ("mean", "map", "mle", "predictive")


class Prior(Protocol):
    """A distribution of parameters that stays of its kind when data arrive: ``posterior`` is a prior of the same class.

    The numbers that summarise the data differ by prior; ``learn`` takes the data themselves.
    """

    @property
    def is_proper(self) -> bool:
        """Whether it integrates to 1, so that there is an evidence."""

    def learn(self, values: Any) -> Self:
        """The posterior after these observations."""

    def mean(self) -> Any:
        """The posterior mean of the parameters."""

    def mode(self) -> Any:
        """Where the density of the parameters is largest."""

    def interval(self, level: float = 0.95) -> Any:
        """Equal-tailed credible interval: ``(low, high)``."""

    def predictive(self) -> Any:
        """The distribution of the next observation, as one of SciPy's."""

    def sample(self, n: int = 1, random_state: Any = None) -> Any:
        """``n`` draws of the parameters, along a new first axis."""


class Readable:
    """A repr in which numbers read as numbers and large arrays stay short, and an equality that knows arrays."""

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
    """A parameter of a prior: a number or an array of at least ``least`` (or above it), copied."""
    array = _numbers(f"{name} of {prior}", value, least, above)
    array.flags.writeable = False
    return array if array.ndim else float(array)


def summaries(prior: Any, **values: Any) -> list[Floats]:
    """What data are summarised by, checked: none below 0 but means, and of shapes that go with the prior's."""
    arrays = [_numbers(name, value, -np.inf if name == "mean" else 0.0) for name, value in values.items()]
    check_shapes(prior, **dict(zip(values, arrays, strict=True)))
    return arrays


def check_shapes(prior: Any, **arrays: Any) -> None:
    """The parameters of a prior, and summaries beside them, are single numbers or go together cell by cell."""
    parts = {field.name: np.shape(getattr(prior, field.name)) for field in fields(prior)}
    parts |= {name: np.shape(value) for name, value in arrays.items()}
    try:
        np.broadcast_shapes(*parts.values())
    except ValueError:
        shown = ", ".join(f"{name} {shape}" for name, shape in parts.items() if shape)
        raise ParameterError(
            f"the numbers for a {type(prior).__name__} have shapes that do not go together: {shown}; give single "
            "numbers, or as many of each"
        ) from None


def _floats(value: Any) -> Floats:
    """A copy as numbers; texts are none, also those that could be read as one."""
    array = np.array(value)
    if array.dtype.kind in "USO":
        texts = [cell for cell in array.ravel().tolist() if isinstance(cell, (str, bytes))]
        if texts:
            raise TypeError(f"{texts[0]!r} is a text")
    return np.asarray(array, dtype=np.float64)


def _numbers(what: str, value: Any, least: float = -np.inf, above: bool = False) -> Floats:
    """A copy of a number, or of numbers, of at least ``least`` (or above it)."""
    try:
        array = _floats(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{what} is {value!r}; it must be a number or an array of numbers") from None
    if not array.size:
        raise ParameterError(f"{what} is empty; give at least one number")
    allowed = array > least if above else array >= least
    if not (allowed & np.isfinite(array)).all():
        bound = "" if least == -np.inf else f" and above {least:g}" if above else f" and of at least {least:g}"
        raise ParameterError(f"{what} is {value!r}; it must be finite{bound}")
    return array


def tails(level: float) -> tuple[float, float]:
    """The two quantiles of an equal-tailed interval."""
    if not (isinstance(level, (int, float, np.number)) and 0 < level < 1):
        raise ParameterError(
            f"level is {level!r}; an interval holds a share of the probability between 0 and 1, as 0.95"
        )
    return (1 - float(level)) / 2, (1 + float(level)) / 2


def draws(n: Any, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of ``n`` draws of parameters that have these shapes."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ParameterError(f"n is {n!r}; the number of draws must be a whole number above 0")
    return (int(n), *np.broadcast_shapes(*shapes))


def generator(random_state: Any) -> np.random.Generator:
    """NumPy's generator from a seed, a generator, or an old RandomState."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    return np.random.default_rng(random_state)


def observations(values: Any) -> Floats:
    """Observed numbers, missing ones left out."""
    try:
        array = _floats(values).ravel()
    except (TypeError, ValueError) as error:
        raise ParameterError(f"values are not all numbers ({error}); each must be one, or missing (NaN)") from None
    if np.isinf(array).any():
        raise ParameterError("values hold an infinite number; leave it out, or mark it as missing (NaN)")
    return array[~np.isnan(array)]


def check_proper(prior: Any) -> None:
    """Only what integrates to 1 can be drawn from, and gives data a probability."""
    if not prior.is_proper:
        raise ParameterError(
            f"{prior!r} does not integrate to 1, so it has no draws, no predictions and no evidence; choose "
            "parameters above 0, or let it learn first"
        )


def out(value: Any) -> Any:
    """A number as a float, an array as it is."""
    array: Array = np.asarray(value)
    return array if array.ndim else float(array)
