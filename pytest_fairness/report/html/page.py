"""The report as one page, and the values of its template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.formatting import counted, figures
from pytest_fairness.core.model_names import ModelNames
from pytest_fairness.core.output_files import write_text
from pytest_fairness.core.results import RunResults
from pytest_fairness.report import findings, next_steps, phrases
from pytest_fairness.report.decisions import accepted_figures, decisions_worst_first, first_acceptance
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.html.attempts import pack_attempts
from pytest_fairness.report.html.rendering import render
from pytest_fairness.report.provenance import provenance_facts
from pytest_fairness.report.release import NOT_JUDGED, STATES, counts, rank, reason_of, shown_verdict
from pytest_fairness.report.repeat_commands import command_of_run
from pytest_fairness.report.shown_names import shown_view

if TYPE_CHECKING:
    from pytest_fairness.core.acceptance_results import AcceptanceResult
    from pytest_fairness.core.agreement_results import AgreementResult
    from pytest_fairness.core.evidence_results import EvidenceResult
    from pytest_fairness.core.search_results import SearchResult
    from pytest_fairness.core.threshold_results import EstimateResult, MetricResult, ReleaseResult, ThresholdResult
    from pytest_fairness.report.html.cards import Card
    from pytest_fairness.report.html.direction_table import DirectionTable
    from pytest_fairness.report.html.probe_section import ProbeSection
    from pytest_fairness.report.html.threshold_section import ThresholdSection
    from pytest_fairness.report.threshold_view import ThresholdView
    from pytest_fairness.report.view import View

_MOST_OF_SECTIONS = 2_000_000
"""The most characters of charts, tables and examples: a page of 3,000 thresholds stays under 6 MB with these."""
_STYLES = ("style.css", "charts.css", "attempts.css")
_SCRIPTS = ("attempts_index.js", "attempts.js", "report.js")


def write_page(path: Path, view: View) -> None:
    """Write the report, whole or not at all.

    Raises `FairnessError`, in one line, where it cannot be written.
    """
    write_text(path, page(view))


def page(view: View) -> str:
    """Return the report of a run, as HTML."""
    return render("report.html.j2", styles=_STYLES, scripts=_SCRIPTS, **page_of(view))


def page_of(view: View) -> dict[str, Any]:
    """Return the values of the page's template."""
    view = shown_view(view)
    results, names_of_run = view.results, ModelNames(view.results.run.names)
    ordered = sorted(view.thresholds, key=lambda threshold: rank(threshold.row))
    names = {line.model: escape_controls(line.model) or "no model" for line in results.release}
    articles = _articles(ordered, names) if ordered else []
    cards = _cards(view.cards) if view.cards else {}
    outside = {
        line.model: [text for row in results.thresholds if row.model == line.model for text in phrases.outside(row)]
        for line in results.release
    }
    return {
        "run": results.run,
        "claims": findings.CLAIMS,
        "packed": pack_attempts(view.samples, results),
        "page": {
            "models": [_model(line, names_of_run, outside[line.model], results.thresholds) for line in results.release],
            "probes": _probes(results, names) if results.probes else None,
            "simulated": phrases.SIMULATED if any(map(phrases.is_simulated, results.run.models)) else "",
            "grid": _grid(results),
            "unfair": [section for section in articles if section.row.verdict == "unfair"],
            "undecided": [section for section in articles if section.row.verdict == "undecided"],
            "invalid": _by_reason(
                (phrases.invalid_reason(section.row), section)
                for section in articles
                if section.row.verdict == "invalid"
            ),
            "not_judged": _by_reason(
                (escape_controls(reason_of(section.row)), section)
                for section in articles
                if section.row.verdict == NOT_JUDGED
            ),
            "suites": _suites(articles, cards, others(results, names)),
            "leans": _directions(articles) if articles else [],
            "agreements": [_agreement(check, names[check.model]) for check in results.agreements or ()],
            "searches": [_search(row) for row in results.searches],
            "facts": provenance_facts(view),
            "cards": list(cards.values()),
            "brief": sum(section.is_brief for section in articles),
            "promise": phrases.promise(results.thresholds),
            "decisions": [_decision(entry) for entry in decisions_worst_first(results.acceptances or ())],
            "evidence": _evidence(results, articles, names) if results.evidence else {"clauses": []},
            "command": command_of_run(results.run),
        },
    }


