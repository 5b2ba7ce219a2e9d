"""Runs under a seal: what was moved after it is named, and never fair."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.seal_results import SEAL
from pytest_fairness.core.seals import Seal, SealedProbe, SealedThreshold, read_seal, seal_text
from pytest_fairness.core.source_digests import source_digest
from pytest_fairness.plugin.output.outcomes import UNDECIDED_CODE
from tests.helpers import project_sources
from tests.helpers.project import Project, every_mode, shown, unwrapped, with_workers

RATIO = project_sources.RATIO
FAIR = project_sources.threshold(f"assert LOW <= {RATIO} <= 1.6", name="test_ratio")
RATE = project_sources.threshold('assert measured.rate("hired") >= 0.3', name="test_rate")
MODEL = "--fairness-model=simulated:plain"
MOVES = {
    "LOW = 0.7": ("LOW = 0.6", "bounds: 'ratio(hired; gender: woman/man) >= 0.7' is sealed"),
    "probe=test_hiring)\ndef test_rate": ("probe=test_hiring, title='Rate')\ndef test_rate", "title: 'rate' is sealed"),
    "range(60)": ("range(61)", "items: '60 items: "),
    "YesNo()": ("Strict()", "graders: 'hired: YesNo "),
    "items=people,": (
        'items=people, repetitions=2, confidence=0.9, control={"hired": {"case": ("b", "a")}},',
        "sample: '60 items, 1 repetition, 120 attempts'",
    ),
    "probe=test_hiring)\ndef test_ratio": ("probe=test_hiring, slices=['part'])\ndef test_ratio", "slices: "),
}
"""A text of the suite, its replacement after the seal, and the words of the run about it."""
STRICT = """
class Strict(YesNo):
    fingerprint = "strict"
