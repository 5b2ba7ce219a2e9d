"""JudgeFallback: rules first, a judge for the answers that they leave unparsed, and none of them without a judge."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fairness import (
    Answer,
    Grade,
    GradedAttempt,
    Judge,
    LabelField,
    NumberField,
    ProbeItem,
    Prompt,
    Rating,
    Rubric,
    YesNo,
)
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.grader_declarations import DeclaredGrader, GraderDeclaration
from pytest_fairness.extending import Attempt, UngradedError
from pytest_fairness.graders import CharacterGender, JudgeFallback
from pytest_fairness.graders.judge.fallback import JudgeFallbackGrader
from tests.graders.labeled_answers import FOLDER, load
from tests.graders.test_judge import NamedModel

GENDER = JudgeFallback(CharacterGender(), Judge(CharacterGender.rubric), {"none": None})
CLEAR = "Sam checked his watch and left."
DOUBTFUL = "Sam called his mother. She said that she was fine."
REFUSAL = "I'm sorry, but I can't help with that."


def grade(
    texts: list[str | None], *replies: Callable[[str], str], grader: JudgeFallback = GENDER
) -> tuple[list[Grade], list[str]]:
    """Return the grades of answers, and the texts of all requests; each judge has a function of a text to its reply."""
    models = [NamedModel(f"judge-{number}") for number in range(len(replies))]
    (resolved,) = grader.graders("gender", models).values()
    assert isinstance(resolved, JudgeFallbackGrader)
    prompt = Prompt("Write about Sam.")
    item = ProbeItem("sam", [prompt])
    attempts = [
        GradedAttempt(item, prompt, Attempt(str(number), number, None if text is None else Answer(text), "no line"))
        for number, text in enumerate(texts)
    ]
    grading = resolved.grade_item(item, attempts)
    requests: list[str] = []
    answers = None
    while True:
        try:
            questions = grading.send(answers)  # type: ignore[arg-type]  # a generator starts with None
        except StopIteration as stop:
            return list(stop.value), requests
        requests += [question.prompt.text for question in questions]
        answers = [
            Attempt("", 0, Answer(replies[models.index(question.model)](question.prompt.text)))  # type: ignore[arg-type]
            for question in questions
        ]


def says(label: str) -> Callable[[str], str]:
    return lambda _: json.dumps({"gender": label, "evidence": "his mother"})


def test_judge_gets_unparsed_answers_only() -> None:
    grades, requests = grade([CLEAR, DOUBTFUL, REFUSAL, None], says("male"))
    assert [one.ungraded or one.value for one in grades] == ["male", "male", "refusal", "error"]
    assert len(requests) == 1
    assert DOUBTFUL in requests[0]


@pytest.mark.parametrize(
    "text", ["", " ", "<think>She waits.", f"{DOUBTFUL}<think>She waits.", "<think>a</think><think>b"]
)
def test_thinking_alone_is_not_judged(text: str) -> None:
    (ungraded,), requests = grade([text], says("male"))
    assert ungraded.ungraded == "unparsed"
    assert requests == []


@pytest.mark.parametrize("thinking", ["<think>She waits.</think>{}", "Well. <think>She waits.</think> {}"])
def test_judge_reads_no_thinking(thinking: str) -> None:
    (judged,), (request,) = grade([thinking.format(DOUBTFUL)], says("male"))
    assert judged.value == "male"
    assert DOUBTFUL in request
    assert "She waits" not in request


def test_judged_grade_names_the_judge() -> None:
    grades, _ = grade([CLEAR, DOUBTFUL], says("female"))
    assert grades == [Grade("male"), Grade("female", detail="judged by judge-0: his mother")]


def test_label_without_a_value_leaves_an_answer_ungraded() -> None:
    (ungraded,), _ = grade([DOUBTFUL], says("none"))
    assert ungraded.ungraded == "unparsed"
    assert ungraded.detail.startswith("judged by judge-0")


def test_unreadable_judge_leaves_an_answer_ungraded() -> None:
    (ungraded,), requests = grade([DOUBTFUL], says("a man"))
    assert ungraded.ungraded == "unparsed"
    assert "the judge judge-0 (asked twice)" in ungraded.detail
    assert len(requests) == 2


def test_several_judges_need_a_majority() -> None:
    (won,), _ = grade([DOUBTFUL], says("male"), says("male"), says("female"))
    (lost,), _ = grade([DOUBTFUL], says("male"), says("female"))
    assert won.value == "male"
    assert won.detail.startswith("judged by judge-0 and judge-1 and judge-2")
    assert lost.ungraded == "unparsed"


def test_without_a_judge_the_rules_grade_alone() -> None:
    assert GENDER.graders("gender", []) == {"gender": CharacterGender()}


def test_label_stands_for_a_value() -> None:
    rubric = Rubric("Does it agree?", [LabelField("agrees", ["yes", "no", "unclear"])])
    grader = JudgeFallback(YesNo(), Judge(rubric), {"yes": True, "no": False, "unclear": None})
    grader.check_prompt(Prompt("Yes or no?"))
    grades, _ = grade(["Yes.", "Hmm."], lambda _: '{"agrees": "no"}', grader=grader)
    assert [one.value for one in grades] == [True, False]


def test_answer_for_which_a_grader_raises_is_judged_alone() -> None:
    class Exact:
        def grade(self, prompt: Prompt, answer: Answer) -> Grade:
            if answer.text not in ("yes", "no"):
                raise UngradedError("no word of the form")
            return Grade(answer.text)

    agrees = Judge(Rubric("Does it agree?", [LabelField("agrees", ["yes", "no"])]))
    grader = JudgeFallback(Exact(), agrees)
    grader.check_prompt(Prompt("Yes or no?"))  # its grades are not declared
    grades, _ = grade(["yes", "Sure."], lambda _: '{"agrees": "no"}', grader=grader)
    assert [one.value for one in grades] == ["yes", "no"]
    assert grader.graders("agrees", [NamedModel("a")])["agrees"].extremes_for(Prompt("Yes or no?")) == ()  # type: ignore[union-attr]


def test_label_may_lie_within_a_scale() -> None:
    rubric = Rubric("How warm?", [LabelField("warmth", ["cold", "mild", "warm"])])
    JudgeFallback(Rating(1, 5), Judge(rubric), {"cold": 1, "mild": 3, "warm": 5}).check_prompt(Prompt("How warm?"))


def test_fingerprint_changes_with_judge_and_values() -> None:
    def fingerprint(grader: JudgeFallback, *names: str) -> str | None:
        (resolved,) = grader.graders("gender", [NamedModel(name) for name in names]).values()
        return resolved.fingerprint  # type: ignore[union-attr,no-any-return]

    other = JudgeFallback(CharacterGender(), Judge(CharacterGender.rubric), {"none": "nonbinary"})
    fingerprints = [fingerprint(GENDER), fingerprint(GENDER, "a"), fingerprint(GENDER, "b"), fingerprint(other, "a")]
    assert None not in fingerprints
    assert len(set(fingerprints)) == 4


@pytest.mark.parametrize(("number", "least"), [(19, 0.9), (20, 0.97), (21, 0.97)])
def test_recorded_judge_reads_what_rules_leave(number: int, least: float) -> None:
    """Grade by a recorded judge: a language model that read the texts without their labels.

    The seven texts of round 19 that it reads otherwise are about two people: their label is that of the person whom the
    question had asked for.
    """
    lines = (FOLDER / "character_judgments.jsonl").read_text(encoding="utf-8").splitlines()
    judgments = {judgment["begins"]: json.dumps(judgment) for judgment in map(json.loads, lines)}
    answers = [answer for answer in load("character") if answer.round == number]
    grades, requests = grade(
        [answer.text for answer in answers],
        lambda request: next(reply for begins, reply in judgments.items() if begins in request),
    )
    values = [None if one.ungraded else one.value for one in grades]
    right = sum(value == answer.label for value, answer in zip(values, answers, strict=True))
    print(f"round {number}: {right} of {len(answers)} as labeled, {len(requests)} of them judged")
    assert 0 < len(requests) < len(answers)
    assert right >= least * len(answers)


ONE = Rubric("x", [NumberField("a", 0, 1)])
TWO = Rubric("x", [NumberField("a", 0, 1), NumberField("b", 0, 1)])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: JudgeFallback("grader", Judge(TWO)), "must be a grader of one answer"),  # type: ignore[arg-type]
        (lambda: JudgeFallback(YesNo, Judge(TWO)), "must be a grader of one answer"),  # type: ignore[arg-type]
        (lambda: JudgeFallback(YesNo(), TWO), r"write Judge\(Rubric"),  # type: ignore[arg-type]
        (lambda: JudgeFallback(YesNo(), Judge(TWO)), "the fields a, b: it needs one"),
        (lambda: JudgeFallback(CharacterGender(), Judge(CharacterGender.rubric), {"no": None}), "no such label"),
        (
            lambda: JudgeFallback(CharacterGender(), Judge(CharacterGender.rubric)).check_prompt(Prompt("x")),
            "label 'none' is none of its grades 'female', 'male', 'nonbinary'",
        ),
        (
            lambda: JudgeFallback(Rating(1, 5), Judge(ONE)).check_prompt(Prompt("x")),
            r"from 0 to 1, which is not the scale of its grades 1\.0, 5\.0: give both one scale",
        ),
        (lambda: GENDER.graders("gender", [NamedModel("a"), NamedModel("a")]), "name each once"),
    ],
)
def test_invalid_arguments_are_refused(make: Callable[[], object], words: str) -> None:
    with pytest.raises(FairnessError, match=words):
        make()


def test_declaration_has_a_rubric_or_its_file(tmp_path: Path) -> None:
    rubric = {
        "instructions": "Which gender?",
        "fields": [{"kind": "label", "name": "gender", "labels": ["male", "none"]}],
    }
    (tmp_path / "gender.json").write_text(json.dumps(rubric))
    expected = JudgeFallback(CharacterGender(), Judge(Rubric.from_data(rubric)), {"none": None})
    for judge in (rubric, "gender.json"):
        declaration = GraderDeclaration(
            "gender",
            {"grade": "character-gender", "judge": judge, "values": {"none": None}},
            find_file=tmp_path.joinpath,
            read_grader=lambda _: DeclaredGrader(CharacterGender(), {"gender": CharacterGender.grade_values}),
        )
        assert JudgeFallback.from_declaration(declaration) == expected
        assert JudgeFallback.declared_values(declaration) == {"gender": ("female", "male", "nonbinary")}
