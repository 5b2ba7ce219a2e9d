"""Generated features in English: what was said and how it sounded, for students that read text."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.options import Options
from pytest_fairness.design.closed_form import value_means
from pytest_fairness.design.environment import EMOTIONS, VALUES, Group, thirds
from pytest_fairness.design.students import UNREAD, Reading

if TYPE_CHECKING:
    from torch import Tensor

VALUE_NAMES = ("valence", "arousal", "control")
MILD, STRONG = 0.25, 0.75
"""A mean beyond them is told mildly, or strongly; within, nothing is told."""
LIVELY, LEAPING = 0.4, 1.2
"""Spreads of the prosody over the sequence from which its melody is told to move, and to leap."""
_PERCENT = re.compile(r"\b(\d{1,3})(?:\.\d+)?\s?%")
_YES_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


@cache
def texts() -> Mapping[str, Any]:
    """The sentences: words and voice by value and grade (-2 to 2), situations, speakers, questions."""
    found: Mapping[str, Any] = json.loads(Path(__file__).with_name("texts.json").read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class Described:
    """One sample in words."""

    speaker: str
    setting: str
    said: str
    """Three sentences: valence, arousal and control as the words tell them."""
    heard: str
    """The same three as the voice tells them, and how much it moves."""
    wording: str
    """What the choice of sentences was drawn from."""


def describe(features: Tensor) -> list[Described]:
    """The samples [n, seq_len, dim] in words, one and the same text for one and the same sample.

    The means of the semantic third decide the sentences that are said, those of the prosodic third how the voice
    is described: each value is told in one of five grades, so that weak words say little and a noisy voice
    misleads. The speaker, the situation and the choice among sentences of one grade are drawn by the words alone:
    a pair of groups has the same words. Nothing tells the group but its prosody. The groups of the generator are
    settings of a formula, not descriptions of people.
    """
    semantic, prosodic, _ = thirds(features.shape[2])
    words, voice = value_means(features[:, :, semantic]), value_means(features[:, :, prosodic])
    spreads = features[:, :, prosodic].double()
    around = voice[:, None, [place % VALUES for place in range(spreads.shape[2])]]
    moves = (spreads - around).square().mean((1, 2)).sqrt()
    rows = zip(words.tolist(), voice.tolist(), moves.tolist(), strict=True)
    return [_described(*row) for row in rows]


def _described(words: Sequence[float], voice: Sequence[float], moves: float) -> Described:
    known = texts()
    wording = " ".join(str(round(8 * value)) for value in words)
    draw = random.Random(wording)
    speaker, listener, situation, setting, manner = (
        draw.choice(known[name]) for name in ("speakers", "listeners", "situations", "settings", "manners")
    )
    setting = setting.format(speaker=speaker, listener=listener, situation=situation)
    said = " ".join(
        draw.choice(known["words"][name][grade(value)]) for name, value in zip(VALUE_NAMES, words, strict=True)
    )
    # One draw a value, whatever the grade: the draws of a pair stay in step.
    tones = {
        name: draw.choice(known["voice"][name][grade(value)]) for name, value in zip(VALUE_NAMES, voice, strict=True)
    }
    movement = "little" if moves < LIVELY else "some" if moves < LEAPING else "much"
    heard = f"{manner.format(**tones)} {draw.choice(known['movement'][movement])}"
    return Described(speaker, setting[0].upper() + setting[1:], said, heard, wording)


def grade(value: float) -> str:
    """How a mean is told: "-2" to "2".

    >>> [grade(value) for value in (-1.3, -0.3, 0.1, 0.5, 0.8)]
    ['-2', '-1', '0', '1', '2']
    """
    size = (abs(value) >= MILD) + (abs(value) >= STRONG)
    return str(size if value > 0 else -size)


def prompts(
    features: Tensor, *, verification: bool, labels: Tensor | None = None, group: Group | None = None
) -> list[Prompt]:
    """One question a sample: which of the eight emotions, in an order drawn by the words.

    ``metadata["options"]`` is for `Choice`; where ``labels`` are given, ``metadata["label"]`` is the right value.
    ``groups`` holds the neurotype where ``group`` is given. The model is asked for a letter and a percentage; with
    ``verification`` it is asked to check its choice backwards, from the emotion to words and voice, and to say
    whether it held.
    """
    known = texts()
    options = Options({emotion: emotion for emotion in EMOTIONS})
    found = []
    for place, sample in enumerate(describe(features)):
        own = options.shuffled(sample.wording)
        text = known["question"].format(
            setting=sample.setting,
            speaker=sample.speaker,
            said=sample.said,
            heard=sample.heard,
            options=own,
            reply=known["reply_verified" if verification else "reply"],
        )
        metadata: dict[str, Any] = {"options": own}
        if labels is not None:
            metadata["label"] = EMOTIONS[int(labels[place])]
        found.append(Prompt(text, {"neurotype": group} if group else {}, metadata))
    return found


def reading_of(
    asked: Sequence[Prompt],
    answers: Sequence[Answer | None],
    grade_answer: Callable[[Prompt, Answer], Grade],
    *,
    verification: bool,
) -> Reading:
    """What a language model answered to `prompts`, as a `Reading`.

    ``grade_answer`` reads the choice: ``Choice().grade``. An answer that it cannot grade, and one that failed (None),
    is no reading: label -1 and confidence nan. The confidence is the last percentage (0 to 100) in the answer, nan
    where there is none. ``verified`` is true where the last yes or no is a yes.
    """
    import torch

    labels, confidence, verified = [], [], []
    for prompt, answer in zip(asked, answers, strict=True):
        graded = grade_answer(prompt, answer) if answer is not None else Grade.none("error")
        read = answer is not None and graded.ungraded is None
        text = answer.text if answer is not None and read else ""
        labels.append(EMOTIONS.index(graded.value) if read else UNREAD)
        percents = [int(each) for each in _PERCENT.findall(text) if int(each) <= 100]
        confidence.append(percents[-1] / 100 if percents else float("nan"))
        said = _YES_NO.findall(text)
        verified.append(bool(said) and said[-1].lower() == "yes")
    return Reading(torch.tensor(labels), torch.tensor(confidence), torch.tensor(verified) if verification else None)


@dataclass(frozen=True)
class TextStudent:
    """A language model as a student: features are told in words, and it is asked.

    ``ask`` gives the answers to prompts in order, None for one that failed; ``grade_answer`` is ``Choice().grade``.
    """

    ask: Callable[[Sequence[Prompt]], Sequence[Answer | None]]
    grade_answer: Callable[[Prompt, Answer], Grade]

    def read(self, features: Tensor, *, verification: bool) -> Reading:
        """Raises `FairnessError` where ``ask`` gives another number of answers than it was asked."""
        asked = prompts(features, verification=verification)
        answers = self.ask(asked)
        if len(answers) != len(asked):
            raise FairnessError(f"{len(asked)} prompts got {len(answers)} answers: each needs one, None if it failed")
        return reading_of(asked, answers, self.grade_answer, verification=verification)
