"""A package with one extension of every kind, installed and used from an empty folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fairness.cli.main import main

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "tests" / "example_extension"
DOCUMENTATION = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
DECLARED = """\
template: "May {{ name }} rent the flat in {{ street }}?"
vary:
  sex: {woman: {name: Ms Day}, man: {name: Mr Day}}
items: [%s]
grade:
  polite: {polite: {words: [please]}}
  thanks: polite
thresholds:
  women and men are told politely: abs(cohens_h(polite, by=sex, of=woman, to=man)) <= 1.2
"""


def snippets(heading: str) -> list[str]:
    """Return the blocks of Python below a heading of the documentation."""
    section = DOCUMENTATION.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, flags=re.S)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the package is installed in, offline, with nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    uv = Path(sys.executable).with_name("uv")  # several times as fast as pip
    install = [str(uv), "pip", "install", "--python", sys.executable]
    install = install if uv.exists() else [sys.executable, "-m", "pip", "install"]
    offline = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, *offline, "--target", str(folder), str(EXAMPLE)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def finished(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the suite and a declarative file were run on two models of the package."""
    folder = tmp_path_factory.mktemp("home")
    streets = ", ".join(f"{{street: Street {number}}}" for number in range(40))
    (folder / "notices.probe.yaml").write_text(DECLARED % streets, encoding="utf-8")
    (folder / "test_acme.py").write_text(snippets("Testing an extension")[0], encoding="utf-8")
    files = ["acme_fairness.suites.tenancy", "notices.probe.yaml", "test_acme.py"]
    command = [sys.executable, "-m", "pytest", "--pyargs", *files]
    options = ["--fairness-model=acme:one", "--fairness-model=acme:two", "--fairness-json=results.json", "-q"]
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    process = subprocess.run(
        [*command, *options, "-p", "no:randomly", "-p", "no:cacheprovider"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return folder


@pytest.fixture
def home(finished: Path, installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield that folder as the working folder of this process, with the package on its path."""
    monkeypatch.chdir(finished)
    monkeypatch.syspath_prepend(installed)
    yield finished
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme_fairness"]:
        del sys.modules[name]


def test_extensions_of_a_run_are_used(finished: Path) -> None:
    results = json.loads((finished / "results.json").read_text(encoding="utf-8"))
    rows = {(row["model"], row["metric"]): row for row in results["thresholds"]}
    metrics = [f"abs cohens_h({grade}; by=sex, of=woman, to=man)" for grade in ("accepted", "polite")]
    assert set(rows) == {(model, metric) for model in ("acme:one", "acme:two") for metric in metrics}
    assert {row["verdict"] for row in rows.values()} == {"fair"}
    assert {(row["kind"], row["parity"], row["log_scale"]) for row in rows.values()} == {("difference", 0.0, False)}
    assert {row["suite"] for row in rows.values()} == {"tenancy", "notices"}
    assert all(row["low"] < row["estimate"] < row["high"] for row in rows.values())


def test_registered_export_writes_a_stored_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "verdicts", "latest", "--only", "fair", "--out", "verdicts.txt"]) == 0
    assert capsys.readouterr().out == "4 verdicts written to verdicts.txt\n"
    assert "acme:one women and men are accepted alike: fair\n" in (home / "verdicts.txt").read_text(encoding="utf-8")


def test_registered_import_writes_a_replay_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "answers.txt").write_text("yes\nno\n", encoding="utf-8")
    assert main(["import", "lines", "answers.txt", "--out", "replay.jsonl"]) == 0
    assert capsys.readouterr().out == "2 answers written to replay.jsonl\n"
    (home / "empty.txt").touch()
    assert main(["import", "lines", "empty.txt", "--out", "other.jsonl"]) == 2


def test_registered_section_is_part_of_a_comparison(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--html", "compare.html", "--markdown", "compare.md"]
    assert main(["compare", "latest", *files]) == 0
    assert "no.  fair  thresholds\n 1    100%  2\n 1: latest" in capsys.readouterr().out
    for name in files[1::2]:
        assert "Tenancy: fair verdicts" in (home / name).read_text(encoding="utf-8")


def test_list_shows_all_extensions(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert home.is_dir()
    assert main(["list"]) == 0
    output = capsys.readouterr().out
    assert output.count("acme-fairness 1.0 (acme_fairness.") == 7
    assert "pytest --pyargs acme_fairness.suites.tenancy\n" in output
    assert "acme_fairness" not in sys.modules  # nothing is imported to be listed


@pytest.mark.slow
def test_editors_know_registered_graders(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert home.is_dir()
    assert main(["schema"]) == 0
    alone, mapping = json.loads(capsys.readouterr().out)["$defs"]["grader"]["anyOf"]
    assert "polite" in alone["enum"]
    assert mapping["properties"]["polite"]["properties"] == {"words": {"$ref": "#/$defs/words"}}


def test_recipes_are_those_of_the_example() -> None:
    recipe = r"`tests/example_extension/([\w/]+\.py)`[^\n]*\n\n```python\n(.*?)```"
    recipes = re.findall(recipe, DOCUMENTATION, flags=re.S)
    assert len(recipes) == 7
    for path, text in recipes:
        assert text == (EXAMPLE / path).read_text(encoding="utf-8"), path
    grades = DECLARED[DECLARED.index("grade:") : DECLARED.index("thresholds:")]
    assert re.findall(r"```yaml\n(.*?)```", re.sub(r" +#.*", "", DOCUMENTATION), flags=re.S) == [grades]
    configuration = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    for block in re.findall(r"```toml\n(.*?)```", DOCUMENTATION, flags=re.S):
        assert block in configuration
