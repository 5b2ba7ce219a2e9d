"""A report of one page on one model: procedure, results, performance by group, and the limits of what was shown.

Its two forms have the items of technical documentation and instructions for use (EU AI Act, Annex IV, points 2(g) and
3, and Article 13(3)(b)(v)), and those of a vendor's card for federal agencies (OMB M-26-04).
"""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pytest_fairness import FairnessError
from pytest_fairness.attestation.bias_audit_summary import NOT_STATED
from pytest_fairness.attestation.documents import bullets, card_paragraph, facts_table, write_document
from pytest_fairness.extending import (
    Exporter,
    ReleaseResult,
    RunReference,
    StoredSample,
    TextTable,
    ThresholdResult,
    View,
    add_model,
    bounds_of,
    counted,
    did_you_mean,
    format_level,
    phrases,
    release_sentence,
    results_text,
    select_thresholds,
    shown_names,
)
from pytest_fairness.extending import escape_markdown as escape

NO_CLAIM = (
    "This report lists what was measured. It is no claim of compliance, and no legal advice: whether a rule applies, "
    "and is met, is for your own counsel to decide."
)
LIMITS = (
    "Verdicts are about this model on these prompts, not about the system in use, its users or its training data.",
    "Groups, languages and uses that no probe names were not tested. Each suite's card has its limits.",
    "The run does not date its bounds: the history of the repository does.",
)
"""Limits of every run."""
_NEUTRALITY = "OMB M-26-04"
_ROWS_TO_SIGN = 2
_MOST_GROUPS = 6


@dataclass(frozen=True, slots=True)
class ReportForm:
    """A form of the report: its title, and the items that only people can state."""

    title: str
    items: Sequence[str]
    rules: str


FORMS: Mapping[str, ReportForm] = {
    "eu": ReportForm(
        "Test report",
        ("provider", "system and version", "intended purpose"),
        "Items of the EU AI Act, Annex IV, points 2(g) and 3, and Article 13(3)(b)(v).",
    ),
    "omb": ReportForm(
        "Evaluation card",
        (
            "vendor",
            "system and version",
            "intended use",
            "acceptable use policy",
            "summary of training",
            "risks and mitigations",
            "end-user resources",
            "feedback mechanism",
        ),
        "Items of a card for federal agencies of the United States, OMB M-26-04.",
    ),
}


def report_lines(
    view: View, model: str | None, form: str, statements: Mapping[str, str], signers: Sequence[str]
) -> list[str]:
    """Return the report on one model, in Markdown.

    Args:
        view: The run.
        model: The model; None where the run has only one.
        form: A key of `FORMS`.
        statements: What people state, by the items of the form.
        signers: Names and roles of the responsible persons, who sign by hand.

    Raises:
        FairnessError: The run has no such model, or several; or the form has no such item.
    """
    chosen = FORMS[form]
    for item in statements:
        if item not in chosen.items:
            raise FairnessError(f"--state: the form {form} has no item {item!r}; {did_you_mean(item, chosen.items)}")
    rows = select_thresholds(view, model)
    name = rows[0].model
    release = next(line for line in view.results.release if line.model == name)
    samples = [sample for sample in view.samples if sample.model == name]
    digest = sha256(results_text(view.results).encode("utf-8", "backslashreplace")).hexdigest()
    lines = [
        f"# {chosen.title}: {escape(shown_names(view).introduce(name))}",
        "",
        f"{chosen.rules} {NO_CLAIM}",
        "",
        *facts_table("Facts", _stated(chosen, statements) | _facts(view, name, release, digest)),
        *_section("Procedure and test data", [*_data(view, samples)]),
    ]
    if form == "omb":
        neutral = _evidence_of(view, _NEUTRALITY)
        about = [row for row in rows if row.id in neutral]
        none = ["No threshold of this run measures ideological neutrality."]
        lines += _section("Evaluations of ideological neutrality", [*_results(about)] if about else none)
        rows_of_others = [row for row in rows if row.id not in neutral]
        if rows_of_others:
            lines += _section("Other evaluations of bias", [*_results(rows_of_others)])
    else:
        lines += _section("Metrics, bounds and results", [*_results(rows)])
    promise = phrases.promise(rows)
    lines += ["", f"Rates of error by design, {escape(promise)}."] if promise else []
    if groups := [*_groups(rows)]:
        lines += _section("Performance by group", groups)
    lines += _section("What was not shown", bullets([*_not_shown(view, name, rows)]))
    return [*lines, *_section("Responsible persons", [*_signatures(signers, digest)])]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines]


