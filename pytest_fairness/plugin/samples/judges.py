"""Graders of a probe, those that a `Judge` in its mark stands for, and the models of these."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.json_objects import finite
from pytest_fairness.plugin.probes.mark_arguments import DEFAULT_GRADERS
from pytest_fairness.plugin.probes.marked_tests import get_item_parameter
from pytest_fairness.plugin.probes.markers import check_grader
from pytest_fairness.plugin.session.session import SESSION

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.protocols import BatchGrader, Grader, ItemGrader, Model
    from pytest_fairness.core.second_gradings import ConsistencyResult, SecondGradingResult
    from pytest_fairness.core.threshold_results import JudgeResult
    from pytest_fairness.graders.judge.fallback import JudgeFallback
    from pytest_fairness.graders.judge.judge import Judge, JudgePanel
    from pytest_fairness.graders.judge.rubric import Level
    from pytest_fairness.graders.judge.second_grading import SecondGrading
    from pytest_fairness.plugin.probes.probe import Probe

NO_JUDGE = "no judge is named: give --fairness-judge provider:name, or override the `judge` fixture"
UNNAMED_JUDGE = "simulated:judge"
"""The model in place of a judge that a plan is not given."""
_JUDGE_MODULE = "pytest_fairness.graders.judge.judge"
"""The module of `Judge`. It is imported by suites only, so that other runs start faster."""


def resolve_graders(probe: Probe, request: pytest.FixtureRequest) -> Mapping[str, Grader | ItemGrader | BatchGrader]:
    """Return the graders of a probe's mark; a string there names a fixture, and a `Judge` is several graders.

    Args:
        probe: The probe.
        request: The request of the test's fixture, to get the graders that are fixtures.

    Returns:
        Graders by the name of their grade.

    Raises:
        pytest.fail.Exception: A grader is malformed, or its judge cannot be built.
    """
    if probe.plain_graders is not None:
        return probe.plain_graders
    try:
        declared = probe.arguments.get("grade", DEFAULT_GRADERS)
        graders = {
            name: _grader_fixture(grader, request) if isinstance(grader, str) else grader
            for name, grader in declared.items()
        }
        attempts = request.config.stash[SESSION].work.repetitions(probe) * sum(
            len(item.prompts) for item in probe.items
        )
        graders = resolve_judge_graders(graders, probe.function.__name__, request, attempts)
        for name, grader in graders.items():
            check_grader(name, grader)
    except FairnessError as error:
        pytest.fail(f"probe {probe.function.__name__}: {error}", pytrace=False)
    return graders


def _grader_fixture(name: str, request: pytest.FixtureRequest) -> Any:
    """Return the value of a fixture that is a grader.

    Raises:
        FairnessError: A sample, which more than one test uses, cannot be graded by a fixture that each test makes.
    """
    try:
        return request.getfixturevalue(name)
    except pytest.fail.Exception as error:
        if not str(error).startswith("ScopeMismatch"):
            raise
    raise FairnessError(
        f"its grader {name!r} is a fixture of function scope, and several tests grade with it: "
        'write @pytest.fixture(scope="session")'
    )


def resolve_judge_graders(
    graders: Mapping[str, Any], probe: str, request: pytest.FixtureRequest, attempts: int = 0
) -> dict[str, Any]:
    """Return the graders of a mark, with the graders of each `Judge` in its place.

    Args:
        graders: The graders of the mark.
        probe: The name of the probe, for messages.
        request: The request of the test's fixture.
        attempts: The number of attempts of the sample, of which a judge may grade a part twice.
    """
    resolved: dict[str, Any] = {}
    for name, grader in graders.items():
        try:
            if hasattr(grader, "bind_models"):  # a grader that sends requests of its own
                fairness = request.config.stash[SESSION]
                judge = fairness.settings.judge
                grader.bind_models(fairness.models.resolve, fairness.models.resolve(judge) if judge else None)
            if judge_of(grader) is None:
                added = {name: grader}
            else:
                models = _resolve_judge_models(grader, request)
                added = grader.graders(name, models) | _second_grading(grader, name, models, attempts)
        except FairnessError as error:
            pytest.fail(f"probe {probe}: {error}", pytrace=False)
        for grade in added:
            if grade in resolved or (grade != name and grade in graders):
                pytest.fail(
                    f"probe {probe}: the judge of {name!r} has a field {grade!r}, "
                    "and another grade is called so: rename one",
                    pytrace=False,
                )
        resolved |= added
    return resolved


def _second_grading(
    grader: Judge | JudgeFallback, name: str, models: Sequence[Model], attempts: int
) -> dict[str, SecondGrading]:
    """Return the second grading of a judge by its name; none for a sample in which it would show nothing."""
    from pytest_fairness.graders.judge.second_grading import name_second_grading

    again = grader.second_grading(name, models)
    sized = None if again is None else again.sized(attempts)
    return {} if sized is None else {name_second_grading(name): sized}


def judge_of(grader: Any) -> Judge | None:
    """Return the `Judge` that a grader of a mark is, or that of a `JudgeFallback`; None for any other grader."""
    judge: Judge | None = getattr(grader, "judge", grader) if hasattr(grader, "graders") else None
    return judge


def judge_models(probe: Probe) -> Iterator[Model | str]:
    """Yield the models that the judges of a probe's mark name."""
    graders = probe.arguments.get("grade")
    for grader in graders.values() if isinstance(graders, Mapping) else ():
        judge = judge_of(grader)
        yield from (judge.models or ()) if judge else ()


