"""Rows worth a look, for the page, each with what the model says of it and why."""

from __future__ import annotations

import math

from ..explain.explanation import Explanation
from ..explain.showing import Bar, bars
from .examples import DOUBTFUL, KINDS, LONGEST, Kind
from .findings import Findings, Shown
from .markup import percent, plain, section, users

_TERMS = 5
_TEXT = 320
_CELLS = 8
# Bits from which a word has a colour.
_LEAST_BITS = 0.3

_HEADINGS: dict[Kind, str] = {
    "doubtful label": "Labels that may be wrong",
    "least sure": "The least sure answers",
    "surest": "The surest answers",
}


def rows_section(found: Findings) -> str:
    """Doubtful labels, and the ends of certainty."""
    if not found.examples:
        return section("rows", "Rows worth a look", f"<p>{_nothing(found)}</p>")
    parts = [_about(found)]
    for kind in KINDS:
        shown = [one for one in found.examples if one.example.kind == kind]
        if kind == "doubtful label":
            parts += [f"<h3>{_HEADINGS[kind]}</h3>", _doubts(found)]
        elif shown:
            parts.append(f"<h3>{_HEADINGS[kind]}</h3>")
        parts += map(_example, shown)
    return section("rows", "Rows worth a look", "".join(parts))


def _nothing(found: Findings) -> str:
    if found.trained is not None or found.given is not None:
        return "None of the rows stands out."
    return (
        "The model keeps no training rows to show. <code>candide train --updatable</code> keeps them; "
        "<code>candide train --report page.html</code> writes this page while they are there; and "
        "<code>candide report MODEL --data rows.csv</code> shows rows that you give."
    )


def _about(found: Findings) -> str:
    short = f" Texts of more than {LONGEST:,} bytes are left out." if found.examples[0].explanation.texts else ""
    if found.examples[0].of_training:
        return (
            "<p>Training rows. Probabilities are by models that have not seen the row; the evidence beneath, the "
            f"strongest first, is that of the model as it is.{short}</p>"
        )
    return f"<p>Rows that this report was given, by the model as it is. The strongest evidence first.{short}</p>"


def _doubts(found: Findings) -> str:
    lot = found.trained or found.given
    assert lot is not None
    count = "No row" if not lot.n_doubtful else f"{lot.n_doubtful:,} rows"
    return (
        f"<p>{count} of the {lot.n_rows:,} judged: another class than the label has a probability of at least "
        f"{percent(DOUBTFUL, 0)}. The label may be wrong, or the row unlike all others.</p>"
    )


def _example(shown: Shown) -> str:
    example, found = shown.example, shown.explanation
    labels = found.classes.tolist()
    answer, label = labels[example.answer], labels[example.label]
    sure = percent(math.exp(float(example.log_probability[example.answer])), 2)
    own = percent(math.exp(float(example.log_probability[example.label])), 2)
    where = "" if example.place is None else f"row {example.place + 1:,}: "
    verdict = f"{where}answered {users(answer)} ({sure})"
    verdict += ", as labelled" if answer == label else f", labelled {users(label)} ({own})"
    against = None if answer == label or len(labels) < 2 else label
    return (
        f'<article class="example"><h4>{verdict}</h4>{_content(found, answer, against)}'
        f"{_evidence(found, answer, against)}</article>"
    )


def _content(found: Explanation, answer: object, against: object) -> str:
    """The cells, or the text."""
    texts = "".join(_text(found, column, answer, against) for column in found.texts)
    cells = [term for term in found.grouped if term.kind == "cell" and term.value is not None]
    if not cells:
        return texts
    strongest = sorted(cells, key=lambda term: -float(abs(term.scores - term.scores.mean()).max()))
    listed = ", ".join(users(term.name, 60) for term in strongest[:_CELLS])
    more = f" and {len(cells) - _CELLS} more" if len(cells) > _CELLS else ""
    return f'<p class="text">{listed}{more}</p>{texts}'


def _text(found: Explanation, column: object, answer: object, against: object) -> str:
    """The beginning of a text, its words coloured by what they say."""
    text, out, at = found.texts[column], [], 0
    words = found.words(answer, against, column=column).words if len(found.classes) > 1 else []
    for word in words:
        if word.end > _TEXT:
            break
        if abs(word.amount) >= _LEAST_BITS:
            side = "for" if word.amount > 0 else "against"
            out += [_piece(text[at : word.begin]), f'<b class="{side}">{_piece(text[word.begin : word.end])}</b>']
            at = word.end
    out.append(_piece(text[at:_TEXT]))
    more = "…" if len(text) > _TEXT else ""
    name = "" if column is None else f"{users(column)}: "
    return f'<p class="text" dir="auto">{name}{"".join(out)}{more}</p>'


def _piece(text: str) -> str:
    """A part of a text, which may begin or end with a space."""
    inner = plain(text, _TEXT + 1)
    before = " " if text[:1].isspace() else ""
    return f"{before}{inner}{' ' if text[-1:].isspace() and inner else ''}"


def _evidence(found: Explanation, answer: object, against: object) -> str:
    if len(found.classes) < 2:
        return ""
    shown, rest = bars(found, _TERMS, answer, against)
    of, other = (found.classes.tolist()[place] for place in found.pair(answer, against))
    lines = "".join(map(_line, [*shown, *([rest] if rest else [])]))
    odds = found.log_odds(answer, against)
    learned = ": it has learned the row, with its label" if against is not None and odds < 0 else ""
    head = f"bits for {users(of)} against {users(other)}, {odds:+.1f} in all{learned}"
    return f'<p><small>{head}</small></p><dl class="evidence">{lines}</dl>'


def _line(one: Bar) -> str:
    width, css = 100 * abs(one.length), "s0" if one.bits > 0 else "s1"
    drawn = f'<span class="bar {css}" style="width:{width:.0f}%"></span>' if width else ""
    return f'<dt>{users(one.name, 48)}</dt><dd class="n">{one.bits:+.1f}</dd><dd aria-hidden="true">{drawn}</dd>'
