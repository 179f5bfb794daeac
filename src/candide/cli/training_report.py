"""What ``train`` tells: what it understood, how good the model is, what speaks for each class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .pictures import of_honest, of_summary, picture

if TYPE_CHECKING:
    from ..model.model import Model
    from ..model.source import Source
    from ..model.table import Table
    from .progress import Pass

_WORDS = 8
_MOST_CLASSES = 30


def as_machine(model: Model, source: Source, passed: Pass, path: Path) -> dict[str, Any]:
    """For ``--json``."""
    roles = model.schema.roles
    assert roles is not None
    found: dict[str, Any] = {
        "model": str(path),
        "kind": model.spec.name,
        "label": roles.label,
        "text": roles.text,
        "columns": list(roles.columns),
        "rows": passed.rows,
        "rows_without_label": passed.n_unlabeled,
        "bad_rows": len(source.bad_rows),
        "classes": dict(zip(model.classes.tolist(), model.class_count.tolist(), strict=True)),
        "seconds": passed.seconds,
        "megabytes": passed.megabytes,
    }
    return found | ({"leave_one_out": model.loo.as_dict()} if model.has_loo else {})


def for_people(model: Model, passed: Pass, path: Path, with_rows: bool) -> list[Any]:
    """Lines and tables for a terminal."""
    lines: list[Any] = [_understood(model, passed)]
    summary = summary_of(model)
    if not model.spec.reads_texts and summary is not None:
        lines += of_summary(summary, "columns")
    if model.has_loo:
        lines += of_honest(model.loo)
    if model.spec.reads_texts:
        lines.append(telling_words(model))
    rows = "with" if with_rows else "without"
    lines.append(f"wrote {path} ({path.stat().st_size / 1e6:,.2f} MB, {rows} training rows)")
    return lines


def _understood(model: Model, passed: Pass) -> Any:
    roles, table = model.schema.roles, picture("what was read", "", "")
    assert roles is not None
    table.show_header = False
    table.add_row("label", str(roles.label))
    if roles.text is not None:
        table.add_row("text", f"{roles.text}, modelled by {model.spec.name}({model.spec.parameters['family']!r})")
    else:
        table.add_row("columns", f"{len(roles.columns)}: {', '.join(map(str, roles.columns[:20]))}")
    table.add_row(
        "rows",
        f"{passed.rows:,}" + (f", {passed.n_unlabeled:,} without a label" if passed.n_unlabeled else ""),
    )
    table.add_row("classes", classes_text(model))
    size = passed.megabytes
    table.add_row(
        "time", f"{passed.seconds:.2f} s" + (f" for {size:,.3g} MB, {size / passed.seconds:,.3g} MB/s" if size else "")
    )
    return table


def classes_text(model: Model) -> str:
    """The classes with their rows, the largest first."""
    counts = sorted(zip(model.class_count.tolist(), model.classes.tolist(), strict=True), key=lambda one: -one[0])
    shown = ", ".join(f"{label} {count:,.6g}" for count, label in counts[:_MOST_CLASSES])
    return f"{len(counts):,}: {shown}" + (", …" if len(counts) > _MOST_CLASSES else "")


def telling_words(model: Model, n: int = _WORDS) -> Any:
    """The words that speak most for each class; pieces of words where the model hears no words."""
    from ..model.top_features import top_features

    summary = summary_of(model)
    assert summary is not None
    classifier, kernels = model.classifier, model.kernels
    found = top_features(classifier, n, "words" if "words" in summary["feature_set"].tolist() else None, kernels)
    if not found.n_rows:
        found = top_features(classifier, n, None, kernels)
    table = picture("the most informative words of each class, the best first", "class", "words")
    words: dict[Any, list[str]] = {}
    for label, token in zip(found["class"].tolist(), found["token"].tolist(), strict=True):
        words.setdefault(label, []).append(token)
    for label, tokens in list(words.items())[:_MOST_CLASSES]:
        table.add_row(str(label), "  ".join(tokens))
    return table


def summary_of(model: Model) -> Table | None:
    """Return what each column, or token feature, is worth; None for models of one family."""
    if model.spec.reads_texts:
        from ..model.text_summary import text_summary

        return text_summary(model.classifier)
    if model.spec.name != "NaiveBayes":
        return None
    from ..explain.importance import summary_with_importance

    return summary_with_importance(model.classifier, model.column_names(), model.kernels)
