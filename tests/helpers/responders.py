"""Responders that follow the form of a prompt, judged by the thresholds of shipped suites; and planted bias."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

from pytest_fairness import DataFolders, Measured
from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.verdicts import judge
from pytest_fairness.models.planted_bias import uniforms
from pytest_fairness.plugin.markers import mark_of, threshold_probe, threshold_scale
from suites.bbq import test_bbq, test_pairs
from suites.gender import (
    test_affects,
    test_decisions,
    test_insistence,
    test_opinions,
    test_pronouns,
    test_writing,
)
from suites.gender import test_languages as test_referral_languages
from suites.hiring import (
    test_attributes,
    test_hiring,
    test_identities,
    test_languages,
    test_promotion,
    test_shortlisting,
)
from tests.helpers.designs import crossed_factor, designed_items
from tests.helpers.suite_verdicts import _graded, simulated

MODULES: tuple[ModuleType, ...] = (
    *(test_bbq, test_pairs, test_decisions, test_insistence, test_affects, test_opinions, test_writing),
    *(test_referral_languages, test_pronouns),
    *(test_hiring, test_promotion, test_shortlisting, test_attributes, test_identities, test_languages),
)
"""Suites whose graders need no weights and no judge."""

ORDINARY = "base=BASE&accuracy=0.8&spread=0.5"
"""A fair model that is neither certain nor a coin; for ``BASE`` see `parameters_for`."""
_BASES = {
    **dict.fromkeys(("test_choice", "test_quarrel", "test_advice"), 1 / 2),
    **dict.fromkeys(("test_occupation", "test_trait", "test_pastime", "test_motto"), 1 / 2),
    "test_emotion": 1 / 4,
    "test_shortlist": 1 / 5,
    "test_claim": 0.05,
}
"""Share of the first of several options that are groups, where none is preferred, or of agreement, by probe."""
RESPONDERS: Mapping[str, str] = {
    "fair": ORDINARY,
    "first": "habit=first",
    "last": "habit=last",
    "first-mentioned": "habit=first-mentioned",
    "last-mentioned": "habit=last-mentioned",
    "longest": "habit=longest",
    "shortest": "habit=shortest",
    "yes": f"habit=yes&{ORDINARY}",
    "no": f"habit=no&{ORDINARY}",
    "often-first": f"habit=first&habit_share=0.6&{ORDINARY}",
    "often-first-mentioned": f"habit=first-mentioned&habit_share=0.6&{ORDINARY}",
    "often-longest": f"habit=longest&habit_share=0.6&{ORDINARY}",
    "verbose": f"verbose=1&{ORDINARY}",
    "by-format": f"format_shift=1.5&{ORDINARY}",
    "often-refusing": f"refusal=0.05&{ORDINARY}",
    "refusing": "refusal=1",
}

LEVELS = frozenset(
    {
        "test_what_cannot_be_told_is_not_guessed",
        "test_what_is_told_is_understood",
        "test_both_questions_are_understood",
        "test_what_cannot_be_told_gets_one_answer",
        "test_what_cannot_be_told_is_not_told_of_one_question",
        "test_no_gender_is_said_to_be_better",
        "test_who_spoke_is_not_guessed",
    }
)
"""Thresholds of what a model must do whoever it is about: a responder that never reads breaks them by right."""


def parameters_for(responder: str, probe: Callable[..., Any]) -> str:
    """Return the parameters of a responder for a probe: options that stand for groups are equally likely."""
    return RESPONDERS[responder].replace("BASE", str(_BASES.get(probe.__name__, 0.6)))


Answers = Callable[[ProbeItem, Prompt, int], str]


def _role(item: ProbeItem, prompt: Prompt, repetition: int) -> str:
    """Choose the gender that a role is typed as in 85% of answers."""
    options = prompt.metadata["options"]
    draws = uniforms(prompt.text, repetition)
    typed = item.metadata["typed"]
    value = typed if typed in options.values and next(draws) < 0.85 else options.values[next(draws) < 0.5]
    return str(options.labels[options.values.index(value)])


def _claim(item: ProbeItem, prompt: Prompt, repetition: int) -> str:
    """Agree with stereotypes in 40% of answers, with their reversals in 2%."""
    share = 0.4 if prompt.metadata["version"] == "stereotype" else 0.02
    return "yes" if next(uniforms(prompt.text, repetition)) < share else "no"


_INTERSECTION = "base=0.6&spread=0.5&ratio=0.3&by=gender_ethnicity&of=female black"
_HIRING = "base=0.6&spread=0.5&ratio=0.55&by="
PLANTED: Mapping[str, str | Answers] = {
    "test_ambiguous_answers_do_not_lean_on_stereotypes": "accuracy=0.2&bias=0.9",
    "test_disambiguated_answers_do_not_lean_on_stereotypes": "accuracy=0.3&bias=0.95",
    "test_what_cannot_be_told_is_not_guessed": "accuracy=0.4",
    "test_what_is_told_is_understood": "accuracy=0.1",
    "test_what_cannot_be_told_gets_one_answer": "accuracy=0.4",
    "test_what_cannot_be_told_is_not_told_of_one_question": "accuracy=0.6",
    "test_both_questions_are_understood": "accuracy=0.1",
    "test_approvals_are_alike": "base=0.7&ratio=0.6&of=female&spread=0.5",
    "test_choices_are_alike": "favorable=female&base=0.65",
    "test_types_of_roles_do_not_decide": _role,
    "test_referrals_are_alike": "base=0.7&ratio=0.6&of=female&spread=0.5",
    "test_referrals_are_alike_in_other_languages": "base=0.7&ratio=0.6&of=female&spread=0.5",
    "test_neopronouns_are_approved_alike": "base=0.7&ratio=0.6&by=kind_of_pronoun&of=neopronoun&spread=0.5",
    "test_those_who_insist_are_seen_alike": "base=0.3&ratio=0.4&of=female",
    "test_stress_is_read_alike": "base=0.5&ratio=0.75&of=male",
    "test_anger_is_read_alike": "favorable=anger&base=0.5&ratio=0.5&of=female",
    "test_sadness_is_read_alike": "favorable=sadness&base=0.5&ratio=0.5&of=male",
    "test_reactions_are_judged_alike": "base=0.8&ratio=0.6&of=female&spread=0.5",
    "test_help_is_offered_alike": "base=0.8&ratio=0.6&of=male&spread=0.5",
    "test_no_gender_is_said_to_be_better": "base=0.3",
    "test_praise_of_women_and_of_men_is_agreed_with_alike": "base=0.05&ratio=8&of=female",
    "test_stereotypes_and_their_reversals_are_agreed_with_alike": _claim,
    "test_women_and_men_are_in_the_right_alike": "favorable=female&base=0.75",
    "test_who_spoke_is_not_guessed": "accuracy=0.4",
    "test_guesses_do_not_lean_on_stereotypes": "accuracy=0.3&bias=0.9",
    "test_daughters_and_sons_are_advised_alike": "favorable=female&base=0.4&ratio=1.8&of=female",
    **{f"test_{who}_are_women_and_men_alike": "base=0.85" for who in (
        "workers", "people_with_a_trait", "people_with_a_pastime", "people_with_a_motto")},
    **{f"test_{what}_are_not_stereotyped": "bias=0.85" for what in ("occupations", "traits", "pastimes", "mottos")},
    "test_women_and_men_advance_alike": f"{_HIRING}gender&of=female",
    "test_no_ethnicity_is_left_behind": f"{_HIRING}ethnicity&of=black",
    "test_no_gender_of_an_ethnicity_is_left_behind": _INTERSECTION,
    "test_women_and_men_are_rated_alike": f"{_HIRING}gender&of=female",
    "test_ethnicities_are_rated_alike": f"{_HIRING}ethnicity&of=black",
    "test_women_and_men_are_asked_as_much": f"{_HIRING}gender&of=female".replace("0.55", "0.2"),
    "test_women_and_men_are_promoted_alike": f"{_HIRING}gender&of=female",
    "test_no_ethnicity_is_passed_over": f"{_HIRING}ethnicity&of=black",
    "test_no_ethnicity_is_passed_over_in_shortlists": "favorable=white&base=0.55",
    "test_older_and_younger_applicants_advance_alike": f"{_HIRING}age&of=older",
    "test_applicants_with_and_without_a_disability_advance_alike": f"{_HIRING}disability&of=disabled",
    "test_parental_leave_does_not_decide": f"{_HIRING}leave&of=taken",
    "test_religion_does_not_decide": f"{_HIRING}religion_pooled&of=another or none",
    "test_nationality_does_not_decide": f"{_HIRING}nationality_pooled&of=other",
    "test_sexual_orientation_does_not_decide": f"{_HIRING}sexual_orientation&of=gay or lesbian",
    "test_class_does_not_decide": f"{_HIRING}class&of=working",
    "test_pronouns_do_not_decide": f"{_HIRING}pronouns_pooled&of=they or xe",
    **{f"test_women_and_men_advance_alike_in_{language}": f"{_HIRING}gender&of=female" for language in (
        "german", "spanish", "french", "portuguese", "dutch")},
}  # fmt: skip
"""Bias that breaks a threshold well beyond its bound, by the name of its test."""


@dataclass(frozen=True)
class Study:
    """One probe with the thresholds on it that need no oracle."""

    probe: Callable[..., Any]
    thresholds: tuple[Callable[[Measured], None], ...]

    @property
    def name(self) -> str:
        return f"{self.probe.__module__.split('.')[1]}/{self.probe.__name__.removeprefix('test_')}"


def studies() -> Iterator[Study]:
    """Yield every probe of `MODULES` with its thresholds."""
    for module in MODULES:
        functions = [value for value in vars(module).values() if inspect.isfunction(value)]
        own = [function for function in functions if function.__module__ == module.__name__]
        for probe in (function for function in own if mark_of(function, "probe") is not None):
            of_probe = [
                function for function in own
                if mark_of(function, "threshold") is not None and threshold_probe(function) is probe
                and function.__name__ in PLANTED
            ]  # fmt: skip
            if of_probe:
                yield Study(probe, tuple(of_probe))


def sample(probe: Callable[..., Any], model: str | Answers, seed: int, every: int = 1) -> Measured:
    """Return the sample of a probe as a simulated model, or a function of item, prompt and repetition, answers it.

    Args:
        probe: The probe; graders of it that are fixtures grade false.
        model: Parameters of ``simulated:``, without its seed.
        seed: The seed.
        every: 2 takes every second source, and so on.
    """
    mark = mark_of(probe, "probe")
    assert mark is not None
    arguments = mark.kwargs
    graders = {name: grader for name, grader in arguments["grade"].items() if not isinstance(grader, str)}
    takes_data = "data" in inspect.signature(arguments["items"]).parameters
    items = designed_items(arguments, **({"data": DataFolders({})} if takes_data else {}))
    sources = sorted({item.source or item.id for item in items})[::every]
    kept = [item for item in items if (item.source or item.id) in set(sources)]
    responder = simulated(f"x?{model}&seed={seed}") if isinstance(model, str) else None

    async def ask() -> list[GradedAttempt]:
        attempts: list[GradedAttempt] = []
        for item in kept:
            first = len(attempts)
            for prompt in item.prompts:
                for repetition in range(arguments.get("repetitions", 1)):
                    if responder is not None:
                        answer = await responder.answer(prompt, repetition)
                    else:
                        answer = Answer(model(item, prompt, repetition))  # type: ignore[operator]  # a function
                    # An oracle that never raises a flag stands for graders that are fixtures.
                    grades = {name: Grade(False) for name in arguments["grade"] if name not in graders}
                    grades |= {
                        name: g.grade(prompt, answer) for name, g in graders.items() if not hasattr(g, "grade_item")
                    }
                    attempts.append(GradedAttempt(item, prompt, Attempt("", repetition, answer), grades))
            for name, grader in graders.items():
                if hasattr(grader, "grade_item"):
                    steps = grader.grade_item(item, attempts[first:])
                    graded = steps if isinstance(steps, list) else await _graded(steps, responder)  # type: ignore[arg-type]
                    for index, grade in enumerate(graded, first):
                        attempts[index] = replace(attempts[index], grades={**attempts[index].grades, name: grade})
        return attempts

    extremes = {name: g.extremes_for for name, g in graders.items() if hasattr(g, "extremes_for")}
    return Measured(asyncio.run(ask()), extremes=extremes, crossed=crossed_factor(arguments))


def verdict(threshold: Callable[[Measured], None], measured: Measured) -> str:
    """Return the verdict of a threshold on a sample."""
    return str(judge(partial(threshold, measured), scale=threshold_scale(threshold)).verdict)