def _articles(thresholds: Sequence[ThresholdView], names: Mapping[str, str]) -> list[ThresholdSection]:
    from pytest_fairness.report.html.threshold_section import article

    sections, room = [], _MOST_OF_SECTIONS
    for number, threshold in enumerate(thresholds, 1):  # the worst first
        section = article(threshold, names[threshold.row.model], f"t{number}")
        room -= section.size
        sections.append(section if room >= 0 else section.brief())
    return sections


def _probes(results: RunResults, names: Mapping[str, str]) -> ProbeSection:
    from pytest_fairness.report.html.probe_section import probe_section

    return probe_section(results.probes, names)


def _cards(texts: Mapping[str, str]) -> dict[str, Card]:
    from pytest_fairness.report.html.cards import read_card

    return {suite: read_card(suite, text) for suite, text in texts.items()}


def _directions(articles: Sequence[ThresholdSection]) -> list[DirectionTable]:
    from pytest_fairness.report.html.direction_table import group_directions

    return group_directions(articles)


def _decision(entry: AcceptanceResult) -> dict[str, Any]:
    """Return an accepted verdict of the project."""
    return {
        "entry": entry,
        "title": escape_controls(entry.title),
        "model": escape_controls(entry.model),
        "state": entry.state,
        "why": escape_controls(entry.why),
        "accepted": escape_controls("; ".join(filter(None, (accepted_figures(entry), first_acceptance(entry))))),
        "by": escape_controls(entry.by),
        "reason": escape_controls(entry.reason),
    }


