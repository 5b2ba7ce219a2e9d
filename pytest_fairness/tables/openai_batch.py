"""Results of OpenAI's Batch API, with the file of requests that they answer, as a replay file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.finish_reasons import ERROR, FILTER, LENGTH, REFUSAL, STOP, TOOL_CALLS, normalize_reason
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.importer import Importer
from pytest_fairness.core.json_records import Record, read_records
from pytest_fairness.core.message_roles import TOOL
from pytest_fairness.core.output_files import partial_file
from pytest_fairness.core.tool_calls import ToolCall
from pytest_fairness.core.tool_replies import chat_calls, responses_calls
from pytest_fairness.core.tools import calls_message

_REQUEST, _RESULT = "a request of a batch", "a result of a batch"
_CHAT, _RESPONSES = "/chat/completions", "/responses"
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", TOOL: TOOL}
_ParsedAnswer = tuple[str, str, Sequence[ToolCall]]
_TEXTS = ("text", "input_text", "output_text")


@dataclass(frozen=True, slots=True)
class _Request:
    """The parts of a request that its result needs; a batch has up to 50,000 requests, and results in any order."""

    messages: str
    """JSON."""
    repetition: int
    offers_tools: bool


class OpenAIBatchImport(Importer):
    """The import ``openai-batch``."""

    help = "results of OpenAI's Batch API (chat completions or responses), as a replay file"
    line_start = '{"messages": '

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare both files."""
        parser.add_argument(
            "results", type=Path, nargs="+", metavar="RESULTS.jsonl", help="the output file, and the error file if any"
        )
        parser.add_argument(
            "--input", required=True, type=Path, metavar="REQUESTS.jsonl", help="the file that was handed in"
        )

    def convert(self, out: Path, arguments: Namespace) -> list[str]:
        """Write a replay line for each answer, and return what was written and what has no answer."""
        requests, model = _requests(arguments.input)
        counts: Counter[str] = Counter()
        try:
            with partial_file(out) as partial:
                with partial.open("w", encoding="utf-8", errors="backslashreplace") as file:
                    for line in _lines(arguments.results, requests, counts):
                        file.write(line + "\n")
                if not counts["answered"]:
                    raise FairnessError(f"{arguments.results[0]} holds no answer to a request of {arguments.input}")
        except OSError as error:
            raise FairnessError(f"{out} cannot be written: {error.strerror}") from None
        missing = len(requests) - counts["answered"]
        notes = [f"{missing:,} of {len(requests):,} requests have no answer: they are ungraded"] if missing else []
        written = f"{counted(counts['answered'], 'answer')} of {model} written to {out}"
        return [*notes, f"{written}; test them with --fairness-model replay:{out}"]


def _requests(file: Path) -> tuple[dict[str, _Request], str]:
    """Return the requests of an input file by their ids, and their model."""
    requests: dict[str, _Request] = {}
    repetitions: Counter[str] = Counter()
    models: dict[str, str] = {}
    for where, request in read_records(file, _REQUEST):
        body, name = request.get("body"), request.get("custom_id")
        if not isinstance(name, str) or not isinstance(body, Mapping):
            raise FairnessError(f"{where} is no request of a batch, which has custom_id and body")
        if name in requests:
            raise FairnessError(f"{where}: custom_id {name!r:.80} stands there already: results cannot be told apart")
        models.setdefault(str(body.get("model")), where)
        if len(models) > 1:
            (first, line), (second, _) = models.items()
            raise FairnessError(
                f"{where}: asks {second}, and {line} asks {first}: a replay file stands for one model; split them"
            )
        messages = json.dumps(_messages(where, str(request.get("url", "")), body), ensure_ascii=False)
        # Equal requests are repetitions, numbered as they were handed in: one that failed leaves a gap.
        requests[name] = _Request(messages, repetitions[messages], bool(body.get("tools")))
        repetitions[messages] += 1
    if not requests:
        raise FairnessError(f"{file} holds no request")
    return requests, next(iter(models))


