"""Parameters of naive Bayes for texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ..data.texts import read_texts, read_vocabulary
from ..exceptions import InputError, MergeError, ParameterError
from ..families import Bernoulli, Complement, Multinomial
from ..families.feature_sets import NO_LIMITS, WEIGHTINGS, FeatureSet, Limits, Weighting
from ..families.text import TextFamily
from ..kernels.layouts import Array, TextRows
from ..kernels.tokenizer import TokenizerConfig
from ..kernels.vocabulary import Buckets, Coding, Vocabulary
from ..priors import Beta, Dirichlet
from ..stacking.refinement import word_features
from ..statistics.base import Budget
from ..statistics.texts import TokenCounts
from .base import BoundSpec, Previous, Spec
from .parameters import choice, flag, is_whole, number, whole_number
from .schema import Schema

FAMILIES = ("auto", "multinomial", "bernoulli", "complement", "polya")
# Parameters of the plain models.
_PLAIN_PARAMETERS = (
    "alpha", "ngrams", "analyzer", "weighting", "lowercase", "strip_accents", "min_length", "stop_words",
    "fold_numbers", "pattern", "tokenizer", "vocabulary", "min_df", "max_features",
)  # fmt: skip
_MARKED = TokenizerConfig(marks=True, min_length=1)
# Token features of family="auto".
FEATURE_SETS = {
    "words": _MARKED,
    "pairs of words": replace(_MARKED, ngrams=(2, 2), ends=True),
    "places": replace(_MARKED, analyzer="place"),
    "2 or 3 characters": TokenizerConfig("char_wb", ngrams=(2, 3)),
    "4 or 5 characters": TokenizerConfig("char_wb", ngrams=(4, 5)),
}
_BITS, _MOST_BITS = 22, 30

# Bytes of training texts that are kept if a logistic regression is fitted on all of them.
_REFINED_BYTES = 1 << 28


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TextSpec(Spec):
    """Parameters of ``TextNB``."""

    name: ClassVar[str] = "TextNB"
    column_type: ClassVar[str] = "text"
    reads_texts: ClassVar[bool] = True
    keeps_rows: ClassVar[bool] = True
    unlabeled_choices: ClassVar[tuple[str, ...]] = ("drop", "error", "em", "sfe")
    counting: ClassVar[Mapping[str, str]] = {
        "weighting": "weighting",
        "the count of texts with a token (for min_df and 'tfidf')": "frequencies",
        "the tokenizer setting": "feature_sets",
    }

    family: Any = "auto"
    alpha: Any = 1.0
    ngrams: Any = 1
    analyzer: Any = "word"
    weighting: Any = "count"
    lowercase: bool = True
    strip_accents: Any = None
    min_length: int = 2
    stop_words: Any = None
    fold_numbers: bool = False
    pattern: str | None = None
    tokenizer: Any = None
    vocabulary: Any = None
    min_df: int = 1
    max_features: int | None = None
    buckets: Any = "auto"
    feature_sets: Any = None
    refine: bool = False
    fit_prior: bool = True
    class_prior: Any = None

    @property
    def group_bytes(self) -> int:  # type: ignore[override]
        # The tokens of all features of "auto" take a hundred times the memory of a text. Words alone take little
        # memory, so the time of adding up states, once per group, matters more. With "auto", groups of 2 MB take 50%
        # more time, and groups of 16 MB 50% more memory.
        return 1 << 23 if self.family == "auto" else 1 << 25

    def bind(self, schema: Schema, previous: Previous | None = None) -> BoundSpec:
        bound = super().bind(schema, previous)
        family: Any = bound.family
        if previous is not None:
            earlier: Any = previous.bound_spec.family
            bound = replace(bound, family=family.without_feature_sets(earlier.dropped))
        if not flag(self.refine, "refine"):
            return bound
        if self.family != "auto" or self.calibrate is not None:
            raise ParameterError(
                "refine=True requires family='auto' and calibrate=None, because refined probabilities are already "
                f"calibrated; got family={self.family!r} and calibrate={self.calibrate!r}; omit one of the settings"
            )
        if not word_features(family.feature_sets):
            raise ParameterError(
                f"refine=True requires words, but feature_sets is {self.feature_sets!r}; include 'words' or 'pairs of "
                "words'"
            )
        budget = bound.budget
        if budget is not None and budget.unit == "bytes":
            budget = Budget(_REFINED_BYTES)
        return replace(bound, refine=True, budget=budget)

    def _prior_in_score(self) -> bool:
        return bool(self.family != "complement")

    def _alpha_choice(self) -> Literal["evidence", "loo"] | None:
        if not isinstance(self.alpha, str):
            return None
        how = choice(self.alpha, "alpha", ("evidence", "loo"))
        if how == "evidence" and self.family == "complement":
            raise ParameterError(
                "alpha is 'evidence', which requires a density, but complement scores are not a density of the text; "
                "pass alpha='loo' or a number"
            )
        return "loo" if how == "loo" else "evidence"

    def _order(self) -> int | None:
        return 0 if self.family == "auto" else None

    def _family(self, schema: Schema) -> Any:
        kind = choice(self.family, "family", FAMILIES)
        if kind == "auto":
            self._refuse_tokenizer_parameters()
            return auto_family(self.buckets, self.feature_sets)
        if self.feature_sets is not None:
            raise ParameterError(
                f"feature_sets is {self.feature_sets!r}, but family={kind!r} has only one feature set; omit "
                "feature_sets, or pass family='auto'"
            )
        limits, weighting, (coding, fixed) = self._limits(), self._weighting(kind), self._coding()
        # If a token counts once per text, the sums are the numbers of texts that contain it.
        frequencies = weighting == "tfidf" or (limits.min_df > 1 and weighting != "binary")
        feature_set = FeatureSet(self._tokenizer_config(), coding, weighting, fixed, frequencies=frequencies)
        return TextFamily((feature_set,), _token_family(self.alpha, kind), limits)

    def _refuse_tokenizer_parameters(self) -> None:
        """Raise an error for parameters of the plain models, which "auto" does not use."""
        defaults = {field.name: field.default for field in fields(self)}
        for name in _PLAIN_PARAMETERS:
            value, default = getattr(self, name), defaults[name]
            # An array is not compared with None.
            if value is not default and (default is None or value != default):
                raise ParameterError(
                    f"{name} is {value!r}, but family='auto' uses its own token features; choose a family as well, "
                    f"such as family='multinomial', or omit {name}, whose default is {default!r}"
                )

    def _weighting(self, kind: str) -> Weighting:
        weighting = next(way for way in WEIGHTINGS if way == choice(self.weighting, "weighting", WEIGHTINGS))
        if kind != "bernoulli":
            return weighting
        if weighting in ("log", "tfidf"):
            raise ParameterError(
                f"weighting is {weighting!r}, but family='bernoulli' only records whether a token is present; omit "
                "weighting, or choose another family, such as family='multinomial'"
            )
        return "binary"

    def _limits(self) -> Limits:
        limits = Limits(
            whole_number(self.min_df, "min_df"),
            None if self.max_features is None else whole_number(self.max_features, "max_features"),
        )
        if limits != NO_LIMITS and (self.vocabulary is not None or is_whole(self.buckets)):
            numbering = "buckets" if self.vocabulary is None else "vocabulary"
            raise ParameterError(
                f"min_df={self.min_df!r} and max_features={self.max_features!r} cannot be combined with {numbering}, "
                f"because they select tokens by name from the training texts; omit either these or {numbering}"
            )
        return limits

    def _tokenizer_config(self) -> TokenizerConfig:
        return TokenizerConfig(
            self.analyzer, read_ngrams(self.ngrams), flag(self.lowercase, "lowercase"), self.strip_accents,
            self.min_length, _stop_words(self.stop_words), flag(self.fold_numbers, "fold_numbers"), self.pattern,
            self.tokenizer,
        )  # fmt: skip

    def _coding(self) -> tuple[Coding, bool]:
        """Return the coding of tokens, and whether the vocabulary is given."""
        coding = _numbered(None if isinstance(self.buckets, str) and self.buckets == "auto" else self.buckets)
        if self.vocabulary is None:
            return coding, False
        if isinstance(coding, Buckets):
            raise ParameterError(
                "vocabulary and buckets are both given, but only one of them can number the tokens; omit one of them"
            )
        return read_vocabulary(self.vocabulary), True

    # Reading.

    def open(self, X: Any) -> tuple[Schema, TextRows]:
        return Schema(1), self._not_empty(self.encode(X))

    def encode(self, X: Any) -> TextRows:
        return TextRows(read_texts(X))

    def read(self, X: Any, schema: Schema, previous: Previous, *, learning: bool = False) -> TextRows:
        return self._not_empty(self.encode(X)) if learning else self.encode(X)

    @staticmethod
    def _not_empty(data: TextRows) -> TextRows:
        if not data.n_rows:
            raise InputError("found no texts (0 rows); expected at least one; pass texts")
        return data

    def column_names(self, schema: Schema, previous: Previous) -> Array:
        coding = token_counts(previous).coding
        if isinstance(coding, Buckets):
            return np.array([f"bucket {j}" for j in range(len(coding))], dtype=object)
        return np.array(coding.tokens(), dtype=object)

    def table_columns(self, schema: Schema) -> tuple[list[str], dict[str, Any]]:
        return [], {}

    def check_mergeable(self, schemas: tuple[Schema, Schema], models: tuple[Previous, Previous]) -> None:
        gone, gone_there = (sorted(model.bound_spec.family.dropped) for model in models)  # type: ignore[attr-defined]
        if gone != gone_there:
            raise MergeError(
                f"compact() has dropped {gone or 'nothing'} from one model and {gone_there or 'nothing'} from the "
                "other, so their counts cannot be added; merge the models first, then compact the result"
            )
        super().check_mergeable(schemas, models)


def token_counts(model: Any) -> TokenCounts:
    """Return the counts of the tokens within ``min_df`` and ``max_features``, of the first token features."""
    counts: TokenCounts = model.family.terms.within(model.state.statistics.feature_sets[0])
    return counts


def auto_family(buckets: Any = "auto", feature_sets: Any = None) -> TextFamily:
    """Return the family of "auto": words by name, other tokens by name or by hash bucket."""
    coding = _numbered(_BITS if isinstance(buckets, str) and buckets == "auto" else buckets)
    codings = {name: Vocabulary() if name == "words" else coding for name in _validated_names(feature_sets)}
    made = (FeatureSet(FEATURE_SETS[name], code, "binary", name=name) for name, code in codings.items())
    return TextFamily(tuple(made), Multinomial(Dirichlet(0.1)))


def _validated_names(feature_sets: Any) -> list[str]:
    """Return the checked names of feature sets in standard order."""
    if feature_sets is None:
        return list(FEATURE_SETS)
    single = isinstance(feature_sets, str) or not isinstance(feature_sets, Iterable)
    strange = (
        [feature_sets] if single else [feature_set for feature_set in feature_sets if feature_set not in FEATURE_SETS]
    )
    if strange or not len(feature_sets):
        raise ParameterError(
            f"feature_sets is {feature_sets!r}; expected None (all of them) or a list of "
            f"{', '.join(map(repr, FEATURE_SETS))}"
        )
    return [name for name in FEATURE_SETS if name in feature_sets]


def _token_family(given: Any, kind: str) -> Any:
    others = ", 'evidence' or 'loo'; the default is 1"
    alpha = 1.0 if isinstance(given, str) else number(given, "alpha", otherwise=others)
    if kind == "bernoulli":
        return Bernoulli(Beta(alpha, alpha), threshold=0.0)
    if kind == "complement":
        return Complement(Dirichlet(alpha))
    return Multinomial(Dirichlet(alpha), "predictive" if kind == "polya" else "mean")


def _stop_words(given: Any) -> frozenset[str]:
    """Return the words to ignore. A single string raises an error, because its letters would be read as words."""
    if given is None:
        return frozenset()
    words = None if isinstance(given, (str, bytes)) or not isinstance(given, Iterable) else list(given)
    if words is None or not all(isinstance(word, str) for word in words):
        raise ParameterError(
            f"stop_words is {given!r}; expected None or a list of words; pass a list, such as ['the', 'of'], or "
            "sklearn.feature_extraction.text.ENGLISH_STOP_WORDS"
        )
    return frozenset(words)


def _numbered(buckets: Any) -> Coding:
    if buckets is None:
        return Vocabulary()
    if not (is_whole(buckets) and 1 <= buckets <= _MOST_BITS):
        raise ParameterError(
            f"buckets is {buckets!r}; expected 'auto', None (a vocabulary of all tokens), or an integer n from 1 to "
            f"{_MOST_BITS}, for 2^n buckets"
        )
    return Buckets(int(buckets))


def read_ngrams(value: Any) -> tuple[int, int]:
    """Return the range of n-gram lengths from one number, the maximum, or a pair."""
    pair = (1, value) if is_whole(value) else value
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(map(is_whole, pair))):
        raise ParameterError(f"ngrams is {value!r}; expected an integer, or a pair (min, max)")
    return int(pair[0]), int(pair[1])
