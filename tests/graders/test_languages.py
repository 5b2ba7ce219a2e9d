"""Answers in eight languages, each labeled before a grader had read it (``languages/``).

At first sight, with the rules as the round before had left them:

| round | answers | read wrongly | have a value | read as labeled |
|---|---|---|---|---|
| 1 | 248 | 19 | 192 | 150 (78.1%) |
| 2 | 128 | 3 | 104 | 64 (61.5%) |
| 3 | 96 | 4 | 72 | 61 (84.7%) |

Choices, yes or no, ratings and refusals in German, Spanish, French, Korean, Dutch, Portuguese, Turkish and Chinese.
"""

from __future__ import annotations

import pytest

from pytest_fairness.core.choices import AnswerOptions
from tests.graders.labeled_answers import figures
from tests.graders.language_answers import LANGUAGES, load_language


@pytest.mark.parametrize("language", LANGUAGES)
def test_answers_in_other_languages_are_never_read_wrongly(language: str) -> None:
    answers = load_language(language)
    assert [answer for answer in answers if answer.read() not in (None, answer.label)] == []
    totals = figures(answers)
    assert totals.read >= 0.93 * totals.valued, totals


def test_every_language_has_enough_answers() -> None:
    assert LANGUAGES == ("de", "es", "fr", "ko", "nl", "pt", "tr", "zh")
    for language in LANGUAGES:
        answers = load_language(language)
        assert [sum(answer.round == number for answer in answers) for number in (1, 2, 3)] == [31, 16, 12]
        assert all(isinstance(answer.options, AnswerOptions | None) for answer in answers)
