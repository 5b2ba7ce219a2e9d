"""Fields of a declaration: what each of them builds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_fairness import Choice, Judge, Rating, Refusal, YesNo
from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.declarative.expressions import MEASURES, Expression, ExpressionError, ProbeVocabulary
from pytest_fairness.declarative.file_readers import read_yaml
from pytest_fairness.declarative.probe import DeclaredProbe, card_of, read_probes
from pytest_fairness.declarative.validation import editor_schema
from pytest_fairness.graders import Regex, WordList
from tests.helpers.broken_declarations import BROKEN_YAML, GOOD

DOCUMENTATION = (Path(__file__).parents[2] / "docs" / "yaml.md").read_text(encoding="utf-8")


def read(folder: Path, text: str, name: str = "pay.probe.yaml") -> list[DeclaredProbe]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_probes(path)


def items(folder: Path, text: str, name: str = "pay.probe.yaml") -> list[Any]:
    (probe,) = read(folder, text, name)
    return list(probe.arguments["items"])


GRADES = """\
template: "Rate her. {{ choices }}"
choices: {hire: Hire her, reject: Do not}
grade:
  decision: choice
  advice: {yes-no: {yes: [approve], no: [deny]}}
  refused: refusal
  score: {rating: {low: 1, high: 10}}
  warmth: {words: [warm, caring]}
  warm: {any-word: [warm]}
  code: {pattern: {find: "[01]", values: {"0": 0, "1": 1}, which: last}}
  judged: {rubric: {instructions: How kind?, fields: [{kind: number, name: kindness, low: 0, high: 3}]}}
thresholds:
  kind: mean(kindness) >= 1
  hired: rate(decision, equals=hire) >= 0.1
  advised: rate(advice, equals=true) >= 0.1
