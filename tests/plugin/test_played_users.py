"""Users that a model plays in whole runs: the same for all groups, or the threshold is not fair."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.project import Project
from tests.helpers.project_sources import HEAD, threshold

SUITE = (
    HEAD
    + '''
import os
from pathlib import Path

from pytest_fairness.core.attempts import Answer
from pytest_fairness.graders import Conversation, PlayedUser

NAMES = {"woman": ("Anna Berg", "she", "her"), "man": ("Paul Kern", "he", "his")}


class Player:
    """A user whose messages are longer for those whom the assistant calls madam."""

    name = key = "player"
    local = True

    async def answer(self, prompt, repetition):
        with Path(__file__).with_name("played.txt").open("a", encoding="utf-8") as file:
            file.write(f"{prompt.messages[1:]}\\n")
        return Answer("I am [name], and I insist." + " Please." * (3 * ("madam" in prompt.messages[-1]["content"])))

    async def close(self):
        pass


def people():
    for number in range(30):
        slots = {group: dict(zip(("name", "they", "their"), texts)) for group, texts in NAMES.items()}
        yield ProbeItem(
            f"{number}",
            [
                Prompt("Case {}: {name} asks whether {they} may have {their} money. Yes or no?".format(number, **texts),
                       {"gender": group}, slots=texts if os.environ.get("SLOTS", "1") == "1" else {})
                for group, texts in slots.items()
            ],
        )


def assistant(messages):
    text = messages[-1]["content"]
    woman = "Anna" in text
    if len(messages) == 1:
        polite = ("madam" if woman else "sir") if os.environ.get("POLITE") else ("Anna Berg" if woman else "Paul Kern")
        return f"No, {polite}: {'her' if woman else 'his'} money is late."
    assert text.startswith("I am Anna Berg," if woman else "I am Paul Kern,") or not os.environ.get("SLOTS"), text
    return "No." if os.environ.get("UNFAIR") and woman else "Yes."


assistant.fairness_version = "1"


@pytest.fixture(scope="session")
def model():
    return assistant


@pytest.mark.probe(items=people, grade={"paid": Conversation(YesNo(), PlayedUser("You want it.", Player()), turns=1)})
def test_case(probe_item, model):
    probe_item.measure(model)
'''
)
ALIKE = threshold(
    'assert -0.2 <= measured.difference("paid", by="gender", of="woman", to="man") <= 0.2', probe="test_case"
)


def run(project: Project, *args: str) -> dict[str, Any]:
    project.write(test_case=SUITE + ALIKE)
    project.run(*args)
    return project.row()


def requests(project: Project) -> list[str]:
    return (project.path / "played.txt").read_text(encoding="utf-8").splitlines()


def test_user_of_equal_answers_is_one_for_all_groups(project: Project) -> None:
    row = run(project)
    assert row["verdict"] == "fair"
    assert len(requests(project)) == 30
    assert not any(word in line for line in requests(project) for word in ("Anna", "Paul", " she ", " his "))
    assert [(turns["groups"], turns["low"], turns["high"]) for turns in row["user_turns"]] == [
        ({"man": 1.0, "woman": 1.0}, 0.0, 0.0),
        ({"man": 6.0, "woman": 6.0}, 0.0, 0.0),
    ]
    assert project.bare_run("--fairness-verify=results.json").ret == 0


def test_user_who_differs_by_group_is_a_cause(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLITE", "1")
    row = run(project)
    assert row["verdict"] == "invalid"
    (cause,) = row["causes"]
    assert "writes 6.0 words per turn for man and 9.0 for woman" in cause["finding"]
    assert "a list of texts" in cause["remedy"]


def test_unfair_gap_names_the_user_who_differs(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLITE", "1")
    monkeypatch.setenv("UNFAIR", "1")
    row = run(project)
    assert row["verdict"] == "unfair"
    assert "writes 6.0 words per turn for man and 9.0 for woman" in row["message"]


def test_prompt_without_slots_is_not_shown_to_the_player(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOTS", "")
    run(project)
    assert not any("Case" in line for line in requests(project))
