"""What a model is and what it looks at, for the page."""

from __future__ import annotations

from importlib.metadata import version
from itertools import groupby
from typing import Any

import numpy as np

from ..model.table import Table, objects
from .charts import column_picture, model_of
from .findings import Findings
from .markup import Column, details, facts, number, percent, section, table, track, users

_MOST_CLASSES = 20
# Classes that a picture of a column tells apart, and classes whose words are on the page at once.
_MOST_CURVES = 4
_MOST_WORDS = 30
_BITS = (
    "What each column tells about the class by itself, in bits: one bit settles a choice between two equally probable "
    "classes."
)
_IMPORTANCE = (
    "How much each column matters to the answers of the model, by itself and together with other columns, over some of "
    "the training rows."
)
# Columns of the table of columns, by their names in a summary.
_HEADS = {
    "contribution": "contribution",
    "loss_without": "loss when not given",
    "bits": "bits alone",
    "model": "model",
    "own_weight": "own weight",
    "missing": "missing",
    "note": "note",
}
_NUMBERS = ("contribution", "loss_without", "bits", "own_weight", "missing")
_TERMS = {
    "contribution": "Mean absolute contribution to the log-odds of the answer against the runner-up, in bits: one bit "
    "doubles the odds. The column's own score and all views of several columns are added up, but for random Fourier "
    "features, which have no share for a single column.",
    "loss when not given": "By how much the leave-one-out log-loss rises when the column is not given. Near 0 if other "
    "columns replace it.",
    "bits alone": "What the column tells about the class without the others; one bit settles a choice between two "
    "equally probable classes.",
    "own weight": "The factor of the column's own score. A column of weight 0 may still matter through views: see its "
    "contribution.",
}
_TELLING = {
    "words": "The number is the share of the class that a word identifies: the share of its texts that hold the word, "
    "times how far the word raises the probability of the class, from its share of all texts (0 %) towards certainty "
    "(100 %). A word of many classes has a small number, however frequent it is.",
    "values": "The number is the share of the class that a value identifies: the share of its rows that have the "
    "value, times how far the value alone raises the probability of the class, from its share of all rows (0 %) "
    "towards certainty (100 %).",
}


def model_section(found: Findings) -> str:
    """Its kind, its settings and its classes."""
    return section("model", "What it is", f'<div class="pair">{_facts(found)}<div>{_classes(found)}</div></div>')


def _facts(found: Findings) -> str:
    subject = found.subject
    of = {
        "model": f"<code>{users(subject.described, 400)}</code>",
        "rows learned": number(float(subject.model.state.rows.sum())),
        "classes": f"{len(subject.labels):,}",
        "free parameters": f"{subject.model.n_parameters:,}",
    }
    if not subject.reads_texts:
        of["columns"] = f"{len(subject.names):,}"
    return facts(of, "The model")


def _classes(found: Findings) -> str:
    rows = found.subject.model.state.rows
    order = np.argsort(-rows, kind="stable").tolist()
    share = rows / max(float(rows.sum()), 1e-300)
    top = max(float(share.max()), 1e-300)
    columns = [Column("class"), Column("rows", True), Column("share", True), Column("")]
    lines = [
        [
            users(found.subject.labels[k]),
            number(float(rows[k])),
            percent(float(share[k])),
            track(float(share[k]) / top),
        ]
        for k in order
    ]
    first = table(columns, lines[:_MOST_CLASSES], f"The {min(len(lines), _MOST_CLASSES)} largest classes")
    if len(lines) <= _MOST_CLASSES:
        return first.replace(f"The {len(lines)} largest classes", "The classes, the largest first")
    return first + details(f"All {len(lines):,} classes", table(columns, lines, "All classes"))


def looks_section(found: Findings) -> str:
    """Columns, or looks at texts and words."""
    looks = found.looks
    if found.subject.reads_texts:
        assert looks.table is not None
        return section("columns", "What it looks at", _looks(looks.table) + _telling(looks.telling, "words"))
    return section("columns", "What it looks at", _columns(found) + _telling(looks.telling, "values"))


def _columns(found: Findings) -> str:
    looks = found.looks
    if looks.table is None:
        return "<p>What each column tells by itself is not known of this model, or would take too long to list.</p>"
    is_table = "contribution" in looks.table
    parts = [f"<p>{_IMPORTANCE if is_table else _BITS}</p>", _columns_table(looks.table)]
    parts.append(facts(_TERMS, "What the columns of this table mean") if is_table else "")
    if looks.views is not None and looks.views.n_rows:
        rows = [
            [users(name), users(columns, 200), _known(contribution), number(weight)]
            for name, columns, contribution, weight in looks.views.rows()
        ]
        caption = (
            "Views: scores of several columns together, which are added to those of the columns by themselves. "
            "Contribution as above; the weight is the factor of the view's score."
        )
        heads = [Column("view"), Column("columns"), Column("contribution", True), Column("weight", True)]
        parts.append(table(heads, rows, caption))
    if looks.pictures:
        parts += ["<h3>How columns are modelled</h3>", _how(found), _pictures(found)]
    return "".join(parts)


