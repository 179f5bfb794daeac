"""Counts, sums and scores of the tokens of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from . import _core
from .counting import DENSE_CELLS
from .layouts import Array, Floats, Positions, Sparse, TextRows, chunks
from .token_bins import sum_rows
from .tokenizer import ACCENTS, ANALYZERS, TokenizerConfig, words
from .vocabulary import Buckets, Coding, SomeBuckets, Vocabulary

if TYPE_CHECKING:
    from . import Kernels

# The native code for tokens that Python has split, and the byte that ends each token, which is invalid in UTF-8.
_GIVEN, _TOKEN_END = len(ANALYZERS), b"\xff"


# Total number of characters; rows of tokens take five to fifteen bytes per character.
_FEW = 1 << 25


_NativeCoding = _core.Vocabulary | _core.BucketList

Result = TypeVar("Result")

# Names of tokens by feature set and code.
Names = dict[str, dict[int, str]]
# Maximum number of texts that are searched for the names of hashed tokens, and how many at once.
_MOST_TEXTS, _AT_ONCE = 10_000, 1_000


class TokenFeatures(NamedTuple):
    """A tokenizer, and the codes of its tokens."""

    tokenizer: TokenizerConfig
    coding: Coding


class TokenRows(NamedTuple):
    """Texts as rows of counts; within a row tokens stand in the order in which they first appear."""

    coding: Coding  # with the new tokens, if it could grow
    rows: Sparse
    unknown: Array  # (rows,) tokens without a code


class TokenTally:
    """Sums of tokens: ``(classes, codes)``, dense or, where most cells are empty, a scipy ``csr_array``.

    ``is_dense``: whether sparse sums become dense when they are read. Most models read only one of the two.
    """

    def __init__(self, coding: Coding, occurrences: Any, texts: Any, *, is_dense: bool = False) -> None:
        self.coding, self._occurrences, self._texts, self._is_dense = coding, occurrences, texts, is_dense

    @property
    def occurrences(self) -> Any:
        """The weight of all occurrences; None where only texts were requested."""
        return self._occurrences.toarray() if self._is_dense else self._occurrences

    @property
    def texts(self) -> Any:
        """The weight of texts that hold the token."""
        return self._texts.toarray() if self._is_dense else self._texts


class TokenTables(NamedTuple):
    """The contribution of each token to each score, ``(codes, scores)`` of float32 or float64, C-contiguous."""

    each: Array | None = None  # for every occurrence
    once: Array | None = None  # once for every text that holds it


class TokenScores(NamedTuple):
    """Sums over the tokens of each text, ``(rows, scores)``."""

    each: Floats | None
    once: Floats | None
    known: Array  # (rows,) tokens with a code
    unknown: Array  # (rows,) tokens without
    distinct: Array | None  # (rows,) different tokens with a code


class TokenKernels:
    """Kernels over texts. One pass over the texts computes several features; a vocabulary may grow and is returned."""

    __slots__ = ()
    n_threads: int

    def count_tokens(
        self, texts: _core.Texts, features: Sequence[TokenFeatures], *, grow: bool, presence: bool = False
    ) -> list[TokenRows]:
        def count(group: _Group) -> list[TokenRows]:
            found = _core.count_tokens(group.texts, group.tokenizers, group.codings, grow, not presence, self.n_threads)
            return [_rows(features[k].coding, *arrays) for k, arrays in zip(group.places, found, strict=True)]

        return _by_groups(texts, features, count)

    def tally_tokens(
        self,
        texts: _core.Texts,
        classes: Positions,
        weight: Floats | None,
        n_classes: int,
        features: Sequence[TokenFeatures],
        *,
        grow: bool,
    ) -> list[TokenTally]:
        def tally(group: _Group) -> list[TokenTally]:
            found = _core.tally_tokens(
                group.texts, classes, weight, n_classes, group.tokenizers, group.codings, grow, self.n_threads
            )
            return [_tally(features[k].coding, *arrays) for k, arrays in zip(group.places, found, strict=True)]

        return _by_groups(texts, features, tally)

    def score_tokens(
        self,
        texts: _core.Texts,
        features: Sequence[TokenFeatures],
        tables: Sequence[TokenTables],
        *,
        distinct: bool = False,
    ) -> list[TokenScores]:
        def score(group: _Group) -> list[TokenScores]:
            each, once = zip(*(tables[k] for k in group.places), strict=True)
            found = _core.score_tokens(
                group.texts, group.tokenizers, group.codings, list(each), list(once), distinct, self.n_threads
            )
            return [TokenScores(*arrays) for arrays in found]

        return _by_groups(texts, features, score)


class _Group(NamedTuple):
    """Features that one native call computes, and the texts for it."""

    places: list[int]
    texts: _core.Texts
    tokenizers: list[_core.Tokenizer]
    codings: list[_NativeCoding | int]


def _by_groups(
    texts: _core.Texts, features: Sequence[TokenFeatures], call: Callable[[_Group], list[Result]]
) -> list[Result]:
    """Compute all features whose tokenizer is native in one pass, and each of the others in a separate pass."""
    results: dict[int, Result] = {}
    for group in _groups(texts, features):
        results |= zip(group.places, call(group), strict=True)
    return [results[k] for k in range(len(features))]


def _groups(texts: _core.Texts, features: Sequence[TokenFeatures]) -> Iterator[_Group]:
    plain = [k for k, feature in enumerate(features) if not feature.tokenizer.in_python]
    if plain:
        yield _group(plain, texts, features)
    for k in sorted(set(range(len(features))) - set(plain)):
        yield _group([k], _cut(texts, features[k].tokenizer), features)


def _group(places: list[int], texts: _core.Texts, features: Sequence[TokenFeatures]) -> _Group:
    tokenizers = [_native(features[k].tokenizer) for k in places]
    return _Group(places, texts, tokenizers, [features[k].coding.native for k in places])


@lru_cache(maxsize=64)
def _native(tokenizer: TokenizerConfig) -> _core.Tokenizer:
    analyzer = _GIVEN if tokenizer.in_python else ANALYZERS.index(tokenizer.analyzer)
    accents = ACCENTS.index(tokenizer.strip_accents)
    stop_words = Vocabulary.of(tokenizer.stop_words).native if tokenizer.stop_words else None
    return _core.Tokenizer(tokenizer, analyzer, accents, stop_words)


def _cut(texts: _core.Texts, tokenizer: TokenizerConfig) -> _core.Texts:
    """Return each text as its words, one after the other."""
    rows = [b"".join(_ended(word) for word in words(text or "", tokenizer)) for text in texts.strings()]
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
    """Return both with one type, as kernels require, and in 32 bits where that is enough."""
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
    # A vocabulary contains only tokens that occurred, but with few texts almost all buckets are empty.
    is_dense = shape[0] * shape[1] <= max(0 if isinstance(coding, Buckets) else DENSE_CELLS, 3 * len(codes))
    return TokenTally(coding, total, held, is_dense=is_dense)


def keeps_token_rows(data: TextRows) -> bool:
    """Return whether rows of tokens will be read again and are small enough to keep."""
    return data.asked_again and data.texts.units() <= _FEW


def tally_and_keep(
    data: TextRows,
    classes: Positions,
    weight: Floats | None,
    n_classes: int,
    features: Sequence[TokenFeatures],
    kernels: Kernels,
) -> list[TokenTally]:
    """Return weights of texts that contain each token, without occurrences, and keep the rows of tokens in ``data``."""
    found = kernels.count_tokens(
        data.texts,
        [TokenFeatures(tokenizer, _sparing(coding)) for tokenizer, coding in features],
        grow=True,
        presence=True,
    )
    data.counted[:] = [
        (TokenFeatures(feature.tokenizer, one.coding), one.rows) for feature, one in zip(features, found, strict=True)
    ]
    totals = [kernels.tally(one.rows, classes, weight, n_classes, 0.0).total for one in found]
    return [
        _presence_tally(feature.coding, one.coding, total)
        for feature, one, total in zip(features, found, totals, strict=True)
    ]


def _sparing(coding: Coding) -> Coding:
    """Return a coding with codes only for the buckets that occur."""
    return SomeBuckets(coding.bits, buckets=np.empty(0, dtype=np.int32)) if isinstance(coding, Buckets) else coding


def _presence_tally(queried: Coding, found: Coding, total: Any) -> TokenTally:
    if not isinstance(found, SomeBuckets):
        return TokenTally(found, None, total)
    from scipy.sparse import csr_array

    indptr, codes, held = sum_rows(total)
    shape = len(indptr) - 1, len(queried)
    return TokenTally(queried, None, csr_array((held, found.buckets[codes], indptr), shape=shape))


def named(
    tokenizer: TokenizerConfig, coding: Coding, codes: Array, texts: TextRows | None, kernels: Kernels
) -> list[str | None]:
    """Return the token of each code; for a bucket, its most frequent token; None if unknown."""
    if isinstance(coding, Vocabulary):
        return list(coding.tokens(codes))
    if texts is None:
        return [None] * len(codes)
    held = _holders(tokenizer, coding, codes, texts, kernels)
    found = kernels.count_tokens(held.texts, [TokenFeatures(tokenizer, Vocabulary())], grow=True)[0]
    assert isinstance(found.coding, Vocabulary)
    names = found.coding.tokens()
    # The most frequent token comes last, so that it is kept.
    order = np.argsort(np.bincount(found.rows.indices, minlength=len(names)), kind="stable")
    bucket = coding.codes(names)[order].tolist()
    by_bucket: Mapping[int, str] = dict(zip(bucket, (names[i] for i in order), strict=True))
    return [by_bucket.get(code) for code in codes.tolist()]


def _holders(tokenizer: TokenizerConfig, coding: Buckets, codes: Array, texts: TextRows, kernels: Kernels) -> TextRows:
    """Return a small set of texts that contains all codes of the others."""
    step = -(-texts.n_rows // _MOST_TEXTS) if texts.n_rows else 1
    some = texts.take(np.arange(0, texts.n_rows, step))
    found: dict[int, int] = {}
    # The tokens of all these texts would take a hundred times their memory.
    for begin, _, part in chunks(some, _AT_ONCE):
        rows = kernels.count_tokens(part.texts, [TokenFeatures(tokenizer, coding)], grow=False)[0].rows
        places = np.flatnonzero(np.isin(rows.indices, codes))
        held, first = np.unique(rows.indices[places], return_index=True)
        holders = begin + np.searchsorted(rows.indptr, places[first], side="right") - 1
        found = dict(zip(held.tolist(), holders.tolist(), strict=True)) | found
    return some.take(np.unique(list(found.values())).astype(np.int64))
