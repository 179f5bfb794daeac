"""Sections of the page about the model, its features, examples of rows and its origin."""

from __future__ import annotations

import math
from importlib.metadata import version
from itertools import groupby
from typing import Any

import numpy as np

from ..explain.explanation import Bar, Explanation, bars
from ..explain.terms import date_columns
from ..model.table import Table, objects
from .charts import (
    Column,
    column_chart,
    details,
    escape_text,
    facts,
    fixed,
    model_of,
    number,
    percent,
    section,
    table,
    track,
    user_text,
)
from .model_report import ExplainedExample, ModelReport
from .row_checks import KINDS, MAX_TEXT_BYTES, SUSPECT_PROBABILITY, Kind

_MAX_CLASSES = 20
# The numbers of classes in a chart, and of classes whose words are shown unfolded.
_MAX_CURVES = 4
_MAX_WORD_LISTS = 30
_BITS = (
    "Information about the class in each column alone, in bits: one bit decides between two equally probable classes."
)
_IMPORTANCE = (
    "The importance of each column for the predictions of the model, on its own and together with other columns, over "
    "a sample of the training rows."
)
# Headings of the table of columns, by their names in a summary.
_COLUMN_HEADINGS = {
    "contribution": "contribution",
    "loss_without": "loss when missing",
    "bits": "bits alone",
    "model": "model",
    "own_weight": "own weight",
    "missing": "missing",
    "note": "note",
}
_NUMERIC = ("contribution", "loss_without", "bits", "own_weight", "missing")
_COLUMN_TERMS = {
    "contribution": "Mean absolute contribution to the log-odds of the predicted class against the runner-up, in bits: "
    "one bit doubles the odds. It includes the column's own score and all views of several columns except random "
    "Fourier features, which cannot be attributed to a single column.",
    "loss when missing": "Increase of the leave-one-out log-loss when the column is missing, estimated on at most 500 "
    "rows. Near 0 if other columns replace it.",
    "bits alone": (
        "Information about the class in this column alone; one bit decides between two equally probable classes."
    ),
    "own weight": "The factor of the column's own score. A column with weight 0 may still contribute through views.",
}
_TOP_TERMS = {
    "words": "The number is the share of the class that a word identifies: the share of its texts that contain the "
    "word, multiplied by how far the word raises the probability of the class, from its prior (0%) to certainty "
    "(100%). A word that occurs in many classes has a small share, regardless of its frequency.",
    "values": "The number is the share of the class that a value identifies: the share of its rows that have the "
    "value, multiplied by how far the value alone raises the probability of the class, from its prior (0%) to "
    "certainty (100%).",
}


def model_section(found: ModelReport) -> str:
    """Return the section with the estimator, its parameters and its classes."""
    return section("model", "Model", f'<div class="pair">{_facts(found)}<div>{_classes(found)}</div></div>')


def _facts(found: ModelReport) -> str:
    reported = found.reported
    of = {
        "model": f"<code>{user_text(reported.described, 400)}</code>",
        "training rows": number(float(reported.model.state.rows.sum())),
        "classes": f"{len(reported.labels):,}",
        "free parameters": f"{reported.model.n_parameters:,}",
    }
    if not reported.reads_texts:
        of["columns"] = _n_columns(reported.names.tolist())
    return facts(of, "The model")


def _n_columns(names: list[Any]) -> str:
    n_parts = sum(map(len, date_columns(names).values()))
    return f"{len(names) - n_parts:,}" + (f" ({len(names):,} with date parts)" if n_parts else "")


def _classes(found: ModelReport) -> str:
    rows = found.reported.model.state.rows
    order = np.argsort(-rows, kind="stable").tolist()
    share = rows / max(float(rows.sum()), 1e-300)
    top = max(float(share.max()), 1e-300)
    columns = [Column("class"), Column("rows", True), Column("share", True), Column("")]
    lines = [
        [
            user_text(found.reported.labels[k]),
            number(float(rows[k])),
            percent(float(share[k])),
            track(float(share[k]) / top),
        ]
        for k in order
    ]
    first = table(columns, lines[:_MAX_CLASSES], f"The {min(len(lines), _MAX_CLASSES)} largest classes")
    if len(lines) <= _MAX_CLASSES:
        return first.replace(f"The {len(lines)} largest classes", "The classes, the largest first")
    return first + details(f"All {len(lines):,} classes", table(columns, lines, "All classes"))