"""


def write(project: Project) -> str:
    items = project_sources.items().replace("groups={", 'metadata={"case": "ab"[number % 2], "part": "x"}, groups={')
    source = project_sources.suite("LOW = 0.7", FAIR, RATE, people=items)
    project.write(test_hiring=source)
    (project.path / "pytest.ini").write_text("[pytest]\naddopts = -p no:randomly\n", encoding="utf-8")
    return source


def seal(project: Project, *args: str) -> Path:
    project.pytester.chdir()
    assert main(["seal", ".", MODEL, *args]) == 0
    for name in ("test_hiring", "test_other"):
        sys.modules.pop(name, None)  # the next run reads it again
    return project.path / SEAL


def run(project: Project, *args: str) -> pytest.RunResult:
    return project.run("-m", "threshold", MODEL, *args)


@every_mode
def test_moved_bound_is_named_and_never_fair(project: Project) -> None:
    source = write(project)
    path = seal(project)
    first = run(project)
    assert first.ret == 0
    first.stdout.fnmatch_lines(["fairness: 1 probe, 60 items, 120 attempts on simulated:plain*"])
    assert [(row["verdict"], row["seal"]["differences"]) for row in project.rows()] == [("fair", []), ("fair", [])]
    after, words = MOVES["LOW = 0.7"]
    project.write(test_hiring=source.replace("LOW = 0.7", after))
    result = run(project)
    assert result.ret != 0
    assert words in unwrapped(result)
    line = path.read_text(encoding="utf-8").splitlines().index('id = "test_hiring.py::test_ratio"')
    (moved,) = [row for row in project.rows() if row["threshold"] == "ratio"]
    assert moved["verdict"] == "invalid"
    assert f"{SEAL}:{line})" in moved["seal"]["differences"][0]
    assert project.results()["release"][0]["verdict"] == "invalid"


@pytest.mark.slow
def test_every_moved_part_is_named_and_never_fair(project: Project) -> None:
    source = write(project)
    seal(project)
    moved = source.replace("def people", f"{STRICT}\n\ndef people")
    for before, (after, _) in MOVES.items():
        assert before in moved
        moved = moved.replace(before, after)
    project.write(test_hiring=moved)
    assert run(project).ret != 0
    rows = {row["threshold"]: row for row in project.rows()}
    assert {row["verdict"] for row in rows.values()} == {"invalid"}
    text = "; ".join(text for row in rows.values() for text in row["seal"]["differences"])
    for words in (*(words for _, words in MOVES.values()), "controls: ", "analysis: 'confidence 0.95'"):
        assert words in text


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), [("test_ratio", "test_ration"), (FAIR, "")])
def test_renamed_or_deleted_threshold_is_refused(project: Project, before: str, after: str) -> None:
    source = write(project)
    seal(project)
    project.write(test_hiring=source.replace(before, after))
    result = run(project)
    assert result.ret != 0
    assert f"{SEAL}:13: test_hiring.py::test_ratio is sealed, and test_hiring.py does not have it" in shown(result)
    assert not (project.path / ".fairness").exists()


@pytest.mark.slow
def test_smaller_sample_differs_from_the_seal(project: Project) -> None:
    write(project)
    seal(project)
    for option in ("--fairness-sample=40", "--fairness-where=case=a", "--fairness-profile=smoke"):
        assert run(project, option).ret != 0
        assert not {row["verdict"] for row in project.rows()} & {"fair"}, option


@pytest.mark.slow
def test_runs_against_the_seal_are_counted(project: Project) -> None:
    source = write(project)
    seal(project)
    project.write(test_hiring=source.replace("LOW = 0.7", "LOW = 0.6"))
    run(project)
    project.write(test_hiring=source)
    run(project)
    (row,) = [row for row in project.rows() if row["threshold"] == "ratio"]
    assert row["looks"]["run"] == 2


@pytest.mark.slow
def test_file_that_is_not_run_is_not_judged(project: Project) -> None:
    source = write(project)
    other = source.replace("def test_r", "def test_other_r")
    project.write(test_other=other)
    seal(project)
    result = run(project, "test_hiring.py")
    assert result.ret == UNDECIDED_CODE
    assert f"not judged under {SEAL}: 2 thresholds: run all of them to pass" in unwrapped(result)
    (line,) = project.results()["release"]
    assert (line["verdict"], line["fair"], sum(line["not_judged"].values())) == ("undecided", 2, 2)
    (project.path / "test_other.py").unlink()
    assert run(project).ret != 0


@pytest.mark.slow
@with_workers
def test_sealed_threshold_that_is_left_out_is_no_pass(project: Project) -> None:
    write(project)
    assert run(project, "-k", "ratio").ret == 0  # without a seal
    seal(project)
    assert run(project, "-k", "ratio").ret == UNDECIDED_CODE
    assert run(project).ret == 0


def test_code_of_a_parameter_is_sealed(project: Project) -> None:
    compared = 'assert measured.metric(total, hired="hired", span=(0, 99)) >= 3'
    parametrize = "@pytest.mark.parametrize('total', [hired])"
    test = project_sources.threshold(compared, name="test_total", marks=parametrize)
    test = f"def hired(s):\n    return s.hired\n\n\n{test.replace('(measured)', '(measured, total)')}"
    source = project_sources.suite(test, people=project_sources.items())
    project.write(test_hiring=source)
    (project.path / "pytest.ini").write_text("[pytest]\naddopts = -p no:randomly\n", encoding="utf-8")
    seal(project)
    project.write(test_hiring=source.replace("return s.hired", "return s.hired + 1"))
    assert run(project).ret != 0
    (row,) = project.rows()
    assert row["verdict"] == "invalid"
    (difference,) = row["seal"]["differences"]
    assert difference.startswith("code: ")


GRADER = """
class Word:
    def __init__(self, words):
        self.words = words

    def grade(self, prompt, answer):
        return Grade(self.words[0] in answer.text.lower())

"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Word(['yes'])", "Word(['no'])"),
        pytest.param("self.words[0] in", "self.words[0] not in", marks=pytest.mark.slow),
    ],
)
def test_grader_within_a_grader_is_sealed(project: Project, before: str, after: str) -> None:
    imports = "from pytest_fairness import Grade\nfrom pytest_fairness.graders import Conversation"
    grader = "Conversation(Word(['yes']), user=['Are you sure?'])"
    probe = project_sources.PROBE.replace("YesNo()", grader)
    test = project_sources.threshold('assert measured.rate("hired") >= 0.1', name="test_rate")
    source = project_sources.suite(test, people=f"{imports}\n{GRADER}\n{project_sources.items(10)}", probe=probe)
    project.write(test_hiring=source)
    (project.path / "pytest.ini").write_text("[pytest]\naddopts = -p no:randomly\n", encoding="utf-8")
    seal(project)
    run(project)
    assert [row["seal"]["differences"] for row in project.rows()] == [[]]
    assert before in source
    project.write(test_hiring=source.replace(before, after))
    assert run(project).ret != 0
    ((difference,),) = [row["seal"]["differences"] for row in project.rows()]
    assert difference.startswith("graders: 'hired: Conversation ")


