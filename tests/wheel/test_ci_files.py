"""The workflow files of docs/ci: what the providers' schemas say of them, and that their commands do what they say."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from .conftest import Newcomer

CI = Path(__file__).parents[2] / "docs" / "ci"
SCHEMAS = {
    "github.yml": ["vendor.github-workflows"],
    "gitlab.yml": ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"],
}


def validated(file: Path, schema: list[str]) -> int:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", *schema, str(file)]
    return subprocess.run(command, capture_output=True, timeout=240).returncode


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_providers_schema_holds(name: str, tmp_path: Path) -> None:
    assert validated(CI / name, SCHEMAS[name]) == 0
    broken = tmp_path / name
    text = (CI / name).read_text(encoding="utf-8")
    broken.write_text(text.replace("runs-on:", "run-on:").replace("stage: measure", "stage: 3"), encoding="utf-8")
    assert validated(broken, SCHEMAS[name]) == 1


def commands(name: str, job: str) -> list[str]:
    """What a job runs, but for installing, as a shell has it."""
    jobs = yaml.safe_load((CI / name).read_text(encoding="utf-8"))
    found: dict[str, Any] = jobs.get("jobs", jobs)[job]
    lines = [step["run"] for step in found["steps"] if "run" in step] if "steps" in found else found["script"]
    return [line for line in [*lines, *found.get("after_script", [])] if not line.startswith("pip install")]


def answers(store: Path) -> int:
    """How many a store holds."""
    with closing(sqlite3.connect(store)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM attempts").fetchone()
    return int(count)


def job(newcomer: Newcomer, name: str) -> Newcomer:
    """Another machine, with the project checked out."""
    return Newcomer(newcomer.commands, shutil.copytree(newcomer.folder / "project", newcomer.folder / name))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "stored", "measured"),
    # The file of GitHub has four shards, of which two have died here: the gate asks for what they have left.
    [("github.yml", "shards/store-{}/store.sqlite", 600), ("gitlab.yml", "shards/{}.sqlite", 1200)],
)
def test_shards_measure_and_the_gate_judges(newcomer: Newcomer, name: str, stored: str, measured: int) -> None:
    newcomer.write("project/pyproject.toml", '[tool.pytest-fairness.models]\nprod = "simulated:x"\n')
    newcomer.run("cd project && pytest-fairness new letting")
    run = {"SUITES": "suites", "GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "1", "CI_NODE_TOTAL": "2"}
    gate = job(newcomer, "gate")
    for shard in ("1", "2"):
        machine = job(newcomer, f"job-{shard}")
        for line in commands(name, "measure"):
            done = machine.run(re.sub(r"\$\{\{ matrix\.shard \}\}", shard, line), CI_NODE_INDEX=shard, **run)
            assert done.returncode == 0, done.stdout + done.stderr
        target = gate.folder / stored.format(shard)
        target.parent.mkdir(parents=True, exist_ok=True)
        (machine.folder / ".fairness" / "store.sqlite").rename(target)
    merge, judge = commands(name, "gate")
    done = gate.run(merge, **run)
    assert done.returncode == 0, done.stdout + done.stderr
    assert answers(gate.folder / ".fairness" / "store.sqlite") == measured
    done = gate.run(judge, **run)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((gate.folder / "reports" / "fairness.json").read_text(encoding="utf-8"))
    assert results["run"]["attempts"] == answers(gate.folder / ".fairness" / "store.sqlite") == 1200
    assert {row["verdict"] for row in results["thresholds"]} == {"fair"}
    assert (gate.folder / "reports" / "junit.xml").exists()
