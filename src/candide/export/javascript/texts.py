"""Text models as data of a module: tokenizers, the characters that they distinguish, tokens and their weights."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...exceptions import ParameterError
from ...families.feature_sets import KnownTokens
from ...families.text_likelihood import TextLikelihood
from ...kernels.layouts import Array, Floats
from ...kernels.token_bins import TokenBins
from ...kernels.tokenizer import TokenizerConfig
from ...kernels.vocabulary import Buckets, Coding, SomeBuckets, Vocabulary
from ...stacking.refinement import Refinement
from ...stacking.token_views import StackedTokenViews
from ..characters import all_codes, around_sigma, characters_of, lower_case, runs_of, without_accents
from .arrays import packed, packed_integers, packed_stream
from .terms import written_terms

_HANGUL = range(0xAC00, 0xD7A4)
# Weights (tokens × classes) that a module may hold: 2^26 of them take up to 700 MB.
_MOST_WEIGHTS = 1 << 26


def tokenizer_data(config: TokenizerConfig) -> dict[str, Any]:
    """Return the settings of a tokenizer."""
    if config.in_python:
        setting = "pattern" if config.pattern is not None else "tokenizer"
        raise ParameterError(
            f"this model splits texts with a custom {setting}, which runs only in Python; train it without {setting} "
            "to export it to JavaScript"
        )
    low, high = config.ngrams
    return {
        "analyzer": config.analyzer,
        "low": low,
        "high": high,
        "lowercase": config.lowercase,
        "accents": config.strip_accents,
        "foldNumbers": config.fold_numbers,
        "minLength": config.min_length,
        "marks": config.marks,
        "ends": config.ends,
        "stop": sorted(config.stop_words),
    }


def unicode_data(tokenizers: list[TokenizerConfig]) -> dict[str, Any]:
    """Return the tables of characters that tokenizers read."""
    known = _characters()
    made = {"flags": known.flags, "lowerRuns": known.lower_runs, "lowerTexts": known.lower_texts}
    return {**made, "bare": _without_accents()} if any(config.strip_accents for config in tokenizers) else made


def plain_data(likelihood: TextLikelihood) -> dict[str, Any]:
    """Return a model of one feature set: the weights of its tokens."""
    known, terms = likelihood.known, likelihood.inner.terms
    codes, others = _scored_codes(known)
    n_weights = len(codes) * len(likelihood.statistics.rows)
    if n_weights > _MOST_WEIGHTS:
        raise ParameterError(
            f"this model has {n_weights:,} weights (tokens times classes); a JavaScript module may have at most "
            f"{_MOST_WEIGHTS:,}; train with max_features or min_df to keep fewer tokens"
        )
    factor = None if known.factor is None else packed(known.factor[codes])
    return {
        "tokenizer": tokenizer_data(known.feature_set.tokenizer),
        "weighting": known.feature_set.weighting,
        "coding": _coding(known.coding, codes if others < 0 else codes[:-1]),
        "others": others,
        "factor": factor,
        "terms": written_terms(terms.finite, codes),
        "limitTerms": [written_terms(group, codes) for group in terms.limits],
    }


def _scored_codes(known: KnownTokens) -> tuple[Array, int]:
    """Return the codes whose weights are written, and the place of those for all other tokens, or -1.

    Buckets that no training text used have the same weights, which are written once, after all others.
    """
    coding, total = known.coding, known.counts.total
    if isinstance(coding, (Vocabulary, SomeBuckets)):
        return np.arange(len(coding)), -1
    used = np.zeros(len(coding), dtype=bool)
    if isinstance(total, np.ndarray):
        used |= total.any(axis=0)
    else:
        used[total.indices[total.data != 0]] = True
    codes, unused = np.flatnonzero(used), np.flatnonzero(~used)[:1]
    return np.concatenate([codes, unused]), len(codes) if len(unused) else -1


def stacked_data(views: StackedTokenViews, likelihood: TextLikelihood, refinement: Refinement | None) -> dict[str, Any]:
    """Return a model of several feature sets: the counts of their tokens, and the weights of bins."""
    used = views.without_unused()
    return {
        "bias": packed(used.weights.bias),
        "featureSets": [_feature_set(used, likelihood, name) for name in used.feature_sets],
        "refinement": [] if refinement is None else _refinement(refinement),
    }


def stacked_tokenizers(
    views: StackedTokenViews, likelihood: TextLikelihood, refinement: Refinement | None
) -> list[TokenizerConfig]:
    """Return the tokenizers that ``stacked_data`` writes."""
    names = views.without_unused().feature_sets
    found = [one.tokenizer for one in likelihood.family.feature_sets if one.name in names]
    return found + ([] if refinement is None else [one.tokenizer for one in refinement.feature_sets])


def _feature_set(views: StackedTokenViews, likelihood: TextLikelihood, name: str) -> dict[str, Any]:
    place = [one.name for one in likelihood.family.feature_sets].index(name)
    sums = likelihood.statistics.feature_sets[place]
    codes, table = likelihood.token_bins(place)
    return {
        "name": name,
        "tokenizer": tokenizer_data(likelihood.family.feature_sets[place].tokenizer),
        "coding": _coding(sums.coding, codes),
        "counts": _counts(table),
        "size": packed(table.size),
        "alpha": table.alpha,
        "knots": list(table.knots),
        "complement": table.complement,
        "nTokens": table.n_tokens,
        "views": [
            {
                "kind": int(each.by != "the class"),
                "bin": each.bin,
                "scale": float(views.weights.scale[view]),
                "limit": float(views.weights.limit[view]),
                "weight": views.weights.weight[view].tolist(),
            }
            for view, each in enumerate(views.names)
            if each.feature_set == name and views.weights.weight[view].any()
        ],
    }


def _counts(table: TokenBins) -> dict[str, Any]:
    """Token by token, in the order of their codes: how many classes have it, then class and count of each."""
    begins, sizes = table.indptr[table.place], np.diff(table.indptr)[table.place]
    ends = np.cumsum(sizes)
    entries = np.repeat(begins - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
    classes, count = table.classes[entries], table.count[entries]
    whole = bool((count == np.trunc(count)).all()) and count.max(initial=0.0) < 1 << 53
    parts = [part for part, is_written in ((classes, table.n_classes > 1), (count, whole)) if is_written]
    width = len(parts)
    heads = (ends - sizes) * width + np.arange(len(sizes))
    numbers = np.zeros(len(sizes) + width * len(entries))
    rest = np.ones(len(numbers), dtype=bool)
    numbers[heads], rest[heads] = sizes, False
    if width:
        numbers[rest] = np.column_stack(parts).astype(np.float64).ravel()
    made = {"tokens": len(sizes), "entries": len(entries), "stream": packed_stream(numbers)}
    return made if whole else {**made, "values": packed(count)}


def _refinement(refinement: Refinement) -> list[dict[str, Any]]:
    return [
        {
            "name": feature_set.name,
            "tokenizer": tokenizer_data(feature_set.tokenizer),
            "coding": _coding(feature_set.coding, np.arange(len(feature_set.coding))),
            "weights": _weights(weights),
        }
        for feature_set, weights in zip(refinement.feature_sets, refinement.weights, strict=True)
    ]


def _weights(weights: Floats) -> Any:
    return packed(np.asarray(weights, dtype=np.float64))


def _coding(coding: Coding, codes: Array) -> dict[str, Any]:
    """Return how tokens are found: by name, or by their bucket."""
    if isinstance(coding, Buckets):
        buckets = coding.buckets[codes] if isinstance(coding, SomeBuckets) else codes
        return {"bits": coding.bits, "steps": packed_integers(np.diff(buckets, prepend=0))}
    tokens = coding.tokens(codes)
    joined = not any("\n" in token for token in tokens) and bool(tokens)
    return {"tokens": "\n".join(tokens) if joined else tokens}


class _Characters(NamedTuple):
    """Flags of characters as ranges, and the characters that lower case changes."""

    flags: list[str]  # of WORD, SPACE, DIGIT, IGNORABLE and CASED: gaps and lengths in base 36
    lower_runs: list[list[int]]  # first character, number, step, change
    lower_texts: list[list[Any]]  # characters that become several


@lru_cache(maxsize=1)
def _characters() -> _Characters:
    """Return the tables of this Python."""
    flags = [_ranges(characters_of(pattern)) for pattern in (r"\w", r"\s", r"\d")]
    return _Characters([*flags, *map(_ranges, around_sigma())], _runs(lower_case()), _several(lower_case()))


@lru_cache(maxsize=1)
def _without_accents() -> list[list[Any]]:
    """Return the characters that the removal of accents changes; syllables of Hangul fall apart by a rule."""
    pairs = ((code, without_accents(chr(code))) for code in all_codes() if code >= 0x80 and code not in _HANGUL)
    return [[code, text] for code, text in pairs if text != chr(code)]


def _ranges(codes: Iterable[int]) -> str:
    """Gaps and lengths in turn.

    >>> _ranges([2, 3, 50])
    '2 2 1a 1'
    """
    numbers, end = [], 0
    for first, last in runs_of(codes):
        numbers += [first - end, last + 1 - first]
        end = last + 1
    return " ".join(np.base_repr(number, 36).lower() for number in numbers)


def _runs(lower: dict[int, str]) -> list[list[int]]:
    """Runs of characters with one change, at steps of 1 or 2."""
    out: list[list[int]] = []
    for code, text in lower.items():
        if len(text) > 1:
            continue
        change = ord(text) - code
        if out and out[-1][3] == change:
            first, number, step, _ = out[-1]
            if code == first + number * step or (number == 1 and code == first + 2):
                out[-1] = [first, number + 1, code - first if number == 1 else step, change]
                continue
        out.append([code, 1, 1, change])
    return out


def _several(lower: dict[int, str]) -> list[list[Any]]:
    return [[code, text] for code, text in lower.items() if len(text) > 1]
