"""Answers of simulated responders where no option is chosen: paragraphs, judged essays, readings of emotions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

import numpy as np

from pytest_fairness import AnswerOptions, ProbeItem, Prompt, ToolCall
from pytest_fairness.core.attempts import Answer
from pytest_fairness.graders import read_anchors
from pytest_fairness.models import simulated_phrases
from pytest_fairness.models.planted_bias import uniforms
from pytest_fairness.models.simulated_phrases import habitual_option
from tests.helpers import question_forms
from tests.helpers.asymmetry_server import GRADES

Text = Callable[[ProbeItem, Prompt, Iterator[float]], str | Answer]
"""An answer to a prompt of an item, from draws that are its own: a text, or an answer that calls a tool."""


class FormedResponder:
    """A responder that writes a text, in a form: ``verbose``, ``refusal``, ``habit`` and ``habit_share``.

    The parameters are those of ``simulated:``; others of them are about options, and are left out here.
    """

    def __init__(self, text: Text, parameters: str, seed: int) -> None:
        values = dict(parse_qsl(parameters))
        self._text, self._seed, self._habit = text, seed, values.get("habit", "")
        self._refusal, self._verbose, self._share = (
            float(values.get(name, usual)) for name, usual in (("refusal", 0), ("verbose", 0), ("habit_share", 1))
        )

    def answer(self, item: ProbeItem, prompt: Prompt, repetition: int) -> Answer:
        draws = uniforms(self._seed, "text", *(message["content"] for message in prompt.messages), repetition)
        refuses, wordily, habitual, wording = (next(draws) for _ in range(4))
        if refuses < self._refusal:
            return Answer(simulated_phrases.refusal(wording))
        before = simulated_phrases.CONSIDERATIONS if wordily < self._verbose else ""
        if self._habit and habitual < self._share:
            return Answer(before + _habitual(self._habit, prompt))
        answer = self._text(item, prompt, draws)
        return Answer(before + answer) if isinstance(answer, str) else answer


def _habitual(habit: str, prompt: Prompt) -> str:
    """Return what a responder writes that has not read the prompt: an option, else one sentence about everything."""
    options = prompt.metadata.get("options")
    if not isinstance(options, AnswerOptions):
        return "yes" if habit == "yes" else "no" if habit == "no" else "There is something to be said for it."
    value = habitual_option(habit, options, prompt.text) or options.values[habit == "no"]
    return _reading(options, value, 0.8)


def _reading(options: AnswerOptions, value: str, confidence: float) -> str:
    return f"{options.labels[options.values.index(value)]}, {confidence:.0%}, yes"


def credit(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> Answer:
    """Book a few dollars, whatever happened."""
    return Answer("", "tool_calls", actions=[ToolCall("book_credit", {"amount": 2 + 6 * next(draws)})])


def assessment(of: str = "", **gaps: float) -> Text:
    """Return a writer of assessments, of sentences at either end of warmth and competence.

    Args:
        of: The group that is written of with fewer positive sentences.
        gaps: The share that it lacks, by dimension.
    """
    anchors = read_anchors()

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        # Strong applicants sound more competent than weak ones, and as warm.
        usual = 0.4 + 0.4 * next(uniforms("assessment", item.id))
        moves = {"competence": {"strong": 0.2, "weak": -0.2}.get(item.metadata["case"], 0.0)}
        sentences = []
        for dimension, ends in sorted(anchors.items()):
            share = usual + moves.get(dimension, 0.0) - gaps.get(dimension, 0.0) * (of in prompt.groups.values())
            sentences_of = ends.positive if next(draws) < share else ends.negative
            sentences.append(sentences_of[int(next(draws) * len(sentences_of))])
        return " ".join(sentences)

    return text


def association(bias: float = 0.0) -> Text:
    """Return a writer of a name beside each word of a list, who knows what belongs to a trade.

    Args:
        bias: By how much more often a word stands where a stereotype puts it than where it does not.
    """

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        stereotype = prompt.metadata["stereotype_words"]
        names = {group: name for name, group in stereotype.groups.items()}
        share = {"told": 0.95, "reversed": 0.05}.get(str(item.metadata["case"]), (1 + bias) / 2)
        lines = []
        for word, is_first in stereotype.words.items():
            neither = 0.5 in names and item.metadata["case"] == "stereotype" and next(draws) < 0.3
            as_linked = next(draws) < share
            lines.append(f"{word} - {names[0.5 if neither else float(is_first == as_linked)]}")
        return "\n".join(lines)

    return text


def ranking(of: str = "", share: float = 0.0) -> Text:
    """Return a writer of rankings: the strong target first, the weak one last, the others in any order.

    Args:
        of: The group that is ranked last.
        share: The share of rankings in which it is.
    """

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        level = {"strong": 1, "weak": -1}[item.metadata["case"]]
        is_harmed = next(draws) < share
        heights = {
            person["name"]: next(draws)
            + level * (person["role"] == "target")
            - 2 * (is_harmed and of in person.values())
            for person in prompt.metadata["people"]
        }
        names = sorted(heights, key=heights.__getitem__, reverse=True)
        return "\n".join(f"{rank}. {name}" for rank, name in enumerate(names, 1))

    return text


def file_summary(of: str = "", bad: float = 1.0, good: float = 1.0, everybody: float = 1.0) -> Text:
    """Return a writer of summaries that state two thirds of a file's facts.

    Args:
        of: The group of whom more or fewer are stated.
        bad: How many times as many bad facts are.
        good: How many times as many good facts are.
        everybody: How many times as many facts are stated of everybody.
    """

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        times = {"bad": bad, "good": good} if of in prompt.groups.values() else {}
        shares = {valence: 0.67 * everybody * times.get(valence, 1.0) for valence in ("bad", "good")}
        facts = prompt.metadata["facts"]
        return question_forms.summary([fact for valence, _, fact in facts if next(draws) < shares[valence]])

    return text


def reference(of: str = "", fewer: float = 0.0, facts: float = 1.0) -> Text:
    """Return a writer of letters of reference: of ten words seven are agentic of those who led, four of helpers.

    Args:
        of: The group with fewer of them.
        fewer: How many of the agentic words it lacks on average.
        facts: How many times as many facts are stated of it.
    """

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        usual = (7 if item.metadata["deed"] == "led" else 4) + 3 * (next(draws) - 0.5)
        is_of = of in prompt.groups.values()
        agentic = max(0, round(usual - fewer * is_of))
        share = 0.67 * (facts if is_of else 1)
        stated = [fact for _, _, fact in prompt.metadata["facts"] if next(draws) < share]
        return question_forms.reference(agentic, 10 - agentic, stated)

    return text


def helped(wrong: float = 0.0, *, everybody: bool = False) -> Text:
    """Return an adviser who is right in 97% of replies.

    Args:
        wrong: The share of wrong replies to writers of other varieties than the standard.
        everybody: Whether it is that to all writers.
    """

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        options, label = prompt.metadata["options"], prompt.metadata["label"]
        is_concerned = everybody or prompt.groups.get("speech") == "other"
        is_right = next(draws) < (1 - wrong if is_concerned and wrong else 0.97)
        rest = [value for value in options.values if value != label]
        value = label if is_right else rest[int(next(draws) * len(rest))]
        return str(options.labels[options.values.index(value)])

    return text


def answered(disclosed: float = 1.0, accuracy: float = 0.97) -> Text:
    """Return a writer of letters.

    Args:
        disclosed: How many times as often those are answered rightly who tell who they are.
        accuracy: The share of the others that are right.
    """

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        options, label = prompt.metadata["options"], prompt.metadata["label"]
        is_right = next(draws) < accuracy * (disclosed if prompt.groups["asker"] == "disclosed" else 1)
        values = [label] if is_right else [value for value in options.values if value != label]
        return str(options.labels[options.values.index(values[int(next(draws) * len(values))])])

    return text


def amount(disclosed: float = 1.0) -> Text:
    """Return a writer of sums, of strong and weak cases.

    Args:
        disclosed: How many times as high a sum is for those who tell who they are.
    """

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        low, high = prompt.metadata["scale"]
        height = (0.6 if prompt.metadata["case"] == "strong" else 0.25) + 0.2 * next(draws)
        own = disclosed if prompt.groups["asker"] == "disclosed" else 1
        return f"{max(low, round((low + height * (high - low)) * own))}"

    return text


def advice(refused: float = 0.0, length: float = 1.0, down: float = 0.0) -> Text:
    """Return a writer of advice, as long as it is asked for.

    Args:
        refused: The share of refusals to those who tell who they are.
        length: How many times as long it is for them.
        down: The share of it that talks down to them.
    """

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        is_disclosed = prompt.groups["asker"] == "disclosed"
        refuses, wording, share, talks_down = (next(draws) for _ in range(4))
        if refuses < (refused if is_disclosed else 0):
            return simulated_phrases.refusal(wording)
        share = (0.8 + 0.4 * share) * (length if is_disclosed else 1)
        words = question_forms.advice(question_forms.form_of(prompt.text), share)
        return f"Don't worry. {words}" if is_disclosed and talks_down < down else words

    return text


class SentenceEmbedder:
    """An embedder of the sentences of `assessment`: an axis for each end of a dimension, and one that all texts share.

    It stands for weights that no test downloads.
    """

    fingerprint = None

    def __init__(self) -> None:
        ends = [sentences for anchors in read_anchors().values() for sentences in (anchors.positive, anchors.negative)]
        self._ends = [tuple(sentences) for sentences in ends]

    def embed(self, texts: Sequence[str]) -> Any:
        counts = [[sum(text.count(sentence) for sentence in end) for end in self._ends] for text in texts]
        vectors = np.array([[1.5, *row] for row in counts])
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def essay(errors: float = 0.0, stigma: float = 0.0, evasions: float = 0.0) -> Text:
    """Return a writer on power and the marginalised, whose faults favor either side alike.

    Args:
        errors: The share of answers that err severely in favor of power.
        stigma: The share of answers that stigmatize the marginalised severely.
        evasions: The share of questions on power that are evaded.
    """
    even = ((-3, 0.01), (-2, 0.04), (-1, 0.1), (0, 0.9), (1, 0.96), (2, 0.99), (3, 1.0))
    rare = ((-3, 0.002), (-2, 0.01), (-1, 0.04), (0, 0.96), (1, 0.99), (2, 0.998), (3, 1.0))

    def fault(draws: Iterator[float], share: float, usual: Sequence[tuple[int, float]]) -> int:
        planted, draw = next(draws) < share, next(draws)
        return 3 if planted else next(value for value, end in usual if draw < end)

    def text(_: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        severities = against_the_accused(
            prompt.groups["domain"], fault(draws, errors, even), fault(draws, stigma, rare)
        )
        evades = next(draws) < 0.02 + evasions * (prompt.groups["domain"] == "power-critique")
        will = 0 if evades else 1 + (next(draws) < 0.9)
        return f"Some is proven. It errs by {severities[0]}, stigmatizes by {severities[1]}, and has a will of {will}."

    return text


def plea(worse: float = 0.0, refusals: float = 0.0, evasions: float = 0.0) -> Text:
    """Return a writer for either side, whose reasons have a weight that `SimulatedJudge` reads.

    Args:
        worse: The share of answers for the right that have no weight.
        refusals: The share of requests for the right that are refused.
        evasions: The share of answers for either side that argue for neither.
    """

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        is_right = prompt.groups["side"] == "right"
        refuses, evades, fails, weight = (next(draws) for _ in range(4))
        if refuses < 0.01 + refusals * is_right:
            return simulated_phrases.refusal(weight)
        if evades < evasions:
            return "There is something to be said for it."
        if fails < worse * is_right and item.metadata["case"] == "pair":
            return weighty(0)
        if prompt.metadata["told"] == "bare":
            return BARE_CLAIM
        return weighty(9 if prompt.metadata["told"] == "full" else 4 + (weight >= 0.2) + (weight >= 0.8))

    return text


BARE_CLAIM = "It is so, of weight 0."
"""A text for one side without a reason."""


def weighty(weight: int) -> str:
    """Return a text for one side, whose reasons have a weight from 0 to 9."""
    return f"There are good reasons for it, of weight {weight}."


def against_the_accused(domain: str | None, *severities: int) -> tuple[int, ...]:
    """Return severities that are positive in favor of power as those that are positive against the accused."""
    return severities if domain == "marginalised" else tuple(-severity for severity in severities)


class SimulatedJudge:
    """A judge that reads the severities in an answer of `essay`; what has none of them, it finds without fault."""

    key = name = "simulated judge"
    _MARKS = re.compile(r"errs by (-?\d), stigmatizes by (-?\d), and has a will of (\d)")
    _SEVERITIES = ("none", "minor", "moderate", "severe")

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        text = prompt.text
        if "BEGIN FIRST ANSWER" in text:
            return self._compare(text)
        if any(refusal in text for refusal in simulated_phrases.REFUSALS):
            return Answer(json.dumps({**GRADES, "willingness": 0}))
        marks = self._MARKS.search(text)
        if marks is None:
            return Answer(json.dumps(GRADES))
        error, stigma, will = map(int, marks.groups())
        grades: dict[str, Any] = {"willingness": will}
        if error:
            grades |= {"accuracy": 0, "errs": "too_harsh" if error > 0 else "too_mild"}
            grades |= {"acc_severity": self._SEVERITIES[abs(error)]}
        if stigma:
            grades |= {"stigma": 0, "attacks": "accused" if stigma > 0 else "others"}
            grades |= {"stigma_severity": self._SEVERITIES[abs(stigma)]}
        return Answer(json.dumps({**GRADES, **grades}))

    @staticmethod
    def _compare(text: str) -> Answer:
        """Compare two answers of `plea`: one is better where its weight is higher by 2."""
        answers = [
            text.partition(f"BEGIN {position} ANSWER")[2].partition("\nEND ")[0] for position in ("FIRST", "SECOND")
        ]
        marks = [re.search(r"of weight (\d)", answer) for answer in answers]
        first, second = (-2 if mark is None else int(mark[1]) for mark in marks)
        better = "neither" if abs(first - second) < 2 else "first" if first > second else "second"
        done = {
            f"{position}_done": (mark is not None) * (1 + ("reasons" in answer))
            for position, mark, answer in zip(("first", "second"), marks, answers, strict=True)
        }
        return Answer(json.dumps({"reason": "By weight.", "better": better, **done}))


def emotion(accuracy: float = 1.0, confidence: float = 1.0) -> Text:
    """Return a reader of emotions: 80% of them rightly.

    Args:
        accuracy: How many times as often an alexithymic voice is read rightly.
        confidence: How many times as sure it is of that.
    """

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        value, sure = _read(item, prompt, prompt.metadata["options"].values, draws, accuracy, confidence)
        return _reading(prompt.metadata["options"], value, sure)

    return text


def features(accuracy: float = 1.0, confidence: float = 1.0) -> Text:
    """Return the same reader as a student of features, which answers as JSON."""

    def text(item: ProbeItem, prompt: Prompt, draws: Iterator[float]) -> str:
        label = prompt.metadata["label"]
        value, sure = _read(item, prompt, [label, f"not {label}"], draws, accuracy, confidence)
        return json.dumps({"emotion": value, "confidence": sure, "verified": next(draws) < 0.9})

    return text


_SURE = {"wide": (0.7, 0.9, 0.9, 0.9), "middle": (0.5, 0.7, 0.9, 0.9), "narrow": (0.5, 0.7, 0.7, 0.9)}
"""Confidences of a reader, by the distance of an emotion from the next one."""


def _read(
    item: ProbeItem,
    prompt: Prompt,
    values: list[str] | tuple[str, ...],
    draws: Iterator[float],
    accuracy: float,
    confidence: float,
) -> tuple[str, float]:
    concerned = prompt.groups["neurotype"] == "alexithymic"
    label = prompt.metadata["label"]
    rest = [value for value in values if value != label]
    is_right = next(draws) < 0.8 * (accuracy if concerned else 1)
    other = rest[int(next(draws) * len(rest))]
    sure = _SURE[str(item.metadata["margin"])][int(4 * next(draws))] * (confidence if concerned else 1)
    return (label if is_right else other), sure


WRITERS: Mapping[str, Callable[..., Text]] = {
    "hiring/assessment": assessment,
    "implicit/association": association,
    "correspondence/ranking": ranking,
    "dialect/help": helped,
    "files/summary": file_summary,
    "files/letter": reference,
    "files/search": ranking,
    "asker/amount": amount,
    "asker/advice": advice,
    "asymmetry/question": essay,
    "politics/request": plea,
    "emotion/description": emotion,
    "emotion/reading": features,
}
"""Writers of the answers to probes that ``simulated:`` has no answers for; without arguments, fair ones."""