def _messages(where: str, url: str, body: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the messages of a prompt for a request."""
    if url.endswith(_RESPONSES) or (not url and "input" in body):
        messages = body.get("input")
        messages = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        if instructions := body.get("instructions"):
            messages = [{"role": "system", "content": instructions}, *(messages if isinstance(messages, list) else [])]
    elif url.endswith(_CHAT) or (not url and "messages" in body):
        messages = body.get("messages")
    else:
        raise FairnessError(f"{where}: its url is {url!r}: requests to /v1{_CHAT} and /v1{_RESPONSES} are read")
    if not isinstance(messages, list) or not messages:
        raise FairnessError(f"{where}: it asks nothing: `messages` or `input` is missing")
    prompt = list(_prompt_messages(where, messages))
    if not prompt or not prompt[-1]["content"]:
        raise FairnessError(f"{where}: its last message is empty")
    return prompt


def _prompt_messages(where: str, messages: Sequence[Any]) -> Iterator[dict[str, str]]:
    """Yield the messages of a prompt for those of a request: text and tool calls of one turn become two messages."""
    calls: list[ToolCall] = []
    for message in messages:
        fields = message if isinstance(message, Mapping) else {}
        kind = fields.get("type")
        if kind == "reasoning":
            continue
        if kind == "function_call":  # an item of the Responses API: those of a turn follow each other
            calls += responses_calls([fields])
            continue
        if calls:
            yield calls_message(calls)
        calls = list(_calls(where, fields))
        if kind == "function_call_output":
            yield _message(where, {"role": TOOL, "content": fields.get("output")})
        elif not calls or fields.get("content"):
            yield _message(where, message)
    if calls:
        yield calls_message(calls)


def _message(where: str, message: Any) -> dict[str, str]:
    role = message.get("role") if isinstance(message, Mapping) else None
    if not isinstance(role, str) or role not in _ROLES:
        raise FairnessError(f"{where}: a message has the role {role!r}: only {', '.join(_ROLES)} are read")
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    if not all(isinstance(part, Mapping) and part.get("type") in _TEXTS for part in parts):
        raise FairnessError(f"{where}: a message holds more than text: images, audio and files are not read")
    texts = [part.get("text") for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise FairnessError(f"{where}: a message has no text")
    return {"role": _ROLES[role], "content": "".join(map(str, texts))}


def _lines(files: list[Path], requests: Mapping[str, _Request], counts: Counter[str]) -> Iterator[str]:
    answered: set[str] = set()
    for file in files:
        for where, result in read_records(file, _RESULT):
            name = result.get("custom_id")
            if not isinstance(name, str) or not ({"response", "error"} & result.keys()):
                raise FairnessError(f"{where} is no result of a batch, which has custom_id, response and error")
            if name not in requests:
                raise FairnessError(f"{where}: no request is called {name!r:.80}: name the file that was handed in")
            line = _line(where, result, requests[name])
            if line is None:
                continue
            if name in answered:
                raise FairnessError(f"{where}: {name!r:.80} is answered twice: remove one of the lines")
            answered.add(name)
            counts["answered"] += 1
            yield line


def _line(where: str, result: Record, request: _Request) -> str | None:
    """Return the replay line of a result; None for one without an answer."""
    response = result.get("response")
    body = response.get("body") if isinstance(response, Mapping) else None
    if result.get("error") or not isinstance(response, Mapping) or response.get("status_code") != 200:
        return None
    if not isinstance(body, Mapping):
        raise FairnessError(f"{where}: its response has no body")
    answer = _response(body) if isinstance(body.get("output"), list) else _chat(where, body)
    if answer is None:
        return None
    text, finish, calls = answer
    line: dict[str, Any] = {"repetition": request.repetition, "text": text, "finish_reason": finish}
    line["usage"] = _usage(body.get("usage"))
    if calls or request.offers_tools:
        line["actions"] = [call.to_json() for call in calls]
    if isinstance(served_by := body.get("model"), str):
        line["served_by"] = served_by
    return f'{{"messages": {request.messages}, {json.dumps(line, ensure_ascii=False)[1:]}'


def _calls(where: str, message: Mapping[str, Any]) -> Sequence[ToolCall]:
    try:
        return chat_calls(message.get("tool_calls") or message.get("function_call"))
    except TypeError:
        raise FairnessError(f"{where}: its tool_calls are no list of calls") from None


def _chat(where: str, body: Mapping[str, Any]) -> _ParsedAnswer | None:
    """Return the text, the finish reason and the calls of a chat completion; None where it has no answer."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        return None
    if refusal := message.get("refusal"):
        return str(refusal), REFUSAL, ()
    calls = _calls(where, message)
    content = message.get("content")
    finish = normalize_reason(choice.get("finish_reason"))
    if finish == ERROR:
        return None
    if isinstance(content, list):
        texts = (part for part in content if isinstance(part, Mapping) and part.get("type", "text") in _TEXTS)
        content = "".join(str(part.get("text") or "") for part in texts)
    if finish == STOP and (calls or content is None):
        finish = TOOL_CALLS if calls else "no_content"
    return str(content or ""), finish, calls


def _response(body: Mapping[str, Any]) -> _ParsedAnswer | None:
    """Return the text, the finish reason and the calls of a response; None where it has no answer."""
    parts = [
        part
        for item in body["output"]
        if isinstance(item, Mapping) and item.get("type") == "message" and isinstance(item.get("content"), list)
        if item.get("phase") != "commentary"
        for part in item["content"]
        if isinstance(part, Mapping)
    ]
    if refusals := [str(part.get("refusal") or "") for part in parts if part.get("type") == "refusal"]:
        return "".join(refusals), REFUSAL, ()
    calls = responses_calls([item for item in body["output"] if isinstance(item, Mapping)])
    status = body.get("status", "completed")
    text = "".join(str(part.get("text") or "") for part in parts if part.get("type") in _TEXTS)
    if status == "completed":
        return text, TOOL_CALLS if calls else STOP if parts else "no_content", calls
    if status != "incomplete":
        return None
    details = body.get("incomplete_details")
    reason = normalize_reason(details.get("reason")) if isinstance(details, Mapping) else LENGTH
    return text, reason if reason in (LENGTH, FILTER) else LENGTH, calls


def _usage(usage: Any) -> dict[str, int]:
    if not isinstance(usage, Mapping):
        return {}
    names = {"input": ("prompt_tokens", "input_tokens"), "output": ("completion_tokens", "output_tokens")}
    counts = {name: next((usage[key] for key in keys if key in usage), None) for name, keys in names.items()}
    return {name: count for name, count in counts.items() if type(count) is int}
