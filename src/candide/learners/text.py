"""Texts, straight from strings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..clusters import cluster_of
from ..data.arrays import as_array
from ..data.labeled_rows import is_unlabeled, read_weights
from ..data.texts import read_texts
from ..engines.unlabeled import Unlabeled, Unread, learn_unlabeled
from ..exceptions import InputError, ParameterError
from ..kernels.layouts import Array, TextRows
from ..kernels.vocabulary import Buckets
from ..model.plan import ClassPrior, Plan
from ..model.table import Table
from ..model.telling import telling
from ..model.text_summary import text_summary
from ..stacking.refinement import word_features
from ..statistics.hashing import group_hashes, group_of, in_groups, row_hashes
from ..statistics.token_counts import TokenCounts
from .beliefs import class_prior_of
from .guard import all_or_nothing
from .settings import choice, flag, whole_number
from .smaller import Smaller
from .text_settings import text_family

# Room for training texts, per class, where a regression is fitted on all of them.
_REFINED_BYTES = 1 << 27


class TextNB(Smaller):
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
        have names, and so have the words of model="auto", whose other tokens go to 2^22 places; with None all have
        names; a number is for all but the words of model="auto".
    looks : list of str, optional
        Which looks at the texts "auto" takes: some of "words", "pairs of words", "places", "2 or 3 characters" and
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
    fit_prior, class_prior, class_weight, calibrate, evaluate, keep_sample, n_threads
        As in ``MultinomialNB``.

    Attributes
    ----------
    classes_, class_count_, class_prior_
        As in all classifiers.
    loo_ : Report
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

    unlabeled_: Unlabeled
    reads_texts: ClassVar[bool] = True
    _unlabeled_ways: ClassVar[tuple[str, ...]] = ("drop", "error", "em", "sfe")
    estimate = None
    parameter_prior = None
    _counting: ClassVar[dict[str, str]] = {
        "weighting": "weighting",
        "counting the texts that hold a token (for min_df and 'tfidf')": "frequencies",
        "the rule for tokens": "looks",
    }

    def __init__(
        self,
        model: Literal["auto", "multinomial", "bernoulli", "complement", "polya"] = "auto",
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
        looks: Any = None,
        refine: bool = False,
        unlabeled: Literal["drop", "error", "em", "sfe"] = "drop",
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
        self.looks = looks
        self.refine = refine
        self.unlabeled = unlabeled
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.evaluate = evaluate
        self.keep_sample = keep_sample
        self.n_threads = n_threads

    @all_or_nothing
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
        how = self._unlabeled()
        self.__dict__.pop("unlabeled_", None)
        is_here = how in ("em", "sfe") and y is not None and cluster_of(X) is None
        missing = is_unlabeled(y) if is_here else np.zeros(0, dtype=bool)
        if missing.any() and not missing.all():
            self._fit_some(X, y, sample_weight, groups, missing, how)
        else:
            super().fit(X, y, sample_weight, groups)
        return self

    def _fit_some(self, X: Any, y: Any, sample_weight: Any, groups: Any, missing: Array, how: str) -> None:
        """From texts of which some have no label."""
        data, weight = self._read_to_learn(X, reset=True), read_weights(sample_weight, len(missing))
        if data.n_rows != len(missing):
            raise InputError(f"there are {data.n_rows} texts and {len(missing)} labels; give each text one, or None")
        labelled, others = np.flatnonzero(~missing), np.flatnonzero(missing)
        labels = as_array(y, "y")[labelled]
        own, rest = (None if weight is None else weight[rows] for rows in (labelled, others))
        hashes = group_hashes(groups, data.n_rows)
        blocks = None if hashes is None else group_of(in_groups(row_hashes(data), hashes))[labelled]
        names = labels if labels.dtype.kind == "f" else labels.tolist()
        super().fit(data.take(labelled).texts, names, own, blocks)
        batch = self._batch(data.take(labelled).texts, labels, own)
        texts = Unread(data.take(others), rest, "em" if how == "em" else "sfe")
        model, self.unlabeled_ = learn_unlabeled(self._model, batch, texts, self._kernels(), blocks)
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
        family: Any = plan.family
        if not word_features(family.looks):
            raise ParameterError(
                f"refine=True learns from words, and looks is {self.looks!r}; let it name 'words' or 'pairs of words'"
            )
        return replace(plan, refine=True, sample_bytes=_REFINED_BYTES if plan.sample_bytes else 0)

    @property
    def group_bytes(self) -> int:
        # The tokens of all looks take a hundred times the room of a text; words alone take little, so that what a
        # group costs beside them, to keep training texts in order, matters more.
        return 1 << 21 if self.model == "auto" else 1 << 25

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
        return text_family(self)

    def _alpha_choice(self) -> Literal["evidence", "loo"] | None:
        if not isinstance(self.alpha, str):
            return None
        how = choice(self.alpha, "alpha", ("evidence", "loo"))
        if how == "evidence" and self.model == "complement":
            raise ParameterError(
                "alpha is 'evidence', and complement scores are no density of a text; pass alpha='loo' or a number"
            )
        return "loo" if how == "loo" else "evidence"

    def _order(self) -> int | None:
        return 0 if self.model == "auto" else None

    def _class_prior(self) -> ClassPrior:
        return class_prior_of(self.class_prior, self.fit_prior, self.class_weight)

    def _column_names(self) -> Array:
        coding = self._within.coding
        if isinstance(coding, Buckets):
            return np.array([f"bucket {j}" for j in range(len(coding))], dtype=object)
        return np.array(coding.tokens(), dtype=object)

    def summary(self) -> Table:
        """What each look at the texts is worth: its different tokens, and with "auto" the weights of its bands.

        Band 0 holds the tokens that tell nothing that chance would not, the last those that surely tell something.
        """
        return text_summary(self._fitted())

    def telling(self, n: int = 10, look: str | None = None) -> Table:
        """The tokens that identify most of each class's texts, the best first.

        Parameters
        ----------
        n : int
            How many of each class.
        look : str, optional
            Of this look alone, such as "words"; by default of all that are heard.

        Returns
        -------
        Table
            In the order of ``score``: the share of the class's texts that hold the token, times how far it raises the
            probability of the class from its share of all texts (0) towards 1 (1). Tokens that many classes have in
            common score low. Punctuation is listed only if it raises the probability at least half of the way.
            ``bits``: what the token says for the class against the mean of all classes; with "auto" in a text of this
            token alone, in longer ones less, by the root of the number of tokens. ``count``: how many texts of the
            class hold it (or how often they do, where a text counts a token more than once). Hashed tokens have the
            names that training texts give them; when these go (``keep_sample=False``), the names of the heaviest stay.

        Examples
        --------
        >>> mail = ["win cash now", "win a prize", "lunch at noon", "see you at noon"]
        >>> TextNB("multinomial").fit(mail, ["spam", "spam", "ham", "ham"]).telling(1)
        class  look   token  score      bits  count
        ham    words  at         1  0.696159      2
        spam   words  win        1  0.888804      2
        """
        model = self._fitted()
        family: Any = model.plan.family
        names = [one.name for one in family.looks]
        if look is not None and look not in names:
            raise ParameterError(f"look is {look!r}; this model has {', '.join(map(repr, names))}; name one of them")
        return telling(model, whole_number(n, "n"), look, self._kernels())

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The tokens that take part, with their places in the table of counts."""
        coding = self._within.coding
        if isinstance(coding, Buckets):
            raise AttributeError("tokens that are hashed into buckets have no vocabulary_")
        return {token: place for place, token in enumerate(coding.tokens())}

    @property
    def token_count_(self) -> Any:
        """The weighted number of each token in each class; sparse where most are 0."""
        return self._within.counts.total

    @property
    def _within(self) -> TokenCounts:
        """The sums of the tokens within the limits."""
        model: Any = self._fitted()
        sums: TokenCounts = model.family.terms.within(model.state.statistics.looks[0])
        return sums
