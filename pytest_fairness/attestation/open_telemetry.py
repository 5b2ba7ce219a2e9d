"""A run as events of OpenTelemetry: one ``gen_ai.evaluation.result`` for each threshold and each of its slices.

Names of attributes are those of the semantic conventions for generative AI, tests and version control. What these have
no name for, intervals, bounds and counts, has the prefix ``pytest_fairness.``.

Source: https://github.com/open-telemetry/semantic-conventions-genai, events.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import (
    Exporter,
    RunReference,
    SliceResult,
    ThresholdResult,
    View,
    counted,
    escape_controls,
    finding,
    install,
    write_text,
)
from pytest_fairness.extending import json_text as json

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import ReadableLogRecord

EVENT = "gen_ai.evaluation.result"
_PREFIX = "pytest_fairness"
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""Providers whose name differs from that in the conventions (``gen_ai.provider.name``)."""
_PATH = "/v1/logs"

Value = str | int | float


@dataclass(frozen=True, slots=True)
class EvaluationEvent:
    """One event: its attributes by name, and its time."""

    time: int
    """Nanoseconds since 1970."""
    attributes: Mapping[str, Value]


def evaluation_events(view: View) -> list[EvaluationEvent]:
    """Return the events of a run: one for each threshold on each model, and one for each of its declared slices.

    Args:
        view: The run.
    """
    run = view.results.run
    time = int(datetime.fromisoformat(run.ended or run.started).timestamp()) * 1_000_000_000
    shared = {f"{_PREFIX}.run.id": run.id, "vcs.ref.head.revision": run.git or ""}
    rows = [threshold.row for threshold in view.thresholds]
    return [
        EvaluationEvent(time, _without_gaps(shared | attributes)) for row in rows for attributes in _of_threshold(row)
    ]


def _of_threshold(row: ThresholdResult) -> Iterator[dict[str, Any]]:
    provider, colon, name = row.model.partition("?")[0].partition(":")
    low, high = row.bounds
    shared = {
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider) if colon else "",
        "gen_ai.request.model": name or provider,
        "test.suite.name": row.suite,
        "test.case.name": row.id,
        f"{_PREFIX}.threshold": row.threshold,
        f"{_PREFIX}.harm": row.harm,
        f"{_PREFIX}.bounds.low": low,
        f"{_PREFIX}.bounds.high": high,
    }
    estimate = row.estimate
    yield shared | {
        "gen_ai.evaluation.name": estimate.metric or row.threshold or row.id,
        "gen_ai.evaluation.score.value": estimate.value,
        "gen_ai.evaluation.score.label": row.verdict,
        "gen_ai.evaluation.explanation": finding(row) or row.message,
        f"{_PREFIX}.outcome": row.outcome,
        f"{_PREFIX}.interval.low": estimate.low,
        f"{_PREFIX}.interval.high": estimate.high,
        f"{_PREFIX}.interval.confidence": estimate.confidence,
        f"{_PREFIX}.items": estimate.items,
        f"{_PREFIX}.attempts": estimate.attempts,
        f"{_PREFIX}.ungraded": sum(estimate.ungraded.values()),
        f"{_PREFIX}.mark": estimate.mark,
        **_slice(estimate.slice),
    }
    for part in row.slices:
        yield shared | _of_slice(row, part)


def _of_slice(row: ThresholdResult, part: SliceResult) -> dict[str, Any]:
    return {
        "gen_ai.evaluation.name": part.metric or row.estimate.metric or row.threshold or row.id,
        "gen_ai.evaluation.score.value": part.value,
        "gen_ai.evaluation.score.label": part.state,
        "gen_ai.evaluation.explanation": part.reason,
        f"{_PREFIX}.interval.low": part.low,
        f"{_PREFIX}.interval.high": part.high,
        **_slice(part.slice),
    }


def _slice(names: Mapping[str, str]) -> dict[str, str]:
    return {f"{_PREFIX}.slice.{name}": value for name, value in names.items()}


