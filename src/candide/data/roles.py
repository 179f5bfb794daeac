"""What the columns of a source are for; apart from the sources, for models in files know it too."""

from __future__ import annotations

from typing import NamedTuple


class Roles(NamedTuple):
    """What columns are for."""

    #: The column of classes.
    label: str
    #: The one column that is learned from, if that is a column of texts.
    text: str | None
    #: The columns that are learned from.
    columns: tuple[str, ...]
    #: The column of weights.
    weight: str | None = None