def features_section(found: ModelReport) -> str:
    """Return the section about columns, or about token features and words."""
    features = found.features
    if found.reported.reads_texts:
        assert features.table is not None
        return section(
            "columns", "Features", _token_features(features.table) + _top_terms(features.top_features, "words")
        )
    return section("columns", "Features", _columns(found) + _top_terms(features.top_features, "values"))


def _columns(found: ModelReport) -> str:
    features = found.features
    if features.table is None:
        return "<p>The information of single columns is not available for this model, or it has too many columns.</p>"
    is_table = "contribution" in features.table
    parts = [f"<p>{_IMPORTANCE if is_table else _BITS}</p>", _columns_table(features.table)]
    parts.append(facts(_COLUMN_TERMS, "Definitions") if is_table else "")
    if features.views is not None and features.views.n_rows:
        rows = [
            [user_text(name), user_text(columns.removeprefix("of "), 200), fixed(contribution), fixed(weight)]
            for name, columns, contribution, weight in sorted(features.views.rows(), key=lambda row: -row[2])
        ]
        caption = (
            "Views: scores of several columns together, which are added to those of the single columns. "
            "Contribution as above; the weight is the factor of the view's score."
        )
        heads = [Column("view"), Column("columns"), Column("contribution", True), Column("weight", True)]
        parts.append(table(heads, rows, caption))
    if features.pictures:
        parts += ["<h3>Distributions of columns</h3>", _chart_notes(found), _charts(found)]
    return "".join(parts)


def _columns_table(columns: Table) -> str:
    if "family" in columns:
        pairs = zip(columns["family"].tolist(), columns["parameters"].tolist(), strict=True)
        columns = Table(columns | {"model": objects(model_of(family, parameters) for family, parameters in pairs)})
    first = "bits" if "contribution" not in columns or np.isnan(columns["contribution"]).all() else "contribution"
    top = max(float(np.nan_to_num(columns[first]).max(initial=0.0)), 1e-12)
    named = {title: name for title, name in _COLUMN_HEADINGS.items() if title != first}
    heads = [Column("column"), Column(_COLUMN_HEADINGS[first], True), Column("")]
    there = [name for name in named if name in columns and any(columns[name].astype(str))]
    heads += [Column(named[name], name in _NUMERIC) for name in there]
    rows = []
    for i, name in enumerate(columns["column"].tolist()):
        size = float(np.nan_to_num(columns[first][i]))
        shown = (_cell(key, columns[key][i]) for key in there)
        rows.append([user_text(name), fixed(size), track(size / top), *shown])
    return table(heads, rows, f"Columns, by {_COLUMN_HEADINGS[first]}")


def _cell(name: str, value: Any) -> str:
    if name == "missing":
        return percent(float(value))
    return fixed(float(value)) if name in _NUMERIC else user_text(value, 100)


def _chart_notes(found: ModelReport) -> str:
    some = len(found.reported.labels) > _MAX_CURVES
    which = f" The {_MAX_CURVES} largest of {len(found.reported.labels):,} classes are shown." if some else ""
    return (
        "<p>Shares of the rows of each class whose value is not missing. Lines and bars: the model. Dots: the data. "
        f"Half a percent of the numbers at either end is not shown.{which}</p>"
    )


def _charts(found: ModelReport) -> str:
    features, reported = found.features, found.reported
    assert features.table is not None
    assert features.pictures is not None
    largest = np.sort(np.argsort(-reported.model.state.rows, kind="stable")[:_MAX_CURVES])
    facts = {row[0]: dict(zip(features.table, row, strict=True)) for row in features.table.rows()}
    names = [str(name) for name in reported.names]
    dates = {names[j] for j in date_columns(names)}
    drawn = [
        column_chart(name, facts[name], one, reported.labels, largest, dates=name in dates)
        for name, one in features.pictures.items()
    ]
    return f'<div class="pair">{"".join(drawn)}</div>'


