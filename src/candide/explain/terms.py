"""The terms that sum to a prediction, their uncertainty, and the cells and tokens that they belong to.

A table stores dates as days since 1970 and as calendar parts; here they become dates again. The contributions of tokens
are distributed over the words of a text in which they occur.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..data.columns import Columns
from ..data.dates import DATE_PARTS, days_to_datetimes
from ..exceptions import ParameterError
from ..families import Multinomial
from ..families.score_terms import REST, cells_of
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Floats, Sparse, TextRows
from ..kernels.tokenizer import TokenizerConfig
from ..kernels.tokens import TokenFeatures
from ..kernels.vocabulary import Coding, Vocabulary
from ..model.classifier import Classifier
from ..model.marginal_likelihood import prior_variance


def date_columns(names: list[Any]) -> dict[int, dict[int, str]]:
    """Return the positions of date columns and, for each, those of its calendar parts.

    >>> date_columns(["age", "when", "when.month", "when.weekday"])
    {1: {2: 'month', 3: 'weekday'}}
    """
    place = {name: j for j, name in enumerate(names)}
    found = {
        j: {place[f"{name}.{part}"]: part for part in DATE_PARTS if f"{name}.{part}" in place}
        for name, j in place.items()
    }
    return {j: parts for j, parts in found.items() if parts}


def written(days: Any) -> Any:
    """Return a date in ISO format, given its days since 1970.

    >>> written(19797.0), written(19797.75), written(None)
    ('2024-03-15', '2024-03-15T18:00', None)
    """
    if days is None:
        return None
    text = str(days_to_datetimes(np.array([days], dtype=np.float64))[0])[:16]
    return text.removesuffix("T00:00")


def parts_of(days: float, parts: dict[int, str]) -> dict[int, Any]:
    """Return the values of the calendar parts of a date.

    >>> parts_of(19797.0, {2: "month", 3: "weekday"})
    {2: 3, 3: 'Friday'}
    """
    when: Array = days_to_datetimes(np.array([days], dtype=np.float64))
    out = {}
    for place, part in parts.items():
        unit, first, labels = DATE_PARTS[part]
        out[place] = list(labels)[int((when.astype(f"datetime64[{unit}]").astype(np.int64)[0] + first) % len(labels))]
    return out


def shown_values(row: Data | Columns, columns: Array, names: Array) -> list[Any]:
    """Return the cells of one row in some columns, with dates in ISO format."""
    dates = date_columns(names.tolist()) if isinstance(row, Columns) else {}
    pairs = zip(columns.tolist(), _values(row, columns), strict=True)
    return [written(value) if j in dates else value for j, value in pairs]


def values_of(row: Data | Columns) -> list[Any]:
    """Return the cells of one row as they were passed, with None for missing cells."""
    return _values(row, np.arange(row.n_columns))


def _values(row: Data | Columns, columns: Array) -> list[Any]:
    """Return the cells of one row in some columns."""
    if isinstance(row, Sparse):
        held = dict(zip(row.indices.tolist(), row.values.tolist(), strict=True))
        return [or_none(held.get(j, 0.0)) for j in columns.tolist()]
    return [None if j == REST else _value(row, j) for j in columns.tolist()]


def _value(row: Data | Columns, j: int) -> Any:
    if isinstance(row, Dense):
        return or_none(row.column(j)[:1].tolist()[0])
    assert isinstance(row, Columns)
    column = row.columns[j]
    cell = column.values[:1].tolist()[0]
    if column.labels is None:
        return or_none(cell)
    return None if cell < 0 else column.labels[cell : cell + 1].tolist()[0]


def or_none(cell: Any) -> Any:
    """Return None for NaN, which is not equal to itself, and other cells unchanged."""
    return cell if cell == cell else None


Kind = Literal["prior", "cell", "token", "rest", "limit", "calibration"]
BITS = float(np.log(2.0))


@dataclass(frozen=True)
class Term:
    """A contribution to the score of each class, in natural logarithms.

    ``kind`` is "prior" (the class prior, or the class biases of stacking), "cell" (the cell of a column), "token" (of a
    text), "rest" (contributions that belong to no single cell: absent tokens, joint columns), "limit" (the part of a
    view's score that is clipped to the range seen in training) or "calibration".
    """

    kind: Kind
    scores: Floats  # (classes,)
    column: Any = None  # the name of the column; None if it belongs to none
    value: Any = None  # the value of the cell, or the token
    view: str = ""  # the view that the term belongs to, if there are several
    count: float | None = None  # number of occurrences of a token
    limits: tuple[Floats, ...] = ()  # coefficients of diverging terms, (classes,) each: probabilities of 0

    @property
    def name(self) -> str:
        """Name of the term for display.

        >>> Term("cell", np.zeros(2), "pay", 1234567.0).name, Term("token", np.zeros(2), value="win", count=2.0).name
        ('pay = 1234567', 'win ×2')
        """
        if self.kind == "cell":
            return f"{self.column} = {_shown(self.value)}"
        if self.kind == "token":
            times = f" ×{_shown(self.count)}" if self.count not in (None, 1) else ""
            return f"{'' if self.column is None else f'{self.column}: '}{_spaced(self.value)}{times}"
        return ": ".join(str(part) for part in (self.column, self.value) if part is not None) or self.kind

    @property
    def key(self) -> tuple[Any, ...]:
        """Key shared by the terms of one cell in several views; tokens of different feature sets have other keys."""
        return self.kind, self.column, self.value, self.view if self.kind == "token" else ""

    def between(self, of: int, against: int) -> float:
        """Return the contribution to the log-odds of one class against another; infinite if it rules one out."""
        for limit in self.limits:
            if limit[of] != limit[against]:
                return float(np.copysign(np.inf, limit[of] - limit[against]))
        if self.scores[of] == self.scores[against]:  # both may be infinite
            return 0.0
        return float(self.scores[of] - self.scores[against])


def _shown(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.15g}" if value.is_integer() else f"{value:.6g}"


def _spaced(token: str) -> str:
    """Return a token with visible spaces at its ends."""
    return "␣" * (len(token) - len(token.lstrip(" "))) + token.strip(" ") + "␣" * (len(token) - len(token.rstrip(" ")))


def joined(terms: list[Term]) -> Term:
    """Return the sum of terms with the same key."""
    first = terms[0]
    if len(terms) == 1:
        return first
    limits = tuple(np.sum([term.limits[i] for term in terms], axis=0) for i in range(len(first.limits)))
    scores = np.sum([term.scores for term in terms], axis=0)
    return Term(first.kind, scores, first.column, first.value, "", first.count, limits)


@dataclass(frozen=True)
class Certainty:
    """Posterior uncertainty of the terms of one row."""

    model: Classifier
    row: Any
    kernels: Kernels

    def deviations(self, terms: Sequence[Term], of: int, against: int) -> Floats:
        """Return the posterior standard deviations of the terms of the log-odds; NaN where they are not defined."""
        if self.model.bound_spec.corrects:
            raise ParameterError(
                "credible intervals are available only for plain naive Bayes models, but this one is calibrated or "
                "stacked; pass calibrate=None (and a single family), or omit level"
            )
        variance = np.full(len(terms), np.nan)
        cells = [i for i, term in enumerate(terms) if term.kind in ("cell", "token")]
        variance[cells] = self._cells(of, against)
        apart = prior_variance(self.model)
        variance[[i for i, term in enumerate(terms) if term.kind == "prior"]] = apart[of] + apart[against]
        return np.asarray(np.sqrt(variance))

    def _cells(self, of: int, against: int) -> Floats:
        family, statistics, row = self.model.family, self.model.state.statistics, self.row
        likelihood: Any = self.model.likelihood
        if isinstance(likelihood, TextLikelihood):
            row, family = likelihood.rows(row, self.kernels), likelihood.family.inner
            statistics = likelihood.known.counts
        rows = one_cell_each(row, zeros=isinstance(family, Multinomial))
        if rows is None:
            return np.full(len(cells_of(row)[0]), np.nan)
        each = family.score_variance(rows, statistics, self.kernels)
        first, second = (np.full(rows.n_rows, place, dtype=np.int32) for place in (of, against))
        together = family.score_covariance(rows, first, second, statistics)
        return np.asarray(np.maximum(each[:, of] + each[:, against] - 2 * together, 0.0))


def one_cell_each(row: Data, *, zeros: bool) -> Data | None:
    """Return one row per cell, in which all other cells are missing, or 0 if zeros do not contribute.

    Return None for sparse rows if zeros contribute, because they cannot be left out.
    """
    if isinstance(row, Sparse):
        if not zeros:
            return None
        places = np.arange(len(row.indices) + 1, dtype=row.indptr.dtype)
        return Sparse(places, row.indices, row.values, row.n_columns)
    known = [j for j in range(row.n_columns) if or_none(row.column(j)[:1].tolist()[0]) is not None]
    columns = tuple(_alone(row.column(j), known, j, zeros) for j in range(row.n_columns))
    return Dense.of(columns, row.names)


def _alone(column: Array, known: list[int], j: int, zeros: bool) -> Array:
    """Return a column with its cell in one row and missing values in all others."""
    nothing: Any = None if column.dtype == object else 0.0 if zeros else np.nan
    out = np.full(len(known), nothing, dtype=object if column.dtype == object else np.float64)
    if j in known:
        out[known.index(j)] = column[0]
    return out


class Token(NamedTuple):
    """A token, or several tokens with the same code, and the number of occurrences."""

    names: tuple[str, ...]
    times: int

    @property
    def name(self) -> str:
        """Name of the token for display."""
        return " or ".join(self.names)


def tokens_of(tokenizer: TokenizerConfig, text: TextRows, kernels: Kernels) -> list[Token]:
    """Return the tokens of one text in the order of their first occurrence."""
    found = kernels.count_tokens(text.texts, [TokenFeatures(tokenizer, Vocabulary())], grow=True)[0]
    assert isinstance(found.coding, Vocabulary)
    names = found.coding.tokens(found.rows.indices)
    order = np.argsort(found.rows.indices, kind="stable")
    return [Token((names[i],), int(found.rows.values[i])) for i in order]


def code_names(tokens: Iterable[Token], coding: Coding) -> dict[int, Token]:
    """Return the known tokens by code; tokens with the same code are combined."""
    every = list(tokens)
    out: dict[int, Token] = {}
    codes = coding.codes([token.names[0] for token in every])
    for code, token in zip(codes.tolist(), every, strict=True):
        if code >= 0:
            before = out.get(code, Token((), 0))
            out[code] = Token(before.names + token.names, before.times + token.times)
    return out


WORD = re.compile(r"\w+")
# Tokens with positions begin with the number of preceding words.
_PLACE = re.compile(r"^-?\d+:(?=\S)")
_NOWHERE = np.zeros(0, dtype=np.int64)


class Word(NamedTuple):
    """Position of a word in the text, and its contribution."""

    begin: int
    end: int
    amount: float


class Placed(NamedTuple):
    """The words of a text in order, and the contribution of tokens that cannot be located in it."""

    words: list[Word]
    elsewhere: float


def placed(text: str, terms: Iterable[Term], amounts: Iterable[float]) -> Placed:
    """Return the contributions of tokens distributed evenly among the words in which they occur.

    >>> import numpy as np
    >>> tokens = [Term("token", np.zeros(2), value="win cash"), Term("token", np.zeros(2), value="wi")]
    >>> found = placed("Win cash, win!", tokens, [2.0, 1.0])
    >>> [word.amount for word in found.words], found.elsewhere
    ([1.0, 1.0, 1.0], 0.0)
    """
    spans = [found.span() for found in WORD.finditer(text)]
    index = _Index([_folded(text[begin:end]) for begin, end in spans])
    out, elsewhere = np.zeros(len(spans)), 0.0
    for term, amount in zip(terms, amounts, strict=True):
        pieces = _pieces(str(term.value))
        for piece in pieces:
            at = index.places(piece)
            out[at] += amount / len(pieces) / max(1, len(at))
            elsewhere += 0.0 if len(at) else amount / len(pieces)
        elsewhere += 0.0 if pieces else amount
    return Placed([Word(*span, amount) for span, amount in zip(spans, out.tolist(), strict=True)], elsewhere)


def _pieces(token: str) -> list[str]:
    """Return the parts of a token that lie within one word each."""
    return WORD.findall(_folded(_PLACE.sub("", token)))


def _folded(text: str) -> str:
    """Return a text in lowercase and without accents."""
    plain = unicodedata.normalize("NFKD", text.lower())
    return "".join(sign for sign in plain if not unicodedata.combining(sign))


class _Index:
    """Where pieces of words are found."""

    def __init__(self, words: list[str]) -> None:
        found: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(words):
            found[word].append(place)
        self._whole = {word: np.array(places) for word, places in found.items()}
        self._within: dict[int, dict[str, Array]] = {}

    def places(self, piece: str) -> Array:
        """Return the positions of words equal to the piece, or else of words that contain it."""
        if piece in self._whole:
            return self._whole[piece]
        if len(piece) not in self._within:
            self._within[len(piece)] = self._pieces_of(len(piece))
        return self._within[len(piece)].get(piece, _NOWHERE)

    def _pieces_of(self, size: int) -> dict[str, Array]:
        found: dict[str, list[Array]] = defaultdict(list)
        for word, places in self._whole.items():
            for piece in {word[i : i + size] for i in range(len(word) - size + 1)}:
                found[piece].append(places)
        return {piece: np.concatenate(places) for piece, places in found.items()}
