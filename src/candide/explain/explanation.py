"""Explanations: a prediction as the sum of its contributions; as text, in a terminal and in a notebook."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats
from ..model.marginal_likelihood import class_place
from ..model.scorer import leaders_only
from ..model.table import Table, objects
from ..printable import printable
from ..stacking.calibration import log_softmax
from .terms import BITS, Certainty, Kind, Placed, Term, joined, placed

Unit = Literal["bits", "nats"]
By = Literal["term", "view", "word"]


@dataclass(frozen=True, repr=False)
class Explanation:
    """Explanation of one prediction: terms that add up to the log probabilities of the classes.

    Examples
    --------
    >>> from candide import GaussianNB
    >>> model = GaussianNB().fit([[1.0, 5.0], [2.0, 6.0], [8.0, 5.0], [9.0, 7.0]], ["low", "low", "high", "high"])
    >>> found = model.explain([[3.0, 6.0]])[0]
    >>> found.answer, [term.name for term in found.terms]
    ('low', ['prior', 'x0 = 3', 'x1 = 6'])
    >>> bool(np.allclose(found.total, model.predict_log_proba([[3.0, 6.0]])[0]))
    True
    """

    classes: Array  # labels
    terms: tuple[Term, ...]
    log_probability: Floats  # (classes,) the model's own
    texts: Mapping[Any, str] = field(default_factory=dict)  # by column; None if there are no columns
    certainty: Certainty | None = None  # posterior uncertainty of the terms

    @property
    def answer(self) -> Any:
        """Most probable class."""
        return self.classes.tolist()[self._order[0]]

    @property
    def runner_up(self) -> Any:
        """Second most probable class; the answer itself if there is only one class."""
        return self.classes.tolist()[self._order[:2][-1]]

    @property
    def probabilities(self) -> Floats:
        """Probabilities of all classes."""
        return np.exp(self.log_probability)

    @property
    def probability(self) -> float:
        """Probability of the answer."""
        return float(self.probabilities[self._order[0]])

    @cached_property
    def total(self) -> Floats:
        """Sum of the terms: the log probabilities of the model, up to rounding."""
        finite = np.sum([term.scores for term in self.terms], axis=0)
        n_limits = max(len(term.limits) for term in self.terms)
        limits = [np.sum([term.limits[i] for term in self.terms if term.limits], axis=0)[None] for i in range(n_limits)]
        alive = leaders_only(finite[None], limits, np.isfinite(finite)[None])
        return np.asarray(log_softmax(alive)[0])

    def contributions(
        self, of: Any = None, against: Any = None, unit: Unit = "bits", by: By = "term", level: float | None = None
    ) -> Table:
        """Return the contributions to the log-odds of one class against another, largest first.

        Parameters
        ----------
        of, against : labels, optional
            By default the most probable class and the second; if one is given, the most probable of the others.
        unit : {"bits", "nats"}
            A bit doubles the odds.
        by : {"term", "view", "word"}
            One contribution per cell or token; one per cell and view; or, for texts, one per word.
        level : float, optional
            Add ``low`` and ``high``, the credible interval of each contribution at this level, given the uncertainty
            of the parameters; NaN where it is unknown. For models without stacking and calibration.

        Returns
        -------
        Table
            ``term``, ``kind``, ``column``, ``value``, ``view`` and the unit. The sum is the log-odds.
        """
        if by not in ("term", "view", "word"):
            raise ParameterError(f"by is {by!r}; expected 'term', 'view' or 'word'")
        pair, scale = self.pair(of, against), _scale(unit)
        terms = self._by_word(pair) if by == "word" else list(self.terms) if by == "view" else self.grouped
        amounts = np.array([term.between(*pair) / scale for term in terms])
        order = sorted(range(len(terms)), key=lambda i: -abs(amounts[i]))
        columns = {"term": "name", "kind": "kind", "column": "column", "value": "value", "view": "view"}
        named = {title: objects(getattr(terms[i], name) for i in order) for title, name in columns.items()}
        found = Table({**named, unit: amounts[order]})
        return found if level is None else self._with_intervals(found, [terms[i] for i in order], pair, unit, level)

    def _with_intervals(
        self, table: Table, terms: list[Term], pair: tuple[int, int], unit: Unit, level: float
    ) -> Table:
        from scipy.special import ndtri

        if not 0.0 < level < 1.0:
            raise ParameterError(f"level is {level!r}; expected a probability between 0 and 1")
        assert self.certainty is not None
        deviation = dict(zip(map(id, self.grouped), self.certainty.deviations(self.grouped, *pair), strict=True))
        reach = ndtri(0.5 + level / 2) / _scale(unit) * np.array([deviation.get(id(term), np.nan) for term in terms])
        return Table({**table, "low": table[unit] - reach, "high": table[unit] + reach})

    def _by_word(self, pair: tuple[int, int]) -> list[Term]:
        """Return terms in which words replace tokens, for two classes only."""
        out = [term for term in self.grouped if term.kind != "token"]
        for column, text in self.texts.items():
            found = self._placed(column, pair)
            amounts: dict[str, list[float]] = {}
            for word in found.words:
                amounts.setdefault(text[word.begin : word.end].lower(), []).append(word.amount)
            pairs = [(word, sum(each), len(each)) for word, each in amounts.items() if any(each)]
            out += [self._of_two("token", pair, amount, column, word, float(n)) for word, amount, n in pairs]
            if found.elsewhere:
                out.append(self._of_two("rest", pair, found.elsewhere, column, "other characters"))
        return out

    def _of_two(
        self, kind: Kind, pair: tuple[int, int], amount: float, column: Any, value: Any, count: float | None = None
    ) -> Term:
        scores = np.zeros(len(self.classes))
        scores[pair[0]] = amount
        return Term(kind, scores, column, value, count=count)

    def words(self, of: Any = None, against: Any = None, unit: Unit = "bits", *, column: Any = None) -> Placed:
        """Return the words of a text with the contributions of all tokens assigned to them.

        A pair of words is divided between both, character n-grams among the words that contain them. ``column`` names
        the text column of a table. ``of``, ``against`` and ``unit`` as in ``contributions``. Words and ``elsewhere``
        have the same sum as the tokens.
        """
        if column not in self.texts:
            known = "no texts" if not self.texts else f"texts in {[*self.texts]}"
            raise ParameterError(f"column is {column!r}, but the row has {known}; pass the name of a text column")
        scale, found = _scale(unit), self._placed(column, self.pair(of, against))
        return Placed([word._replace(amount=word.amount / scale) for word in found.words], found.elsewhere / scale)

    def _placed(self, column: Any, pair: tuple[int, int]) -> Placed:
        if (column, pair) not in self._shared_out:
            tokens = [term for term in self.terms if term.kind == "token" and term.column == column]
            found = placed(self.texts[column], tokens, [term.between(*pair) for term in tokens])
            self._shared_out[column, pair] = found
        return self._shared_out[column, pair]

    @cached_property
    def _shared_out(self) -> dict[tuple[Any, tuple[int, int]], Placed]:
        """Cache of contributions distributed over words, which takes long for long texts."""
        return {}

    @property
    def default_by(self) -> By:
        """Default of ``by`` for display: words for texts with several sets of tokens, else terms."""
        return "word" if len({term.view for term in self.terms if term.kind == "token"}) > 1 else "term"

    def log_odds(self, of: Any = None, against: Any = None, unit: Unit = "bits") -> float:
        """Return the log-odds of one class against another, the sum of ``contributions``."""
        first, second = self.pair(of, against)
        if self.log_probability[first] == self.log_probability[second]:
            return 0.0
        return float(self.log_probability[first] - self.log_probability[second]) / _scale(unit)

    def to_table(self, unit: Unit = "nats") -> Table:
        """Return a table with one row for each term and class."""
        n_classes, terms = len(self.classes), self.terms
        whole = {
            "term": objects(term.name for term in terms),
            "kind": objects(term.kind for term in terms),
            "view": objects(term.view for term in terms),
        }
        columns = {name: np.repeat(column, n_classes) for name, column in whole.items()}
        scores = np.concatenate([np.where(_ruled_out(term), -np.inf, term.scores) for term in terms])
        return Table({**columns, "class": np.tile(self.classes, len(terms)), unit: scores / _scale(unit)})

    @cached_property
    def grouped(self) -> list[Term]:
        """Terms, with those of one cell or token added up."""
        groups: dict[Any, list[Term]] = {}
        for term in self.terms:
            groups.setdefault(term.key if term.kind in ("cell", "token") else id(term), []).append(term)
        return [joined(group) for group in groups.values()]

    def pair(self, of: Any = None, against: Any = None) -> tuple[int, int]:
        """Return the positions of two classes."""
        if len(self.classes) < 2:
            raise ParameterError(
                "contributions compare two classes, but this model has only one; add another with partial_fit"
            )
        first, second = (None if label is None else class_place(self.classes, label) for label in (of, against))
        if first is None:
            first = next(k for k in self._order if k != second)
        if second is None:
            second = next(k for k in self._order if k != first)
        if first == second:
            raise ParameterError(f"of and against are both {of!r}; expected two different classes")
        return first, second

    @cached_property
    def _order(self) -> list[int]:
        order: list[int] = np.argsort(-self.log_probability, kind="stable").tolist()
        return order

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def __rich__(self) -> Any:
        return as_rich(self)


class Explanations(Sequence[Explanation]):
    """A sequence with one ``Explanation`` per row."""

    def __init__(self, rows: Sequence[Explanation]) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, place: int) -> Explanation: ...
    @overload
    def __getitem__(self, place: slice) -> Explanations: ...
    def __getitem__(self, place: int | slice) -> Explanation | Explanations:
        return Explanations(self._rows[place]) if isinstance(place, slice) else self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def to_table(self, unit: Unit = "nats") -> Table:
        """Return the tables of all rows as one, with a column ``row``."""
        tables = [one.to_table(unit) for one in self._rows]
        row = np.repeat(np.arange(len(tables)), [table.n_rows for table in tables])
        names = list(tables[0]) if tables else []
        return Table({"row": row, **{name: np.concatenate([table[name] for table in tables]) for name in names}})

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self._rows[:_SHOWN])) + self._more("\n")

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in self._rows[:_SHOWN]) + self._more("")

    def _more(self, before: str) -> str:
        return f"{before}… {len(self) - _SHOWN} more rows" if len(self) > _SHOWN else ""


_SHOWN = 5


def _ruled_out(term: Term) -> Array:
    """Return the classes that the term rules out, exactly or relative to others."""
    out = np.zeros(len(term.scores), dtype=bool)
    for limit in term.limits:
        out |= limit < 0
    return out


def _scale(unit: Unit) -> float:
    if unit not in ("bits", "nats"):
        raise ParameterError(f"unit is {unit!r}; expected 'bits' or 'nats'")
    return BITS if unit == "bits" else 1.0


_MOST = 20
_WIDEST = 24
# Minimum number of bits for a word to be colored, and to be colored strongly.
_LEAST, _STRONG = 0.1, 1.0
# Blue for, orange against, which color-blind readers can tell apart: in HTML, and on dark or light terminals.
_HTML_FOR, _HTML_AGAINST = "#0072b2", "#d55e00"
_FOR, _AGAINST = "dodger_blue1", "dark_orange"
# Smaller contributions would be shown as 0.00.
_LEAST_SHOWN = 0.005


class Bar(NamedTuple):
    """A displayed term: its name, bits, and a length from -1 to 1."""

    name: str
    bits: float
    length: float


def bars(found: Explanation, most: int = _MOST, of: Any = None, against: Any = None) -> tuple[list[Bar], Bar | None]:
    """Return the largest terms and the sum of the others; words for texts with several feature sets."""
    table = found.contributions(of, against, by=found.default_by)
    pairs = list(zip(table["term"].tolist(), table["bits"].tolist(), strict=True))
    largest = max((abs(bits) for _, bits in pairs if abs(bits) < float("inf")), default=0.0) or 1.0
    made = [Bar(printable(name), bits, max(-1.0, min(1.0, bits / largest))) for name, bits in pairs]
    shown = [bar for bar in made[:most] if abs(bar.bits) >= _LEAST_SHOWN]
    others = made[len(shown) :]
    if len(others) == 1:  # the name of a single term is as short as the number of terms
        return made, None
    rest = Bar(f"{len(others)} more", sum(bar.bits for bar in others), 0.0) if others else None
    return shown, rest


def heading(found: Explanation, of: Any = None, against: Any = None) -> str:
    """Return the prediction in words."""
    if len(found.classes) < 2:
        return f"{printable(found.answer)}: the model has no other class"
    first, second = (found.classes.tolist()[place] for place in found.pair(of, against))
    prefix = "" if first == found.answer else f"{first} "
    odds = found.log_odds(first, second)
    return printable(f"{found.answer} ({found.probability:.4f}), {prefix}against {second}: {signed(odds)} bits")


def one_line(found: Explanation, most: int) -> str:
    """Return the largest contributions in one line, for a cell of a table."""
    if len(found.classes) < 2:
        return ""
    shown, rest = bars(found, most)
    second = found.classes.tolist()[found.pair()[1]]
    terms = ", ".join(f"{bar.name} {signed(bar.bits)}" for bar in [*shown[: most + 1], *([rest] if rest else [])])
    return printable(f"against {second}: {terms}")


def as_text(found: Explanation) -> str:
    """Return plain lines."""
    if len(found.classes) < 2:
        return heading(found)
    shown, rest = bars(found)
    every = [*shown, *([rest] if rest else [])]
    width = min(_WIDEST * 2, max(len(bar.name) for bar in every))
    lines = [
        f"  {_cut(bar.name, width).ljust(width)}  {signed(bar.bits):>8}  {_line(bar.length)}".rstrip() for bar in every
    ]
    return "\n".join([heading(found), *lines])


def signed(bits: float) -> str:
    """Return a number with its sign and two decimals; what is rounded to zero has no sign.

    >>> signed(1.234), signed(-0.5), signed(-0.001)
    ('+1.23', '-0.50', '0.00')
    """
    text = f"{bits:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text


def as_rich(found: Explanation, most: int = _MOST, of: Any = None, against: Any = None) -> Any:
    """Return a table for a terminal."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(heading(found, of, against)), title_justify="left", box=None, pad_edge=False)
    table.add_column("contribution", overflow="fold")
    table.add_column("bits", justify="right", no_wrap=True)
    table.add_column("")
    if len(found.classes) > 1:
        shown, rest = bars(found, most, of, against)
        for bar in [*shown, *([rest] if rest else [])]:
            table.add_row(Text(bar.name), signed(bar.bits), _line(bar.length), style=color_of(bar.bits))
    return table


