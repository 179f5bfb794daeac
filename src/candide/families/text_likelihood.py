"""What sums of tokens say of texts: by the likelihood of their tokens, and in bands of evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions, Sparse, TextRows, chunks
from ..kernels.tables import LinearTable
from ..kernels.token_bins import KNOTS, TokenBins, distinct, renumbered, some_columns
from ..kernels.tokens import TokenFeatures, TokenTables
from ..kernels.vocabulary import Buckets, SomeBuckets
from ..lazy_dataclass import dataclass
from ..statistics.cells import row_bytes
from ..statistics.texts import TextStatistics
from .base import Batch, Scores
from .score_terms import Parts
from .terms import KnownTokens

if TYPE_CHECKING:
    from .text import TextFamily

# Pseudo-count of a token in a band.
_BAND_ALPHA = 0.1
# Texts whose tokens are held at once.
CHUNK = 1 << 13
# Bytes of texts that are asked about at once.
_LITTLE = 1 << 16
# So many times as many sums as tokens that are asked for are many.
_MANY = 4
# Of looks that are asked for; None: of all.
Names = tuple[str, ...] | None


class BandName(NamedTuple):
    """Which score of a text: the look, whose tokens (those of the class, or of all others), and the band."""

    look: str
    by: str
    band: int


class BandParts(NamedTuple):
    """What tokens add to the scores of a text, ``(views, tokens, classes)``, and which of those asked for they are."""

    known: Array
    scores: Floats


class _Band(NamedTuple):
    """How texts are read for the tokens of one look, and their table."""

    look: TokenFeatures
    table: TokenBins

    def tokens(self, codes: Array) -> Positions:
        """Which tokens of the table codes of the sums are, -1 where none."""
        coding = self.look.coding
        if not isinstance(coding, SomeBuckets):
            return np.asarray(self.table.place[codes])
        at = np.minimum(np.searchsorted(coding.buckets, codes), max(0, len(coding.buckets) - 1))
        held = coding.buckets[at] == codes if len(coding.buckets) else np.zeros(len(codes), dtype=bool)
        return np.where(held, self.table.place[at] if len(coding.buckets) else -1, -1).astype(np.int32)

    def under_sums(self) -> TokenBins:
        """The table for rows under the codes of the sums, which may be all buckets."""
        coding = self.look.coding
        if not isinstance(coding, SomeBuckets):
            return self.table
        place = np.full(1 << coding.bits, -1, dtype=np.int32)
        place[coding.buckets] = self.table.place
        return replace(self.table, place=place)


@dataclass(frozen=True)
class TextLikelihood:
    """log p(tokens | class) of texts, by the likelihood of their tokens."""

    statistics: TextStatistics
    family: TextFamily
    known: KnownTokens

    @cached_property
    def inner(self) -> Any:
        """Of the tokens of the first look; views alone need none."""
        return self.family.inner.likelihood(self.known.counts)

    @property
    def is_limit(self) -> bool:
        return bool(self.inner.is_limit)

    def rows(self, data: TextRows, kernels: Kernels) -> Sparse:
        """Texts as rows of the first look."""
        return self.known.rows(data, kernels)

    @cached_property
    def _tables(self) -> TokenTables | None:
        """What each token adds, where the scores are sums over tokens and all fits into memory."""
        table = getattr(getattr(self.inner, "finite", None), "table", None)
        if not isinstance(table, LinearTable) or table.absent is not None:
            return None
        return self.known.tables(table.weights)

    def scores(self, data: TextRows, offset: Floats, kernels: Kernels) -> Floats:
        if self._tables is None:
            return self._by_rows(data, lambda rows: self.inner.scores(rows, offset, kernels), kernels)
        look = TokenFeatures(self.known.look.recipe, self.known.coding)
        found = kernels.score_tokens(data.texts, [look], [self._tables])[0]
        scores = found.once if self.known.look.presence else found.each
        assert scores is not None
        scores += self.inner.finite.base + offset
        return scores

    # Bands of evidence, for views.

    @cached_property
    def _bands(self) -> dict[int, _Band]:
        """Of looks that were asked for."""
        return {}

    def _band(self, place: int) -> _Band:
        if place not in self._bands:
            sums, complement = self.statistics.looks[place], len(self.statistics.rows) > 2
            coding, total = sums.coding, sums.counts.cells
            if isinstance(coding, Buckets):  # most of which are empty
                codes, table = TokenBins.of_seen(total, _BAND_ALPHA, complement=complement)
                coding = SomeBuckets(coding.bits, buckets=codes)
            else:
                table = TokenBins.of(total, _BAND_ALPHA, complement=complement)
            self._bands[place] = _Band(TokenFeatures(self.family.looks[place].recipe, coding), table)
        return self._bands[place]

    def token_scores(self, look: str, rows: Sparse, kernels: Kernels) -> Floats:
        """Scores by the look of this name of rows under the codes of its sums."""
        place = [one.name for one in self.family.looks].index(look)
        return kernels.token_bin_scores(*self._band_of_few(place, rows))

    def _band_of_few(self, place: int, rows: Sparse) -> tuple[Sparse, TokenBins]:
        """For these texts alone, where they hold few of all tokens: the whole takes more room than the sums."""
        total, codes = self.statistics.looks[place].counts.cells, distinct(rows.indices, rows.n_columns)
        if place in self._bands or _MANY * len(codes) > total.size:
            return rows, self._band(place).under_sums()
        some = TokenBins.of_some(total, codes, _BAND_ALPHA, complement=len(self.statistics.rows) > 2)
        return renumbered(rows, codes), some

    @property
    def band_names(self) -> list[BandName]:
        """Of the scores of ``token_bin_scores``."""
        kinds = ("the class", "the others") if len(self.statistics.rows) > 2 else ("the class",)
        names = [look.name for look in self.family.looks]
        return [BandName(name, by, band) for name in names for by in kinds for band in range(len(KNOTS))]

    def token_bin_scores(self, data: TextRows, kernels: Kernels, names: Names = None) -> Floats:
        """Scores of texts by every look, or by some, ``(views, rows, classes)``."""
        return self._each_look(data, kernels.token_bin_scores, kernels, names, few=self._is_first_question(data))

    def band_parts(self, look: str, codes: Array) -> BandParts:
        """What distinct tokens of one text, by their codes among the sums of a look, add to its scores."""
        place = [one.name for one in self.family.looks].index(look)
        if place in self._bands:
            table, tokens = self._bands[place].table, self._bands[place].tokens(codes)
        else:
            table = self._table_of(place, codes)
            tokens = table.place
        known = np.flatnonzero(tokens >= 0)
        return BandParts(known, table.token_views(tokens[known]))

    def _table_of(self, place: int, codes: Array) -> TokenBins:
        """Of some tokens alone, numbered as they are given."""
        sums = self.statistics.looks[place].counts.cells
        if place not in self._wholes:
            whole = TokenBins.of_some(sums, np.zeros(0, dtype=np.int64), _BAND_ALPHA)
            self._wholes[place] = whole.size, whole.n_tokens
        size, n_tokens = self._wholes[place]
        some = TokenBins.of(some_columns(sums, codes), _BAND_ALPHA, complement=len(self.statistics.rows) > 2)
        return replace(some, size=size, n_tokens=n_tokens)

    @cached_property
    def _wholes(self) -> dict[int, tuple[Floats, int]]:
        """Of looks that were asked about: sums over all tokens, and how many these are."""
        return {}

    def _is_first_question(self, data: TextRows) -> bool:
        """Whether a model that just came from a file is asked about little: that needs no tables of all tokens."""
        asked = self._asked
        self._asked.append(data.n_rows)
        return not asked[:-1] and not self._bands and row_bytes(data).sum() <= _LITTLE

    @cached_property
    def _asked(self) -> list[int]:
        """How many texts each time."""
        return []

    def token_bin_left_out(self, batch: Batch, kernels: Kernels, names: Names = None) -> Floats:
        """The same of texts that the sums hold, each as if they did not."""
        own = batch.classes, batch.weight
        return self._each_look(
            batch.data, lambda rows, table: kernels.token_bin_left_out(rows, *own, table), kernels, names
        )

    def token_bin_fold_scores(self, batch: Batch, folds: Positions, kernels: Kernels, names: Names = None) -> Floats:
        """The same, each text as if the sums held none of its fold."""
        own = batch.classes, batch.weight, folds
        return self._each_look(
            batch.data, lambda rows, table: kernels.token_bin_fold_scores(rows, *own, table), kernels, names, few=True
        )

    def _each_look(
        self, data: TextRows, score: Callable[[Sparse, TokenBins], Floats], kernels: Kernels, names: Names,
        *, few: bool = False,
    ) -> Floats:  # fmt: skip
        places = [i for i, look in enumerate(self.family.looks) if names is None or look.name in names]
        if few and not data.counted:
            return self._each_of_few(data, score, kernels, places)
        bands = [self._band(i) for i in places]
        looks = [band.look for band in bands]
        rows = data.counted_by(looks)
        if rows is None:
            rows = [found.rows for found in kernels.count_tokens(data.texts, looks, grow=False)]
        return np.concatenate([score(one, band.table) for one, band in zip(rows, bands, strict=True)])

    def _each_of_few(
        self, data: TextRows, score: Callable[[Sparse, TokenBins], Floats], kernels: Kernels, places: list[int]
    ) -> Floats:
        """Feature by feature: the tokens of all looks would take many times the room of the texts."""

        def of_look(place: int) -> Floats:
            look = TokenFeatures(self.family.looks[place].recipe, self.statistics.looks[place].coding)
            rows = kernels.count_tokens(data.texts, [look], grow=False)[0].rows
            return score(*self._band_of_few(place, rows))

        return np.concatenate([of_look(place) for place in places])

    def limits(self, data: TextRows, kernels: Kernels) -> list[Floats]:
        if not self.is_limit:
            return []
        parts = [self.inner.limits(self.rows(texts, kernels), kernels) for _, _, texts in chunks(data, CHUNK)]
        return [np.concatenate(limit) for limit in zip(*parts, strict=True)]

    def each(self, data: TextRows, kernels: Kernels) -> Scores:
        made: Scores = self.inner.each(self.rows(data, kernels), kernels)
        return made

    def parts(self, data: TextRows, kernels: Kernels) -> Parts:
        """Token by token: columns are codes of the tokens known."""
        made: Parts = self.inner.parts(self.rows(data, kernels), kernels)
        return made

    def shrunk(self, data: TextRows, kernels: Kernels) -> Floats:
        return self._by_rows(data, lambda rows: self.inner.shrunk(rows, kernels), kernels)

    def log_base(self, data: TextRows) -> Floats:
        return self._by_rows(data, self.inner.log_base, Kernels())

    def _by_rows(self, data: TextRows, score: Any, kernels: Kernels) -> Floats:
        parts = [score(self.rows(texts, kernels)) for _, _, texts in chunks(data, CHUNK)]
        return np.asarray(np.concatenate(parts))

    def sample(self, classes: Positions, rng: np.random.Generator) -> Array:
        """Texts of tokens in any order, with a space between them."""
        coding = self.known.coding
        if isinstance(coding, Buckets):
            raise ParameterError("tokens that are hashed into buckets have no names to draw; keep a vocabulary")
        drawn, tokens = self.inner.sample(classes, rng), np.array(coding.tokens(), dtype=object)
        out = np.empty(len(classes), dtype=object)
        for i, counts in enumerate(drawn.astype(np.int64)):
            words = np.repeat(tokens, counts)
            rng.shuffle(words)
            out[i] = " ".join(words)
        return out

    def expected(self, data: Any, posterior: Floats) -> Any:
        raise ParameterError("a missing text cannot be filled in; impute is for tables")

    def parameters(self) -> dict[str, Array]:
        made: dict[str, Array] = self.inner.parameters()
        return made
