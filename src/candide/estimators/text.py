"""Naive Bayes for texts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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


@dataclass(kw_only=True, eq=False, repr=False)
class TextNB(BaseNB):
    """Classifier for texts, such as messages, reviews, tickets or news.

    Pass a list of strings and their labels to ``fit``, then call ``predict_proba``; no vectorizer is needed.
    ``top_features`` lists the most informative words of each class, ``explain`` shows the contributions to a
    prediction, and ``loo_`` contains the estimated accuracy.

    Parameters
    ----------
    family : {"auto", "multinomial", "bernoulli", "complement", "polya"}
        "auto" counts several sets of tokens (words, pairs of words, positions, characters), groups tokens into bins by
        how significantly they differ between classes, and learns a weight for each bin on left-out texts. The others
        are plain naive Bayes on one set of tokens: "multinomial" draws tokens from the shares of the class;
        "bernoulli" models the presence of every token; "complement" uses the shares of all *other* classes, and its
        scores are not probabilities until calibrated; "polya" draws the shares anew for each text.
    alpha : float, "evidence" or "loo", default 1.0
        Pseudo-count of every token; or chosen by marginal likelihood ("evidence") or leave-one-out ("loo").
    ngrams : int or (int, int), default 1
        Number of words (or characters) in a token: up to this number, or a range.
    analyzer : {"word", "char", "char_wb", "place"}
        Whether tokens are words, characters, characters within words, or the first and last words with positions.
    weighting : {"count", "binary", "log", "tfidf"}
        Weight of a token that occurs n times in a text: n; 1; 1 + log n; or n times the inverse document frequency,
        log((1 + texts) / (1 + texts that contain it)) + 1.
    lowercase, strip_accents, min_length, stop_words, fold_numbers
        Normalization of words: lower case; without accents ("unicode", "ascii"); with a minimum length; without stop
        words; with all digits replaced by 0.
    pattern, tokenizer : regular expression, callable
        A custom definition of a word. It runs in Python and is about fifty times slower.
    vocabulary : list of str or Path, optional
        Use only these tokens, with their positions in the list, even if no text contains them.
    min_df, max_features : int
        Score only tokens that occur in at least ``min_df`` texts, and of these the ``max_features`` most frequent (by
        their sums under ``weighting``; ties in the order of code points). The statistics keep all tokens, so merging
        and forgetting stay exact.
    buckets : "auto", None or int
        Hash tokens into 2^buckets buckets instead of storing a vocabulary. With "auto", plain families and the words
        of family="auto" have a vocabulary, and its other tokens are hashed into 2^22 buckets. None stores all tokens;
        a number hashes all but the words of family="auto".
    feature_sets : list of str, optional
        The sets of tokens that "auto" uses, out of "words", "pairs of words", "places", "2 or 3 characters" and
        "4 or 5 characters"; all by default. ``summary()`` shows their weights.
    refine : bool, default False
        Add a logistic regression on words and pairs of words on top of the "auto" scores of left-out texts, which is
        slightly more accurate. It is refitted after merging and forgetting (once a tenth of the weight has changed, or
        by ``refit``), on training texts that the model keeps, up to 256 MB.
    unlabeled : {"drop", "error", "em", "sfe"}, default "drop"
        What to do with texts whose label is None or NaN: drop them with a warning that states their number; raise an
        error; or learn from them, if cross-validation on the labeled texts shows that it helps: by one step of EM, or
        by semi-supervised frequency estimates (SFE). ``unlabeled_`` contains the result.
    fit_prior, class_prior, class_weight, calibrate, compute_loo, subsample, n_threads
        As in ``MultinomialNB``.

    Attributes
    ----------
    classes_, class_count_, class_prior_
        Labels, weights and probabilities of the classes.
    loo_ : Evaluation
        Leave-one-out accuracy, log-loss, calibration and other metrics.
    staleness_ : float
        Weight of the rows added and removed since the last refit, as a share of the weight at that refit: 0.0 after
        ``fit`` and ``refit``; once it exceeds 0.1, ``partial_fit``, ``forget`` and ``merge`` refit.
    vocabulary_ : dict
        The tokens that are scored (words, with "auto"), with their positions.
    token_count_ : array or sparse array of shape (n_classes, n_tokens)
        The weighted number of each token in each class.
    unlabeled_ : Unlabeled
        Result of learning from texts without labels, if there were any.
    pruned_ : Dropped
        Number and weight of the tokens that ``prune`` has removed.

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

    family: Literal["auto", "multinomial", "bernoulli", "complement", "polya"] = field(default="auto", kw_only=False)
    alpha: Any = 1.0
    ngrams: Any = 1
    analyzer: Literal["word", "char", "char_wb", "place"] = "word"
    weighting: Literal["count", "binary", "log", "tfidf"] = "count"
    lowercase: bool = True
    strip_accents: Literal["unicode", "ascii"] | None = None
    min_length: int = 2
    stop_words: Any = None
    fold_numbers: bool = False
    pattern: str | None = None
    tokenizer: Any = None
    vocabulary: Any = None
    min_df: int = 1
    max_features: int | None = None
    buckets: int | Literal["auto"] | None = "auto"
    feature_sets: Any = None
    refine: bool = False
    unlabeled: Literal["drop", "error", "em", "sfe"] = "drop"
    fit_prior: bool = True
    class_prior: Any = None
    class_weight: Any = None
    calibrate: Literal["temperature", "platt", "beta", "isotonic"] | None = None
    compute_loo: bool | None = None
    subsample: Literal["auto"] | int = "auto"
    n_threads: int | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model to texts ``X`` with labels ``y``. An earlier fit is discarded.

        Parameters
        ----------
        X : list, array, series or Arrow array of texts, or any iterable of them; or an iterator of chunks
            None, NaN and nulls are texts without tokens. Without ``y``, an iterator that yields ``(X, y)``,
            ``(X, y, sample_weight)`` or ``(X, y, sample_weight, groups)``, for data larger than memory.
        y : array of shape (n_texts,)
            Class labels; None or NaN for texts without one (see ``unlabeled``).
        sample_weight : array of shape (n_texts,), optional
            A text of weight k counts as k copies of it.
        groups : array of shape (n_texts,), optional
            Texts of one group (a thread, an author) are left out together in ``loo_``, in stacking weights, refinement
            and calibration. A text with None or NaN is in no group.
        """
        super().fit(X, y, sample_weight, groups)
        return self

    def summary(self) -> Table:
        """Return the number of tokens of each feature set and, with "auto", the weights of its bins.

        Bin 0 contains the tokens that are no more informative than chance, the last bin the most significant ones.
        """
        return text_summary(self._fitted().classifier)

    def top_features(self, n: int = 10, feature_set: str | None = None) -> Table:
        """Return the most informative tokens of each class, most informative first.

        Parameters
        ----------
        n : int
            Number of tokens per class.
        feature_set : str, optional
            Limit the table to this feature set, such as "words"; by default all that have weights.

        Returns
        -------
        Table
            Sorted by ``score``: the share of the class's texts that contain the token, multiplied by how far the token
            raises the probability of the class from its share of all texts (0) toward 1 (1). Tokens that are common to
            many classes have low scores. Punctuation is listed only if it raises the probability at least half of the
            way. ``bits``: contribution of the token to the class against the mean of all classes; with "auto", in a
            text of this token alone (in longer texts it is divided by the square root of the number of tokens).
            ``count``: number of texts of the class that contain it (or of occurrences, if repeated tokens count). Names
            of hashed tokens come from training texts; with ``subsample=0``, only the names of the top ones are kept.

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
            raise ParameterError(f"feature_set is {feature_set!r}; expected one of {', '.join(map(repr, names))}")
        return top_features(model.classifier, whole_number(n, "n"), feature_set, model.kernels)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The tokens that are scored, with their positions in the table of counts."""
        coding = token_counts(self._fitted().classifier).coding
        if isinstance(coding, Buckets):
            raise AttributeError("vocabulary_ is not available for hashed tokens; train with buckets=None")
        return {token: place for place, token in enumerate(coding.tokens())}

    @property
    def token_count_(self) -> Any:
        """Weighted count of each token in each class; sparse if most are 0."""
        return token_counts(self._fitted().classifier).counts.total

    @property
    def unlabeled_(self) -> Unlabeled:
        """Result of learning from unlabeled texts; available if ``fit`` was called with some."""
        found = self._fitted().unlabeled
        if found is None:
            raise AttributeError("unlabeled_ is available only if fit was called with unlabeled texts")
        return found

    def prune(self, *, max_tokens: int | None = None, max_bytes: int | None = None) -> Self:
        """Drop the rarest tokens of this model, over all feature sets, until the limits are met.

        Unlike ``min_df`` and ``max_features``, this removes counts; ``pruned_`` contains their number. Later updates
        are no longer exact: the count of a removed token starts again at 0, and ``forget`` ignores removed counts.
        Weights of feature sets and bins stay the same until ``refit``.

        Parameters
        ----------
        max_tokens : int, optional
            Number of distinct tokens to keep, over all feature sets. Ties are broken by order.
        max_bytes : int, optional
            Size of names and counts in bytes. Training texts that the model keeps (``subsample``) and a regression
            (``refine``) are not included.

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
                f"max_tokens is {max_tokens!r} and max_bytes {max_bytes!r}; expected exactly one of them"
            )
        if model.state.statistics.feature_sets[0].fixed:
            raise ParameterError("a given vocabulary cannot be pruned; pass a shorter one, and fit again")
        if max_bytes is None:
            return self._prune(whole_number(max_tokens, "max_tokens"), "tokens")
        return self._prune(whole_number(max_bytes, "max_bytes"), "bytes")

    def compact(self) -> Self:
        """Drop feature sets whose weights are all 0 (``family="auto"``), without changing any prediction.

        The model is then updated with the remaining feature sets only, which ``summary`` lists, and can be merged with
        models that have the same ones. Words are always kept. ``fit`` uses all feature sets again.

        Examples
        --------
        >>> from candide import TextNB
        >>> texts = ["free entry, win cash", "see you at lunch", "win a free prize", "lunch is at noon"]
        >>> model = TextNB().fit(texts, ["spam", "ham", "spam", "ham"]).compact()
        >>> "pairs of words" in model.summary()["feature_set"]
        False
        """
        model = self._fitted()
        self.model_ = replace(model, classifier=completed(model.spec, compact(model.classifier)), provenance=None)
        return self

    @property
    def pruned_(self) -> Dropped:
        """Number and weight of the tokens that ``prune`` has dropped."""
        dropped: Dropped = self._fitted().state.statistics.dropped
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
