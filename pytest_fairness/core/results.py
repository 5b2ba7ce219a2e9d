"""The results of a run: `RunResults` is the results file (docs/results.md), as frozen dataclasses with a JSON form.

Fields have the names and units of the file. `core.threshold_results` has those of thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.serialization import OPTIONAL, JsonRecord, json_schema

if TYPE_CHECKING:
    from pytest_fairness.core import (
        acceptance_results,
        agreement_results,
        dry_run_results,
        evidence_results,
        probe_results,
        search_results,
        threshold_results,
    )

SCHEMA = 2
"""Schema 1 was that of version 0.1; it has fewer fields and is read."""
READABLE = (1, SCHEMA)
_MARKS = (None, "A", "B", "C", "D")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult(JsonRecord):
    """The requests to one model, on behalf of probes or of graders."""

    model: str
    role: str
    """``probes`` or ``graders``."""
    calls: int
    """Calls that ended."""
    requests: int
    """Requests sent, retries included."""
    input: int
    """Tokens."""
    output: int
    """Tokens."""
    cost_usd: float | None = None
    """None where a price is not known."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """Failed requests by kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(JsonRecord):
    """The run itself."""

    id: str
    """The run's id in the store."""
    started: str
    """ISO 8601, UTC, as is ``ended``."""
    ended: str = ""
    models: Sequence[str] = ()
    """Full names, as everywhere in this file."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The name by which outputs show a model, by the full one: its alias, else ``provider:name``; of judges too."""
    system_prompts: Mapping[str, str] = field(default_factory=dict)
    """File and fingerprint of the system prompt of each model that has one."""
    servers: Mapping[str, str] = field(default_factory=dict)
    """Address in this run of each model whose name has ``server=``."""
    judge: str | None = None
    """The model of ``--fairness-judge``."""
    command: Sequence[str] = ()
    """Options of pytest that repeat the run."""
    tests: Sequence[str] = ()
    """Files or packages as typed, with the options that decide which tests exist."""
    selection: Sequence[str] = ()
    """``-k``, ``-m`` and ``--deselect``."""
    folder: str | None = ""
    """The current folder, relative to the rootdir; None outside of it."""
    seed: int = 0
    """``--fairness-seed``."""
    sample: int | None = None
    """``--fairness-sample``."""
    git: str | None = None
    """The commit of the project, with ``-dirty`` behind it if tracked files had changed."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Those of Python, pytest-fairness and the libraries that are installed."""
    attempts: int = 0
    """Attempts that the verdicts and tests used."""
    from_store: int = 0
    """Those of them that came from an earlier run."""
    ungraded: int = 0
    """Those of them with at least one ungraded grade."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    """Tokens that this run paid for: ``input``, ``output``, and ``reasoning`` if reported."""
    cost_usd: float | None = None
    """The run's cost, graders' calls included; None where a price is not known."""
    calls: Sequence[CallResult] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResults(JsonRecord):
    """The results file."""

    schema: int = SCHEMA
    run: RunResult
    """The run as a whole."""
    release: Sequence[threshold_results.ReleaseResult] = ()
    """One for each model: the verdict on all of its thresholds."""
    marks: Sequence[threshold_results.MarkResult] = ()
    """One for each model and suite, field of a suite and kind of harm that has marks."""
    probes: Sequence[probe_results.ProbeResult] = ()
    """The competence of each model at each probe."""
    thresholds: Sequence[threshold_results.ThresholdResult] = ()
    """One for each threshold of the collected files and model, selected or not."""
    metrics: Sequence[threshold_results.MetricResult] = ()
    """Every estimate that a threshold test has compared, every member of a family, or recorded with
    ``measured.record(...)``."""
    searches: Sequence[search_results.SearchResult] = ()
    """One for each search of a test with the fixture ``flips``."""
    agreements: Sequence[agreement_results.AgreementResult] | None = field(default=None, metadata=OPTIONAL)
    """Probes of which the store has propensities and drawn answers; None where there are none."""
    acceptances: Sequence[acceptance_results.AcceptanceResult] | None = field(default=None, metadata=OPTIONAL)
    """The entries of the file of accepted verdicts, unused ones too; None where there are none."""
    evidence: Sequence[evidence_results.EvidenceResult] | None = field(default=None, metadata=OPTIONAL)
    """Clauses of laws and standards on which thresholds bear; None where there are none."""
    plan: dry_run_results.PlanResult | None = field(default=None, metadata=OPTIONAL)
    certify: dry_run_results.CertifyResult | None = field(default=None, metadata=OPTIONAL)
    verify: dry_run_results.VerifyResult | None = field(default=None, metadata=OPTIONAL)
    """Sections of runs that only plan, certify or verify."""

    @classmethod
    def late_modules(cls) -> Mapping[str, Any]:
        kinds = ("acceptance", "agreement", "dry_run", "evidence", "probe", "search", "threshold")
        return {f"{kind}_results": import_module(f"{__package__}.{kind}_results") for kind in kinds}


def read_results(content: Any, where: str) -> RunResults:
    """Return the results that JSON holds, of this version or of 0.1.

    Args:
        content: A results file, as `json.loads` gives it.
        where: The file or run that the error names.

    Raises:
        FairnessError: For another schema, and for a field that is unknown, missing or of another type, in one line.
    """
    schema = content.get("schema") if isinstance(content, Mapping) else None
    if isinstance(schema, bool) or schema not in READABLE:
        readable = " or ".join(map(str, READABLE))
        raise FairnessError(
            f"{where} is no results file of schema {readable}: name a file that --fairness-json has written"
        )
    from pytest_fairness.core.decisions import Verdict

    verdicts = (*Verdict, "not judged")
    try:
        results = RunResults.from_json(content, strict=schema == SCHEMA)
        for number, line in enumerate(results.release):
            _check_word(f"release[{number}].verdict", line.verdict, verdicts)
        for number, row in enumerate(results.thresholds):
            _check_word(f"thresholds[{number}].verdict", row.verdict, verdicts)
            _check_word(f"thresholds[{number}].mark", row.estimate.mark, _MARKS)
        for number, mark in enumerate(results.marks):
            _check_word(f"marks[{number}].mark", mark.mark, _MARKS)
    except FairnessError as error:
        raise FairnessError(f"{where}: {error}; name a file that --fairness-json has written") from None
    return results


def _check_word(position: str, word: str | None, words: Sequence[str | None]) -> None:
    """Raise `FairnessError` for a verdict or mark that does not exist, as a damaged file may have one."""
    if word not in words:
        raise FairnessError(f"{position} is {word!r:.60}: it must be one of {', '.join(filter(None, words))}")


def results_schema() -> dict[str, Any]:
    """Return the JSON Schema of a results file of this version."""
    return json_schema(RunResults, "Results of a pytest-fairness run")
