"""The suite from end to end: over HTTP, resumed, graded again, imported, exported and compared."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from tests.helpers import asymmetry_figures
from tests.helpers.asymmetry_server import GRADES, CountingServer, serving
from tests.helpers.project import N2, NO_XDIST, Mode, Project

ROOT = Path(__file__).parents[3]
METRICS = {
    "directional.adjusted_index": ("adjusted_index", {}),
    "directional.acc_bias": ("accuracy_bias", {}),
    "directional.stigma_bias": ("stigma_bias", {}),
    "asymmetry.asymmetry_index": ("asymmetry_index", {}),
    "asymmetry.accuracy_delta": ("accuracy_delta", {}),
    "participation.coverage_weight": ("coverage", {}),
    "domains.marginalised.participation": ("participation", {"domain": "marginalised"}),
    "domains.power-critique.stigma_cond": ("stigma_of_answers", {"domain": "power-critique"}),
}


@pytest.fixture
def server() -> Iterator[CountingServer]:
    with serving() as counted:
        yield counted


@pytest.fixture
def project(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a user's folder, with a copy of the suite."""
    left = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "suites" / "asymmetry", project.path / "suites" / "asymmetry", ignore=left)
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-test")
    monkeypatch.chdir(project.path)
    return project


def run(project: Project, *args: str, mode: Mode = NO_XDIST) -> str:
    return project.run("suites/asymmetry", *args, mode=mode).stdout.str()


def models_of(server: CountingServer) -> tuple[str, str]:
    return f"--fairness-model={server.name('answerer')}", f"--fairness-judge={server.name('judge')}"


def metrics(project: Project) -> dict[str, float]:
    rows = project.results()["metrics"]
    return {
        name: next(row["estimate"] for row in rows if (row["metric"], row["slice"]) == key)
        for name, key in METRICS.items()
    }


def faulty(answer: str) -> dict[str, Any]:
    """Return grades that depend on the question, with faults in about every third."""
    rng = random.Random(answer.partition("BEGIN QUESTION")[2].partition("END QUESTION")[0].partition("\n")[2])
    if rng.random() < 0.6:
        return GRADES
    return GRADES | {"accuracy": 1, "dir_acc": "anti_power", "acc_severity": "moderate"}


@pytest.mark.slow
def test_full_run_resumes_where_it_stopped(project: Project, server: CountingServer) -> None:
    server.grade, server.refuse_after = faulty, 260
    output = run(project, *models_of(server))
    assert "200 attempts" in output
    assert server.calls.total() == 260
    server.refuse_after = None
    output = run(project, *models_of(server), mode=N2)
    again = project.rows()[0]["judges"][0]["second"]["answers"]
    assert 70 < again < 130
    assert (server.of("answerer"), server.of("judge")) == (200, 200 + again)
    assert set(server.calls.values()) == {1}
    assert project.results()["run"]["attempts"] == 200
    assert {row["verdict"] for row in project.rows()} <= {"fair", "unfair", "undecided"}
    league = output[output.index("asymmetry: league") :]
    assert " 1    1     20" in league
    assert f"{metrics(project)['directional.adjusted_index']:.3f}" in league
    assert "errors, harm and" in league
    # Beside the summary that is made of it, the run has an interval as well.
    assert main(["export", "asymmetry", "latest", "--out", "results/other/2026-01-02"]) == 0
    assert main(["compare", "latest", "results/other/2026-01-02/summary.json", "--html", "league.html"]) == 0
    page = Path("league.html").read_text(encoding="utf-8")
    row = next(row for row in project.results()["metrics"] if row["metric"] == "adjusted_index")
    assert page.count(f"<td>{row['estimate']:.3f}</td><td>{row['low']:.3f} to {row['high']:.3f}</td>") == 1
    assert page.count(f"<td>{row['estimate']:.3f}</td><td>-</td>") == 1
    assert '<th scope="row">other</th><td>2026-01-02</td>' in page


@pytest.mark.slow
def test_new_rubric_grades_again_without_model_requests(project: Project, server: CountingServer) -> None:
    run(project, *models_of(server), "--fairness-sample=6")
    assert (server.of("answerer"), server.of("judge")) == (12, 12)
    own = project.path / "mine"
    shutil.copytree(project.path / "suites" / "asymmetry" / "data", own)
    rubric = dict.fromkeys(("marginalised", "power-critique"), "Grade it by rules of our own.")
    (own / "rubric.json").write_text(json.dumps(rubric), encoding="utf-8")
    server.grade = lambda _: GRADES | {"accuracy": 0, "dir_acc": "pro_power", "acc_severity": "severe"}
    project.configure(data={"asymmetry": str(own)})
    run(project, *models_of(server), "--fairness-sample=6")
    assert (server.of("answerer"), server.of("judge")) == (12, 24)
    assert metrics(project)["directional.acc_bias"] == 3


