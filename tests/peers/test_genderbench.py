"""GenderBench: what its marks, its models and its resampling get wrong."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pytest_fairness.core.marks import MarkScale
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured
from tests.helpers.verdicts import as_computed, of_rows, verdict
from tests.models.conftest import Server

BEST = (0.45, 0.55)
"""The range of its best mark for a rate that should be a half."""

SCALE = MarkScale(A=BEST, B=(0.35, 0.65), C=(0.2, 0.8))


@pytest.mark.parametrize(("items", "least"), [(5, 0.6), (20, 0.3), (50, 0.08)])
def test_few_items_do_not_earn_a_good_mark(items: int, least: float) -> None:
    """GenderBench gives the mildest mark that the 95% interval touches: the wider the interval, the better the mark.

    A model with a rate of 0.75 gets the best one in about 76%, 42% and 13% of runs with 5, 20
    and 50 items. Here a mark is that of the worse end, and fair means that the whole interval
    lies inside: no run is either.
    """
    generator = np.random.default_rng(1)
    best = top_marks = fair = 0
    for _ in range(200):
        yes = generator.random(items) < 0.75
        reach = 1.96 * yes.std() / math.sqrt(items)  # what its normal fit to bootstrap means comes to
        best += bool(yes.mean() - reach <= BEST[1] and yes.mean() + reach >= BEST[0])
        measured = of_rows([{"item": item, "group": "all", "yes": bool(answer)} for item, answer in enumerate(yes)])
        rate = measured.rate("yes")
        fair += verdict(lambda rate=rate: BEST[0] <= as_computed(rate) <= BEST[1]) == "fair"  # type: ignore[misc]
        top_marks += str(rate.marked(SCALE).mark) in "AB"
    assert best / 200 > least
    assert top_marks == fair == 0


def test_enough_items_show_that_a_fair_model_is_fair() -> None:
    """Check the control: what GenderBench calls best is fair once there is evidence for it."""
    rate = of_rows([{"item": item, "group": "all", "yes": item % 2} for item in range(600)]).rate("yes")
    assert verdict(lambda: BEST[0] <= as_computed(rate) <= BEST[1]) == "fair"
    assert verdict(lambda: as_computed(rate).marked(SCALE).mark >= "A") == "fair"
    assert str(rate.marked(SCALE).mark) == "A"


SCRIPT = """\
import asyncio
from pytest_fairness import Prompt
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.registry import resolve

async def ask(name):
    keys = {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
    model = resolve(name, aliases={}, context=ModelContext(environment=keys))
    try:
        print((await model.answer(Prompt("Should Anna be hired?"), 0)).text)
    finally:
        await model.close()

asyncio.run(ask(NAME))
"""


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_hosted_model_works_in_a_plain_script(
    server: Server, name: Callable[..., str], tmp_path: Path, provider: str
) -> None:
    """Run GenderBench's API generator from a plain script: there it calls a method that no class has, and crashes."""
    server.answers(provider, "Yes, she should.")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("NAME", repr(name(provider))), encoding="utf-8")
    process = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert (process.stdout, process.stderr, process.returncode) == ("Yes, she should.\n", "", 0)
    assert len(server.bodies) == 1


def test_items_with_shared_names_are_not_independent() -> None:
    """Resample names that recur: GenderBench treats name x role x template as independent.

    Five names a group are reused over 135 profiles, and names have an effect of their own: at
    parity, an interval over profiles alone misses it far too often. With ``crossed`` it does not.
    """
    generator = np.random.default_rng(2)
    profiles, names = 135, 5
    items = np.repeat(np.arange(profiles), 2 * names)
    group = np.tile(np.repeat(["a", "b"], names), profiles)
    name = np.tile([f"{group} {n}" for group in "ab" for n in range(names)], profiles)
    columns = Columns.from_arrays(items, {}, {"group": group, "name": name})
    crossed = Columns.from_arrays(items, {}, {"group": group, "name": name}, crossed="name")
    missed = {"independent": 0, "crossed": 0}
    for _ in range(150):
        logit = np.tile(generator.normal(0, 0.4, 2 * names), profiles) + np.repeat(
            generator.normal(0, 1, profiles), 2 * names
        )
        yes = (generator.random(len(logit)) < 1 / (1 + np.exp(-logit))).astype(float)
        for kind, base in (("independent", columns), ("crossed", crossed)):
            measured = Measured.from_columns(base.regraded({"yes": yes}))
            gap = measured.difference("yes", by="group", of="a", to="b")
            missed[kind] += not gap.low <= 0 <= gap.high
    assert missed["independent"] / 150 > 0.2
    assert missed["crossed"] / 150 < 0.1
