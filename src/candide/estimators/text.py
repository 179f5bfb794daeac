"""Texts, straight from strings."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..encoding.columns import as_array
from ..encoding.rows import read_weights, without_label
from ..encoding.texts import read_texts
from ..encoding.tokens import Buckets, Coding, Recipe, Vocabulary, read_vocabulary
from ..engines.unlabelled import Unlabelled, Unread, learn_unlabelled
from ..exceptions import InputError, ParameterError
from ..families import Bernoulli, Complement, Multinomial
from ..families.text import TextFamily, TokenLook
from ..kernels.data import Array
from ..kernels.text_rows import TextRows
from ..model.plan import ClassPrior, Plan
from ..model.table import Table
from ..model.text_summary import text_summary
from ..priors import Beta, Dirichlet
from .base import BaseNB, all_or_nothing
from .beliefs import class_prior_of
from .settings import choice, flag, number

# How "auto" looks at texts.
_MARKED = Recipe(marks=True, min_length=1)
AUTO = (
    TokenLook(_MARKED, Vocabulary(), presence=True),
    TokenLook(replace(_MARKED, ngrams=(2, 2), ends=True), Buckets(22), presence=True, name="pairs of words"),
    TokenLook(replace(_MARKED, analyzer="place"), Buckets(22), presence=True, name="places"),
    TokenLook(Recipe("char_wb", ngrams=(2, 3)), Buckets(22), presence=True, name="2 or 3 characters"),
    TokenLook(Recipe("char_wb", ngrams=(4, 5)), Buckets(22), presence=True, name="4 or 5 characters"),
)
# Settings of the textbook's models, which "auto" does not ask.
_RULES = (
    "alpha", "ngrams", "analyzer", "binary", "lowercase", "strip_accents", "min_length", "stop_words", "fold_numbers",
    "pattern", "tokenizer", "vocabulary", "buckets",
)  # fmt: skip
# Room for training texts, per class, where a regression is fitted on all of them.
_REFINED_BYTES = 1 << 27
MODELS = ("auto", "multinomial", "bernoulli", "complement", "polya")


class TextNB(BaseNB):
    """Naive Bayes for texts: messages, reviews, tickets, news, languages.

    Texts are cut into tokens, counted and learned in one pass, without a vectoriser.

    Parameters
    ----------
    model : {"auto", "multinomial", "bernoulli", "complement", "polya"}
        "auto" looks at a text in several ways (words, pairs, places, characters), sorts tokens by how sure it is that
        they tell something, and weighs all these by what they say of texts that are left out. The others are what the
        textbooks have. p(text | class) is: tokens drawn one by one from the class's shares; every token present or not;
        shares of all *other* classes, whose scores are no probabilities until calibrated; or tokens drawn from shares
        that differ from text to text.
    alpha : float, "evidence" or "loo", default 1.0
        Pseudo-count of every token; or chosen by the data.
    ngrams : int or (int, int), default 1
        Words, or characters, in a token: up to so many, or from the first number to the second.
    analyzer : {"word", "char", "char_wb", "place"}
        Whether tokens are words, characters, characters within words, or the first and last words with their places.
    binary : bool, default False
        Whether a text counts a token once at most.
    lowercase, strip_accents, min_length, stop_words, fold_numbers
        How words are read: in lower case; without accents ("unicode", "ascii"); of so many characters at least; but
        for some; with all digits alike.
    pattern, tokenizer : regular expression, callable
        Another rule for what a word is. Runs in Python, some fifty times as slowly.
    vocabulary : list of str or Path, optional
        The tokens that count, in place of those that are seen; each keeps its place though no text holds it.
    buckets : int, optional
        Hash tokens into 2^buckets places instead of keeping a vocabulary.
    refine : bool, default False
        Let a logistic regression on words and pairs go on from what "auto" says of texts it has not seen: for the last
        points of accuracy. It is no sum over texts, so it merges and forgets by being fitted again, on training texts
        that the model then keeps, up to 128 MB of each class.
    unlabelled : {"em", "sfe", "ignore"}
        What ``fit`` does with texts whose label is None or NaN: give them to the classes that the model thinks they
        are of (one step of EM), or their tokens to the classes that such tokens are of (SFE), if that helps on folds of
        the texts with labels; or nothing. ``unlabelled_`` tells what came of it.
    fit_prior, class_prior, class_weight, calibrate, evaluate, keep_sample, n_threads
        As in ``MultinomialNB``.

    Examples
    --------
    >>> texts = ["free entry, win cash", "see you at lunch", "win a free prize", "lunch is at noon"]
    >>> model = TextNB().fit(texts, ["spam", "ham", "spam", "ham"])
    >>> model.predict(["win cash now"]).tolist()
    ['spam']
    """

    unlabelled_: Unlabelled
    estimate = None
    parameter_prior = None
    _sample_bytes: ClassVar[int] = 1 << 23
    _counting: ClassVar[dict[str, str]] = {"the rule for tokens": "looks"}

    def __init__(
        self,
        model: Literal["auto", "multinomial", "bernoulli", "complement", "polya"] = "auto",
        *,
        alpha: Any = 1.0,
        ngrams: Any = 1,
        analyzer: Literal["word", "char", "char_wb", "place"] = "word",
        binary: bool = False,
        lowercase: bool = True,
        strip_accents: Literal["unicode", "ascii"] | None = None,
        min_length: int = 2,
        stop_words: Any = None,
        fold_numbers: bool = False,
        pattern: str | None = None,
        tokenizer: Any = None,
        vocabulary: Any = None,
        buckets: int | None = None,
        refine: bool = False,
        unlabelled: Literal["em", "sfe", "ignore"] = "em",
        fit_prior: bool = True,
        class_prior: Any = None,
        class_weight: Any = None,
        calibrate: Literal["temperature", "platt", "beta", "isotonic"] | None = None,
        evaluate: bool = True,
        keep_sample: bool | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.model = model
        self.alpha = alpha
        self.ngrams = ngrams
        self.analyzer = analyzer
        self.binary = binary
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.min_length = min_length
        self.stop_words = stop_words
        self.fold_numbers = fold_numbers
        self.pattern = pattern
        self.tokenizer = tokenizer
        self.vocabulary = vocabulary
        self.buckets = buckets
        self.refine = refine
        self.unlabelled = unlabelled
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.evaluate = evaluate
        self.keep_sample = keep_sample
        self.n_threads = n_threads

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from texts ``X`` with labels ``y``, forgetting what was learned before.

        Parameters
        ----------
        X : list, array, series or Arrow array of texts, or any iterable of them
            None, NaN and nulls are texts without tokens.
        y : array of shape (n_texts,)
            Class labels; None or NaN where a text has none (``unlabelled``).
        sample_weight : array of shape (n_texts,), optional
            A text of weight k counts as k copies of it.
        """
        how = choice(self.unlabelled, "unlabelled", ("em", "sfe", "ignore"))
        self.__dict__.pop("unlabelled_", None)
        missing = np.zeros(0, dtype=bool) if y is None else without_label(y)
        if missing.any() and not missing.all():
            self._fit_some(X, y, sample_weight, missing, how)
        else:
            super().fit(X, y, sample_weight)
        # What looks at texts again is fitted now, so that predicting only predicts.
        _ = self._model.blend
        return self

    def _fit_some(self, X: Any, y: Any, sample_weight: Any, missing: Array, how: str) -> None:
        """From texts of which some have no label."""
        data, weight = self._read_to_learn(X, reset=True), read_weights(sample_weight, len(missing))
        if data.n_rows != len(missing):
            raise InputError(f"there are {data.n_rows} texts and {len(missing)} labels; give each text one, or None")
        labelled, others = np.flatnonzero(~missing), np.flatnonzero(missing)
        labels = as_array(y, "y")[labelled]
        own, rest = (None if weight is None else weight[rows] for rows in (labelled, others))
        super().fit(data.take(labelled).texts, labels if labels.dtype.kind == "f" else labels.tolist(), own)
        if how == "ignore":
            return
        batch = self._batch(data.take(labelled).texts, labels, own)
        texts = Unread(data.take(others), rest, "em" if how == "em" else "sfe")
        model, self.unlabelled_ = learn_unlabelled(self._model, batch, texts, self._kernels())
        self._become(model)

    def _plan(self, n_features: int, *, first: bool) -> Plan:
        plan = super()._plan(n_features, first=first)
        if not flag(self.refine, "refine"):
            return plan
        if self.model != "auto" or self.calibrate is not None:
            raise ParameterError(
                f"refine=True goes on from model='auto' with calibrate=None, and they are {self.model!r} and "
                f"{self.calibrate!r}; what it gives is calibrated; drop one of the settings"
            )
        return replace(plan, refine=True, sample_bytes=_REFINED_BYTES if plan.sample_bytes else 0)

    def _prior_in_score(self) -> bool:
        return self.model != "complement"

    def _encode(self, X: Any) -> TextRows:
        return TextRows(read_texts(X))

    def _read(self, X: Any, reset: bool = False) -> TextRows:
        if reset:
            self.n_features_in_ = 1
        return self._encode(X)

    def _read_to_learn(self, X: Any, reset: bool) -> TextRows:
        data = self._read(X, reset)
        if not data.n_rows:
            raise InputError("there are no texts (0 rows), and nothing is learned from nothing; pass at least one")
        return data

    def _family(self, n_features: int) -> Any:
        kind = choice(self.model, "model", MODELS)
        if kind == "auto":
            self._refuse_rules()
            return TextFamily(AUTO, Multinomial(Dirichlet(0.1)))
        presence = flag(self.binary, "binary") or kind == "bernoulli"
        coding, fixed = self._coding()
        return TextFamily((TokenLook(self._recipe(), coding, presence, fixed),), self._inner(kind))

    def _refuse_rules(self) -> None:
        """What a textbook's model has settings for, "auto" finds for itself."""
        defaults = {name: value.default for name, value in signature(TextNB).parameters.items()}
        for name in _RULES:
            value, default = getattr(self, name), defaults[name]
            # An array is not asked whether it equals None.
            if value is not default and (default is None or value != default):
                raise ParameterError(
                    f"{name} is {value!r}, and model='auto' looks at texts in its own ways; name a model "
                    "beside it, such as model='multinomial'"
                )

    def _inner(self, kind: str) -> Any:
        alpha = 1.0 if self._alpha_choice() else number(self.alpha, "alpha")
        if kind == "bernoulli":
            return Bernoulli(Beta(alpha, alpha), threshold=0.0)
        if kind == "complement":
            return Complement(Dirichlet(alpha))
        return Multinomial(Dirichlet(alpha), "predictive" if kind == "polya" else "mean")

    def _recipe(self) -> Recipe:
        stop_words = frozenset() if self.stop_words is None else frozenset(self.stop_words)
        return Recipe(
            self.analyzer, read_ngrams(self.ngrams), flag(self.lowercase, "lowercase"), self.strip_accents,
            self.min_length, stop_words, flag(self.fold_numbers, "fold_numbers"), self.pattern, self.tokenizer,
        )  # fmt: skip

    def _coding(self) -> tuple[Coding, bool]:
        if self.vocabulary is not None and self.buckets is not None:
            raise ParameterError("both vocabulary and buckets are given; they are two ways to number tokens; pass one")
        if self.buckets is not None:
            return Buckets(self.buckets), False
        if self.vocabulary is None:
            return Vocabulary(), False
        return read_vocabulary(self.vocabulary), True

    def _alpha_choice(self) -> Literal["evidence", "loo"] | None:
        if not isinstance(self.alpha, str):
            return None
        return "loo" if choice(self.alpha, "alpha", ("evidence", "loo")) == "loo" else "evidence"

    def _order(self) -> int | None:
        return 0 if self.model == "auto" else None

    def _class_prior(self) -> ClassPrior:
        return class_prior_of(self.class_prior, self.fit_prior, self.class_weight)

    def _column_names(self) -> Array:
        coding = self._fitted().state.statistics.looks[0].coding
        if isinstance(coding, Buckets):
            return np.array([f"bucket {j}" for j in range(len(coding))], dtype=object)
        return np.array(coding.tokens(), dtype=object)

    def summary(self) -> Table:
        """What each look at the texts is worth: its different tokens, and with "auto" the weights of its bands.

        Band 0 holds the tokens that tell nothing that chance would not, the last those that surely tell something.
        """
        return text_summary(self._fitted())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = False
        tags.input_tags.string = True
        tags.no_validation = True  # of X as a table of numbers
        return tags

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The tokens, with their places in the table of counts."""
        coding = self._fitted().state.statistics.looks[0].coding
        if isinstance(coding, Buckets):
            raise AttributeError("tokens that are hashed into buckets have no vocabulary_")
        return {token: place for place, token in enumerate(coding.tokens())}

    @property
    def token_count_(self) -> Any:
        """The weighted number of each token in each class; sparse where most are 0."""
        return self._fitted().state.statistics.looks[0].counts.total


def read_ngrams(value: Any) -> tuple[int, int]:
    """One number, up to which, or two."""
    pair = (1, value) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else value
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(n, (int, np.integer)) for n in pair)):
        raise ParameterError(f"ngrams is {value!r}; it must be a whole number, or two: the fewest and the most")
    return int(pair[0]), int(pair[1])
