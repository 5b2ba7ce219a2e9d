"""Generated features in English: what was said and how it sounded, for students that read text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness import Answer, AnswerOptions, FairnessError, Grade, Prompt
from pytest_fairness.design.closed_form import value_means
from pytest_fairness.design.environment import EMOTIONS, VALUES, Group, thirds
from pytest_fairness.design.students import UNREAD, EmotionReading
from pytest_fairness.extending import counted
from pytest_fairness.extending import json_text as json

if TYPE_CHECKING:
    from torch import Tensor

VALUE_NAMES = ("valence", "arousal", "control")
MILD, STRONG = 0.25, 0.75
"""Absolute means from which a value is described mildly, and strongly; smaller ones are left out."""
LIVELY, LEAPING = 0.4, 1.2
"""Spreads of the prosody over the sequence from which its movement is described as some, and as much."""
_FORM = re.compile(r"[\W_]*([A-H])[\W_]{1,4}\d{1,3}(?:\.\d+)?\s?%[\W_]*(?:(?i:(yes|no))[\W_]*)?")
"""A line in the required form: a letter, a percentage and, with verification, yes or no."""
_PERCENT = re.compile(r"\b(\d{1,3})(?:\.\d+)?\s?%")
_YES_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


@cache
def texts() -> Mapping[str, Any]:
    """Return the sentences: words and voice by value and grade (-2 to 2), situations, speakers, questions."""
    document: Mapping[str, Any] = json.loads(Path(__file__).with_name("texts.json").read_text(encoding="utf-8"))
    return document


@dataclass(frozen=True)
class DescribedSample:
    """One sample in words."""

    speaker: str
    setting: str
    spoken: str
    """Three sentences on valence, arousal and control, as the words express them."""
    heard: str
    """The same three as the voice expresses them, and the movement of the voice."""
    wording: str
    """The seed by which the sentences were chosen."""


def describe(features: Tensor) -> list[DescribedSample]:
    """Return the samples [n, seq_len, dim] in words; equal samples have equal texts.

    The means of the semantic third decide the sentences that are said, those of the prosodic third how the voice
    is described: each value is put in one of five grades, so that weak words say little and a noisy voice
    misleads. The speaker, the situation and the choice among sentences of one grade are drawn by the words alone:
    a pair of groups has the same words. Only the prosody depends on the group. The groups of the generator are
    settings of a formula, not descriptions of people.
    """
    semantic, prosodic, _ = thirds(features.shape[2])
    words, voice = value_means(features[:, :, semantic]), value_means(features[:, :, prosodic])
    spreads = features[:, :, prosodic].double()
    value_by_feature = voice[:, None, [index % VALUES for index in range(spreads.shape[2])]]
    movement = (spreads - value_by_feature).square().mean((1, 2)).sqrt()
    rows = zip(words.tolist(), voice.tolist(), movement.tolist(), strict=True)
    return [_describe_sample(*row) for row in rows]


def _describe_sample(words: Sequence[float], voice: Sequence[float], spread: float) -> DescribedSample:
    phrases = texts()
    wording = " ".join(str(round(8 * value)) for value in words)
    generator = random.Random(wording)
    speaker, listener, situation, setting, manner = (
        generator.choice(phrases[name]) for name in ("speakers", "listeners", "situations", "settings", "manners")
    )
    setting = setting.format(speaker=speaker, listener=listener, situation=situation)
    sentence = " ".join(
        generator.choice(phrases["words"][name][grade(value)]) for name, value in zip(VALUE_NAMES, words, strict=True)
    )
    # One draw for each value, whatever its grade, so that the draws of a pair stay aligned.
    tones = {
        name: generator.choice(phrases["voice"][name][grade(value)])
        for name, value in zip(VALUE_NAMES, voice, strict=True)
    }
    movement = "little" if spread < LIVELY else "some" if spread < LEAPING else "much"
    heard = f"{manner.format(**tones)} {generator.choice(phrases['movement'][movement])}"
    return DescribedSample(speaker, setting[0].upper() + setting[1:], sentence, heard, wording)


def grade(value: float) -> str:
    """Return the grade of a mean: "-2" to "2".

    >>> [grade(value) for value in (-1.3, -0.3, 0.1, 0.5, 0.8)]
    ['-2', '-1', '0', '1', '2']
    """
    size = (abs(value) >= MILD) + (abs(value) >= STRONG)
    return str(size if value > 0 else -size)


def prompts(
    features: Tensor, *, verification: bool, labels: Tensor | None = None, group: Group | None = None
) -> list[Prompt]:
    """Return one question for each sample: which of the eight emotions, in an order drawn by the words.

    ``metadata["options"]`` is for `Choice`; where ``labels`` are given, ``metadata["label"]`` is the right value.
    ``groups`` holds the neurotype where ``group`` is given. The prompt requests a letter and a percentage; with
    ``verification`` also a check of the choice backwards, from the emotion to words and voice, and its result.
    """
    phrases = texts()
    options = AnswerOptions({emotion: emotion for emotion in EMOTIONS})
    questions = []
    for index, sample in enumerate(describe(features)):
        sample_options = options.shuffled(sample.wording)
        text = phrases["question"].format(
            setting=sample.setting,
            speaker=sample.speaker,
            said=sample.spoken,
            heard=sample.heard,
            options=sample_options,
            reply=phrases["reply_verified" if verification else "reply"],
        )
        metadata: dict[str, Any] = {"options": sample_options}
        if labels is not None:
            metadata["label"] = EMOTIONS[int(labels[index])]
        questions.append(Prompt(text, {"neurotype": group} if group else {}, metadata))
    return questions


def choice_in(answer: Answer) -> Answer:
    """Return the letter of the last line, if only that has the required form; else the whole answer.

    Lines before it may have the form if they end with no: that choice failed its check and was replaced.

    Args:
        answer: The answer to a prompt of `prompts`.

    >>> choice_in(Answer("The voice is loud and quick.\\n\\nB, 80%, yes")).text
    'B'
    >>> choice_in(Answer("A, 60%\\nB, 40%")).text
    'A, 60%\\nB, 40%'
    """
    lines = answer.text.strip().splitlines() or [""]
    *earlier, last = [_FORM.fullmatch(line) for line in lines]
    is_clear = last is not None and all((line[2] or "").lower() == "no" for line in earlier if line)
    return replace(answer, text=last[1]) if last and is_clear else answer


def reading_of(
    questions: Sequence[Prompt],
    answers: Sequence[Answer | None],
    grade_answer: Callable[[Prompt, Answer], Grade],
    *,
    verification: bool,
) -> EmotionReading:
    """Return what a language model answered to `prompts`, as an `EmotionReading`.

    Args:
        questions: The prompts.
        answers: The answer to each; None for one that failed.
        grade_answer: A function that reads the choice: ``Choice().grade``.
        verification: Whether the prompts ask for a check of the choice.

    Returns:
        The label -1 and the confidence nan for an answer that failed or cannot be graded; else the confidence is the
        last percentage (0 to 100) of the answer, nan without one. ``verified`` is true where the last yes or no is yes.
    """
    import torch

    labels, confidence, verified = [], [], []
    for prompt, answer in zip(questions, answers, strict=True):
        graded = grade_answer(prompt, choice_in(answer)) if answer is not None else Grade.none("error")
        is_read = answer is not None and graded.ungraded is None
        text = answer.text if answer is not None and is_read else ""
        labels.append(EMOTIONS.index(graded.value) if is_read else UNREAD)
        percents = [int(percent) for percent in _PERCENT.findall(text) if int(percent) <= 100]
        confidence.append(percents[-1] / 100 if percents else float("nan"))
        confirmations = _YES_NO.findall(text)
        verified.append(bool(confirmations) and confirmations[-1].lower() == "yes")
    return EmotionReading(
        torch.tensor(labels), torch.tensor(confidence), torch.tensor(verified) if verification else None
    )


@dataclass(frozen=True)
class TextStudent:
    """A language model as a student, which answers questions about features that are described in words.

    ``ask`` returns the answers to prompts in order, None for one that failed; ``grade_answer`` is ``Choice().grade``.
    """

    ask: Callable[[Sequence[Prompt]], Sequence[Answer | None]]
    grade_answer: Callable[[Prompt, Answer], Grade]

    def read(self, features: Tensor, *, verification: bool) -> EmotionReading:
        """Read a model's answers.

        Raises:
            FairnessError: ``ask`` returns another number of answers than prompts.
        """
        questions = prompts(features, verification=verification)
        answers = self.ask(questions)
        if len(answers) != len(questions):
            raise FairnessError(
                f"{counted(len(questions), 'prompt')} got {counted(len(answers), 'answer')}: "
                "each needs one, None if it failed"
            )
        return reading_of(questions, answers, self.grade_answer, verification=verification)
