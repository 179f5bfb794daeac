"""The parameters of ``TextNB``, checked, as the family that they ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from inspect import signature
from typing import Any

from ..data.texts import read_vocabulary
from ..exceptions import ParameterError
from ..families import Bernoulli, Complement, Multinomial
from ..families.terms import NO_LIMITS, WEIGHTINGS, Limits, TokenLook, Weighting
from ..families.text import TextFamily
from ..kernels.tokenizer import TokenizerConfig
from ..kernels.vocabulary import Buckets, Coding, Vocabulary
from ..priors import Beta, Dirichlet
from .settings import choice, flag, is_whole, number, whole_number

MODELS = ("auto", "multinomial", "bernoulli", "complement", "polya")
# Settings of the textbook's models, which "auto" does not ask.
_RULES = (
    "alpha", "ngrams", "analyzer", "weighting", "lowercase", "strip_accents", "min_length", "stop_words",
    "fold_numbers", "pattern", "tokenizer", "vocabulary", "min_df", "max_features",
)  # fmt: skip
_MARKED = TokenizerConfig(marks=True, min_length=1)
# How "auto" looks at texts.
LOOKS = {
    "words": _MARKED,
    "pairs of words": replace(_MARKED, ngrams=(2, 2), ends=True),
    "places": replace(_MARKED, analyzer="place"),
    "2 or 3 characters": TokenizerConfig("char_wb", ngrams=(2, 3)),
    "4 or 5 characters": TokenizerConfig("char_wb", ngrams=(4, 5)),
}
_BITS, _MOST_BITS = 22, 30


def text_family(model: Any) -> TextFamily:
    """What the parameters of a ``TextNB`` ask for."""
    kind = choice(model.model, "model", MODELS)
    if kind == "auto":
        _refuse_rules(model)
        return auto_family(model.buckets, model.looks)
    if model.looks is not None:
        raise ParameterError(f"looks is {model.looks!r}, and model={kind!r} has one; looks are for model='auto'")
    limits, weighting, (coding, fixed) = _limits(model), _weighting(model, kind), _coding(model)
    # Where a text counts a token once, the sums tell how many hold it.
    frequencies = weighting == "tfidf" or (limits.min_df > 1 and weighting != "binary")
    look = TokenLook(_recipe(model), coding, weighting, fixed, frequencies=frequencies)
    return TextFamily((look,), _inner(model.alpha, kind), limits)


def auto_family(buckets: Any = "auto", looks: Any = None) -> TextFamily:
    """How "auto" looks at texts: words by name, the others by name or by their buckets."""
    coding = _numbered(_BITS if isinstance(buckets, str) and buckets == "auto" else buckets)
    codings = {name: Vocabulary() if name == "words" else coding for name in _asked(looks)}
    made = (TokenLook(LOOKS[name], code, "binary", name=name) for name, code in codings.items())
    return TextFamily(tuple(made), Multinomial(Dirichlet(0.1)))


def _asked(looks: Any) -> list[str]:
    """Names of looks, in their own order."""
    if looks is None:
        return list(LOOKS)
    single = isinstance(looks, str) or not isinstance(looks, Iterable)
    strange = [looks] if single else [look for look in looks if look not in LOOKS]
    if strange or not len(looks):
        raise ParameterError(
            f"looks is {looks!r}; it must be None, for all, or a list of some of {', '.join(map(repr, LOOKS))}"
        )
    return [name for name in LOOKS if name in looks]


def _refuse_rules(model: Any) -> None:
    """What a textbook's model has settings for, "auto" finds for itself."""
    defaults = {name: value.default for name, value in signature(type(model)).parameters.items()}
    for name in _RULES:
        value, default = getattr(model, name), defaults[name]
        # An array is not asked whether it equals None.
        if value is not default and (default is None or value != default):
            raise ParameterError(
                f"{name} is {value!r}, and model='auto' looks at texts in its own ways; name a model "
                "beside it, such as model='multinomial'"
            )


def _inner(given: Any, kind: str) -> Any:
    alpha = 1.0 if isinstance(given, str) else number(given, "alpha")
    if kind == "bernoulli":
        return Bernoulli(Beta(alpha, alpha), threshold=0.0)
    if kind == "complement":
        return Complement(Dirichlet(alpha))
    return Multinomial(Dirichlet(alpha), "predictive" if kind == "polya" else "mean")


def _weighting(model: Any, kind: str) -> Weighting:
    weighting = next(way for way in WEIGHTINGS if way == choice(model.weighting, "weighting", WEIGHTINGS))
    if kind != "bernoulli":
        return weighting
    if weighting in ("log", "tfidf"):
        raise ParameterError(
            f"weighting is {weighting!r}, and model='bernoulli' asks only whether a token is there; drop weighting, or "
            "name another model, such as model='multinomial'"
        )
    return "binary"


def _limits(model: Any) -> Limits:
    limits = Limits(
        whole_number(model.min_df, "min_df"),
        None if model.max_features is None else whole_number(model.max_features, "max_features"),
    )
    if limits != NO_LIMITS and (model.vocabulary is not None or is_whole(model.buckets)):
        numbering = "buckets" if model.vocabulary is None else "vocabulary"
        raise ParameterError(
            f"min_df is {model.min_df!r} and max_features {model.max_features!r} beside {numbering}; they choose among "
            f"the tokens that texts hold, by name; drop them, or {numbering}"
        )
    return limits


def _recipe(model: Any) -> TokenizerConfig:
    return TokenizerConfig(
        model.analyzer, read_ngrams(model.ngrams), flag(model.lowercase, "lowercase"), model.strip_accents,
        model.min_length, _stop_words(model.stop_words), flag(model.fold_numbers, "fold_numbers"), model.pattern,
        model.tokenizer,
    )  # fmt: skip


def _stop_words(given: Any) -> frozenset[str]:
    """Words to leave out. A single text is none: its letters would be taken for words."""
    if given is None:
        return frozenset()
    words = None if isinstance(given, (str, bytes)) or not isinstance(given, Iterable) else list(given)
    if words is None or not all(isinstance(word, str) for word in words):
        raise ParameterError(
            f"stop_words is {given!r}; it must be None or a list of words, and no list has a name; pass one, such as "
            "['the', 'of'], or sklearn.feature_extraction.text.ENGLISH_STOP_WORDS"
        )
    return frozenset(words)


def _coding(model: Any) -> tuple[Coding, bool]:
    """How tokens are numbered, and whether the list of them is given."""
    coding = _numbered(None if isinstance(model.buckets, str) and model.buckets == "auto" else model.buckets)
    if model.vocabulary is None:
        return coding, False
    if isinstance(coding, Buckets):
        raise ParameterError("both vocabulary and buckets are given; they are two ways to number tokens; pass one")
    return read_vocabulary(model.vocabulary), True


def _numbered(buckets: Any) -> Coding:
    if buckets is None:
        return Vocabulary()
    if not (is_whole(buckets) and 1 <= buckets <= _MOST_BITS):
        raise ParameterError(
            f"buckets is {buckets!r}; it must be 'auto', None (all tokens by name), or a whole number n for 2^n "
            f"buckets, from 1 to {_MOST_BITS}"
        )
    return Buckets(int(buckets))


def read_ngrams(value: Any) -> tuple[int, int]:
    """One number, up to which, or two."""
    pair = (1, value) if is_whole(value) else value
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(map(is_whole, pair))):
        raise ParameterError(f"ngrams is {value!r}; it must be a whole number, or two: the fewest and the most")
    return int(pair[0]), int(pair[1])
