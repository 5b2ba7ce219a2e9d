"""Claims of suites drawn at random that read fair and must not: false ones, and those about groups never measured.

    python tests/benchmarks/random_suites.py --suites 120
    python tests/benchmarks/random_suites.py --suites 30 --first 5000 --only "special: whole" --out /tmp/suites

A suite is a model that is known exactly (fair, unfair, silent for a group, failing, constant), a probe of it, and some
12 threshold tests, each with what it claims: in Python or YAML, on a model or a recorded table, plainly, or by a guard,
a fixture, a number or a trick that leaves a group out. Every suite is run by pytest in a process of its own. Of what a
claim is:

- true and plain: it should read fair in at least 85%, since its bound lies some two standard errors beyond what the
  interval needs;
- true: it is not plain, and may be refused;
- false: it must not read fair;
- unmeasured group: it is about a group of which more than a tenth of the attempts are ungraded;
- silent group elsewhere: more than half of the attempts of a group that it is not about are ungraded;
- no response: its probe declares a control that the model does not follow;
- by single answers: it is false, or a group of it is ungraded in part, and it leaves that out by answers that it reads;
- made up: what it compares is not measured, but made by the test.

A suite with a claim that reads fair and must not is written to ``--out``, with its output, beside a list of them. A
share of the suites runs again with its tests in another order (``--again``), and with workers (``--workers``): the
verdicts must be the same.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.helpers.fork_server import ForkServer
from tests.helpers.random_suites import (
    MAY_BE_FAIR,
    PLAIN,
    STANDINGS,
    Suite,
    SuiteRun,
    draw_suite,
    must_not_be_fair,
    remembers,
    run_suite,
    standing,
)

VERDICTS = ("fair", "undecided", "invalid", "unfair", "not judged", "error")


@dataclass
class Counts:
    """Counts over all suites."""

    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The claims by standing and verdict."""
    ideas: dict[str, Counter[str]] = field(default_factory=dict)
    """The verdicts of claims that must not be fair, by the first words of their idea."""
    plain: dict[str, Counter[str]] = field(default_factory=dict)
    """The verdicts of claims that are true and plain, by idea."""
    passed: int = 0
    """Suites that end with 0 although a claim must not be fair."""
    internal: int = 0
    tracebacks: int = 0
    changed: int = 0
    """Claims whose verdict another order or workers change."""
    compared: int = 0

    @property
    def total(self) -> int:
        return sum(self.verdicts.values())

    def add(self, suite: Suite, run: SuiteRun) -> None:
        """Count the claims of a suite."""
        standings = [standing(suite.world, claim) for claim in suite.claims]
        for number, (claim, kind) in enumerate(zip(suite.claims, standings, strict=True)):
            verdict = run.verdict(number)
            self.verdicts[kind, verdict] += 1
            if kind == PLAIN:
                self.plain.setdefault(claim.idea, Counter())[verdict] += 1
            elif kind not in MAY_BE_FAIR:
                self.ideas.setdefault(f"{kind} | {claim.idea}", Counter())[verdict] += 1
        self.passed += run.exit_code == 0 and any(kind not in MAY_BE_FAIR for kind in standings)
        self.internal += run.has_internal_error
        self.tracebacks += bool(run.own_tracebacks)


def report(counts: Counts) -> None:
    """Print the tables."""
    print("\n| claims that are | " + " | ".join(VERDICTS) + " | all |")
    print("|---|" + "--:|" * (len(VERDICTS) + 1))
    for kind in STANDINGS:
        row = [counts.verdicts[kind, verdict] for verdict in VERDICTS]
        print(f"| {kind} | " + " | ".join(map(str, row)) + f" | {sum(row)} |")
    fair_ideas = {idea: of["fair"] for idea, of in counts.ideas.items() if of["fair"]}
    print(f"\n{sum(fair_ideas.values())} claims read fair and must not:")
    for idea, fair in sorted(fair_ideas.items(), key=lambda pair: (pair[0].partition(" | ")[0], -pair[1], pair[0])):
        print(f"  {fair} of {counts.ideas[idea].total()}  {idea}")
    plain = [counts.verdicts[PLAIN, verdict] for verdict in VERDICTS]
    if sum(plain):
        print(f"\nof {sum(plain)} claims that are true and plain {plain[0] / sum(plain):.1%} read fair; the others:")
        for idea, of in sorted(counts.plain.items()):
            if of["fair"] < of.total():
                print(f"  {of['fair']} of {of.total()}  {idea}")
    print(
        f"\n{counts.internal} suites with an internal error, {counts.tracebacks} whose output has frames of this "
        f"package, {counts.passed} end with 0 although a claim must not be fair; another order or workers changed "
        f"{counts.changed} of {counts.compared} verdicts"
    )


