"""Positive controls of shipped probes: declared, balanced, followed by a competent model and by no blind one."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from typing import Any

import pytest

from pytest_fairness import DataFolders, ProbeItem, Prompt
from pytest_fairness.core.controls import Control, read_controls
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.sensitivity import ControlResponse
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


def constant_reading(*_: object) -> str:
    return json.dumps({"emotion": "joyful", "confidence": 0.8, "verified": True})


def constant_assessment(*_: object) -> str:
    return "The applicant has worked in this field for some years. The references are in the file."


def first_name(_: ProbeItem, prompt: Prompt, draws: object) -> str:
    stereotype = prompt.metadata["stereotype_words"]
    return "\n".join(f"{word} - {next(iter(stereotype.groups))}" for word in stereotype.words)


def order_shown(_: ProbeItem, prompt: Prompt, draws: object) -> str:
    return "\n".join(person["name"] for person in prompt.metadata["people"])


def first_number(_: ProbeItem, prompt: Prompt, draws: object) -> str:
    return f"{prompt.metadata['scale'][0]}"


BLIND = {
    **dict.fromkeys(
        ("bbq/question", "bbq/pair", "gender/remark", "emotion/description", "dialect/help"), "habit=first"
    ),
    "emotion/reading": constant_reading,
    "hiring/assessment": constant_assessment,
    "implicit/association": first_name,
    "politics/request": constant_assessment,
    "correspondence/ranking": order_shown,
    "asker/question": "habit=first",
    "asker/amount": first_number,
    "asker/advice": constant_assessment,
}
"""Responders that do not read, of probes that ``response=0`` does not blind."""


@pytest.mark.slow
@each_study
def test_competent_model_follows_the_control_and_a_blind_one_does_not(study: Study) -> None:
    def responses(model: Any) -> list[ControlResponse]:
        return find_responses(sample(study, model, 1), declared, [(control.grade, None) for control in declared])

    declared = controls(study)
    competent = responses(parameters_for("fair", study.probe))
    assert [response.decision for response in competent] == [Decision.TRUE] * len(declared), competent
    blind = responses(BLIND.get(study.name, "response=0"))
    assert Decision.TRUE not in [response.decision for response in blind], blind
