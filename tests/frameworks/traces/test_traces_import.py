"""``pytest-fairness import traces``: rows of real recorders and of exports, and counts of what is left out."""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from tests.helpers import trace_exports
from tests.helpers.trace_exports import RECORDED, recorded
from tests.helpers.traces import any_value, attributes_of, desk_trace, message, otlp, span, write_lines
from tests.imports.test_hostile_files import JUNK

Rows = list[dict[str, Any]]
Import = Callable[..., Rows]
REQUEST = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "May I pay my account later?"}]
LOOK_UP = {"name": "look_up_account", "arguments": {"tenant": "T1"}, "result": {"months": 24}}
SEARCH = {
    "name": "search",
    "arguments": {"query": "May I pay my account later?"},
    "result": [{"id": "d1", "text": "Rules on rent", "score": 0.9}],
}
GENDER = ("--group", "gender=user.gender")


@pytest.fixture
def imported(tmp_path: Path) -> Import:
    """Return a function that imports files, and returns the rows."""

    def run(*arguments: str | Path) -> Rows:
        out = tmp_path / "table.jsonl"
        assert main(["import", "traces", *map(str, arguments), "--out", str(out)]) == 0
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]

    return run


def without_times(row: Mapping[str, Any]) -> dict[str, Any]:
    actions = [{name: value for name, value in call.items() if name != "seconds"} for call in row["actions"] or ()]
    return {**row, "latency": None, "actions": actions}


@pytest.mark.parametrize(
    ("recorder", "group", "actions", "has_texts"),
    [
        ("opentelemetry", "user.gender", [LOOK_UP], False),
        ("openllmetry", "user.gender", [LOOK_UP], True),
        ("langfuse", "metadata.gender", [LOOK_UP], True),
        ("openinference", "metadata.gender", [SEARCH, LOOK_UP], True),
    ],
)
def test_traces_of_real_recorders_are_rows(
    imported: Import, recorder: str, group: str, actions: Rows, *, has_texts: bool
) -> None:
    first, *others = imported(RECORDED / f"{recorder}.json", "--group", f"gender={group}")
    assert 0 < first["latency"] < 1
    assert all(call["seconds"] >= 0 for call in first["actions"])
    row = without_times(first)
    assert row["actions"] == actions
    assert (row["sample"], row["gender"], row["model"]) == ("u1", "female", "gpt-5-mini")
    assert (row["tokens_input"], row["tokens_output"], row["calls"]) == (24, 14, len(actions))
    if has_texts:
        assert row["messages"] == REQUEST
        assert (row["answer"], row["finish_reason"]) == ("Your payment is deferred by 14 days.", "stop")
    else:  # this recorder writes texts to logs, and only where that is switched on
        assert "answer" not in row
    for failed in others[1:]:
        assert (failed["gender"], failed["actions"], failed.get("answer")) == ("male", None, None)
        assert failed["ungraded"].startswith("failed: ")


def write_csv(path: Path, rows: Rows) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in row.items()}
            )
    return path


def write_frame(path: Path) -> Path:
    frame = trace_exports.phoenix_frame()
    if path.suffix == ".csv":
        frame.to_csv(path)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


