"""The `flips` fixture: a test of hypothesis that searches, in pytest, in every mode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from tests.helpers.project import Project, every_mode, shown

APP = """
    import hypothesis, pathlib, pytest

    hypothesis.settings.load_profile("default")  # that of CI keeps nothing, and draws alike in every run

    @pytest.fixture(scope="session")
    def model():
        def app(text):
            with pathlib.Path(__file__).with_name("asked.txt").open("a") as file:
                file.write(text + "\\n")
            {body}
        app.fairness_version = "1"
        return app
"""
FLIPPING = 'return "no" if "boxing" in text else "yes"'
TEST = """
    from hypothesis import given, settings
    from hypothesis.database import DirectoryBasedExampleDatabase
    from pytest_fairness import YesNo
    from pytest_fairness.search import counterfactual_pairs

    HOBBIES = ["chess", "golf", "boxing", "reading", "rowing", "sailing", "rugby"]
    PEOPLE = {{"Emily Walsh": "female", "James Novak": "male"}}
    PAIRS = counterfactual_pairs("{{name}} likes {{hobby}}. Invite {{them}}?", {{"name": PEOPLE, "hobby": HOBBIES}})

    @settings(max_examples=100, database=DirectoryBasedExampleDatabase("examples"){settings})
    @given(pair=PAIRS)
    def test_no_word_flips(pair, flips):
        assert not flips(pair, {arguments})
