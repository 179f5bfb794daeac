"""Files of earlier versions of the format, brought to that of now step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .document import Document
from .header import CURRENT as CURRENT
from .verdict import Unsound, require

# From a version to the next.
UPGRADES: Mapping[int, Callable[[Document], Document]] = {}


def upgraded(
    document: Document, version: str, upgrades: Mapping[int, Callable[[Document], Document]] = UPGRADES
) -> Document:
    """What a file of some version would be if it were written now."""
    require(version.isdecimal() and version.isascii() and len(version) <= 9, f"its format version is {version!r:.20}")
    if int(version) > CURRENT:
        raise Unsound(
            f"its format version is {version}, and this version of candide reads up to {CURRENT}",
            "install a newer candide",
        )
    for step in range(int(version), CURRENT):
        require(step in upgrades, f"its format version is {version}, which no candide has written")
        document = upgrades[step](document)
    return document
