"""Files that were changed: refused with one kind of error, or still a model; never a crash.

``python -m tests.files.hostile 10000`` tries as many as one likes, and tells what became of them.
"""

from __future__ import annotations

import os
import resource
from collections import Counter
from pathlib import Path

import pytest

from .hostile import TARGETS, Target

# Of each of the models; fewer under sanitizers, where everything takes ten times as long.
FEW = 4 if os.environ.get("HYPOTHESIS_PROFILE") == "sanitize" else 20
MANY = 150
# Memory of all together, in kB: a file that asks for gigabytes must not get them.
MOST_MEMORY = 600_000

NAMES = [f"{name}, {'rows' if sample else 'alone'}" for name, sample in TARGETS]


@pytest.mark.parametrize("target", TARGETS, ids=NAMES)
def test_changed_files_do_no_harm(target: tuple[str, bool], tmp_path: Path) -> None:
    attack(Target(*target, tmp_path), range(FEW))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=NAMES)
def test_many_changed_files_do_no_harm(target: tuple[str, bool], tmp_path: Path) -> None:
    attack(Target(*target, tmp_path), range(100_000, 100_000 + MANY))


def attack(target: Target, seeds: range) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fates = Counter(target.fate(seed) for seed in seeds)
    assert fates["refused"] > 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEMORY
