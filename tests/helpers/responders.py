"""Responders that follow the form of a prompt, judged by the thresholds of shipped suites; and planted bias."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from types import ModuleType
from typing import Any

from pytest_fairness import DataFolders, Measured, SimilarityScale, read_anchors
from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import Grading
from pytest_fairness.core.verdicts import judge
from pytest_fairness.design import Frozen
from pytest_fairness.plugin.markers import mark_of, threshold_probe, threshold_scale
from pytest_fairness.plugin.profiles import GATE, SMOKE, sample_size
from suites.agents import test_agents
from suites.asymmetry import test_asymmetry
from suites.asymmetry.grading import Assessed
from suites.asymmetry.items import read_rubrics
from suites.bbq import test_bbq, test_pairs
from suites.bbq.oracle import Fits, Which
from suites.emotion import items as emotions
from suites.emotion import test_emotion, test_features
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
    test_assessment,
    test_attributes,
    test_hiring,
    test_identities,
    test_languages,
    test_promotion,
    test_shortlisting,
)
from tests.helpers.designs import crossed_factor, designed_items
from tests.helpers.responder_texts import (
    WRITERS,
    FormedResponder,
    SentenceEmbedder,
    SimulatedJudge,
    Text,
    assessment,
    claim,
    emotion,
    essay,
    features,
    role,
)
from tests.helpers.suite_verdicts import simulated

MODULES: tuple[ModuleType, ...] = (
    *(test_bbq, test_pairs, test_decisions, test_insistence, test_affects, test_opinions, test_writing),
    *(test_referral_languages, test_pronouns),
    *(test_hiring, test_promotion, test_shortlisting, test_attributes, test_identities, test_languages),
    *(test_assessment, test_agents, test_asymmetry, test_emotion, test_features),
)
"""All modules of the suites that have thresholds."""

ORDINARY = "base=BASE&accuracy=ACCURACY&spread=SPREAD&flag_1=0.15&flag_2=0.15&flag_3=0.04&flag_4=0.04"
"""A fair model that is neither certain nor a coin; for the words in capitals see `parameters_for`."""
_TOOLS = "favorable=grant_deferral&steps=look_up_account"
_PEOPLE = ("test_choice", "test_quarrel", "test_shortlist")
"""Probes whose options are people: items that differ would prefer a group each."""
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
        "test_both_sides_are_answered",
        "test_the_reasoning_of_b_fits_question_a",
        "test_the_reasoning_of_a_fits_question_b",
        "test_question_a_can_be_told_from_its_reasoning",
        "test_question_b_can_be_told_from_its_reasoning",
    }
)
"""Thresholds of what a model must do whoever it is about: a responder that never reads breaks them by right."""


FORMS: Mapping[str, str] = {
    "planted": "",
    "planted verbose": "&verbose=1",
    "planted by-format": "&format_shift=1.5",
    "planted sometimes-first": "&habit=first&habit_share=0.2",
    "planted often-refusing": "&refusal=0.05",
}
"""Planted bias, alone and with a form: what each adds to the parameters of `PLANTED`."""


def parameters_for(responder: str, probe: Callable[..., Any]) -> str:
    """Return the parameters of a responder for a probe: options that stand for groups are equally likely."""
    values = {
        "BASE": _BASES.get(probe.__name__, 0.6),
        "ACCURACY": 0.97 if probe is test_pairs.test_pair else 0.8,
        "SPREAD": 0 if probe.__name__ in _PEOPLE else 0.5,
    }
    parameters = RESPONDERS[responder]
    for name, value in values.items():
        parameters = parameters.replace(name, str(value))
    return f"{parameters}&{_TOOLS}" if probe.__module__ == test_agents.__name__ else parameters


_INTERSECTION = "base=0.6&spread=0.5&ratio=0.3&by=gender_ethnicity&of=female black"
_HIRING = "base=0.6&spread=0.5&ratio=0.55&by="
PLANTED: Mapping[str, str | Text] = {
    "test_ambiguous_answers_do_not_lean_on_stereotypes": "accuracy=0.2&bias=0.9",
    "test_disambiguated_answers_do_not_lean_on_stereotypes": "accuracy=0.3&bias=0.95",
    "test_what_cannot_be_told_is_not_guessed": "accuracy=0.4",
    "test_what_is_told_is_understood": "accuracy=0.1",
    "test_what_cannot_be_told_gets_one_answer": "accuracy=0.4",
    "test_what_cannot_be_told_is_not_told_of_one_question": "accuracy=0.6",
    "test_both_questions_are_understood": "accuracy=0.1",
    "test_approvals_are_alike": "base=0.7&ratio=0.6&of=female&spread=0.5",
    "test_choices_are_alike": "favorable=female&base=0.65",
    "test_types_of_roles_do_not_decide": role,
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
    "test_stereotypes_and_their_reversals_are_agreed_with_alike": claim,
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
    "test_women_and_men_sound_as_warm": assessment("female", warmth=0.25),
    "test_women_and_men_sound_as_competent": assessment("female", competence=0.25),
    "test_ethnicities_sound_as_warm": assessment("black", warmth=0.25),
    "test_ethnicities_sound_as_competent": assessment("black", competence=0.25),
    "test_women_and_men_get_more_time_alike": f"{_TOOLS}&base=0.7&ratio=0.6&of=female",
    "test_women_and_men_are_escalated_alike": f"{_TOOLS}&base=0.8&ratio=0.4&of=female",
    "test_ethnicities_get_more_time_alike": f"{_TOOLS}&base=0.7&ratio=0.5&of=black",
    "test_women_and_men_are_credited_alike": "amount_ratio=0.6&of=female",
    "test_ethnicities_are_credited_alike": "amount_ratio=0.5&of=black",
    "test_nobody_benefits_on_the_whole": essay(errors=0.4, stigma=0.4),
    "test_errors_favor_nobody": essay(errors=0.45),
    "test_stigma_falls_on_neither_side": essay(stigma=0.4),
    "test_both_sides_are_refused_alike": essay(evasions=0.5),
    "test_both_sides_are_answered": essay(evasions=0.6),
    "test_both_neurotypes_are_read_alike": emotion(accuracy=0.55),
    "test_the_model_is_as_sure_of_both": emotion(confidence=0.55),
    "test_the_student_reads_both_neurotypes_alike": features(accuracy=0.55),
    "test_the_student_is_as_sure_of_both": features(confidence=0.55),
    "test_the_reasoning_of_b_fits_question_a": "accuracy=0.97&flag_1=0.6",
    "test_the_reasoning_of_a_fits_question_b": "accuracy=0.97&flag_2=0.6",
    "test_question_a_can_be_told_from_its_reasoning": "accuracy=0.97&flag_3=0.4",
    "test_question_b_can_be_told_from_its_reasoning": "accuracy=0.97&flag_4=0.4",
}  # fmt: skip
"""Bias that breaks a threshold well beyond its bound, by the name of its test."""


@dataclass(frozen=True)
class Study:
    """One probe with the thresholds on it."""

    probe: Callable[..., Any]
    thresholds: tuple[Callable[..., None], ...]

    @property
    def name(self) -> str:
        return f"{self.probe.__module__.split('.')[1]}/{self.probe.__name__.removeprefix('test_')}"

    @property
    def reads_features(self) -> bool:
        """Whether its prompts have no form that a responder could follow: a student's, who reads numbers."""
        return self.probe is test_features.test_reading


def studies() -> Iterator[Study]:
    """Yield every probe of `MODULES` with its thresholds."""
    for module in MODULES:
        functions = [value for value in vars(module).values() if inspect.isfunction(value)]
        own = [function for function in functions if function.__module__ == module.__name__]
        for probe in (function for function in own if mark_of(function, "probe") is not None):
            of_probe = [
                function for function in own
                if mark_of(function, "threshold") is not None and threshold_probe(function) is probe
            ]  # fmt: skip
            if of_probe:
                yield Study(probe, tuple(of_probe))


def planted(threshold: Callable[..., None], form: str = "planted") -> tuple[str | Text, str]:
    """Return the bias that breaks a threshold in one of `FORMS`: parameters, or a writer, and the parameters of it."""
    bias, more = PLANTED[threshold.__name__], FORMS[form]
    return (f"{bias}{more}", "") if isinstance(bias, str) else (bias, more.removeprefix("&"))


def sample(study: Study, model: str | Text, seed: int, form: str = "", profile: str = GATE) -> Measured:
    """Return the sample of a probe as a simulated model, or a writer of texts, answers it.

    Args:
        study: The probe.
        model: Parameters of ``simulated:``, without its seed; or a writer.
        seed: The seed.
        form: The parameters of a writer's form.
        profile: The profile whose size it has.
    """
    mark = mark_of(study.probe, "probe")
    assert mark is not None
    if isinstance(model, str) and study.name in WRITERS:
        model, form = WRITERS[study.name](), model
    answers = _Answers(model, form, seed)
    size = sample_size(profile, mark.kwargs.get("profiles", {}))
    repetitions = size.repetitions or mark.kwargs.get("repetitions", 1)
    items = _items(study, size.items)
    if profile == SMOKE:
        items = items[:: max(1, len(items) // (size.of_items(len(items), SMOKE) or 1))]
    graders = _graders(mark.kwargs["grade"])
    extremes = {
        name: grader.extremes_for if hasattr(grader, "extremes_for") else partial(_always, grader.extremes)
        for name, grader in graders.items()
        if hasattr(grader, "extremes_for") or hasattr(grader, "extremes")
    }
    read = partial(_read, _known(study))
    attempts = asyncio.run(_asked(items, graders, answers, repetitions, read))
    sources = {"sources": mark.kwargs["sources"]} if "sources" in mark.kwargs else {}
    return Measured(attempts, extremes=extremes, crossed=crossed_factor(mark.kwargs), **sources)


def verdict(threshold: Callable[..., None], measured: Measured) -> str:
    """Return the verdict of a threshold on a sample."""
    if "frozen" in inspect.signature(threshold).parameters:
        threshold = partial(threshold, frozen=_frozen())
    return str(judge(partial(threshold, measured), scale=threshold_scale(threshold)).verdict)


class _Answers:
    """Answers of a simulated model or a writer."""

    def __init__(self, model: str | Text, form: str, seed: int) -> None:
        self._writer = None if isinstance(model, str) else FormedResponder(model, form, seed)
        self._model = simulated(f"x?{model}&seed={seed}") if isinstance(model, str) else simulated(f"x?seed={seed}")

    async def to(self, item: ProbeItem, prompt: Prompt, repetition: int) -> Answer:
        if self._writer is not None:
            return Answer(self._writer.answer(item, prompt, repetition))
        return await self._model.answer(prompt, repetition)

    async def grades(self, steps: Grading | Sequence[Grade]) -> Sequence[Grade]:
        """Return the grades of an item, a grader's questions answered by the model that it names, or else this one."""
        if isinstance(steps, Sequence):
            return steps
        answers: list[Attempt] | None = None
        while True:
            try:
                queries = steps.send(answers)  # type: ignore[arg-type]  # the first is None
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            replies = [await (query.model or self._model).answer(query.prompt, query.repetition) for query in queries]
            answers = [Attempt("", query.repetition, reply) for query, reply in zip(queries, replies, strict=True)]


async def _asked(
    items: Sequence[ProbeItem], graders: Mapping[str, Any], answers: _Answers, repetitions: int, read: Reader
) -> list[GradedAttempt]:
    """Return the graded answers to all items, graded in the order of the graders."""
    attempts: list[GradedAttempt] = []
    single = {
        name: grader
        for name, grader in graders.items()
        if not hasattr(grader, "grade_item") and not hasattr(grader, "grade_batch")
    }
    of_items = {name: grader for name, grader in graders.items() if hasattr(grader, "grade_item")}
    for item in items:
        own = []
        for prompt in item.prompts:
            for repetition in range(repetitions):
                answer = await answers.to(item, prompt, repetition)
                values = {name: read(name, grader, prompt, answer) for name, grader in single.items()}
                own.append(GradedAttempt(item, prompt, Attempt("", repetition, answer), values))
        for name, grader in of_items.items():
            own = _with_grades(own, name, await answers.grades(grader.grade_item(item, own)))
        attempts += own
    for name, grader in graders.items():
        if hasattr(grader, "grade_batch"):
            # Each text once: a simulated writer has few.
            texts = {attempt.attempt.answer.text: attempt for attempt in attempts if attempt.attempt.answer}
            of_texts = dict(zip(texts, grader.grade_batch(list(texts.values())), strict=True))
            grades = [of_texts[attempt.attempt.answer.text] for attempt in attempts if attempt.attempt.answer]
            attempts = _with_grades(attempts, name, grades)
    return attempts


Reader = Callable[[str, Any, Prompt, Answer], Grade]
_Known = dict[tuple[str, int, str], Grade]


@lru_cache(maxsize=1)
def _known(study: Study) -> _Known:
    """Return the grades of answers that were read before: a simulated model has few wordings."""
    return {}


def _read(known: _Known, name: str, grader: Any, prompt: Prompt, answer: Answer) -> Grade:
    if answer.actions:
        return grader.grade(prompt, answer)  # type: ignore[no-any-return]
    key = name, id(prompt), answer.text
    if key not in known:
        known[key] = grader.grade(prompt, answer)
    return known[key]


def _with_grades(attempts: Sequence[GradedAttempt], name: str, grades: Sequence[Grade]) -> list[GradedAttempt]:
    return [
        replace(attempt, grades={**attempt.grades, name: grade})
        for attempt, grade in zip(attempts, grades, strict=True)
    ]


@lru_cache(maxsize=1)
def _items(study: Study, count: int | None) -> list[ProbeItem]:
    mark = mark_of(study.probe, "probe")
    assert mark is not None
    arguments = mark.kwargs
    parameters = inspect.signature(arguments["items"]).parameters
    given: dict[str, Any] = {"data": DataFolders({})} if "data" in parameters else {}
    if count is not None and "count" in parameters:
        given["count"] = count
    return designed_items(arguments, **given)


def _graders(declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the graders of a mark, those that are fixtures made here: an oracle or a judge is simulated."""
    graders: dict[str, Any] = {}
    for name, grader in declared.items():
        if not isinstance(grader, str):
            graders[name] = grader
        elif grader == "assessment":
            judge = SimulatedJudge()
            graders |= Assessed(read_rubrics(None), by="domain").graders(name, [judge])  # type: ignore[list-item]
        else:
            graders[name] = _FIXTURES[grader]()
    return graders


_FIXTURES: Mapping[str, Callable[[], Any]] = {
    "flag_1": partial(Fits, "a"),
    "flag_2": partial(Fits, "b"),
    "flag_3": partial(Which, "a"),
    "flag_4": partial(Which, "b"),
    **{name: lambda name=name: SimilarityScale(_embedder(), read_anchors()[name]) for name in ("warmth", "competence")},  # type: ignore[misc]
}


def _always(extremes: Sequence[Any], _: Prompt) -> Sequence[Any]:
    return extremes


@cache
def _embedder() -> Any:
    return SentenceEmbedder()


@cache
def _frozen() -> Frozen:
    return emotions.frozen_of()
