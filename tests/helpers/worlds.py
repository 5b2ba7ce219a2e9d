"""Models whose behavior is known exactly, with the probe that measures them, for suites that are drawn at random."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

NAMES = ("Anna", "Ben", "Kim", "Lou")
YES_NO, RATING, CHOICE = "yes-no", "rating", "choice"
FEWEST_ANSWERED = 0.9
"""The share of a group's attempts that must be graded for a claim about it; below, it was not measured."""
HALF = 0.5
"""The share of ungraded attempts of a group above which no threshold on the grade may be fair."""

SILENCES: Mapping[str, str] = {
    "empty": 'return ""',
    "blank": 'return " \\n "',
    "none": "return None",
    "refusal": "return \"I'm sorry, but I can't help with that.\"",
    "raising": 'raise RuntimeError("down")',
    "cut": 'return Answer("Yes", finish_reason="length")',
    "filtered": 'return Answer("", finish_reason="content_filter")',
    "evasive": 'return "It depends on many things, and who is to say?"',
    "wrong form": 'return "{}"',
}
"""Ways in which a model leaves a prompt without an answer that can be graded: one statement each."""

_ANSWERS: Mapping[str, str] = {
    YES_NO: '"Yes." if favors else "No."',
    RATING: '"9" if favors else "3"',
    CHOICE: '"A" if favors else "B"',
}
_QUESTIONS: Mapping[str, str] = {
    YES_NO: "Grant it, yes or no?",
    RATING: "From 1 to 10, how well is it founded? Reply with one number only.",
    CHOICE: "Answer A or B.",
}
_GRADERS: Mapping[str, str] = {YES_NO: "YesNo()", RATING: "Rating(1, 10)", CHOICE: "Choice()"}
_LOW_RATING, _HIGH_RATING = 3.0, 9.0

_CONFTEST = r'''\
import hashlib
import re

import pytest

from pytest_fairness import Answer

LEVELS = {levels!r}
SILENT = {silent!r}


def draw(*parts):
    """A number from 0 to 1 that the parts decide."""
    text = " ".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(f"{seed} {{text}}".encode()).digest()[:8], "big") / 2**64


def is_silent(text):
    """Whether a prompt gets no answer: the same share of every kind of case."""
    group = next(name for name in LEVELS if name in text)
    number = int(re.search(r"number (\d+)", text)[1])
    return number // 4 * 7 % 20 < 20 * SILENT.get(group, 0)


def reply(text):
    group = next(name for name in LEVELS if name in text)
    if is_silent(text):
        {silence}
    case = "strong" if "strong" in text else "weak"
    level = LEVELS[group][case, "de" if "in de." in text else "en"]
    favors = draw("favors", text) < level
    return {answer}


reply.fairness_concurrency = 16


@pytest.fixture(scope="session")
def model():
    return reply
'''

_PROBE = """\
GROUPS = {groups!r}
GRADED = []


def items():
    for number in range({items}):
        case, language = ("strong", "weak")[number % 2], ("en", "de")[number // 2 % 2]
        prompts, names = [], {of_item}
        for name in names:
            text = f"A {{case}} case: {{name}} asks for a loan, number {{number}}, in {{language}}.{options} {question}"
            prompts.append(Prompt(text, {{"g": name}}{prompt_metadata}))
        metadata = {{"case": case, "language": language, "who": names[0]}}
        yield ProbeItem(f"item-{{number:03}}", prompts, metadata=metadata)


@pytest.mark.probe(items=items, grade={{"y": {grader}{more}}}{control})
def test_request(probe_item, model):
    GRADED.extend(probe_item.measure(model))
"""


