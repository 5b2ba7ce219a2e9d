"""Positive controls of shipped probes: declared, balanced, and followed by a competent model."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

import pytest

from pytest_fairness import DataFolders, ProbeItem
from pytest_fairness.core.controls import Control, read_controls
from pytest_fairness.core.decisions import Decision
from pytest_fairness.plugin.probes.markers import get_mark
from pytest_fairness.stats.responses import find_responses
from tests.helpers.designs import designed_items
from tests.helpers.responders import Study, parameters_for, sample, studies

STUDIES = list(studies())
WITHOUT = {
    "asymmetry/question": "levels of either side: nothing but the domain should move a free answer",
    "gender/story": "a story has no right answer: what could move it is the stereotype",
}
"""Probes without a control, with the reason, which the suite's card gives as well."""
FEWEST_SOURCES = 12
"""The fewest sources of a level: an odds ratio of 2 can be shown by them."""
CONTROLLED = [study for study in STUDIES if study.name not in WITHOUT]

each_study = pytest.mark.parametrize("study", CONTROLLED, ids=lambda study: study.name)


def arguments(study: Study) -> Any:
    mark = get_mark(study.probe, "probe")
    assert mark is not None
    return mark.kwargs


def controls(study: Study) -> tuple[Control, ...]:
    return read_controls(arguments(study).get("control"))


def items_of(study: Study) -> list[ProbeItem]:
    takes_data = "data" in inspect.signature(arguments(study)["items"]).parameters
    return designed_items(arguments(study), **({"data": DataFolders({})} if takes_data else {}))


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_probe_declares_a_control_or_says_why_not(study: Study) -> None:
    assert bool(controls(study)) == (study.name not in WITHOUT)


def test_every_probe_is_known() -> None:
    assert {study.name for study in STUDIES} >= WITHOUT.keys()


@each_study
def test_levels_have_enough_sources_and_the_same_groups(study: Study) -> None:
    items = items_of(study)
    for control in controls(study):
        prompts = {
            level: [
                (item, prompt)
                for item in items
                for prompt in item.prompts
                if str({**item.metadata, **prompt.metadata}.get(control.by)) == level
            ]
            for level in (control.of, control.to)
        }
        for level, part in prompts.items():
            is_fixed = arguments(study).get("sources") == "fixed"
            sources = {item.id if is_fixed else item.source or item.id for item, _ in part}
            assert len(sources) >= FEWEST_SOURCES, (control.by, level)
        counts = [
            Counter((by, group) for _, prompt in part for by, group in prompt.groups.items())
            for part in prompts.values()
        ]
        shares = [
            {group: count / len(part) for group, count in of.items()}
            for of, part in zip(counts, prompts.values(), strict=True)
        ]
        assert shares[0] == pytest.approx(shares[1], abs=0.05), control.by


@pytest.mark.slow
@each_study
def test_competent_model_follows_the_control(study: Study) -> None:
    """Blind models follow none: `test_harmful_models`."""
    declared = controls(study)
    measured = sample(study, parameters_for("fair", study.probe), 1)
    responses = find_responses(measured, declared, [(control.grade, None) for control in declared])
    assert [response.decision for response in responses] == [Decision.TRUE] * len(declared), responses
