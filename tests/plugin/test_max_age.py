"""``--fairness-max-age``: old answers are requested again, and nothing in the store is replaced."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from tests.helpers import project_sources
from tests.helpers.dry_runs import simulate_few_samples
from tests.helpers.project import N2, NO_XDIST, Project, shown, unwrapped

COUNT = 20
AGED = "UPDATE attempts SET at = at - ? * 86400.0"
_LATER = 'WHERE prompt IN (SELECT digest FROM prompts WHERE messages LIKE "%certain%")'
CONFIRMED = """
from pytest_fairness import Grade, ModelQuery

class Confirmed:
    fingerprint = "confirmed v1"

    def grade_item(self, item, attempts):
        (answer,) = yield [ModelQuery(Prompt(f"Is a woman of {item.id} certain?"))]
        return [Grade(answer.answer.text == "yes")] * len(attempts)
"""


def age(project: Project, days: float, where: str = "") -> None:
    """Let what was answered so far be so many days older."""
    with closing(sqlite3.connect(project.store)) as store, store:
        store.execute(f"{AGED} {where}", (days,))


def stored(project: Project) -> dict[str, tuple[object, ...]]:
    with closing(sqlite3.connect(project.store)) as store:
        return {key: row for key, *row in store.execute("SELECT key, text, repetition, run, at FROM attempts")}


def day(days_ago: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days_ago)).date().isoformat()


@pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id, indirect=True)
def test_old_answers_are_requested_again_and_never_replaced(project: Project) -> None:
    project.write_suite(conftest=project_sources.application(version="1"), count=COUNT)
    (project.path / "pytest.ini").write_text("[pytest]\nfairness_max_age = 30d\n", encoding="utf-8")
    project.run(mode=NO_XDIST)
    first = json.dumps(project.results())
    project.forget_calls()
    age(project, 29)
    assert f"oldest answer from {day(29)}" in unwrapped(project.run())
    assert not project.calls()
    age(project, 3)
    before = stored(project)
    assert "oldest answer" not in shown(project.run())
    assert len(project.calls()) == 2 * COUNT
    assert set(project.calls().values()) == {1}
    after = stored(project)
    assert {key: after[key] for key in before} == before
    assert len(after) == 2 * len(before)
    project.forget_calls()
    age(project, 29)
    project.run(mode=NO_XDIST)
    assert not project.calls()
    assert project.results()["run"]["from_store"] == 2 * COUNT
    assert project.results()["release"][0]["oldest"] == day(29)
    for results in (first, json.dumps(project.results())):
        (project.path / "known.json").write_text(results, encoding="utf-8")
        assert project.bare_run("--fairness-verify=known.json", mode=NO_XDIST).ret == 0
    assert not project.calls()


def test_only_probes_with_old_answers_are_measured_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few_samples(monkeypatch)
    probe = project_sources.PROBE.replace("YesNo()}", 'YesNo(), "sure": Confirmed()}')
    project.write_suite(conftest=project_sources.application(version="1"), count=3, probe=CONFIRMED + probe)
    project.run("--fairness-max-age=1d")
    assert len(project.calls()) == 9
    project.forget_calls()
    age(project, 2, _LATER)
    project.run("--fairness-max-age=1d")
    assert sorted(project.calls().values()) == [1, 1, 1]
    assert all("certain" in text for text in project.calls())
    project.forget_calls()
    age(project, -40, f"{_LATER} AND repetition = 1")  # a clock that ran ahead: nobody knows how old they are
    project.run("--fairness-max-age=12h", "--fairness-plan")
    project.run("--fairness-max-age=12h")
    assert sorted(project.calls().values()) == [1, 1, 1]


def test_smaller_sample_uses_the_repetitions_of_the_whole(project: Project) -> None:
    probe = project_sources.PROBE.replace("YesNo()}", "YesNo()}, repetitions=2")
    uneven = project_sources.application({"woman": 0.6, "man": 0.9}, version="1")
    project.write_suite(conftest=uneven, count=COUNT, probe=probe)
    project.run()
    project.forget_calls()
    age(project, 40, 'WHERE prompt IN (SELECT digest FROM prompts WHERE messages LIKE "%profile 1%")')
    project.run("--fairness-max-age=30d", "--fairness-sample=5", "--fairness-resolve")
    assert set(project.calls().values()) == {2}
    project.run("--fairness-max-age=30d")
    assert set(project.calls().values()) == {2}
    assert len(project.calls()) == 2 * COUNT
    with closing(sqlite3.connect(project.store)) as store:
        runs = store.execute("SELECT repetition, count(*) FROM attempts GROUP BY repetition").fetchall()
    assert runs == [(number, 2 * COUNT) for number in range(4)]


@pytest.mark.parametrize("age", ["30", "d", "0d", "-1d", "1e3d", "999999999w", "30 days"])
def test_invalid_ages_are_refused(project: Project, age: str) -> None:
    project.write(test_hiring=project_sources.suite(count=1))
    result = project.bare_run(f"--fairness-max-age={age}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"--fairness-max-age is {age!r}: write days, hours or weeks, as in 30d, 12h or 4w" in shown(result)


def test_page_dates_answers_of_earlier_runs_and_of_this_one(project: Project) -> None:
    for count, first, last in ((COUNT, 0, 0), (COUNT + 10, 1, 0), (COUNT + 10, 2, 1)):
        project.write_suite(conftest=project_sources.application(version="1"), count=count)
        project.run("--fairness-report=page.html")
        age(project, 1)
        page = (project.path / "page.html").read_text(encoding="utf-8")
        span = re.search(r"answered (?:on|from) (\S+) \S+ UTC(?: to (\S+))?", page)
        assert span is not None
        assert (span[1], span[2] or span[1]) == (day(first), day(last))
