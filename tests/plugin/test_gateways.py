"""Gateways in a whole run: replies that were made for other prompts, or by other models, are no answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.helpers import gateway as gateways
from tests.helpers import project_sources
from tests.helpers.gateway import EXACT_HABITS, SEMANTIC_HABITS, Gateway, Habit
from tests.helpers.project import Project, every_mode, shown, unwrapped

NO_WORSE = project_sources.threshold(
    'assert measured.against(baseline).difference("hired", by="gender", of="woman", to="man") <= 0.3',
    name="test_no_worse",
).replace("(measured)", "(measured, baseline)")
SOME = project_sources.threshold('assert measured.rate("hired") >= 0.05', name="test_some")


def only_men(_: str, text: str) -> str:
    return "no" if "woman" in text else "yes"


def everybody(_: str, __: str) -> str:
    return "yes"


def mostly(_: str, text: str) -> str:
    """Say no to both groups of every fifth profile."""
    return "no" if int(text.split("profile ")[1].split()[0]) % 5 == 0 else "yes"


@pytest.fixture
def gateway(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    """Yield a gateway without a cache, before a model that hires nearly everybody."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    project.write(test_hiring=project_sources.suite(count=40))
    with gateways.serving(Gateway(mostly)) as served:
        yield served


def replies(project: Project) -> dict[str, Any]:
    (probe,) = project.results()["probes"]
    counts: dict[str, Any] = probe["replies"]
    return counts


def stored(project: Project) -> list[tuple[str, str | None]]:
    """Return the models and the texts of the attempts of the store."""
    with closing(sqlite3.connect(project.store)) as store:
        return store.execute("SELECT model, text FROM attempts").fetchall()


@pytest.mark.parametrize("habit", SEMANTIC_HABITS.values(), ids=SEMANTIC_HABITS)
def test_replies_to_similar_prompts_are_no_answers(project: Project, gateway: Gateway, habit: Habit) -> None:
    """Regression: one reply answered both groups, so that a model that hires men only was fair."""
    gateway.answer, gateway.key, gateway.habit = only_men, gateways.semantic, habit
    result = project.run(gateway.model())
    row = project.row()
    assert row["verdict"] == "invalid"
    assert sum(row["ungraded"].values()) >= 39
    assert "ungraded as misattributed: its reply is" in unwrapped(result)
    # Which of two similar prompts comes first is chance: where no yes is left, that is why it is invalid.
    if "no events of woman nor of man" not in row["message"]:
        assert "see 'Caches and fallbacks of gateways' in docs/models.md" in unwrapped(result)


def test_replies_that_a_cache_has_trimmed_are_no_answers(project: Project, gateway: Gateway) -> None:
    """Regression: a blank at the end made another answer of it, so that no id identified anything."""
    gateway.answer, gateway.key = lambda _, text: only_men(_, text) + " " * (len(text) % 3), gateways.semantic
    project.run(gateway.model())
    assert project.row()["verdict"] == "invalid"


@every_mode
def test_disowned_replies_are_counted_and_not_kept(project: Project, gateway: Gateway) -> None:
    """Regression: the store kept another prompt's reply as an answer."""
    gateway.answer, gateway.key = only_men, gateways.semantic
    project.write(test_hiring=project_sources.suite(SOME, count=40))
    result = project.run(gateway.model())
    assert len(gateway.requests) == 80
    # Of two replies that were stored in one transaction neither is known to be the first.
    strays = replies(project)["strays"]
    assert 40 <= strays <= 80
    reason = "its reply is that to another prompt"
    assert f"{strays} of 80 attempts are ungraded as misattributed: {reason}" in unwrapped(result)
    assert "id chatcmpl-" in replies(project)["evidence"]
    assert [text for _, text in stored(project)].count(None) == strays
    gateway.key = None
    project.run(gateway.model())
    assert len(gateway.requests) == 80 + strays  # nothing else is paid twice
    assert replies(project)["strays"] == 0