def colored(found: Explanation, column: Any = None, of: Any = None, against: Any = None) -> Any:
    """Return a text for a terminal, with words colored by their contributions."""
    from rich.text import Text

    text = Text(printable(found.texts[column], lines=True))
    for word in found.words(of, against, column=column).words:
        if abs(word.amount) >= _LEAST:
            strong = "bold " if abs(word.amount) >= _STRONG else ""
            text.stylize(strong + color_of(word.amount), word.begin, word.end)
    return text


def color_of(bits: float) -> str:
    """Return the terminal color of a contribution."""
    return _FOR if bits > 0 else _AGAINST if bits < 0 else ""


def as_html(found: Explanation) -> str:
    """Return a table with bars for a notebook, which is readable without colors too."""
    head = f"<p><b>{html.escape(heading(found))}</b></p>"
    if len(found.classes) < 2:
        return head
    shown, rest = bars(found)
    rows = "".join(map(_row, [*shown, *([rest] if rest else [])]))
    return (
        f"{head}<table><thead><tr><th>contribution</th><th>bits</th><th></th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(bar: Bar) -> str:
    color, width = (_HTML_FOR if bar.bits > 0 else _HTML_AGAINST), round(120 * abs(bar.length))
    drawn = f'<div style="background:{color};height:0.8em;width:{width}px"></div>' if width else ""
    return (
        f'<tr><td style="text-align:left">{html.escape(bar.name)}</td>'
        f'<td style="text-align:right">{signed(bar.bits)}</td><td style="text-align:left">{drawn}</td></tr>'
    )


def _line(length: float) -> str:
    return ("█" if length > 0 else "░") * round(20 * abs(length))


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"
