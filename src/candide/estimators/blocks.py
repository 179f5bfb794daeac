"""Families of several columns together, by the names that ``columns=`` has for them."""

from __future__ import annotations

from typing import Any

from ..exceptions import ParameterError
from ..families import Family, Multinomial

BLOCKS = ("multinomial", "multivariate_normal")


def is_block(setting: Any) -> bool:
    """Whether a setting speaks of columns together."""
    name = setting[0] if isinstance(setting, tuple) and setting else setting
    return (isinstance(name, str) and name in BLOCKS) or (not isinstance(name, str) and hasattr(name, "observe"))


def block_family(setting: Any, n_columns: int) -> Family:
    """The family of a block."""
    if not isinstance(setting, (str, tuple)):
        family: Family = setting
        return family
    name, options = setting if isinstance(setting, tuple) else (setting, {})
    if n_columns < 2:
        raise ParameterError(f"columns asks for {name!r} of one column; it takes several: {{('a', 'b'): {name!r}}}")
    if name == "multinomial":
        return Multinomial(**options)
    from ..families.multivariate_normal import MultivariateNormal

    return MultivariateNormal(**options)
