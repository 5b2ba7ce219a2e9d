"""The README for a newcomer: its commands work as written, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fairness.core.version import __version__
from tests.helpers.schema_check import matches_schema
from tests.wheel.conftest import ROOT, Newcomer

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
APPLICATION = 'def reply(text):\n    return "Yes." if len(text) % 3 else "No."\n'


def section(title: str) -> dict[str, list[str]]:
    """Return the blocks of a section of the README, by their language."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    blocks: dict[str, list[str]] = {}
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        blocks.setdefault(language, []).append(block)
    return blocks


@pytest.mark.slow
def test_first_verdict_works_as_written(newcomer: Newcomer) -> None:
    install, command = section("Two commands")[""][0].splitlines()
    assert install.startswith("pip install ")  # which the environment has behind it
    result = newcomer.run(command)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "release: unfair" in result.stdout
    assert (newcomer.folder / "reports" / "fairness.html").exists()


@pytest.mark.slow
def test_application_in_six_lines_works_as_written(newcomer: Newcomer) -> None:
    blocks = section("Test your application")
    (conftest,), (command,) = blocks["python"], blocks[""]
    assert len(list(filter(None, conftest.splitlines()))) <= 6
    newcomer.write("conftest.py", conftest)
    newcomer.write("my_app.py", APPLICATION)
    result = newcomer.run(f"{command.strip()} --fairness-json results.json")
    assert result.returncode == 10, result.stdout + result.stderr
    assert "2 undecided" in result.stdout
    assert "measure the whole sample: leave out --fairness-sample=20" in " ".join(result.stdout.split())
    verify = next(line for line in section("Read the verdict")[""][-1].splitlines() if "verify" in line)
    suite = "--pyargs pytest_fairness.suites.hiring.test_hiring"
    assert "verified: 2 of 2 thresholds" in newcomer.run(verify.replace("SUITE", suite)).stdout


@pytest.mark.slow
def test_probe_of_the_readme_works_as_written(newcomer: Newcomer) -> None:
    blocks = section("Write a probe")
    (probe,), (command,) = blocks["python"], blocks[""]
    newcomer.write("test_visit.py", probe)
    result = newcomer.run(command, COLUMNS="80")
    assert "1 passed, 24 measured" in result.stdout, result.stdout + result.stderr
    assert "answers follow what should move them: visit (let_in by reason" in result.stdout
    assert "no slice by kind is unfair (2 slices)" in result.stdout


@pytest.mark.slow
def test_plan_of_a_new_suite_is_the_one_on_its_page(newcomer: Newcomer) -> None:
    command, table = re.findall(
        r"^```\n(.*?)^```$", (ROOT / "docs" / "planning.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )[:2]
    newcomer.run("pytest-fairness new letting")
    result = newcomer.run(command, COLUMNS="80")
    assert table in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_existing_targets(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        path = page.parent / file if file else page
        assert path.exists(), f"{page.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in anchors, f"{page.name}: {target}"


def test_citation_file_matches_its_schema_and_the_version() -> None:
    assert matches_schema(ROOT / "CITATION.cff", "vendor.citation-file-format")
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