def _without_gaps(attributes: Mapping[str, Any]) -> dict[str, Value]:
    """Return attributes without missing values, with control characters of texts escaped."""
    return {
        escape_controls(name): escape_controls(value) if isinstance(value, str) else value
        for name, value in attributes.items()
        if value is not None and value != ""
    }


def log_records(events: Sequence[EvaluationEvent], version: str) -> Sequence[ReadableLogRecord]:
    """Return events as log records of OpenTelemetry's SDK.

    Args:
        events: The events.
        version: The version of this package that measured the run.

    Raises:
        FairnessError: The extra ``otel`` is not installed, or the SDK is disabled by ``OTEL_SDK_DISABLED``.
    """
    try:
        from opentelemetry._logs import LogRecord, SeverityNumber
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
        from opentelemetry.sdk.resources import Resource
    except ImportError:
        raise FairnessError(f"events of OpenTelemetry need its SDK: {install('otel')}") from None
    memory = InMemoryLogRecordExporter()
    resource = Resource.create({"service.name": "pytest-fairness", "service.version": version})
    provider = LoggerProvider(resource, shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(memory))
    logger = provider.get_logger("pytest_fairness", version)
    for event in events:
        logger.emit(
            LogRecord(
                timestamp=event.time,
                observed_timestamp=event.time,
                severity_number=SeverityNumber.INFO,
                attributes=dict(event.attributes),
                event_name=EVENT,
            )
        )
    records = memory.get_finished_logs()
    if len(records) != len(events):
        raise FairnessError("OpenTelemetry's SDK is disabled: unset OTEL_SDK_DISABLED, and export again")
    return records


def otlp_json(records: Sequence[ReadableLogRecord]) -> str:
    """Return log records as one line of OTLP/JSON, as the Collector's receiver of files reads them."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs

    message = MessageToDict(encode_logs(records), use_integers_for_enums=True)
    return json.dumps(message, ensure_ascii=False) + "\n"


def send(records: Sequence[ReadableLogRecord], endpoint: str) -> None:
    """Send log records to a collector by OTLP over HTTP.

    Headers, certificates and the timeout are those of OpenTelemetry's environment variables
    (``OTEL_EXPORTER_OTLP_HEADERS`` and others).

    Args:
        records: The log records.
        endpoint: The address of the collector.

    Raises:
        FairnessError: The collector did not take them.
    """
    import logging

    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.sdk._logs.export import LogRecordExportResult

    base = endpoint.rstrip("/")
    exporter = OTLPLogExporter(base if base.endswith(_PATH) else base + _PATH)
    logger = logging.getLogger("opentelemetry")
    level = logger.level
    logger.setLevel(logging.CRITICAL)  # the error below is one line
    try:
        result = exporter.export(records)
    finally:
        logger.setLevel(level)
        exporter.shutdown()
    if result is not LogRecordExportResult.SUCCESS:
        raise FairnessError(f"the collector at {base} did not take the events: is it an OTLP receiver over HTTP?")


class OpenTelemetryExport(Exporter):
    """The export ``opentelemetry``."""

    help = "one event gen_ai.evaluation.result for each threshold and slice, for OpenTelemetry"
    out = "the file of OTLP/JSON to write"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--endpoint", metavar="URL", help="also send the events to this collector, by OTLP over HTTP"
        )

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        view = run.read()
        events = evaluation_events(view)
        if not events:
            raise FairnessError("the run has no threshold: there is nothing to export")
        records = log_records(events, view.results.run.versions.get("pytest-fairness", "unknown"))
        write_text(out, otlp_json(records))
        if arguments.endpoint is not None:
            send(records, arguments.endpoint)
        sent = f", and sent to {arguments.endpoint}" if arguments.endpoint is not None else ""
        return f"{counted(len(events), 'event')} written to {out}{sent}"
