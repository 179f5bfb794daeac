"""The HTML page: one file without scripts and without requests to other files; sections on quality and calibration."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ..model.evaluation import Evaluation
from .charts import (
    Column,
    details,
    escape_text,
    fixed,
    number,
    percent,
    reliability,
    risk_at,
    risk_coverage,
    section,
    table,
    track,
    user_name,
    user_text,
)
from .model_report import ModelReport
from .quality_warnings import majority_accuracy, prior_log_loss
from .sections import features_section, model_section, origin_section, rows_section

_HEADINGS = {
    "warnings": "Warnings",
    "model": "Model",
    "quality": "Quality",
    "calibration": "Calibration",
    "columns": "Features",
    "rows": "Examples",
    "origin": "Training",
}
# The page cannot load or run anything, regardless of the texts it shows.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_NAMES_SHOWN = 12
CSS = Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def page(found: ModelReport) -> str:
    """Return the page."""
    sections = [
        _warnings(found), model_section(found), quality_section(found), calibration_section(found),
        features_section(found), rows_section(found), origin_section(found),
    ]  # fmt: skip
    body = "".join(sections)
    title = escape_text(found.title, 100)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{_POLICY}"><meta name="viewport" content="width=device-width, initial-scale=1"><meta '
        f'name="referrer" content="no-referrer"><link rel="icon" href="data:,"><title>{title}: candide report</title>'
        f'<style>{CSS}</style></head><body><header><p class="soft">candide report</p>'
        f"<h1>{user_text(found.title, 100)}</h1>{_tiles(found)}{_navigation(body)}</header><main>{body}</main>"
        "</body></html>\n"
    )


def _navigation(body: str) -> str:
    there = [(key, name) for key, name in _HEADINGS.items() if f'<section id="{key}"' in body]
    links = "".join(f'<li><a href="#{key}">{name}</a></li>' for key, name in there)
    return f'<nav aria-label="Sections"><ul>{links}</ul></nav>'


def _tiles(found: ModelReport) -> str:
    reported = found.reported
    tiles = [(number(float(reported.model.state.rows.sum())), f"training rows, {len(reported.labels):,} classes")]
    for name, report in evaluations_of(found):
        tiles.append((percent(report.accuracy), f"accuracy on {name}"))
        tiles.append((f"{report.log_loss:.4f}", f"log-loss on {name}"))
        tiles.append((percent(report.ece), f"calibration error on {name}; {percent(report.ece_by_chance)} by chance"))
    tiles.append((f"{len(found.warnings)}", "warnings" if len(found.warnings) != 1 else "warning"))
    return f'<ul class="tiles">{"".join(f"<li><b>{value}</b><small>{what}</small></li>" for value, what in tiles)}</ul>'


def _warnings(found: ModelReport) -> str:
    if not found.warnings:
        return section("warnings", "Warnings", f"<p>No problems were found{_skipped_checks(found)}.</p>")
    items = "".join(
        f"<li><b>{warning.topic.capitalize()}:</b> {escape_text(warning.text, 600)}{_names(warning.names)}.</li>"
        for warning in found.warnings
    )
    return section("warnings", "Warnings", f'<ul class="warnings">{items}</ul>')


def _skipped_checks(found: ModelReport) -> str:
    known = found.training is not None or found.given is not None
    return "" if known else "; duplicates and drift were not checked, because there are no rows"


def _names(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return f": {', '.join(user_text(name, 160) for name in names[:_NAMES_SHOWN])}{more}"


_TRAINING, _GIVEN = "training rows (leave-one-out)", "evaluation rows"
# With more classes the confusion matrix is replaced by a list of the most frequent confusions.
_MAX_CLASSES = 12
_MAX_CONFUSIONS = 15
_METRICS = {
    "accuracy": ("accuracy", "share of correct predictions"),
    "log_loss": ("log-loss", "mean of -log p(true class)"),
    "brier": ("Brier score", "squared error of the probabilities"),
    "ece": ("calibration error (ECE)", "mean distance of probabilities from observed frequencies"),
    "ece_by_chance": ("ECE by chance", "calibration error to expect of perfect probabilities on so many rows"),
    "aurc": ("AURC", "mean error rate over all coverages"),
}
_DEFINITIONS = (
    "<p>Precision: the share of correct predictions among those of a class. Recall: the share of the rows of a class "
    "that are predicted correctly. F1: the harmonic mean of both. AUC: the area under the ROC curve of the class "
    "against all others. Plain naive Bayes: the same columns, without stacking and calibration. Baseline: the class "
    "frequencies alone.</p>"
)


def evaluations_of(found: ModelReport) -> list[tuple[str, Evaluation]]:
    """Return the evaluations with the names of the rows that they are based on."""
    pairs = ((_TRAINING, found.reported.loo), (_GIVEN, None if found.given is None else found.given.report))
    return [(name, report) for name, report in pairs if report is not None]


def quality_section(found: ModelReport) -> str:
    """Return the section with metrics and confusions."""
    reports = evaluations_of(found)
    if not reports:
        return section("quality", "Quality", f"<p>{_not_evaluated(found)}</p>")
    parts = [_about(name, report, found.reported.has_groups) for name, report in reports]
    parts += [*(_measures(name, report) for name, report in reports), _DEFINITIONS]
    for name, report in reports:
        parts += [f"<h3>Classes, on {name}</h3>", _per_class(name, report), _confusion(name, report)]
    return section("quality", "Quality", "".join(parts))


def _not_evaluated(found: ModelReport) -> str:
    return (
        "This model was not evaluated: it keeps neither training rows nor an evaluation. "
        + ("Construct it with <code>compute_loo=True</code>. " if not found.reported.evaluate else "")
        + "Pass labeled rows that it was not trained on: <code>candide report MODEL --data rows.csv</code>, "
        "or <code>model.report(path, X, y)</code>."
    )


def _about(name: str, report: Evaluation, has_groups: bool) -> str:
    if name == _GIVEN:
        return f"<p>Evaluated on the {report.n_rows:,} {name}.</p>"
    without = "the rows of its group" if has_groups else "it"
    return (
        f"<p>Evaluated on {report.n_rows:,} {name}: each row is scored with a model trained without {without}. No test "
        "set is needed, and the estimate is not optimistic.</p>"
    )


def _measures(rows_name: str, report: Evaluation) -> str:
    heads = (Column(head, True) for head in ("model", "plain naive Bayes", "baseline"))
    rows = [
        [f"{words} <small>{meaning}</small>", *_measured(report, name)] for name, (words, meaning) in _METRICS.items()
    ]
    return table([Column("metric"), *heads], rows, f"Metrics on {rows_name}, with standard errors")


def _measured(report: Evaluation, name: str) -> tuple[str, str, str]:
    """Return a metric of the model, of plain naive Bayes, and of a baseline that uses only the class frequencies."""
    model, plain = _measure(report, name), "" if report.plain is None else _measure(report.plain, name)
    if name == "accuracy":
        return model, plain, percent(majority_accuracy(report), 2)
    return model, plain, fixed(prior_log_loss(report)) if name == "log_loss" else ""


def _measure(report: Evaluation, name: str) -> str:
    value, error = getattr(report, name), getattr(report, f"{name}_error", None)
    shares = name in ("accuracy", "ece", "ece_by_chance", "aurc")
    written = percent(value, 2) if shares else fixed(value)
    if error is None or not math.isfinite(error):
        return written
    return f"{written} ± {percent(error, 2) if shares else fixed(error)}"


def _per_class(name: str, report: Evaluation) -> str:
    found, heads = report.per_class, {"precision": "precision", "recall": "recall", "f1": "F1", "auc": "AUC"}
    names = [name for name in heads if name in found]
    # The bar after recall shows it.
    columns = [Column("class"), Column("rows", True), *(Column(heads[name], True) for name in names)]
    columns.insert(4, Column(""))
    rows = []
    for k in report.by_weight().tolist():
        shares = [percent(float(found[name][k])) for name in names]
        shares.insert(2, track(float(found["recall"][k])))
        rows.append([user_text(found["class"][k]), number(float(found["weight"][k])), *shares])
    made = table(columns, rows, f"Classes on {name}, the largest first")
    return made if len(rows) <= _MAX_CLASSES else details(f"All {len(rows):,} classes", made)


def _confusion(name: str, report: Evaluation) -> str:
    order = report.by_weight()
    labels = report.per_class["class"][order].tolist()
    if len(labels) < 2:
        return ""
    if len(labels) > _MAX_CLASSES:
        return _top_confusions(name, report)
    confusion = report.confusion[np.ix_(order, order)]
    shares = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1e-300)
    head = "".join(f'<th scope="col">{user_name(label, 20)}</th>' for label in labels)
    lines = zip(labels, confusion.tolist(), shares.tolist(), strict=True)
    body = "".join(_heat_row(user_name(label, 30), row, part, own) for own, (label, row, part) in enumerate(lines))
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="Confusion matrix, {name}"><table class="heat">'
        f"<caption><span>Confusion matrix on {name}</span></caption><thead>"
        f'<tr><th scope="col">true ↓ predicted →</th>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _heat_row(label: str, weights: list[float], shares: list[float], own: int) -> str:
    cells = (_heat(*cell, k == own) for k, cell in enumerate(zip(weights, shares, strict=True)))
    return f'<tr><th scope="row">{label}</th>{"".join(cells)}</tr>'


def _heat(weight: float, share: float, own: bool) -> str:
    # Light enough for the number on it to be readable.
    shade = f' style="background:rgba(var(--heat),{0.45 * share:.3f})"' if share > 0 else ""
    css = ' class="own"' if own else ""
    written = f"{weight:,.0f}" if weight >= 1 else number(weight)
    return f"<td{css}{shade}>{written}</td>"


def _top_confusions(name: str, report: Evaluation) -> str:
    found = report.confusions(_MAX_CONFUSIONS)
    columns = [Column("true class"), Column("predicted"), Column("rows", True), Column("share of class", True)]
    rows = [[user_text(true), user_text(answer), number(w), percent(s)] for true, answer, w, s in found.rows()]
    if not rows:
        return "<p>All predictions are correct.</p>"
    return table(columns, rows, f"The most frequent confusions on {name}")


def calibration_section(found: ModelReport) -> str:
    """Return the section with the reliability diagram and the risk-coverage curve."""
    reports = evaluations_of(found)
    if not reports or len(found.reported.labels) < 2:
        return ""
    lines = [*reports, *_uncorrected(found)]
    best = reports[-1][1]
    words = (
        f"<p>Among the 80% most confident predictions, {percent(risk_at(best, 0.8), 2)} are wrong, compared with "
        f"{percent(risk_at(best, 1.0), 2)} of all predictions ({reports[-1][0]}).</p>"
    )
    return section(
        "calibration",
        "Calibration",
        f'{words}<div class="pair">{reliability(lines)}{risk_coverage(reports)}</div>',
    )


def _uncorrected(found: ModelReport) -> list[tuple[str, Evaluation]]:
    """Return the evaluation of the same rows without stacking and calibration, if there is one."""
    reports = evaluations_of(found)
    plain = reports[-1][1].plain
    return [] if plain is None else [("plain naive Bayes", plain)]
