"""What ``train`` tells: what it understood, how good the model is, what speaks for each class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .learning import Passed
from .pictures import of_honest, of_summary, picture

if TYPE_CHECKING:
    from ..learners.base import BaseNB
    from ..sources import Source
    from .afar import Afar

_WORDS = 8
_MOST_CLASSES = 30


def as_machine(learner: BaseNB, source: Source | Afar, passed: Passed, path: Path) -> dict[str, Any]:
    """For ``--json``."""
    roles = source.roles
    found: dict[str, Any] = {
        "model": str(path),
        "kind": type(learner).__name__,
        "label": roles.label,
        "text": roles.text,
        "columns": list(roles.columns),
        "rows": passed.n_rows,
        "rows_without_label": passed.n_without_label,
        "bad_rows": len(source.bad_rows),
        "classes": dict(zip(learner.classes_.tolist(), learner.class_count_.tolist(), strict=True)),
        "seconds": passed.seconds,
        "megabytes": passed.megabytes,
    }
    return found | ({"leave_one_out": learner.loo_.as_dict()} if learner.can_report else {})


def for_people(learner: BaseNB, source: Source | Afar, passed: Passed, path: Path, updatable: bool) -> list[Any]:
    """Lines and tables for a terminal."""
    lines: list[Any] = [_understood(learner, source, passed)]
    summary = getattr(learner, "summary", None)
    if source.roles.text is None and summary is not None:
        lines += of_summary(summary(), "columns")
    if learner.can_report:
        lines += of_honest(learner.loo_)
    if source.roles.text is not None:
        lines.append(telling_words(learner))
    rows = "with" if updatable else "without"
    lines.append(f"wrote {path} ({path.stat().st_size / 1e6:,.2f} MB, {rows} training rows)")
    return lines


def _understood(learner: BaseNB, source: Source | Afar, passed: Passed) -> Any:
    roles, table = source.roles, picture("what was read", "", "")
    table.show_header = False
    table.add_row("label", str(roles.label))
    if roles.text is not None:
        table.add_row("text", f"{roles.text}, modelled by {type(learner).__name__}({learner.get_params()['model']!r})")
    else:
        table.add_row("columns", f"{len(roles.columns)}: {', '.join(map(str, roles.columns[:20]))}")
    table.add_row(
        "rows",
        f"{passed.n_rows:,}" + (f", {passed.n_without_label:,} without a label" if passed.n_without_label else ""),
    )
    table.add_row("classes", classes_text(learner))
    size = passed.megabytes
    table.add_row(
        "time", f"{passed.seconds:.2f} s" + (f" for {size:,.3g} MB, {size / passed.seconds:,.3g} MB/s" if size else "")
    )
    return table


def classes_text(learner: BaseNB) -> str:
    """The classes with their rows, the largest first."""
    counts = sorted(zip(learner.class_count_.tolist(), learner.classes_.tolist(), strict=True), key=lambda one: -one[0])
    shown = ", ".join(f"{label} {count:,.6g}" for count, label in counts[:_MOST_CLASSES])
    return f"{len(counts):,}: {shown}" + (", …" if len(counts) > _MOST_CLASSES else "")


def telling_words(learner: Any, n: int = _WORDS) -> Any:
    """The words that speak most for each class; pieces of words where the model hears no words."""
    found = learner.telling(n, "words") if "words" in learner.summary()["look"].tolist() else learner.telling(n)
    if not found.n_rows:
        found = learner.telling(n)
    table = picture("the most informative words of each class, the best first", "class", "words")
    words: dict[Any, list[str]] = {}
    for label, token in zip(found["class"].tolist(), found["token"].tolist(), strict=True):
        words.setdefault(label, []).append(token)
    for label, tokens in list(words.items())[:_MOST_CLASSES]:
        table.add_row(str(label), "  ".join(tokens))
    return table
