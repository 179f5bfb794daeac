"""What ``train`` tells: what it understood, how good the model is, what speaks for each class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .learning import Passed
from .pictures import of_honest, of_summary, picture

if TYPE_CHECKING:
    from ..model.model import Model
    from ..model.table import Table
    from ..sources import Source
    from .afar import Afar

_WORDS = 8
_MOST_CLASSES = 30


def as_machine(model: Model, source: Source | Afar, passed: Passed, path: Path) -> dict[str, Any]:
    """For ``--json``."""
    roles = source.roles
    found: dict[str, Any] = {
        "model": str(path),
        "kind": model.spec.name,
        "label": roles.label,
        "text": roles.text,
        "columns": list(roles.columns),
        "rows": passed.n_rows,
        "rows_without_label": passed.n_without_label,
        "bad_rows": len(source.bad_rows),
        "classes": dict(zip(model.classes.tolist(), model.class_count.tolist(), strict=True)),
        "seconds": passed.seconds,
        "megabytes": passed.megabytes,
    }
    return found | ({"leave_one_out": model.loo.as_dict()} if model.has_loo else {})


def for_people(model: Model, source: Source | Afar, passed: Passed, path: Path, updatable: bool) -> list[Any]:
    """Lines and tables for a terminal."""
    lines: list[Any] = [_understood(model, source, passed)]
    summary = summary_of(model)
    if source.roles.text is None and summary is not None:
        lines += of_summary(summary, "columns")
    if model.has_loo:
        lines += of_honest(model.loo)
    if source.roles.text is not None:
        lines.append(telling_words(model))
    rows = "with" if updatable else "without"
    lines.append(f"wrote {path} ({path.stat().st_size / 1e6:,.2f} MB, {rows} training rows)")
    return lines


def _understood(model: Model, source: Source | Afar, passed: Passed) -> Any:
    roles, table = source.roles, picture("what was read", "", "")
    table.show_header = False
    table.add_row("label", str(roles.label))
    if roles.text is not None:
        table.add_row("text", f"{roles.text}, modelled by {model.spec.name}({model.spec.parameters['family']!r})")
    else:
        table.add_row("columns", f"{len(roles.columns)}: {', '.join(map(str, roles.columns[:20]))}")
    table.add_row(
        "rows",
        f"{passed.n_rows:,}" + (f", {passed.n_without_label:,} without a label" if passed.n_without_label else ""),
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
