"""How good a model is, for the page: measures, classes, confusions, calibration, abstaining."""

from __future__ import annotations

import math

import numpy as np

from ..model.evaluation import Report
from .charts import reliability, risk_at, risk_coverage
from .concerns import guessing_loss, most_frequent
from .findings import Findings
from .markup import Column, details, number, percent, section, table, track, users

_LEFT_OUT, _GIVEN = "training rows left out", "rows given"
# More classes than this make a confusion that nobody reads.
_MOST_CLASSES = 12
_MOST_CONFUSIONS = 15
_MEASURES = {
    "accuracy": ("accuracy", "share of answers that are right"),
    "log_loss": ("log-loss", "mean of -log p(true class)"),
    "brier": ("Brier score", "squared error of the probabilities"),
    "ece": ("calibration error", "how far probabilities are from shares"),
    "aurc": ("risk", "error rate, on average over all coverages"),
}
_HOW_TO_READ = (
    "<p>Precision: of the answers with a class, the share that is right. Recall: of the rows of a class, the share "
    "that is recognised. F1 is their harmonic mean.</p>"
)


def reports_of(found: Findings) -> list[tuple[str, Report]]:
    """What was measured, by what it was measured on."""
    pairs = ((_LEFT_OUT, found.subject.honest), (_GIVEN, None if found.given is None else found.given.report))
    return [(name, report) for name, report in pairs if report is not None]


def quality_section(found: Findings) -> str:
    """Measures, and which classes are taken for which."""
    reports = reports_of(found)
    if not reports:
        return section("quality", "How good it is", f"<p>{_unknown(found)}</p>")
    parts = [_about(name, report) for name, report in reports]
    parts += [_measures(reports), _HOW_TO_READ]
    for name, report in reports:
        parts += [f"<h3>Classes, on {name}</h3>", _per_class(name, report), _confusion(name, report)]
    return section("quality", "How good it is", "".join(parts))


def _unknown(found: Findings) -> str:
    return (
        "Nobody has measured this model: it keeps neither training rows nor what was found when it had them. "
        + ("Construct it with <code>compute_loo=True</code>. " if not found.subject.evaluate else "")
        + "Give the report rows with labels that it has not seen: <code>candide report MODEL --data rows.csv</code>, "
        "or <code>model.report(path, X, y)</code>."
    )


def _about(name: str, report: Report) -> str:
    if name == _GIVEN:
        return f"<p>Measured on the {report.n_rows:,} {name}, by the model as it is.</p>"
    return (
        f"<p>Measured on {report.n_rows:,} {name}: each row is judged by a model that has not seen it, and by choices "
        "made without it. No test set is needed, and none of the training rows flatters the model.</p>"
    )


def _measures(reports: list[tuple[str, Report]]) -> str:
    pairs = (Column(head, True) for name, _ in reports for head in (name, "by guessing"))
    rows = [
        [f"{words} <small>{meaning}</small>", *(cell for _, report in reports for cell in _measured(report, name))]
        for name, (words, meaning) in _MEASURES.items()
    ]
    return table([Column("measure"), *pairs], rows, "Measures, with standard errors")


def _measured(report: Report, name: str) -> tuple[str, str]:
    """Of the model, and of who knows nothing but the shares of the classes."""
    if name == "accuracy":
        return _measure(report, name), percent(most_frequent(report))
    return _measure(report, name), _decimals(guessing_loss(report)) if name == "log_loss" else ""


def _measure(report: Report, name: str) -> str:
    value, error = getattr(report, name), getattr(report, f"{name}_error", None)
    shares = name in ("accuracy", "ece", "aurc")
    written = percent(value, 2) if shares else _decimals(value)
    if error is None or not math.isfinite(error):
        return written
    return f"{written} ± {percent(error, 2) if shares else _decimals(error)}"


def _decimals(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else number(value)


def _per_class(name: str, report: Report) -> str:
    heads = ("rows", "precision", "F1", "recall")
    columns = [Column("class"), *(Column(head, True) for head in heads), Column("")]
    lines = sorted(report.per_class.rows(), key=lambda row: -row[4])
    rows = [
        [users(label), number(weight), percent(precision), percent(f1), percent(recall), track(recall)]
        for label, precision, recall, f1, weight in lines
    ]
    made = table(columns, rows, f"Classes, the largest first ({name})")
    return made if len(rows) <= _MOST_CLASSES else details(f"All {len(rows):,} classes", made)


def _confusion(name: str, report: Report) -> str:
    labels = report.per_class["class"].tolist()
    if len(labels) < 2:
        return ""
    if len(labels) > _MOST_CLASSES:
        return _worst(name, report)
    shares = report.confusion / np.maximum(report.confusion.sum(axis=1, keepdims=True), 1e-300)
    head = "".join(f'<th scope="col">{users(label, 20)}</th>' for label in labels)
    lines = zip(labels, report.confusion.tolist(), shares.tolist(), strict=True)
    body = "".join(_heat_row(users(label, 30), row, part, own) for own, (label, row, part) in enumerate(lines))
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="Confusion, {name}"><table class="heat">'
        f"<caption>Rows by class and answer ({name})</caption><thead>"
        f'<tr><th scope="col">true ↓ answered →</th>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _heat_row(label: str, weights: list[float], shares: list[float], own: int) -> str:
    cells = (_heat(*cell, k == own) for k, cell in enumerate(zip(weights, shares, strict=True)))
    return f'<tr><th scope="row">{label}</th>{"".join(cells)}</tr>'


def _heat(weight: float, share: float, own: bool) -> str:
    # At most so dark that the number is read on it.
    shade = f' style="background:rgba(var(--heat),{0.45 * share:.3f})"' if share > 0 else ""
    css = ' class="own"' if own else ""
    written = f"{weight:,.0f}" if weight >= 1 else number(weight)
    return f"<td{css}{shade}>{written}</td>"


def _worst(name: str, report: Report) -> str:
    found = report.confusions(_MOST_CONFUSIONS)
    columns = [Column("true class"), Column("answered"), Column("rows", True), Column("of its class", True)]
    rows = [[users(true), users(answer), number(w), percent(s)] for true, answer, w, s in found.rows()]
    if not rows:
        return "<p>No class is ever taken for another.</p>"
    return table(columns, rows, f"The most frequent confusions ({name})")


def calibration_section(found: Findings) -> str:
    """Whether probabilities mean what they say, and what abstaining buys."""
    reports = reports_of(found)
    if not reports or len(found.subject.labels) < 2:
        return ""
    lines = [*reports, *_plain(found)]
    best = reports[-1][1]
    words = (
        f"<p>If only the surest 80 % are answered, {percent(risk_at(best, 0.8), 2)} of the answers are wrong "
        f"instead of {percent(risk_at(best, 1.0), 2)} ({reports[-1][0]}).</p>"
    )
    return section(
        "calibration",
        "How far to trust its probabilities",
        f'{words}<div class="pair">{reliability(lines)}{risk_coverage(reports)}</div>',
    )


def _plain(found: Findings) -> list[tuple[str, Report]]:
    """The same rows before anything was weighed or calibrated, where someone looked."""
    lot = found.given if found.given is not None else found.trained
    if lot is None or lot.plain is None:
        return []
    return [("before weighing and calibrating", lot.plain)]
