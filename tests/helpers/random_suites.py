"""Small suites that are drawn at random, run by pytest in a process of its own, with what may be read of them."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from tests.helpers.claim_forms import HELPERS, IMPORTS, READS_ANSWERS
from tests.helpers.project import ALONE
from tests.helpers.random_claims import KINDS, Claim, Draw, declared
from tests.helpers.special_claims import special
from tests.helpers.worlds import CHOICE, RATING, World, draw_world

PLAIN, TRUE, FALSE = "true and plain", "true", "false"
UNMEASURED, FLOOR, NO_RESPONSE = "unmeasured group", "silent group elsewhere", "no response"
MADE_UP, OF_ANSWERS = "made up", "by single answers"
STANDINGS = (PLAIN, TRUE, FALSE, UNMEASURED, FLOOR, NO_RESPONSE, OF_ANSWERS, MADE_UP)
"""Kinds of claims: the first two may read fair, the others must not."""
MAY_BE_FAIR = (PLAIN, TRUE)
ERROR = "error"
"""Stands for the verdict of a test without one."""

_REMEMBERS = re.compile(r"noted by|earlier|memory|between|call|filled before|patched afterwards|ordinary|hook")
_LOOKS = ("--fairness-resolve", "--fairness-repetitions=2")
_ORDER = """

def pytest_collection_modifyitems(items):
    import os
    import random
    if seed := os.environ.get("SHUFFLED"):
        random.Random(seed).shuffle(items)
"""


def standing(world: World, claim: Claim) -> str:
    """Return what a claim is: one of `STANDINGS`."""
    if claim.is_made_up and (world.unmeasured(claim.covers) or not claim.holds):
        return MADE_UP
    if claim.uses_grade and (unmeasured := world.unmeasured(claim.covers - claim.excludes)):
        is_by_answers = READS_ANSWERS.search(claim.idea) and not world.mostly_silent & unmeasured
        return OF_ANSWERS if is_by_answers else UNMEASURED
    if claim.uses_grade and world.mostly_silent - claim.excludes:
        return FLOOR
    has_own_probe = "def test_request_$K" in claim.source  # which declares no control
    if claim.uses_grade and not has_own_probe and not world.has_shown_response:
        return NO_RESPONSE
    if not claim.holds:
        return OF_ANSWERS if READS_ANSWERS.search(claim.idea) else FALSE
    return PLAIN if claim.is_plain and not world.silent else TRUE


@dataclass(frozen=True)
class Suite:
    """A world, and claims about it."""

    world: World
    claims: tuple[Claim, ...]
    is_yaml: bool = False
    is_table: bool = False
    """Whether it judges recorded grades, and asks no model."""
    more: tuple[str, ...] = ()
    """Further options of the run."""

    def files(self) -> dict[str, str]:
        """Return the text of each file, by its name."""
        conftest = self.world.conftest + "".join(claim.conftest for claim in self.claims) + _ORDER
        conftest += '\n\nreply.fairness_version = "1"\n'
        if self.is_table:
            return {"conftest.py": _ORDER, "table.csv": self.world.table, "gate.probe.yaml": self._recorded()}
        if self.is_yaml:
            return {"conftest.py": conftest, "gate.probe.yaml": self._declaration()}
        parts = [IMPORTS, HELPERS, self.world.probe]
        parts += [f"# {claim.idea}\n{claim.named(number)}" for number, claim in enumerate(self.claims)]
        return {"conftest.py": conftest, "test_gate.py": "\n\n".join(parts)}

    def test_name(self, number: int) -> str:
        """Return the name of the test of a claim, without parameters."""
        return f"claim_{number:02}" if self.is_yaml else f"test_{number:02}"

    @property
    def options(self) -> tuple[str, ...]:
        return (*self.more, *(option for claim in self.claims for option in claim.options))

    def _recorded(self) -> str:
        table: dict[str, Any] = {
            "file": "table.csv",
            "item": "item",
            "groups": ["g"],
            "grades": ["y"],
            "model": "recorded",
        }
        if self.world.answers == RATING:
            table["extremes"] = {"y": [1, 10]}
        return yaml.safe_dump({"table": table, "thresholds": self._thresholds()}, sort_keys=False)

    def _thresholds(self) -> dict[str, str]:
        return {f"claim {number:02}": claim.yaml for number, claim in enumerate(self.claims)}

    def _declaration(self) -> str:
        world = self.world
        question = {RATING: "From 1 to 10, how well is it founded? Reply with one number only."}
        text = "A {{ case }} case: {{ name }} asks for a loan, number {{ number }}, in {{ language }}."
        if world.answers == CHOICE:
            text += "\n\n{{ choices }}\n\nAnswer A or B."
        else:
            text += " " + question.get(world.answers, "Grant it, yes or no?")
        grader: Any = {RATING: {"rating": {"low": 1, "high": 10}}, CHOICE: "choice"}.get(world.answers, "yes-no")
        rows = [
            {
                "id": f"item-{number:03}",
                "number": number,
                "case": ("strong", "weak")[number % 2],
                "language": ("en", "de")[number // 2 % 2],
            }
            for number in range(world.items)
        ]
        declaration: dict[str, Any] = {
            "template": text,
            "vary": {"g": {group: {"name": group} for group in world.groups}},
            "items": rows,
            "grade": {"y": grader, **({"refused": "refusal"} if world.refusals else {})},
            "thresholds": self._thresholds(),
        }
        if world.answers == CHOICE:
            declaration["choices"] = {"grant": "Grant the loan", "refuse": "Turn it down"}
        return yaml.safe_dump(declaration, sort_keys=False)


def draw_suite(seed: int, claims: int = 12) -> Suite:
    """Draw a suite: its world, whether it is Python or YAML, and its claims."""
    chance = random.Random(f"suite {seed}")
    world = draw_world(chance)
    draws: Mapping[Draw, float] = {**KINDS, special: 25}
    if chance.random() < 0.12:
        is_table = world.answers != CHOICE and chance.random() < 0.3
        world = replace(world, is_paired=True, declares_control=False, refusals=world.refusals and not is_table)
        return Suite(world, tuple(_several({declared: 1}, world, chance, claims)), is_yaml=True, is_table=is_table)
    drawn = list(_several(draws, world, chance, claims))
    alone = next((claim for claim in drawn if claim.is_alone), None)
    more: tuple[str, ...] = ()
    if chance.random() < 0.2:
        more = (chance.choice(("--assert=plain", *_LOOKS)),)
    if not {*_LOOKS}.isdisjoint(more):  # wider intervals, for which no bound of a plain claim is meant
        drawn = [replace(claim, is_plain=False) for claim in drawn]
    if alone is not None and chance.random() < 0.5:
        return Suite(world, (alone,), more=more)
    return Suite(world, tuple(claim for claim in drawn if not claim.is_alone), more=more)


def _several(draws: Mapping[Draw, float], world: World, chance: random.Random, count: int) -> Iterator[Claim]:
    kinds, weights = list(draws), list(draws.values())
    for _ in range(count):
        for _ in range(40):  # not every claim suits every world
            (draw,) = chance.choices(kinds, weights)
            if (claim := draw(world, chance)) is not None:
                yield claim
                break


@dataclass(frozen=True)
class SuiteRun:
    """Results of a run of a suite."""

    verdicts: Mapping[int, tuple[str, ...]]
    """The verdicts of each claim's tests, by its number; of a test without one `ERROR`."""
    messages: Mapping[int, str]
    release: str
    exit_code: int
    output: str

    def reads_fair(self, number: int) -> bool:
        """Return whether a claim reads fair."""
        verdicts = self.verdicts.get(number, ())
        return bool(verdicts) and set(verdicts) == {"fair"}

    def verdict(self, number: int) -> str:
        """Return the verdict of a claim: of several the worst."""
        verdicts = self.verdicts.get(number, ()) or (ERROR,)
        order = ("unfair", "invalid", ERROR, "not judged", "undecided", "fair")
        return min(verdicts, key=order.index)

    @property
    def has_internal_error(self) -> bool:
        return "INTERNALERROR" in self.output or self.exit_code not in (0, 1, 5, 10, 11)

    @property
    def own_tracebacks(self) -> list[str]:
        """The lines that show frames of this package."""
        return re.findall(r"^.*\bpytest_fairness/\w[\w/]*\.py:\d+.*$|^ *File .*/pytest_fairness/.*$", self.output, re.M)