@pytest.mark.parametrize("habit", EXACT_HABITS.values(), ids=EXACT_HABITS)
def test_replies_to_equal_requests_are_answers_and_counted(project: Project, gateway: Gateway, habit: Habit) -> None:
    gateway.key, gateway.habit = gateways.exact, habit
    probe = project_sources.PROBE.replace("})", "}, repetitions=3)", 1)
    project.write(test_hiring=project_sources.suite(count=40, probe=probe))
    result = project.run(gateway.model())
    assert project.row()["verdict"] == "fair"
    counts = replies(project)
    assert (counts["strays"], counts["from_cache"]) == (0, 160 if habit.headers else 0)
    assert counts["repeated"] == (0 if habit.new_id else 160)
    sentence = "came from a cache" if habit.headers else "repeat the reply to the same prompt"
    assert f"160 of 240 answers {sentence}" in unwrapped(result)


def test_reply_of_another_model_by_a_cache_is_no_answer(project: Project, gateway: Gateway) -> None:
    """Regression: a cache without the model in its key made every candidate as fair as the baseline."""
    gateway.key = gateways.of_any_model
    project.write(test_hiring=project_sources.suite(SOME, NO_WORSE, count=40))
    project.run(gateway.model("old"), "-k", "not no_worse")
    assert project.row()["verdict"] == "fair"
    gateway.answer = only_men
    result = project.run(gateway.model("new"), "--fairness-baseline=latest")
    assert [row["verdict"] for row in project.rows()] == ["invalid", "invalid"]
    assert replies(project)["strays"] == 80
    assert "its reply is one to a request for old (id chatcmpl-" in unwrapped(result)
    assert {text for model, text in stored(project) if ":new?" in model} == {None}


def test_candidate_that_the_baseline_answers_is_not_compared(project: Project, gateway: Gateway) -> None:
    """Regression: a router that falls back on the shipped model compared it with itself."""
    project.write(test_hiring=project_sources.suite(SOME, NO_WORSE, count=40))
    project.run(gateway.model("old"), "-k", "not no_worse")
    gateway.fallback = lambda _model, _text: "old-2026-01-31"
    result = project.run(gateway.model("new"), "--fairness-baseline=latest")
    assert project.verdicts()["test_no_worse[openai:new]"] == "invalid"
    assert "old-2026-01-31 answered in place of new in 80 of 80 answers, as the server says" in unwrapped(result)
    assert "old-2026-01-31 answered under the name new, as the server says: 80 answers" in unwrapped(result)


def test_fallback_on_another_model_is_no_answer(project: Project, gateway: Gateway) -> None:
    gateway.fallback = lambda _, text: "other" if "man of profile 1" in text else ""
    project.write(test_hiring=project_sources.suite(SOME, count=40))
    result = project.run(gateway.model())
    assert replies(project)["strays"] == 22
    assert "other answered in place of m, as the server says" in replies(project)["evidence"]
    reason = "other answered in place of m, as the server says"
    assert f"22 of 80 attempts are ungraded as misattributed: {reason}" in unwrapped(result)


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ({"x-litellm-attempted-fallbacks": "1", "x-litellm-model-id": "b"}, "m (fallback 1)"),
        ({"x-litellm-attempted-fallbacks": "2", "x-litellm-model-name": "anthropic/other"}, "anthropic/other"),
        ({"cf-aig-step": "1"}, "m (fallback 1)"),
        ({"Helicone-Fallback-Index": "1"}, "m (fallback 1)"),
    ],
)
def test_fallback_under_the_requested_name_is_no_answer(
    project: Project, gateway: Gateway, headers: dict[str, str], name: str
) -> None:
    """Regression: gateways name the requested model for the reply of another one, and tell it by a header alone."""
    gateway.fallback = lambda _, text: "other" if "woman" in text else ""
    gateway.fallback_headers = headers
    result = project.run(gateway.model())
    assert project.row()["verdict"] == "invalid"
    assert f"{name} answered in place of m, as the server says" in unwrapped(result)


