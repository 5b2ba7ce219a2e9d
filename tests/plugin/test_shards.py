"""A run in parts: shards on one store, in any order, whatever becomes of one; verdicts as without."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.plugin.output.outcomes import UNDECIDED_CODE
from tests.helpers.deadlines import wait_until
from tests.helpers.postgresql_server import PostgreSQL
from tests.helpers.project import N2, NO_XDIST, Project, shown
from tests.helpers.project_sources import NARROW, application, suite

COUNT = 30
RUN = "--fairness-run=r1"
SLOW = """\
    import os, time
    with ASKED.with_name(f"asked_by_{os.getpid()}.txt").open("a") as file:
        file.write(text + "\\n")
    time.sleep(0.02)
"""


@pytest.fixture
def hiring(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in ("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "CI_PIPELINE_ID", "BUILD_TAG"):
        monkeypatch.delenv(name, raising=False)
    project.write_suite(conftest=application(NARROW, version="1"), count=COUNT)
    return project


def judged(project: Project) -> list[dict[str, Any]]:
    """Return the thresholds' rows without fields that differ between runs."""
    apart = ("history", "p_values", "sample")
    return [{name: value for name, value in row.items() if name not in apart} for row in project.rows()]


def unsharded(project: Project) -> list[dict[str, Any]]:
    project.run("--fairness-store=alone.sqlite", mode=NO_XDIST)
    rows = judged(project)
    (project.path / "results.json").unlink()
    project.forget_calls()
    return rows


def assert_asked_once(project: Project) -> None:
    requests = project.calls()
    assert len(requests) == 2 * COUNT
    assert set(requests.values()) == {1}


@pytest.mark.parametrize("mode", [NO_XDIST, N2], ids=lambda mode: mode.id, indirect=True)
def test_shards_in_any_order_share_requests_and_the_last_judges(hiring: Project) -> None:
    alone = unsharded(hiring)
    first, *others = ["1/2", "2/2"] if hiring.mode is N2 else ["1/3", "2/3", "3/3"]
    for shard in others:
        result = hiring.run(RUN, f"--fairness-shard={shard}", "-rs")
        assert result.ret == 0
        own = COUNT // (len(others) + 1)
        result.assert_outcomes(passed=own, skipped=1, deselected=0 if hiring.mode is N2 else COUNT - own)
        assert f"fairness: shard {shard} of run r1: {own} items measured, 1 threshold deferred" in result.outlines
        assert "deferred: " in shown(result)
        (line,) = hiring.results()["release"]  # the file of an earlier run must not stay
        assert (line["verdict"], sum(line["not_judged"].values())) == ("undecided", 1)
    result = hiring.run(RUN, f"--fairness-shard={first}")
    assert judged(hiring) == alone
    assert result.ret == UNDECIDED_CODE
    assert_asked_once(hiring)


def test_last_job_measures_what_a_lost_shard_left(hiring: Project) -> None:
    alone = unsharded(hiring)
    hiring.run(RUN, "--fairness-shard=3/3")
    hiring.run(RUN, "--fairness-shard=1/3", "-k", "00")  # as if it had died on the way
    hiring.run(RUN)
    assert judged(hiring) == alone
    assert hiring.results()["run"]["id"] == "r1"
    assert_asked_once(hiring)


def test_stores_of_shards_are_merged(hiring: Project) -> None:
    alone = unsharded(hiring)
    for number in (1, 2):
        hiring.run(RUN, f"--fairness-shard={number}/2", f"--fairness-store={number}.sqlite")
    assert main(["merge", "1.sqlite", "2.sqlite", "--out", "all.sqlite"]) == 0
    hiring.run(RUN, "--fairness-store=all.sqlite")
    assert judged(hiring) == alone
    assert_asked_once(hiring)


def test_stopped_shard_stops_no_other(hiring: Project) -> None:
    hiring.write(test_broken="def test_broken():\n    assert False\n", test_hiring=suite(count=COUNT))
    hiring.run(RUN, "--fairness-shard=1/2", "-x")
    result = hiring.run(RUN, "--fairness-shard=2/2", "--deselect=test_broken.py")
    result.assert_outcomes(passed=15, skipped=1, deselected=16)
    assert len(hiring.calls()) == COUNT