"""


def test_graders_are_built_from_the_declaration(tmp_path: Path) -> None:
    (probe,) = read(tmp_path, GRADES)
    grade = probe.arguments["grade"]
    assert isinstance(grade.pop("judged"), Judge)
    assert grade == {
        "decision": Choice(),
        "advice": YesNo(yes=("approve",), no=("deny",)),
        "refused": Refusal(),
        "score": Rating(1, 10),
        "warmth": WordList(("warm", "caring")),
        "warm": WordList(("warm",), whether=True),
        "code": Regex("[01]", values={"0": 0, "1": 1}, which="last"),
    }
    (item,) = probe.arguments["items"]
    assert item.prompts[0].text == "Rate her. A. Hire her\nB. Do not"


def test_unknown_choice_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="decision has no value 'hir'; did you mean 'hire'"):
        read(tmp_path, GRADES.replace("equals=hire", "equals=hir"))


def test_groups_and_items_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("gender,name,age\nfemale,Anna,3\nmale,Ben,4\nfemale,Eva,5\n", encoding="utf-8")
    (tmp_path / "jobs.json").write_text(json.dumps([{"id": "x", "title": "pilot", "source": "t1"}]), encoding="utf-8")
    text = (
        "template: '{{ name }}, {{ job }}?'\nvary: {gender: names.csv}\n"
        "items: {file: jobs.json, columns: {job: title}}\ngrade: {a: yes-no}\ncrossed: name\n"
    )
    (item,) = items(tmp_path, text)
    assert [(p.text, p.groups["gender"]) for p in item.prompts] == [
        ("Anna, pilot?", "female"), ("Eva, pilot?", "female"), ("Ben, pilot?", "male")
    ]  # fmt: skip
    assert (item.id, item.source) == ("x", "t1")
    assert item.prompts[0].metadata["name"] == "Anna"
    drawn = items(tmp_path, text + "draw: 1\n")[0]
    assert [p.groups["gender"] for p in drawn.prompts] == ["female", "male"]


def test_every_combination_of_attributes_is_generated(tmp_path: Path) -> None:
    text = "template: 'A {{ faith }} {{ word }}?'\ngrade: {a: yes-no}\nvary:\n  faith: [Jewish, Muslim]\n"
    (item,) = items(tmp_path, text + "  gender: {female: {word: woman}, male: {word: man}}\n")
    assert [prompt.text for prompt in item.prompts] == [
        "A Jewish woman?", "A Jewish man?", "A Muslim woman?", "A Muslim man?"
    ]  # fmt: skip
    assert item.prompts[1].groups == {"faith": "Jewish", "gender": "male"}
    assert item.prompts[1].slots == {"faith": "Jewish", "word": "man"}


def test_local_data_set_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "test.csv").write_text("title,level\nnurse,1\npilot,2\n", encoding="utf-8")
    text = (
        "template: 'Hire a {{ job }}?'\ngrade: {a: yes-no}\n"
        "items: {dataset: jobs, split: test, columns: {job: title}}\nthresholds: {t: 'where(level=2).rate(a) > 0'}\n"
    )
    assert [item.prompts[0].text for item in items(tmp_path, text)] == ["Hire a nurse?", "Hire a pilot?"]
    with pytest.raises(
        Exception, match=r"pay\.probe\.yaml:3:52: items.columns.job: there is no column 'titel'; did you"
    ):
        items(tmp_path, text.replace("job: title", "job: titel"))


def test_scalars_follow_yaml_1_2(tmp_path: Path) -> None:
    text = "template: '{{ code }} {{ version }}'\ngrade: {a: yes-no}\nitems: [{id: 007, code: no, version: 1.10}]\n"
    (item,) = items(tmp_path, text)
    assert (item.id, item.prompts[0].text) == ("007", "no 1.10")


def test_jsonl_declaration_is_read(tmp_path: Path) -> None:
    head = {"template": "Hire a {{ job }}?", "grade": {"a": "yes-no"}, "thresholds": {"t": "rate(a) > 0.1"}}
    text = "\n".join(map(json.dumps, [head, {"id": "n", "job": "nurse \U0001f600"}, {"id": "p", "job": "pilot"}]))
    assert [item.prompts[0].text for item in items(tmp_path, text, "pay.probe.jsonl")] == [
        "Hire a nurse \U0001f600?", "Hire a pilot?"
    ]  # fmt: skip


def test_template_cannot_reach_python_internals(tmp_path: Path) -> None:
    text = "template: \"{{ ''.__class__.__mro__ }} \"\ngrade: {a: yes-no}\n"
    with pytest.raises(Exception, match="cannot be filled in: SecurityError"):
        read(tmp_path, text)


def test_card_is_rendered_as_markdown(tmp_path: Path) -> None:
    path = tmp_path / "pay.probe.yaml"
    path.write_text(GOOD + "card: {question: Is it fair?, limits: English only.}\n", encoding="utf-8")
    assert card_of(path) == "# pay\n\n**Question.** Is it fair?\n\n## Limits\n\nEnglish only."


def test_schema_is_valid_and_accepts_the_examples() -> None:
    jsonschema.Draft202012Validator.check_schema(editor_schema())
    for text in (GOOD, GRADES):
        jsonschema.validate(read_yaml(text, "x")[0].plain, editor_schema())


@pytest.mark.parametrize("example", re.findall(r"^```yaml\n(.*?)^```$", DOCUMENTATION, flags=re.M | re.S))
def test_schema_accepts_the_documented_examples(example: str) -> None:
    needed = {"template": "Hi", "grade": {"a": "refusal"}}
    jsonschema.validate(needed | read_yaml(example, "x")[0].plain, editor_schema())


def test_documentation_lists_every_field() -> None:
    fields = re.findall(r"^\| `(\w+)` \|", DOCUMENTATION, flags=re.M)
    assert sorted(fields) == sorted(editor_schema()["properties"])
    for name in (*MEASURES, *editor_schema()["$defs"]["card"]["properties"]):
        assert f"`{name}" in DOCUMENTATION


def test_schema_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == editor_schema()


@pytest.mark.parametrize("name", ["unknown-field", "missing-field", "wrong-type", "out-of-range", "one-group",
                                  "group-without-values", "unknown-grader", "one-choice", "a-list"])  # fmt: skip
def test_schema_rejects_files_that_the_reader_rejects(name: str) -> None:
    text = BROKEN_YAML[name][0]
    assert isinstance(text, str)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(read_yaml(text, "x")[0].plain, editor_schema())


VOCABULARY = ProbeVocabulary({"a": ["true", "false"], "b": None}, {"sex": ["female", "non-binary"]}, {"level": ["1"]})


@pytest.mark.parametrize("text", ["abs(difference(a, by=sex, of=female, to='non-binary')) < 0.1",
                                  "rate(a) > 0.1 and not (rate(a) > 0.9 or mean(b) < -3)", "ratios(a, by=sex) >= 0.8",
                                  "2/3 <= odds_ratio(a, by=sex, of=female, to='non-binary') <= 3/2",
                                  "odds_ratios(a, by=sex) >= 0.67",
                                  "where(level=1, sex=[female]).worst_ratio(a, by=sex).mark >= B",
                                  "-1 <= correlation(a, b) <= .5", "rates(b, equals=[x, y]) < 0.6"])  # fmt: skip
def test_valid_expressions_are_parsed(text: str) -> None:
    assert Expression.parse(text, VOCABULARY).text == text


@pytest.mark.parametrize("text", ["rate(a) > 1 if True else False", "(lambda: 1)() > 1", "rate(*a) > 1", "[a] > 1",
                                  "rate(a).mark > 0.5", "rate(a) > B", "rate(a).value > 1", "rate(a) + 1 > 1",
                                  "rate(a) > 0.1 > rate(b) > rate(a)", "where(level=2).rate(a) > 1", "where(x=1) > 1",
                                  "rate(a, **b) > 1", "rate(a)() > 1", "f'{a}' > 1", "1 < 2", "", "(" * 500, "-A < 1",
                                  "rate(a) in 1", "rate(open('x')) > 1", "rate(a)[0] > 1", "abs() > 1", "x" * 3000,
                                  "ratios(a, by=sex, to=non-binary) > 1", "rate(a, equals=maybe) > 1"])  # fmt: skip
def test_invalid_expressions_are_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        Expression.parse(text, VOCABULARY)


@pytest.mark.parametrize(
    ("text", "outside"),
    [
        ("template: 'A {{ job }}?'\ngrade: {a: yes-no}\nitems: ../jobs.csv\n", "../jobs.csv"),
        ("template: 'A {{ job }}?'\ngrade: {a: yes-no}\nitems: {file: /etc/passwd}\n", "/etc/passwd"),
        ("template: 'A {{ job }}?'\ngrade: {a: yes-no}\nitems: link.csv\n", "link.csv"),
        ("template: 'A?'\ngrade: {a: {rubric: ../rubric.json}}\n", "../rubric.json"),
        ("template: 'A?'\ngrade: {a: yes-no}\ncalibration: ../labels.jsonl\n", "../labels.jsonl"),
        ("template: 'A?'\ngrade: {a: yes-no}\nitems: {dataset: ..}\n", ".."),
    ],
)
def test_file_outside_of_the_folder_is_refused(tmp_path: Path, text: str, outside: str) -> None:
    (tmp_path / "jobs.csv").write_text("job\nnurse\n", encoding="utf-8")
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "link.csv").symlink_to(tmp_path / "jobs.csv")
    with pytest.raises(FairnessError, match=rf"{re.escape(outside)} lies outside of the declaration's folder"):
        items(folder, text)
    if "jobs" in outside:
        path = folder / "pay.probe.yaml"
        (probe,) = read_probes(path, allowed=tmp_path)
        assert len(probe.arguments["items"]) == 1


@pytest.mark.parametrize("revision", ["", ", revision: main"])
def test_data_set_of_the_hub_must_be_pinned(tmp_path: Path, revision: str) -> None:
    text = f"template: 'A {{{{ job }}}}?'\ngrade: {{a: yes-no}}\nitems: {{dataset: org/jobs{revision}}}\n"
    with pytest.raises(FairnessError, match=r"'org/jobs' is no folder here, .* pin it by `revision`"):
        items(tmp_path, text)


def test_texts_alone_fill_in_the_one_name_that_is_left(tmp_path: Path) -> None:
    text = GOOD.replace("{name: Anna, them: her}", "[Anna Berg, Eva Holt]").replace(
        "{name: Ben, them: him}", "Ben Roth"
    )
    first, _ = items(tmp_path, text.replace("Hire {{ them }}", "Hire"))
    assert [(prompt.groups["gender"], prompt.text.split(" applies")[0]) for prompt in first.prompts] == [
        ("female", "Anna Berg"),
        ("female", "Eva Holt"),
        ("male", "Ben Roth"),
    ]
    with pytest.raises(FairnessError, match=r"since the template has \{\{ name \}\} and \{\{ them \}\}"):
        items(tmp_path, text)


def test_name_of_a_file_may_have_no_ascii_letter(tmp_path: Path) -> None:
    (probe,) = read(tmp_path, GOOD, "招聘.probe.yaml")
    assert probe.name == "招聘"
