"""Output of ``train``: the data, the columns, the evaluation and the most informative words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..remote import size_of
from .progress import rows_and_size
from .tables import Column, TerminalTable, count, name_and_value, of_loo, of_summary

if TYPE_CHECKING:
    from ..model.model import Model
    from ..model.source import Source
    from ..model.table import Table
    from ..remote import Place
    from .progress import Pass

_WORDS = 8
_MAX_CLASSES = 30
_MAX_COLUMNS = 20


def as_machine(model: Model, source: Source, passed: Pass, path: Place) -> dict[str, Any]:
    """Return the output of ``--json``."""
    roles = model.schema.roles
    assert roles is not None
    found: dict[str, Any] = {
        "model": str(path),
        "kind": model.spec.name,
        "label": roles.label,
        "text": roles.text,
        "columns": list(roles.columns),
        "groups": roles.groups,
        "rows": passed.rows,
        "rows_without_label": passed.n_unlabeled,
        "bad_rows": len(source.bad_rows),
        "classes": dict(zip(model.classes.tolist(), model.class_count.tolist(), strict=True)),
        "seconds": passed.seconds,
        "megabytes": passed.megabytes,
    }
    return found | ({"leave_one_out": model.loo.as_dict()} if model.has_loo else {})


def as_lines(model: Model, passed: Pass, path: Place, with_rows: bool) -> list[Any]:
    """Return lines and tables for a terminal."""
    lines: list[Any] = [name_and_value("Data", _data(model, passed))]
    summary = summary_of(model)
    if not model.spec.reads_texts and summary is not None:
        lines += of_summary(summary, "Columns", _MAX_COLUMNS)
    if model.has_loo:
        lines += of_loo(model.loo)
    if model.spec.reads_texts:
        lines.append(top_words(model))
    kept = rows_text(with_rows)
    if model.has_training_rows and model.classifier.bound_spec.looks_back and not with_rows:
        kept += "; --with-rows keeps them for exact forget and refit"
    return [*lines, "", f"wrote {path} ({size_of(path) / 1e6:,.2f} MB, {kept})"]


def rows_text(with_rows: bool) -> str:
    """Return a sentence on whether the file that was written contains training rows."""
    return f"{'with' if with_rows else 'without'} training rows"


def _data(model: Model, passed: Pass) -> dict[str, str]:
    roles = model.schema.roles
    assert roles is not None
    found = {"label": str(roles.label)}
    if roles.text is not None:
        found["text"] = str(roles.text)
    else:
        found["columns"] = listed(roles.columns)
    if roles.groups is not None:
        found["groups"] = str(roles.groups)
    found["rows"] = rows_and_size(passed.rows, passed.megabytes, passed.seconds)
    if passed.n_unlabeled:
        found["unlabeled"] = count(passed.n_unlabeled, "row")
    return found | {"classes": classes_text(model), "time": f"{passed.seconds:.2f} s", "model": repr(model.spec)}


def listed(names: Sequence[Any], most: int = 20) -> str:
    """Return how many names there are, and the first of them."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{len(names):,}: {', '.join(map(str, names[:most]))}{more}"


def classes_text(model: Model) -> str:
    """Return the classes with their rows, the largest first."""
    counts = sorted(zip(model.class_count.tolist(), model.classes.tolist(), strict=True), key=lambda one: -one[0])
    return listed([f"{label} ({weight:,.6g})" for weight, label in counts])


def top_words(model: Model, n: int = _WORDS) -> Any:
    """Return the most informative words per class; other tokens where the model has no words."""
    from ..model.top_features import top_features

    summary = summary_of(model)
    assert summary is not None
    classifier, kernels = model.classifier, model.kernels
    found = top_features(classifier, n, "words" if "words" in summary["feature_set"].tolist() else None, kernels)
    if not found.n_rows:
        found = top_features(classifier, n, None, kernels)
    table = TerminalTable("Most informative words per class", (Column("class"), Column("words", wrap=True)))
    words: dict[Any, list[str]] = {}
    for label, token in zip(found["class"].tolist(), found["token"].tolist(), strict=True):
        words.setdefault(label, []).append(token)
    for label, tokens in list(words.items())[:_MAX_CLASSES]:
        table.add_row(label, ", ".join(tokens))
    if len(words) > _MAX_CLASSES:
        table.note = f"… and {len(words) - _MAX_CLASSES:,} more classes"
    return table


def summary_of(model: Model) -> Table | None:
    """Return the importance of columns, or of token features; None for models of one family."""
    if model.spec.reads_texts:
        from ..model.summary import text_summary

        return text_summary(model.classifier)
    if model.spec.name != "NaiveBayes":
        return None
    from ..explain.importance import summary_with_importance

    return summary_with_importance(model.classifier, model.column_names(), model.kernels)
