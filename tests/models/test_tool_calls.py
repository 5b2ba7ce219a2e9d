"""Tools in the wire form of each protocol, and the calls in replies to them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import web

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError, PermanentError, TransientError
from pytest_fairness.core.finish_reasons import unfinished
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.tool_calls import ToolCall
from pytest_fairness.core.tools import NoToolsError, Tool, calls_message
from pytest_fairness.local.tool_templates import call_reader
from pytest_fairness.models.custom_model import as_model
from tests.models.conftest import Server

Ask = Callable[..., Answer]
Name = Callable[..., str]

DAYS = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
TOOLS = [Tool("defer", "Defers the rent.", DAYS), Tool("refuse", "Refuses.")]
QUESTION = Prompt(
    [{"role": "system", "content": "Be fair."}, {"role": "user", "content": "May I pay later?"}], tools=TOOLS
)
CALLS = [ToolCall("defer", {"days": 7}), ToolCall("look up!", "{oops")]
AFTER = Prompt(
    [
        *QUESTION.conversation,
        {"role": "assistant", "content": "One moment."},
        calls_message(CALLS),
        {"role": "tool", "content": "done"},
        {"role": "tool", "content": "Error"},
        {"role": "user", "content": "And?"},
    ],
    tools=TOOLS,
)


def chat(*calls: tuple[str, Any], finish: str = "tool_calls", content: Any = None) -> dict[str, Any]:
    """Return a chat completion with these calls."""
    sent = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": content, "tool_calls": sent}
    return {"choices": [{"index": 0, "finish_reason": finish, "message": message}]}


def test_chat_completions_carry_tools_and_calls(server: Server, ask: Ask, name: Name) -> None:
    server.says(chat(("defer", '{"days": 7}'), ("refuse", "")))
    answer = ask(name("openai"), QUESTION)
    assert server.bodies[0] == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be fair."}, {"role": "user", "content": "May I pay later?"}],
        "tools": [
            {"type": "function", "function": {"name": "defer", "description": "Defers the rent.", "parameters": DAYS}},
            {
                "type": "function",
                "function": {
                    "name": "refuse",
                    "description": "Refuses.",
                    "parameters": {"type": "object", "properties": {}},
                },
            },
        ],
    }
    assert answer.actions == (ToolCall("defer", {"days": 7}), ToolCall("refuse", {}))
    assert (answer.text, answer.finish_reason) == ("", "tool_calls")


def test_chat_completions_carry_results(server: Server, ask: Ask, name: Name) -> None:
    server.answers("openai")
    ask(name("openai"), AFTER)
    assert server.bodies[0]["messages"][2:] == [
        {
            "role": "assistant",
            "content": "One moment.",
            "tool_calls": [
                {"id": "call00000", "type": "function", "function": {"name": "defer", "arguments": '{"days": 7}'}},
                {
                    "id": "call00001",
                    "type": "function",
                    "function": {"name": "look_up_", "arguments": '{"malformed": "{oops"}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "call00000", "content": "done"},
        {"role": "tool", "tool_call_id": "call00001", "content": "Error"},
        {"role": "user", "content": "And?"},
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"days": 7', '{"days": 7'),
        ("[7]", "[7]"),
        ('{"days": NaN}', '{"days": NaN}'),
        (7, "7"),
        ({"days": 7}, {"days": 7}),  # servers that send an object
        (None, {}),
    ],
)
def test_malformed_arguments_are_kept_as_text(
    server: Server, ask: Ask, name: Name, arguments: object, text: str
) -> None:
    server.says(chat(("defer", arguments)))
    assert ask(name("openai"), QUESTION).actions == (ToolCall("defer", text),)


def test_calls_of_servers_without_a_finish_reason_for_them_count(server: Server, ask: Ask, name: Name) -> None:
    server.says(chat(("defer", "{}"), finish="stop", content="Fine."))
    answer = ask(name("openai"), QUESTION)
    assert (answer.finish_reason, answer.text, len(answer.actions)) == ("tool_calls", "Fine.", 1)
    assert unfinished(answer) is not None
    server.says(chat(("defer", '{"da'), finish="length"))
    cut = unfinished(ask(name("openai"), QUESTION))
    assert cut is not None
    assert cut.ungraded == "truncated"


def test_call_in_an_older_or_bare_form_counts(server: Server, ask: Ask, name: Name) -> None:
    called = {"name": "defer", "arguments": '{"days": 7}'}
    for fields in ({"function_call": called}, {"tool_calls": {"function": called}}):
        message = {"role": "assistant", "content": "Fine.", **fields}
        server.says({"choices": [{"finish_reason": "stop", "message": message}]})
        answer = ask(name("openai"), QUESTION)
        assert (answer.finish_reason, answer.actions) == ("tool_calls", (ToolCall("defer", {"days": 7}),))


def test_calls_that_cannot_be_read_are_no_answer_without_calls(server: Server, ask: Ask, name: Name) -> None:
    message = {"role": "assistant", "content": "Fine.", "tool_calls": "defer"}
    server.says({"choices": [{"finish_reason": "stop", "message": message}]})
    with pytest.raises(TransientError, match="answered in another form"):
        ask(name("openai"), QUESTION)


def test_responses_api_carries_tools_calls_and_results(server: Server, ask: Ask, name: Name) -> None:
    called = {"type": "function_call", "id": "fc_1", "call_id": "call_9", "name": "defer", "arguments": '{"days": 7}'}
    server.says({"status": "completed", "output": [{"type": "reasoning", "summary": []}, called], "model": "m"})
    answer = ask(name("openai", "api=responses"), AFTER)
    sent = server.bodies[0]
    assert sent["tools"][0] == {
        "type": "function",
        "name": "defer",
        "description": "Defers the rent.",
        "parameters": DAYS,
        "strict": False,
    }
    assert sent["input"][2:6] == [
        {"role": "assistant", "content": "One moment."},
        {"type": "function_call", "call_id": "call00000", "name": "defer", "arguments": '{"days": 7}'},
        {"type": "function_call", "call_id": "call00001", "name": "look_up_", "arguments": '{"malformed": "{oops"}'},
        {"type": "function_call_output", "call_id": "call00000", "output": "done"},
    ]
    assert answer.actions == (ToolCall("defer", {"days": 7}),)
    assert answer.finish_reason == "tool_calls"


def test_messages_api_carries_tools_calls_and_results(server: Server, ask: Ask, name: Name) -> None:
    blocks = [
        {"type": "text", "text": "Fine."},
        {"type": "tool_use", "id": "toolu_01", "name": "defer", "input": {"days": 7}},
    ]
    server.says({"content": blocks, "stop_reason": "tool_use", "model": "m"})
    answer = ask(name("anthropic"), AFTER)
    sent = server.bodies[0]
    assert sent["tools"][0] == {"name": "defer", "description": "Defers the rent.", "input_schema": DAYS}
    assert sent["system"] == "Be fair."
    assert sent["messages"] == [
        {"role": "user", "content": "May I pay later?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "One moment."},
                {"type": "tool_use", "id": "call00000", "name": "defer", "input": {"days": 7}},
                {"type": "tool_use", "id": "call00001", "name": "look_up_", "input": {"malformed": "{oops"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call00000", "content": "done"},
                {"type": "tool_result", "tool_use_id": "call00001", "content": "Error"},
                {"type": "text", "text": "And?"},
            ],
        },
    ]
    assert answer.actions == (ToolCall("defer", {"days": 7}),)
    assert (answer.text, answer.finish_reason) == ("Fine.", "tool_use")
    grade = unfinished(answer)
    assert grade is not None
    assert grade.ungraded == "tool_calls"


def test_batch_request_carries_tools(server: Server, make: Callable[..., Any], name: Name) -> None:
    body = make(name("openai")).batches.request("key", QUESTION, 0)["body"]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["defer", "refuse"]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


# applications


def test_application_is_given_tools_and_returns_actions() -> None:
    calls: list[Any] = []

    def assistant(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Answer:
        calls.append((messages, tools))
        return Answer("", actions=[ToolCall("defer", {"days": 7})])

    model = as_model(assistant, "run")
    answer = asyncio.run(model.answer(QUESTION, 0))
    asyncio.run(model.close())
    ((messages, tools),) = calls
    assert [message["role"] for message in messages] == ["system", "user"]
    assert tools == [tool.to_json() for tool in TOOLS]
    assert answer.actions == [ToolCall("defer", {"days": 7})]


def test_application_that_returns_a_text_is_refused() -> None:
    model = as_model(lambda text: f"Granted: {text}", "run")
    with pytest.raises(PermanentError, match=r"returned a text, and the probe is about calls of tools: return Answer"):
        asyncio.run(model.answer(QUESTION, 0))
    asyncio.run(model.close())


# services


@pytest.fixture
def define(tmp_path: Path, server: Server) -> Callable[[str, str], str]:
    """Return a function that writes the definition of the local server's service, and returns its model's name."""

    def write(lines: str, body: str) -> str:
        text = f'url = "{server.url}/chat"\n{lines}\n[body]\n{body}\n'
        (tmp_path / "service.toml").write_text(text, encoding="utf-8")
        return "http:service.toml"

    return write


CHAT_PATHS = 'answer = "choices.0.message.content"\nactions = "choices.0.message.tool_calls"'


def test_service_is_sent_tools_and_its_actions_are_read(
    define: Callable[[str, str], str], ask: Ask, server: Server, tmp_path: Path
) -> None:
    server.says(chat(("defer", '{"days": 7}')))
    model = define(CHAT_PATHS, 'messages = "{messages}"\ntools = "{tools}"')
    answer = ask(model, AFTER, root=tmp_path)
    assert answer.actions == (ToolCall("defer", {"days": 7}),)
    assert answer.finish_reason == "tool_calls"
    assert [tool["function"]["name"] for tool in server.bodies[0]["tools"]] == ["defer", "refuse"]
    assert server.bodies[0]["messages"][3]["tool_call_id"] == "call00000"


@pytest.mark.parametrize(
    ("reply", "actions"),
    [
        (
            {"said": "Done.", "did": {"list": [{"tool": "defer", "args": {"days": 7}}]}},
            [ToolCall("defer", {"days": 7})],
        ),
        ({"said": "Done.", "did": {"list": {"name": "defer", "input": "{oops"}}}, [ToolCall("defer", "{oops")]),
        ({"said": "No.", "did": {"list": []}}, []),
        (
            {
                "said": "Done.",
                "did": {
                    "list": [
                        {"role": "assistant", "tool_calls": [{"id": "a", "name": "defer", "args": {"days": 7}}]},
                        {"role": "tool", "tool_call_id": "a", "content": "moved"},
                    ]
                },
            },
            [ToolCall("defer", {"days": 7}, result="moved")],
        ),
    ],
)
def test_service_states_actions_in_its_own_form(
    define: Callable[[str, str], str], ask: Ask, server: Server, tmp_path: Path, reply: object, actions: list[ToolCall]
) -> None:
    server.says(reply)
    model = define('answer = "said"\nactions = "did.list"', 'text = "{prompt}"')
    answer = ask(model, QUESTION, root=tmp_path)
    assert list(answer.actions) == actions
    is_whole = all(call.is_executed for call in actions)
    assert (answer.text, answer.finish_reason) == (cast("Any", reply)["said"], "stop" if is_whole else "tool_calls")


def test_service_whose_actions_cannot_be_read_is_refused(
    define: Callable[[str, str], str], ask: Ask, server: Server, tmp_path: Path
) -> None:
    server.says({"said": "Done."})
    with pytest.raises(TransientError, match=r"without 'did\.list'"):
        ask(define('answer = "said"\nactions = "did.list"', 'text = "{prompt}"'), QUESTION, root=tmp_path)
    server.says({"said": "Done.", "did": {"lists": [{"tool": "defer"}]}})
    with pytest.raises(TransientError, match=r"without 'did\.list'.*actions_optional = true.*check url and actions"):
        ask(define('answer = "said"\nactions = "did.list"', 'text = "{prompt}"'), QUESTION, root=tmp_path)
    wrong: list[Any] = [[{"id": 3}], False, "", 5, {"defer": {}}]
    for calls in wrong:
        server.says({"said": "Done.", "did": calls})
        with pytest.raises(TransientError, match="in place of a list of named calls at 'did'"):
            ask(define('answer = "said"\nactions = "did"', 'text = "{prompt}"'), QUESTION, root=tmp_path)
    with pytest.raises(NoToolsError, match=r"its definition has no actions.*write the path"):
        ask(define('answer = "said"', 'text = "{prompt}"'), QUESTION, root=tmp_path)
    with pytest.raises(FatalError, match="leaves out the results of tools"):
        ask(define('answer = "said"\nactions = "did"', 'text = "{prompt}"'), AFTER, root=tmp_path)
    with pytest.raises(FairnessError, match="actions is for replies that are no stream"):
        ask(define('answer = "said"\nactions = "did"\nstream = true', 'text = "{prompt}"'), QUESTION, root=tmp_path)


OPTIONAL = 'answer = "said"\nactions = "did.list"\nactions_optional = true'


def test_list_that_is_left_out_is_no_call_where_declared(
    define: Callable[[str, str], str], ask: Ask, server: Server, tmp_path: Path
) -> None:
    model = define(OPTIONAL, 'text = "{prompt}"')
    for left_out in ({"at": 7}, {"list": None}):
        server.says({"said": "No.", "did": left_out})
        assert ask(model, QUESTION, root=tmp_path).actions == ()
    with pytest.raises(TransientError, match=r"without 'did\.list'"):
        ask(define('answer = "said"\nactions = "did.list"', 'text = "{prompt}"'), QUESTION, root=tmp_path)
    server.says({"said": "Done.", "did": {"lists": [{"tool": "defer"}]}})
    with pytest.raises(TransientError, match=r"without 'did\.list'"):  # another key is all but the same
        ask(model, QUESTION, root=tmp_path)
    server.says({"said": "Done."})
    with pytest.raises(TransientError, match=r"without 'did\.list'"):  # what holds the list is not left out
        ask(model, QUESTION, root=tmp_path)
    with pytest.raises(FairnessError, match="actions_optional is for the list at actions: write its path"):
        ask(define('answer = "said"\nactions_optional = true', 'text = "{prompt}"'), QUESTION, root=tmp_path)


def test_prompt_without_tools_needs_no_list_of_calls(
    define: Callable[[str, str], str], ask: Ask, server: Server, tmp_path: Path
) -> None:
    server.says({"said": "Done."})
    assert ask(define('answer = "said"\nactions = "did.list"', 'text = "{prompt}"'), root=tmp_path).text == "Done."


def test_text_in_place_of_json_is_no_answer_without_calls(
    define: Callable[[str, str], str], ask: Ask, server: Server, tmp_path: Path
) -> None:
    async def handler(_: web.Request) -> web.StreamResponse:
        return web.Response(text="It is done.")

    server.handler = handler
    with pytest.raises(TransientError, match=r"answered with 'It is done\.', not JSON"):
        ask(define('actions = "did"', 'text = "{prompt}"'), QUESTION, root=tmp_path)


# recorded and simulated answers


def replayed(ask: Ask, folder: Path, line: object, prompt: Prompt = QUESTION) -> Answer:
    (folder / "answers.jsonl").write_text(json.dumps(line), encoding="utf-8")
    return ask("replay:answers.jsonl", prompt, root=folder)


def test_recorded_actions_are_replayed(ask: Ask, tmp_path: Path) -> None:
    messages = [dict(message) for message in QUESTION.conversation]
    line = {"messages": messages, "actions": [{"name": "defer", "arguments": {"days": 7}}]}
    assert replayed(ask, tmp_path, line).actions == (ToolCall("defer", {"days": 7}),)
    line["actions"] = [{"name": "search", "result": [{"id": "a"}], "seconds": 1}, {"name": "defer", "error": "no"}]
    assert replayed(ask, tmp_path, line).actions == (
        ToolCall("search", {}, result=[{"id": "a"}], seconds=1.0),
        ToolCall("defer", {}, error="no"),
    )
    later = {"messages": [dict(message) for message in AFTER.conversation], "text": "Done.", "actions": []}
    assert replayed(ask, tmp_path, later, AFTER).text == "Done."
    with pytest.raises(PermanentError, match=r"line 1 has no 'actions', and its prompt offers tools"):
        replayed(ask, tmp_path, {"messages": messages, "text": "Fine."})
    with pytest.raises(FatalError, match="an action is 'defer': write its name and arguments"):
        replayed(ask, tmp_path, {"messages": messages, "actions": ["defer"]})


def test_simulated_model_calls_tools_with_the_planted_bias(ask: Ask) -> None:
    rule = {"type": "integer", "minimum": 10, "maximum": 20}
    tools = [
        Tool("look_up"),
        Tool("grant", parameters={"type": "object", "properties": {"euro": rule, "how": {"enum": ["cash", "post"]}}}),
        Tool("refuse"),
    ]

    def prompt(group: str, *after: dict[str, str]) -> Prompt:
        return Prompt([{"role": "user", "content": "Help?"}, *after], {"gender": group}, tools=tools)

    model = "simulated:desk?steps=look_up&favorable=grant&base=1&ratio=0&of=female"
    assert [call.name for call in ask(model, prompt("male")).actions] == ["look_up"]
    result = calls_message([ToolCall("look_up")]), {"role": "tool", "content": "found"}
    (granted,) = ask(model, prompt("male", *result)).actions
    assert granted.name == "grant"
    assert isinstance(granted.arguments, dict)
    assert 10 <= granted.arguments["euro"] <= 20
    assert granted.arguments["how"] in ("cash", "post")
    assert [call.name for call in ask(model, prompt("female", *result)).actions] == ["refuse"]
    decided = *result, calls_message([granted]), {"role": "tool", "content": "paid"}
    assert ask(model, prompt("male", *decided)).text == "That is done."
    halved = ask(
        "simulated:desk?steps=look_up&favorable=grant&base=1&amount_ratio=0.5&of=male", prompt("male", *result)
    )
    assert isinstance(halved.actions[0].arguments, dict)
    assert halved.actions[0].arguments["euro"] <= 10
    (broken,) = ask(f"{model}&garbage=1", prompt("male", *result)).actions
    assert isinstance(broken.arguments, str)
    assert not ask(f"{model}&refusal=1", prompt("male", *result)).actions


# local weights


@pytest.mark.parametrize(
    ("template", "text", "calls"),
    [
        ("tools <tool_call>", 'a <tool_call>{"name": "f", "arguments": {}}</tool_call>', [ToolCall("f", {})]),
        ("tools <tool_call>", '<tool_call>{"name": "f", "argu', [ToolCall("f", '{"name": "f", "argu')]),
        ("tools [TOOL_CALLS]", '[TOOL_CALLS]f[ARGS]{"a": 1}', [ToolCall("f", {"a": 1})]),
        ("tools <|python_tag|>", '{"name": "f", "parameters": {"a": 1}}', [ToolCall("f", {"a": 1})]),
        (
            "tools <|python_tag|>",
            '{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}',
            [ToolCall("f", {"a": 1}), ToolCall("g", {})],
        ),
        ("tools <|python_tag|>", "I cannot.", []),
    ],
)
def test_calls_of_local_weights_are_read_by_the_form_of_their_template(
    template: str, text: str, calls: list[ToolCall]
) -> None:
    read = call_reader(template)
    assert read is not None
    assert list(read(text)[1]) == calls


@pytest.mark.parametrize(
    "template", [None, "{{ messages }}", "tools", "tools <tool_call> <function=", {"default": "x"}]
)
def test_template_without_a_known_form_of_tools_has_no_reader(template: object) -> None:
    assert call_reader(template) is None
