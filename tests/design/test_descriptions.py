"""A sample in words says what its features say, and nothing about the group."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.design.descriptions import DescribedSample, TextStudent, describe, prompts, reading_of, texts
from pytest_fairness.design.environment import EMOTIONS, GROUPS, Batch, EmotionParameters, Group, generate
from pytest_fairness.design.students import evaluate
from pytest_fairness.graders.choice import Choice

torch: Any = pytest.importorskip("torch", reason="the environment needs torch")

FIRST = EmotionParameters(1.5, 0.3, 0.7, 0.1, True)


def batch(
    parameters: EmotionParameters = FIRST, *, n: int = 200, group: Group = "neurotypical", seed: int = 4
) -> Batch:
    return next(generate(parameters, n=n, group=group, seed=seed))


def numbers(text: str, channel: str) -> list[int]:
    """Return valence, arousal and control as a reader finds them who knows the sentences: -2 to 2 each."""
    return [
        next(int(grade) for grade, ways in grades.items() if any(way in text for way in ways))
        for grades in texts()[channel].values()
    ]


def share_right(parameters: EmotionParameters, *channels: str, group: Group = "neurotypical") -> float:
    """Return how often a reader is right who sums the channels, and guesses each sign that they do not show."""
    samples = batch(parameters, n=1500, group=group)
    right = 0.0
    for sample, emotion in zip(describe(samples.features), samples.emotions.tolist(), strict=True):
        columns = [numbers({"words": sample.spoken, "voice": sample.heard}[channel], channel) for channel in channels]
        chance = 1.0
        for value, true in zip(map(sum, zip(*columns, strict=True)), emotion, strict=True):
            chance *= 0.5 if value == 0 else float((value > 0) == (true > 0))
        right += chance
    return right / len(samples.labels)


def sentences() -> Iterator[str]:
    def within(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for part in value.values():
                yield from within(part)
        elif isinstance(value, list):
            for part in value:
                yield from within(part)

    for name in ("words", "voice", "movement", "situations", "settings", "manners"):
        yield from within(texts()[name])


def test_accuracy_from_words_grows_with_their_strength() -> None:
    shares = [
        share_right(EmotionParameters(1, 1, strength, 0.1, False), "words") for strength in (0.0, 0.3, 0.5, 0.75, 1.0)
    ]
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(1 / 8)
    assert all(more - less > 0.03 for less, more in pairwise(shares)), shares


def test_accuracy_from_voice_falls_with_its_variance() -> None:
    shares = [
        share_right(EmotionParameters(variance, 1, 0.5, 0.0, False), "voice") for variance in (0.1, 1.0, 2.0, 4.0)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] - shares[-1] > 0.1, shares


def test_accuracy_from_both_falls_with_noise_and_beats_one() -> None:
    shares = [share_right(EmotionParameters(1, 1, 0.5, level, False), "words", "voice") for level in (0.0, 1.5, 4.0)]
    assert shares == sorted(shares, reverse=True)
    quiet = EmotionParameters(2, 1, 0.5, 0.1, False)
    both, words, voice = (share_right(quiet, *channels) for channels in (("words", "voice"), ("words",), ("voice",)))
    assert both > max(words, voice)


def test_group_descriptions_differ_in_the_voice_only() -> None:
    one, other = (describe(batch(group=group).features) for group in GROUPS)
    assert [(description.speaker, description.setting, description.spoken) for description in one] == [
        (description.speaker, description.setting, description.spoken) for description in other
    ]
    assert sum(a.heard != b.heard for a, b in zip(one, other, strict=True)) > 100
    assert not re.search("neurotyp|alexithym|autis", json.dumps(texts()), re.IGNORECASE)


def test_description_does_not_depend_on_the_batch() -> None:
    features = batch().features
    whole = describe(features)
    assert [describe(features[index : index + 1])[0] for index in range(20)] == whole[:20]


def test_descriptions_vary_widely() -> None:
    descriptions = describe(batch(n=1000).features)
    assert len({description.spoken for description in descriptions}) > 800
    assert len({description.setting for description in descriptions}) > 300
    assert len({description.heard for description in descriptions}) > 400


def test_sentences_name_no_emotion_and_are_unambiguous() -> None:
    for text in sentences():
        assert not re.search(rf"\b({'|'.join(EMOTIONS)})\b", text, re.IGNORECASE), text
        assert text == text.strip()
        assert text.isascii()
    for kind, count in (("words", 5), ("voice", 4)):
        for grades in texts()[kind].values():
            assert list(grades) == ["2", "1", "0", "-1", "-2"]
            ways = [way for ways_of_grade in grades.values() for way in ways_of_grade]
            assert len(ways) == len(set(ways)) == 5 * count
            # A sentence within another one could not be told from it.
            assert not [(a, b) for a in ways for b in ways if a != b and a in b]


def test_prompts_carry_metadata_and_letters_are_balanced() -> None:
    samples = batch(n=1600)
    questions = prompts(samples.features, verification=False, labels=samples.labels, group="neurotypical")
    assert {prompt.groups["neurotype"] for prompt in questions} == {"neurotypical"}
    assert [EMOTIONS.index(prompt.metadata["label"]) for prompt in questions] == samples.labels.tolist()
    places = [prompt.metadata["options"].values.index(prompt.metadata["label"]) for prompt in questions]
    assert all(120 < places.count(index) < 290 for index in range(8)), [places.count(index) for index in range(8)]
    for prompt in questions[:20]:
        assert str(prompt.metadata["options"]) in prompt.text
        assert not re.search(r"[{}]", prompt.text)
    checked = prompts(samples.features, verification=True)
    assert all("check it backwards" in prompt.text for prompt in checked)
    assert not any("backwards" in prompt.text for prompt in questions)


def answer(*texts: str | None) -> list[Answer | None]:
    return [None if text is None else Answer(text) for text in texts]


def test_answers_become_a_reading() -> None:
    questions = prompts(batch(n=8).features, verification=True)
    values = [prompt.metadata["options"].values for prompt in questions]
    answers = answer(
        "A, 70%", "B, 85 %, no", "**C**, 100%, Yes", "D", "I would rather not say", None, "E, 700%, yes", "no, 20%"
    )
    reading = reading_of(questions, answers, Choice().grade, verification=True)
    read = {0: 0, 1: 1, 2: 2, 3: 3, 6: 4}
    expected = [EMOTIONS.index(values[index][read[index]]) if index in read else -1 for index in range(8)]
    assert reading.labels.tolist() == expected
    nan = float("nan")
    assert reading.confidence.tolist() == pytest.approx([0.7, 0.85, 1.0, nan, nan, nan, nan, nan], nan_ok=True)
    assert reading.verified is not None
    assert reading.verified.tolist() == [False, False, True, False, False, False, True, False]
    assert reading_of(questions, answers, Choice().grade, verification=False).verified is None


def test_a_language_model_is_a_student() -> None:
    def reads(questions: Sequence[Prompt]) -> list[Answer | None]:
        answers: list[Answer | None] = []
        for prompt in questions:
            sums = [a + b for a, b in zip(numbers(prompt.text, "words"), numbers(prompt.text, "voice"), strict=True)]
            emotion = EMOTIONS[sum(weight * (value < 0) for weight, value in zip((4, 2, 1), sums, strict=True))]
            answers.append(Answer(f"{emotion}, 80%, yes") if len(answers) % 10 else None)
        return answers

    student = TextStudent(reads, Choice().grade)
    outcomes = evaluate(student, FIRST, n=300, seed=2)
    for outcome in outcomes.values():
        assert sum(outcome.correct != outcome.correct) == 30
        assert outcome.correct[outcome.correct == outcome.correct].mean() > 0.6
        assert outcome.verified is not None
    with pytest.raises(FairnessError, match="2 prompts got 1 answer:"):
        TextStudent(lambda questions: [None], Choice().grade).read(torch.zeros(2, 5, 48), verification=False)


def test_described_sample_has_readable_texts() -> None:
    sample: DescribedSample = describe(batch(n=1).features)[0]
    assert sample.setting.endswith(".")
    assert sample.spoken.count(".") == 3
    assert sample.heard.count(".") == 4
    assert re.fullmatch(r"(?:[A-Z][^.]*\. ?){4}", sample.heard)


def test_prompts_explain_no_code() -> None:
    """Read descriptions as a listener's: no sentence says which emotions are lively or in control."""
    features = batch(n=5).features
    for sample, prompt in zip(describe(features), prompts(features, verification=False), strict=True):
        rest = prompt.text
        for part in (sample.heard, sample.spoken, sample.setting, str(prompt.metadata["options"])):
            rest = rest.replace(part, "")
        assert not re.search(rf"\b({'|'.join(EMOTIONS)}|arousal|valence|control|pleasant|lively|calm)\b", rest)
