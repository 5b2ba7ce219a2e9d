"""Declared controls of shipped probes: their items have both levels, and a competent simulated model follows them."""

from __future__ import annotations

import inspect

import pytest

from pytest_fairness import DataFolders, GradedAttempt
from pytest_fairness.core.controls import LEVELS, Control, read_controls
from pytest_fairness.plugin.markers import get_mark
from tests.helpers.designs import designed_items
from tests.helpers.responders import Study, parameters_for, sample, studies

FEWEST_SOURCES = 5
"""Sources of each level that an interval of the response needs."""


def controls_of(study: Study) -> tuple[Control, ...]:
    mark = get_mark(study.probe, "probe")
    assert mark is not None
    return read_controls(mark.kwargs.get("control"))


CONTROLLED = [study for study in studies() if controls_of(study)]


@pytest.mark.parametrize("study", CONTROLLED, ids=lambda study: study.name)
def test_items_have_both_levels_of_a_control(study: Study) -> None:
    mark = get_mark(study.probe, "probe")
    assert mark is not None
    takes_data = "data" in inspect.signature(mark.kwargs["items"]).parameters
    items = designed_items(mark.kwargs, **({"data": DataFolders({})} if takes_data else {}))
    for control in controls_of(study):
        assert control.grade in mark.kwargs["grade"]
        for level in (control.of, control.to):
            sources = {
                item.source or item.id
                for item in items
                for prompt in item.prompts
                for level_of in prompt.metadata.get(LEVELS, ())
                if level_of["value"] == level and (level_of["of"], level_of["to"]) == (control.of, control.to)
            }
            assert len(sources) >= FEWEST_SOURCES, (control, level)


@pytest.mark.slow
@pytest.mark.parametrize("study", CONTROLLED, ids=lambda study: study.name)
def test_a_competent_model_follows_a_control(study: Study) -> None:
    measured = sample(study, parameters_for("fair", study.probe), seed=1)
    for control in controls_of(study):
        counted = control.of if control.equals is None else control.equals

        def outcome(attempt: GradedAttempt, grade: str = control.grade, counted: object = counted) -> float:
            value = attempt[grade]
            return float(value == counted if isinstance(value, str) else value)

        high, low = (measured.where(**{control.by: level}).mean(outcome) for level in (control.of, control.to))
        assert high.low > low.high, (control, high, low)
