"""Codes of tokens: by a vocabulary, or by hashing into a fixed number of buckets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..lazy import dataclass
from . import _core
from .layouts import Array, Positions


class Vocabulary:
    """Distinct tokens, numbered in the order in which they first appeared.

    It never changes: what makes it grow returns a new one. The two share their memory, so that a stream of small
    additions costs what is added. Tokens are kept as UTF-8, without a Python object each.

    >>> pets = Vocabulary.of(["cat", "dog", "cat"])
    >>> pets.codes(["dog", "eel"])
    array([ 1, -1], dtype=int32)
    >>> more, codes = pets.merge(Vocabulary.of(["eel", "cat"]))
    >>> more.tokens(), codes.tolist(), len(pets)
    (['cat', 'dog', 'eel'], [2, 0], 2)
    """

    __slots__ = ("native",)

    def __init__(self, native: _core.Vocabulary | None = None) -> None:
        self.native = _core.Vocabulary() if native is None else native

    @classmethod
    def of(cls, tokens: Iterable[str]) -> Vocabulary:
        """Create a vocabulary from tokens; repeated tokens count once."""
        return cls(_core.Vocabulary.of_tokens(_as_texts(tokens)))

    @classmethod
    def from_arrays(cls, utf8: Array, offsets: Array, native: _core.Vocabulary | None = None) -> Vocabulary:
        """The inverse of :meth:`arrays`. ``native``: what was built of the same bytes before NumPy was imported."""
        utf8, offsets = np.ascontiguousarray(utf8, dtype=np.uint8), np.ascontiguousarray(offsets, dtype=np.int64)
        made = cls(_core.Vocabulary.of_buffers(utf8, offsets) if native is None else native)
        if len(made) != len(offsets) - 1 or not _is_utf8(utf8, offsets):
            raise ParameterError(
                f"only {len(made)} of {len(offsets) - 1} tokens are valid and distinct; expected distinct tokens in "
                "valid UTF-8; pass arrays that were returned by Vocabulary.arrays()"
            )
        return made

    def arrays(self) -> tuple[Array, Array]:
        """Return the bytes of all tokens and their offsets, in Arrow's layout of strings."""
        return self.native.arrays()

    def tokens(self, codes: Array | None = None) -> list[str]:
        """Return all tokens, or those of some codes, as strings."""
        utf8, offsets = self.arrays()
        data, every = utf8.tobytes(), range(len(self))
        return [str(data[offsets[i] : offsets[i + 1]], "utf-8") for i in (every if codes is None else codes)]

    def codes(self, tokens: Iterable[str]) -> Positions:
        """Return the code of each token; -1 for unknown tokens."""
        return self.native.codes(_as_texts(tokens))

    def take(self, codes: Array) -> Vocabulary:
        """Return the vocabulary of some tokens, in the given order."""
        utf8, offsets = self.arrays()
        sizes = np.diff(offsets)[codes]
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(offsets[:-1][codes] - ends + sizes, sizes)
        return Vocabulary.from_arrays(utf8[places], np.concatenate([[0], ends]).astype(np.int64))

    def merge(self, other: Vocabulary) -> tuple[Vocabulary, Positions]:
        """Return the union, with the tokens of this vocabulary first, and the code of each token of the other in it."""
        merged, codes = self.native.merged(other.native)
        return Vocabulary(merged), codes

    def __len__(self) -> int:
        return len(self.native)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return all(np.array_equal(mine, theirs) for mine, theirs in zip(self.arrays(), other.arrays(), strict=True))

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} tokens)"

    def __reduce__(self) -> Any:
        return Vocabulary.from_arrays, self.arrays()


@dataclass(frozen=True)
class Buckets:
    """Tokens by a hash of their UTF-8 bytes alone: 2^bits codes, the same on every machine.

    >>> Buckets(10).codes(["cat", "dog"])
    array([621,  90], dtype=int32)
    """

    bits: int = 22

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= 30:
            raise ParameterError(f"bits is {self.bits}; expected an integer from 1 to 30 (2^1 to 2^30 buckets)")

    @property
    def native(self) -> int | _core.BucketList:
        return self.bits

    def codes(self, tokens: Iterable[str]) -> Positions:
        """Return the bucket of each token."""
        return _core.token_buckets(_as_texts(tokens), self.bits)

    def __len__(self) -> int:
        return 1 << self.bits


@dataclass(frozen=True, eq=False)
class SomeBuckets(Buckets):
    """Some of the buckets, in ascending order, with their places as codes; tokens of the others have none.

    >>> SomeBuckets(10, buckets=np.array([90, 300], dtype=np.int32)).codes(["cat", "dog"])
    array([-1,  0], dtype=int32)
    """

    buckets: Positions = field(kw_only=True)

    @classmethod
    def of(cls, native: _core.BucketList) -> SomeBuckets:
        """Return the vocabulary in the form that kernels use."""
        return cls(native.bits(), buckets=native.buckets())

    @cached_property
    def native(self) -> _core.BucketList:
        return _core.BucketList(self.bits, self.buckets)

    def codes(self, tokens: Iterable[str]) -> Positions:
        found = super().codes(tokens)
        places = np.searchsorted(self.buckets, found)
        return np.where(np.isin(found, self.buckets), places, -1).astype(np.int32)

    def __len__(self) -> int:
        return len(self.buckets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SomeBuckets):
            return NotImplemented
        return self.bits == other.bits and np.array_equal(self.buckets, other.buckets)


Coding = Vocabulary | Buckets


def _is_utf8(utf8: Array, offsets: Array) -> bool:
    """Whether all is UTF-8, and no token begins within a character."""
    if utf8.max(initial=0) < 0x80:
        return True
    try:
        str(utf8.data, "utf-8")
    except UnicodeDecodeError:
        return False
    begins = offsets[offsets < len(utf8)]
    return not ((utf8[begins] & 0xC0) == 0x80).any()


def _as_texts(tokens: Iterable[str]) -> _core.Texts:
    items = list(tokens)
    texts, odd = _core.Texts.of_list(items)
    if odd >= 0 or texts.missing().any():
        at = odd if odd >= 0 else int(np.argmax(texts.missing()))
        raise ParameterError(f"token {at} is {items[at]!r}; expected a string")
    return texts
