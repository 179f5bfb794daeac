"""Mutation testing of chosen functions: how many small changes the fast tier of the tests detects.

    python tools/mutate.py               # all functions, ten mutants each
    python tools/mutate.py forget -n 3   # one of them, three mutants

Source files are not changed. The modules of a target are imported with all mutants in them, each behind a switch. One
run without mutants records which tests reach which switch; then each mutant runs in a process of its own with the tests
that reach it, the quickest first, until one fails.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Seconds for the tests of a target without mutants.
TIME_LIMIT = 1800


class Target(NamedTuple):
    """Functions by module, and test files among which those that reach them are found."""

    functions: dict[str, str]
    tests: str


TARGETS = {
    "merge": Target(
        {"candide.model.state": "_plus learn join among _moved"}, "model/test_state.py estimators/test_algebra.py"
    ),
    "forget": Target(
        {
            "candide.model.state": "forget in_same_groups without_empty_classes",
            "candide.statistics.base": "subtract refuse_above _whole remaining",
        },
        "model/test_state.py statistics regressions/test_forgetting.py",
    ),
    "class prior": Target(
        {"candide.specs.class_prior": "probability _unweighted weight _check_shares _in_order"},
        "specs estimators/test_class_prior.py",
    ),
    "gaussian": Target(
        {"candide.families.gaussian": "resolve likelihood _fallback_variance _most_likely table extra _pooled"},
        "families/test_gaussian.py",
    ),
    "multinomial": Target(
        {"candide.families.multinomial": "log_shares likelihood _dense _sparse scores"}, "families/test_multinomial.py"
    ),
    "gaussian leave-one-out": Target(
        {
            "candide.families.gaussian_likelihood": "left_out_normal _own _exactly _recomputed _moments _shared "
            "_shared_student _one_by_one"
        },
        "families/test_gaussian.py regressions/test_zero_weights.py",
    ),
    "multinomial leave-one-out": Target(
        {"candide.families.multinomial": "left_out _own", "candide.families.linear": "own_tokens_left"},
        "families/test_multinomial.py",
    ),
    "stacking": Target(
        {"candide.stacking.weights": "fit_weights _sizes _solve _common value curvature"}, "stacking/test_weights.py"
    ),
    "tokenizer": Target(
        {
            "candide.kernels.tokenizer": "normalize_text words _cut _check_words _check_own_ways _check_pattern",
            "candide.kernels.tokens": "_groups _native _cut",
        },
        "kernels/test_tokenizer.py",
    ),
    "decoder": Target(
        {
            "candide.storage.decoder": "value tensor strings sparse _object _datetime _objects _joined _full_matrix",
        },
        "storage/test_decoder.py",
    ),
    "labels": Target(
        {"candide.data.index": "canonical_labels sort_labels encode _encode_texts _encode_objects union_labels"},
        "data/test_labels.py data/test_index.py",
    ),
}

# Mutants that behave like the original, with the reason.
EQUIVALENT = {
    "candide.stacking.weights._common: n_views > _FEW_VIEWS -> n_views >= _FEW_VIEWS": "both searches find the minimum",
    "candide.families.gaussian_likelihood._moments: 0.0 -> 1.0": "of missing values, which have no weight",
    "candide.families.gaussian_likelihood._one_by_one: 1 -> 2": "zeros of any shape are broadcast",
    "candide.families.gaussian_likelihood._shared: 0 -> 1": "every class has the same shape and scale",
    "candide.families.gaussian_likelihood._shared_student: scale <= _DELICATE * mine.scale -> "
    "scale < _DELICATE * mine.scale": "equality is as good on either side",
}

_REPLACEMENTS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt,
    ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}  # fmt: skip


def mutate(node: ast.AST) -> ast.expr | None:
    """Return an expression with another operator or number; None if it has neither."""
    new = copy.deepcopy(node)
    if isinstance(new, (ast.BinOp, ast.BoolOp)) and type(new.op) in _REPLACEMENTS:
        new.op = _REPLACEMENTS[type(new.op)]()  # type: ignore[assignment]
    elif isinstance(new, ast.Compare) and type(new.ops[0]) in _REPLACEMENTS:
        new.ops[0] = _REPLACEMENTS[type(new.ops[0])]()  # type: ignore[call-overload]
    elif isinstance(new, ast.Constant) and type(new.value) in (int, float, bool):
        new.value = not new.value if isinstance(new.value, bool) else new.value + 1
    elif isinstance(new, ast.UnaryOp) and isinstance(new.op, (ast.USub, ast.Not, ast.Invert)):
        return new.operand
    else:
        return None
    return new


class Mutator(ast.NodeTransformer):
    """Finds the mutants of some functions of a module, and puts those that have a number behind a switch."""

    def __init__(self, module: str, functions: str, numbers: dict[str, int]) -> None:
        self.module, self.absent, self.numbers = module, set(functions.split()), numbers
        self.functions = frozenset(self.absent)
        self.function: ast.FunctionDef | None = None
        self.found: list[str] = []

    def visit(self, node: ast.AST) -> ast.AST:
        # Messages, annotations and assertions, which are for the type checker, have no mutants; nor has strict=True,
        # which matters for wrong programs only.
        if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.arguments)):
            return node
        if isinstance(node, ast.keyword) and node.arg == "strict":
            return node
        if isinstance(node, ast.FunctionDef) and self.function is None and node.name in self.functions:
            self.absent.discard(node.name)
            self.function = node
            self.generic_visit(node)
            self.function = None
            return node
        if self.function is None:
            return self.generic_visit(node)
        original, mutant = copy.deepcopy(node), mutate(node)
        self.generic_visit(node)
        if isinstance(node, (ast.If, ast.IfExp)):
            test = original.test  # type: ignore[attr-defined]
            node.test = self.switched(node.test, test, ast.UnaryOp(ast.Not(), test))
        return node if mutant is None else self.switched(node, original, mutant)  # type: ignore[arg-type]

    def switched(self, node: ast.expr, original: ast.expr, mutant: ast.expr) -> ast.expr:
        """Return an expression that is the mutant while its switch is on."""
        assert self.function is not None
        text = f"{self.module}.{self.function.name}: {ast.unparse(original)} -> {ast.unparse(mutant)}"
        if text in EQUIVALENT:
            return node
        name = f"{text} (line {original.lineno - self.function.lineno}, column {original.col_offset})"
        self.found.append(name)
        if name not in self.numbers:
            return node
        switch = ast.Call(ast.Name("mutant_is_active", ast.Load()), [ast.Constant(self.numbers[name])], [])
        return ast.IfExp(switch, mutant, node)


def choose(target: Target, n: int) -> list[str]:
    """Return the names of ``n`` mutants. The choice does not depend on the rest of the module."""
    found = []
    for module, functions in target.functions.items():
        mutator = Mutator(module, functions, {})
        mutator.visit(ast.parse(path_of(module).read_bytes()))
        if mutator.absent:
            raise SystemExit(f"{module} has no {', '.join(sorted(mutator.absent))}; adapt TARGETS in tools/mutate.py")
        found += mutator.found
    return sorted(found, key=lambda name: hashlib.sha256(name.encode()).digest())[:n]


def path_of(module: str) -> Path:
    return ROOT / "src" / f"{module.replace('.', '/')}.py"


class Finder(MetaPathFinder):
    """Finds the modules of a target, and has their mutants compiled into them."""

    def __init__(self, target: Target, mutants: list[str]) -> None:
        self.target, self.numbers = target, {name: number for number, name in enumerate(mutants)}

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        if name not in self.target.functions:
            return None
        loader = Loader(name, str(path_of(name)))
        loader.mutator = Mutator(name, self.target.functions[name], self.numbers)
        return spec_from_file_location(name, path_of(name), loader=loader)


class Loader(SourceFileLoader):
    mutator: Mutator

    def get_code(self, fullname: str) -> Any:
        tree = self.mutator.visit(ast.parse(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


class Plugin:
    """Selects tests, records how long they take, and knows which mutants they reach."""

    def __init__(self, active: int | None = None, tests: tuple[str, ...] = ()) -> None:
        self.active, self.tests = active, tests
        self.reached: set[int] = set()
        self.seconds: dict[str, float] = {}
        self.mutants: dict[str, list[int]] = {}

    def is_active(self, number: int) -> bool:
        self.reached.add(number)
        return number == self.active

    def pytest_configure(self) -> None:
        from hypothesis import Phase, settings

        # A failure is enough: which example is the smallest does not matter.
        settings.register_profile("mutate", settings.default, phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutate")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.tests:
            place = {test: i for i, test in enumerate(self.tests)}
            items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        self.mutants.setdefault(report.nodeid, []).extend(self.reached)
        self.reached.clear()


def run_tests(plugin: Plugin, finder: Finder, tests: Iterable[str]) -> int:
    """Run pytest with mutants in this process, and return its status."""
    sys.meta_path.insert(0, finder)
    builtins.mutant_is_active = plugin.is_active  # type: ignore[attr-defined]
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", f"--rootdir={ROOT}"]
    return int(pytest.main([*options, *(str(ROOT / test) for test in tests)], plugins=[plugin]))


def in_fork(function: Callable[[], Any], seconds: int) -> Any:
    """Return the result of a function that runs in a fork; None if it does not end in time."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        try:
            os.write(write, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def record(finder: Finder, tests: list[str]) -> list[dict[str, float]]:
    """Return the tests that reach each mutant with their seconds, the quickest first, then the others of their files,
    which may share a cached result with them.
    """
    plugin = Plugin()

    def recorded() -> tuple[int, dict[str, float], dict[str, list[int]]]:
        return run_tests(plugin, finder, [f"tests/{name}" for name in tests]), plugin.seconds, plugin.mutants

    status, seconds, mutants = in_fork(recorded, TIME_LIMIT) or (None, {}, {})
    if status != 0:
        raise SystemExit(f"The tests {', '.join(tests)} fail without a mutant; correct them first.")
    reaching = []
    for number in finder.numbers.values():
        direct = {test for test in seconds if number in mutants[test]}
        files = {test.split("::")[0] for test in direct}
        shared = [test for test in seconds if test.split("::")[0] in files]
        shared.sort(key=lambda test: (test not in direct, seconds[test]))
        reaching.append({test: seconds[test] for test in shared})
    return reaching


def undetected(target: Target, mutants: list[str]) -> list[str]:
    """Return the mutants that no test detects."""
    finder = Finder(target, mutants)
    found = []
    for (mutant, number), tests in zip(finder.numbers.items(), record(finder, target.tests.split()), strict=True):
        files = sorted({test.split("::")[0] for test in tests})
        run = partial(run_tests, Plugin(number, tuple(tests)), finder, files)
        # A mutant that does not terminate is detected.
        status = in_fork(run, 60 + 3 * round(sum(tests.values()))) if tests else 0
        assert status in (0, 1, 2, None), f"pytest ended with status {status}"
        if status == 0:
            found.append(f"{mutant}, {len(tests)} tests")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="How many small changes of chosen functions the fast tests detect.")
    parser.add_argument("names", nargs="*", choices=[[], *TARGETS], default=[], help="targets; all, if none is named")
    parser.add_argument("-n", type=int, default=10, help="mutants of each")
    args = parser.parse_args()
    # Tests run one after another, and threads of a library would compete with other processes.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in args.names or TARGETS:
        mutants = choose(TARGETS[name], args.n)
        found = undetected(TARGETS[name], mutants)
        detected = f"{name}: {len(mutants) - len(found)} of {len(mutants)} detected"
        print(detected, *found, sep="\n  not detected: ", flush=True)


if __name__ == "__main__":
    main()