def _token_features(features: Table) -> str:
    columns = [Column("features"), Column("distinct tokens", True)]
    columns += [Column("weight", True)] if "weight" in features else []
    rows = [
        [user_text(name), number(float(tokens)), *(fixed(float(value), 3) for value in rest)]
        for name, tokens, *rest in features.rows()
    ]
    return table(columns, rows, "Groups of token features, and the weight of each")


def _top_terms(top_features: Table | None, what: str) -> str:
    if top_features is None or not top_features.n_rows:
        return ""
    lines = [
        f"<div><dt>{user_text(label)}</dt><dd>{''.join(_chip(term, score) for _, term, score, _ in rows)}</dd></div>"
        for label, rows in groupby(top_features.rows(), key=lambda row: row[0])
    ]
    made = f'<dl class="words">{"".join(lines[:_MAX_WORD_LISTS])}</dl>'
    if len(lines) > _MAX_WORD_LISTS:
        made += details(
            f"{len(lines) - _MAX_WORD_LISTS:,} more", f'<dl class="words">{"".join(lines[_MAX_WORD_LISTS:])}</dl>'
        )
    return f"<h3>Most informative {what} per class</h3><p>{_TOP_TERMS[what]}</p>{made}"


def _chip(token: str, score: float) -> str:
    return f'<span class="chip">{user_text(token, 64)} <small>{percent(score)}</small></span>'


def origin_section(found: ModelReport) -> str:
    """Return the section on how the model was trained, as far as is known."""
    reported = found.reported
    of: dict[str, str] = {name: user_text(value, 200) for name, value in found.notes.items()}
    if reported.roles is not None:
        of["label column"] = user_text(reported.roles.label)
        if reported.roles.text is not None:
            of["text column"] = user_text(reported.roles.text)
        if reported.roles.groups is not None:
            of["group column"] = user_text(reported.roles.groups)
    for name, value in (reported.provenance or {}).items():
        of[f"model file: {name}"] = user_text(number(value) if isinstance(value, float) else value, 80)
    of["training rows in the model"] = _rows_kept(found)
    of["this report"] = f"{user_text(found.made)}, candide {user_text(version('candide'))}"
    return section("origin", "Training", facts(of, "Origin"))


def _rows_kept(found: ModelReport) -> str:
    sample = found.reported.model.state.sample
    if sample is None:
        return "none (<code>train --with-rows</code> or <code>save(path, sample=True)</code> keeps them)"
    return number(float(sample.multiplicity.sum()))


_MAX_TERMS = 5
_MAX_CHARACTERS = 320
_MAX_CELLS = 8
# The minimal contribution, in bits, of a colored word.
_MIN_BITS = 0.3

_EXAMPLE_HEADINGS: dict[Kind, str] = {
    "doubtful label": "Possibly wrong labels",
    "least sure": "Least confident predictions",
    "surest": "Most confident predictions",
}


def rows_section(found: ModelReport) -> str:
    """Return the section with example rows: possibly wrong labels, least and most confident predictions."""
    if not found.examples:
        return section("rows", "Examples", f"<p>{_no_examples(found)}</p>")
    parts = [_introduction(found)]
    for kind in KINDS:
        shown = [one for one in found.examples if one.example.kind == kind]
        if kind == "doubtful label":
            parts += [f"<h3>{_EXAMPLE_HEADINGS[kind]}</h3>", _suspect_labels(found)]
        elif shown:
            parts.append(f"<h3>{_EXAMPLE_HEADINGS[kind]}</h3>")
        parts += map(_example, shown)
    return section("rows", "Examples", "".join(parts))


def _no_examples(found: ModelReport) -> str:
    if found.training is not None or found.given is not None:
        return "There are no rows to show."
    return (
        "The model keeps no training rows. <code>candide train --with-rows</code> keeps them; "
        "<code>candide train --report page.html</code> writes this page during training; and "
        "<code>candide report MODEL --data rows.csv</code> shows rows that you pass."
    )


def _introduction(found: ModelReport) -> str:
    short = (
        f" Texts of more than {MAX_TEXT_BYTES:,} bytes are not shown." if found.examples[0].explanation.texts else ""
    )
    if found.examples[0].of_training:
        return (
            "<p>Training rows. Probabilities are leave-one-out; the contributions below them, the largest first, are "
            f"those of the whole model.{short}</p>"
        )
    return f"<p>Rows given to this report. The largest contributions come first.{short}</p>"


