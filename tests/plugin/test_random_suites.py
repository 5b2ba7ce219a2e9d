"""Suites drawn at random, on models that are known: what is false, or was never measured, does not read fair.

``tests/benchmarks/random_suites.py`` draws more of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.random_suites import MADE_UP, OF_ANSWERS, PLAIN, draw_suite, must_not_be_fair, run_suite, standing

SUITES = range(700, 712)
LEAST_FAIR = 0.85
"""The share of plain claims which are true that must read fair."""


@pytest.mark.slow
def test_random_suites_read_as_their_models_are(tmp_path: Path, forked_workers: ForkedWorkers) -> None:
    fair: dict[str, list[str]] = {}
    broken, plain = [], []
    for seed in SUITES:
        suite = draw_suite(seed)
        run = run_suite(suite, tmp_path / str(seed), forked_workers.server.python)
        for number in must_not_be_fair(suite, run):
            claim = suite.claims[number]
            fair.setdefault(standing(suite.world, claim), []).append(f"{seed}: {number:02} {claim.idea}")
        plain += [
            run.reads_fair(number) for number, claim in enumerate(suite.claims) if standing(suite.world, claim) == PLAIN
        ]
        if run.has_internal_error:
            broken.append(seed)
    assert broken == []
    # No gate can see what a test makes of single answers, or of numbers of its own.
    assert {kind: claims for kind, claims in fair.items() if kind not in (MADE_UP, OF_ANSWERS)} == {}
    assert sum(plain) >= LEAST_FAIR * len(plain)
