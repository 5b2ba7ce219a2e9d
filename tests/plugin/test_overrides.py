"""Bounds, scales, repetitions and confidence of the project's own, in place of those of a suite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fairness.cli import main
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.core.overrides import ONLY, BoundsOverride
from pytest_fairness.core.sealed_estimates import SealedEstimate, unsealed
from pytest_fairness.core.verdicts import Judgment, judge
from tests.helpers import project_sources
from tests.helpers.dry_runs import simulate_few_samples
from tests.helpers.project import Project, every_mode, failures, in_one_process, shown, unwrapped

PAIR = 'by="gender", of="woman", to="man"'
RATIO = f'measured.ratio("hired", {PAIR})'
ALIKE = project_sources.threshold(f"assert 0.8 <= {RATIO} <= 1.25", name="test_alike")
FAMILY = project_sources.threshold('assert measured.ratios("hired", by="gender") >= 0.8', name="test_all_alike")
TWO = project_sources.threshold(f'assert {RATIO} >= 0.8\nassert measured.rate("hired") >= 0.9', name="test_two")
MARKED = project_sources.threshold(f'assert {RATIO}.mark >= "B"', name="test_marked")
ROOT = Path(__file__).parents[2]
MODEL = "simulated:x?base=0.9&of=woman&ratio=0.6"
TABLE = 'tool.pytest-fairness.thresholds."{}"'
KEY = "suites/pay/test_pay.py::test_alike"


@pytest.fixture
def pay(project: Project) -> Project:
    """Return a suite on a model whose ratio of 0.6 is unfair by the suite's bounds."""
    folder = project.path / "suites" / "pay"
    folder.mkdir(parents=True)
    (folder / "test_pay.py").write_text(project_sources.suite(ALIKE, FAMILY, TWO, MARKED, count=240), encoding="utf-8")
    return project


