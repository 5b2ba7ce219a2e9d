"""Events of OpenTelemetry: their attributes, a collector that receives them, and runs or collectors that refuse."""

from __future__ import annotations

import json
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.attestation.open_telemetry import EVENT, OpenTelemetryExport, evaluation_events, log_records
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.exports.exporter import RunReference
from pytest_fairness.report.view import View
from tests.helpers import report_views

MODEL = "azure:gpt-5-mini?temperature=0"
SLICES = [
    {"slice": {"language": "de"}, "state": "unfair", "metric": "m; de", "estimate": 0.5, "low": 0.4, "high": 0.6},
    {"slice": {"language": "fr"}, "state": "unmeasured", "reason": "no answers"},
]


def view() -> View:
    rows = [
        report_views.row("unfair", model=MODEL, slices=SLICES, slice={"language": "de"}),
        report_views.row("invalid", id="t.py::test_refusals", metric="", threshold="Refusals", message="no attempts"),
    ]
    return report_views.view(rows)


@cache
def convention_names() -> set[str]:
    """Return every name of an attribute that the published conventions have."""
    names = ("gen_ai", "test", "vcs")
    modules = [import_module(f"opentelemetry.semconv._incubating.attributes.{name}_attributes") for name in names]
    return {value for module in modules for value in vars(module).values() if isinstance(value, str)}


def test_every_threshold_and_slice_is_an_event() -> None:
    threshold, german, french, invalid = (event.attributes for event in evaluation_events(view()))
    assert threshold["gen_ai.evaluation.score.value"] == 0.6
    assert threshold["gen_ai.evaluation.score.label"] == "unfair"
    assert "0.600" in str(threshold["gen_ai.evaluation.explanation"])
    assert (threshold["gen_ai.provider.name"], threshold["gen_ai.request.model"]) == ("azure.ai.openai", "gpt-5-mini")
    own = {name.partition(".")[2]: value for name, value in threshold.items() if name.startswith("pytest_fairness.")}
    assert own == {
        "run.id": "0123456789abcdef", "threshold": "women and men alike", "harm": "allocation", "outcome": "failed",
        "bounds.low": 0.8, "bounds.high": 1.2, "interval.low": 0.5, "interval.high": 0.7, "interval.confidence": 0.95,
        "items": 100, "attempts": 200, "ungraded": 1, "mark": "B", "slice.language": "de",
    }  # fmt: skip
    assert (german["gen_ai.evaluation.score.label"], german["pytest_fairness.interval.high"]) == ("unfair", 0.6)
    assert french["gen_ai.evaluation.explanation"] == "no answers"
    assert "gen_ai.evaluation.score.value" not in french
    assert (invalid["gen_ai.evaluation.name"], invalid["gen_ai.evaluation.explanation"]) == ("Refusals", "no attempts")
    assert "gen_ai.evaluation.score.value" not in invalid
    assert {event.time for event in evaluation_events(view())} == {1767323105 * 10**9}, "the end of the run"


def test_names_are_those_of_the_published_conventions() -> None:
    names = {name for event in evaluation_events(view()) for name in event.attributes}
    assert {name for name in names if not name.startswith("pytest_fairness.")} <= convention_names()


@pytest.mark.parametrize("hostile", report_views.HOSTILE)
def test_hostile_texts_become_attributes(hostile: str) -> None:
    changes = dict.fromkeys(("model", "suite", "threshold", "title", "metric", "message", "id"), hostile)
    row = report_views.row("unfair", **changes, slice={hostile: hostile})
    (event,) = evaluation_events(report_views.view([row]))
    (record,) = log_records([event], "1")
    assert record.log_record.event_name == EVENT
    assert dict(record.log_record.attributes or {}) == dict(event.attributes)
    assert event.attributes["test.suite.name"] == escape_controls(hostile)


@contextmanager
def collector(status: int = 200) -> Iterator[tuple[str, list[Any]]]:
    """Yield the address of a server of OTLP over HTTP, and the requests that it receives."""
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    received: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.path, ExportLogsServiceRequest.FromString(body)))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", received
        finally:
            server.shutdown()


def export(run: View, out: Path, endpoint: str | None = None) -> str:
    return OpenTelemetryExport().export(RunReference("latest", lambda: run), out, Namespace(endpoint=endpoint))


@pytest.mark.parametrize("path", ["", "/", "/v1/logs"])
def test_collector_receives_what_the_file_has(path: str, tmp_path: Path) -> None:
    with collector() as (address, received):
        line = export(view(), tmp_path / "events.json", address + path)
    assert line == f"4 events written to {tmp_path / 'events.json'}, and sent to {address + path}"
    ((sent_to, request),) = received
    assert sent_to == "/v1/logs"
    (scope,) = request.resource_logs[0].scope_logs
    assert {record.event_name for record in scope.log_records} == {EVENT}
    names = [{item.key: item.value for item in record.attributes} for record in scope.log_records]
    assert [item["gen_ai.evaluation.score.label"].string_value for item in names] == [
        "unfair", "unfair", "unmeasured", "invalid",
    ]  # fmt: skip
    assert names[0]["pytest_fairness.interval.low"].double_value == 0.5
    (file,) = (tmp_path / "events.json").read_text().splitlines()
    written = json.loads(file)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert [len(record["attributes"]) for record in written] == [len(item) for item in names]
    assert written[0]["timeUnixNano"] == "1767323105000000000"


def test_refusing_collector_ends_in_one_line(tmp_path: Path) -> None:
    with collector(status=400) as (address, received), pytest.raises(FairnessError) as error:
        export(view(), tmp_path / "events.json", address)
    assert str(error.value) == f"the collector at {address} did not take the events: is it an OTLP receiver over HTTP?"
    assert len(received) == 1


def test_nothing_is_sent_without_an_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as (address, received):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        assert export(view(), tmp_path / "events.json") == f"4 events written to {tmp_path / 'events.json'}"
    assert received == []


def test_run_without_thresholds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="the run has no threshold"):
        export(report_views.view([]), tmp_path / "events.json")


def test_disabled_sdk_is_no_silent_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    with pytest.raises(FairnessError, match="unset OTEL_SDK_DISABLED"):
        export(view(), tmp_path / "events.json")


def test_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk._logs", None)
    with pytest.raises(FairnessError, match=r'pip install "./pytest-fairness\[otel\]"'):
        export(view(), tmp_path / "events.json")
