"""A model of texts as steps of a query: texts are cut into tokens, which are joined with a table of weights."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...exceptions import ParameterError
from ...families.feature_sets import KnownTokens
from ...families.linear import LinearTerm
from ...families.text_likelihood import TextLikelihood
from ...kernels.layouts import Floats
from ...kernels.tokenizer import TokenizerConfig
from ...kernels.vocabulary import Vocabulary
from .query import ROWS, Own, Query
from .tokens import text_functions

# The column of the table that contains the texts.
COLUMN = "text"
# Weights (tokens × classes) that a query may hold: 2^22 of them take 80 MB.
_MOST_WEIGHTS = 1 << 22


def write_text_scores(
    likelihood: TextLikelihood, offset: Floats, classes: Sequence[int], query: Query, own: Own, *, counts: bool
) -> int:
    """Write the steps up to the scores of some classes; return the number of limits.

    With ``counts``, the last step has the column ``amount``: the number of tokens, known or not.
    """
    known, groups = likelihood.known, _linear_terms(likelihood)
    tokens, codes = _exported_tokens(known)
    _check_size(len(tokens) * len(classes) * len(groups))
    config, functions = known.feature_set.tokenizer, text_functions(query.dialect)
    text = functions.read(f"{ROWS}.{query.dialect.name_of(COLUMN)}")
    query.fence = functions.fence
    query.start(own.source, {**own.columns(), "text": text})
    query.cte("texts", {"text": "text", "id": functions.key}, "(SELECT DISTINCT text FROM inputs) AS distinct_texts")
    alphabet = set("".join(tokens)) | set("".join(config.stop_words))
    query.cte("words", *functions.words(functions.spaced_words("text", config, alphabet)))
    _write_tokens(query, config, counts=counts)
    weights = {
        f"{name}{k}": term.dense()[0][k][codes] * (1.0 if known.factor is None else known.factor[codes])
        for name, term in groups.items()
        for k in classes
    }
    query.raw("weights", functions.table(tokens, weights))
    _write_sums(query, known, list(weights))
    joins = ["LEFT JOIN texts ON texts.text = inputs.text", "LEFT JOIN sums ON sums.id = texts.id"]
    if counts:
        query.cte("lengths", {"id": "id", "amount": "COUNT(*)"}, "tokens GROUP BY id")
        joins.append("LEFT JOIN lengths ON lengths.id = texts.id")
    bases = {name: term.base + (offset if name == "s" else 0.0) for name, term in groups.items()}
    scores = {
        f"{name}{k}": f"{query.dialect.first_number(float(base[k]))} + COALESCE(sums.{name}{k}, 0.0)"
        for name, base in bases.items()
        for k in classes
    }
    query.step("scores", {**scores, **({"amount": "COALESCE(lengths.amount, 0)"} if counts else {})}, joins)
    return len(groups) - 1


def _linear_terms(likelihood: TextLikelihood) -> dict[str, LinearTerm]:
    """Return the term of the scores and those of the limits, by the names of their columns without the class."""
    finite, limits = likelihood.inner.terms
    terms = {"s": finite, **{f"l{i}_": limit for i, limit in enumerate(limits)}}
    linear = {name: own[0] for name, own in terms.items() if len(own) == 1 and isinstance(own[0], LinearTerm)}
    if len(linear) == len(terms):
        return linear
    raise ParameterError(
        "family='polya' scores tokens with the gamma function, which few databases support; train "
        "TextNB('multinomial')"
    )


def _exported_tokens(known: KnownTokens) -> tuple[list[str], list[int]]:
    """Return the tokens that texts can contain, and their codes."""
    _refuse(known)
    config = known.feature_set.tokenizer
    word = rf"\w{{{config.min_length},}}"
    low, high = config.ngrams
    possible = re.compile(f"{word}(?: {word}){{{low - 1},{high - 1}}}").fullmatch
    found = [
        (token, code)
        for code, token in enumerate(known.coding.tokens())
        if possible(token) and config.stop_words.isdisjoint(token.split(" "))
    ]
    if not found:
        raise ParameterError("this model has no tokens that texts can contain; fit it on more texts")
    tokens, codes = zip(*found, strict=True)
    return list(tokens), list(codes)


def _refuse(known: KnownTokens) -> None:
    """Raise an error for tokens that databases cannot make."""
    config = known.feature_set.tokenizer
    problem = _problem(config)
    if problem is None and not isinstance(known.coding, Vocabulary):
        problem = "hashes tokens", "buckets=None"
    if problem is not None:
        raise ParameterError(
            f"this model {problem[0]}, which cannot be done exactly in SQL; train TextNB('multinomial', {problem[1]}), "
            "or predict with candide"
        )


def _problem(config: TokenizerConfig) -> tuple[str, str] | None:
    """Return what databases cannot do, and the setting that they can."""
    if config.pattern is not None:
        return "splits texts with a pattern of Python", "pattern=None"
    if config.tokenizer is not None:
        return "splits texts with a function of Python", "tokenizer=None"
    if config.analyzer != "word":
        return f"uses analyzer={config.analyzer!r}", "analyzer='word'"
    if config.strip_accents is not None:
        return "removes accents", "strip_accents=None"
    return None


def _check_size(n_weights: int) -> None:
    if n_weights > _MOST_WEIGHTS:
        raise ParameterError(
            f"this model has {n_weights:,} weights (tokens times classes); a query may have at most "
            f"{_MOST_WEIGHTS:,}; train with max_features or min_df to keep fewer tokens"
        )


def _write_tokens(query: Query, config: TokenizerConfig, *, counts: bool) -> None:
    """Write the step ``tokens``. Words that are left out need not be, where only known tokens are looked for."""
    high, dialect = config.ngrams[1], query.dialect
    if high == 1 and not counts:
        query.cte("tokens", {"id": "id", "token": "word"}, "words")
        return
    conditions = [f"LENGTH(word) >= {config.min_length}"]
    if config.stop_words:
        conditions.append(f"word NOT IN ({', '.join(map(dialect.text, sorted(config.stop_words)))})")
    kept = f"words WHERE {' AND '.join(conditions)}"
    if high == 1:
        query.cte("tokens", {"id": "id", "token": "word"}, kept)
        return
    next_words = {f"word{i}": f"LEAD(word, {i}) OVER (PARTITION BY id ORDER BY place)" for i in range(1, high)}
    query.cte("phrases", {"id": "id", "word0": "word", **next_words}, kept)
    parts = []
    for n in range(config.ngrams[0], high + 1):
        joined = " || ' ' || ".join(f"word{i}" for i in range(n))
        parts.append(f"SELECT id, {joined} AS token FROM phrases WHERE word{n - 1} IS NOT NULL")
    query.cte("tokens", {"id": "id", "token": "token"}, f"({' UNION ALL '.join(parts)}) AS ngrams")


def _write_sums(query: Query, known: KnownTokens, names: list[str]) -> None:
    """Write the step ``sums``: the weights of the tokens of a text, added up."""
    weighting = known.feature_set.weighting
    found, times = "tokens", ""
    if weighting == "binary":
        found = "(SELECT DISTINCT id, token FROM tokens) AS tokens"
    elif weighting == "log":
        counted = f"1.0 + LN({query.dialect.first_number(1)} * COUNT(*)) AS times"
        found, times = f"(SELECT id, token, {counted} FROM tokens GROUP BY id, token) AS tokens", "times * "
    sums = {name: f"SUM({times}{name})" for name in names}
    joined = f"{found} JOIN weights ON weights.token = tokens.token"
    query.cte("sums", {"id": "id", **sums}, f"{joined} GROUP BY id")
