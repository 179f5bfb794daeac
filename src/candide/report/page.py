"""The page: one file, without scripts, that asks for nothing from elsewhere."""

from __future__ import annotations

from .contents import looks_section, model_section, origin_section
from .findings import Findings
from .markup import number, percent, plain, section, users
from .quality import calibration_section, quality_section, reports_of
from .rows_section import rows_section
from .style import CSS

_PARTS = {
    "concerns": "Warnings",
    "model": "What it is",
    "quality": "How good it is",
    "calibration": "How far to trust it",
    "columns": "What it looks at",
    "rows": "Rows worth a look",
    "origin": "How it was trained",
}
# Nothing is loaded and nothing run, whatever a text in the page says.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_NAMES_SHOWN = 12


def page(found: Findings) -> str:
    """All of it."""
    sections = [
        _concerns(found), model_section(found), quality_section(found), calibration_section(found),
        looks_section(found), rows_section(found), origin_section(found),
    ]  # fmt: skip
    body = "".join(sections)
    title = plain(found.title, 100)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{_POLICY}"><meta name="viewport" content="width=device-width, initial-scale=1"><meta '
        f'name="referrer" content="no-referrer"><link rel="icon" href="data:,"><title>{title}: a model</title>'
        f'<style>{CSS}</style></head><body><header><p class="soft">candide report</p>'
        f"<h1>{users(found.title, 100)}</h1>{_tiles(found)}{_navigation(body)}</header><main>{body}</main>"
        "</body></html>\n"
    )


def _navigation(body: str) -> str:
    there = [(key, name) for key, name in _PARTS.items() if f'<section id="{key}"' in body]
    links = "".join(f'<li><a href="#{key}">{name}</a></li>' for key, name in there)
    return f'<nav aria-label="Parts of this page"><ul>{links}</ul></nav>'


def _tiles(found: Findings) -> str:
    subject = found.subject
    tiles = [(number(float(subject.model.state.rows.sum())), f"rows learned, {len(subject.labels):,} classes")]
    for name, report in reports_of(found):
        tiles.append((percent(report.accuracy), f"right, on {name}"))
        tiles.append((f"{report.log_loss:.4f}", f"log-loss, on {name}"))
        tiles.append((percent(report.ece), f"calibration error, on {name}"))
    tiles.append((f"{len(found.concerns)}", "warnings" if len(found.concerns) != 1 else "warning"))
    return f'<ul class="tiles">{"".join(f"<li><b>{value}</b><small>{what}</small></li>" for value, what in tiles)}</ul>'


def _concerns(found: Findings) -> str:
    if not found.concerns:
        return section("concerns", "Warnings", f"<p>None of what is looked for was found{_unseen(found)}.</p>")
    items = "".join(
        f"<li><b>{concern.topic.capitalize()}:</b> {plain(concern.text, 600)}{_names(concern.names)}.</li>"
        for concern in found.concerns
    )
    return section("concerns", "Warnings", f'<ul class="concerns">{items}</ul>')


def _unseen(found: Findings) -> str:
    known = found.trained is not None or found.given is not None
    return "" if known else "; without rows, duplicates and drift cannot be"


def _names(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return f": {', '.join(users(name, 160) for name in names[:_NAMES_SHOWN])}{more}"
