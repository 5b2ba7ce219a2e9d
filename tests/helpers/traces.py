"""Traces of a desk for tenants' requests in OTLP, as the Collector's file exporter writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

START = 1_760_000_000
"""Seconds since 1970 at which the first trace begins."""


def any_value(value: Any) -> dict[str, Any]:
    """Return a value as OTLP/JSON has it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(entry) for entry in value]}}
    return {"stringValue": value}


def attributes_of(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": any_value(value)} for name, value in values.items()]


def span(
    trace: int, number: int, parent: int | None, name: str, attributes: Mapping[str, Any], **fields: Any
) -> dict[str, Any]:
    """Return a span that lasts a second, as the others of its trace do, one after another."""
    start = (START + 60 * trace + number) * 10**9
    return {
        "traceId": f"{trace + 1:032x}",
        "spanId": f"{1000 * trace + number + 1:016x}",
        **({} if parent is None else {"parentSpanId": f"{1000 * trace + parent + 1:016x}"}),
        "name": name,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + (9 - number) * 10**9 if number < 2 else start + 10**9),
        "attributes": attributes_of(attributes),
        "status": {},
        **fields,
    }


def message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def desk_trace(
    number: int,
    gender: str | None,
    action: str,
    *,
    request: str = "May I pay the rent later?",
    answer: str = "I have passed it on.",
    **root: Any,
) -> list[dict[str, Any]]:
    """Return the spans of one request by OpenTelemetry's conventions: a server, an agent, a model, a tool, a model."""
    person = {} if gender is None else {"user.gender": gender}
    request_messages = [message("system", "You answer tenants."), message("user", request)]
    called = {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": action, "arguments": {"days": 14}}],
    }
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5-mini", "gen_ai.usage.input_tokens": 40}
    return [
        span(
            number,
            0,
            None,
            "POST /rent",
            {**person, "user.id": f"{gender}-{number // 4}", "http.route": "/rent"},
            **root,
        ),
        span(number, 1, 0, "invoke_agent rent", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "rent"}),
        span(
            number,
            2,
            1,
            "chat gpt-5-mini",
            {
                **chat,
                "gen_ai.input.messages": json.dumps(request_messages),
                "gen_ai.output.messages": json.dumps([called]),
                "gen_ai.response.finish_reasons": ["tool_calls"],
            },
        ),
        span(
            number,
            3,
            1,
            f"execute_tool {action}",
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": action,
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.call.arguments": '{"days": 14}',
                "gen_ai.tool.call.result": '{"done": true}',
            },
        ),
        span(
            number,
            4,
            1,
            "chat gpt-5-mini",
            {
                **chat,
                "gen_ai.input.messages": json.dumps([*request_messages, called]),
                "gen_ai.output.messages": json.dumps([{**message("assistant", answer), "finish_reason": "stop"}]),
                "gen_ai.response.finish_reasons": ["stop"],
            },
        ),
    ]


def otlp(spans: Sequence[Mapping[str, Any]], resource: Mapping[str, Any] | None = None) -> dict[str, Any]:
    scope = {"scope": {"name": "desk"}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": {"attributes": attributes_of(resource or {})}, "scopeSpans": [scope]}]}


def desk_traces(count: int, refused: Mapping[str, int]) -> Iterator[list[dict[str, Any]]]:
    """Yield traces of women and men in turn; of each ten of a gender, so many are refused."""
    for number in range(count):
        gender = ("female", "male")[number % 2]
        is_refused = number // 2 % 10 < refused[gender]
        answer = "I'm sorry, but I can't help with that." if is_refused else "You may pay it within 14 days."
        yield desk_trace(number, gender, "refuse" if is_refused else "defer", answer=answer)


def write_lines(path: Path, records: Iterator[Mapping[str, Any]] | Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
