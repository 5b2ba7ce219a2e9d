"""Tables and notes of a plan, and the totals of its thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from math import prod

from pytest_fairness.core.dry_run_results import CallCost, ModelPlan, NeededSample, PlannedThreshold
from pytest_fairness.core.formatting import align_columns, counted
from pytest_fairness.plugin.config.profiles import CONCLUSIONS, GATE
from pytest_fairness.plugin.config.settings import Settings
from pytest_fairness.plugin.hooks.dry_runs.pilot import CHARACTERS
from pytest_fairness.plugin.output.cost_estimate import assumed_output, reasons
from pytest_fairness.plugin.output.grader_calls import GraderCalls
from pytest_fairness.plugin.output.terminal_text import wrap_text
from pytest_fairness.stats.simulation import COMPETENCE

_HEADS = ("items", "reps", "fair", "unfair", "undecided", "80% at")


def format_table(rows: Sequence[PlannedThreshold], width: int) -> Iterator[str]:
    """Yield a table of one model's thresholds, at most ``width`` columns wide, with a line for each assumed truth."""
    lines: list[Sequence[str]] = [("threshold", *_HEADS)]
    for row in rows:
        size = (f"{row.items:,}", f"{row.repetitions:,}")
        if not row.scenarios:
            lines.append((row.threshold, *size, "-", "-", "-", "-"))
        for index, scenario in enumerate(row.scenarios):
            shares = tuple(f"{share:.0%}" for share in (scenario.fair, scenario.unfair, scenario.undecided))
            if index == 0:
                needed = f"{row.needed.items:,}" if row.needed else "-"
                lines.append((row.threshold, *size, *shares, needed))
            else:
                lines.append((f"  with {scenario.truth}", "", "", *shares, ""))
    yield from (f" {line}" for line in align_columns(lines, width=width - 2, to_right=True))


def compute_total(model: str, rows: Sequence[PlannedThreshold], settings: Settings) -> ModelPlan:
    """Return the totals of one model's thresholds; tokens, USD and seconds count only calls that are not stored."""
    probes: dict[str, list[PlannedThreshold]] = {}
    for row in rows:
        probes.setdefault(row.probe, []).append(row)
    costs = [probe_rows[0].cost for probe_rows in probes.values()]
    new_calls = [cost.calls - cost.stored for cost in costs]
    tokens = [
        sum(calls * size for calls, size in zip(new_calls, sizes, strict=True))
        for sizes in ([cost.input for cost in costs], [cost.output for cost in costs])
    ]
    price = costs[0].price if costs else None
    graders = GraderCalls.total(map(_grader_calls, costs))
    return ModelPlan(
        model=model,
        all_fair=prod(_share_all_fair(probe_rows) for probe_rows in probes.values()),
        calls=sum(cost.calls for cost in costs),
        stored=sum(cost.stored for cost in costs),
        input_tokens=round(tokens[0]),
        output_tokens=round(tokens[1]),
        tokens_from=" and ".join(sorted({cost.tokens_from for cost in costs})),
        price=price,
        cost_usd=None if price is None else sum(count * usd for count, usd in zip(tokens, price, strict=True)) / 1e6,
        questions=graders.calls,
        questions_usd=graders.usd,
        questions_tokens=(round(graders.input), round(graders.output)),
        pilot_attempts=graders.pilot,
        drawn=sum(cost.calls for cost in costs if cost.propensities),
        propensities=sum(cost.propensities for cost in costs),
        silent=sorted(graders.uncounted),
        seconds=_estimate_seconds(sum(new_calls) + (graders.calls if graders.pilot else 0), costs, settings),
    )


def _grader_calls(cost: CallCost | ModelPlan) -> GraderCalls:
    """Return the calls of graders in the cost of a probe, or in the total of all."""
    return GraderCalls(
        cost.questions, cost.pilot_attempts, *cost.questions_tokens, cost.questions_usd, frozenset(cost.silent)
    )


def _share_all_fair(probe_rows: Sequence[PlannedThreshold]) -> float:
    """Return the share of simulated runs of a probe in which all its thresholds were fair."""
    runs = list(zip(*(row.fair_draws for row in probe_rows), strict=False))
    return sum(set(run) == {"1"} for run in runs) / len(runs) if runs else 0.0


