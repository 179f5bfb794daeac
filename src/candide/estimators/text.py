"""Texts, straight from strings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

from ..exceptions import ParameterError
from ..kernels.vocabulary import Buckets
from ..model.model import completed
from ..model.summary import compact, prune, text_summary
from ..model.table import Table
from ..model.top_features import top_features
from ..model.unlabeled import Unlabeled
from ..specs.parameters import whole_number
from ..specs.text import TextSpec, token_counts
from ..statistics.texts import Dropped
from .base import BaseNB


class TextNB(BaseNB):
    """Naive Bayes for texts: messages, reviews, tickets, news, languages.

    Texts are cut into tokens, counted and learned in one pass, without a vectoriser.

    Parameters
    ----------
    family : {"auto", "multinomial", "bernoulli", "complement", "polya"}
        "auto" counts several sets of tokens (words, pairs, places, characters), sorts tokens by how sure it is that
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
    weighting : {"count", "binary", "log", "tfidf"}
        What a token weighs that a text holds n times: n; 1; 1 + log n; or n times how rare the token is among the texts
        that were learned, log((1 + texts) / (1 + texts that hold it)) + 1.
    lowercase, strip_accents, min_length, stop_words, fold_numbers
        How words are read: in lower case; without accents ("unicode", "ascii"); of so many characters at least; but
        for some; with all digits alike.
    pattern, tokenizer : regular expression, callable
        Another rule for what a word is. Runs in Python, some fifty times as slowly.
    vocabulary : list of str or Path, optional
        The tokens that count, in place of those that are seen; each keeps its place though no text holds it.
    min_df, max_features : int
        Tokens that take part: those that so many texts hold at least, and of them the most frequent, so many at most
        (by their sums under ``weighting``; among equals the first in the order of code points). They act when texts
        are scored: the sums keep all tokens, so that merging and forgetting stay exact.
    buckets : "auto", None or int
        Hash tokens into 2^buckets places instead of keeping a vocabulary. With "auto", tokens of a textbook's model
        have names, and so have the words of family="auto", whose other tokens go to 2^22 places; with None all have
        names; a number is for all but the words of family="auto".
    feature_sets : list of str, optional
        Which token features "auto" uses: some of "words", "pairs of words", "places", "2 or 3 characters" and
        "4 or 5 characters"; all by default. ``summary()`` shows what each is worth.
    refine : bool, default False
        Let a logistic regression on words and pairs go on from what "auto" says of texts it has not seen: for the last
        points of accuracy. It is no sum over texts, so it merges and forgets by being fitted again (once a tenth of the
        weight has changed, or by ``refit``), on training texts that the model then keeps, up to 128 MB of each class.
    unlabeled : {"drop", "error", "em", "sfe"}, default "drop"
        What becomes of texts whose label is None or NaN: they are left out, with one warning that counts them; they are
        an error; or ``fit`` learns from them, if that helps on folds of the texts with labels: they count for the
        classes by their probabilities (one step of EM), or their tokens for the classes that such tokens are of (SFE).
        ``unlabeled_`` tells what came of it.
    fit_prior, class_prior, class_weight, calibrate, compute_loo, keep_sample, n_threads
        As in ``MultinomialNB``.

    Attributes
    ----------
    classes_, class_count_, class_prior_
        As in all classifiers.
    loo_ : Evaluation
        Accuracy, log-loss, calibration and more, each text judged by a model that never saw it.
    staleness_ : float
        The weight learned and forgotten since the last refit, as a share of the weight at that refit: 0.0 after ``fit``
        and ``refit``; once it exceeds 0.1, ``partial_fit``, ``forget`` and ``merge`` refit.
    vocabulary_ : dict
        The tokens that are scored (words, with "auto"), with their places.
    token_count_ : array or sparse array of shape (n_classes, n_tokens)
        The weighted number of each token in each class.
    unlabeled_ : Unlabeled
        What became of texts without labels; there only where ``fit`` learned from some.
    pruned_, compacted_
        What ``prune`` and ``compact`` have dropped.

    Examples
    --------
    >>> texts = ["free entry, win cash", "see you at lunch", "win a free prize", "lunch is at noon"]
    >>> model = TextNB().fit(texts, ["spam", "ham", "spam", "ham"])
    >>> model.predict(["win cash now"]).tolist()
    ['spam']
    """

    _spec_type = TextSpec
    _checks_names: ClassVar[bool] = False
    _input_tags: ClassVar[dict[str, bool]] = {"two_d_array": False, "sparse": False, "string": True}

    def __init__(
        self,
        family: Literal["auto", "multinomial", "bernoulli", "complement", "polya"] = "auto",
        *,
        alpha: Any = 1.0,
        ngrams: Any = 1,
        analyzer: Literal["word", "char", "char_wb", "place"] = "word",
        weighting: Literal["count", "binary", "log", "tfidf"] = "count",
        lowercase: bool = True,
        strip_accents: Literal["unicode", "ascii"] | None = None,
        min_length: int = 2,
        stop_words: Any = None,
        fold_numbers: bool = False,
        pattern: str | None = None,
        tokenizer: Any = None,
        vocabulary: Any = None,
        min_df: int = 1,
        max_features: int | None = None,
        buckets: int | Literal["auto"] | None = "auto",
        feature_sets: Any = None,
        refine: bool = False,
        unlabeled: Literal["drop", "error", "em", "sfe"] = "drop",
        fit_prior: bool = True,
        class_prior: Any = None,
        class_weight: Any = None,
        calibrate: Literal["temperature", "platt", "beta", "isotonic"] | None = None,
        compute_loo: bool | None = None,
        keep_sample: bool | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.family = family
        self.alpha = alpha
        self.ngrams = ngrams
        self.analyzer = analyzer
        self.weighting = weighting
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.min_length = min_length
        self.stop_words = stop_words
        self.fold_numbers = fold_numbers
        self.pattern = pattern
        self.tokenizer = tokenizer
        self.vocabulary = vocabulary
        self.min_df = min_df
        self.max_features = max_features
        self.buckets = buckets
        self.feature_sets = feature_sets
        self.refine = refine
        self.unlabeled = unlabeled
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.compute_loo = compute_loo
        self.keep_sample = keep_sample
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from texts ``X`` with labels ``y``, forgetting what was learned before.

        Parameters
        ----------
        X : list, array, series or Arrow array of texts, or any iterable of them; or an iterator of chunks
            None, NaN and nulls are texts without tokens. Without ``y``, an iterator that yields ``(X, y)``,
            ``(X, y, sample_weight)`` or ``(X, y, sample_weight, groups)``: texts, each with a label, of which few are
            in memory at once.
        y : array of shape (n_texts,)
            Class labels; None or NaN where a text has none (``unlabeled``).
        sample_weight : array of shape (n_texts,), optional
            A text of weight k counts as k copies of it.
        groups : array of shape (n_texts,), optional
            Texts of one group (a thread, an author) leave together wherever texts are left out: in ``loo_``, in
            weights, refinement and calibration. None and NaN: a text of its own.
        """
        super().fit(X, y, sample_weight, groups)
        return self

    def summary(self) -> Table:
        """Return for each feature set the number of its tokens, and with "auto" the weights of its bins.

        Bin 0 holds the tokens that are no more informative than chance, the last bin the most significant ones.
        """
        return text_summary(self._fitted().classifier)

    def top_features(self, n: int = 10, feature_set: str | None = None) -> Table:
        """The tokens that identify most of each class's texts, the best first.

        Parameters
        ----------
        n : int
            How many of each class.
        feature_set : str, optional
            Limit the table to this feature set, such as "words"; by default all that have weights.

        Returns
        -------
        Table
            In the order of ``score``: the share of the class's texts that hold the token, times how far it raises the
            probability of the class from its share of all texts (0) towards 1 (1). Tokens that many classes have in
            common score low. Punctuation is listed only if it raises the probability at least half of the way.
            ``bits``: what the token says for the class against the mean of all classes; with "auto" in a text of this
            token alone, in longer ones less, by the root of the number of tokens. ``count``: how many texts of the
            class hold it (or how often they do, where a text counts a token more than once). Hashed tokens have the
            names that training texts give them; when these go (``keep_sample=False``), the names of the top ones stay.

        Examples
        --------
        >>> mail = ["win cash now", "win a prize", "lunch at noon", "see you at noon"]
        >>> TextNB("multinomial").fit(mail, ["spam", "spam", "ham", "ham"]).top_features(1)
        class  feature_set  token  score      bits  count
        ham    words        at         1  0.696159      2
        spam   words        win        1  0.888804      2
        """
        model = self._fitted()
        family: Any = model.classifier.bound_spec.family
        names = [one.name for one in family.feature_sets]
        if feature_set is not None and feature_set not in names:
            raise ParameterError(
                f"feature_set is {feature_set!r}; this model has {', '.join(map(repr, names))}; name one of them"
            )
        return top_features(model.classifier, whole_number(n, "n"), feature_set, model.kernels)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The tokens that take part, with their places in the table of counts."""
        coding = token_counts(self._fitted().classifier).coding
        if isinstance(coding, Buckets):
            raise AttributeError("tokens that are hashed into buckets have no vocabulary_")
        return {token: place for place, token in enumerate(coding.tokens())}

    @property
    def token_count_(self) -> Any:
        """The weighted number of each token in each class; sparse where most are 0."""
        return token_counts(self._fitted().classifier).counts.total

    @property
    def unlabeled_(self) -> Unlabeled:
        """What was learned from texts without labels; available only where ``fit`` learned from some."""
        found = self._fitted().unlabeled
        if found is None:
            raise AttributeError("unlabeled_ is available where fit learned from texts without labels")
        return found

    def prune(self, *, max_tokens: int | None = None, max_bytes: int | None = None) -> Self:
        """Drop the rarest tokens, of all feature sets together, until the others fit. Changes this model.

        Unlike ``min_df`` and ``max_features`` this loses what was counted, and ``pruned_`` says how much. The model
        goes on to learn, merge and forget, no longer exactly: a token that comes back begins anew, and forgetting
        passes over what is gone already. Weights of feature sets and bins stay until they are fitted again (``refit``).

        Parameters
        ----------
        max_tokens : int, optional
            Different tokens that stay, of all feature sets together. Among equals the first in order stay.
        max_bytes : int, optional
            Bytes of their names and sums. Training texts that the model keeps (``keep_sample``) and a regression
            (``refine``) come on top.

        Examples
        --------
        >>> from candide import TextNB
        >>> model = TextNB("multinomial").fit(["win cash", "win now", "see you"], ["spam", "spam", "ham"])
        >>> sorted(model.prune(max_tokens=3).vocabulary_), model.pruned_
        (['cash', 'now', 'win'], Dropped(tokens=2, weight=2.0))
        """
        model = self._fitted()
        if (max_tokens is None) == (max_bytes is None):
            raise ParameterError(
                f"max_tokens is {max_tokens!r} and max_bytes {max_bytes!r}; a model is pruned to one of them; pass one"
            )
        if model.state.statistics.feature_sets[0].fixed:
            raise ParameterError("a vocabulary that was given keeps its tokens; pass a shorter one, and fit again")
        if max_bytes is None:
            return self._prune(whole_number(max_tokens, "max_tokens"), "tokens")
        return self._prune(whole_number(max_bytes, "max_bytes"), "bytes")

    def compact(self) -> Self:
        """Drop feature sets whose weights are all 0 ("auto"): predictions stay as they are. Changes this model.

        The model then learns from the remaining feature sets, and merges with models that have the same ones;
        ``compacted_`` names those that were dropped. Words always stay. ``fit`` starts again with all feature sets.

        Examples
        --------
        >>> from candide import TextNB
        >>> texts = ["free entry, win cash", "see you at lunch", "win a free prize", "lunch is at noon"]
        >>> model = TextNB().fit(texts, ["spam", "ham", "spam", "ham"]).compact()
        >>> set(model.summary()["feature_set"]).isdisjoint(model.compacted_)
        True
        """
        model = self._fitted()
        self.model_ = replace(model, classifier=completed(model.spec, compact(model.classifier)), provenance=None)
        return self

    @property
    def pruned_(self) -> Dropped:
        """How many tokens ``prune`` has dropped, and what they weighed."""
        dropped: Dropped = self._fitted().state.statistics.dropped
        return dropped

    @property
    def compacted_(self) -> tuple[str, ...]:
        """Feature sets at the texts that ``compact`` has dropped."""
        family: Any = self._fitted().classifier.bound_spec.family
        dropped: tuple[str, ...] = family.dropped
        return dropped

    def _prune(self, budget: int, unit: Literal["tokens", "bytes"]) -> Self:
        model = self._fitted()
        classifier = completed(model.spec, prune(model.classifier, budget, unit))
        self.model_ = replace(model, classifier=classifier, provenance=None)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True  # of X as a table of numbers
        return tags
