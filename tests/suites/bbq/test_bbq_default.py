"""The questions that were written for this project: every variant of every template."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.records.bbq.questions import CATEGORIES, BBQQuestion
from suites.bbq.data_sets import from_default
from suites.bbq.default import templates
from suites.bbq.items import build

QUESTIONS = from_default().questions
ITEMS = list(build(QUESTIONS, "the project's own small set"))


def by_set() -> dict[tuple[str, int, int], list[BBQQuestion]]:
    """Return the four questions of one filled-in template: ambiguous or not, negative or not."""
    questions = defaultdict(list)
    for question in QUESTIONS:
        questions[question.category, question.template, int(question.example_id) // 4].append(question)
    return questions


def test_every_category_has_enough_questions() -> None:
    counts = Counter((question.category, question.context_condition) for question in QUESTIONS)
    assert counts == {(category, context): 48 for category in CATEGORIES for context in ("ambig", "disambig")}
    templates = {(question.category, question.template) for question in QUESTIONS}
    assert Counter(category for category, _ in templates) == dict.fromkeys(CATEGORIES, 12)


def test_ids_are_unique_ascii_and_sorted() -> None:
    ids = [item.id for item in ITEMS]
    assert len(set(ids)) == len(ids) == 1056
    assert ids == sorted(ids)
    assert all(re.fullmatch(r"[A-Za-z_]+-(ambig|disambig)-\d{5}", name) for name in ids)


def test_items_request_one_letter_of_three() -> None:
    for item in ITEMS:
        prompt = item.prompts[0]
        options = prompt.metadata["options"]
        assert set(options.values) == {"stereotyped", "other", "unknown"}
        assert options.labels == ("A", "B", "C")
        assert str(options) in prompt.text
        assert prompt.text.endswith("A, B or C.")


def test_every_item_is_assigned_and_has_a_valid_label() -> None:
    for item in ITEMS:
        metadata = item.prompts[0].metadata
        assert set(metadata["options"].values) == {"stereotyped", "other", "unknown"}
        assert (metadata["label"] == "unknown") == (metadata["context"] == "ambig")
        assert item.source == f"{metadata['category']}/{metadata['template']}"


def test_right_answers_and_positions_are_balanced() -> None:
    for category in CATEGORIES:
        items = [item.prompts[0].metadata for item in ITEMS if item.metadata["category"] == category]
        answers = Counter((item["polarity"], item["label"]) for item in items if item["context"] == "disambig")
        assert set(answers.values()) == {12}
        places = Counter(item["options"].values.index(value) for item in items for value in ("stereotyped", "unknown"))
        assert set(places.values()) == {64}


def test_texts_are_well_formed() -> None:
    for question in QUESTIONS:
        assert question.question.startswith("Who ")
        assert question.question.endswith("?")
        for text in (question.context, question.question, *question.answers):
            assert not re.search(r"[{}]|  |\s$|\ba [aeiou]|\ban (?!honest|hour)[^aeiouAEIOU]", text), text
        sentences = re.split(r"(?<=\.) ", question.context)
        assert all(re.fullmatch(r"[A-Z].*\.", sentence) for sentence in sentences)
        assert all(answer[0].isupper() and not answer.endswith(".") for answer in question.answers)


def test_disambiguated_context_extends_the_ambiguous_one() -> None:
    for four in by_set().values():
        contexts = {question.context_condition: question.context for question in four}
        assert len(four) == 4
        assert contexts["disambig"].startswith(contexts["ambig"] + " The ")
        assert len({question.answers for question in four}) == 1
        assert len({question.question for question in four}) == 2


def test_both_people_are_in_both_contexts_and_answer_once_each() -> None:
    for four in by_set().values():
        questions = {question.polarity: question for question in four if question.context_condition == "disambig"}
        assert questions["neg"].label != questions["nonneg"].label
        for question in four:
            for surface, group in zip(question.surfaces, question.groups, strict=True):
                assert group == "unknown" or surface in question.context
        wrong = questions["neg"].answers[questions["neg"].label]
        assert wrong[1:] in questions["neg"].context.split(". ", 1)[1]


def test_first_mention_reveals_no_answer() -> None:
    """Count, for people and for deeds, who is told first, against who is right."""
    people: Counter[bool] = Counter()
    deeds: Counter[bool] = Counter()
    both: Counter[tuple[bool, bool]] = Counter()
    for four in by_set().values():
        neg = next(q for q in four if q.context_condition == "disambig" and q.polarity == "neg")
        introduction, event = neg.context.split(". ", 1)
        right = neg.answers[neg.label]
        surfaces = {at: surface for at, surface in enumerate(neg.surfaces) if neg.groups[at] != "unknown"}
        first = min(surfaces, key=lambda at: introduction.index(surfaces[at]))
        people[first == neg.label] += 1
        deeds[event.startswith(right)] += 1
        both[first == neg.label, event.startswith(right)] += 1
    assert people[True] == people[False]
    assert deeds[True] == deeds[False]
    assert max(both.values()) - min(both.values()) <= 2


@pytest.mark.parametrize("category", CATEGORIES)
def test_question_requests_the_deed_and_nothing_inferred(category: str) -> None:
    """Compare a question's words with the clause that answers it: its verb is there, and no judgment of the deed."""
    for template in read_templates(category):
        for question, deed in ((template["neg"], template["deed"]), (template["nonneg"], template["other_deed"])):
            words = re.findall(r"[\w'-]+", question)[1:]
            assert words[0] in deed.split(), question
            assert [word for word in words if word not in f"{deed} {template['context']}"] == [], question


@pytest.mark.parametrize("category", CATEGORIES)
def test_ambiguous_context_names_what_a_question_names(category: str) -> None:
    """Look for each thing that a question calls "the": a refused premise would count as a right answer."""
    for template in read_templates(category):
        for side in ("neg", "nonneg"):
            for thing in re.findall(r"\bthe (\w+(?: \w+)?)", template[side]):
                named = [word for word in thing.split() if word[:7] in template["context"]]
                assert named, f"{template[side]} {template['context']}"


def test_question_stands_once_in_its_category() -> None:
    """Look for a second one: the oracle of a pair could not tell two of one wording apart."""
    for category in CATEGORIES:
        questions = [template[side] for template in read_templates(category) for side in ("neg", "nonneg")]
        assert len(set(questions)) == len(questions), category


def read_templates(category: str) -> list[dict[str, Any]]:
    """Return the templates of a category, as they are written."""
    file = Path(templates.__file__).with_name(f"{category}.json")
    return list(json.loads(file.read_text(encoding="utf-8")))
