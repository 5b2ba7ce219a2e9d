"""Loading of a stored run as a view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import is_
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fairness.core.attempts import Answer, Attempt, Grade, GradedAttempt, value_or_none
from pytest_fairness.core.errors import StoreError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.results import RunResults, read_results
from pytest_fairness.report.results import redacted, with_distinct_titles
from pytest_fairness.report.view import AnswerTimes, View
from pytest_fairness.store.samples import StoredSample
from pytest_fairness.store.store import Store

if TYPE_CHECKING:
    from pytest_fairness.report.threshold_view import ThresholdView


def read_view(
    store: Store,
    run: str,
    redact: Callable[[str], str],
    in_memory: Mapping[tuple[str, ...], StoredSample] = MappingProxyType({}),
    results: RunResults | None = None,
) -> View:
    """Return the view of a run, each text through ``redact``.

    ``in_memory`` holds the samples of the run that this process has stored, as for `Runs.measured`; ``results`` are
    those that it has compiled.

    Raises `StoreError` for a run that stored no results.
    """
    document = store.runs.document(run)
    if document is None:
        raise StoreError(f"run {run[:8]} has no results: it was killed, or an older version of pytest-fairness made it")
    results = with_distinct_titles(results or read_results(document["results"], f"run {run[:8]}"))
    samples = [_redacted(store.with_answers(sample, run), redact) for sample in store.runs.measured(run, in_memory)]
    moments = [_moments(store, sample) for sample in samples]
    return View(results, _thresholds(store, results, samples), samples, moments, document["cards"])


def _thresholds(store: Store, results: RunResults, samples: Sequence[StoredSample]) -> list[ThresholdView]:
    if not results.thresholds:
        return []
    from pytest_fairness.report.threshold_view import threshold_view

    by_key = {graded.attempt.key: graded for sample in samples for graded in sample.attempts}
    return [threshold_view(store, row, results, by_key) for row in results.thresholds]


def _moments(store: Store, sample: StoredSample) -> AnswerTimes:
    attempts = [graded.attempt for graded in sample.attempts]
    served_by = {attempt.answer.served_by for attempt in attempts if attempt.answer}
    times = [attempt.at for attempt in attempts if attempt.at is not None]
    lacking = [attempt.key for attempt in attempts if attempt.at is None]
    if lacking:
        times += store.times(lacking)
    return AnswerTimes(min(times, default=None), max(times, default=None), sorted(filter(None, served_by)))


def _redacted(sample: StoredSample, redact: Callable[[str], str]) -> StoredSample:
    """Return the sample without secrets. Attempts without secrets, nearly all of them, are the same objects."""
    redact_once = lru_cache(maxsize=4096)(
        redact
    )  # for texts that recur in many attempts: groups, grades, short answers
    items: dict[int, ProbeItem] = {}
    prompts: dict[int, Prompt] = {}
    grades: dict[int, Grade] = {}
    """By identity, since many attempts share one grade."""
    attempts = []
    for graded in sample.attempts:
        item = items.get(id(graded.item))
        if item is None:
            item = items[id(graded.item)] = _redacted_item(graded.item, prompts, redact, redact_once)
        is_unchanged = True
        for grade in graded.grades.values():
            if id(grade) not in grades:
                grades[id(grade)] = _redacted_grade(grade, redact_once)
            is_unchanged = is_unchanged and grades[id(grade)] is grade
        prompt, attempt = prompts[id(graded.prompt)], _redacted_attempt(graded.attempt, redact_once)
        if not (is_unchanged and item is graded.item and prompt is graded.prompt and attempt is graded.attempt):
            redacted_grades = {name: grades[id(grade)] for name, grade in graded.grades.items()}
            graded = GradedAttempt(item, prompt, attempt, redacted_grades)
        attempts.append(graded)
    return replace(sample, attempts=attempts)


def _redacted_item(
    item: ProbeItem, prompts: dict[int, Prompt], redact: Callable[[str], str], redact_once: Callable[[str], str]
) -> ProbeItem:
    """Return the item without secrets; its redacted prompts are added to ``prompts``."""
    for prompt in item.prompts:
        prompts[id(prompt)] = _redacted_prompt(prompt, redact, redact_once)
    redacted_prompts = [prompts[id(prompt)] for prompt in item.prompts]
    metadata = item.metadata and redacted(item.metadata, redact_once)
    fields = redact(item.id), item.source and redact_once(item.source), metadata
    is_unchanged = _is_equal(fields, (item.id, item.source, item.metadata)) and all(
        map(is_, redacted_prompts, item.prompts)
    )
    name, source, metadata = fields
    return item if is_unchanged else ProbeItem(name, redacted_prompts, source, metadata)


def _redacted_prompt(prompt: Prompt, redact: Callable[[str], str], redact_once: Callable[[str], str]) -> Prompt:
    messages = [{"role": message["role"], "content": redact(message["content"])} for message in prompt.conversation]
    tools = [
        replace(tool, description=redact(tool.description), parameters=redacted(tool.parameters, redact))
        for tool in prompt.tools
    ]
    groups, metadata = (mapping and redacted(mapping, redact_once) for mapping in (prompt.groups, prompt.metadata))
    is_unchanged = _is_equal((messages, groups, metadata), (list(prompt.messages), prompt.groups, prompt.metadata))
    return prompt if is_unchanged else Prompt(messages, groups, metadata, tools=tools)


def _is_equal(redacted_fields: object, fields: object) -> bool:
    """Return whether fields are the same; values of metadata without a truth of their own, such as arrays, are not."""
    try:
        return redacted_fields == fields
    except Exception:  # noqa: BLE001 - a user's class may raise anything
        return False


def _redacted_attempt(attempt: Attempt, redact: Callable[[str], str]) -> Attempt:
    answer = attempt.answer and _redacted_answer(attempt.answer, redact)
    error = attempt.error and redact(attempt.error)
    is_unchanged = answer is attempt.answer and error == attempt.error
    return attempt if is_unchanged else replace(attempt, answer=answer, error=error)


def _redacted_answer(answer: Answer, redact: Callable[[str], str]) -> Answer:
    texts = answer.text, answer.finish_reason, answer.reasoning, answer.served_by
    redacted_texts = tuple([part and redact(part) for part in texts])
    if redacted_texts == texts and not answer.actions:
        return answer
    text, finish_reason, reasoning, served_by = redacted_texts
    actions = tuple(
        replace(call, **{name: redacted(value, redact) for name, value in call.to_json().items()})
        for call in answer.actions
    )
    if redacted_texts == texts and actions == tuple(answer.actions):
        return answer
    answer = replace(answer, text=text or "", reasoning=reasoning, served_by=served_by, actions=actions)
    return replace(answer, finish_reason=finish_reason or "")


def _redacted_grade(grade: Grade, redact: Callable[[str], str]) -> Grade:
    value, detail = redacted(value_or_none(grade), redact), redact(grade.detail)
    is_unchanged = value == value_or_none(grade) and detail == grade.detail
    return grade if is_unchanged else Grade(value, grade.ungraded, detail)