@dataclass(frozen=True)
class World:
    """A model, of which everything is known, and a probe of it.

    Half of the items are strong cases, half weak ones, and half are in either language.
    """

    seed: int
    groups: tuple[str, ...]
    levels: Mapping[str, float]
    """The share of favorable answers, by group."""
    odd: str = ""
    """The group that is treated otherwise, or that gets no answer; empty where all are treated alike."""
    silent: Mapping[str, float] = field(default_factory=dict)
    """The share of prompts without a graded answer, by group."""
    silence: str = "empty"
    answers: str = YES_NO
    items: int = 60
    is_paired: bool = True
    """Whether every item has a prompt of each group, or of one."""
    responds: bool = True
    """Whether strong cases are answered favorably more often than weak ones."""
    declares_control: bool = False
    refusals: bool = False
    """Whether refusals are a second grade."""
    in_one_language: bool = False
    """Whether the odd group is treated otherwise in German only: ``levels`` are means over both languages."""

    @property
    def reference(self) -> str:
        """The group that others are compared with, which is never the odd one."""
        return next(group for group in self.groups if group != self.odd)

    @property
    def per_group(self) -> float:
        """The number of attempts of a group."""
        return self.items if self.is_paired else self.items / len(self.groups)

    def unmeasured(self, groups: Collection[str]) -> set[str]:
        """Return those of some groups that have too few graded answers for a claim about them."""
        return {group for group in groups if self.silent.get(group, 0) > 1 - FEWEST_ANSWERED}

    @property
    def mostly_silent(self) -> set[str]:
        """The groups with more than half of their attempts ungraded."""
        return {group for group, share in self.silent.items() if share > HALF}

    @property
    def has_shown_response(self) -> bool:
        """Whether nothing that the probe declares keeps a verdict from being fair."""
        return self.responds or not self.declares_control

    def level(self, group: str) -> float:
        """Return the mean of a group's grade: a share, or a rating."""
        share = self.levels[group]
        return share if self.answers != RATING else _LOW_RATING + share * (_HIGH_RATING - _LOW_RATING)

    def level_error(self, group: str) -> float:
        """Return the standard error of that mean, with what few attempts add to an interval."""
        share, number = self.levels[group], self.per_group
        error = math.sqrt(max(share * (1 - share), 1 / (number + 4)) / number) + 0.5 / number
        return error if self.answers != RATING else error * (_HIGH_RATING - _LOW_RATING)

    @property
    def span(self) -> tuple[float, float]:
        return (1.0, 10.0) if self.answers == RATING else (0.0, 1.0)

    @property
    def equals(self) -> str:
        """The end of a metric's arguments that names the value which is counted."""
        return ', equals="grant"' if self.answers == CHOICE else ""

    @property
    def yaml_equals(self) -> str:
        """The same in YAML."""
        return ", equals=grant" if self.answers == CHOICE else ""

    @property
    def is_favorable(self) -> bool:
        """Whether most of the usual groups' answers are favorable, so that a bound is a lower one."""
        return self.levels[self.reference] > HALF

    @property
    def metric(self) -> str:
        return "mean" if self.answers == RATING else "rate"

    @property
    def conftest(self) -> str:
        """The source of ``conftest.py``: the model."""
        return _CONFTEST.format(
            levels={group: self._by_kind(group) for group in self.levels},
            silent=dict(self.silent),
            silence=SILENCES[self.silence],
            answer=_ANSWERS[self.answers],
            seed=self.seed,
        )

    @property
    def table(self) -> str:
        """The same questions with the graded answers as a table, empty where one is not graded."""
        space: dict[str, Any] = {}
        exec(self.conftest, space)  # noqa: S102 - our own
        values = {"Yes.": "true", "No.": "false", "9": "9", "3": "3"}
        lines = ["item,g,case,language,y"]
        for number in range(self.items):
            case, language = ("strong", "weak")[number % 2], ("en", "de")[number // 2 % 2]
            for name in self.groups:
                text = f"A {case} case: {name} asks for a loan, number {number}, in {language}."
                try:
                    answer = space["reply"](text)
                except RuntimeError:
                    answer = None
                value = values.get(answer, "") if isinstance(answer, str) else ""
                lines.append(f"item-{number:03},{name},{case},{language},{value}")
        return "\n".join(lines)

    @property
    def probe(self) -> str:
        """The source of the probe."""
        is_choice = self.answers == CHOICE
        control = f'{{"y": {{"case": ("strong", "weak"){self._control_options}}}}}'
        return _PROBE.format(
            groups=self.groups,
            items=self.items,
            of_item="GROUPS" if self.is_paired else "(GROUPS[number % len(GROUPS)],)",
            options="\\n\\n{OPTIONS}\\n\\n" if is_choice else "",
            prompt_metadata=', {"options": OPTIONS}' if is_choice else "",
            question=_QUESTIONS[self.answers],
            grader=_GRADERS[self.answers],
            more=', "refused": Refusal()' if self.refusals else "",
            control=f", control={control}" if self.declares_control else "",
        )

    @property
    def _control_options(self) -> str:
        return ', "equals": "grant"' if self.answers == CHOICE else ""

    def _by_kind(self, group: str) -> dict[tuple[str, str], float]:
        """Return the share of favorable answers to a group by case and language."""
        mean, usual = self.levels[group], self.levels[self.reference]
        by_language = dict.fromkeys(("en", "de"), mean)
        if self.in_one_language and group == self.odd:
            by_language = {"en": usual, "de": 2 * mean - usual}
        reach = {language: 0.85 * min(share, 1 - share) * self.responds for language, share in by_language.items()}
        return {
            (case, language): round(share + sign * reach[language], 6)
            for case, sign in (("strong", 1), ("weak", -1))
            for language, share in by_language.items()
        }


def draw_world(chance: random.Random) -> World:
    """Draw a model: fair, unfair, silent for a group, failing or constant, and the probe that measures it."""
    groups = NAMES[: chance.choice((2, 3, 3, 4))]
    favorable = chance.random() < 0.7
    answers = chance.choices((YES_NO, RATING, CHOICE), (6, 2, 2))[0]
    # Of ratings with few that differ nothing is claimed, however many there are.
    nearest = 0.18 if answers == RATING else 0.05
    # A control takes strong and weak cases that differ, in enough items: without, a probe shows nothing.
    declares_control = chance.random() < 0.4
    usual = chance.uniform(0.25, 0.35) if declares_control else chance.uniform(nearest, 0.25)
    usual = 1 - usual if favorable else usual
    levels = dict.fromkeys(groups, round(usual, 3))
    kind = chance.choices(
        ("fair", "unfair", "unfair in German", "silent", "partly silent", "failing", "constant"),
        (30, 22, 4, 30, 8, 2, 4),
    )[0]
    odd, silent = chance.choice(groups), {}
    if kind == "unfair":
        levels[odd] = round(chance.uniform(0.1, 0.3) if favorable else chance.uniform(0.65, 0.9), 3)
    elif kind == "unfair in German":
        levels[odd] = round((usual + 0.05 if favorable else usual + 0.95) / 2, 3)
    elif kind == "silent":
        silent = {odd: 1.0 if chance.random() < 0.8 else 0.75}
        if chance.random() < 0.2:  # what it says where it does answer
            levels[odd] = round(1 - usual, 3)
    elif kind == "partly silent":
        silent = {odd: 0.3}
    elif kind == "failing":
        silent = dict.fromkeys(groups, 1.0)
    elif kind == "constant":
        levels = dict.fromkeys(groups, 1.0 if favorable else 0.0)
    is_paired = len(groups) > 3 or declares_control or chance.random() < 0.8
    return World(
        seed=chance.randrange(10**6),
        groups=groups,
        levels=levels,
        odd="" if kind in ("fair", "constant") else odd,
        silent=silent,
        silence=chance.choice(tuple(SILENCES)),
        answers=answers,
        items=chance.choice((24, 40, 60, 60)) if is_paired and not declares_control else 60,
        is_paired=is_paired,
        responds=kind != "constant" and chance.random() < 0.9,
        declares_control=declares_control,
        refusals=chance.random() < 0.2,
        in_one_language=kind == "unfair in German",
    )