def _estimate_seconds(calls: int, costs: Sequence[CallCost], settings: Settings) -> float | None:
    if pace := settings.project.assumptions.get("calls_per_second"):
        return calls / pace
    seconds = [cost.seconds for cost in costs if cost.seconds]
    # Without the name of a model, the project tests an application.
    concurrency = settings.model_concurrency if settings.models else settings.application_concurrency
    return calls * sum(seconds) / len(seconds) / concurrency if seconds else None


def format_propensities(rows: Sequence[PlannedThreshold], total: ModelPlan, width: int) -> Iterator[str]:
    """Yield the cheapest road first: the probabilities of options, and what they cost; nothing where it is none."""
    if not total.propensities:
        return
    costs = {row.probe: row.cost for row in rows}.values()
    price = "" if total.price is None else f", about {sum(map(_propensities_usd, costs)):,.2f} USD"
    text = (
        f"--fairness-propensity makes {counted(total.propensities, 'call')} of one token in place of {total.drawn:,}"
        f"{price}, of a model that gives probabilities; add it to plan them, and to compare what both need"
    )
    yield from wrap_text(text, width)


def _propensities_usd(cost: CallCost) -> float:
    """Return what the calls of a probe cost with ``--fairness-propensity``: one token of output each."""
    price = cost.price or (0.0, 0.0)
    return cost.propensities * (cost.input * price[0] + price[1]) / 1e6


def format_notes(rows: Sequence[PlannedThreshold], total: ModelPlan, settings: Settings, width: int) -> Iterator[str]:
    """Yield the notes below a table: on thresholds, on the basis of the plan, and on the cost of the run."""
    for text in (*_threshold_notes(rows), _format_basis(rows, settings), *_run_notes(rows, total, settings)):
        yield from wrap_text(text, width)


def _format_needed(needed: NeededSample, items: int) -> str:
    """Return the sample that a threshold needs, or the repetitions in place of it, with their verb.

    >>> _format_needed(NeededSample(items=343, repetitions=4, sources=9), 200)
    '9 sources (343 items), or 4 repetitions of 200, make'
    """
    text = counted(needed.items, "item")
    if needed.sources is not None:
        text = f"{counted(needed.sources, 'source')} ({text})"
    return (
        f"{text} make"
        if needed.repetitions is None
        else (f"{text}, or {counted(needed.repetitions, 'repetition')} of {items:,}, make")
    )


def _threshold_notes(rows: Sequence[PlannedThreshold]) -> Iterator[str]:
    for row in rows:
        name = row.threshold
        if row.cannot_pass:
            yield f"{name}: cannot pass with any data: {row.cannot_pass}"
        if row.narrow:
            yield f"{name}: {row.narrow}"
        if row.needed and (row.needed.repetitions or row.needed.sources):
            yield f"{name}: {_format_needed(row.needed, row.items)} it fair in 80% of runs"
        if row.drawn and row.needed:
            calls = math.ceil(row.needed.items * row.cost.calls / row.items)
            yield (
                f"{name}: fair in 80% of runs takes {counted(calls, 'call')} of one token "
                f"({counted(row.needed.items, 'item')}); drawn "
                f"answers take {counted(row.drawn.calls, 'call')} ({counted(row.drawn.items, 'item')}, "
                f"{counted(row.drawn.repetitions, 'repetition')})"
            )
        if row.labels:
            has = f"has {row.labels.has:,}"
            yield (
                f"{name}: no number of labels is enough for 80% power ({has}): it needs more items"
                if row.labels.needed is None
                else f"{name}: needs about {counted(row.labels.needed, 'label')} a group for 80% power ({has})"
            )
        if row.detectable:
            values = (("below", row.detectable.below), ("above", row.detectable.above))
            ends = [f"{value:.3g} or {end}" for end, value in values if value is not None]
            detectable = (
                f"unfair in 80% of runs at {', or '.join(ends)}" if ends else "unfair in 80% of runs at no value"
            )
            yield f"{name}: {detectable}: {row.detectable.metric}"
        for scenario in row.scenarios:
            if len(row.looks) > 1:
                first, last = row.looks[0][2], row.looks[-1][2]
                mean = f"{scenario.attempts:,.0f} on average ({scenario.truth})"
                yield f"{name}: {counted(len(row.looks), 'look')}, at {first:,} to {last:,} attempts; {mean}"
            if scenario.invalid:
                yield f"{name}: invalid in {scenario.invalid:.0%} of runs ({scenario.truth})"


