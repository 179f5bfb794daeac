"""Whether the fast tier of the tests notices mistakes: small changes in named functions, and the tests of each.

    python tools/mutate.py               # all functions, ten changes each
    python tools/mutate.py forget -n 3   # one of them, three changes

Files are not touched: a test run reads the changed source of one module through this file, as a plugin of pytest.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# Seconds after which a change counts as noticed: it never ends.
LONGEST = 300


class Target(NamedTuple):
    """Functions of one module, and the tests that run them."""

    module: str
    functions: tuple[str, ...]
    tests: tuple[str, ...]


TARGETS = {
    "merge": Target(
        "candide.model.state",
        ("_plus", "join", "among", "_moved"),
        (
            "properties/test_algebra.py",
            "properties/test_places.py",
            "estimators/test_algebra.py",
            "contracts/test_unchanged.py",
        ),
    ),
    "forget": Target(
        "candide.statistics.base",
        ("subtract", "_whole"),
        ("statistics", "properties/test_forgetting.py", "properties/test_algebra.py", "regressions/test_forgetting.py"),
    ),
    "class prior": Target(
        "candide.specs.bound",
        ("probability", "_unweighted", "weight", "_check_shares", "_in_order"),
        ("estimators/test_class_prior.py", "contracts/test_drop_in.py", "regressions/test_labels.py"),
    ),
    "gaussian": Target(
        "candide.families.gaussian",
        ("settle", "likelihood", "_most_likely", "table", "extra"),
        (
            "estimators/test_estimates.py",
            "contracts/test_drop_in.py",
            "properties/test_left_out.py",
            "regressions/test_variance.py",
        ),
    ),
    "multinomial": Target(
        "candide.families.multinomial",
        ("log_shares", "likelihood", "_dense", "_sparse"),
        (
            "contracts/test_drop_in.py",
            "properties/test_density.py",
            "properties/test_sparse.py",
            "estimators/test_estimates.py",
        ),
    ),
    "gaussian left out": Target(
        "candide.families.gaussian_left_out",
        ("left_out_normal", "_own", "_exactly", "_recomputed", "_moments", "_shared", "_shared_student", "_one_by_one"),
        ("properties/test_left_out.py", "regressions/test_leaving_out.py"),
    ),
    "multinomial left out": Target(
        "candide.families.multinomial",
        ("left_out", "_own"),
        ("properties/test_left_out.py", "regressions/test_leaving_out.py", "estimators/test_text_weighting.py"),
    ),
    "stacking": Target(
        "candide.stacking.weights",
        ("fit_weights", "_sizes", "_solve", "_common", "value", "curvature"),
        ("stacking", "properties/test_tables.py", "estimators/test_table_desk.py"),
    ),
    "tokenizer": Target(
        "candide.kernels.tokenizer",
        ("normalize_text", "words", "analyze", "_ngrams", "_places", "_within"),
        ("properties/test_kernel_tokens.py", "kernels/test_unicode.py", "properties/test_count_vectorizer.py"),
    ),
    "decoder": Target(
        "candide.storage.decoder",
        ("value", "tensor", "strings", "sparse", "_object", "_datetime", "_objects", "_joined", "_full_matrix"),
        ("files", "regressions/test_impossible_models.py"),
    ),
    "labels": Target(
        "candide.data.index",
        ("canonical_labels", "sort_labels", "encode", "_encode_texts", "_encode_objects", "union_labels"),
        ("data", "regressions/test_labels.py", "contracts/test_frames.py", "regressions/test_nul_labels.py"),
    ),
}

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt,
    ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}  # fmt: skip


def places(tree: ast.Module, functions: tuple[str, ...]) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Of a parsed module, the nodes that have a change, each with what it becomes."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name in functions:
            for statement in function.body:
                for node in ast.walk(statement):
                    changed = change(node)
                    if changed is not None:
                        yield node, changed


def change(node: ast.AST) -> ast.AST | None:
    """An operator, a number or a branch is another; None where there is nothing to change."""
    new = copy.deepcopy(node)
    if isinstance(new, (ast.BinOp, ast.BoolOp)) and type(new.op) in _SWAPS:
        new.op = _SWAPS[type(new.op)]()  # type: ignore[assignment]
    elif isinstance(new, ast.Compare) and type(new.ops[0]) in _SWAPS:
        new.ops[0] = _SWAPS[type(new.ops[0])]()  # type: ignore[call-overload]
    elif isinstance(new, (ast.If, ast.IfExp)):
        new.test = ast.UnaryOp(ast.Not(), new.test)
    elif isinstance(new, ast.Constant) and type(new.value) in (int, float, bool):
        new.value = not new.value if isinstance(new.value, bool) else new.value + 1
    elif isinstance(new, ast.UnaryOp) and isinstance(new.op, (ast.USub, ast.Not, ast.Invert)):
        return new.operand
    else:
        return None
    return new


def mutants(target: Target, n: int) -> list[tuple[str, str]]:
    """What was changed, and the source of the module with it; the same ones in every run."""
    source = Path(find(target.module)).read_text(encoding="utf-8")
    check(target, ast.parse(source))
    count = sum(1 for _ in places(ast.parse(source), target.functions))
    chosen = sorted(random.Random(0).sample(range(count), min(n, count)))
    made = []
    for index in chosen:
        tree = ast.parse(source)
        node, new = list(places(tree, target.functions))[index]
        before, line = ast.unparse(node).splitlines()[0], getattr(node, "lineno", 0)
        Put(node, new).visit(tree)
        said = f"{line}: {before} -> {ast.unparse(new).splitlines()[0]}"
        made.append((said, ast.unparse(ast.fix_missing_locations(tree))))
    return made


def check(target: Target, tree: ast.Module) -> None:
    """Stop if a function or a test file of the table has moved."""
    there = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    absent = [f"{target.module}.{name}" for name in target.functions if name not in there]
    absent += [f"tests/{name}" for name in target.tests if not (ROOT / "tests" / name).exists()]
    if absent:
        raise SystemExit(f"not found: {', '.join(absent)}; adapt TARGETS in tools/mutate.py")


class Put(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().visit(node)


def find(module: str) -> str:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return spec.origin


def noticed(target: Target, source: str, folder: Path) -> bool:
    """Whether a test fails, or none can be run."""
    changed = folder / "changed.py"
    changed.write_text(source, encoding="utf-8")
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    more = {"CANDIDE_MUTANT": target.module, "CANDIDE_MUTANT_SOURCE": str(changed), "PYTHONPATH": paths}
    tests = [str(ROOT / "tests" / name) for name in target.tests]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "mutate", "-p", "no:cacheprovider", *tests]
    try:
        ended = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **more}, capture_output=True, timeout=LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return ended.returncode != 0


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module before all others do."""

    def find_spec(self, name: str, path: object, target: ModuleType | None = None) -> object:
        if name != os.environ["CANDIDE_MUTANT"]:
            return None
        return importlib.machinery.ModuleSpec(name, self, origin=os.environ["CANDIDE_MUTANT_SOURCE"])

    def exec_module(self, module: ModuleType) -> None:
        source = Path(os.environ["CANDIDE_MUTANT_SOURCE"])
        exec(compile(source.read_text(encoding="utf-8"), str(source), "exec"), module.__dict__)


if "CANDIDE_MUTANT" in os.environ:
    sys.meta_path.insert(0, Changed())


def main() -> None:
    parser = argparse.ArgumentParser(description="How many small mistakes the fast tests notice.")
    parser.add_argument("names", nargs="*", choices=[[], *TARGETS], default=[], help="functions; all, if none is named")
    parser.add_argument("-n", type=int, default=10, help="changes of each")
    asked = parser.parse_args()
    for name in asked.names or TARGETS:
        target, found = TARGETS[name], []
        with tempfile.TemporaryDirectory() as folder:
            for said, source in mutants(target, asked.n):
                found.append(noticed(target, source, Path(folder)))
                if not found[-1]:
                    print(f"  not noticed: {target.module}, line {said}", flush=True)
        print(f"{name}: {sum(found)} of {len(found)} noticed", flush=True)


if __name__ == "__main__":
    main()
