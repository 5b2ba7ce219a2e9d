"""Share of small mistakes in the code that the tests catch: a sample of mutants, the same for the same seed.

    python tests/benchmarks/mutants.py [--packages core stats engine plugin] [--count 30] [--seed 0] [--all]

Each mutant is this tree with one operator, comparison, condition or constant changed. Its tests are the doctests of the
changed module and the files that import it or share a word of its name; ``--all`` runs all files of the package
instead. A mutant is caught where one of them fails, or does not end, and passes without it. A change that no test could
notice, such as of a time that something waits, counts as missed: compare shares, of two trees and one seed.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, starmap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGES = ("core", "stats", "engine", "plugin")
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
DOCTESTS = "tests/architecture/test_doctests.py::test_docstring_examples_hold[{}]"
COMMON_WORDS = {"test", "hooks", "run", "state"}
"""Words of file names that tie no test to a module."""


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: str
    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.before} -> {self.after}"


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, Any]]:
    """Yield what may be changed in a module, in the order of its nodes: a node, a field of it and another value."""
    ignored = {id(node) for part in without_behavior(tree) for node in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) not in ignored:
            yield from ((node, field, value) for field, value in changes(node))


def mutant_of(module: str, number: int) -> Mutant:
    """Return a module with the change of this number."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    node, field, value = next(islice(places(tree), number, None))
    before = shorten(node)
    setattr(node, field, value)
    return Mutant(module, getattr(node, "lineno", 0), before, shorten(node), ast.unparse(tree))


def shorten(node: ast.AST) -> str:
    """Return the first line of a node's source, without the body of a statement."""
    return ast.unparse(node).splitlines()[0][:80]


def without_behavior(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield annotations and decorators."""
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if part := getattr(node, name, None):
                yield part
        yield from getattr(node, "decorator_list", [])


def changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a node that may be changed, with other values."""
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                if swapped := SWAPS.get(type(operator)):
                    yield "ops", [*node.ops[:index], swapped(), *node.ops[index + 1 :]]
        case ast.BinOp() | ast.BoolOp():
            if swapped := SWAPS.get(type(node.op)):
                yield "op", swapped()
        case ast.If() | ast.IfExp() | ast.While():
            yield "test", ast.UnaryOp(ast.Not(), node.test)
        case ast.Constant(value=bool()):
            yield "value", not node.value
        case ast.Constant(value=int() | float() as number):
            yield "value", number + 1


def sample(packages: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Return as many mutants of each package, drawn by the seed."""
    draw = random.Random(seed)
    mutants: list[Mutant] = []
    for index, package in enumerate(packages):
        folder = ROOT / "pytest_fairness" / package
        modules = sorted(file.relative_to(ROOT).as_posix() for file in folder.rglob("*.py"))
        size = count // len(packages) + (index < count % len(packages))
        numbered = [
            (module, number)
            for module in modules
            for number, _ in enumerate(places(ast.parse((ROOT / module).read_text(encoding="utf-8"))))
        ]
        mutants += starmap(mutant_of, draw.sample(numbered, size))
    return mutants


def tests_of(module: str, *, is_whole_package: bool) -> list[str]:
    """Return the arguments of pytest for the tests that mirror a module."""
    package = module.split("/")[1]
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    in_package = [file for file in files if file.relative_to(ROOT / "tests").parts[0] == package]
    if is_whole_package:
        selected = in_package
    else:
        parent, _, name = dotted_name(module).rpartition(".")
        imports = re.compile(rf"^\s*(from|import) {re.escape(parent)}(\.{name}\b| import .*\b{name}\b)", re.MULTILINE)
        words = set(Path(module).stem.split("_")) - COMMON_WORDS
        selected = [file for file in in_package if words & (set(file.stem.split("_")) - COMMON_WORDS)]
        selected += [file for file in files if imports.search(file.read_text(encoding="utf-8"))]
        selected = (
            selected or [file for file in in_package if file.stem in ("test_verdicts", "test_measured")] or in_package
        )
    doctests = [DOCTESTS.format(dotted_name(module))] if ">>> " in (ROOT / module).read_text(encoding="utf-8") else []
    return [*doctests, *(file.relative_to(ROOT).as_posix() for file in dict.fromkeys(selected))]


def dotted_name(module: str) -> str:
    """Return the name of a module by which it is imported."""
    return module.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def failure(tree: Path, tests: Sequence[str], limit: float) -> str:
    """Return the first test that fails in a tree, or why none ends; empty where all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    try:
        process = subprocess.run(
            [*command, "-m", "not slow", *tests],
            cwd=tree,
            env=os.environ | {"PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return "they do not end"
    if not process.returncode:
        return ""
    match = re.search(r"^(?:FAILED|ERROR) (\S+::.+?|\S+)(?: - .*)?$", process.stdout, re.M)
    return match[1] if match else f"pytest ended with {process.returncode}"


def copy_tree(folder: Path) -> Path:
    """Copy what git tracks, as it stands in this tree."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def write_module(tree: Path, module: str, source: str) -> None:
    """Write a module, and remove what was compiled of it: files are told apart by whole seconds."""
    file = tree / module
    file.write_text(source, encoding="utf-8")
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink()


def main() -> None:
    """Print each mutant with the test that catches it, and the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", nargs="+", default=PACKAGES)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="run all tests of the package, not those of the module only")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that the tests of a mutant have")
    options = parser.parse_args()
    caught: dict[str, list[bool]] = {}
    with tempfile.TemporaryDirectory() as folder:
        tree = copy_tree(Path(folder))
        for mutant in sample(options.packages, options.count, options.seed):
            source = (ROOT / mutant.module).read_text(encoding="utf-8")
            tests = tests_of(mutant.module, is_whole_package=options.all)
            write_module(tree, mutant.module, mutant.source)
            failed = failure(tree, tests, options.limit)
            write_module(tree, mutant.module, source)
            if "::" in failed and failure(tree, [failed], options.limit):
                print(f"left out: {failed} fails without {mutant}", flush=True)
                continue
            caught.setdefault(mutant.module.split("/")[1], []).append(bool(failed))
            print(f"{f'caught by {failed}' if failed else 'MISSED'}: {mutant}", flush=True)
    for package, outcomes in caught.items():
        print(f"{package}: {sum(outcomes)} of {len(outcomes)}")
    outcomes = [outcome for of_package in caught.values() for outcome in of_package]
    print(f"all: {sum(outcomes)} of {len(outcomes)}")


if __name__ == "__main__":
    main()
