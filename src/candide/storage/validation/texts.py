"""Checks of text models: how texts are tokenized, and token counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...families.feature_sets import FeatureSet
from ...families.text import TextFamily
from ...families.text_likelihood import TokenBinName
from ...kernels.token_bins import KNOTS
from ...kernels.tokenizer import TokenizerConfig
from ...kernels.vocabulary import Buckets, Vocabulary
from ...stacking.token_views import StackedTokenViews
from ...statistics.texts import TextStatistics, TokenCounts
from ..errors import require
from ..registry import name_of
from . import are_finite, are_weights, check_weights
from .statistics import check_counts, check_prior, check_rows

if TYPE_CHECKING:
    from ...stacking.refinement import Refinement

# Words or characters of a token, and characters of a pattern or a shortest word.
_MAX_PIECES, _MAX_CHARACTERS = 1 << 10, 1 << 16
# Families that tokens may have.
_OF_COUNTS = ("bernoulli family", "complement family", "multinomial family")


def check_texts(family: TextFamily, statistics: Any, n_classes: int) -> None:
    """Check that the statistics of texts match the token features of the family."""
    require(isinstance(statistics, TextStatistics), f"a text model does not use {type(statistics).__name__}")
    check_rows(statistics.rows, n_classes)
    check_text_family(family)
    require(
        len(statistics.feature_sets) == len(family.feature_sets) > 0,
        "the numbers of feature sets and of token counts differ",
    )
    for feature_set, sums in zip(family.feature_sets, statistics.feature_sets, strict=True):
        _check_tokens(feature_set, sums, n_classes)
        require(
            np.allclose(sums.counts.rows, statistics.rows),
            "the feature sets of the same texts have different weights",
        )
    # Both need the number of texts that contain a token.
    needed = family.limits.min_df > 1 or family.feature_sets[0].weighting == "tfidf"
    known = statistics.feature_sets[0].held is not None or statistics.feature_sets[0].counts.presence
    require(known or not needed, "document frequencies are missing")
    inner, first = family.inner, statistics.feature_sets[0].counts
    require(name_of(type(inner)) != "bernoulli family" or first.presence, "the counts are not presence counts")
    check_prior(inner.prior, n_classes, first.cells.shape[1])


def check_text_family(family: TextFamily) -> None:
    """Check the token features of a text family."""
    require(family.terms is None, "the family of a bound spec has fitted parameters")
    require(name_of(type(family.inner)) in _OF_COUNTS, "the token family is not a count family")
    names = [feature_set.name for feature_set in family.feature_sets]
    require(len(set(names)) == len(names), "two feature sets have the same name")
    limits = family.limits
    require(
        limits.min_df >= 1 and (limits.max_features is None or limits.max_features >= 1),
        "its limits exclude every token",
    )
    for feature_set in family.feature_sets:
        _check_tokenizer(feature_set.tokenizer)


def _check_tokenizer(tokenizer: TokenizerConfig) -> None:
    require(tokenizer.tokenizer is None, "its tokenizer is a function, which model files cannot contain")
    require(
        tokenizer.ngrams[1] <= _MAX_PIECES,
        f"its n-grams have up to {tokenizer.ngrams[1]} tokens; expected at most {_MAX_PIECES}",
    )
    require(
        tokenizer.min_length <= _MAX_CHARACTERS,
        f"the minimum length of words is {tokenizer.min_length} characters, more than {_MAX_CHARACTERS}",
    )
    require(len(tokenizer.pattern or "") <= _MAX_CHARACTERS, "a pattern is too long")


def _check_tokens(feature_set: FeatureSet, sums: TokenCounts, n_classes: int) -> None:
    """Check that the counts of one feature set match its vocabulary."""
    coding, theirs = sums.coding, feature_set.coding
    if isinstance(coding, Buckets) or isinstance(theirs, Buckets):
        require(coding == theirs, "a feature set and its counts encode tokens differently")
    require(sums.fixed == feature_set.fixed, "a feature set and its counts differ in whether the vocabulary is fixed")
    require(check_counts(sums.counts, n_classes) == len(coding), "the numbers of tokens and of counts differ")
    require(
        sums.counts.presence == feature_set.presence and sums.counts.missing is None,
        "the counts do not match the feature set",
    )
    require(
        sums.dropped.tokens >= 0 and are_weights(np.array([sums.dropped.weight])),
        "the weight of pruned tokens is invalid",
    )
    if sums.held is not None:
        require(check_counts(sums.held, 1) == len(coding), "the numbers of tokens and document frequencies differ")
    require(
        feature_set.presence or sums.held is not None or not feature_set.frequencies,
        "document frequencies are missing",
    )


def check_token_views(stacked: StackedTokenViews, family: TextFamily, n_classes: int) -> None:
    """Check that the weights of token bins are in the order of the bins."""
    used = set(stacked.feature_sets)
    kinds = ("the class", "the others") if n_classes > 2 else ("the class",)
    feature_sets = [feature_set.name for feature_set in family.feature_sets if feature_set.name in used]
    names = [
        TokenBinName(feature_set, by, bin_)
        for feature_set in feature_sets
        for by in kinds
        for bin_ in range(len(KNOTS))
    ]
    require(len(names) > 0 and stacked.names == names, "the token bins do not match the feature sets")
    check_weights(stacked.weights, len(names), n_classes)


def check_refinement(refinement: Refinement, n_classes: int) -> None:
    """Check that a refinement has a weight for every token and class."""
    require(
        len(refinement.feature_sets) == len(refinement.weights) > 0,
        "the numbers of feature sets and weights of a refinement differ",
    )
    for feature_set, weights in zip(refinement.feature_sets, refinement.weights, strict=True):
        _check_tokenizer(feature_set.tokenizer)
        require(isinstance(feature_set.coding, Vocabulary), "a refinement has no vocabulary")
        right = weights.dtype == np.float32 and weights.flags.c_contiguous
        shaped = weights.shape == (len(feature_set.coding), n_classes)
        require(
            right and shaped and are_finite(weights),
            "a refinement does not have a finite weight for every token and class",
        )
