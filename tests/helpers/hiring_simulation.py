"""Many samples of the suite's own design, drawn from known rates: profiles and names differ, groups as planted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pytest_fairness import Measured
from pytest_fairness.models.planted_bias import item_probability
from pytest_fairness.stats.columns import Columns
from suites.hiring.items import applications

PROFILES, NAMES = 1.0, 0.4
"""Standard deviations over profiles and over names, in logits."""
_SPREAD = math.hypot(PROFILES, NAMES)


def samples(runs: int, rates: Mapping[str, float], base: float) -> Iterator[Measured]:
    """Yield samples of the shipped applications; ``rates`` are mean rates of some groups, others have ``base``.

    A group is named by its gender, its ethnicity or both; the narrowest name counts. Names have the same effect
    wherever they recur, drawn again in every run; within a gender, half of a group's rates can be compared by draw.
    """
    rows = [(item, prompt) for item in applications() for prompt in item.prompts]
    prompts = [prompt for _, prompt in rows]
    share = [next((rates[g] for g in reversed(list(prompt.groups.values())) if g in rates), base) for prompt in prompts]
    middles = {rate: _logit(item_probability(rate, _SPREAD, 0.5)) for rate in set(share)}
    center = np.array([middles[rate] for rate in share])
    profile, name = (_codes(values) for values in ([i.id for i, _ in rows], [p.metadata["name"] for p in prompts]))
    first = np.array([prompt.metadata["draw"] == 1 for prompt in prompts], dtype=float)
    attributes: dict[str, Any] = {key: [prompt.groups[key] for prompt in prompts] for key in prompts[0].groups}
    attributes["name"] = [prompt.metadata["name"] for prompt in prompts]
    sources = [str(item.source) for item, _ in rows]
    columns = Columns.from_arrays(sources, {"advance": first}, attributes, crossed="name")
    for seed in range(runs):
        chance = np.random.default_rng(seed)
        logits = center + PROFILES * chance.standard_normal(profile.max() + 1)[profile]
        logits = logits + NAMES * chance.standard_normal(name.max() + 1)[name]
        advance = (chance.random(len(logits)) < 1 / (1 + np.exp(-logits))).astype(float)
        halves = {"first": advance * first, "second": advance * (1 - first), "of_first": first, "of_second": 1 - first}
        yield Measured.from_columns(columns.regraded({"advance": advance, **halves}))


HALVES: dict[str, Any] = {name: name for name in ("first", "second", "of_first", "of_second")}


def _codes(values: list[str]) -> Any:
    return np.unique(np.array(values), return_inverse=True)[1]


def _logit(share: float) -> float:
    return math.log(share / (1 - share))