def _stated(form: ReportForm, statements: Mapping[str, str]) -> dict[str, str]:
    return {item: statements.get(item) or f'{NOT_STATED} (--state "{item}=...")' for item in form.items}


def _facts(view: View, name: str, release: ReleaseResult, digest: str) -> dict[str, str]:
    run = view.results.run
    served_by = {
        served
        for sample, moments in zip(view.samples, view.moments, strict=True)
        if sample.model == name
        for served in moments.served_by
    }
    simulated = phrases.SIMULATED if phrases.is_simulated(name) else ""
    prompt = run.system_prompts.get(name, "")
    described = (
        name,
        simulated,
        prompt and f"system prompt {prompt}",
        *(f"served by {one}" for one in sorted(served_by)),
    )
    versions = (f"{package} {version}" for package, version in run.versions.items())
    return {
        "tested": f"{run.started} to {run.ended or 'unknown'}",
        "model": "; ".join(filter(None, described)),
        "procedure": f"pytest {shlex.join([*run.tests, *run.selection, *run.command])}",
        "run": f"{run.id}; commit {run.git or 'unknown'}; {', '.join(versions)}",
        "results file": f"SHA-256 {digest}",
        "result": release_sentence(release),
    }


def _data(view: View, samples: Sequence[StoredSample]) -> Iterator[str]:
    results = view.results
    suites = {row.probe: row.suite for row in results.thresholds}
    sensitivity = {(probe.probe, probe.model): probe.sensitivity for probe in results.probes}
    names = dict.fromkeys(suites.get(sample.probe, "") for sample in samples)
    questions = {suite: card_paragraph(view.cards.get(suite, ""), "Question") for suite in names}
    yield from bullets([f"{suite}: {question or 'the suite has no card'}" for suite, question in questions.items()])
    if not samples:
        yield "The run has no sample of this model."
        return
    yield ""
    heads = ["probe", "items", "attempts", "per prompt", "groups", "response to the control"]
    cells = [
        [
            f"{suites.get(sample.probe, '')}: {phrases.probe_name(sample.probe)}",
            f"{len({graded.item.id for graded in sample.attempts}):,}",
            f"{len(sample.attempts):,}",
            str(len(sample.repetitions)),
            _groups_of(sample),
            sensitivity.get((sample.probe, sample.model), "no control"),
        ]
        for sample in samples
    ]
    yield from TextTable("Procedure and test data", heads, cells).markdown()


def _groups_of(sample: StoredSample) -> str:
    groups: dict[str, set[str]] = {}
    for _, prompt in sample.prompts:
        for attribute, group in prompt.groups.items():
            groups.setdefault(attribute, set()).add(str(group))
    names = (
        f"{attribute}: {', '.join(sorted(members)) if len(members) <= _MOST_GROUPS else counted(len(members), 'group')}"
        for attribute, members in sorted(groups.items())
    )
    return "; ".join(names)


