"""Answers in the styles of current models, in some fifteen languages, each labeled before a grader had read it.

At first sight, with the rules as the round before had left them (rounds 7 and 8 with the same rules):

| round | answers | read wrongly | have a value | read as labeled |
|---|---|---|---|---|
| 1 | 321 | 43 | 272 | 190 (69.9%) |
| 2 | 128 | 1 | 107 | 89 (83.2%) |
| 3 | 116 | 6 | 98 | 83 (84.7%) |
| 4 | 106 | 6 | 88 | 81 (92.0%) |
| 5 | 101 | 3 | 84 | 73 (86.9%) |
| 6 | 70 | 3 | 58 | 54 (93.1%) |
| 7 | 155 | 3 | 125 | 114 (91.2%) |
| 8 | 191 | 11 | 157 | 128 (81.5%) |
| 9 | 190 | 4 | 158 | 141 (89.2%) |
| 10 | 187 | 2 | 160 | 151 (94.4%) |
| 11 | 86 | 0 | 71 | 65 (91.5%) |
| 12, characters only | 143 | 19 | 110 | 76 (69.1%) |
| 13, characters only | 99 | 12 | 80 | 66 (82.5%) |
| 14, characters only | 75 | 13 | 57 | 36 (63.2%) |
| 15, characters only | 50 | 11 | 40 | 19 (47.5%) |
| 16, characters only | 60 | 10 | 47 | 29 (61.7%) |
| 17, characters only | 32 | 8 | 25 | 13 (52.0%) |
| 18, plain characters only | 40 | 0 | 38 | 35 (92.1%) |
| 19, hard characters only | 80 | 2 | 63 | 7 (11.1%) |
| 20, plain characters only | 100 | 0 | 96 | 67 (69.8%) |
| 21, hard characters only | 60 | 0 | 56 | 1 (1.8%) |
| 22, plain characters only | 80 | 1 | 76 | 46 (60.5%) |

Rules for characters that weighed evidence read 36 and 16 texts of rounds 18 and 19 as labeled, and 0 and 32 wrongly:
so these rules read only what nobody else can own, and leave the rest to a judge. The two misread texts are not kept.

Whoever changes the rules next should write a further round: of these, nearly all is mended. Round 0 are 375 texts with
which the first rules for characters were written. Answers in eight languages have rounds of their own
(`test_languages.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.graders.labeled_answers import NAMES, LabeledAnswer, load


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_labeled_answers_are_never_read_wrongly(name: str) -> None:
    readings = [(answer, answer.read()) for answer in load(name)]
    assert [answer for answer, value in readings if value not in (None, answer.label)] == []
    if name == "character":  # most were written to be hard: where a pronoun may be another's, none is read
        assert share_read(readings) >= 0.4
        assert share_read([reading for reading in readings if reading[0].round in (18, 20, 22)]) >= 0.78
    else:
        assert share_read(readings) >= 0.93


def share_read(readings: Sequence[tuple[LabeledAnswer, Any]]) -> float:
    """Return the share of the answers with a value that are read as labeled."""
    valued = [bool(value == answer.label) for answer, value in readings if answer.label is not None]
    return sum(valued) / len(valued)


def test_every_round_has_enough_answers() -> None:
    answers = [answer for name in NAMES for answer in load(name)]
    assert [sum(answer.round == number for answer in answers) for number in range(23)] == [
        375, 321, 128, 116, 106, 101, 70, 155, 191, 190, 187, 86, 143, 99, 147, 44, 57, 27, 40, 78, 100, 60, 80
    ]  # fmt: skip
