"""Answers in the styles of current models: how many the graders read, and how many they read wrongly.

Six rounds, each labelled before the graders saw it, with the rules as the round before had left them. At first sight:

| round | answers | read wrongly | have a value | read as labelled |
|---|---|---|---|---|
| 1 | 321 | 43 | 272 | 190 (69.9%) |
| 2 | 128 | 1 | 107 | 89 (83.2%) |
| 3 | 116 | 6 | 98 | 83 (84.7%) |
| 4 | 106 | 6 | 88 | 81 (92.0%) |
| 5 | 101 | 3 | 84 | 73 (86.9%) |
| 6 | 70 | 3 | 58 | 54 (93.1%) |

Whoever changes the rules next should write a seventh: of these, nearly all is mended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from pytest_fairness.core.options import Options
from pytest_fairness.core.protocols import Grader
from pytest_fairness.graders.characters import CharacterGender
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.rating import Rating
from pytest_fairness.graders.refusal import Refusal
from pytest_fairness.graders.text import YesNo
from tests.graders import examples_current as first
from tests.graders import examples_current_fifth as fifth
from tests.graders import examples_current_fourth as fourth
from tests.graders import examples_current_second as second
from tests.graders import examples_current_sixth as sixth
from tests.graders import examples_current_third as third
from tests.graders.asking import graded

UNGRADED = ("unparsed", "refusal", "truncated", "filter", "error")


class Case(NamedTuple):
    """One answer, its label (None: ungraded), and what was read."""

    grader: str
    text: str
    meant: Any
    read: Any

    @property
    def wrong(self) -> bool:
        return self.read is not None and self.read != self.meant


def case(grader: Grader, text: str, meant: Any, options: Options | None = None) -> Case:
    found = graded(grader, text, options)
    return Case(type(grader).__name__, text, meant, None if found in UNGRADED else found)


def cases(examples: Any) -> Iterator[Case]:
    yield from (case(YesNo(), text, meant) for text, meant in examples.YES_OR_NO)
    for yes, no, text, meant in examples.YES_IN_OTHER_LANGUAGES:
        yield case(YesNo(yes, tuple(word for word in no if word != "no")), text, meant)
    yield from (case(Choice(), text, meant, options) for options, text, meant in examples.CHOICE)
    yield from (case(Rating(1, 10), text, meant) for text, meant in examples.RATINGS)
    yield from (case(Refusal(), text, meant) for text, meant in examples.REFUSED)
    for part in re.split(r"^== ", examples.CHARACTERS, flags=re.MULTILINE)[1:]:
        label, _, text = part.partition("\n")
        told = re.sub(r"(?<=[^\n*])\n(?=[^\n*])", " ", text.strip())
        yield case(CharacterGender(), told, label if label not in UNGRADED else None)


def figures(found: list[Case]) -> dict[str, tuple[int, int, int, int]]:
    """By grader: how many there are, how many are wrong, how many have a value, how many of these were read."""
    return {
        grader: (
            len(own := [each for each in found if each.grader == grader]),
            sum(each.wrong for each in own),
            sum(each.meant is not None for each in own),
            sum(each.meant is not None and each.read == each.meant for each in own),
        )
        for grader in dict.fromkeys(each.grader for each in found)
    }


@pytest.mark.parametrize("examples", [first, second, third, fourth, fifth, sixth], ids=lambda each: each.__name__)
def test_answers_of_current_models(examples: Any) -> None:
    found = list(cases(examples))
    print(figures(found))
    assert [each for each in found if each.wrong] == []
    valued = [each for each in found if each.meant is not None]
    assert sum(each.read == each.meant for each in valued) >= 0.98 * len(valued)


def test_there_are_enough_answers() -> None:
    assert [len(list(cases(each))) for each in (first, second, third, fourth, fifth, sixth)] == [
        321, 128, 116, 106, 101, 70
    ]  # fmt: skip
