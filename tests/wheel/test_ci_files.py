"""The workflow files of docs/ci: they hold to the providers' schemas, and their jobs lose and repeat nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.schema_check import matches_schema

ROOT = Path(__file__).parents[2]
CI = ROOT / "docs" / "ci"
ACTION = ROOT / "action.yml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCHEMAS = {
    "github.yml": ["vendor.github-workflows"],
    "gitlab.yml": ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"],
}
FILES = list(SCHEMAS)
COUNT = 40
KILLED = 137
"""The exit code of a process that was killed."""


@pytest.mark.parametrize("name", FILES)
def test_ci_files_match_the_schemas_of_the_providers(name: str, tmp_path: Path) -> None:
    assert matches_schema(CI / name, *SCHEMAS[name])
    broken = tmp_path / name
    text = (CI / name).read_text(encoding="utf-8")
    broken.write_text(text.replace("runs-on:", "run-on:").replace("stage: measure", "stage: 3"), encoding="utf-8")
    assert not matches_schema(broken, *SCHEMAS[name])


@pytest.mark.slow
def test_workflows_match_the_schemas_of_github() -> None:
    assert {"release", "tests"} <= {file.stem for file in WORKFLOWS}
    assert all(matches_schema(file, "vendor.github-workflows") for file in WORKFLOWS)
    assert matches_schema(ACTION, "vendor.github-actions")
    assert matches_schema(ROOT / ".github" / "dependabot.yml", "vendor.dependabot")
    templates = ROOT / ".github" / "ISSUE_TEMPLATE"
    assert all(matches_schema(templates / f"{form}.yml", "vendor.github-issue-forms") for form in ("bug", "proposal"))


def test_actions_are_pinned_by_one_commit_each() -> None:
    commits: dict[str, set[tuple[str, str]]] = {}
    for file in (*WORKFLOWS, ACTION):
        for action, version in re.findall(r"uses: (?!\./)([^@\s]+)@(.*)", file.read_text(encoding="utf-8")):
            commit = re.fullmatch(r"([0-9a-f]{40})  # (v\d+\.\d+\.\d+)", version)
            assert commit, f"{file.name}: {action}@{version}"
            commits.setdefault(action, set()).add((commit[1], commit[2]))
    assert len(commits) >= 8
    assert [action for action, versions in commits.items() if len(versions) > 1] == []


def test_workflow_runs_the_sessions_of_nox() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    (tests,) = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in WORKFLOWS if file.stem == "tests"]
    matrix = tests["jobs"]["versions"]["strategy"]["matrix"]
    assert matrix["python"] == pythons
    assert f'requires-python = ">={pythons[0]}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    cases = {(case["python"], case["dependencies"]) for case in matrix["include"]}
    first, last = pythons[0], pythons[-1]
    assert cases == {(first, "oldest"), (first, "pytest-8.4"), (last, "pytest-8.4"), (last, "pytest-main")}


def test_action_comments_as_the_workflow_file_does() -> None:
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"]
    workflow = yaml.safe_load((CI / "github.yml").read_text(encoding="utf-8"))["jobs"]["gate"]
    mine, theirs = _step(action, "Comment"), _step(workflow, "Comment")
    assert (mine["run"], mine["env"]) == (theirs["run"], theirs["env"])


CONFTEST = """
import os, signal, time
from pathlib import Path
import pytest

CALLS = Path(os.environ["ASKED"])

def application(text):
    with CALLS.open("a") as file:
        file.write(text + "\\n")
    if os.environ.get("KILLED_AT") and len(CALLS.read_text().splitlines()) > int(os.environ["KILLED_AT"]):
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)  # as long as what is written at once takes at least
    return "no" if int(text.split()[-1]) % 4 == 0 else "yes"

@pytest.fixture(scope="session")
def model(model_name):
    return application
"""
SUITE = f"""
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

def people():
    for number in range({COUNT}):
        prompts = [Prompt(f"Hire a {{g}} {{number}}", groups={{"g": g}}) for g in ("woman", "man")]
        yield ProbeItem(f"p-{{number}}", prompts)

@pytest.mark.probe(items=people, grade={{"hired": YesNo()}})
def test_hiring(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_hiring)
def test_alike(measured):
    assert 0.5 <= measured.ratio("hired", by="g", of="woman", to="man") <= 2.0

@pytest.mark.threshold(probe=test_hiring)
def test_few(measured):
    assert measured.rate("hired") <= 0.3
