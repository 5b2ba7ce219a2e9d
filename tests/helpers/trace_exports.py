"""Recorded spans in the forms of exports: data frames of Phoenix, observations of Langfuse, protobuf."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parents[1] / "frameworks" / "traces" / "recorded"
"""Traces of two or three requests to a server of chat completions, written by the recorders' own packages.

openinference-instrumentation-openai 0.1.66, opentelemetry-instrumentation-openai 0.62.4 (OpenLLMetry),
opentelemetry-instrumentation-openai-v2 2.3b0 and langfuse 5.0.4, with openai 3.57. Stack traces, addresses and the
definitions of tools are left out.
"""


def recorded(recorder: str) -> dict[str, Any]:
    """Return the OTLP message of a recorder."""
    content: dict[str, Any] = json.loads((RECORDED / f"{recorder}.json").read_text(encoding="utf-8"))
    return content


def _value(value: Mapping[str, Any]) -> Any:
    ((kind, content),) = value.items()
    if kind == "arrayValue":
        return [_value(entry) for entry in content["values"]]
    return int(content) if kind == "intValue" else content


def _spans(recorder: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the spans of a recorder with their attributes."""
    for part in recorded(recorder)["resourceSpans"]:
        for scope in part["scopeSpans"]:
            for one in scope["spans"]:
                yield one, {entry["key"]: _value(entry["value"]) for entry in one["attributes"]}


def _time(nanoseconds: str) -> str:
    return datetime.fromtimestamp(int(nanoseconds) // 1000 / 1e6, UTC).isoformat(sep=" ", timespec="microseconds")


def _nested(attributes: Mapping[str, Any]) -> Any:
    """Return attributes as a tree, with lists in place of numbered keys."""
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        *folders, last = name.split(".")
        node = tree
        for folder in folders:
            node = node.setdefault(folder, {})
        node[last] = value
    return _lists(tree)


def _lists(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    inner = {name: _lists(value) for name, value in node.items()}
    return list(inner.values()) if inner and all(name.isdecimal() for name in inner) else inner


def phoenix_spans() -> Iterator[dict[str, Any]]:
    """Yield spans as Phoenix's client lists them."""
    for one, attributes in _spans("openinference"):
        tree = _nested(attributes | {"metadata": json.loads(attributes["metadata"])})
        yield {
            "name": one["name"],
            "context": {"trace_id": one["traceId"], "span_id": one["spanId"]},
            "span_kind": tree.pop("openinference")["span"]["kind"],
            "parent_id": one.get("parentSpanId"),
            "start_time": _time(one["startTimeUnixNano"]),
            "end_time": _time(one["endTimeUnixNano"]),
            "status_code": "ERROR" if one["status"].get("code") == 2 else "UNSET",
            "status_message": one["status"].get("message", ""),
            "attributes": tree,
            "events": [],
        }


def phoenix_frame() -> Any:
    """Return the data frame of Phoenix's client: a column for each path of keys, lists as they are."""
    import pandas

    return pandas.json_normalize(list(phoenix_spans())).drop(columns="events")


_TYPES = {"agent": "AGENT", "generation": "GENERATION", "tool": "TOOL"}


def langfuse_observations() -> Iterator[dict[str, Any]]:
    """Yield observations as the blob storage of Langfuse has them."""
    for one, attributes in _spans("langfuse"):
        usage = attributes.get("langfuse.observation.usage_details")
        yield {
            "id": one["spanId"],
            "trace_id": one["traceId"],
            "type": _TYPES[attributes["langfuse.observation.type"]],
            "parent_observation_id": one.get("parentSpanId", ""),
            "start_time": _time(one["startTimeUnixNano"]).removesuffix("+00:00"),
            "end_time": _time(one["endTimeUnixNano"]).removesuffix("+00:00"),
            "name": one["name"],
            "metadata": {"gender": json.loads(attributes["langfuse.trace.metadata.gender"])},
            "level": "DEFAULT",
            "input": attributes["langfuse.observation.input"],
            "output": attributes["langfuse.observation.output"],
            "provided_model_name": attributes.get("langfuse.observation.model.name", ""),
            "usage_details": json.loads(usage) if usage else {},
            "user_id": attributes["user.id"],
            "session_id": attributes["session.id"],
            "tags": attributes["langfuse.trace.tags"],
        }


_CAMEL = {
    "trace_id": "traceId",
    "parent_observation_id": "parentObservationId",
    "start_time": "startTime",
    "end_time": "endTime",
    "provided_model_name": "model",
    "usage_details": "usageDetails",
}


def langfuse_traces() -> Iterator[dict[str, Any]]:
    """Yield traces with their observations, as Langfuse's API and its page give them."""
    by_trace: dict[str, list[dict[str, Any]]] = {}
    for observation in langfuse_observations():
        by_trace.setdefault(observation["trace_id"], []).append(observation)
    for trace, observations in by_trace.items():
        root = next(observation for observation in observations if not observation["parent_observation_id"])
        hidden = ("user_id", "session_id", "tags", "metadata")
        yield {
            "id": trace,
            "timestamp": root["start_time"],
            "userId": root["user_id"],
            "sessionId": root["session_id"],
            "metadata": root["metadata"],
            "tags": root["tags"],
            "input": root["input"],
            "output": root["output"],
            "observations": [
                {_CAMEL.get(name, name): value or None for name, value in observation.items() if name not in hidden}
                for observation in observations
            ],
        }


def protobuf(recorder: str) -> bytes:
    """Return the message of a recorder in protobuf."""
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    content = recorded(recorder)
    for part in content["resourceSpans"]:
        for scope in part["scopeSpans"]:
            for one in scope["spans"]:
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in one:
                        one[name] = base64.b64encode(bytes.fromhex(one[name])).decode()
    data: bytes = ParseDict(content, TracesData()).SerializeToString()
    return data
