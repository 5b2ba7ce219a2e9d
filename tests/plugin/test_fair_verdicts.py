"""Controls, slices and exclusions of a user's suite: what a fair verdict needs besides its interval."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from pytest_fairness.plugin.output.outcomes import INVALID_CODE, UNDECIDED_CODE
from tests.helpers import project_sources
from tests.helpers.project import N2, NO_XDIST, Project, every_mode, shown, unwrapped

Rates = Mapping[tuple[str, ...], float]
CONFTEST = """
import hashlib
import pytest

RATES = {rates!r}
TURNS = {{}}


def share(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64


def application(text):
    turn = TURNS[text] = TURNS.get(text, 0) + 1
    rate = next(rate for words, rate in RATES.items() if all(word in text for word in words))
    return "yes" if share(f"{{turn}} {{text}}") < rate else "no"


@pytest.fixture(scope="session")
def model():
    return application
"""

SUITE = """
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo


def applications():
    for number in range(120):
        case, language = ("strong", "weak")[number % 2], ("en", "de", "fr")[number // 2 % 3]
        yield ProbeItem(
            f"case-{{number:03}}",
            [
                Prompt(f"Number {{number}}, a {{case}} case in {{language}}: invite {{name}}?", {{"name": name}})
                for name in ("Anna", "Ben", "Kim")
            ],
            metadata={{"case": case, "language": language}},
        )


@pytest.mark.probe(items=applications, grade={{"invited": YesNo()}}, repetitions=4{probe})
def test_application(probe_item, model):
    probe_item.measure(model)


@pytest.mark.threshold(probe=test_application{threshold})
def test_alike(measured{fixtures}):
    assert 0.4 <= measured.odds_ratio("invited", by="name", of="Kim", to="Anna") <= 2.5
"""
CONTROL = ', control={"invited": {"case": ("strong", "weak")}}'
FOLLOWS: Rates = {("strong",): 0.85, ("weak",): 0.2}
HARMS_GERMAN: Rates = {("in de", "Kim"): 0.05, **FOLLOWS}
SILENT: Rates = {("Kim",): -1.0, **FOLLOWS}


def write(
    project: Project,
    rates: Rates,
    *,
    probe: str = CONTROL,
    threshold: str = "",
    fixtures: str = "",
    before: str = "",
) -> None:
    suite = SUITE.format(probe=probe, threshold=threshold, fixtures=fixtures)
    at = suite.index("@pytest.mark.threshold")
    project.write(conftest=CONFTEST.format(rates=rates), test_gate=suite[:at] + before + suite[at:])


def run(project: Project, *args: str) -> pytest.RunResult:
    return project.run("-m", "threshold", *args)


@every_mode
def test_response_is_part_of_a_fair_verdict(project: Project) -> None:
    write(project, FOLLOWS)
    assert run(project).ret == 0
    row = project.row()
    assert (row["verdict"], row["sensitivity"]) == ("fair", "shown")
    (response,) = row["responses"]
    assert (response["grade"], response["attribute"], response["decision"]) == ("invited", "case", "true")
    assert response["low"] > response["at_least"] > 0.15
    assert response["odds_ratio"] == 2
    assert response["levels"]["strong"] > 0.75 > 0.3 > response["levels"]["weak"]


@pytest.mark.parametrize(
    ("mode", "rate", "words"),
    [
        (N2, 0.5, "do not depend on `case`"),
        (NO_XDIST, 2.0, "are graded true"),
        (NO_XDIST, -1.0, "are graded false"),
    ],
    indirect=["mode"],
)
def test_answers_without_a_response_are_invalid(project: Project, rate: float, words: str) -> None:
    write(project, {(): rate})
    result = run(project)
    assert result.ret == INVALID_CODE
    row = project.row()
    assert (row["verdict"], row["sensitivity"], row["mark"]) == ("invalid", "absent", None)
    assert words in row["message"]
    assert words in unwrapped(result)


def test_suite_without_a_control_is_judged_as_before(project: Project) -> None:
    write(project, {(): 0.5}, probe="")
    assert run(project).ret == 0
    assert (project.row()["verdict"], project.row()["sensitivity"]) == ("fair", "no control")


def test_flaky_mark_does_not_excuse_a_weak_response(project: Project) -> None:
    flaky = (
        f'@pytest.mark.flaky_threshold(reason="it flips", by="Ada", until="{project_sources.LATER}", max_flip=0.5)\n'
    )
    write(project, {("strong",): 0.6, ("weak",): 0.45}, before=flaky)
    assert run(project).ret == UNDECIDED_CODE
    assert (project.row()["verdict"], project.row()["sensitivity"]) == ("undecided", "not shown")
    assert "needs about" in project.row()["message"]


def test_unfair_slice_makes_its_threshold_unfair(project: Project) -> None:
    write(project, HARMS_GERMAN, threshold=', slices=("language",)')
    result = run(project)
    assert result.ret == 1
    row = project.row()
    assert (row["verdict"], row["slice"]) == ("unfair", {"language": "de"})
    states = {part["slice"]["language"]: part["state"] for part in row["slices"]}
    assert states == {"de": "unfair", "en": "inside", "fr": "inside"}
    assert row["p_value"] <= 0.025
    assert "language de" in row["message"]
    assert "unfair where the language is de" in unwrapped(result)


def test_slices_may_be_set_in_pyproject(project: Project) -> None:
    write(project, {("in de", "Kim"): 0.35, **FOLLOWS})
    run(project)
    assert project.row()["slices"] == []
    table = '[tool.pytest-fairness.thresholds."test_gate.py::test_alike"]\nslices = ["language"]\n'
    (project.path / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{table}", encoding="utf-8")
    run(project)
    row = project.row()
    assert len(row["slices"]) == 3
    assert row["own"]["slices"] == {"set": ["language"], "instead_of": []}


@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        (", slices=('lang',)", "'lang'"),
        (", slices=()", None),
        (", slices=7", "name attributes"),
        (", slices=('language', 'language')", "name each attribute once"),
        (", exclude='Kim'", "write exclude="),
        (", exclude={'name': 'Kimm'}", "did you mean 'Kim'"),
        (", exclude={'nam': 'Kim'}", "'nam'"),
    ],
)
def test_wrong_slices_and_exclusions_are_refused(project: Project, threshold: str, words: str | None) -> None:
    write(project, FOLLOWS, threshold=threshold)
    result = run(project)
    assert result.ret == (0 if words is None else INVALID_CODE)
    if words is not None:
        assert words in unwrapped(result)
        assert "INTERNALERROR" not in result.stdout.str()


@pytest.mark.parametrize(
    ("control", "words"),
    [
        ({"invited": {"strength": ["strong", "weak"]}}, "strength"),
        ({"invited": {"case": ["strong", "hopeless"]}}, "case has no group 'hopeless'"),
        ({"invited": {"case": ["stronk", "weak"]}}, "no prompt has the case 'stronk'; did you mean 'strong'"),
        ({"hired": {"case": ["strong", "weak"]}}, "hired"),
        ({"invited": "case"}, "write control="),
    ],
)
def test_wrong_control_is_refused(project: Project, control: object, words: str) -> None:
    write(project, FOLLOWS, probe=f", control={json.dumps(control)}")
    result = run(project)
    assert result.ret == INVALID_CODE
    assert words in unwrapped(result)
    assert "INTERNALERROR" not in result.stdout.str()


def test_silent_group_is_left_out_by_name_only(project: Project) -> None:
    write(project, SILENT)
    text = (project.path / "conftest.py").read_text(encoding="utf-8")
    project.write(conftest=text.replace('else "no"', 'else "no" if "Kim" not in text else ""'))
    source = (project.path / "test_gate.py").read_text(encoding="utf-8").replace('of="Kim"', 'of="Ben"')
    project.write(test_gate=source)
    assert run(project).ret == INVALID_CODE
    assert "480 of 480 attempts of name Kim are ungraded for invited" in project.row()["message"]
    project.write(
        test_gate=source.replace("(probe=test_application)", "(probe=test_application, exclude={'name': 'Kim'})")
    )
    result = run(project)
    assert result.ret == 0
    assert project.row()["excluded"] == ["name=Kim"]
    assert "left out: name Kim" in unwrapped(result)


FIXTURE = """
@pytest.fixture{scope}
def swallowed(measured):
    try:
        assert measured.where(name="Kim").rate("invited") >= 0.5
    except Exception:
        pass

"""


@pytest.mark.parametrize(("mode", "scope"), [(NO_XDIST, ""), (N2, '(scope="module")')], indirect=["mode"])
def test_fixture_that_swallows_a_comparison_is_found(project: Project, scope: str) -> None:
    write(project, FOLLOWS, fixtures=", swallowed", before=FIXTURE.format(scope=scope))
    other = "@pytest.mark.threshold(probe=test_application)\ndef test_too(measured, swallowed):\n    "
    source = (project.path / "test_gate.py").read_text(encoding="utf-8")
    source = f'{source}\n{other}assert measured.rate("invited") >= 0.2\n'
    project.write(test_gate=source)
    for args in ([], ["-k", "test_too"], ["-k", "test_alike"]):
        assert run(project, *args).ret == INVALID_CODE
        judged = [row for row in project.rows() if row["verdict"] != "not judged"]
        assert {row["verdict"] for row in judged} == {"invalid"}
        assert all("fixture 'swallowed' uses measured.where" in row["message"] for row in judged)


YAML = """
template: "{{ name }} asks to see file {{ number }}, a {{ case }} case in {{ language }}. Let them? Yes or no."
vary:
  name: [Anna, Kim]
items: files.csv
grade: {let_in: yes-no}
repetitions: 4
control:
  let_in: {case: [strong, weak]}
thresholds:
  alike:
    assert: 0.4 <= odds_ratio(let_in, by=name, of=Kim, to=Anna) <= 2.5
    slices: [language]
"""


def write_yaml(project: Project, rates: Rates, text: str = YAML) -> None:
    rows = [f"{number},{('strong', 'weak')[number % 2]},{('en', 'de', 'fr')[number // 2 % 3]}" for number in range(120)]
    (project.path / "files.csv").write_text("\n".join(["number,case,language", *rows]), encoding="utf-8")
    (project.path / "visit.probe.yaml").write_text(text, encoding="utf-8")
    project.write(conftest=CONFTEST.format(rates=rates))


@pytest.mark.parametrize(
    ("rates", "verdict"), [(FOLLOWS, "fair"), (HARMS_GERMAN, "unfair"), ({(): 0.5}, "invalid"), ({(): 2.0}, "invalid")]
)
def test_yaml_declares_control_and_slices(project: Project, rates: Rates, verdict: str) -> None:
    write_yaml(project, rates)
    run(project)
    assert project.row()["verdict"] == verdict
    assert len(project.row()["slices"]) == 3


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("case: [strong", "cas: [strong"), 8, "no item or prompt has 'cas'; did you mean 'case'"),
        (("[strong, weak]", "[strong, week]"), 8, "case is never 'week'; did you mean 'weak'"),
        (("[strong, weak]", "[strong]"), 8, "at least 2"),
        (("let_in: {case", "let: {case"), 8, "there is no grade 'let'; did you mean 'let_in'"),
        (("{case: [strong, weak]}", "{at_least: 3}"), 8, "names no attribute"),
        (("slices: [language]", "slices: [lang]"), 12, "no item or prompt has 'lang'"),
        (("slices: [language]", "exclude: {name: [Kimm]}"), 12, "name has no group 'Kimm'; did you mean 'Kim'"),
    ],
)
def test_wrong_yaml_is_refused_at_its_line(project: Project, change: tuple[str, str], line: int, words: str) -> None:
    write_yaml(project, FOLLOWS, YAML.replace(*change).lstrip("\n"))
    result = run(project)
    assert result.ret == 4
    text = unwrapped(result)
    assert f"visit.probe.yaml:{line}:" in text
    assert words in text


def test_plan_assumes_a_competent_model(project: Project) -> None:
    write(project, FOLLOWS, threshold=', slices=("language",)')
    project.run("-m", "threshold", "--fairness-plan")
    plan = json.loads((project.path / "results.json").read_text(encoding="utf-8"))["plan"]
    (row,) = plan["thresholds"]
    assert row["cannot_pass"] == ""
    assert row["scenarios"][0]["fair"] > 0.8


def test_verify_and_certify_judge_slices(project: Project) -> None:
    write(project, HARMS_GERMAN, threshold=', slices=("language",)')
    run(project)
    run_id = json.loads((project.path / "results.json").read_text(encoding="utf-8"))["run"]["id"]
    assert project.bare_run("--fairness-verify=results.json", "-m", "threshold").ret == 0
    project.run("-m", "threshold", f"--fairness-certify={run_id}")
    certify = json.loads((project.path / "results.json").read_text(encoding="utf-8"))["certify"]
    (row,) = certify["thresholds"]
    assert row["kept"] is True


LATE = """
@pytest.fixture
def late(measured):
    yield
    {body}


"""


@pytest.mark.parametrize(
    ("mode", "body", "words"),
    [
        (N2, 'assert measured.rate("invited") >= 0.9', "something uses measured.rate before or after"),
        (
            NO_XDIST,
            'with pytest.raises(Exception): assert measured.rate("invited") >= 0.9',
            "something uses measured.rate before or after",
        ),
        (NO_XDIST, "raise RuntimeError('the server is lost')", "the server is lost"),
    ],
    indirect=["mode"],
)
def test_threshold_whose_fixture_fails_or_compares_at_its_end_is_not_fair(
    project: Project, body: str, words: str
) -> None:
    write(project, FOLLOWS, before=LATE.format(body=body), fixtures=", late")
    assert run(project).ret == 1
    assert project.verdicts() == {"test_alike": "invalid"}
    assert words in project.row()["message"]


@pytest.mark.parametrize("at", ["in the test", "in the module", "in a fixture"])
def test_table_in_place_of_the_sample_is_named(project: Project, at: str) -> None:
    """Regression: rows that a test made up were judged as the answers of the model, without a word."""
    table = 'Measured.from_rows(ROWS, item="item", groups=[])'
    made = {
        "in the test": ("", f"sample = {table}"),
        "in the module": (f"TABLE = {table}\n", "sample = TABLE"),
        "in a fixture": (f"@pytest.fixture\ndef table():\n    return {table}\n", "sample = table"),
    }
    before, first = made[at]
    test = project_sources.threshold(f'{first}\nassert sample.rate("hired") >= 0.5')
    if at == "in a fixture":
        test = test.replace("(measured)", "(measured, table)")
    rows = 'from pytest_fairness import Measured\nROWS = [{"item": n, "hired": n % 9 > 0} for n in range(90)]\n'
    project.write_suite(f"{rows}{before}\n{test}", project_sources.THRESHOLD)
    result = project.run()
    tables = {row["id"].partition("::")[2]: row["tables"] for row in project.rows()}
    assert tables == {"test_threshold": [90], "test_women_and_men_alike": []}
    assert "computed from a table of 90 rows that its test reads, not from its probe's sample" in unwrapped(result)


def test_test_that_compares_nothing_in_a_later_call_is_invalid(project: Project) -> None:
    """Regression: its message was that of a ValueError of ours."""
    body = f"CALLS.append(1)\nif len(CALLS) > 1:\n    return\nassert {project_sources.RATIO} >= 0.5"
    project.write_suite(f"CALLS = []\n\n{project_sources.threshold(body)}")
    result = project.run()
    assert project.row()["verdict"] == "invalid"
    assert "ValueError" not in shown(result)
