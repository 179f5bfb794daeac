"""The kernels in C++ for texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np

from . import _core
from .analysis import words
from .layouts import Array, Floats, Positions, Sparse
from .tokens import ACCENTS, ANALYZERS, DENSE_CELLS, Look, Recipe, TokenRows, TokenScores, TokenTables, TokenTally
from .vocabulary import Buckets, Coding, SomeBuckets, Vocabulary

# The native number of tokens that were cut elsewhere, and what stands behind each of them: no part of UTF-8.
_GIVEN, _TOKEN_END = len(ANALYZERS), b"\xff"

_NativeCoding = _core.Vocabulary | _core.BucketList

Result = TypeVar("Result")


class TokenNative:
    """What ``Native`` does with texts."""

    __slots__ = ()
    n_threads: int

    def count_tokens(
        self, texts: _core.Texts, looks: Sequence[Look], *, grow: bool, presence: bool = False
    ) -> list[TokenRows]:
        def count(group: _Group) -> list[TokenRows]:
            found = _core.count_tokens(group.texts, group.recipes, group.codings, grow, not presence, self.n_threads)
            return [_rows(looks[k].coding, *arrays) for k, arrays in zip(group.places, found, strict=True)]

        return _by_groups(texts, looks, count)

    def tally_tokens(
        self, texts: _core.Texts, classes: Positions, weight: Floats | None, n_classes: int, looks: Sequence[Look],
        *, grow: bool,
    ) -> list[TokenTally]:  # fmt: skip
        def tally(group: _Group) -> list[TokenTally]:
            found = _core.tally_tokens(
                group.texts, classes, weight, n_classes, group.recipes, group.codings, grow, self.n_threads
            )
            return [_tally(looks[k].coding, *arrays) for k, arrays in zip(group.places, found, strict=True)]

        return _by_groups(texts, looks, tally)

    def score_tokens(
        self, texts: _core.Texts, looks: Sequence[Look], tables: Sequence[TokenTables], *, distinct: bool = False
    ) -> list[TokenScores]:
        def score(group: _Group) -> list[TokenScores]:
            each, once = zip(*(tables[k] for k in group.places), strict=True)
            found = _core.score_tokens(
                group.texts, group.recipes, group.codings, list(each), list(once), distinct, self.n_threads
            )
            return [TokenScores(*arrays) for arrays in found]

        return _by_groups(texts, looks, score)


class _Group(NamedTuple):
    """Looks that one native call serves, and the texts for it."""

    places: list[int]
    texts: _core.Texts
    recipes: list[_core.Recipe]
    codings: list[_NativeCoding | int]


def _by_groups(texts: _core.Texts, looks: Sequence[Look], call: Callable[[_Group], list[Result]]) -> list[Result]:
    """All looks that the core can cut in one pass; each of the others, cut in Python, in a pass of its own."""
    results: dict[int, Result] = {}
    for group in _groups(texts, looks):
        results |= zip(group.places, call(group), strict=True)
    return [results[k] for k in range(len(looks))]


def _groups(texts: _core.Texts, looks: Sequence[Look]) -> Iterator[_Group]:
    plain = [k for k, look in enumerate(looks) if not look.recipe.in_python]
    if plain:
        yield _group(plain, texts, looks)
    for k in sorted(set(range(len(looks))) - set(plain)):
        yield _group([k], _cut(texts, looks[k].recipe), looks)


def _group(places: list[int], texts: _core.Texts, looks: Sequence[Look]) -> _Group:
    recipes = [_native(looks[k].recipe) for k in places]
    return _Group(places, texts, recipes, [looks[k].coding.native for k in places])


@lru_cache(maxsize=64)
def _native(recipe: Recipe) -> _core.Recipe:
    analyzer = _GIVEN if recipe.in_python else ANALYZERS.index(recipe.analyzer)
    accents = ACCENTS.index(recipe.strip_accents)
    stop_words = Vocabulary.of(recipe.stop_words).native if recipe.stop_words else None
    low, high = recipe.ngrams
    return _core.Recipe(
        analyzer, low, high, recipe.lowercase, accents, recipe.fold_numbers, recipe.min_length, recipe.marks,
        recipe.ends, stop_words,
    )  # fmt: skip


def _cut(texts: _core.Texts, recipe: Recipe) -> _core.Texts:
    """Each text as its words, one after the other."""
    rows = [b"".join(_ended(word) for word in words(text or "", recipe)) for text in texts.strings()]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return _core.Texts.of_buffers(np.frombuffer(b"".join(rows), dtype=np.uint8), offsets, ~texts.missing())


def _ended(word: str) -> bytes:
    return word.encode("utf-8", "replace") + _TOKEN_END


def _grown(coding: Coding, native: _NativeCoding | None) -> Coding:
    if native is None or native is coding.native:
        return coding
    return Vocabulary(native) if isinstance(native, _core.Vocabulary) else SomeBuckets.of(native)


def _rows(
    before: Coding, native: _NativeCoding | None, indptr: Array, codes: Array, counts: Array, unknown: Array
) -> TokenRows:
    coding = _grown(before, native)
    values = counts if len(counts) == len(codes) else np.ones(len(codes), dtype=np.uint8)
    return TokenRows(coding, Sparse(*_narrow(indptr, codes), values, len(coding)), unknown)


def _narrow(indptr: Array, codes: Array) -> tuple[Array, Array]:
    """Both of one type, as sparse kernels want it, and in 32 bits where these do."""
    index = np.result_type(np.min_scalar_type(-len(codes)), np.int32)
    return indptr.astype(index, copy=False), codes.astype(index, copy=False)


def _tally(
    before: Coding, native: _NativeCoding | None, indptr: Array, codes: Array, occurrences: Array, texts: Array
) -> TokenTally:
    from scipy.sparse import csr_array

    coding = _grown(before, native)
    shape = len(indptr) - 1, len(coding)
    indptr, codes = _narrow(indptr, codes)
    total, held = (csr_array((values, codes, indptr), shape=shape) for values in (occurrences, texts))
    # A vocabulary holds the tokens seen; of a few texts, almost all buckets are empty.
    if shape[0] * shape[1] <= max(0 if isinstance(coding, Buckets) else DENSE_CELLS, 3 * len(codes)):
        total, held = total.toarray(), held.toarray()
    return TokenTally(coding, total, held, np.asarray(total.sum(axis=1), dtype=np.float64))
