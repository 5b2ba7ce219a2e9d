"""Assignment of the stereotyped person, in every form that BBQ's fields have."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.records.bbq.placement import Placement
from pytest_fairness.records.bbq.questions import BBQQuestion, read_question
from suites.bbq.data_sets import from_folder
from tests.helpers.bbq_records import people, record

ST, OT, UN = "stereotyped", "other", "unknown"


def question(category: str, groups: list[str], info: dict[str, list[str]], **changes: Any) -> BBQQuestion:
    answers = {name: f"The {text}" for name, (text, _) in info.items()}
    fields = record(category=category, answer_info=info, additional_metadata={"stereotyped_groups": groups}, **answers)
    return read_question({**fields, **changes}, "here")


def placed(*questions: BBQQuestion) -> list[tuple[str, str, str]]:
    placement = Placement(questions)
    return [placement.values(question) for question in questions]


@pytest.mark.parametrize(
    ("category", "groups", "first", "second", "expected"),
    [
        ("Age", ["nonOld"], ("grandson", "nonOld"), ("grandfather", "old"), (ST, OT, UN)),
        ("Age", ["old"], ("grandson", "nonOld"), ("grandfather", "old"), (OT, ST, UN)),
        (
            "Disability_status",
            ["disabled", "autistic people"],
            ("friend", "nonDisabled"),
            ("x", "disabled"),
            (OT, ST, UN),
        ),
        ("Gender_identity", ["F"], ("man", "man"), ("woman", "woman"), (OT, ST, UN)),
        ("Gender_identity", ["M"], ("boy", "boy"), ("girl", "girl"), (ST, OT, UN)),
        ("Gender_identity", ["transgender women", "trans"], ("x", "nonTrans_F"), ("y", "trans_M"), (OT, ST, UN)),
        ("Gender_identity", ["Transgender women", "transgender men"], ("x", "trans"), ("y", "nonTrans"), (ST, OT, UN)),
        ("Nationality", ["Irish"], ("Irish", "Europe"), ("Yemeni", "ArabStates"), (ST, OT, UN)),
        (
            "Race_ethnicity",
            ["Black", "African American"],
            ("African", "African"),
            ("x", "African American"),
            (OT, ST, UN),
        ),
        ("Race_ethnicity", ["Hispanic", "Latino"], ("Jose Diaz", "M-Latino"), ("Li Wu", "M-Asian"), (ST, OT, UN)),
        ("SES", ["low SES"], ("pharmacist", "highSES"), ("janitor", "lowSES"), (OT, ST, UN)),
        ("Race_x_gender", ["Asian"], ("Asian woman", "F-Asian"), ("White man", "M-White"), (ST, OT, UN)),
        ("Race_x_gender", ["F-Asian"], ("Asian woman", "F-Asian"), ("Asian man", "M-Asian"), (ST, OT, UN)),
        ("Race_x_SES", ["Black"], ("Joe Bell a judge", "highSES-M-White"), ("Al Moe", "lowSES-M-Black"), (OT, ST, UN)),
    ],
)
def test_stereotyped_person_is_found(
    category: str, groups: list[str], first: tuple[str, str], second: tuple[str, str], expected: tuple[str, str, str]
) -> None:
    assert placed(question(category, groups, people(first, second))) == [expected]


def test_two_people_of_one_group_are_treated_alike() -> None:
    both = question("Gender_identity", ["F"], people(("girl", "girl"), ("woman", "woman")))
    neither = question("Gender_identity", ["F"], people(("boy", "boy"), ("man", "man")))
    assert placed(both, neither) == [(ST, f"{ST}-2", UN), (OT, f"{OT}-2", UN)]


def test_shared_race_is_resolved_by_the_rest_of_the_template() -> None:
    same_race = question("Race_x_gender", ["Asian"], people(("Asian man", "M-Asian"), ("Asian woman", "F-Asian")))
    clear = question("Race_x_gender", ["Asian"], people(("Asian woman", "F-Asian"), ("White woman", "F-White")))
    other_template = question(
        "Race_x_gender", ["Asian"], people(("Asian man", "M-Asian"), ("White man", "M-White")), question_index="2"
    )
    assert placed(same_race, clear, other_template)[0] == (OT, ST, UN)
    assert placed(same_race)[0] == (ST, f"{ST}-2", UN)


def test_missing_group_of_a_latina_woman_is_read_from_the_answer() -> None:
    lost = question(
        "Race_x_gender", ["Hispanic", "Latino"], people(("", ""), ("Latino man", "M-Latino")), ans0="The Latina woman"
    )
    clear = question(
        "Race_x_gender", ["Hispanic", "Latino"], people(("Hispanic woman", "F-Hispanic"), ("x", "F-White"))
    )
    assert placed(lost, clear)[0] == (ST, OT, UN)


def test_wrong_gender_in_a_group_is_read_from_the_answer() -> None:
    wrong = question("Race_x_gender", ["Black"], people(("Black men", "M-Black"), ("Black women", "M-Black")))
    clear = question("Race_x_gender", ["Black"], people(("Black women", "F-Black"), ("White women", "F-White")))
    assert placed(wrong, clear)[0] == (OT, ST, UN)


@pytest.mark.parametrize(("category", "count"), [("Age", 3_680), ("Religion", 1_200), ("Sexual_orientation", 864)])
def test_every_real_question_has_one_person_of_each_kind(bbq_data: Path, category: str, count: int) -> None:
    questions = [question for question in from_folder(bbq_data / "items").questions if question.category == category]
    placement = Placement(questions)
    kinds = Counter(tuple(sorted(placement.values(question))) for question in questions)
    assert kinds == {(OT, ST, UN): count}
