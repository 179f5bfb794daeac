"""The HTML page: one file without scripts and without requests to other files."""

from __future__ import annotations

from .markup import escape_text, number, percent, section, user_text
from .model_report import ModelReport
from .quality_section import calibration_section, evaluations_of, quality_section
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
# The page loads nothing and runs nothing, whatever texts it shows.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_NAMES_SHOWN = 12


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
        tiles.append((percent(report.ece), f"calibration error on {name}"))
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


# Colours that all eyes tell apart (after Okabe and Ito), each at least 4.5 to 1 against its ground as text is.
CSS = """
:root{color-scheme:light dark;--ground:#ffffff;--card:#f5f6f8;--ink:#1b1f24;--soft:#525b66;--rule:#d3d8de;
--accent:#005a94;--warn:#8a3b00;--warn-ground:#fff4ea;--heat:0,114,178;
--s0:#0072b2;--s1:#b34d00;--s2:#00765a;--s3:#96407a;--s4:#6b5900;--s5:#525b66}
@media (prefers-color-scheme:dark){:root{--ground:#14171a;--card:#1e2226;--ink:#e8eaed;--soft:#aab3bd;--rule:#3a4149;
--accent:#7cc4f5;--warn:#ffb27a;--warn-ground:#2b2018;--heat:86,180,233;
--s0:#56b4e9;--s1:#ff9d5c;--s2:#35c99b;--s3:#e296c8;--s4:#e6d84a;--s5:#aab3bd}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1.25rem clamp(.9rem,3vw,2.5rem) 4rem;max-width:76rem;background:var(--ground);
color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.2;margin:.2em 0}h2{font-size:1.3rem;margin:2.4rem 0 .6rem;padding-top:.6rem;
border-top:1px solid var(--rule)}h3{font-size:1.05rem;margin:1.5rem 0 .5rem}
p{margin:.5rem 0;max-width:46rem}a{color:var(--accent)}small,.soft,figcaption,caption{color:var(--soft)}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;padding:0;margin:.8rem 0}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.8rem;margin:1.2rem 0;padding:0;
list-style:none}.tiles li{background:var(--card);border:1px solid var(--rule);border-radius:.5rem;padding:.7rem .9rem}
.tiles b{display:block;font-size:1.5rem;line-height:1.25}.tiles small{display:block}
.warnings{list-style:none;padding:0;margin:0}.warnings li{background:var(--warn-ground);border:1px solid var(--rule);
border-left:.35rem solid var(--warn);border-radius:.3rem;padding:.6rem .9rem;margin:.6rem 0}
.warnings b{color:var(--warn)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr));gap:1rem;align-items:start}
figure{margin:0;padding:.9rem;background:var(--card);border:1px solid var(--rule);border-radius:.5rem;min-width:0}
figure h4{margin:0 0 .3rem;font-size:1rem}figcaption{font-size:.875rem;margin-top:.4rem}
svg{display:block;width:100%;height:auto;max-width:28rem;margin:0 auto}
svg text{fill:var(--soft);font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
unicode-bidi:isolate}
.grid{stroke:var(--rule);stroke-width:1}.line{fill:none;stroke-width:2;stroke-linejoin:round}
.ideal{stroke:var(--soft);stroke-dasharray:3 4;stroke-width:1.5}
.dot,.fill{stroke:none}
.s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}.s4{--c:var(--s4)}.s5{--c:var(--s5)}
.line.s0,.line.s1,.line.s2,.line.s3,.line.s4,.line.s5{stroke:var(--c)}
.line.s1{stroke-dasharray:7 3}.line.s2{stroke-dasharray:2 3}.line.s3{stroke-dasharray:9 3 2 3}
.dot,.fill{fill:var(--c)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.1rem 1rem;padding:0;margin:0 0 .4rem;font-size:.875rem}
.key{display:inline-block;width:1.7em;height:0;border-top:3px solid var(--c);vertical-align:middle;margin-right:.4em}
.key.s1{border-top-style:dashed}.key.s2{border-top-style:dotted}.key.s3{border-top-style:double}
.wide{overflow-x:auto;margin:.6rem 0}
table{border-collapse:collapse;min-width:min(100%,22rem);font-size:.9375rem;font-variant-numeric:tabular-nums}
caption{text-align:left;font-size:.875rem;padding:.2rem 0}
th,td{padding:.28rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule);max-width:26rem;
overflow-wrap:break-word}
thead th{border-bottom:2px solid var(--rule);vertical-align:bottom;font-weight:600}tbody th{font-weight:500}
.n{text-align:right;white-space:nowrap}thead .n{white-space:normal}.facts td{max-width:40rem}
.bar{display:inline-block;height:.7em;min-width:1px;background:var(--c);border-radius:1px;vertical-align:middle}
.track{display:inline-block;min-width:7rem;width:14rem}
.heat td{text-align:right;border:1px solid var(--rule)}.heat .own{font-weight:700}
.heat thead th{font-size:.8125rem;max-width:7rem}
details{margin:.5rem 0}summary{cursor:pointer;color:var(--accent);padding:.2rem 0}
.words{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:.6rem 1.5rem;margin:.6rem 0}
.words dt{font-weight:600}.words dd{margin:.2rem 0 0}
.chip{display:inline-block;background:var(--card);border:1px solid var(--rule);
border-radius:.9rem;padding:0 .6rem;margin:0 .25rem .25rem 0;line-height:1.6}
.example{background:var(--card);border:1px solid var(--rule);border-radius:.5rem;padding:.8rem 1rem;margin:.8rem 0}
.example h4{margin:0 0 .3rem;font-size:1rem}.example p{max-width:none}
.text{white-space:normal;border-left:3px solid var(--rule);padding-left:.7rem}
.text b{font-weight:600}.for{color:var(--s0)}.against{color:var(--s1)}
.evidence{display:grid;grid-template-columns:minmax(0,max-content) max-content minmax(3rem,1fr);gap:.1rem .7rem;
align-items:center;font-size:.9375rem;margin:.4rem 0;max-width:46rem}
.evidence dt,.evidence dd{margin:0}.evidence .n{text-align:right}
@media (max-width:40rem){body{font-size:15px}th,td{padding:.25rem .45rem}.track{min-width:4.5rem;width:7rem}
.tiles{grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.5rem}.tiles b{font-size:1.25rem}
tbody th small{display:block}tbody th{min-width:7rem}}
@media print{:root{color-scheme:light;--ground:#ffffff;--card:#ffffff;--ink:#000000;--soft:#3d3d3d;--rule:#bbbbbb;
--accent:#005a94;--warn:#8a3b00;--warn-ground:#ffffff;--heat:0,114,178;
--s0:#0072b2;--s1:#b34d00;--s2:#00765a;--s3:#96407a;--s4:#6b5900;--s5:#525b66}
nav{display:none}section{break-inside:auto}figure,tr,.example{break-inside:avoid}body{max-width:none;font-size:10pt}
details:not([open]){display:none}.wide{overflow:visible}table{font-size:8.5pt;min-width:0}.track{min-width:3rem;width:7rem}
h2,h3,h4,caption,thead{break-after:avoid}th,td{padding:.15rem .4rem}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
"""
