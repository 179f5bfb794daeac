"""One row learned or forgotten, with the next prediction: little memory, and no refit, however many classes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the high-water mark of Linux")

# Extra megabytes; and seconds, where a refit takes many times as long.
MOST_MEGABYTES = 50
MOST_SECONDS = 0.25
# Bytes of address space: what takes gigabytes fails, and takes nothing from others.
ROOM = 4 << 30

STEPS = """
import ctypes, gc, json, resource, sys, time
import numpy as np
import candide

room, what = int(sys.argv[1]), sys.argv[2]
resource.setrlimit(resource.RLIMIT_AS, (room, room))
rng = np.random.default_rng(0)
if what == "table":
    n = 6_000
    y = np.arange(n) % 4
    X = rng.normal(y[:, None], 1.0, (n, 10))
    model = candide.NaiveBayes(n_threads=1)
else:
    n, n_classes = 2_310, 77
    y = np.arange(n) % n_classes
    common = [f"word{i}" for i in range(400)]
    X = [" ".join([*rng.choice(common, 8), f"topic{k}", f"{k}th{rng.integers(9)}"]) for k in y]
    model = candide.TextNB(n_threads=1, refine=what == "refined texts")


def resident(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def step(verb, i):
    gc.collect()
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)  # what the fit has left free would hide what a step takes
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # resets the high-water mark
    before, began = resident("VmRSS"), time.process_time()
    getattr(model, verb)(X[i : i + 1], y[i : i + 1])
    model.predict_proba(X[:1])
    found.append([verb, time.process_time() - began, resident("VmHWM") - before])


found = []
model.fit(X[3:], y[3:]).predict_proba(X[:1])
for i in range(3):
    step("partial_fit", i)
for i in range(3, 6):
    step("forget", i)
step("partial_fit", 3)
print(json.dumps({"steps": found, "staleness": getattr(model, "staleness_", None), "weight": len(y) - 3}))
"""


@pytest.mark.slow  # test_one_row.py and test_refit.py show in the fast tier that nothing is refitted
@pytest.mark.parametrize("what", ["texts", "refined texts", "table"])
def test_a_row_takes_little(what: str, tmp_path: Path) -> None:
    script = tmp_path / "steps.py"
    script.write_text(STEPS)
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, str(script), str(ROOM), what], capture_output=True, text=True, env=alone, check=False
    )
    assert ran.returncode == 0, ran.stderr[-1000:]
    told = json.loads(ran.stdout)
    assert max(megabytes for _, _, megabytes in told["steps"]) < MOST_MEGABYTES, told
    for verb in ("partial_fit", "forget"):
        assert min(seconds for name, seconds, _ in told["steps"] if name == verb) < MOST_SECONDS, told
    assert told["staleness"] == pytest.approx(7 / told["weight"])  # nothing was refitted
