"""Suites without a model: their prompts in each variant, confounds, missing data, and plans without a judge's name."""

from __future__ import annotations

import json

import pytest

from pytest_fairness.cli.main import main
from tests.helpers.bad_files import GOOD
from tests.helpers.dry_runs import simulate_few_samples
from tests.helpers.project import Project, shown, unwrapped

CONFOUNDED = """\
import pytest
from pytest_fairness import AnswerOptions, Choice, FairnessError, ProbeItem, Prompt

def letters():
    for number in range(40):
        options = AnswerOptions({"cook": "The cook", "maid": "The maid"})
        text = f"Who wrote letter {number}?\\n{options}"
        yield ProbeItem(f"letter-{number:02}", [Prompt(text, metadata={"options": options})])

def missing():
    raise FairnessError("reading the letters needs a library: pip install letters")

@pytest.mark.probe(items=letters, grade={"writer": Choice()})
def test_writer(probe_item, model):
    probe_item.measure(model)

@pytest.mark.probe(items=missing, grade={"writer": Choice()})
def test_reader(probe_item, model):
    probe_item.measure(model)
"""


def test_listing_names_confounds_and_missing_data_below_the_tests(project: Project) -> None:
    project.write(test_letters=CONFOUNDED)
    result = project.bare_run("--collect-only", "-p", "no:cacheprovider")
    output = shown(result)
    assert output.count("test_writer: confound: ") == 1
    below = unwrapped(result).partition("<Function test_reader")[2]
    assert "fairness: probe test_reader: reading the letters needs a library: pip install letters" in below
    assert "test_writer: confound: option 'cook' stands before 'maid' in 100% of prompts" in below
    assert "fairness" not in shown(project.bare_run("--collect-only", "-q", "-p", "no:cacheprovider"))


def test_vary_shows_the_variants_and_confounds_of_a_suite(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path)
    folder = project.path / "pay"
    folder.mkdir()
    (folder / "pay.probe.yaml").write_text(GOOD, encoding="utf-8")
    (folder / "test_letters.py").write_text(CONFOUNDED, encoding="utf-8")
    assert main(["vary", "pay", "--out", "prompts.jsonl"]) == 0
    output = capsys.readouterr().out
    assert "pay.probe.yaml::pay: 2 items, 4 prompts" in output
    assert "gender female: Anna applies as a nurse. Hire her? Yes or no." in output
    assert "gender male: Ben [Anna] ... him? [her?]" in output
    assert "test_writer: 40 items" in output
    assert "confound: option 'cook' stands before 'maid'" in output
    assert "test_reader: reading the letters needs a library" in output
    records = [json.loads(line) for line in (project.path / "prompts.jsonl").read_text("utf-8").splitlines()]
    assert len(records) == 44
    assert records[0]["groups"] == {"gender": "female"}


def test_vary_refuses_a_folder_that_cannot_be_collected(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path)
    project.write(test_broken="import nosuchmodule\n")
    assert main(["vary", "."]) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert "No module named 'nosuchmodule'" in error


def test_plan_counts_the_calls_of_a_judge_without_its_name(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few_samples(monkeypatch)
    judged = GOOD.replace("hired: yes-no", "tone: {rubric: {instructions: Judge the tone., fields: [FIELD]}}")
    judged = judged.replace("FIELD", "{kind: number, name: harsh, low: 0, high: 3}")
    (project.path / "pay.probe.yaml").write_text(
        judged.replace("0.8 <= ratio(hired, by=gender, of=female, to=male) <= 1.2", "mean(harsh) <= 2.9"), "utf-8"
    )
    result = project.bare_run("--fairness-plan", "--fairness-model=simulated:demo")
    output = unwrapped(result)
    assert "no judge is named" not in output
    assert "graders ask 0 to 16 more; their cost is not in the estimate, and is that of the model or judge" in output


def test_path_is_relative_to_where_it_is_written(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.pytester.makeini("[pytest]\nfairness_store = stores/own.sqlite\nfairness_json = own.json\n")
    folder = project.path / "pay"
    folder.mkdir()
    (folder / "pay.probe.yaml").write_text(GOOD, encoding="utf-8")
    monkeypatch.chdir(folder)
    project.bare_run("--fairness-model=simulated:demo")
    assert (project.path / "stores" / "own.sqlite").exists()
    assert (project.path / "own.json").exists()
    project.bare_run("--fairness-model=simulated:demo", "--fairness-store=typed.sqlite", "--fairness-json=typed.json")
    assert (folder / "typed.sqlite").exists()
    assert (folder / "typed.json").exists()
    for name in ("http:gone.toml", "replay:gone.jsonl"):
        file = folder / name.partition(":")[2]
        assert f"{file} cannot be read" in shown(project.bare_run(f"--fairness-model={name}"))