def _suspect_labels(found: ModelReport) -> str:
    lot = found.training or found.given
    assert lot is not None
    count = "No row" if not lot.n_doubtful else f"{lot.n_doubtful:,} rows"
    return (
        f"<p>{count} of {lot.n_rows:,}: another class than the label has a probability of at least "
        f"{percent(SUSPECT_PROBABILITY, 0)}. The label may be wrong, or the row may be unusual.</p>"
    )


def _example(shown: ExplainedExample) -> str:
    example, found = shown.example, shown.explanation
    labels = found.classes.tolist()
    answer, label = labels[example.answer], labels[example.label]
    sure = percent(math.exp(float(example.log_probability[example.answer])), 2)
    own = percent(math.exp(float(example.log_probability[example.label])), 2)
    where = "" if example.place is None else f"row {example.place + 1:,}: "
    verdict = f"{where}predicted {user_text(answer)} ({sure})"
    verdict += ", as labeled" if answer == label else f", labeled {user_text(label)} ({own})"
    against = None if answer == label or len(labels) < 2 else label
    return (
        f'<article class="example"><h4>{verdict}</h4>{_content(found, answer, against)}'
        f"{_contributions(found, answer, against)}</article>"
    )


def _content(found: Explanation, answer: object, against: object) -> str:
    """Return the cells or the text of a row."""
    texts = "".join(_text(found, column, answer, against) for column in found.texts)
    cells = [term for term in found.grouped if term.kind == "cell" and term.value is not None]
    if not cells:
        return texts
    strongest = sorted(cells, key=lambda term: -float(abs(term.scores - term.scores.mean()).max()))
    listed = ", ".join(user_text(term.name, 60) for term in strongest[:_MAX_CELLS])
    more = f" and {len(cells) - _MAX_CELLS} more" if len(cells) > _MAX_CELLS else ""
    return f'<p class="text">{listed}{more}</p>{texts}'


def _text(found: Explanation, column: object, answer: object, against: object) -> str:
    """Return the beginning of a text, its words colored by their contributions."""
    text, out, at = found.texts[column], [], 0
    words = found.words(answer, against, column=column).words if len(found.classes) > 1 else []
    for word in words:
        if word.end > _MAX_CHARACTERS:
            break
        if abs(word.amount) >= _MIN_BITS:
            side = "for" if word.amount > 0 else "against"
            out += [_piece(text[at : word.begin]), f'<b class="{side}">{_piece(text[word.begin : word.end])}</b>']
            at = word.end
    out.append(_piece(text[at:_MAX_CHARACTERS]))
    more = "…" if len(text) > _MAX_CHARACTERS else ""
    name = "" if column is None else f"{user_text(column)}: "
    return f'<p class="text" dir="auto">{name}{"".join(out)}{more}</p>'


def _piece(text: str) -> str:
    """Return a part of a text, with a space at its ends if it had one."""
    inner = escape_text(text, _MAX_CHARACTERS + 1)
    before = " " if text[:1].isspace() else ""
    return f"{before}{inner}{' ' if text[-1:].isspace() and inner else ''}"


def _contributions(found: Explanation, answer: object, against: object) -> str:
    if len(found.classes) < 2:
        return ""
    shown, rest = bars(found, _MAX_TERMS, answer, against)
    of, other = (found.classes.tolist()[place] for place in found.pair(answer, against))
    lines = "".join(map(_line, [*shown, *([rest] if rest else [])]))
    odds = found.log_odds(answer, against)
    learned = ": the model was trained on the row with its label" if against is not None and odds < 0 else ""
    head = f"bits for {user_text(of)} against {user_text(other)}, {odds:+.1f} in all{learned}"
    return f'<p><small>{head}</small></p><dl class="evidence">{lines}</dl>'


def _line(one: Bar) -> str:
    width, css = 100 * abs(one.length), "s0" if one.bits > 0 else "s1"
    drawn = f'<span class="bar {css}" style="width:{width:.0f}%"></span>' if width else ""
    return f'<dt>{user_text(one.name, 48)}</dt><dd class="n">{one.bits:+.1f}</dd><dd aria-hidden="true">{drawn}</dd>'