"""


@pytest.fixture
def commands(tmp_path: Path, forked_workers: ForkedWorkers) -> Path:
    """Return a folder of the installed commands, which begin as forks of one process: there are some twenty."""
    folder = tmp_path / "commands"
    folder.mkdir()
    for name in ("pytest", "pytest-fairness"):
        command = folder / name
        installed = Path(sys.executable).with_name(name)
        command.write_text(f'#!/bin/sh\nexec {forked_workers.server.python} {installed} "$@"\n', encoding="utf-8")
        command.chmod(0o755)
    return folder


@dataclass
class Provider:
    """Runner of a workflow file's jobs, as its provider has it: each in its own checkout, with caches and artifacts."""

    file: Path
    folder: Path
    commands: Path
    """The folder of `pytest` and `pytest-fairness`."""
    attempt: int = 1
    written: str = ""
    caches: dict[str, Path] = field(default_factory=dict)
    artifacts: dict[str, Path] = field(default_factory=dict)
    """Newest last."""

    def __post_init__(self) -> None:
        self.content: dict[str, Any] = yaml.safe_load(self.file.read_text(encoding="utf-8"))
        self.project = self.folder / "project"
        (self.project / "suites").mkdir(parents=True)
        (self.project / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        (self.project / "suites" / "test_hiring.py").write_text(SUITE, encoding="utf-8")
        aliases = '[tool.pytest-fairness.models]\nprod = "simulated:x"\n'
        (self.project / "pyproject.toml").write_text(aliases, encoding="utf-8")
        (self.project / "pytest-fairness").symlink_to(ROOT)

    def run(self, job: str, shard: int = 0, **environment: str) -> tuple[int, Path]:
        """Run a job; its exit code and the folder that it ran in."""
        self._number = len(list(self.folder.iterdir()))
        checkout = self.folder / f"{self._number}-{job}-{shard}"
        shutil.copytree(self.project, checkout, symlinks=True)
        run = self._github if self.file.name == "github.yml" else self._gitlab
        return run(job, shard, checkout, environment), checkout

    def calls(self) -> Counter[str]:
        """Return how often each text was asked, in all jobs."""
        counts: Counter[str] = Counter()
        for file in self.folder.glob("*.calls"):
            counts.update(file.read_text(encoding="utf-8").splitlines())
        return counts

    def _shell(self, command: str, checkout: Path, environment: dict[str, str]) -> int:
        names = ("HOME", "LANG", "TMPDIR", "PYTHONPATH")
        inherited = {name: os.environ[name] for name in names if name in os.environ}
        path = os.pathsep.join([str(self.commands), os.environ["PATH"]])
        own = {"PATH": path, "SUITES": "suites", "ASKED": f"{checkout}.calls", "COLUMNS": "100"}
        # The folder that is installed must be there; the environment of the tests has what is in it.
        command = re.sub(r"\bpip install \"?(\./[\w-]+)(\[[\w,]+\])?\"?", r"test -f \1/pyproject.toml", command)
        assert "pip install" not in command
        process = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=checkout,
            env=inherited | own | environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.written += f"$ {command}\n{process.stdout}{process.stderr}"
        return process.returncode if process.returncode >= 0 else 128 - process.returncode

    def _github(self, job: str, shard: int, checkout: Path, environment: dict[str, str]) -> int:
        code = 0
        context = {"matrix.shard": shard, "github.run_id": 7, "github.run_attempt": self.attempt}
        environment = {"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": str(self.attempt), **environment}
        for step in self.content["jobs"][job]["steps"]:
            when = step.get("if", "success()")
            if "github.event.pull_request" in when:  # no event is a pull request here
                continue
            assert when in ("success()", "always()", "failure() || cancelled()")
            if (when == "success()" and code) or (when.startswith("failure") and not code):
                continue
            values = {name: _filled(str(value), context) for name, value in step.get("with", {}).items()}
            action = step.get("uses", "").partition("@")[0]
            if "run" in step:
                code = code or self._shell(_filled(step["run"], context), checkout, environment)
            elif action == "actions/cache/restore":
                self._restore([values["key"], *values["restore-keys"].split()], values["path"], checkout)
            elif action == "actions/cache/save":
                self._save(values["key"], values["path"], checkout)
            elif action == "actions/upload-artifact":
                assert values["overwrite"] == "True"
                self._keep(values["name"], sorted(checkout.glob(values["path"])))
            elif action == "actions/download-artifact":
                for name, path in self.artifacts.items():
                    if Path(name).match(values["pattern"]):
                        shutil.copytree(path, checkout / values["path"] / name)
            else:
                assert action in ("actions/checkout", "actions/setup-python")
        return code

    def _gitlab(self, job: str, shard: int, checkout: Path, environment: dict[str, str]) -> int:
        job_spec = self.content[job]
        environment = {"CI_PIPELINE_ID": "7", "CI_NODE_INDEX": str(shard), "CI_NODE_TOTAL": "4", **environment}
        cache = job_spec["cache"]
        keys = [_expanded(key, environment) for key in (cache["key"], *cache.get("fallback_keys", []))]
        (path,) = cache["paths"]
        self._restore(keys, path, checkout)
        for name, artifact in self.artifacts.items() if job == "gate" else ():
            shutil.copytree(artifact, checkout, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*", name))
        code = 0
        for line in [*self.content["default"]["before_script"], *job_spec["script"]]:
            code = code or self._shell(line, checkout, environment)
        for line in job_spec.get("after_script", ()):
            assert self._shell(line, checkout, environment) == 0
        if cache["when"] == "always" or (cache["when"] == "on_failure") == bool(code):
            self._save(keys[0], path, checkout)
        assert job_spec["artifacts"]["when"] == "always"
        self._keep(f"{job}-{shard}", [checkout / path for path in job_spec["artifacts"]["paths"]])
        return code

    def _restore(self, keys: list[str], path: str, checkout: Path) -> None:
        for key in keys:
            alike = [cached for cached in self.caches if cached == key or cached.startswith(key)]
            if alike:
                shutil.copytree(self.caches[alike[-1]], checkout / path)
                return

    def _save(self, key: str, path: str, checkout: Path) -> None:
        if not (checkout / path).exists():
            return
        self.caches.pop(key, None)
        self.caches[key] = shutil.copytree(checkout / path, self.folder / f"{self._number}.cache")

    def _keep(self, name: str, paths: list[Path]) -> None:
        folder = self.artifacts[name] = self.folder / f"{self._number}-{name}.artifact"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for path in paths:
            if path.is_dir():
                shutil.copytree(path, folder / path.name)
            elif path.exists():
                shutil.copy2(path, folder / path.name)


def _filled(text: str, values: dict[str, Any]) -> str:
    return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda match: str(values[match[1]]), text)


def _expanded(text: str, environment: dict[str, str]) -> str:
    return re.sub(r"\$(\w+)", lambda match: environment[match[1]], text)


def _judged(results: Path) -> Iterator[object]:
    content = json.loads(results.read_text(encoding="utf-8"))
    for row in content["thresholds"]:
        yield [row[name] for name in ("id", "verdict", "estimate", "low", "high", "attempts", "ungraded")]
    yield content["release"]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", FILES)
def test_killed_shard_loses_and_repeats_nothing(name: str, tmp_path: Path, commands: Path) -> None:
    undisturbed = Provider(CI / name, tmp_path / "undisturbed", commands)
    judge = next(line for line in _commands(undisturbed.content, "gate") if line.startswith("pytest "))
    alone = undisturbed._shell(judge, undisturbed.project, {"CI_PIPELINE_ID": "1"})
    assert alone == 1, undisturbed.written  # of the thresholds one is unfair
    provider = Provider(CI / name, tmp_path / "disturbed", commands)
    code, _ = provider.run("measure", 1)
    assert code == 0, provider.written
    code, killed = provider.run("measure", 2, KILLED_AT="7")
    assert code == KILLED, provider.written
    answered = killed.with_name(f"{killed.name}.calls").read_text(encoding="utf-8").splitlines()
    assert len(answered) == 8  # the last of them was never answered
    provider.attempt = 2
    code, again = provider.run("measure", 2)
    assert code == 0, provider.written
    retried = again.with_name(f"{again.name}.calls").read_text(encoding="utf-8").splitlines()
    assert set(answered) & set(retried) == {answered[-1]}
    code, killed = provider.run("measure", 3, KILLED_AT="5")
    assert code == KILLED, provider.written
    lost = [answered[-1], killed.with_name(f"{killed.name}.calls").read_text(encoding="utf-8").splitlines()[-1]]
    code, gate = provider.run("gate")  # the third shard is not run again, the fourth has never begun
    assert code == 1, provider.written
    assert provider.calls() - Counter(lost) == Counter(provider.calls().keys())
    assert len(provider.calls()) == 2 * COUNT
    results = gate / "reports" / "fairness.json"
    assert list(_judged(results)) == list(_judged(undisturbed.project / "reports" / "fairness.json"))
    assert (gate / "reports" / "junit.xml").exists()
    provider.attempt = 3
    before = provider.calls()
    assert provider.run("gate")[0] == 1  # a gate that is run again has all that it asked
    assert provider.calls() == before


@pytest.mark.slow
def test_action_requests_once_more_what_could_not_be_measured(tmp_path: Path, commands: Path) -> None:
    step = _step(yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"], "Gate")
    provider = Provider(CI / "github.yml", tmp_path / "runs", commands)
    failing = CONFTEST.replace(
        "    time.sleep", "    if CALLS.read_text().count(text) == 1: raise OSError(text)\n    time.sleep"
    )
    (provider.project / "conftest.py").write_text(failing, encoding="utf-8")
    output = tmp_path / "output"
    environment = {"MODEL": "prod", "SUITES": "suites", "ARGUMENTS": "-k 'not few' -q", "GITHUB_OUTPUT": str(output)}
    environment |= {"GITHUB_RUN_ID": "7"}
    assert provider._shell(step["run"], provider.project, environment) == 0, provider.written
    assert output.read_text(encoding="utf-8") == "code=0\n"
    assert provider.written.index("release: invalid") < provider.written.index("release: fair so far")


GH = """\
#!/usr/bin/env python3
import json, os, subprocess, sys
from pathlib import Path
arguments = sys.argv[1:]
page = Path(os.environ["COMMENTS"])
comments = json.loads(page.read_text()) if page.exists() else []
if "--paginate" in arguments:
    query = arguments[arguments.index("--jq") + 1]
    sys.exit(subprocess.run(["jq", "--raw-output", query], input=json.dumps(comments), text=True).returncode)
method, address = arguments[arguments.index("--method") + 1 :][:2]
body = Path(arguments[arguments.index("--field") + 1].removeprefix("body=@")).read_text()
if method == "POST":
    assert address == "repos/us/app/issues/5/comments"
    comments.append({"id": 40 + len(comments), "user": {"login": "github-actions[bot]"}, "body": body})
else:
    (comment,) = [comment for comment in comments if address == f"repos/us/app/issues/comments/{comment['id']}"]
    comment["body"] = body
page.write_text(json.dumps(comments))
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("jq") is None, reason="the runners of GitHub have jq")
def test_pull_request_has_one_comment_of_the_newest_run(tmp_path: Path, commands: Path) -> None:
    provider = Provider(CI / "github.yml", tmp_path / "runs", commands)
    step = _step(provider.content["jobs"]["gate"], "Comment")
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(GH, encoding="utf-8")
    gh.chmod(0o755)
    comments = tmp_path / "comments.json"
    others = [
        {"id": 1, "user": {"login": "somebody"}, "body": "<!-- pytest-fairness --> is not mine"},
        {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "coverage: 90%"},
    ]
    comments.write_text(json.dumps(others), encoding="utf-8")
    judge = "pytest suites --fairness-model prod --fairness-json reports/fairness.json"
    environment = {
        "COMMENTS": str(comments),
        "GITHUB_REPOSITORY": "us/app",
        "PULL_REQUEST": "5",
        "JOB_URL": "https://x",
    }
    for commit in ("a1", "b2"):
        assert provider._shell(judge, provider.project, {"CI": "true"}) == 1, provider.written
        command = f"export PATH={gh.parent}:$PATH\n{step['run']}"
        assert provider._shell(command, provider.project, environment | {"COMMIT": commit}) == 0, provider.written
        *unchanged, comment = json.loads(comments.read_text(encoding="utf-8"))
        assert unchanged == others
        assert comment["body"].startswith(f"<!-- pytest-fairness -->\nCommit {commit}, [report and log](https://x)\n")
        assert "release: unfair" in comment["body"]
        assert len(comment["body"]) < 65_536


def _step(job: dict[str, Any], name: str) -> dict[str, Any]:
    (step,) = [step for step in job["steps"] if step.get("name") == name]
    return dict(step)


def _commands(content: dict[str, Any], job: str) -> list[str]:
    definition = content.get("jobs", content)[job]
    return (
        definition["script"]
        if "script" in definition
        else [step["run"] for step in definition["steps"] if "run" in step]
    )