def keep(suite: Suite, run: SuiteRun, folder: Path, seed: int, why: str) -> None:
    """Write a suite, with what was found, to a folder."""
    own = folder / f"suite-{seed}"
    own.mkdir(parents=True, exist_ok=True)
    for name, text in suite.files().items():
        (own / name).write_text(text, encoding="utf-8")
    (own / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (own / "output.txt").write_text(f"{why}\n\n{run.output}", encoding="utf-8")


def run_again(suite: Suite, run: SuiteRun, folder: Path, python: str, how: tuple[str, ...]) -> list[int]:
    """Return the claims whose verdict another order of tests changes, or workers (``how``: their option)."""
    again = run_suite(suite, folder, python, *how, shuffled="" if how else "1")
    own_state = [remembers(claim) for claim in suite.claims]
    return [
        number
        for number in range(len(suite.claims))
        if not own_state[number] and run.verdict(number) != again.verdict(number)
    ]


def main() -> int:
    """Run the suites, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", type=int, default=120)
    parser.add_argument("--claims", type=int, default=12, help="of each suite")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first suite")
    parser.add_argument("--only", default="", help="suites with a claim whose idea contains this, and those claims")
    parser.add_argument("--again", type=float, default=0.1, help="share of suites that run again in another order")
    parser.add_argument("--workers", type=float, default=0.03, help="share of suites that run again with -n 2")
    parser.add_argument("--out", type=Path, help="folder for the suites that should have failed")
    options = parser.parse_args()
    begun, counts, server = time.monotonic(), Counts(), ForkServer()
    seed, done = options.first - 1, 0
    while done < options.suites:
        seed += 1
        suite = draw_suite(seed, options.claims)
        if options.only:
            suite = replace(suite, claims=tuple(claim for claim in suite.claims if options.only in claim.idea))
        if not suite.claims:
            continue
        done += 1
        with tempfile.TemporaryDirectory() as folder:
            run = run_suite(suite, Path(folder) / "suite", server.python)
            counts.add(suite, run)
            faults = [f"{number:02} reads fair: {suite.claims[number].idea}" for number in must_not_be_fair(suite, run)]
            chance = random.Random(f"again {seed}")
            for share, how in ((options.again, ()), (options.workers, ("-p", "xdist", "-n", "2"))):
                if chance.random() < share:
                    changed = run_again(suite, run, Path(folder) / "suite", server.python, how)
                    counts.changed += len(changed)
                    counts.compared += len(suite.claims)
                    faults += [
                        f"{number:02} changes with {how or 'the order'}: {suite.claims[number].idea}"
                        for number in changed
                    ]
        if run.has_internal_error:
            faults.append("internal error")
        if run.own_tracebacks:
            faults.append(f"frames of this package: {run.own_tracebacks[0].strip()}")
        if "error" in map(run.verdict, range(len(suite.claims))):
            faults.append("a claim without a verdict")
        if faults and options.out:
            keep(suite, run, options.out, seed, "\n".join(faults))
    server.close()
    report(counts)
    print(f"{done} suites, {counts.total} claims in {time.monotonic() - begun:.0f} s")
    return int(bool(counts.internal or sum(of["fair"] for of in counts.ideas.values())))


if __name__ == "__main__":
    sys.exit(main())
