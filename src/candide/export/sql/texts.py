"""A model of texts as steps of a query: texts are cut into tokens, which are joined with a table of weights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...exceptions import ParameterError
from ...families.feature_sets import Weighting
from ...families.linear import LinearTerm
from ...families.text_likelihood import TextLikelihood
from ...kernels import Kernels
from ...kernels.layouts import Array, Floats, Sparse
from ...kernels.tokenizer import TokenizerConfig
from ...kernels.vocabulary import Coding, Vocabulary
from ...model.classifier import Classifier
from .dialects import Dialect
from .query import ROWS, Own, Query, clipped, total
from .tokens import text_functions

# The column of the table that contains the texts.
COLUMN = "text"
# Numbers that a query may hold for its tokens: 2^22 of them take 80 MB.
_MOST_WEIGHTS = 1 << 22
# The name of the feature set that queries can make.
_WORDS = "words"


class TokenScores(NamedTuple):
    """Tokens with their weights, and how the sums of the weights of a text become scores."""

    config: TokenizerConfig
    weighting: Weighting
    tokens: list[str]
    weights: dict[str, Floats]  # columns of the table of tokens
    scores: dict[str, str]  # expressions of their sums


def write_text_scores(model: Classifier, classes: Sequence[int], query: Query, own: Own, *, counts: bool) -> int:
    """Write the steps up to the scores of some classes; return the number of limits.

    With ``counts``, the last step has the column ``amount``: the number of tokens, known or not.
    """
    likelihood, functions = model.likelihood, text_functions(query.dialect)
    assert isinstance(likelihood, TextLikelihood)
    views = None if model.fitted is None else model.fitted.views
    if views is None:
        found = _plain_scores(likelihood, model.scorer.offset, classes, query.dialect)
    else:
        found = _stacked_scores(model, views, classes, query.dialect)
    query.fence = functions.fence
    query.start(own.source, {**own.columns(), "text": functions.read(f"{ROWS}.{query.dialect.name_of(COLUMN)}")})
    query.cte("texts", {"text": "text", "id": functions.key}, "(SELECT DISTINCT text FROM inputs) AS distinct_texts")
    alphabet = set("".join([*found.tokens, *found.config.stop_words]))
    query.cte("words", *functions.words(functions.spaced_words("text", found.config, alphabet)))
    _write_tokens(query, found.config, counts=counts)
    query.raw("weights", functions.table(found.tokens, found.weights))
    _write_sums(query, found)
    joins = ["LEFT JOIN texts ON texts.text = inputs.text", "LEFT JOIN sums ON sums.id = texts.id"]
    scores = dict(found.scores)
    if counts:
        query.cte("lengths", {"id": "id", "amount": "COUNT(*)"}, "tokens GROUP BY id")
        joins.append("LEFT JOIN lengths ON lengths.id = texts.id")
        scores["amount"] = "COALESCE(lengths.amount, 0)"
    query.step("scores", scores, joins)
    return len(found.scores) // len(classes) - 1 if classes else 0


def _plain_scores(likelihood: TextLikelihood, offset: Floats, classes: Sequence[int], dialect: Dialect) -> TokenScores:
    """Return the weights of a likelihood that is linear in the weights of tokens."""
    known, terms = likelihood.known, _linear_terms(likelihood)
    config, weighting = known.feature_set.tokenizer, known.feature_set.weighting
    tokens, codes = _possible_tokens(config, _vocabulary(config, known.coding).tokens())
    _check_size(len(tokens) * len(classes) * len(terms))
    factor = 1.0 if known.factor is None else known.factor[codes]
    weights = {f"{name}{k}": term.dense()[0][k][codes] * factor for name, term in terms.items() for k in classes}
    bases = {name: term.base + (offset if name == "s" else 0.0) for name, term in terms.items()}
    scores = {
        f"{name}{k}": f"{dialect.first_number(float(base[k]))} + COALESCE(sums.{name}{k}, 0.0)"
        for name, base in bases.items()
        for k in classes
    }
    return TokenScores(config, weighting, tokens, weights, scores)


def _linear_terms(likelihood: TextLikelihood) -> dict[str, LinearTerm]:
    """Return the term of the scores and those of the limits, by the names of their columns without the class."""
    finite, limits = likelihood.inner.terms
    terms = {"s": finite, **{f"l{i}_": limit for i, limit in enumerate(limits)}}
    linear = {name: own[0] for name, own in terms.items() if len(own) == 1 and isinstance(own[0], LinearTerm)}
    if len(linear) == len(terms):
        return linear
    raise ParameterError(
        "family='polya' scores tokens with the gamma function, which few databases support; train TextNB('multinomial')"
    )


def _stacked_scores(model: Classifier, views: Any, classes: Sequence[int], dialect: Dialect) -> TokenScores:
    """Return the contributions of tokens to the views of words, whose sums are clipped and weighted."""
    likelihood: Any = model.likelihood
    used = views.without_unused()
    refined = model.fitted is not None and model.fitted.refinement is not None
    if used.feature_sets != (_WORDS,) or refined:
        problem = (
            "refine=True" if used.feature_sets == (_WORDS,) else f"the feature sets {', '.join(used.feature_sets)}"
        )
        raise ParameterError(
            f"this model uses {problem}, which cannot be done exactly in SQL; train TextNB(feature_sets=['words']) or "
            "TextNB('multinomial'), or predict with candide"
        )
    place = [one.name for one in likelihood.family.feature_sets].index(_WORDS)
    feature_set, sums = likelihood.family.feature_sets[place], likelihood.statistics.feature_sets[place]
    codes = np.flatnonzero(sums.weight > 0)
    vocabulary = _vocabulary(feature_set.tokenizer, sums.coding)
    tokens, places = _possible_tokens(feature_set.tokenizer, vocabulary.tokens(codes))
    shown = _token_views(likelihood, codes[places], len(sums.coding))
    weighed = [view for view, weight in enumerate(used.weights.weight) if weight.any()]
    _check_size(len(tokens) * len(classes) * len(weighed))
    scale, limit, weight = used.weights.scale, used.weights.limit, used.weights.weight
    weights = {f"v{view}_{k}": shown[view, :, k] / scale[view] for view in weighed for k in classes}
    scores = {}
    for k in classes:
        parts = [
            f"{dialect.number(weight[view, k])} * "
            f"{clipped(f'COALESCE(sums.v{view}_{k} / SQRT(1.0 + sums.n), 0.0)', float(limit[view]), dialect)}"
            for view in weighed
        ]
        scores[f"s{k}"] = total([dialect.first_number(float(used.weights.bias[k])), *parts])
    return TokenScores(feature_set.tokenizer, feature_set.weighting, tokens, weights, scores)


def _token_views(likelihood: TextLikelihood, codes: Array, n_codes: int) -> Floats:
    """Return the contributions of tokens to the views of words without their mean, ``(views, tokens, classes)``."""
    n = len(codes)
    rows = Sparse(np.arange(n + 1), codes.astype(np.int64), np.ones(n), n_codes)
    # Scores are divided by the root of one plus the number of tokens, which is √2 for a single token.
    scores = np.sqrt(2.0) * likelihood.token_scores(_WORDS, rows, Kernels())
    return np.asarray(scores - scores.mean(axis=2, keepdims=True))


def _possible_tokens(config: TokenizerConfig, tokens: list[str]) -> tuple[list[str], list[int]]:
    """Return the tokens that texts can contain, and their places."""
    word = rf"\w{{{config.min_length},}}"
    word = rf"(?:{word}|[^\w\s])" if config.marks else word
    low, high = config.ngrams
    possible = re.compile(f"{word}(?: {word}){{{low - 1},{high - 1}}}").fullmatch
    places = [
        place
        for place, token in enumerate(tokens)
        if possible(token) and config.stop_words.isdisjoint(token.split(" "))
    ]
    if not places:
        raise ParameterError("this model has no tokens that texts can contain; fit it on more texts")
    return [tokens[place] for place in places], places


def _vocabulary(config: TokenizerConfig, coding: Coding) -> Vocabulary:
    """Return the tokens of a model, if databases can make them."""
    problem = _problem(config)
    if problem is None and isinstance(coding, Vocabulary):
        return coding
    what, setting = problem or ("hashes tokens", "buckets=None")
    raise ParameterError(
        f"this model {what}, which cannot be done exactly in SQL; train TextNB('multinomial', {setting}), or predict "
        "with candide"
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
            f"this model has {n_weights:,} weights of tokens; a query may have at most {_MOST_WEIGHTS:,}; train "
            "TextNB('multinomial') with max_features or min_df, or prune the model, to keep fewer tokens"
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


def _write_sums(query: Query, found: TokenScores) -> None:
    """Write the step ``sums``: the weights of the known tokens of each text, added up, and their number."""
    source, times = "tokens", ""
    if found.weighting == "binary":
        source = "(SELECT DISTINCT id, token FROM tokens) AS tokens"
    elif found.weighting == "log":
        counted = f"1.0 + LN({query.dialect.first_number(1)} * COUNT(*)) AS times"
        source, times = f"(SELECT id, token, {counted} FROM tokens GROUP BY id, token) AS tokens", "times * "
    sums = {name: f"SUM({times}{name})" for name in found.weights}
    joined = f"{source} JOIN weights ON weights.token = tokens.token GROUP BY id"
    query.cte("sums", {"id": "id", **sums, "n": f"SUM({query.dialect.first_number(1)})"}, joined)