def write_bytes(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


PHOENIX: dict[str, Callable[[Path], Path]] = {
    "frame.csv": write_frame,
    "frame.jsonl": write_frame,
    "frame.parquet": write_frame,
    "list.json": lambda path: write_bytes(path, json.dumps(list(trace_exports.phoenix_spans())).encode()),
    "otlp.pb": lambda path: write_bytes(path, trace_exports.protobuf("openinference")),
    "collector.pb": lambda path: write_bytes(
        path, 2 * (len(data := trace_exports.protobuf("openinference")).to_bytes(4, "big") + data)
    ),
    "lines.jsonl.gz": lambda path: write_bytes(path, gzip.compress(json.dumps(recorded("openinference")).encode())),
    "indented.json": lambda path: write_bytes(path, json.dumps(recorded("openinference"), indent=1).encode()),
}
LANGFUSE: dict[str, Callable[[Path], Path]] = {
    "observations.jsonl": lambda path: write_lines(path, trace_exports.langfuse_observations()),
    "observations.csv": lambda path: write_csv(path, list(trace_exports.langfuse_observations())),
    "traces.json": lambda path: write_bytes(path, json.dumps(list(trace_exports.langfuse_traces())).encode()),
    "page.json": lambda path: write_bytes(
        path, json.dumps({"data": list(trace_exports.langfuse_observations()), "meta": {}}).encode()
    ),
}


@pytest.mark.parametrize(
    ("recorder", "file", "write"),
    [
        *(("openinference", file, write) for file, write in PHOENIX.items()),
        *(("langfuse", file, write) for file, write in LANGFUSE.items()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_form_gives_the_same_rows(
    imported: Import, tmp_path: Path, recorder: str, file: str, write: Callable[[Path], Path]
) -> None:
    options = ("--group", "gender=metadata.gender", "--item", "session.id")
    expected = imported(RECORDED / f"{recorder}.json", *options)
    rows = imported(write(tmp_path / file), *options)
    assert list(map(without_times, rows)) == list(map(without_times, expected))
    assert [row["latency"] for row in rows] == pytest.approx(
        [row["latency"] for row in expected], abs=1e-5, nan_ok=True
    )


def test_spans_in_any_order_and_file_are_one_trace(imported: Import, tmp_path: Path) -> None:
    traces = [desk_trace(number, ("female", "male")[number % 2], "defer") for number in range(6)]
    whole = imported(write_lines(tmp_path / "whole.jsonl", [otlp(spans) for spans in traces]), *GENDER)
    spans = [one for trace in traces for one in trace]
    random.Random(7).shuffle(spans)
    files = [write_lines(tmp_path / f"{n}.jsonl", [otlp([one]) for one in spans[n::3]]) for n in range(3)]
    parts = imported(*files, *GENDER)
    by_trace = {row["trace"]: {**row, "epoch": 0} for row in parts}
    assert by_trace == {row["trace"]: {**row, "epoch": 0} for row in whole}


def changed(number: int, part: int, **fields: Any) -> list[dict[str, Any]]:
    """Return a trace of which one span has other fields; its attributes are added to."""
    spans = desk_trace(number, "female", "defer")
    added = attributes_of(fields.pop("attributes", {}))
    replaced = {entry["key"] for entry in added}
    kept = [entry for entry in spans[part]["attributes"] if entry["key"] not in replaced]
    spans[part] = {**spans[part], **fields, "attributes": kept + added}
    return spans


LONG = 2000
UNANSWERED = changed(0, 4, status={"code": 2}, attributes={"gen_ai.output.messages": "[]"})
ODD: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "failed": (changed(0, 0, status={"code": 2, "message": "timeout"}), "failed: timeout", "failed (timeout)"),
    "failed within": (
        [one for one in UNANSWERED if not one["name"].startswith(("execute_tool", "chat"))] + UNANSWERED[-1:],
        "failed: error",
        "1 of 2 answers failed (error)",
    ),
    "without its parents": (
        desk_trace(0, "female", "defer")[2:],
        "are incomplete: spans lack their parent",
        "incomplete",
    ),
    "a circle": (changed(0, 0, parentSpanId=f"{2:016x}")[:2], "are incomplete: their spans are a circle", "incomplete"),
    "cut JSON": (changed(0, 2, attributes={"gen_ai.input.messages": '[{"role": "us'}), "are cut off", "cut off"),
    "dropped attributes": (changed(0, 4, droppedAttributesCount=3), "are cut off", "cut off"),
    "without an answer": (desk_trace(0, "female", "defer")[:2], "have no answer", "no text and no call is recorded"),
    "hidden": (
        [
            span(0, 0, None, "ask", {"openinference.span.kind": "CHAIN", "output.value": "__REDACTED__"}),
            span(0, 1, 0, "llm", {"openinference.span.kind": "LLM"}),
        ],
        "are redacted",
        "hidden",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_incomplete_traces_are_ungraded(
    imported: Import, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    spans, reason, note = ODD[name]
    file = write_lines(tmp_path / "traces.jsonl", [otlp(spans), otlp(desk_trace(1, "male", "defer"))])
    odd, whole = imported(file, *GENDER)
    assert odd["ungraded"].startswith(reason)
    assert (odd["answer"], odd["actions"], odd["latency"]) == (None, None, None)
    assert (whole["ungraded"], whole["answer"]) == (None, "I have passed it on.")
    assert note in capsys.readouterr().out


def test_texts_cut_at_one_length_are_ungraded(imported: Import, tmp_path: Path) -> None:
    cut = [desk_trace(n, "female", "defer", answer=(f"{n} " + "x" * 4000)) for n in range(2)]
    for spans in cut:
        for entry in spans[4]["attributes"]:
            if entry["key"] == "gen_ai.output.messages":
                entry["value"]["stringValue"] = entry["value"]["stringValue"][:LONG]
    root = [span(7, 0, None, "ask", {"openinference.span.kind": "CHAIN", "output.value": "b" * LONG})]
    rows = imported(write_lines(tmp_path / "t.jsonl", map(otlp, [*cut, root, desk_trace(3, "male", "defer")])), *GENDER)
    assert [str(row["ungraded"]).partition(":")[0] for row in rows] == 3 * ["are cut off"] + ["None"]


COUNTED: dict[str, tuple[list[list[dict[str, Any]]], str]] = {
    "without a group": ([desk_trace(0, None, "defer")], "1 of 2 traces have no user.gender: they are in no gender"),
    "several groups": (
        [changed(0, 1, attributes={"user.gender": "male"})],
        "1 of 2 traces have several values of user.gender: they are in no gender",
    ),
    "health checks": (
        [[span(0, 0, None, "GET /health", {})]],
        "1 traces have no span of a model, an agent or a tool, and are left out: GET /health (1)",
    ),
    "unknown kinds": ([], "1 spans are of no known kind, and not read: POST /rent (1)"),
    "repeated": ([desk_trace(1, "male", "defer")], "5 spans stand there twice, 0 of them with other content"),
    "conflicting": ([changed(1, 4, name="other")], "5 spans stand there twice, 2 of them with other content"),
    "sampled": (
        [changed(0, 0, traceState="vendor=a,ot=rv:1;th:c")],
        "1 traces are a sample, kept with a probability of from 0.25 up: rows are not weighted by it",
    ),
    "sampled by an attribute": ([changed(0, 0, attributes={"SampleRate": 20})], "probability of from 0.05 up"),
    "evaluated": (
        [[*desk_trace(0, "female", "defer"), span(0, 5, 0, "judge", {"openinference.span.kind": "EVALUATOR"})]],
        "1 spans of evaluators, guardrails or embeddings are no part of an answer",
    ),
    "calls alone": ([desk_trace(0, "female", "defer")[:4]], "1 traces have calls and no text of an answer"),
    "not executed": (
        [[one for one in desk_trace(0, "female", "defer") if not one["name"].startswith("execute_tool")]],
        "1 calls were requested by a model, and no execution is recorded",
    ),
    "several models": (
        [changed(0, 2, attributes={"gen_ai.request.model": "router"})],
        "1 traces have several models: the column has the one that answered",
    ),
    "misspelt": (
        [[span(0, 0, None, "ask", {"gen_ai.operation.name": "chat", "user.id": "a", "user.gendr": "female"})]],
        "1 of 2 traces have no user.gender: they are in no gender\n",
    ),
    "several requests": (
        [
            [
                *desk_trace(0, "female", "defer"),
                {**desk_trace(0, "female", "defer")[4], "spanId": "f", "parentSpanId": ""},
            ]
        ],
        "1 traces have several roots with an answer: the row has the one that ended last",
    ),
    "alone": (
        [changed(0, 0, attributes={"user.id": ""})],
        "intervals cluster by user.id; 1 traces without it stand alone",
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_omissions_of_traces_are_counted(
    imported: Import, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    traces, note = COUNTED[name]
    file = write_lines(tmp_path / "traces.jsonl", map(otlp, [desk_trace(1, "male", "defer"), *traces]))
    imported(file, *GENDER)
    assert note in capsys.readouterr().out


def test_misspelt_attribute_is_named(imported: Import, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_lines(tmp_path / "traces.jsonl", [otlp(desk_trace(1, "male", "defer"))])
    imported(file, "--group", "gender=user.gendr")
    assert (
        "1 of 1 traces have no user.gendr: they are in no gender; did you mean user.gender?" in capsys.readouterr().out
    )


def test_failed_traces_are_counted_by_group(
    imported: Import, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check that a score that no trace has, as of tokens, makes no answer ungraded."""
    failed = {"code": 2, "message": "overloaded"}
    traces = [desk_trace(n, ("female", "male")[n % 2], "defer", status=failed if n == 2 else {}) for n in range(6)]
    imported(write_lines(tmp_path / "traces.jsonl", map(otlp, traces)), *GENDER)
    assert "ungraded by gender: female 1 of 3, male 0 of 3" in capsys.readouterr().out


@pytest.mark.parametrize("start", ["0", 0, None, -5, "-5", True, "soon", "9" * 5000, 10**400])
def test_unknown_times_give_no_latency(imported: Import, tmp_path: Path, start: Any) -> None:
    spans = [{**one, "startTimeUnixNano": start} for one in desk_trace(0, "female", "defer")]
    (row, _) = imported(write_lines(tmp_path / "t.jsonl", map(otlp, [spans, desk_trace(1, "male", "defer")])), *GENDER)
    assert (row["latency"], row["answer"]) == (None, "I have passed it on.")


@pytest.mark.parametrize("number", ["--5", "9" * 5000, "x", "", [1], None])
def test_malformed_whole_numbers_are_none(imported: Import, tmp_path: Path, number: Any) -> None:
    spans = changed(0, 4, droppedAttributesCount=number)
    spans[0]["attributes"].append({"key": "user.gender", "value": {"intValue": number}})
    (row,) = imported(write_lines(tmp_path / "traces.jsonl", [otlp(spans)]), *GENDER)
    assert (row["gender"], row.get("ungraded")) == (None, None)


def test_groups_are_found_on_spans_resources_metadata_and_tags(imported: Import, tmp_path: Path) -> None:
    attributes = {"metadata": '{"person": {"age": "old"}}', "tag.tags": ["prod", "plan:free"]}
    record = otlp(changed(0, 1, attributes=attributes), {"deployment.environment.name": "prod"})
    names = ("age=metadata.person.age", "plan=tags.plan", "stage=deployment.environment.name", "gender=user.gender")
    options = [part for name in names for part in ("--group", name)]
    (row,) = imported(write_lines(tmp_path / "traces.jsonl", [record]), *options)
    assert [row[name] for name in ("age", "plan", "stage", "gender")] == ["old", "free", "prod", "female"]


PROMPT = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Yes?"},
    {"role": "user", "content": "Why?"},
]
CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"id": 7}'}}
MODEL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}


def event(name: str, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "attributes": attributes_of({key: json.dumps(value) for key, value in attributes.items()})}


def log(name: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message in a log of the first span of the first trace."""
    fields = [{"key": key, "value": map_value(value)} for key, value in body.items()]
    one = span(0, 0, None, "", {})
    identity = {"traceId": one["traceId"], "spanId": one["spanId"], "eventName": name}
    return {
        "resourceLogs": [{"scopeLogs": [{"logRecords": [identity | {"body": {"kvlistValue": {"values": fields}}}]}]}]
    }


def map_value(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": [{"key": key, "value": map_value(entry)} for key, entry in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": list(map(map_value, value))}}
    return any_value(value)


def indexed(prefix: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {f"{prefix}.{n}.{key}": value for n, one in enumerate(messages) for key, value in one.items()}


def one_span(attributes: Mapping[str, Any], *events: Mapping[str, Any]) -> dict[str, Any]:
    return otlp([span(0, 0, None, "chat", MODEL | dict(attributes), events=list(events))])


PARTS = [
    {"type": "text", "content": "So."},
    {"type": "tool_call", "id": "c1", "name": "look_up", "arguments": {"id": 7}},
]
FLAT = {"role": "assistant", "content": "So.", "tool_calls.0.name": "look_up", "tool_calls.0.arguments": '{"id": 7}'}
REPLY = {"role": "assistant", "content": "So.", "tool_calls": [CALL]}
LANGCHAIN = {
    "openinference.span.kind": "CHAIN",
    "input.value": json.dumps(
        {
            "messages": [
                {"type": kind, "content": one["content"]}
                for kind, one in zip(("human", "ai", "human"), PROMPT, strict=True)
            ]
        }
    ),
    "output.value": json.dumps({"messages": [{"id": ["langchain", "AIMessage"], "kwargs": {"content": "So."}}]}),
}
TOOL = {"openinference.span.kind": "TOOL", "tool.name": "look_up", "input.value": '{"id": 7}'}
OLDER: dict[str, list[dict[str, Any]]] = {
    "indexed attributes": [one_span(indexed("gen_ai.prompt", PROMPT) | indexed("gen_ai.completion", [FLAT]))],
    "events": [
        one_span(
            {},
            event("gen_ai.content.prompt", **{"gen_ai.prompt": PROMPT}),
            event("gen_ai.content.completion", **{"gen_ai.completion": [REPLY]}),
        )
    ],
    "logs": [
        *(log(f"gen_ai.{one['role']}.message", {"content": one["content"]}) for one in PROMPT),
        log("gen_ai.choice", {"finish_reason": "stop", "message": {"content": "So.", "tool_calls": [CALL]}}),
        one_span({}),
    ],
    "an event of details": [
        one_span(
            {},
            event(
                "gen_ai.client.inference.operation.details",
                **{"gen_ai.input.messages": PROMPT, "gen_ai.output.messages": [{"role": "assistant", "parts": PARTS}]},
            ),
        )
    ],
    "messages of LangChain": [otlp([span(0, 0, None, "graph", LANGCHAIN), span(0, 1, 0, "look_up", TOOL)])],
}


@pytest.mark.parametrize("name", OLDER)
def test_older_conventions_are_read(imported: Import, tmp_path: Path, name: str) -> None:
    (row,) = imported(write_lines(tmp_path / "traces.jsonl", OLDER[name]))
    assert row["messages"] == PROMPT
    assert row["answer"] == "So."
    assert [(call["name"], call["arguments"]) for call in row["actions"]] == [("look_up", {"id": 7})]


def test_result_of_a_call_without_a_span_is_in_the_messages(imported: Import, tmp_path: Path) -> None:
    spans = [one for one in desk_trace(0, "female", "defer") if not one["name"].startswith("execute_tool")]
    response = {"type": "tool_call_response", "id": "c1", "response": "deferred"}
    called = {"type": "tool_call", "id": "c1", "name": "defer", "arguments": {"days": 14}}
    chat = [message("user", "May I?"), {"role": "assistant", "parts": [called]}, {"role": "tool", "parts": [response]}]
    for entry in spans[-1]["attributes"]:
        if entry["key"] == "gen_ai.input.messages":
            entry["value"] = any_value(json.dumps(chat))
    (row,) = imported(write_lines(tmp_path / "traces.jsonl", [otlp(spans)]))
    assert row["actions"] == [{"name": "defer", "arguments": {"days": 14}, "result": "deferred"}]


def test_calls_recorded_twice_count_once(imported: Import, tmp_path: Path) -> None:
    spans = desk_trace(0, "female", "defer")
    inner = {**spans[3], "spanId": f"{77:016x}", "parentSpanId": spans[3]["spanId"]}
    (row,) = imported(write_lines(tmp_path / "traces.jsonl", [otlp([*spans, inner])]))
    assert row["calls"] == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "is empty: name a file with traces: OTLP (resourceSpans), spans of Phoenix"),
        ('{"a": 1}\n', "no form of traces (a): OTLP (resourceSpans)"),
        ('{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x"}]}]}]}\n', "a span has no traceId or no spanId"),
        ('{"resourceSpans": []}\n{"resourceSpans', "t.jsonl:2: not valid JSON"),
        ("a,b\n", "holds no traces that can be read"),
        ('{"context": {"trace_id": "1"}}\n', "no context.trace_id or no context.span_id"),
        (
            json.dumps(otlp([span(0, 0, None, "GET /", {})])) + "\n",
            "no trace of a model, an agent or a tool; 1 trace read",
        ),
    ],
)
def test_other_files_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, problem: str
) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(content, encoding="utf-8")
    assert main(["import", "traces", str(file), "--out", str(tmp_path / "out.jsonl")]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(("spans", "is_named"), [(999, False), (1000, True)])
def test_export_of_the_default_size_is_named(
    imported: Import, tmp_path: Path, capsys: pytest.CaptureFixture[str], spans: int, *, is_named: bool
) -> None:
    """Check that a file with as many spans as Phoenix's client returns by default is no silent part of the traffic."""
    one = next(one for one in trace_exports.phoenix_spans() if one["parent_id"] is None)
    records = [{**one, "context": {"trace_id": str(number), "span_id": "1"}} for number in range(spans)]
    assert len(imported(write_lines(tmp_path / "spans.jsonl", records))) == spans
    assert ("the default limit of Phoenix's client: it may be cut off" in capsys.readouterr().out) == is_named


@pytest.mark.parametrize("group", ["gender", "=a", "ge nder=a", "model=llm"])
def test_malformed_groups_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], group: str) -> None:
    file = RECORDED / "langfuse.json"
    assert main(["import", "traces", str(file), "--group", group, "--out", str(tmp_path / "out.jsonl")]) == 2
    assert f"--group {'model=llm' if '=llm' in group else 'is'}" in capsys.readouterr().err


def test_hostile_values_end_in_a_row_or_one_line(
    imported: Import, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check values of other types, control characters, deep nesting and lone surrogates in every attribute."""
    deep = json.dumps({"stringValue": "["}) and "[" * 5000 + "]" * 5000
    values = ["\x1b[31m\x00\u202e", "\ud800", deep, "{" * 3000, 10**400, -1, True, ["a", 1], "x" * 100_000]
    names = [entry["key"] for one in desk_trace(0, "female", "defer") for entry in one["attributes"]]
    traces = [
        changed(number, part, attributes={name: values[number % len(values)]}, name=f"\x1b]0;{number}\x07")
        for number, (part, name) in enumerate((part, name) for part in range(5) for name in dict.fromkeys(names))
    ]
    rows = imported(write_lines(tmp_path / "traces.jsonl", map(otlp, traces)), *GENDER)
    assert len(rows) == len(traces)
    assert "\x1b" not in capsys.readouterr().out


def parts_of(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every list and object of a JSON value with each of its keys."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from parts_of(node[key])


FORMS: dict[str, Callable[[], Any]] = {
    "openinference": lambda: recorded("openinference"),
    "openllmetry": lambda: recorded("openllmetry"),
    "desk": lambda: otlp(desk_trace(0, "female", "defer")),
    "logs": lambda: OLDER["logs"],
    "phoenix": lambda: list(trace_exports.phoenix_spans()),
    "langfuse": lambda: list(trace_exports.langfuse_traces()),
    "observations": lambda: list(trace_exports.langfuse_observations()),
}


@pytest.mark.parametrize("form", FORMS)
def test_mutated_traces_are_read_or_refused_in_one_line(tmp_path: Path, form: str) -> None:
    file, out = tmp_path / "traces.json", tmp_path / "table.jsonl"
    arguments = ["import", "traces", str(file), "--group", "gender=metadata.gender", "--out", str(out)]
    statuses = set()
    for seed in range(20):
        draw = random.Random(seed)
        content = deepcopy(FORMS[form]())
        for _ in range(draw.choice((1, 2, 4))):
            node, key = draw.choice(list(parts_of(content)))
            node[key] = deepcopy(draw.choice(JUNK))
        file.write_text(json.dumps(content), encoding="utf-8")
        statuses.add(main(arguments))  # an error that is none of a user's is raised
    assert statuses <= {0, 2}
    assert 0 in statuses
