"""Items of a published summary of a bias audit besides its tables: dates, the source of the data, its generation.

Source: Rules of the City of New York, title 6, sections 5-302(b) and 5-303(a).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from pytest_fairness.attestation.documents import card_paragraph
from pytest_fairness.extending import StoredSample, View, counted, phrases

NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True)
class AuditStatements:
    """Statements that only an auditor or an employer can make; empty where nobody has."""

    audit_date: str = ""
    distribution_date: str = ""
    """The day on which the use of the tool began."""
    no_history: str = ""
    """The reason why historical data was not used."""


def summary_facts(view: View, sample: StoredSample, statements: AuditStatements) -> dict[str, str]:
    """Return the items of a summary, with what the run and the card of its suite have of each.

    Args:
        view: The run.
        sample: The sample of the tables.
        statements: What only people can state.
    """
    run = view.results.run
    simulated = [phrases.SIMULATED] if phrases.is_simulated(sample.model) else []
    suite = next((row.suite for row in view.results.thresholds if row.probe == sample.probe), "")
    card = view.cards.get(suite, "")
    items = len({graded.item.id for graded in sample.attempts})
    prompts = len({id(graded.prompt) for graded in sample.attempts})
    written = (
        f"{counted(prompts, 'written application')} under {counted(items, 'profile')}, of the probe {sample.probe}"
    )
    drawn = (
        "all items of the probe" if run.sample is None else f"at most {counted(run.sample, 'item')}, drawn by chance"
    )
    made = f"{drawn}, seed {run.seed}; {len(sample.repetitions)} per prompt"
    no_card = f"The suite has no card: {NOT_STATED}."
    source, method = card_paragraph(card, "Source") or no_card, card_paragraph(card, "Method") or no_card
    return {
        "date of the measurements": _answered(view, sample) or run.started[:10],
        "date of the bias audit": statements.audit_date or f"{NOT_STATED} (--audit-date)",
        "distribution date of the tool": statements.distribution_date or f"{NOT_STATED} (--distribution-date)",
        "model": "; ".join([sample.model, *simulated, *_served_by(view, sample)]),
        "run": "; ".join(filter(None, (run.id, f"commit {run.git or 'unknown'}", _version(view)))),
        "source and explanation of the data": f"Test data: {written}. {source}",
        "why historical data was not used": statements.no_history or f"{NOT_STATED} (--no-history)",
        "how the test data was generated and obtained": f"{method} ({made})",
    }


def _answered(view: View, sample: StoredSample) -> str:
    moments = next((times for one, times in zip(view.samples, view.moments, strict=True) if one is sample), None)
    if moments is None or moments.first is None or moments.last is None:
        return ""
    first, last = (datetime.fromtimestamp(at, UTC).date().isoformat() for at in (moments.first, moments.last))
    return first if first == last else f"{first} to {last}"


def _served_by(view: View, sample: StoredSample) -> list[str]:
    times = next((times for one, times in zip(view.samples, view.moments, strict=True) if one is sample), None)
    return [] if times is None else [f"served by {name}" for name in times.served_by]


def _version(view: View) -> str:
    version = view.results.run.versions.get("pytest-fairness", "")
    return version and f"pytest-fairness {version}"