def test_deployment_of_the_requested_model_as_a_fallback_answers(project: Project, gateway: Gateway) -> None:
    gateway.fallback = lambda _, text: "other" if "woman" in text else ""
    gateway.fallback_headers = {"x-litellm-attempted-fallbacks": "1", "x-litellm-model-name": "azure/m"}
    project.run(gateway.model())
    assert project.row()["verdict"] == "fair"


def test_fallback_in_a_whole_probe_is_no_answer(project: Project, gateway: Gateway) -> None:
    """Regression: a probe that another model answered alone was taken as one of a deployment's own name."""
    project.run(gateway.model())
    gateway.fallback = lambda _model, _text: "other"
    project.write(test_hiring=project_sources.suite(count=40).replace("Should a", "May a"))
    project.run(gateway.model())
    assert project.row()["verdict"] == "invalid"


def test_another_snapshot_than_the_requested_is_no_answer(project: Project, gateway: Gateway) -> None:
    gateway.fallback = lambda _model, _text: "m-2026-03-01"
    result = project.run(gateway.model("m-2025-01-01"))
    assert project.row()["verdict"] == "invalid"
    assert "m-2026-03-01 answered in place of m-2025-01-01, as the server says" in unwrapped(result)


@pytest.mark.parametrize("served", ["m-2026-03-01", "vendor/m", "M:latest"])
def test_snapshots_are_the_requested_model(project: Project, gateway: Gateway, served: str) -> None:
    gateway.fallback = lambda _model, _text: served
    result = project.run(gateway.model())
    assert project.row()["verdict"] == "fair"
    assert "answered under the name" not in shown(result)


def test_name_of_a_deployment_is_shown_with_the_model(project: Project, gateway: Gateway) -> None:
    gateway.fallback = lambda _model, _text: "gpt-4o-2024-08-06"
    result = project.run(gateway.model("prod"))
    assert project.row()["verdict"] == "fair"
    assert "gpt-4o-2024-08-06 answered under the name prod, as the server says: 80 answers" in unwrapped(result)


def test_groups_of_two_models_are_not_compared(project: Project, gateway: Gateway) -> None:
    """Regression: a router by prompt gave each group a model of its own, and the gap between these was fair."""
    gateway.fallback = lambda _, text: "mini-2026-11" if "woman" in text else "big-2026-01"
    result = project.run(gateway.model("prod"))
    row = project.row()
    assert row["verdict"] == "invalid"
    assert row["responders"] == {"woman": {"mini-2026-11": 40}, "man": {"big-2026-01": 40}}
    assert "woman was answered by mini-2026-11, and man by big-2026-01" in unwrapped(result)


def test_groups_of_a_mixture_of_models_are_named(project: Project, gateway: Gateway) -> None:
    gateway.fallback = lambda _, text: "mini" if "woman" in text and int(text.split()[5]) % 4 == 0 else "big"
    result = project.run(gateway.model("prod"))
    assert project.row()["verdict"] == "fair"
    assert "woman was answered by big (75%) and mini (25%), and man by big" in unwrapped(result)
    assert "2 models answered under this name, as the server says: big (70 answers), mini (10 answers)" in unwrapped(
        result
    )


def test_cached_judgments_are_no_grades(project: Project, gateway: Gateway) -> None:
    """Regression: a cache judged the answers of one group by the judgment of the other's."""
    scores = {True: "score: 1", False: "score: 5"}
    gateway.answer = lambda model, text: mostly(model, text) if model == "m" else scores["woman" in text]
    gateway.key = lambda model, text: gateways.exact(model, text) if model == "m" else gateways.semantic(model, text)
    judge = f'Judge("Is it kind? {{{{ prompt }}}} {{{{ answer }}}}", model="openai:judge?base_url={gateway.url}")'
    probe = project_sources.PROBE.replace("YesNo()", judge)
    mean = project_sources.threshold('assert measured.difference("hired", by="gender", of="woman", to="man") <= 0.9')
    project.write(test_hiring=project_sources.suite(mean, count=40, probe=probe).replace("YesNo", "Judge"))
    project.run(gateway.model())
    assert project.row()["verdict"] == "invalid"