def _columns_table(columns: Table) -> str:
    if "family" in columns:
        pairs = zip(columns["family"].tolist(), columns["parameters"].tolist(), strict=True)
        columns = Table(columns | {"model": objects(model_of(family, parameters) for family, parameters in pairs)})
    first = "bits" if "contribution" not in columns or np.isnan(columns["contribution"]).all() else "contribution"
    top = max(float(np.nan_to_num(columns[first]).max(initial=0.0)), 1e-12)
    named = {title: name for title, name in _HEADS.items() if title != first}
    heads = [Column("column"), Column(_HEADS[first], True), Column("")]
    there = [name for name in named if name in columns and any(columns[name].astype(str))]
    heads += [Column(named[name], name in _NUMBERS) for name in there]
    rows = []
    for i, name in enumerate(columns["column"].tolist()):
        size = float(np.nan_to_num(columns[first][i]))
        shown = (_cell(key, columns[key][i]) for key in there)
        rows.append([users(name), _known(size), track(size / top), *shown])
    return table(heads, rows, f"Columns, by {_HEADS[first]}")


def _cell(name: str, value: Any) -> str:
    if name == "missing":
        return percent(float(value))
    return _known(float(value)) if name in _NUMBERS else users(value, 100)


def _known(value: float) -> str:
    return number(round(value, 4))


def _how(found: Findings) -> str:
    some = len(found.subject.labels) > _MOST_CURVES
    which = f" Of {len(found.subject.labels):,} classes, the {_MOST_CURVES} largest." if some else ""
    return (
        "<p>Shares of each class, of the rows whose cell is known: lines and bars as the model has them, dots as they "
        f"were counted. Half a percent of the numbers at either end is outside the picture.{which}</p>"
    )


def _pictures(found: Findings) -> str:
    looks, subject = found.looks, found.subject
    assert looks.table is not None
    assert looks.pictures is not None
    largest = np.sort(np.argsort(-subject.model.state.rows, kind="stable")[:_MOST_CURVES])
    facts = {row[0]: dict(zip(looks.table, row, strict=True)) for row in looks.table.rows()}
    drawn = [column_picture(name, facts[name], one, subject.labels, largest) for name, one in looks.pictures.items()]
    return f'<div class="pair">{"".join(drawn)}</div>'


def _looks(looks: Table) -> str:
    columns = [Column("look"), Column("different tokens", True)]
    columns += [Column("weight", True)] if "weight" in looks else []
    rows = [[users(name), *(number(float(value)) for value in rest)] for name, *rest in looks.rows()]
    return table(columns, rows, "Looks at a text, and what each weighs in the answer")


def _telling(telling: Table | None, what: str) -> str:
    if telling is None or not telling.n_rows:
        return ""
    lines = [
        f"<div><dt>{users(label)}</dt><dd>{''.join(_chip(term, score) for _, term, score, _ in rows)}</dd></div>"
        for label, rows in groupby(telling.rows(), key=lambda row: row[0])
    ]
    made = f'<dl class="words">{"".join(lines[:_MOST_WORDS])}</dl>'
    if len(lines) > _MOST_WORDS:
        made += details(f"{len(lines) - _MOST_WORDS:,} more", f'<dl class="words">{"".join(lines[_MOST_WORDS:])}</dl>')
    return f"<h3>The most informative {what} of each class</h3><p>{_TELLING[what]}</p>{made}"


def _chip(token: str, score: float) -> str:
    return f'<span class="chip">{users(token, 64)} <small>{percent(score)}</small></span>'


def origin_section(found: Findings) -> str:
    """How it was trained, as far as is known."""
    subject = found.subject
    of: dict[str, str] = {name: users(value, 200) for name, value in found.notes.items()}
    if subject.roles is not None:
        of["label column"] = users(subject.roles.label)
        if subject.roles.text is not None:
            of["text column"] = users(subject.roles.text)
    for name, value in (subject.provenance or {}).items():
        of[f"model file: {name}"] = users(number(value) if isinstance(value, float) else value, 80)
    of["training rows in the model"] = _kept(found)
    of["this report"] = f"{users(found.made)}, candide {users(version('candide'))}"
    return section("origin", "How it was trained", facts(of, "Origin"))


def _kept(found: Findings) -> str:
    sample = found.subject.model.state.sample
    if sample is None:
        return "none (<code>train --updatable</code> or <code>save(path, sample=True)</code> keeps them)"
    return number(float(sample.multiplicity.sum()))
