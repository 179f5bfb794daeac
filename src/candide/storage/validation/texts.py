"""Checks of text models: how texts are tokenized, and token counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...families.terms import TokenLook
from ...families.text import TextFamily
from ...families.text_likelihood import BandName
from ...kernels.token_bins import KNOTS
from ...kernels.tokenizer import TokenizerConfig
from ...kernels.vocabulary import Buckets, Vocabulary
from ...stacking.token_views import StackedTokenViews
from ...statistics.texts import TextStatistics
from ...statistics.token_counts import TokenCounts
from ..errors import require
from ..registry import name_of
from .families import check_prior
from .predicates import are_finite, are_weights
from .statistics import check_counts, check_rows
from .weights import check_weights

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
    require(len(statistics.looks) == len(family.looks) > 0, "the numbers of looks and of token counts differ")
    for look, sums in zip(family.looks, statistics.looks, strict=True):
        _check_tokens(look, sums, n_classes)
        require(np.allclose(sums.counts.rows, statistics.rows), "looks at the same texts differ in weight")
    # Both need the number of texts that contain a token.
    needed = family.limits.min_df > 1 or family.looks[0].weighting == "tfidf"
    known = statistics.looks[0].held is not None or statistics.looks[0].counts.presence
    require(known or not needed, "the numbers of texts with a token are missing")
    inner, first = family.inner, statistics.looks[0].counts
    known = first.presence or statistics.looks[0].held is not None
    require(
        family.limits.min_df <= 1 or known,
        "min_df limits its tokens, and the numbers of texts with a token are missing",
    )
    require(name_of(type(inner)) != "bernoulli family" or first.presence, "the counts are not counts of presence")
    check_prior(inner.prior, n_classes, first.cells.shape[1])


def check_text_family(family: TextFamily) -> None:
    """Check the token features of a text family."""
    require(family.terms is None, "the family of a plan is resolved, which only fitted families are")
    require(name_of(type(family.inner)) in _OF_COUNTS, "the family of tokens is not one of counts")
    names = [look.name for look in family.looks]
    require(len(set(names)) == len(names), "two looks at texts have the same name")
    limits = family.limits
    require(
        limits.min_df >= 1 and (limits.max_features is None or limits.max_features >= 1), "its limits allow no token"
    )
    for look in family.looks:
        _check_recipe(look.recipe)


def _check_recipe(recipe: TokenizerConfig) -> None:
    require(recipe.tokenizer is None, "a tokenizer is a function, which a file may not contain")
    require(recipe.ngrams[1] <= _MAX_PIECES, f"tokens have {recipe.ngrams[1]} pieces, more than {_MAX_PIECES}")
    require(
        recipe.min_length <= _MAX_CHARACTERS,
        f"the minimum length of words is {recipe.min_length} characters, more than {_MAX_CHARACTERS}",
    )
    require(len(recipe.pattern or "") <= _MAX_CHARACTERS, "a pattern is too long")


def _check_tokens(look: TokenLook, sums: TokenCounts, n_classes: int) -> None:
    """Check that the counts of one look match its vocabulary."""
    coding, theirs = sums.coding, look.coding
    if isinstance(coding, Buckets) or isinstance(theirs, Buckets):
        require(coding == theirs, "a look and its counts code tokens in different ways")
    require(sums.fixed == look.fixed, "a look and its counts differ in whether the vocabulary is fixed")
    require(check_counts(sums.counts, n_classes) == len(coding), "the numbers of tokens and of counts differ")
    require(
        sums.counts.presence == look.presence and sums.counts.missing is None, "the counts are not those of the look"
    )
    require(
        sums.dropped.tokens >= 0 and are_weights(np.array([sums.dropped.weight])),
        "the weight of pruned tokens is invalid",
    )
    if sums.held is not None:
        require(check_counts(sums.held, 1) == len(coding), "the numbers of tokens and of texts with a token differ")
    require(
        look.presence or sums.held is not None or not look.frequencies, "the numbers of texts with a token are missing"
    )


def check_token_views(stacked: StackedTokenViews, family: TextFamily, n_classes: int) -> None:
    """Check that the weights of token bins are in the order of the bins."""
    used = set(stacked.looks)
    kinds = ("the class", "the others") if n_classes > 2 else ("the class",)
    looks = [look.name for look in family.looks if look.name in used]
    names = [BandName(look, by, band) for look in looks for by in kinds for band in range(len(KNOTS))]
    require(len(names) > 0 and stacked.names == names, "the token bins are not those of the looks at texts")
    check_weights(stacked.weights, len(names), n_classes)


def check_refinement(refinement: Refinement, n_classes: int) -> None:
    """Check that a refinement has a weight for every token and class."""
    require(
        len(refinement.looks) == len(refinement.weights) > 0, "the numbers of looks and weights of a refinement differ"
    )
    for look, weights in zip(refinement.looks, refinement.weights, strict=True):
        _check_recipe(look.recipe)
        require(isinstance(look.coding, Vocabulary), "a refinement has no vocabulary")
        right = weights.dtype == np.float32 and weights.flags.c_contiguous
        shaped = weights.shape == (len(look.coding), n_classes)
        require(
            right and shaped and are_finite(weights),
            "a refinement does not have a finite weight for each token and class",
        )