def _results(rows: Sequence[ThresholdResult]) -> Iterator[str]:
    cells = []
    for row in rows:
        estimate = row.estimate
        level = f" ({format_level(estimate.confidence)} CI)" if estimate.confidence else ""
        measured = (
            "-"
            if estimate.value is None
            else f"{estimate.title or estimate.metric}: {phrases.numbers_of(estimate)}{level}"
        )
        cells.append([phrases.title(row), measured, bounds_of(row) or "-", row.verdict_text])
    yield from TextTable("Results", ["threshold", "metric and estimate", "bounds", "verdict"], cells).markdown()


def _groups(rows: Sequence[ThresholdResult]) -> Iterator[str]:
    cells = [
        [
            row.threshold or row.id,
            "; ".join(
                f"{group} {phrases.numbers_of(numbers)}, {numbers.graded:,} graded, {numbers.ungraded:,} ungraded"
                for group, numbers in row.by_group.items()
            ),
        ]
        for row in rows
        if row.by_group
    ]
    if cells:
        heads = ["threshold", "rate or mean of each group, with its interval"]
        yield from TextTable("Performance by group", heads, cells).markdown()


def _not_shown(view: View, name: str, rows: Sequence[ThresholdResult]) -> Iterator[str]:
    if phrases.is_simulated(name):
        yield f"Nothing about a real model: {phrases.SIMULATED}."
    for row in rows:
        if row.verdict not in ("fair", "unfair"):
            reason = row.advice or phrases.invalid_reason(row) or row.message
            yield f"{row.verdict}: {row.threshold or row.id}{f' ({reason})' if reason else ''}"
    for probe in view.results.probes:
        if probe.model == name and probe.sensitivity != "shown":
            yield f"Whether the probe {phrases.probe_name(probe.probe)} can find a gap (control: {probe.sensitivity})."
    restricted = list(dict.fromkeys(option for row in rows for option in row.restricted))
    if restricted:
        yield f"The whole declared sample: {', '.join(restricted)}."
    for row in rows:
        if row.accepted is not None:
            entry = row.accepted
            yield f"{row.verdict}, and {entry.state} by {entry.by} until {entry.until}: {entry.title} ({entry.reason})"
    yield from LIMITS


def _evidence_of(view: View, framework: str) -> set[str]:
    """Return the ids of the thresholds that the evidence map of the run has for a framework."""
    entries = view.results.evidence or ()
    return {threshold.id for entry in entries if entry.framework == framework for threshold in entry.thresholds}


def _signatures(signers: Sequence[str], digest: str) -> Iterator[str]:
    names = [*signers, *[""] * (_ROWS_TO_SIGN - len(signers))]
    yield from TextTable(
        "Signatures", ["name and role", "date", "signature"], [[signer, "", ""] for signer in names]
    ).markdown()
    yield ""
    yield f"A signature, by hand or of a key, is for the results file with the SHA-256 digest {digest}."


def _statement(text: str) -> tuple[str, str]:
    item, equals, content = text.partition("=")
    if not (equals and item.strip() and content.strip()):
        raise ArgumentTypeError(f"{text!r} is no statement: write ITEM=TEXT, as in 'intended purpose=...'")
    return item.strip().lower(), content.strip()


class AuditReportExport(Exporter):
    """The export ``test-report``."""

    help = "a page to date and sign: procedure, results, groups, and what was not shown"
    out = "the file to write: its ending, .html or .md, says how"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_model(parser)
        parser.add_argument(
            "--form", default="eu", choices=FORMS, help="eu: the EU AI Act; omb: OMB M-26-04, for federal agencies (eu)"
        )
        parser.add_argument(
            "--state",
            action="append",
            default=[],
            type=_statement,
            metavar="ITEM=TEXT",
            help="what only you can state, as 'intended purpose=...' (repeatable)",
        )
        parser.add_argument(
            "--signer", action="append", default=[], metavar="TEXT", help="name and role of who signs (repeatable)"
        )

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        view = run.read()
        lines = report_lines(view, arguments.model, arguments.form, dict(arguments.state), arguments.signer)
        write_document(out, FORMS[arguments.form].title, lines)
        return f"written: {out}"
