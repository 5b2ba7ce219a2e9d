"""The simulated model as one that reasons, and as an oracle of reasonings."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Model
from tests.models.test_simulated_models import answers

Make = Callable[..., Model]
LABELS = ("KOVU", "MEBA", "TIZO", "RUXA")
OPTIONS = AnswerOptions({"x": "Who fell?", "y": "Who stood?", "w": "Who ran?", "z": "Who sat?"}, LABELS)


def prompts(number: int, **metadata: Any) -> list[Prompt]:
    return [Prompt(f"Number {index}", metadata=metadata) for index in range(number)]


def test_reasoned_prompt_is_answered_in_json(make: Make) -> None:
    questions = prompts(50, options=OPTIONS, reply="reasoned")
    replies = [json.loads(text) for text in answers(make("simulated:m"), questions)]
    assert all(reply["reasoning"] for reply in replies)
    assert {reply["answer"] for reply in replies} <= set(LABELS)
    odd = answers(make("simulated:m?noise=1"), questions)
    assert all(json.loads(text.partition("```json")[2].strip("`\n"))["answer"] in LABELS for text in odd)


@pytest.mark.parametrize(("parameters", "share"), [("", 0), ("?flag_1=0.3", 0.3), ("?flag_1=1", 1), ("?flag_2=1", 0)])
def test_oracle_says_no_in_the_planted_share(make: Make, parameters: str, share: float) -> None:
    texts = answers(make(f"simulated:m{parameters}"), prompts(2_000, asked="flag_1"))
    counts = Counter(re.findall(r"\b(?:yes|no)\b", text)[0] for text in texts)
    assert counts["no"] == pytest.approx(share * 2_000, abs=62)  # three standard errors


@pytest.mark.parametrize("share", [0, 0.3, 1])
def test_oracle_takes_another_question_in_the_planted_share(make: Make, share: float) -> None:
    questions = prompts(2_000, asked="flag_4", options=OPTIONS, label="y")
    texts = answers(make(f"simulated:m?flag_4={share}"), questions)
    counts = Counter(next(label for label in LABELS if label in text) for text in texts)
    assert counts["MEBA"] == pytest.approx((1 - share) * 2_000, abs=62)
    assert all(counts[label] == pytest.approx(share * 2_000 / 3, abs=62) for label in LABELS if label != "MEBA")


def test_share_above_one_is_refused(make: Make) -> None:
    with pytest.raises(FairnessError, match="flag_1"):
        make("simulated:m?flag_1=2")
