"""Text models as JavaScript modules: size, texts per second in Node and Python: ``python -m benchmarks.javascript``.

Trains on the SMS Spam Collection (``examples/sms_spam.csv.gz``). Differences are the largest between probabilities.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import candide
from candide import TextNB

MESSAGES = Path(__file__).parents[1] / "examples" / "sms_spam.csv.gz"
SCRIPT = """
import { readFileSync } from "node:fs";
const begin = performance.now();
const { classify } = await import("./model.mjs");
const load = performance.now() - begin;
const texts = JSON.parse(readFileSync("texts.json", "utf8"));
for (const text of texts.slice(0, 500)) classify(text);
const start = performance.now();
const probabilities = texts.map((text) => classify(text).probabilities);
const seconds = (performance.now() - start) / 1000;
console.log(JSON.stringify({ load, seconds, probabilities }));
"""


def read_messages() -> tuple[list[str], list[str]]:
    """Return texts and labels."""
    with gzip.open(MESSAGES, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["label"] for row in rows]


def models() -> Iterator[tuple[str, Any]]:
    """Yield the models that are exported."""
    yield "TextNB('multinomial')", TextNB("multinomial", compute_loo=False)
    yield "TextNB('multinomial', ngrams=2)", TextNB("multinomial", ngrams=2, compute_loo=False)
    yield "TextNB(feature_sets=['words'])", TextNB(feature_sets=["words"], compute_loo=False)
    yield "TextNB()", TextNB(compute_loo=False)


def run_node(source: str, texts: list[str]) -> Any:
    """Return what the script prints."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        (where / "model.mjs").write_text(source, encoding="utf-8")
        (where / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        (where / "run.mjs").write_text(SCRIPT)
        node = shutil.which("node")
        if node is None:
            raise SystemExit("node is not installed; install Node.js 18 or later")
        return json.loads(subprocess.run([node, "run.mjs"], cwd=where, capture_output=True, check=True).stdout)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    texts, labels = read_messages()
    size = sum(len(text.encode()) for text in texts) / 1e6
    print(f"candide {candide.__version__}; {len(texts):,} texts, {size:.2f} MB\n")
    print("| Model | Module, MB | gzip, MB | Load, ms | Node, texts/s | Python, texts/s | one by one | Difference |")
    print("|---|---|---|---|---|---|---|---|")
    for name, model in models():
        model.fit(texts, labels)
        source = model.to_js()
        found = run_node(source, texts)
        model.predict_proba(texts)
        begin = time.perf_counter()
        expected = model.predict_proba(texts)
        batch = time.perf_counter() - begin
        begin = time.perf_counter()
        for text in texts[:500]:
            model.predict_proba([text])
        single = (time.perf_counter() - begin) / 500
        difference = np.abs(np.array(found["probabilities"]) - expected).max()
        written = source.encode()
        speeds = len(texts) / found["seconds"], len(texts) / batch, 1 / single
        print(
            f"| `{name}` | {len(written) / 1e6:.2f} | {len(gzip.compress(written)) / 1e6:.2f} | {found['load']:.0f} "
            f"| {' | '.join(f'{speed:,.0f}' for speed in speeds)} | {difference:.0e} |"
        )


if __name__ == "__main__":
    main()