def test_shard_without_items_passes(hiring: Project) -> None:
    hiring.write(test_hiring=suite("", count=2))
    results = [hiring.run(RUN, f"--fairness-shard={number}/3") for number in (1, 2, 3)]
    assert sorted(result.parseoutcomes().get("passed", 0) for result in results) == [0, 1, 1]
    assert [result.ret for result in results] == [0, 0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fairness-shard=4/3", RUN], "--fairness-shard is '4/3': write I/N with I from 1 to N, as in 3/8"),
        (["--fairness-shard=one", RUN], "--fairness-shard is 'one': write I/N"),
        (["--fairness-shard=1/3"], "no CI that names its run was found: name the run, by --fairness-run ID"),
        (["--fairness-run=a b"], "--fairness-run is 'a b': write up to 64 letters, digits, . _ or -"),
        (["--fairness-shard=1/3", RUN, "--fairness-plan"], "--fairness-shard cannot be in one run"),
        (["--fairness-store=mysql://me:hush@host/db"], "the store begins with mysql://"),
    ],
)
def test_invalid_shard_options_are_reported_in_one_line(options: list[str], message: str, hiring: Project) -> None:
    result = hiring.run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in shown(result)
    assert "hush" not in shown(result)


def test_run_in_ci_has_the_id_of_the_pipeline(hiring: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_RUN_ID", "77")
    monkeypatch.setenv("GITHUB_RUN_ATTEMPT", "2")
    result = hiring.run("--fairness-shard=1/2")
    assert "fairness: shard 1/2 of run 77: 15 items measured, 1 threshold deferred" in result.outlines
    hiring.run("--fairness-run=ci")
    assert hiring.results()["run"]["id"] == "77"
    hiring.run()
    assert hiring.results()["run"]["id"] != "77"


@pytest.mark.slow
def test_killed_shard_and_restarted_server_change_no_verdict(hiring: Project, postgresql: PostgreSQL) -> None:
    alone = unsharded(hiring)
    hiring.write(conftest=application(NARROW, version="1", body=SLOW))
    store = f"--fairness-store={postgresql.location().url}"
    shards = [
        subprocess.Popen(
            hiring.command("--fairness-concurrency=1", RUN, store, f"--fairness-shard={number}/3"),
            cwd=hiring.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in (1, 2, 3)
    ]
    wait_until(lambda: any(hiring.path.glob("asked_by_*")))
    of_killed, *_ = hiring.path.glob("asked_by_*")
    os.kill(int(of_killed.stem.removeprefix("asked_by_")), signal.SIGKILL)
    postgresql.stop("immediate")
    time.sleep(0.3)
    postgresql.start()
    outputs = [shard.communicate(timeout=120)[0] for shard in shards]
    assert sorted(shard.returncode for shard in shards) == [-signal.SIGKILL, 0, 0], outputs
    hiring.run(RUN, store)
    assert judged(hiring) == alone
    assert len(hiring.calls()) == 2 * COUNT
    # What the killed one had under way, or answered and not yet written, is asked again; nothing else is.
    of_killed.unlink()
    requests = Counter(line for path in hiring.path.glob("asked_by_*") for line in path.read_text().splitlines())
    assert set(requests.values()) == {1}


@pytest.mark.slow
def test_password_of_a_server_is_never_shown(hiring: Project, postgresql: PostgreSQL) -> None:
    url = postgresql.location().url.replace("tests@", "tests:hush-hush@")
    result = hiring.run(f"--fairness-store={url}", "--fairness-report=report.html", "--junit-xml=junit.xml", "-v")
    assert hiring.results()["run"]["attempts"] == 2 * COUNT
    assert "hush-hush" not in shown(result)
    for path in Path(hiring.path).rglob("*"):
        if path.is_file():
            assert b"hush-hush" not in path.read_bytes(), path
    assert f"--fairness-store={url}".partition("tests:hush-hush@")[0] in str(hiring.results()["run"]["command"])


def test_store_without_an_ini_file_is_in_the_working_folder(
    hiring: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path_factory.mktemp("here")
    monkeypatch.chdir(here)
    result = hiring.run(str(hiring.path), "--fairness-report=reports/fairness.html")
    assert result.ret == UNDECIDED_CODE
    assert (here / ".fairness" / "store.sqlite").exists()
    assert (here / "reports" / "fairness.html").exists()
    assert not (hiring.path / ".fairness").exists()
