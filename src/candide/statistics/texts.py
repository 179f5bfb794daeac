"""What one pass over texts leaves: for each look at them, sums of tokens by class."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass
from .token_counts import Dropped, TokenCounts


@dataclass(frozen=True)
class TextStatistics:
    """The weight of texts by class, and for each look at them the sums of its tokens."""

    rows: Floats
    looks: tuple[TokenCounts, ...]

    def merge(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "merge")

    def absorb(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "absorb")

    def forget(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "forget")

    def without(self, other: TextStatistics) -> TextStatistics:
        return self._joined(other, "without")

    def _joined(self, other: TextStatistics, verb: str) -> TextStatistics:
        pairs = zip(self.looks, other.looks, strict=True)
        return _of(getattr(mine, verb)(theirs) for mine, theirs in pairs)

    def lost_digits(self, before: TextStatistics) -> bool:
        return False

    def take(self, classes: Array) -> TextStatistics:
        return self._by_class("take", classes)

    def together(self) -> TextStatistics:
        return self._by_class("together")

    def discount(self, factor: float) -> TextStatistics:
        return _of(look.discount(factor) for look in self.looks)

    def reindex(self, positions: Array, size: int) -> TextStatistics:
        return self._by_class("reindex", positions, size)

    def _by_class(self, verb: str, *args: Any) -> TextStatistics:
        return _of(look.by_class(verb, *args) for look in self.looks)

    def only(self, j: int) -> TextStatistics:
        """Of one look."""
        return self.take_looks([j])

    def take_looks(self, places: list[int]) -> TextStatistics:
        """Of some looks."""
        return TextStatistics(self.rows, tuple(self.looks[i] for i in places))

    @property
    def dropped(self) -> Dropped:
        """What was pruned, of all looks."""
        return reduce(Dropped.plus, (look.dropped for look in self.looks))

    def arrays(self) -> dict[str, Any]:
        return {"rows": self.rows, "looks": self.looks}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> TextStatistics:
        return cls(**arrays)


def _of(looks: Iterable[TokenCounts]) -> TextStatistics:
    every = tuple(looks)
    return TextStatistics(every[0].counts.rows, every)
