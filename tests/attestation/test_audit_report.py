"""The report of one page: the items of both forms, what was not shown, and the digest that a signature is for."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from pytest_fairness.attestation.audit_report import FORMS, LIMITS, NO_CLAIM, AuditReportExport, report_lines
from pytest_fairness.cli import main
from pytest_fairness.core.acceptance_results import AcceptanceResult
from pytest_fairness.core.attempts import Grade
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.evidence_results import EvidenceResult, EvidenceThreshold
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.probe_results import ProbeResult
from pytest_fairness.core.threshold_results import GroupResult
from pytest_fairness.report.exports.exporter import RunReference
from pytest_fairness.report.view import View
from pytest_fairness.store.samples import StoredSample
from tests.helpers import report_views
from tests.helpers.project import Project, in_one_process, shown

MODEL = "openai:gpt-5-mini"
CARD = "# hiring\n\n**Question.** Are women and men *hired* alike?\n\n**Limits.** Many."
GROUPS = {
    group: GroupResult(value=rate, low=rate - 0.1, high=rate + 0.1, items=100, attempts=100, ungraded=2).to_json()
    for group, rate in (("woman", 0.5), ("man", 0.8))
}


def view(**changes: Any) -> View:
    """Return a run with an unfair, an undecided and an invalid threshold, of one probe without a control."""
    rows = [
        report_views.row("unfair", model=MODEL, **({"by_group": GROUPS} | changes)),
        report_views.row(
            "undecided", model=MODEL, id="t.py::test_open", threshold="Open", restricted=["--fairness-sample 5"]
        ),
        report_views.row("invalid", model=MODEL, id="t.py::test_void", threshold="Void", message="invalid: no answers"),
        report_views.row("fair", model="openai:other", id="t.py::test_other", threshold="Of another model"),
    ]
    prompt = Prompt("Hire her?", {"gender": "woman"})
    attempts = [report_views.graded(ProbeItem("one", [prompt]), prompt, 0, {"hired": Grade(True)})]
    sample = StoredSample("test_hiring.py::test_hiring", MODEL, "key", attempts, graders={"hired": "v1"})
    run = report_views.view(rows, samples=[sample])
    probe = ProbeResult(suite="hiring", probe=sample.probe, model=MODEL, attempts=1, sensitivity="no control")
    return replace(run, results=replace(run.results, probes=[probe]), cards={"hiring": CARD})


def text_of(
    run: View, form: str = "eu", statements: dict[str, str] | None = None, signers: tuple[str, ...] = ()
) -> str:
    text = "\n".join(report_lines(run, MODEL, form, statements or {}, signers))
    return str(html.fromstring(f"<p>{text}</p>").text_content()).replace("\u200b", "")


@pytest.mark.parametrize(
    "item",
    [
        # Annex IV, point 2(g): procedures, data and its main characteristics, metrics, discriminatory impacts
        "| procedure | pytest suites --fairness-model=simulated:model |",
        "- hiring: Are women and men hired alike?",
        "| hiring: hiring | 1 | 1 | 1 | gender: woman | no control |",
        "| women and men alike | ratio of hired, woman to man: 0.600 (0.500 to 0.700) (95% CI) | 0.8 to 1.2 | unfair |",
        "Rates of error by design, each threshold: wrongly fair in at most 2.5% of runs",
        # dated, and signed by the responsible persons
        "| tested | 2026-01-02T03:04:05+00:00 to 2026-01-02T03:05:05+00:00 |",
        "| Ada Bell, people team |  |  |",
        # point 3, and Article 13(3)(b)(v): specific persons or groups
        "woman 0.500 (0.400 to 0.600), 98 graded, 2 ungraded; man 0.800",
        # the system, and what nobody has stated
        "| provider | Example plc |",
        '| intended purpose | not stated (--state "intended purpose=...") |',
        "| run | 0123456789abcdef; commit abc123; python 3.11.0 |",
        NO_CLAIM,
    ],
)  # fmt: skip
def test_report_has_every_item_of_the_eu_form(item: str) -> None:
    assert item in text_of(view(), statements={"provider": "Example plc"}, signers=("Ada Bell, people team",))


def test_report_names_what_was_not_shown() -> None:
    entry = AcceptanceResult(
        threshold="t",
        title="alike",
        model=MODEL,
        verdict="unfair",
        reason="rare",
        by="Bo",
        until="2026-06-01",
        state="accepted",
    )
    text = text_of(view(accepted=entry.to_json()))
    _, _, part = text.partition("## What was not shown")
    for line in (
        "- undecided: Open (needs about 200 items (has 100) for 80% power)",
        "- invalid: Void (no answers)",
        "- Whether the probe hiring can find a gap (control: no control).",
        "- The whole declared sample: --fairness-sample 5.",
        "- unfair, and accepted by Bo until 2026-06-01: alike (rare)",
        *(f"- {limit}" for limit in LIMITS),
    ):
        assert line in part
    assert "Of another model" not in text
    simulated = "\n".join(report_lines(report_views.view([report_views.row()]), None, "eu", {}, []))
    assert "- Nothing about a real model: answers with a known bias, not from a real model." in simulated
    assert "The run has no sample of this model." in simulated


def test_card_for_agencies_separates_neutrality() -> None:
    run = view()
    entry = EvidenceResult(
        framework="OMB M-26-04", clause="c", subject="s", relation="r", source="https://example.org", where="w",
        thresholds=[EvidenceThreshold(id="t.py::test_open", title="Open", verdict="undecided")],
    )  # fmt: skip
    text = text_of(replace(run, results=replace(run.results, evidence=[entry])), "omb")
    _, _, neutral = text.partition("## Evaluations of ideological neutrality")
    neutral, _, others = neutral.partition("## Other evaluations of bias")
    assert ("| Open |" in neutral, "| Open |" in others) == (True, False)
    assert ("women and men alike" in neutral, "women and men alike" in others) == (False, True)
    for item in FORMS["omb"].items:
        assert f'| {item} | not stated (--state "{item}=...") |' in text
    assert "No threshold of this run measures ideological neutrality." in text_of(run, "omb")


@pytest.mark.parametrize("form", FORMS)
def test_texts_of_the_forms_claim_no_compliance(form: str) -> None:
    text = text_of(view(), form).replace(NO_CLAIM, "").lower()
    assert not any(word in text for word in ("complian", "complies", "certif", "guarantee"))
    assert text_of(view(), form).count("legal advice") == 1


def test_unknown_statement_is_refused() -> None:
    with pytest.raises(FairnessError, match=r"--state: the form eu has no item 'provder'; did you mean 'provider'\?"):
        text_of(view(), statements={"provder": "x"})


def export(run: View, out: Path, *options: str) -> str:
    parser, exporter = ArgumentParser(), AuditReportExport()
    exporter.add_arguments(parser)
    exporter.export(RunReference("latest", lambda: run), out, parser.parse_args(["--model", MODEL, *options]))
    return out.read_text(encoding="utf-8")


@pytest.mark.parametrize("hostile", report_views.HOSTILE)
def test_page_shows_hostile_texts_as_texts(hostile: str, tmp_path: Path) -> None:
    run = view(threshold=hostile, title=hostile, suite=hostile, by_group={hostile: GROUPS["man"]})
    page = export(run, tmp_path / "report.html", f"--state=provider={hostile}", f"--signer={hostile}")
    tree = html.fromstring(page)
    assert {element.tag for element in tree.body.iter()} <= {
        "body", "main", "h1", "h2", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert tree.head.findtext("title") == "Test report"


@pytest.mark.parametrize("value", ["provider", "=x", "provider="])
def test_malformed_statement_is_refused(value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        export(view(), tmp_path / "report.md", f"--state={value}")
    assert f"{value!r} is no statement: write ITEM=TEXT" in capsys.readouterr().err


@pytest.mark.slow
@in_one_process
def test_digest_is_that_of_the_results_file(project: Project) -> None:
    project.write_suite()
    result = project.run("--fairness-json=results.json")
    assert "INTERNALERROR" not in shown(result)
    out = project.path / "report.md"
    assert main.main(["export", "test-report", "latest", "--store", str(project.store), "--out", str(out)]) == 0
    digest = sha256((project.path / "results.json").read_bytes()).hexdigest()
    assert out.read_text(encoding="utf-8").count(digest) == 2
