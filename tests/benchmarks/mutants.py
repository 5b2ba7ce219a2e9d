"""Share of small mistakes in the code that the tests catch: a sample of mutants, the same for the same seed.

    python tests/benchmarks/mutants.py [--packages core stats engine plugin] [--count 15] [--seed 0] [--folder FOLDER]

Each mutant is this tree with one operator, comparison, condition or constant changed; ``--count`` is per package. First
the tests of the packages run once, to record which lines each of them runs and how long it takes: minutes, once a
folder. The tests of a mutant are the doctests of its module and the tests that run its line, or, of a constant that is
read at import, any line of its module: first those that enter the body of its statement, then those of its package,
then the fastest, up to ``--seconds`` in all. Slow tests are left out. A mutant is caught where one of them fails, and
passes without it. One with which a test does not end is counted apart, since no test says what is wrong. A change that
no test could notice, such as of a time that something waits, counts as missed: compare shares, of two trees and one
seed.

What was found stands in the folder: a run with more mutants, or one that was stopped, goes on from there. Begin another
folder for another tree.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
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
PYTEST = (sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:randomly", "-p", "no:cacheprovider")
DURATION = re.compile(r"^(\d+\.\d+)s (?:setup|call|teardown) +(\S+::.+?) *$", re.MULTILINE)
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+::.+?|\S+)(?: - .*)?$", re.MULTILINE)
TIMEOUT = re.compile(r"Timeout \(>|\+ Timeout \+")
TEST_LIMIT = 30.0
"""Seconds after which a test, none of which is slow, is taken not to end, on a busy machine."""


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: str
    position: tuple[int, int]
    """Line and column."""
    before: str
    after: str
    source: str
    lines: range
    """The lines of the statement, of one with a body its head."""
    body: range

    def __str__(self) -> str:
        line, column = self.position
        return f"{self.module}:{line}:{column}: {self.before} -> {self.after}"


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
    before, (lines, body) = shorten(node), statement_lines(tree, node)
    setattr(node, field, value)
    position = getattr(node, "lineno", 0), getattr(node, "col_offset", 0) + 1
    return Mutant(module, position, before, shorten(node), ast.unparse(tree), lines, body)


def statement_lines(tree: ast.AST, node: ast.AST) -> tuple[range, range]:
    """Return the lines of the statement that has a node, of one with a body its head; and those of its body."""
    head, body = range(0), range(0)
    for statement in ast.walk(tree):  # outer ones come first
        if isinstance(statement, ast.stmt) and any(part is node for part in ast.walk(statement)):
            end = (statement.end_lineno or 0) + 1
            inner = getattr(statement, "body", None)
            begin = inner[0].lineno if isinstance(inner, list) else end
            head, body = range(statement.lineno, max(begin, statement.lineno + 1)), range(begin, end)
    return head, body


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


def sample(packages: Sequence[str], count: int, seed: int) -> Iterator[Mutant]:
    """Yield as many mutants of each package, drawn by the seed; more begin with the same."""
    for package in packages:
        draw = random.Random(f"{seed} {package}")
        modules = sorted(
            file.relative_to(ROOT).as_posix() for file in (ROOT / "pytest_fairness" / package).rglob("*.py")
        )
        numbered = [
            (module, number)
            for module in modules
            for number, _ in enumerate(places(ast.parse((ROOT / module).read_text(encoding="utf-8"))))
        ]
        draw.shuffle(numbered)
        for module, number in numbered[:count]:
            yield mutant_of(module, number)


@dataclass
class TestMap:
    """The lines of the packages that each test runs in the process of pytest, and how long it takes."""

    folder: Path
    packages: Sequence[str] = PACKAGES
    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[str, set[int]]] = field(default_factory=dict)
    """The lines, by module and test."""

    def __post_init__(self) -> None:
        for package in self.packages:
            log, data_file = self.folder / f"{package}.log", self.folder / f"{package}.coverage"
            if not log.exists():
                log.write_text(self._record(package, data_file), encoding="utf-8")
            for seconds, test in DURATION.findall(log.read_text(encoding="utf-8")):
                self.seconds[test] = self.seconds.get(test, 0.0) + float(seconds)
            self._read(data_file)

    def _record(self, package: str, data_file: Path) -> str:
        """Run the tests of a package and return what pytest printed."""
        measured = ("--cov=pytest_fairness", "--cov-context=test", "--cov-report=", "--durations=0", "-vv")
        done = subprocess.run(
            [*PYTEST, *measured, f"tests/{package}"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "COVERAGE_FILE": str(data_file)},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            sys.exit(f"tests/{package} do not pass without a mutant:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def _read(self, data_file: Path) -> None:
        """Read what coverage has recorded: in its database, numbers of lines are the bits that are set."""
        query = (
            "SELECT path, context, numbits FROM line_bits "
            "JOIN file ON file.id = file_id JOIN context ON context.id = context_id"
        )
        database = sqlite3.connect(data_file)
        for file, context, bits in database.execute(query):
            test = context.rpartition("|")[0]
            if test and Path(file).is_relative_to(ROOT):
                tests = self.lines.setdefault(Path(file).relative_to(ROOT).as_posix(), {})
                lines = {8 * index + bit for index, byte in enumerate(bits) for bit in range(8) if byte & 1 << bit}
                tests.setdefault(test, set()).update(lines)
        database.close()

    def tests_of(self, mutant: Mutant, most_seconds: float) -> list[str]:
        """Return the tests that run the line of a mutant, or any of its module.

        First those that enter the body of its statement, which may be few, then those of its package.
        """
        tests = self.lines.get(mutant.module, {})
        running = [test for test, run in tests.items() if not run.isdisjoint(mutant.lines)] or list(tests)
        own = f"tests/{mutant.module.split('/')[1]}/"

        def order(test: str) -> tuple[bool, bool, float, str]:
            return tests[test].isdisjoint(mutant.body), not test.startswith(own), self.seconds.get(test, 0.0), test

        chosen: list[str] = []
        for test in sorted(running, key=order):
            most_seconds -= self.seconds.get(test, 0.005)
            if most_seconds < 0 and chosen:
                break
            chosen.append(test)
        has_examples = ">>> " in (ROOT / mutant.module).read_text(encoding="utf-8")
        doctests = [DOCTESTS.format(dotted_name(mutant.module))] if has_examples else []
        return [*doctests, *chosen]

    def limit(self, tests: Sequence[str]) -> float:
        """Return the seconds after which tests are taken not to end."""
        return 3 * TEST_LIMIT + 5 * sum(self.seconds.get(test, 0.0) for test in tests)


def dotted_name(module: str) -> str:
    """Return the name of a module by which it is imported."""
    return module.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def failure(tree: Path, tests: Sequence[str], limit: float) -> tuple[str, bool]:
    """Return the first test that fails in a tree, empty where all pass, and whether it fails since it does not end."""
    try:
        done = subprocess.run(
            [*PYTEST, "-x", "--tb=line", f"--timeout={TEST_LIMIT}", *tests],
            cwd=tree,
            env=os.environ | {"PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return "all of them together", True
    if not done.returncode:
        return "", False
    failed = FAILED.findall(done.stdout)
    is_timeout = TIMEOUT.search(done.stdout + done.stderr) is not None
    return failed[-1] if failed else f"pytest ended with {done.returncode}", is_timeout


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


def outcome(tree: Path, mutant: Mutant, tests: Sequence[str], limit: float) -> str:
    """Return what the tests make of a mutant: the one that catches it, or does not end, or why there is none."""
    if not tests:
        return "MISSED: no test runs its module"
    source = (ROOT / mutant.module).read_text(encoding="utf-8")
    write_module(tree, mutant.module, mutant.source)
    failed, is_timeout = failure(tree, tests, limit)
    write_module(tree, mutant.module, source)
    if failed and failure(tree, [failed] if "::" in failed else ["--collect-only", *tests], limit)[0]:
        return f"left out: {failed} fails without it"
    if is_timeout:
        return f"not ended: {failed}"
    return f"caught by {failed}" if failed else f"MISSED by {len(tests)} tests"


def main() -> None:
    """Print each mutant with the test that catches it, and the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", nargs="+", default=PACKAGES, choices=PACKAGES)
    parser.add_argument("--count", type=int, default=15, help="mutants of each package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests that a mutant meets, as they take alone")
    parser.add_argument("--folder", type=Path, default=ROOT / ".fairness" / "mutants")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    results = options.folder / "results.jsonl"
    tests = TestMap(options.folder)
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    outcomes = {row["mutant"]: row["outcome"] for row in map(json.loads, lines)}
    shares: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        tree = copy_tree(Path(folder))
        for mutant in sample(options.packages, options.count, options.seed):
            if str(mutant) not in outcomes:
                chosen = tests.tests_of(mutant, options.seconds)
                outcomes[str(mutant)] = outcome(tree, mutant, chosen, tests.limit(chosen))
                with results.open("a", encoding="utf-8") as file:
                    print(json.dumps({"mutant": str(mutant), "outcome": outcomes[str(mutant)]}), file=file)
            print(f"{outcomes[str(mutant)]}: {mutant}", flush=True)
            if not outcomes[str(mutant)].startswith("left out"):
                shares.setdefault(mutant.module.split("/")[1], []).append(outcomes[str(mutant)])
    for package, package_outcomes in [*shares.items(), ("all", list(chain.from_iterable(shares.values())))]:
        caught, endless = (
            sum(line.startswith(begin) for line in package_outcomes) for begin in ("caught", "not ended")
        )
        print(f"{package}: {caught} of {len(package_outcomes)}" + (f", and {endless} not ended" if endless else ""))


if __name__ == "__main__":
    main()
