"""Responders that follow the form of a prompt, judged by the thresholds of shipped suites; and planted bias."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from types import ModuleType
from typing import Any

from pytest_fairness import DataFolders, Judge, Measured
from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.protocols import Grading
from pytest_fairness.core.serialization import RecordContext, read_record
from pytest_fairness.design import Frozen
from pytest_fairness.graders import JudgeFallback, SimilarityScale, read_anchors
from pytest_fairness.plugin.config.profiles import GATE, SMOKE, Profiles
from pytest_fairness.plugin.probes.markers import (
    get_mark,
    threshold_mark,
    threshold_probe,
)
from pytest_fairness.stats.threshold_judgment import ThresholdDesign, judge_threshold
from suites.agents import test_agents
from suites.asker import test_asker
from suites.asker.tone import TalksDown
from suites.asymmetry import test_asymmetry
from suites.asymmetry.grading import ErrorAwareJudge
from suites.asymmetry.items import DATA as ASYMMETRY_DATA
from suites.asymmetry.items import read_prompts
from suites.asymmetry.rubrics import read_rubrics
from suites.bbq import test_bbq, test_pairs
from suites.bbq.oracle import FitFlag, QuestionFlag
from suites.correspondence import test_correspondence
from suites.dialect import test_dialect
from suites.emotion import items as emotions
from suites.emotion import test_emotion, test_features
from suites.files import test_files
from suites.files.graders import Stated
from suites.gender import (
    test_affects,
    test_decisions,
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
)
from suites.implicit import test_implicit
from suites.politics import test_politics
from tests.helpers.designs import crossed_factor, designed_items
from tests.helpers.grading import Read, grades_read, read_once
from tests.helpers.planted_responders import TOOLS
from tests.helpers.responder_texts import WRITERS, FormedResponder, SentenceEmbedder, SimulatedJudge, Text
from tests.helpers.suite_verdicts import answered_grades, simulated

MODULES: tuple[ModuleType, ...] = (
    *(test_bbq, test_pairs, test_decisions, test_affects, test_opinions, test_writing),
    *(test_referral_languages, test_pronouns),
    *(test_hiring, test_promotion, test_attributes, test_identities, test_languages),
    *(test_assessment, test_agents, test_asymmetry, test_emotion, test_features),
    *(test_correspondence, test_implicit, test_politics, test_dialect, test_asker),
    test_files,
)
"""All modules of the suites that have thresholds."""

ORDINARY = "base=BASE&accuracy=ACCURACY&spread=SPREAD&flag_1=0.15&flag_2=0.15&flag_3=0.04&flag_4=0.04"
"""A fair model that is neither certain nor a coin; for the words in capitals see `parameters_for`."""
_PEOPLE = ("test_choice", "test_quarrel", "test_decision")
"""Probes whose options are people: items that differ would prefer a group each."""
_BASES = {
    **dict.fromkeys(("test_choice", "test_quarrel", "test_advice", "test_story", "test_decision"), 1 / 2),
    "test_emotion": 1 / 4,
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
        "test_questions_are_answered_correctly",
        "test_advice_is_seldom_refused",
        "test_clear_cases_follow_the_policy",
        "test_serious_losses_are_credited",
        "test_ambiguous_questions_are_not_guessed",
        "test_disambiguated_questions_are_answered_correctly",
        "test_ambiguous_pairs_get_one_answer",
        "test_no_gender_is_called_better",
        "test_gender_of_a_speaker_is_not_guessed",
        "test_serious_complaints_are_referred",
        "test_serious_complaints_are_referred_in_other_languages",
        "test_both_sides_are_answered",
        "test_neither_side_is_stigmatized",
        "test_answers_about_both_sides_are_accurate",
        "test_each_neurotype_is_read",
        "test_student_reads_each_neurotype",
        "test_help_is_right",
        "test_reasonings_fit_both_questions",
        "test_reasonings_show_their_question",
        "test_requests_of_both_sides_are_fulfilled",
        "test_summaries_keep_facts",
    }
)
"""Thresholds of what a model must do whoever it is about: a responder that never reads breaks them by right."""


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
    return f"{parameters}&{TOOLS}" if probe.__module__ == test_agents.__name__ else parameters


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
        for probe in (function for function in own if get_mark(function, "probe") is not None):
            of_probe = [
                function for function in own
                if get_mark(function, "threshold") is not None and threshold_probe(function) is probe
            ]  # fmt: skip
            if of_probe:
                yield Study(probe, tuple(of_probe))


def sample(study: Study, model: str | Text, seed: int, form: str = "", profile: str = GATE) -> Measured:
    """Return the sample of a probe as a simulated model, or a writer of texts, answers it.

    Args:
        study: The probe.
        model: Parameters of ``simulated:``, without its seed; or a writer.
        seed: The seed.
        form: The parameters of a writer's form.
        profile: The profile whose size it has.
    """
    if isinstance(model, str) and study.name in WRITERS:
        return sample(study, WRITERS[study.name](), seed, model, profile)
    mark = get_mark(study.probe, "probe")
    assert mark is not None
    answers = _Answers(model, form, seed)
    size = read_record(Profiles, mark.kwargs.get("profiles", {}), RecordContext()).size(profile)
    repetitions = size.repetitions or mark.kwargs.get("repetitions", 1)
    items = _items(study, size.items)
    if profile == SMOKE:
        items = items[:: max(1, len(items) // (size.drawn_items(len(items), SMOKE) or 1))]
    graders = graders_of(mark.kwargs["grade"])
    extremes = {
        name: grader.extremes_for if hasattr(grader, "extremes_for") else partial(_always, grader.extremes)
        for name, grader in graders.items()
        if hasattr(grader, "extremes_for") or hasattr(grader, "extremes")
    }
    attempts = asyncio.run(_attempts_of(items, graders, answers, repetitions, grades_read(study.probe)))
    sources = {"sources": mark.kwargs["sources"]} if "sources" in mark.kwargs else {}
    return Measured(attempts, extremes=extremes, crossed=crossed_factor(mark.kwargs), **sources)


def verdict(threshold: Callable[..., None], measured: Measured) -> str:
    """Return the verdict of a threshold on a sample, with its slices; without controls, as many know no case."""
    design = ThresholdDesign(threshold_mark(threshold).slices, threshold_mark(threshold).exclude)
    scale = threshold_mark(threshold).scale
    if "frozen" in inspect.signature(threshold).parameters:
        threshold = partial(threshold, frozen=frozen_design())
    return str(judge_threshold(threshold, measured, design, scale=scale).verdict)


class _Answers:
    """Answers of a simulated model or a writer."""

    def __init__(self, model: str | Text, form: str, seed: int) -> None:
        self._writer = None if isinstance(model, str) else FormedResponder(model, form, seed)
        self._model = simulated(f"x?{model}&seed={seed}") if isinstance(model, str) else simulated(f"x?seed={seed}")

    async def to(self, item: ProbeItem, prompt: Prompt, repetition: int) -> Answer:
        if self._writer is not None:
            return self._writer.answer(item, prompt, repetition)
        return await self._model.answer(prompt, repetition)

    async def grades(self, steps: Grading | Sequence[Grade]) -> Sequence[Grade]:
        """Return the grades of an item, a grader's questions answered by the model that it names, or else this one."""
        return await answered_grades(steps, lambda query: query.model or self._model)