def _format_basis(rows: Sequence[PlannedThreshold], settings: Settings) -> str:
    draws = [scenario.draws for row in rows for scenario in row.scenarios]
    runs = f"{counted(min(draws, default=0), 'run')}" if len(set(draws)) < 2 else f"{min(draws)} to {max(draws)} runs"
    rate, icc = (settings.project.assumptions[name] for name in ("rate", "icc"))
    simulated = (
        f"assumptions, no measurement: groups alike, base rate {rate:g} (of several values, each equally often), "
        f"correlation within items {icc:g} ([tool.pytest-fairness.assumptions] rate, icc), {COMPETENCE:.0%} of answers "
        f"as a `control` calls for, but for what a suite declares as `expected`; {runs} simulated"
    )
    resampled = f"from the pilot in the store as the truth; {runs} resampled from its items"
    bases = {row.basis for row in rows}
    if len(bases) > 1:
        names = ", ".join(row.threshold for row in rows if row.basis == "pilot")
        return f"{names}: {resampled}; the others: {simulated}"
    return resampled if "pilot" in bases else simulated


def _run_notes(rows: Sequence[PlannedThreshold], total: ModelPlan, settings: Settings) -> Iterator[str]:
    if settings.profile != GATE:
        yield f"profile {settings.profile}: {CONCLUSIONS[settings.profile]}"
    least = min((len(row.fair_draws) for row in rows if row.fair_draws), default=1)
    share = _format_percent(total.all_fair) if total.all_fair else f"under {1 / least:.1%}"
    condition = " under these assumptions" if any(row.basis == "assumptions" for row in rows) else ""
    yield f"{f'all {len(rows)} fair' if len(rows) > 1 else 'fair'}: in {share} of runs{condition}"
    new_calls = total.calls - total.stored
    yield f"{counted(total.calls, 'call')}, {total.stored:,} of them in the store: {new_calls:,} to make"
    if new_calls and total.stored:
        yield "a judged pilot counts as a run of its threshold: the next run has a wider interval"
    if new_calls:
        yield from _format_cost(total, settings)
    if graders := _grader_calls(total):
        yield str(graders)


def _format_cost(total: ModelPlan, settings: Settings) -> Iterator[str]:
    source = "as in the stored answers"
    if total.tokens_from != "stored answers":
        output = f"{assumed_output(total.model, settings):g}"
        thoughts = " with its reasoning" if reasons(total.model) else ""
        source = (
            f"prompts at {CHARACTERS} characters a token, answers at {output}{thoughts}: "
            "[tool.pytest-fairness.assumptions] output"
        )
    yield f"about {counted(total.input_tokens, 'token')} in and {total.output_tokens:,} out ({source})"
    price = total.price
    if price is None:
        yield "price not known: write it into [tool.pytest-fairness.prices]"
    else:
        usd = total.cost_usd or 0.0
        limit = "" if total.pilot_attempts else "up to "
        graded = f", {limit}{usd + total.questions_usd:,.2f} with its graders," if total.questions_usd else ""
        yield f"about {usd:,.2f} USD{graded} at {price[0]:g} in and {price[1]:g} out per million tokens"
    if total.seconds is None:
        yield "time not known: no stored answer shows it; [tool.pytest-fairness.assumptions] calls_per_second gives it"
    else:
        assumed = settings.project.assumptions.get("calls_per_second")
        pace = f"{assumed:g} calls per second" if assumed else "the pace of the stored answers"
        yield f"about {_format_duration(total.seconds)} at {pace}"


def _format_percent(share: float) -> str:
    """Return a share that is never rounded to 0: ``84%``, ``0.3%``, ``0.005%``."""
    return f"{share:.0%}" if share >= 0.1 else f"{share * 100:.1g}%"


def _format_duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"