def may_use_judge_fixture(probe: Probe) -> bool:
    """Return whether a grader of a probe may ask the model of the `judge` fixture."""
    graders = probe.arguments.get("grade", DEFAULT_GRADERS)
    if not isinstance(graders, Mapping):
        return True
    return any(
        isinstance(grader, str)
        or hasattr(grader, "bind_models")
        or ((judge := judge_of(grader)) is not None and judge.models is None)
        for grader in graders.values()
    )


def judge_hint(probe: Probe, graders: Mapping[str, object]) -> str:
    """Return how to have a judge read what the rules of a `JudgeFallback` could not; empty where nothing lacks one.

    Args:
        probe: The probe.
        graders: Its graders in this run, by the name of their grade.
    """
    declared = probe.arguments.get("grade", {})
    fallbacks = {name for name, grader in declared.items() if judge_of(grader) not in (None, grader)}
    lacks_judge = any(graders.get(name) is declared[name].grade for name in fallbacks)
    return "let a judge read them: --fairness-judge provider:name" if lacks_judge else ""


def find_remedies(probe: Probe, graders: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each grade with what to do about answers that its grader cannot read."""
    hint = judge_hint(probe, graders)
    for name, grader in graders.items():
        yield name, hint or str(getattr(grader, "unread_remedy", ""))


def _resolve_judge_models(grader: Judge | JudgeFallback, request: pytest.FixtureRequest) -> list[Model]:
    """Return the models of a judge: those of its argument, or the `judge` fixture's.

    A `JudgeFallback` has none where no judge is named.

    Raises:
        FairnessError: A name or the fixture's value is no model.
    """
    fairness = request.config.stash[SESSION]
    judge = judge_of(grader)
    models = judge.models if judge else ()
    if models is None:
        fixture: Any = []
        try:
            fixture = request.getfixturevalue("judge")
            is_missing = False
        except pytest.fail.Exception as error:
            if str(error) != NO_JUDGE:
                raise
            is_missing = judge is grader
        if is_missing and fairness.settings.plan:  # a plan counts the calls of a judge without its name
            return [fairness.models.resolve(UNNAMED_JUDGE)]
        if is_missing:  # outside of the block, so that the report has one line
            test = cast("pytest.Function", fairness.test)
            fairness.causes.end(test, NO_JUDGE, fairness.work.count_attempts(get_item_parameter(test)))
        models = fixture if isinstance(fixture, Sequence) and not isinstance(fixture, str) else [fixture]
    return [
        fairness.models.resolve(model) if isinstance(model, str) else fairness.models.wrap(model, None)
        for model in models
    ]


def summarize_judges(
    graders: Mapping[str, Any], attempts: Sequence[GradedAttempt], subject: Model
) -> list[JudgeResult]:
    """Return the models of each `Judge` of a probe, their agreement, and the number of answers that a fallback judged.

    The agreement is Krippendorff's alpha by field, for several models only; None where it is not defined.
    """
    if _JUDGE_MODULE not in sys.modules:
        return []
    from pytest_fairness.core.threshold_results import JudgeResult
    from pytest_fairness.graders.judge.fallback import JudgeFallbackGrader
    from pytest_fairness.graders.judge.judge import JudgeGrader, JudgePanel
    from pytest_fairness.graders.judge.second_grading import SecondGrading, name_second_grading

    def result(name: str, models: Sequence[Model], **more: Any) -> JudgeResult:
        own = [model.name for model in models if model.key == subject.key]
        again = graders.get(name_second_grading(name))
        # test_stored_sample_without_second_gradings_is_read
        is_held = any(name_second_grading(name) in graded.grades for graded in attempts[:1])
        second = summarize_second(again, attempts) if is_held and isinstance(again, SecondGrading) else None
        return JudgeResult(grade=name, models=[model.name for model in models], own=own, second=second, **more)

    known_kinds = JudgeGrader | JudgePanel | JudgeFallbackGrader
    panels = {name: grader for name, grader in graders.items() if isinstance(grader, JudgePanel)}
    members = {judge for panel in panels.values() for judge in panel.judges}
    results = []
    for name, grader in graders.items():
        if isinstance(grader, JudgeFallbackGrader):
            judged = sum(grader.is_judged(attempt.grades[name]) for attempt in attempts)
            results.append(result(name, grader.models, answers=judged))
        elif isinstance(grader, JudgeGrader) and name not in members:
            results.append(result(name, [grader.model]))
        elif isinstance(grader, SecondGrading) and not isinstance(graders[grader.name], known_kinds):
            results.append(result(grader.name, grader.models))  # a wrapper of the user's suite
    for name, panel in panels.items():
        # A wrapper in the user's suite may have no model.
        models = [grader.model for judge in panel.judges if isinstance(grader := graders[judge], JudgeGrader)]
        results.append(result(name, models, agreement=_agreement(panel, attempts)))
    return results


def summarize_second(again: SecondGrading, attempts: Sequence[GradedAttempt]) -> SecondGradingResult:
    """Return what the second gradings of a sample show."""
    from pytest_fairness.core.second_gradings import FEWEST_BY_CHANCE, SecondGradingResult
    from pytest_fairness.graders.judge.second_grading import UNREAD, name_second_grading

    pairs: dict[str, dict[str, dict[tuple[str, str], tuple[Any, Any]]]] = {name: {} for name in again.fields}
    values: dict[str, set[Any]] = {name: set() for name in again.fields}
    twice, prompts, judged, unread = set(), set(), 0, 0
    for graded in attempts:
        grade = graded.grades[name_second_grading(again.name)]
        if not grade.detail or grade.ungraded is not None:
            continue
        judged += 1
        prompts.add(graded.prompt.digest)
        unread += grade.detail.startswith(UNREAD)
        # Equal answers to one prompt are judged once, by one request.
        answer = graded.prompt.digest, grade.detail
        for name in again.fields:
            first = again.first_grade(graded, name)
            values[name].add(first)
            if first is not None and name in grade.value:
                cluster = graded.item.source or graded.item.id
                pairs[name].setdefault(cluster, {})[answer] = first, grade.value[name]
                values[name].add(grade.value[name])
                twice.add(answer)
    # test_judge_of_few_prompts_may_grade_them_alike
    is_constant = len(prompts) >= FEWEST_BY_CHANCE and all(len(given) == 1 for given in values.values())
    return SecondGradingResult(
        answers=len(twice),
        judged=judged,
        unread=unread,
        consistency={
            name: find_consistency({cluster: [*own.values()] for cluster, own in pairs[name].items()}, field.level)
            for name, field in again.fields.items()
        },
        constant=", ".join(f"{name} {given.pop()}" for name, given in values.items()) if is_constant else "",
    )


def find_consistency(pairs: Mapping[Hashable, Sequence[tuple[Any, Any]]], level: Level) -> ConsistencyResult:
    """Return the agreement of first and second grades.

    Args:
        pairs: Both grades of each answer, by cluster.
        level: As for `krippendorff`.
    """
    from pytest_fairness.core.second_gradings import ConsistencyResult
    from pytest_fairness.graders.judge.agreement import jackknifed
    from pytest_fairness.stats.quantiles import t_quantile

    alpha, error = jackknifed(pairs, level)
    answers = sum(map(len, pairs.values()))
    counts = Counter(value for own in pairs.values() for pair in own for value in pair)
    alike = sum(count**2 for count in counts.values()) / max(1, counts.total()) ** 2
    reach = t_quantile(0.025, len(pairs) - 1) * error if len(pairs) > 1 else math.nan
    return ConsistencyResult(
        answers=answers,
        alpha=finite(alpha),
        low=finite(alpha - reach),
        high=finite(alpha + reach),
        by_chance=answers * (1 - alike),
    )


def _agreement(panel: JudgePanel, attempts: Sequence[GradedAttempt]) -> dict[str, float | None]:
    from pytest_fairness.graders.judge.agreement import agreement

    by_field = agreement(panel.fields, ([attempt.grades[name] for name in panel.judges] for attempt in attempts))
    return {field: finite(alpha) for field, alpha in by_field.items()}