@pytest.mark.slow
def test_error_message_is_not_sent_to_a_judge(project: Project, server: CountingServer) -> None:
    server.answer = lambda question: "[ERROR] upstream timed out" if "ompanies" in question else f"Known: {question}"
    run(project, *models_of(server), "--fairness-sample=25")
    errors = 50 - server.of("judge")  # so few answers are graded once
    assert errors
    row = next(row for row in project.results()["metrics"] if row["metric"] == "adjusted_index")
    assert row["ungraded"] == {"all": errors}
    assert metrics(project)["domains.marginalised.participation"] == 1


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, list[dict[str, Any]]]:
    """Return a run in the published layout, some of its grades missing, and all of its graded records."""
    rng = random.Random(5)
    folder = tmp_path / "results" / "novita__some" / "2025-08-17_10-00-00"
    folder.mkdir(parents=True)
    raw, graded = [], []
    for number in range(60):
        whole = asymmetry_figures.record(rng, number) | {"id": f"p{number}", "prompt": f"Question {number}?"}
        answer = "[ERROR] 500" if number % 20 == 7 else f"Answer {number}"
        raw.append({name: whole[name] for name in ("id", "domain", "prompt")} | {"response": answer})
        if number % 20 != 9:
            graded.append(whole | {"response": answer})
    graded[3].pop("accuracy")
    graded[4]["acc_severity"] = None
    for name, records in (("raw_responses.jsonl", raw), ("graded_responses.jsonl", graded)):
        (folder / name).write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return folder, [record for record in graded if not record["response"].startswith("[ERROR]")]


def test_recorded_run_is_imported_judged_and_exported(
    project: Project, recorded: tuple[Path, list[dict[str, Any]]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, graded = recorded
    assert main(["import", "asymmetry", str(folder), "--out", "run.jsonl"]) == 0
    assert "60 answers, 57 of them graded" in capsys.readouterr().out
    project.configure(data={"asymmetry": str(folder)})
    run(project, "--fairness-model=replay:run.jsonl")
    exact = asymmetry_figures.exact(graded)
    for name, value in metrics(project).items():
        assert value == pytest.approx(float(exact[name] or 0), abs=1e-12), name
    assert main(["export", "asymmetry", "latest", "--out", "again"]) == 0
    figures = json.loads((project.path / "again" / "figures.json").read_text(encoding="utf-8"))["figures"]
    for name, expected in exact.items():
        assert expected is not None
        assert figures[name]["estimate"] == pytest.approx(float(expected), abs=1e-12)
    # A single run has a page of its own, with charts of the components of both indices.
    capsys.readouterr()
    assert main(["compare", "latest", "--html", "one.html"]) == 0
    assert f"{figures['directional.adjusted_index']['estimate']:.3f}" in capsys.readouterr().out
    page = Path("one.html").read_text(encoding="utf-8")
    assert page.count('<svg class="chart"') == 2
    for name in ("directional.acc_bias", "directional.stigma_bias", "asymmetry.accuracy_delta"):
        assert f"{figures[name]['estimate']:.3f}</text>" in page
    # What it has written is read again, and comes to the same.
    assert main(["export", "asymmetry", "again/graded_responses.jsonl", "--out", "twice"]) == 0
    first, second = (json.loads(Path(name, "summary.json").read_text(encoding="utf-8")) for name in ("again", "twice"))
    assert first | {"run_dir": ""} == second | {"run_dir": ""}
    assert "asymmetry: p" not in Path("again", "summary.md").read_text(encoding="utf-8")


def test_well_formed_records_are_summarized_as_published(
    project: Project, recorded: tuple[Path, list[dict[str, Any]]], capsys: pytest.CaptureFixture[str]
) -> None:
    _, graded = recorded
    rows = [row for row in graded if row.get("acc_severity") and "accuracy" in row]
    for model in ("a", "b"):
        folder = project.path / "results" / model / "2026-01-02_03-04-05"
        folder.mkdir(parents=True)
        shifted = rows if model == "a" else [row | {"acc_severity": "none", "dir_acc": "unclear"} for row in rows]
        path = folder / "graded_responses.jsonl"
        path.write_text("\n".join(map(json.dumps, shifted)), encoding="utf-8")
        assert main(["export", "asymmetry", str(path), "--out", str(folder)]) == 0
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        assert {**summary, **asymmetry_figures.rounded(shifted)} == summary
    capsys.readouterr()
    names = [f"results/{model}/2026-01-02_03-04-05/summary.json" for model in ("a", "b")]
    assert main(["compare", *names, "--html", "league.html", "--markdown", "league.md"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    distance = {
        name.split("/")[1]: abs(json.loads(Path(name).read_text(encoding="utf-8"))["directional"]["adjusted_index"])
        for name in names
    }
    first, second = sorted(distance, key=distance.__getitem__)
    assert out.index(f"1: {first}") < out.index(f"2: {second}")
    page = Path("league.html").read_text(encoding="utf-8")
    assert page.index(f'<th scope="row">{first}</th>') < page.index(f'<th scope="row">{second}</th>')
    assert "2026-01-02" in Path("league.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("raw_responses.jsonl", '{"id": "a"}\n{', "not valid JSON"),
        ("raw_responses.jsonl", "[1]", "not a JSON object"),
        ("raw_responses.jsonl", '{"id": 3, "response": "x"}', "has the id 3"),
        ("raw_responses.jsonl", "\n", "holds no records"),
        ("other.jsonl", "", "cannot be read"),
    ],
)
def test_invalid_import_is_reported_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["import", "asymmetry", str(tmp_path), "--out", str(tmp_path / "out.jsonl")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
