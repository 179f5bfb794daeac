"""Objects that are stored without what can be made of them again."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class Lean:
    """A dataclass of which the fields alone are pickled: tables that were made of them would outweigh these."""

    def __getstate__(self) -> dict[str, Any]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # of dataclasses
        return {name: getattr(self, name) for name in names}
