"""Mutated files are refused with one kind of error, or still contain a model; they never crash the process.

``python -m tests.storage.mutants 10000`` tries more of them, and prints the outcomes.
"""

from __future__ import annotations

import os
import re
import resource
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from candide.exceptions import ModelFileError
from candide.storage.json_form import from_json_lines, to_json_lines

from .example_models import EXAMPLES
from .mutants import TARGETS, Target
from .storing import content_of

# Of each of the models; fewer under sanitizers, where everything takes ten times as long.
FEW = 4 if os.environ.get("HYPOTHESIS_PROFILE") == "sanitize" else 8
MANY = 150
# Memory of all together, in kB: a file that asks for gigabytes must not get them.
MOST_MEMORY = 600_000

NAMES = [f"{name}, {'rows' if sample else 'alone'}" for name, sample in TARGETS]


@pytest.mark.parametrize(
    "target",
    [pytest.param(one, marks=pytest.mark.slow) if one[0] == "text refined" else one for one in TARGETS],
    ids=NAMES,
)
def test_changed_files_do_no_harm(target: tuple[str, bool], tmp_path: Path) -> None:
    attack(Target(*target, tmp_path), range(FEW))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=NAMES)
def test_many_changed_files_do_no_harm(target: tuple[str, bool], tmp_path: Path) -> None:
    attack(Target(*target, tmp_path), range(100_000, 100_000 + MANY))


@pytest.mark.parametrize("name", ["gaussian names", "categorical kept", "multinomial balanced", "text tfidf"])
def test_changed_text_does_no_harm(name: str) -> None:
    lines = list(to_json_lines(content_of(EXAMPLES[name]().model, sample=True)))
    rng, refused = np.random.default_rng(0), 0
    for _ in range(FEW):
        try:
            from_json_lines(garbled("".join(lines), rng))
        except ModelFileError:
            refused += 1
    assert refused > 0


def garbled(text: str, rng: np.random.Generator) -> str:
    """With a line left out, twice, or with another number, or with a character less."""
    lines = text.splitlines(keepends=True)
    at, way = int(rng.integers(len(lines))), rng.integers(4)
    if way < 2:
        lines[at] *= 2 * int(way)
    elif way == 2:
        lines[at] = re.sub(r"\d+", str(rng.choice(["-1", "7", "1e999", "99999999999", "nan"])), lines[at], count=1)
    else:
        lines[at] = lines[at][1:]
    return "".join(lines)


def attack(target: Target, seeds: range) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fates = Counter(target.fate(seed) for seed in seeds)
    assert fates["refused"] > 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEMORY
