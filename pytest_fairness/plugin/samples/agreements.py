"""Agreement of propensities and drawn answers to the same prompts, from the samples in the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.agreement_results import AgreementResult
from pytest_fairness.core.attempts import value_or_none
from pytest_fairness.core.digests import digest
from pytest_fairness.core.model_names import keys_in_runs
from pytest_fairness.core.propensities import Propensities, context_of, continuations_of
from pytest_fairness.core.threshold_results import PastResult, ThresholdResult

if TYPE_CHECKING:
    from pytest_fairness.core.items import Prompt
    from pytest_fairness.stats.agreement import Agreement, PromptPair
    from pytest_fairness.store.runs import Runs
    from pytest_fairness.store.samples import StoredSample

SHOWN_OUTSIDE = 0.0005
"""The least probability outside of the options that a reason gives, rounded to 0.1%."""


def find_agreements(runs: Runs, run: str, rows: Sequence[ThresholdResult]) -> list[AgreementResult]:
    """Return the agreement of each probe's sample in a run with the latest sample of the other kind.

    Args:
        runs: The runs of the store.
        run: The run.
        rows: The thresholds of the run; those without an estimate do not count.
    """
    probes = {(row.probe, row.model): row for row in rows if row.probe and row.estimate.value is not None}
    keys = {(probe, model): key for probe, model, key in runs.samples(run)}
    results = []
    for (probe, model), row in probes.items():
        past = _latest_of_other_kind(runs, run, row)
        key = keys.get((probe, model))
        if past is None or key is None:
            continue
        sample, other = runs.sample(run, probe, key), runs.sample(past.run, probe, key)
        if sample is None or other is None or sample.holds_propensities == other.holds_propensities:
            continue
        propensities, drawn = (sample, other) if sample.holds_propensities else (other, sample)
        results += list(_agreements(row, past.run, propensities, drawn))
    return results


def _latest_of_other_kind(runs: Runs, run: str, row: ThresholdResult) -> PastResult | None:
    """Return the latest result of a threshold on this model with the other kind of grades."""
    for content in reversed(runs.history(*keys_in_runs(row.stored_id, row.model), before=run)):
        past = PastResult.from_row(content)
        is_same = past.result.probe == row.probe and past.result.model == row.model
        if (
            is_same
            and past.result.estimate.value is not None
            and past.result.is_of_propensities != row.is_of_propensities
        ):
            return past
    return None


def _agreements(
    row: ThresholdResult, other_run: str, propensities: StoredSample, drawn: StoredSample
) -> Iterator[AgreementResult]:
    from pytest_fairness.stats.agreement import check_agreement

    answers: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for graded in drawn.attempts:
        values = {name: value_or_none(grade) for name, grade in graded.grades.items()}
        answers.setdefault(_identity(graded.item.id, graded.prompt), []).append(values)
    for grade in propensities.graders.keys() & drawn.graders.keys():
        agreement = check_agreement(list(_pairs(grade, propensities, answers)))
        if agreement is not None:
            yield _result(row, grade, other_run, agreement)


def _pairs(
    grade: str, propensities: StoredSample, answers: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]
) -> Iterator[PromptPair]:
    from pytest_fairness.stats.agreement import PromptPair

    for graded in propensities.attempts:
        value = value_or_none(graded.grades[grade])
        if isinstance(value, Propensities):
            drawn = answers.get(_identity(graded.item.id, graded.prompt), ())
            yield PromptPair(graded.prompt.groups, value, [values.get(grade) for values in drawn])


def _identity(item: str, prompt: Prompt) -> tuple[str, str]:
    """Return an identity of a prompt that is the same for answers and propensities."""
    context = context_of(prompt) if continuations_of(prompt) is not None else prompt
    return item, digest(repr([(message["role"], message["content"]) for message in context.messages]))


def _result(row: ThresholdResult, grade: str, other_run: str, agreement: Agreement) -> AgreementResult:
    from pytest_fairness.stats.agreement import SIGNIFICANCE

    worst = agreement.worst
    reason = ""
    if agreement.agrees:
        pass
    elif min(agreement.p_values) * (len(agreement.groups) + 1) < SIGNIFICANCE:
        group = f" of {worst.group}" if worst.attribute else ""
        reason = (
            f"{worst.drawn:.1%} of {worst.answers:,} drawn answers{group} are {grade}={worst.value}, "
            f"and the propensity is {worst.propensity:.1%}"
        )
        if worst.outside >= SHOWN_OUTSIDE:
            reason += f", or up to {worst.propensity + worst.outside:.1%} with what fell on no option"
    else:
        surer, side = ("surer", "below") if agreement.sharpness > 0 else ("less sure", "above")
        reason = f"drawn answers are {surer} than the propensities, as those at a temperature {side} 1 are"
    return AgreementResult(
        suite=row.suite,
        probe=row.probe,
        model=row.model,
        grade=grade,
        other_run=other_run,
        prompts=agreement.prompts,
        agrees=agreement.agrees,
        p_value=agreement.p_value,
        reason=reason,
        groups=agreement.groups,
    )
