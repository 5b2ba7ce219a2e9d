"""The questions that were written for this project: every variant of every template."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from pytest_fairness.core.items import ProbeItem
from suites.bbq.data_sets import from_default
from suites.bbq.default import templates
from suites.bbq.items import build
from suites.bbq.questions import CATEGORIES, Question

QUESTIONS = from_default().questions
ITEMS = list(build(QUESTIONS, "the project's own small set"))


def by_set() -> dict[tuple[str, int, int], list[Question]]:
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


@pytest.mark.parametrize("item", ITEMS[::7], ids=lambda item: item.id)
def test_item_requests_one_letter_of_three(item: ProbeItem) -> None:
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
            assert not re.search(r"[{}]|  |\s$|\ba [aeiou]|\ban (?!honest)[^aeiouAEIOU]", text), text
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


def test_both_ways_of_telling_who_did_what_say_the_same() -> None:
    """Compare the words of both clauses of the sentence with those of its reverse."""
    for file in sorted((Path(templates.__file__).parent).glob("*.json")):
        for template in json.loads(file.read_text(encoding="utf-8")):
            assert template["turned"].startswith("{The_second} ")
            assert "and {the_first} " in template["turned"]
            clauses = re.fullmatch(r"\{The_first\} (.+), and \{the_second\} (.+)\.", template["disambiguating"])
            turned = re.fullmatch(r"\{The_second\} (.+), and \{the_first\} (.+)\.", template["turned"])
            assert clauses is not None
            assert turned is not None
            for one, other in ((clauses[1], turned[2]), (clauses[2], turned[1])):
                assert set(one.split()[:1]) & set(other.split()[:1]), template["turned"]