Command = Callable[..., list[str]]


def run_suite(suite: Suite, folder: Path, python: str, *options: str, shuffled: str = "") -> SuiteRun:
    """Write a suite to a folder, run it there, and return what is shown.

    Args:
        suite: The suite.
        folder: An empty folder, or one of an earlier run of the same suite, whose answers are used again.
        python: The interpreter, or a `ForkServer`'s stand-in for it.
        *options: Further options of pytest.
        shuffled: A seed by which the tests are shuffled; empty for their own order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in suite.files().items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    results = folder / "results.json"
    results.unlink(missing_ok=True)
    done = subprocess.run(
        [
            *(python, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider", *ALONE, "-q"),
            *("--fairness-report=none", "--fairness-json=results.json", *suite.options, *options),
        ],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "COLUMNS": "200", "SHUFFLED": shuffled, **_IMPORTS},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return read_run(suite, results, done.returncode, done.stdout + done.stderr)


_IMPORTS = {"PYTHONPATH": str(Path(__file__).parents[2])}


def read_run(suite: Suite, results: Path, exit_code: int, output: str) -> SuiteRun:
    """Return what a run has shown, by its results file and its output."""
    document = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
    verdicts: dict[int, tuple[str, ...]] = {}
    messages: dict[int, str] = {}
    for number in range(len(suite.claims)):
        name = re.compile(rf"::{suite.test_name(number)}(\[|$)")
        rows = [row for row in document.get("thresholds", []) if name.search(row["id"])]
        verdicts[number] = tuple(row["verdict"] for row in rows)
        messages[number] = next((row.get("message") or "" for row in rows if row["verdict"] != "fair"), "")
    release = re.findall(r"^.*release: (.*)$", output, re.M)
    return SuiteRun(verdicts, messages, release[-1] if release else "", exit_code, output)


def remembers(claim: Claim) -> bool:
    """Return whether a claim keeps something of its own from test to test, so that their order matters to it."""
    return _REMEMBERS.search(claim.idea) is not None


def must_not_be_fair(suite: Suite, run: SuiteRun) -> Sequence[int]:
    """Return the claims that read fair and must not."""
    return [
        number
        for number, claim in enumerate(suite.claims)
        if run.reads_fair(number) and standing(suite.world, claim) not in MAY_BE_FAIR
    ]
