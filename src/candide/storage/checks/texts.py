"""Looks at texts, and sums of their tokens."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...families import Bernoulli, Complement, Multinomial
from ...families.terms import TokenLook
from ...families.text import TextFamily
from ...families.text_likelihood import BandName
from ...kernels.token_bins import KNOTS
from ...kernels.tokenizer import TokenizerConfig
from ...kernels.vocabulary import Buckets, Vocabulary
from ...stacking.refinement import Refinement
from ...stacking.token_views import StackedTokenViews
from ...statistics.texts import TextStatistics
from ...statistics.token_counts import TokenCounts
from ..sound import are_finite, are_weights, require
from .families import check_prior
from .statistics import check_counts, check_rows
from .views import check_mixture

# Words or characters of a token, and characters of a pattern or a shortest word.
_MOST_PIECES, _MOST_CHARACTERS = 1 << 10, 1 << 16


def check_texts(family: TextFamily, statistics: Any, n_classes: int) -> None:
    """What is known of texts goes with how they are looked at."""
    require(isinstance(statistics, TextStatistics), f"texts are no {type(statistics).__name__}")
    check_rows(statistics.rows, n_classes)
    check_text_family(family)
    require(len(statistics.looks) == len(family.looks) > 0, "there are other looks than sums of tokens")
    for look, sums in zip(family.looks, statistics.looks, strict=True):
        _check_tokens(look, sums, n_classes)
        require(np.allclose(sums.counts.rows, statistics.rows), "looks at the same texts differ in their weight")
    # Both need to know how many texts hold a token.
    asked = family.limits.min_df > 1 or family.looks[0].weighting == "tfidf"
    known = statistics.looks[0].held is not None or statistics.looks[0].counts.presence
    require(known or not asked, "texts that hold a token are not counted")
    inner, first = family.inner, statistics.looks[0].counts
    known = first.presence or statistics.looks[0].held is not None
    require(
        family.limits.min_df <= 1 or known, "min_df limits its tokens, and the texts that hold them are not counted"
    )
    require(not isinstance(inner, Bernoulli) or first.presence, "counts are no presences")
    check_prior(inner.prior, n_classes, first.cells.shape[1])


def check_text_family(family: TextFamily) -> None:
    """How texts are looked at."""
    require(family.terms is None, "a family is settled, and plans hold none that are")
    require(
        isinstance(family.inner, (Bernoulli, Complement, Multinomial)), "tokens have a family that they cannot have"
    )
    names = [look.name for look in family.looks]
    require(len(set(names)) == len(names), "two looks at texts have one name")
    limits = family.limits
    require(limits.min_df >= 1 and (limits.max_features is None or limits.max_features >= 1), "limits allow no token")
    for look in family.looks:
        _check_recipe(look.recipe)


def _check_recipe(recipe: TokenizerConfig) -> None:
    require(recipe.tokenizer is None, "a file holds no functions")
    require(recipe.ngrams[1] <= _MOST_PIECES, f"tokens of {recipe.ngrams[1]} pieces are beyond {_MOST_PIECES}")
    require(recipe.min_length <= _MOST_CHARACTERS, f"words of {recipe.min_length} characters are too long")
    require(len(recipe.pattern or "") <= _MOST_CHARACTERS, "a pattern is too long")


def _check_tokens(look: TokenLook, sums: TokenCounts, n_classes: int) -> None:
    """The sums of one look."""
    coding, theirs = sums.coding, look.coding
    if isinstance(coding, Buckets) or isinstance(theirs, Buckets):
        require(coding == theirs, "a look and its sums number tokens in different ways")
    require(sums.fixed == look.fixed, "a vocabulary is given to a look or to its sums alone")
    require(check_counts(sums.counts, n_classes) == len(coding), "there are other tokens than sums of them")
    require(sums.counts.presence == look.presence and sums.counts.missing is None, "sums are not what the look counts")
    require(sums.dropped.tokens >= 0 and are_weights(np.array([sums.dropped.weight])), "pruned tokens weigh no number")
    if sums.held is not None:
        require(check_counts(sums.held, 1) == len(coding), "there are other tokens than texts that hold them")
    require(look.presence or sums.held is not None or not look.frequencies, "texts that hold a token are not counted")


def check_bands(bands: StackedTokenViews, family: TextFamily, n_classes: int) -> None:
    """The weights of bands stand in the order of what they weigh."""
    heard = set(bands.looks)
    kinds = ("the class", "the others") if n_classes > 2 else ("the class",)
    looks = [look.name for look in family.looks if look.name in heard]
    names = [BandName(look, by, band) for look in looks for by in kinds for band in range(len(KNOTS))]
    require(len(names) > 0 and bands.names == names, "bands are not those of the looks at texts")
    check_mixture(bands.weights, len(names), n_classes)


def check_refinement(refinement: Refinement, n_classes: int) -> None:
    """A weight for every token and class."""
    require(len(refinement.looks) == len(refinement.weights) > 0, "a refinement has other looks than weights")
    for look, weights in zip(refinement.looks, refinement.weights, strict=True):
        _check_recipe(look.recipe)
        require(isinstance(look.coding, Vocabulary), "a refinement names no tokens")
        right = weights.dtype == np.float32 and weights.flags.c_contiguous
        shaped = weights.shape == (len(look.coding), n_classes)
        require(right and shaped and are_finite(weights), "a refinement has not a weight for each token and class")