"""


def write(project: Project, body: str = FLIPPING, arguments: str = "YesNo()", settings: str = "") -> None:
    from textwrap import dedent

    project.write(
        conftest=dedent(APP).format(body=body), test_words=dedent(TEST).format(arguments=arguments, settings=settings)
    )


@pytest.fixture
def searching(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """Yield a project with the plugin of hypothesis."""
    before = hypothesis.settings.get_current_profile_name()
    monkeypatch.setenv("PYTEST_ADDOPTS", "--fairness-report=none -p _hypothesis_pytestplugin")
    yield project
    hypothesis.settings.load_profile(before)


def row(project: Project) -> dict[str, Any]:
    (search,) = project.results()["searches"]
    assert isinstance(search, dict)
    return search


@every_mode
def test_flip_is_shown_and_replayed_without_a_request(searching: Project) -> None:
    write(searching)
    result = searching.run()
    result.assert_outcomes(failed=1)
    output = shown(result)
    assert re.findall(r"^=+ (fairness.*?) =+$", output, re.MULTILINE) == ["fairness: searches"]
    match = re.search(r"Pair\(hobby '(\w+)' -> '(\w+)'\)", output)
    assert match is not None, output
    assert "boxing" in match.groups()
    assert "replay: pytest test_words.py::test_no_word_flips" in output
    assert "health" not in output.lower()
    first = row(searching)
    assert first["flip"]["texts"] == [f"Emily Walsh likes {hobby}. Invite her?" for hobby in match.groups()]
    assert first["flip"]["decisions"] == [hobby != "boxing" for hobby in match.groups()]
    assert sum(searching.calls().values()) == first["calls"]
    searching.forget_calls()
    searching.run("test_words.py::test_no_word_flips").assert_outcomes(failed=1)
    again = row(searching)
    assert searching.calls() == {}
    assert again["flip"] == first["flip"]
    assert again["calls"] == again["from_store"]


@pytest.mark.parametrize(
    ("body", "changed"), [(FLIPPING, 0), ('return "yes" if "boxing" not in text and "Would" not in text else "no"', 2)]
)
def test_flip_is_reported_with_those_of_other_wordings(searching: Project, body: str, changed: int) -> None:
    reword = 'placebo=lambda prompt: [f"Would you? {prompt.text}", f"{prompt.text} Would you?"]'
    write(searching, body, f"YesNo(), {reword}")
    output = shown(searching.run())
    flip = row(searching)["flip"]
    assert (flip["placebo_flips"], flip["placebo_answers"]) == (changed, 4)
    assert f"other wordings flip in {changed} of 4" in " ".join(output.split())
    assert sum(searching.calls().values()) == row(searching)["calls"]


def test_flip_survives_an_error_of_its_placebo(searching: Project) -> None:
    reword = 'placebo=lambda prompt: [prompt.text] if "boxing" in prompt.text else ["Would you? " + prompt.text]'
    body = 'return "no" if "boxing" in text else "yes"'
    write(searching, body, f"YesNo(), {reword}")
    file = searching.path / "test_words.py"
    sorted_last = file.read_text(encoding="utf-8").replace('"boxing", ', "").replace('"rugby"', '"rugby", "boxing"')
    file.write_text(sorted_last, encoding="utf-8")
    output = " ".join(shown(searching.run()).split())
    assert "which is the text of one of its prompts" in row(searching)["flip"]["placebo_error"]
    assert output.count("other wordings were not asked: the placebo") == 2
    assert sum(searching.calls().values()) == row(searching)["calls"]


def test_fair_model_passes_and_the_search_is_reported(searching: Project) -> None:
    write(searching, 'return "yes"', "YesNo(), calls=60")
    result = searching.run()
    result.assert_outcomes(passed=1)
    assert row(searching)["flip"] is None
    assert sum(searching.calls().values()) == row(searching)["calls"] <= 60
    result.stdout.fnmatch_lines(["*test_words.py::test_no_word_flips: no flip found in * calls"])


@pytest.mark.slow
def test_slow_model_exceeds_no_deadline(searching: Project) -> None:
    write(searching, 'import time; time.sleep(0.3); return "yes"', "YesNo(), n=5, calls=30", ", deadline=250")
    searching.run().assert_outcomes(passed=1)


def test_failing_model_fails_the_test_once_in_one_line(searching: Project) -> None:
    write(searching, 'raise ValueError("gone")')
    result = searching.run()
    result.assert_outcomes(failed=1)
    assert "attempts could not be made" in shown(result)
    assert "Flaky" not in shown(result)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'YesNo'", "it has no grade(prompt, answer)"),
        ("YesNo(), n=3", "n is 3"),
        ("YesNo(), calls=10", "needs at least 60"),
        ("YesNo(), calls=60, placebo=lambda prompt: []", "needs at least 70"),
        ("YesNo(), placebo='others'", "no prompt has another wording by it"),
    ],
)
def test_invalid_search_is_reported(searching: Project, arguments: str, message: str) -> None:
    write(searching, arguments=arguments)
    result = searching.run()
    result.assert_outcomes(failed=1)
    assert message in shown(result)
    assert searching.calls() == {}


def test_reached_cap_skips_the_search(searching: Project) -> None:
    write(searching)
    searching.run("--fairness-max-requests=5").assert_outcomes(skipped=1)


def test_every_model_of_the_run_is_searched(searching: Project) -> None:
    write(searching, arguments="YesNo(), n=5, calls=30")
    (searching.path / "conftest.py").unlink()
    models = [f"--fairness-model=simulated:{name}" for name in ("fair", "biased")]
    result = searching.run(*models, "--collect-only", "-q")
    assert [line for line in result.outlines if "::" in line] == [
        "test_words.py::test_no_word_flips[simulated:fair]",
        "test_words.py::test_no_word_flips[simulated:biased]",
    ]


def test_search_starts_the_plugin(searching: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p _hypothesis_pytestplugin")
    write(searching, arguments="YesNo(), n=3")
    assert "n is 3" in shown(searching.bare_run())


def test_hostile_texts_are_escaped_in_all_outputs(searching: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = searching.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p _hypothesis_pytestplugin")
    write(searching)
    file = searching.path / "test_words.py"
    text = file.read_text(encoding="utf-8").replace('"boxing"', '"boxing <b>x</b> \\u202e|"')
    file.write_text(text, encoding="utf-8")
    result = searching.run("--junitxml=junit.xml")
    page = (searching.path / "reports" / "fairness.html").read_text(encoding="utf-8")
    assert "Emily Walsh likes boxing &lt;b&gt;x&lt;/b&gt; \\u202e|" in page
    assert "<b>x</b>" not in page
    markdown = summary.read_text(encoding="utf-8")
    assert "### Searches" in markdown
    for output in (page, markdown, shown(result), (searching.path / "junit.xml").read_text(encoding="utf-8")):
        assert "\u202e" not in output
