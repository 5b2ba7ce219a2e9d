"""Provenance: models, prompts, times and settings by which a run can be checked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from pytest_fairness.core.formatting import counted
from pytest_fairness.core.model_names import ModelNames, server_note
from pytest_fairness.core.results import RunResult
from pytest_fairness.report import phrases
from pytest_fairness.report.view import AnswerTimes, View


class Fact(NamedTuple):
    """One line of the list, or several under one name."""

    name: str
    lines: list[str]


def provenance_facts(view: View) -> list[Fact]:
    """Return the facts in the order of an audit; unknown ones are listed as such."""
    run = view.results.run
    samples = view.samples
    names = ModelNames(run.names)
    judge = next((f"{run.judge}: {model}" for model in names.shown if names.alias(model) == run.judge), run.judge)
    models = [f"{alias}: {model}" if (alias := names.alias(model)) else model for model in run.models]
    system_prompts = [f"{names.show(model)}: {prompt}" for model, prompt in run.system_prompts.items()]
    servers = [f"{names.show(model)}: {server_note(model, address)}" for model, address in run.servers.items()]
    return [
        Fact("Run", [f"{run.id}, {run.started} to {run.ended}"]),
        Fact("Models", models or sorted({sample.model for sample in samples}) or ["none"]),
        *([Fact("System prompts", system_prompts)] if system_prompts else []),
        *([Fact("Servers", servers)] if servers else []),
        Fact("Served by", list(_served(view)) or ["not reported by the providers"]),
        Fact("Prompts", list(_sample_sizes(view))),
        Fact("Judge", [judge or "none: no grader of this run uses a judge", *_judges(view)]),
        Fact("Graders", list(_graders(view)) or ["none"]),
        Fact("Measured", [phrases.totals(run)]),
        Fact("Cost", list(_cost(run))),
        Fact("Sample", [_sample(run)]),
        Fact("Data", list(_origins(view)) or ["the items of the suites; see their cards"]),
        Fact("Commit", [run.git or "no git repository"]),
        Fact("Versions", [", ".join(f"{name} {version}" for name, version in run.versions.items())]),
    ]


def _cost(run: RunResult) -> Iterator[str]:
    cost = run.cost_usd
    yield "unknown: a model has no price" if cost is None else phrases.money(cost)
    yield from phrases.asked_by_graders(run)
    if failed := phrases.failed_requests(run):
        yield failed


def _served(view: View) -> Iterator[str]:
    names: dict[str, set[str]] = {}
    for sample, moments in zip(view.samples, view.moments, strict=True):
        names.setdefault(sample.model, set()).update(moments.served_by)
    for model, served_by in names.items():
        if served_by:
            yield f"{model}: {', '.join(sorted(served_by))}"


def _sample_sizes(view: View) -> Iterator[str]:
    for sample, moments in zip(view.samples, view.moments, strict=True):
        items = len({graded.item.id for graded in sample.attempts})
        counts = f"{counted(items, 'item')}, {counted(len(sample.attempts), 'attempt')}"
        per_prompt = f"{len(sample.repetitions)} per prompt"
        yield f"{sample.probe} on {sample.model}: {counts}, {per_prompt}{_when(moments)}"


def _when(moments: AnswerTimes) -> str:
    if moments.first is None or moments.last is None:
        return ""
    first, last = (
        datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC") for at in (moments.first, moments.last)
    )
    return f", answered on {first}" if first == last else f", answered from {first} to {last}"


def _judges(view: View) -> Iterator[str]:
    for model in sorted({row.model for row in view.results.thresholds}):
        rows = [row for row in view.results.thresholds if row.model == model]
        yield from (f"answers of {model}: {sentence}" for sentence in phrases.judges(rows))


def _graders(view: View) -> Iterator[str]:
    shown: dict[str, None] = {}
    for sample in view.samples:
        for name, fingerprint in sample.graders.items():
            shown[f"{name} of {sample.probe}: {fingerprint or 'no fingerprint'}"] = None
    yield from shown


def _sample(run: RunResult) -> str:
    if run.sample is None:
        return "every item of each probe"
    return f"at most {counted(run.sample, 'item')} of each probe, drawn with seed {run.seed}"


def _origins(view: View) -> Iterator[str]:
    for sample in view.samples:
        origins = {
            str(graded.item.metadata["origin"]) for graded in sample.attempts if "origin" in graded.item.metadata
        }
        if origins:
            yield f"{sample.probe}: {', '.join(sorted(origins))}"