def test_own_bounds_of_a_comparison_with_a_baseline_are_sealed(project: Project) -> None:
    compared = 'assert measured.against(baseline).rate("hired") >= -0.1'
    test = project_sources.threshold(compared, name="test_base").replace("(measured)", "(measured, baseline)")
    project.write(test_hiring=project_sources.suite(test, count=20))
    path = project.path / "pyproject.toml"
    path.write_text("[tool.pytest.ini_options]\naddopts = '-p no:randomly'\n", encoding="utf-8")
    run(project)
    baseline = f"--fairness-baseline={project.results()['run']['id']}"
    seal(project, baseline)
    run(project, baseline, "--fairness-fresh")
    assert [row["seal"]["differences"] for row in project.rows()] == [[]]
    with path.open("a", encoding="utf-8") as file:
        file.write("[tool.pytest-fairness.thresholds.'hiring::test_base']\nbounds = [-0.9, inf]\n")
    assert run(project, baseline, "--fairness-fresh").ret != 0
    (row,) = project.rows()
    assert row["verdict"] == "invalid"
    assert row["seal"]["differences"][0].endswith("'all: -0.9 to inf by pyproject.toml' is run")


def parts(**changes: object) -> tuple[SealedThreshold, SealedProbe]:
    """Return the parts of a threshold and of its probe, with changes of either."""
    threshold = {"id": "t.py::test", "title": "T", "probe": "p", "bounds": ("rate <= 0.1", "rate >= 0")}
    probe = {"id": "p", "items": "2 items: ab", "sample": ("2 items",), "graders": ("ok: YesNo 12",)}
    of_probe = {name: value for name, value in changes.items() if name in SealedProbe.__slots__}
    others = {name: value for name, value in changes.items() if name not in of_probe}
    return SealedThreshold(**{**threshold, **others}), SealedProbe(**{**probe, **of_probe})  # type: ignore[arg-type]


def test_seal_is_read_as_it_is_written(tmp_path: Path) -> None:
    threshold, probe = parts(title='ünï "x"\u202e', excluded=("gender=a\\b",), controls=("a\nb",))
    path = tmp_path / SEAL
    path.write_text(seal_text([probe], [threshold]), encoding="utf-8")
    seal = read_seal(path)
    assert isinstance(seal, Seal)
    assert seal.differences(threshold, probe) == []
    assert "\u202e" not in path.read_text(encoding="utf-8")
    moved = seal.differences(
        *parts(title=threshold.title, excluded=("gender=a\\b",), controls=("a\nc",), items="3 items: cd")
    )
    assert [text.partition(":")[0] for text in moved] == ["items", "controls"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[threshold]]\n", f"{SEAL}:1: the file has 'threshold': write [[probes]] and [[thresholds]] only"),
        ("[[thresholds]]\nid = 'a'\n", f"{SEAL}:1: an entry needs `title` and `probe`"),
        (
            "[[thresholds]]\nid = 'a'\ntitle = 'a'\nprobe = 'p'\nbounds = 3\n",
            f"{SEAL}:5: bounds is 3: it must be a list",
        ),
        ("thresholds = 3", "'thresholds' is no list of tables"),
        ("", "seals no threshold"),
        (2 * "[[probes]]\nid = 'p'\nitems = 'i'\n", f"{SEAL}:5: 'p' is at {SEAL}:1 too"),
    ],
)
def test_malformed_seal_is_refused_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / SEAL
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FairnessError) as refusal:
        read_seal(path)
    assert words in str(refusal.value)


LIMIT = 3
WEIGHTS = {"a": 1.0}


def weighted(value: float) -> float:
    return value * WEIGHTS["a"] + LIMIT


def compared(value: float) -> bool:
    return weighted(value) > 0


def test_code_digest_covers_the_functions_and_constants_used(monkeypatch: pytest.MonkeyPatch) -> None:
    sealed = source_digest([compared])
    WEIGHTS["b"] = 2.0  # as a cache is filled
    assert source_digest([compared]) == sealed
    monkeypatch.setitem(globals(), "LIMIT", 4)
    assert source_digest([compared]) != sealed
    monkeypatch.undo()
    monkeypatch.setitem(globals(), "weighted", test_seal_is_read_as_it_is_written)
    assert source_digest([compared]) != sealed
