"""Families of several columns together, by the names that ``columns=`` has for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..exceptions import ParameterError
from ..families import Family, Multinomial, MultivariateNormal
from ..families.columns.named import FROM_0, Option, check_options, one_of
from ..priors import ESTIMATES, Dirichlet, NormalInverseWishart

BLOCKS = ("multinomial", "multivariate_normal")
_OPTIONS: dict[str, dict[str, Option]] = {
    "multinomial": {
        "prior": Option(lambda value: isinstance(value, Dirichlet), "a Dirichlet of candide.priors"),
        "estimate": one_of(*ESTIMATES),
    },
    "multivariate_normal": {
        "prior": Option(
            lambda value: isinstance(value, NormalInverseWishart), "a NormalInverseWishart of candide.priors"
        ),
        "estimate": one_of(*ESTIMATES),
        "var_smoothing": FROM_0,
    },
}


def is_block(setting: Any) -> bool:
    """Whether a setting speaks of columns together."""
    if isinstance(setting, tuple) and len(setting) == 2 and isinstance(setting[1], Mapping):
        setting = setting[0]
    elif hasattr(setting, "observe") and not isinstance(setting, type):
        return True
    return isinstance(setting, str) and setting in BLOCKS


def block_family(setting: Any, names: list[Any]) -> Family:
    """The family of a block of the columns named."""
    if not isinstance(setting, (str, tuple)):
        family: Family = setting
        return family
    name, options = setting if isinstance(setting, tuple) else (setting, {})
    if len(names) < 2:
        raise ParameterError(
            f"columns asks for {name!r} of column {names[0]!r} alone; it takes several: {{('a', 'b'): {name!r}}}"
        )
    check_options(f"the block with {names[0]!r}", name, options, _OPTIONS[name])
    return Multinomial(**options) if name == "multinomial" else MultivariateNormal(**options)