async def _attempts_of(
    items: Sequence[ProbeItem], graders: Mapping[str, Any], answers: _Answers, repetitions: int, read: Read
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
                values = {name: read_once(read, grader, prompt, answer) for name, grader in single.items()}
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


def _with_grades(attempts: Sequence[GradedAttempt], name: str, grades: Sequence[Grade]) -> list[GradedAttempt]:
    return [
        replace(attempt, grades={**attempt.grades, name: grade})
        for attempt, grade in zip(attempts, grades, strict=True)
    ]


@lru_cache(maxsize=1)
def _items(study: Study, count: int | None) -> list[ProbeItem]:
    mark = get_mark(study.probe, "probe")
    assert mark is not None
    arguments = mark.kwargs
    parameters = inspect.signature(arguments["items"]).parameters
    values: dict[str, Any] = {"data": DataFolders({})} if "data" in parameters else {}
    if count is not None and "count" in parameters:
        values["count"] = count
    return designed_items(arguments, **values)


def graders_of(declared: Mapping[str, Any], judge: type[SimulatedJudge] = SimulatedJudge) -> dict[str, Any]:
    """Return the graders of a mark, those that are fixtures made here: an oracle or a judge is simulated."""
    graders: dict[str, Any] = {}
    models: Any = [judge()]
    for name, grader in declared.items():
        if isinstance(grader, Judge):
            graders |= grader.graders(name, models)
        elif not isinstance(grader, str):  # without a judge, rules alone grade
            graders[name] = grader.grade if isinstance(grader, JudgeFallback) else grader
        elif grader == "assessment":
            own = read_rubrics(None, read_prompts(ASYMMETRY_DATA))
            graders |= ErrorAwareJudge(own.rubrics, by=own.by).graders(name, models)
        else:
            graders[name] = _FIXTURES[grader]()
    return graders


def _scale(dimension: str) -> SimilarityScale:
    return SimilarityScale(SentenceEmbedder(), read_anchors()[dimension])  # type: ignore[arg-type]


_FIXTURES: Mapping[str, Callable[[], Any]] = {
    "talks_down": TalksDown,
    "stated": Stated,
    "flag_1": partial(FitFlag, "a"),
    "flag_2": partial(FitFlag, "b"),
    "flag_3": partial(QuestionFlag, "a"),
    "flag_4": partial(QuestionFlag, "b"),
    **{dimension: partial(_scale, dimension) for dimension in ("warmth", "competence")},
}


def _always(extremes: Sequence[Any], _: Prompt) -> Sequence[Any]:
    return extremes


@cache
def frozen_design() -> Frozen:
    """Return the design of the suite `emotion`."""
    return emotions.frozen_design()