def own(project: Project, **tables: str) -> None:
    """Write ``pyproject.toml`` with a table for each threshold."""
    text = "".join(f"[{TABLE.format(key)}]\n{body}\n" for key, body in tables.items())
    (project.path / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{text}", encoding="utf-8")


def measure(project: Project, *args: str) -> pytest.RunResult:
    return project.run(f"--fairness-model={MODEL}", "-m", "threshold", *args)


def verdicts(project: Project) -> dict[str, str]:
    return {row["threshold"]: row["verdict"] for row in project.rows()}


def row_of(project: Project, name: str) -> dict[str, object]:
    return next(row for row in project.rows() if row["threshold"] == name)


def test_overridden_bounds_decide_and_are_shown(pay: Project) -> None:
    measure(pay)
    before = verdicts(pay)
    assert {before[name] for name in ("alike", "all alike", "two")} == {"unfair"}
    assert all(row["own"] == {} for row in pay.rows())
    own(pay, **{KEY: "bounds = [0.5, 1.5]", "pay::test_all_alike": "bounds = [0.4, inf]"})
    result = measure(pay, "--fairness-report=page.html")
    assert verdicts(pay) == before | {"alike": "fair", "all alike": "fair"}
    alike = row_of(pay, "alike")
    assert alike["bounds"] == [0.5, 1.5]
    assert alike["own"] == {"bounds": {"set": [0.5, 1.5], "instead_of": [0.8, 1.25]}}
    assert row_of(pay, "all alike")["own"] == {"bounds": {"set": [0.4, None], "instead_of": [0.8, None]}}
    text = unwrapped(result)
    assert "0.5 to 1.5 (override)" in text
    assert "overridden in pyproject.toml: bounds 0.5 to 1.5 (suite: 0.8 to 1.25)" in text
    page = (pay.path / "page.html").read_text(encoding="utf-8")
    assert "Overridden in pyproject.toml: bounds 0.5 to 1.5 (suite: 0.8 to 1.25)" in page


def test_failure_names_the_overridden_bounds(pay: Project) -> None:
    own(pay, **{KEY: "bounds = [0.9, 1.1]"})
    result = measure(pay, "-k", "test_alike")
    (lines,) = failures(result).values()
    assert "outside 0.9 to 1.1" in " ".join(lines)
    assert "bounds overridden in pyproject.toml (suite: 0.8 to 1.25)" in " ".join(lines)


@pytest.mark.slow
def test_metric_bounds_scale_and_repetitions_are_overridden(pay: Project) -> None:
    two = 'bounds = {"ratio(hired; gender: woman/man)" = [0.5, inf], "rate(hired)" = [0.5, inf]}'
    scale = "scale = {A = [0.9, 1.1], B = [0.5, 2.0], C = [0.4, 3.0]}"
    own(pay, **{"pay::test_two": two, "pay::test_marked": f"{scale}\nrepetitions = 3\nconfidence = 0.9"})
    result = measure(pay)
    assert verdicts(pay) == {"alike": "unfair", "all alike": "unfair", "two": "fair", "marked": "fair"}
    of_probe = {"repetitions": {"set": 3, "instead_of": 1}, "confidence": {"set": 0.9, "instead_of": 0.95}}
    assert row_of(pay, "alike")["own"] == of_probe  # they are its probe's, so they hold for all of its thresholds
    assert {row["risk"] for row in pay.rows()} == {0.05}
    assert {row["sample"]["fairness_attempts"] for row in pay.rows()} == {1440}
    assert row_of(pay, "marked")["scale"] == {"A": [[0.9, 1.1]], "B": [[0.5, 2.0]], "C": [[0.4, 3.0]]}
    assert "3 repetitions (suite: 1)" in unwrapped(result)
    measure(pay, "--fairness-repetitions=2")  # what the command line says goes first
    assert {row["sample"]["fairness_attempts"] for row in pay.rows()} == {960}


@pytest.mark.slow
def test_certify_and_verify_use_overridden_bounds(pay: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_few_samples(monkeypatch)
    own(pay, **{KEY: "bounds = [0.5, 1.5]"})
    measure(pay, "-k", "test_alike")
    assert pay.bare_run("--fairness-verify=results.json").ret == 0
    args = (f"--fairness-model={MODEL}", "--fairness-certify=latest", "--fairness-json=certify.json")
    certified = pay.bare_run(*args, "-k", "test_alike")
    (row,) = json.loads((pay.path / "certify.json").read_text(encoding="utf-8"))["certify"]["thresholds"]
    assert row["truths"]["bound"]["value"] == pytest.approx(0.5), shown(certified)
    own(pay, **{KEY: "bounds = [0.6, 1.5]"})
    changed = pay.bare_run("--fairness-verify=results.json")
    assert changed.ret == 1
    assert "bounds are 0.6 to 1.5 now, 0.5 to 1.5 in the file" in unwrapped(changed)


@pytest.mark.parametrize(
    ("key", "body", "says"),
    [
        (
            "pay::test_alik",
            "bounds = [0.5, 1.5]",
            "no threshold is called 'pay::test_alik'; the nearest is 'pay::test_alike'",
        ),
        ("pai::test_alike", "bounds = [0.5, 1]", "'pai::test_alike'; the nearest is 'pay::test_alike'"),
        ("suites/pay/test_pay.py::alike", "bounds = [0, 1]", f"the nearest is '{KEY}'"),
        ("hiring::test_women_advance", "bounds = [0, 1]", "the nearest is 'hiring::test_women_and_men_advance_alike'"),
        ("pay::test_hiring", "bounds = [0, 1]", "no threshold is called 'pay::test_hiring'"),  # it is a probe
        (KEY, "bound = [0.5, 1.5]", "has no field 'bound'; did you mean 'bounds'?"),
        (KEY, "bounds = 0.7", "bounds is 0.7: write [LOW, HIGH]"),
        (KEY, "bounds = [1.5, 0.5]", "the first must be at most the second"),
        (KEY, "scale = {A = [0, 1]}", "scale is {'A': [0, 1]}: write {A = [LOW, HIGH]"),
        (KEY, "repetitions = 0", "repetitions is 0: it must be a whole number from 1 to 10,000"),
        (KEY, "confidence = 0.79", "confidence is 0.79: it must be a number from 0.8 to below 1"),
        (KEY, "confidence = 95", "confidence is 95: it must be a number from 0.8 to below 1"),
    ],
)
def test_malformed_override_table_is_an_error(pay: Project, key: str, body: str, says: str) -> None:
    own(pay, **{key: body})
    result = measure(pay)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in [*result.errlines, *result.outlines] if says in line]
    assert f"pyproject.toml:{2 if 'no threshold is called' in line else 3}: " in line


def test_nearest_name_is_not_the_refused_one(pay: Project) -> None:
    """Regression: of a file whose suite is its folder's name, the file's own name was proposed."""
    (pay.path / "suites" / "pay").rename(pay.path / "suites" / "wages")
    own(pay, **{"pay::test_alike": "bounds = [0.5, 1.5]"})
    says = "no threshold is called 'pay::test_alike'; the nearest is 'wages::test_alike'"
    assert says in unwrapped(measure(pay, "suites/wages"))


@every_mode
def test_override_of_an_unknown_threshold_fails_in_every_mode(pay: Project) -> None:
    own(pay, **{"pay::test_alik": "bounds = [0.5, 1.5]"})
    result = measure(pay)
    assert result.ret != 0
    assert "the nearest is 'pay::test_alike'" in shown(result)
    assert result.parseoutcomes().get("passed", 0) == 0


def test_ambiguous_threshold_id_is_an_error(pay: Project) -> None:
    other = pay.path / "more" / "pay"
    other.mkdir(parents=True)
    (other / "test_pay2.py").write_text(project_sources.suite(ALIKE, count=5), encoding="utf-8")
    own(pay, **{"pay::test_alike": "bounds = [0.5, 1.5]"})
    result = measure(pay)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "may be more/pay/test_pay2.py::test_alike or suites/pay/test_pay.py::test_alike" in shown(result)


@in_one_process
def test_overrides_of_uncollected_thresholds_are_no_error(pay: Project) -> None:
    bounds = "bounds = [0.5, 1.5]"
    names = (
        "pay::test_alike",
        "hiring::test_women_and_men_advance_alike",
        "bbq/test_pairs.py::test_ambiguous_pairs_get_one_answer",
    )
    other = pay.path / "suites" / "other"
    other.mkdir()
    (other / "test_other.py").write_text(project_sources.suite(FAMILY, count=5), encoding="utf-8")
    own(pay, **dict.fromkeys(names, bounds))
    result = measure(pay, "suites/other")
    assert "fairness" in shown(result)
    assert "no threshold is called" not in shown(result)
    assert list(verdicts(pay)) == ["all alike"]


@pytest.mark.parametrize("option", ["-c", "--rootdir"])
def test_overrides_outside_of_the_rootdir_are_an_error(pay: Project, option: str) -> None:
    own(pay, **{KEY: "bounds = [0.5, 1.5]"})
    other = pay.path / "ci"
    other.mkdir()
    (other / "other.ini").write_text("[pytest]\n", encoding="utf-8")
    argument = f"-c{other / 'other.ini'}" if option == "-c" else f"--rootdir={other}"
    result = measure(pay, argument, "suites")
    assert result.ret == pytest.ExitCode.USAGE_ERROR, shown(result)
    assert [line for line in result.errlines if line] == [
        (
            f"ERROR: {pay.path / 'pyproject.toml'}:2: {KEY!r} is not read, since the rootdir is {other}: "
            f"add --rootdir={pay.path}, or write it into {other / 'pyproject.toml'}"
        )
    ]
    assert not pay.store.exists()
    measure(pay, argument, "suites", f"--rootdir={pay.path}")
    assert verdicts(pay)["alike"] == "fair"
    (other / "pyproject.toml").write_text(f"[{TABLE.format(KEY)}]\nbounds = [0.9, 1.1]\n", encoding="utf-8")
    measure(pay, argument, "suites")
    assert verdicts(pay)["alike"] == "unfair"


@pytest.mark.slow
def test_option_path_that_moves_the_rootdir_is_refused(pay: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    own(pay, **{KEY: "bounds = [0.5, 1.5]"})
    outside = pay.path.parent / "outside"
    outside.mkdir()
    (outside / "answers.sqlite").touch()  # a path that exists: pytest takes it for tests
    monkeypatch.chdir(pay.path)
    result = measure(pay, "--fairness-store", "../outside/answers.sqlite")
    assert result.ret == pytest.ExitCode.USAGE_ERROR, shown(result)
    (line,) = [line for line in result.errlines if line]
    given = "--fairness-store ../outside/answers.sqlite"
    moved = f"made {pay.path.parent} the rootdir in place of {pay.path}"
    assert line == f"ERROR: {given} {moved}: write {given.replace(' ', '=')}"
    measure(pay, "--fairness-store=../outside/answers.sqlite")
    assert verdicts(pay)["alike"] == "fair"
    measure(pay, "suites", "--fairness-store", "../outside/answers.sqlite")
    assert verdicts(pay)["alike"] == "fair"


def test_unknown_table_is_an_error(pay: Project) -> None:
    text = '[tool.pytest.ini_options]\n[tool.pytest-fairness.threshold."pay::test_alike"]\nbounds = [0, 1]\n'
    (pay.path / "pyproject.toml").write_text(text, encoding="utf-8")
    result = measure(pay)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "[tool.pytest-fairness] has no 'threshold'; did you mean 'thresholds'" in shown(result)


@pytest.mark.slow
def test_shipped_suite_is_overridden_without_a_copy(project: Project) -> None:
    """Name one threshold by its suite, and one by its file."""
    keys = "hiring::test_women_and_men_advance_alike", "suites/hiring/test_hiring.py::test_no_ethnicity_is_left_behind"
    own(project, **{keys[0]: "bounds = [0.7, 1.4]", keys[1]: "bounds = [0.6, inf]"})
    suite = str(ROOT / "suites" / "hiring" / "test_hiring.py")
    run = ("--rootdir=.", "-c=pyproject.toml", "--import-mode=importlib", "--fairness-sample=6")
    chosen = ("-k", "women_and_men_advance or no_ethnicity")
    result = project.run(suite, *run, *chosen, "--fairness-model=simulated:x?base=0.6")
    overridden = {row["id"].rpartition("::")[2].partition("[")[0]: row["own"].get("bounds") for row in project.rows()}
    assert overridden["test_women_and_men_advance_alike"] == {"set": [0.7, 1.4], "instead_of": [2 / 3, 1.5]}, shown(
        result
    )
    assert overridden["test_no_ethnicity_is_left_behind"] == {"set": [0.6, None], "instead_of": [2 / 3, None]}


# Which comparison a bound stands for.

RHO = SealedEstimate(
    Estimate("ratio(hired; by: f/m)", "ratio", 0.75, 0.72, 0.78, error=0.015, items=100, family="ratio(hired; by)")
)
RATE = SealedEstimate(Estimate("rate(hired)", "rate", value=0.05, low=0.02, high=0.08, error=0.015, items=100))
INF = float("inf")


def both() -> None:
    assert RHO >= 0.8
    assert RATE <= 0.01


def judged(test: object, **spans: tuple[float, float]) -> Judgment:
    bounds = {ONLY if name == "only" else name: span for name, span in spans.items()}
    assert callable(test)
    return judge(test, bounds=BoundsOverride(bounds, "pyproject.toml:2"))


def test_unnamed_bounds_require_a_single_metric() -> None:
    judgment = judged(both, only=(0.7, 0.1))
    assert judgment.verdict == "invalid"
    assert judgment.reason.startswith("pyproject.toml:2: bounds may be for rate(hired) or ratio(hired; by): name which")
    assert judged(both, **{"ratio(hired; by)": (0.7, INF), "rate(hired)": (-INF, 0.1)}).verdict == "fair"
    assert judged(both, **{"rate(hired)": (-INF, 0.1)}).verdict == "unfair"  # the ratio keeps the suite's


@pytest.mark.parametrize(
    ("span", "says"),
    [
        ((0.7, 1.4), "the test sets none above: write inf"),
        ((-INF, 1.4), "the test bounds ratio(hired; by: f/m) below: give a number"),
    ],
)
def test_overridden_bounds_have_the_sides_of_the_test(span: tuple[float, float], says: str) -> None:
    def test() -> None:
        assert RHO >= 0.8

    judgment = judged(test, only=span)
    assert judgment.verdict == "invalid"
    assert says in judgment.reason


def test_several_bounds_on_one_side_cannot_be_overridden() -> None:
    def test() -> None:
        assert RHO >= 0.5
        assert RHO >= 0.6

    assert "with 0.5 and 0.6: one bound cannot stand for both" in judged(test, only=(0.7, INF)).reason


def test_override_of_a_negated_comparison_bounds_its_complement() -> None:
    def test() -> None:
        assert not RHO < 0.8

    assert judge(test).verdict == "unfair"
    judgment = judged(test, only=(0.7, INF))
    assert (judgment.verdict, judgment.bounds) == ("fair", (0.7, None))


def test_mark_comparison_takes_no_bounds() -> None:
    from pytest_fairness.core.marks import RATIOS

    def test() -> None:
        assert RHO.marked(RATIOS).mark >= "B"

    assert "the test compares a mark: set a scale, not bounds" in judged(test, only=(0.7, 1.4)).reason


def test_override_of_an_uncompared_metric_is_named() -> None:
    def test() -> None:
        assert RHO >= 0.7

    judgment = judged(test, **{"ratio(hired; bi)": (0.7, INF)})
    assert "the test does not compare 'ratio(hired; bi)'; did you mean 'ratio(hired; by)'" in judgment.reason


def test_overrides_apply_inside_thresholds_only() -> None:
    assert unsealed(RHO) >= 0.7
    assert not unsealed(RHO) >= 0.8


def test_exports_mark_overridden_bounds(pay: Project, capsys: pytest.CaptureFixture[str]) -> None:
    own(pay, **{KEY: "bounds = [0.5, 1.5]"})
    measure(pay, "-k", "test_alike")
    capsys.readouterr()
    assert (
        main.main(
            ["export", "every-eval-ever", "latest", "--store", str(pay.store), "--out", str(pay.path / "eee.json")]
        )
        == 0
    )
    log = (pay.path / "eee.json").read_text(encoding="utf-8")
    assert "0.5 to 1.5 (override)" in log
    assert "overridden in pyproject.toml: bounds 0.5 to 1.5" in log