def _evidence(results: RunResults, articles: Sequence[ThresholdSection], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the clauses that thresholds are evidence for, with links to these."""
    from pytest_fairness.core.evidence_results import DISCLAIMER, MOST_DAYS

    started = results.run.started
    anchors = {(section.row.id, section.row.model): section.anchor for section in articles}
    clauses = results.evidence or ()
    return {
        "disclaimer": DISCLAIMER,
        "frameworks": list(dict.fromkeys(escape_controls(entry.framework) for entry in clauses)),
        "clauses": [_clause(entry, anchors, names) | {"stale": entry.is_stale(started)} for entry in clauses],
        "stale": sum(entry.is_stale(started) for entry in clauses),
        "most_days": MOST_DAYS,
    }


def _clause(entry: EvidenceResult, anchors: Mapping[tuple[str, str], str], names: Mapping[str, str]) -> dict[str, Any]:
    verdicts = Counter(threshold.verdict for threshold in entry.thresholds)
    texts = ("framework", "clause", "subject", "relation", "status", "source", "as_of", "where")
    return {
        **{name: escape_controls(getattr(entry, name)) for name in texts},
        "counts": ", ".join(f"{verdicts[state]} {state}" for state in (*STATES, NOT_JUDGED) if verdicts[state]),
        "thresholds": [
            {
                "title": escape_controls(threshold.title),
                "model": names.get(threshold.model, escape_controls(threshold.model)),
                "verdict": threshold.verdict,
                "anchor": anchors.get((threshold.id, threshold.model), ""),
            }
            for threshold in entry.thresholds
        ],
    }


def _agreement(check: AgreementResult, model: str) -> dict[str, Any]:
    """Return a check of propensities against drawn answers."""
    verdict = "agree" if check.agrees else f"disagree: {check.reason}. The drawn answers are what a service gives"
    return {
        "name": f"{check.suite}: {phrases.probe_name(check.probe)}, {check.grade}",
        "model": model,
        "agrees": check.agrees,
        "sentence": f"On {counted(check.prompts, 'prompt')} they {verdict} (p = {check.p_value:.2g}).",
        "groups": [
            {
                "group": group.group,
                "value": group.value,
                "propensity": f"{group.propensity:.1%}",
                "outside": f"{group.outside:.1%}",
                "drawn": f"{group.drawn:.1%}",
                "answers": group.answers,
            }
            for group in check.groups
        ],
    }


def _search(row: SearchResult) -> dict[str, Any]:
    """Return a search of a test with hypothesis; results of older versions have none."""
    texts = [escape_controls(text, lines=True) for text in row.flip.texts] if row.flip else []
    fields = {"name": f"{row.id}, {row.model}", "sentence": phrases.search(row), "command": row.command}
    return {"texts": texts, **{name: escape_controls(text) for name, text in fields.items()}}


def _model(
    line: ReleaseResult, names: ModelNames, outside: Sequence[str], rows: Sequence[ThresholdResult]
) -> dict[str, Any]:
    own = [row for row in rows if row.model == line.model]
    return {
        "name": escape_controls(line.model) or "no model",
        "introduced": escape_controls(names.introduce(line.model)) or "no model",
        "release": line,
        "verdict": shown_verdict(line),
        "counts": counts(line),
        "gate": findings.gate(own),
        "parameters": escape_controls(_parameters(line.model, names)),
        "turns": escape_controls(findings.turns(own)),
        # Only the examples of unfair thresholds stand on the page; a remedy may name the report as well.
        "next": next_steps.next_step(line, own).partition(next_steps.IN_REPORT if line.verdict == "unfair" else "\n"),
        "causes": [
            dict(zip(("finding", "example", "remedy"), map(escape_controls, texts), strict=True))
            for texts in next_steps.causes(line)
        ],
        "outside": outside,
    }


def _parameters(model: str, names: ModelNames) -> str:
    """Return the parameters in a model's name; none behind an alias, which stands for them."""
    full = names.full(model) or ""
    return "" if names.alias(full) else full.partition("?")[2].replace("&", ", ")


def _by_reason(sections: Iterable[tuple[str, ThresholdSection]]) -> list[dict[str, Any]]:
    """Return thresholds by the reason that they have no estimate, since many may share one."""
    by_reason: dict[str, list[ThresholdSection]] = {}
    for reason, section in sections:
        by_reason.setdefault(reason, []).append(section)
    return [{"reason": escape_controls(reason), "cards": cards} for reason, cards in by_reason.items()]


def _grid(results: RunResults) -> list[dict[str, Any]]:
    """Return the grid of marks: a line for each suite and each of its fields, with a mark for each model."""
    models = [line.model for line in results.release]
    suites = list(dict.fromkeys(row.suite for row in results.thresholds))
    lines = []
    for suite in suites:
        harms = dict.fromkeys(row.harm for row in results.thresholds if row.suite == suite and row.harm)
        marked = {mark.model: mark.mark for mark in results.marks if mark.suite == suite}
        fields = dict.fromkeys(mark.field for mark in results.marks if mark.field is not None)
        own_fields = [field for field in fields if field.partition("/")[0] == suite]
        line: dict[str, Any] = {
            "anchor": _anchor(suites, suite),
            "suite": f"all of {suite}" if own_fields else suite,
            "field": "",
            "harms": ", ".join(harms),
        }
        if marked:
            lines.append(line | {"cells": [marked.get(model) for model in models]})
        for field in own_fields:
            marked = {mark.model: mark.mark for mark in results.marks if mark.field == field}
            name = f"file {field.partition('/')[2]}"
            lines.append(line | {"field": name, "harms": "", "cells": [marked.get(model) for model in models]})
    return lines


def _suites(
    articles: Sequence[ThresholdSection],
    cards: Mapping[str, Card],
    other_metrics: Mapping[str, Sequence[Mapping[str, Any]]],
) -> list[dict[str, Any]]:
    names = sorted({section.row.suite for section in articles})
    first = {name: next(index for index, section in enumerate(articles) if section.row.suite == name) for name in names}
    return [
        {
            "name": name,
            "anchor": _anchor(list(dict.fromkeys(section.row.suite for section in articles)), name),
            "question": cards[name].question if name in cards else "",
            "cards": [section for section in articles if section.row.suite == name],
            "others": other_metrics.get(name, ()),
        }
        for name in sorted(names, key=first.__getitem__)
    ]


def _anchor(names: Sequence[str], name: str) -> str:
    return f"suite-{sorted(names).index(name) + 1}"


def others(results: RunResults, names: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """Return by suite the lines of a table of all estimates that decided no threshold, in their order.

    ``names`` are those of the models on the page.
    """
    judged = [_key(row.probe, row.model, row.estimate) for row in results.thresholds]
    lines_by_suite: dict[str, list[dict[str, Any]]] = {}
    for row in results.metrics:
        if _key(row.probe, row.model, row) not in judged:
            lines_by_suite.setdefault(row.suite, []).append(_line(row, names[row.model]))
    return lines_by_suite


def _key(probe: str, model: str, estimate: EstimateResult) -> tuple[Any, ...]:
    """Return the key of an estimate; an absolute difference has another metric than the signed difference."""
    return probe, model, estimate.metric, estimate.slice


def _line(row: MetricResult, model: str) -> dict[str, Any]:
    value, low, high = figures(row)
    return {
        "probe": row.probe.rpartition("::")[2].removeprefix("test_").replace("_", " "),
        "model": model,
        "title": row.title,
        "slice": ", ".join(f"{name} {part}" for name, part in row.slice.items()),
        "value": value,
        "interval": f"{low} to {high}",
        "items": row.items,
        "attempts": row.attempts,
        "ungraded": sum(row.ungraded.values()),
        "invalid": row.invalid,
    }
