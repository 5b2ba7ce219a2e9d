"""Deployed services as models: `http:FILE.toml`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, FatalError, PermanentError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.models.service_definition import ServiceDefinition
from tests.models.conftest import Server

Define = Callable[..., str]

BODY = '[body]\ninput = "{last}"\n'


@pytest.fixture
def define(tmp_path: Path, server: Server) -> Define:
    """Return a function that writes a definition of the local server's service, and returns its model's name."""

    def write(lines: str = 'answer = "reply"', body: str = BODY) -> str:
        text = f'url = "{server.url}/chat?token=hush"\n{lines}\n{body}'
        (tmp_path / "service.toml").write_text(text, encoding="utf-8")
        return "http:service.toml"

    return write


@pytest.fixture
def ask_service(ask: Callable[..., Answer], tmp_path: Path) -> Callable[..., Answer]:
    """Return `ask` in the folder of the definition."""
    return lambda name, *prompt, **context: ask(name, *prompt, root=tmp_path, **context)


CHAT = Prompt([{"role": "system", "content": "You screen CVs."}, {"role": "user", "content": 'Hire "her"?'}])


def test_body_is_filled_with_the_prompt(define: Define, ask_service: Callable[..., Answer], server: Server) -> None:
    server.says({"reply": "Yes."})
    body = """
[body]
question = "{last}"
all = "{prompt}"
chat = "{messages}"
history = ["{system}", 3]
[body.trace]
id = "run-{id}"
try = "{repetition}"
kept = "{other}"
"""
    ask_service(define(body=body), CHAT, 2)
    (sent,) = server.bodies
    assert sent["question"] == 'Hire "her"?'
    assert sent["all"] == 'You screen CVs.\n\nHire "her"?'
    assert sent["chat"] == [dict(message) for message in CHAT.messages]
    assert sent["history"] == ["You screen CVs.", 3]
    assert sent["trace"]["try"] == 2
    assert sent["trace"]["kept"] == "{other}"
    ask_service(define(body=body), CHAT, 2)
    assert server.bodies[1]["trace"]["id"] != sent["trace"]["id"]


def test_variable_of_several_lines_is_refused(
    define: Define, ask_service: Callable[..., Answer], server: Server, tmp_path: Path
) -> None:
    server.says({"reply": "Yes."})
    name = define('answer = "reply"\n[headers]\nX-Access = "${SERVICE_TOKEN}"')
    ask_service(name, environment={"SERVICE_TOKEN": "s3cret-value\n"})
    assert server.headers[0]["x-access"] == "s3cret-value"
    with pytest.raises(FatalError, match="SERVICE_TOKEN holds a line break") as caught:
        ask_service(name, environment={"SERVICE_TOKEN": "s3cret-value\r\nX-Other: 1"})
    assert "s3cret" not in str(caught.value)


def test_variable_may_begin_the_url(ask_service: Callable[..., Answer], server: Server, tmp_path: Path) -> None:
    server.says({"reply": "Yes."})
    (tmp_path / "service.toml").write_text(f'url = "${{BASE}}/chat"\nanswer = "reply"\n{BODY}', encoding="utf-8")
    assert ask_service("http:service.toml", environment={"BASE": server.url}).text == "Yes."
    with pytest.raises(FatalError, match=r"\$\{BASE\}/chat is no URL with the variables of this environment"):
        ask_service("http:service.toml", environment={"BASE": "s3cret.example"})


TURNS = Prompt([*CHAT.messages, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Why?"}])


@pytest.mark.parametrize(
    ("prompt", "slots", "unsent"),
    [
        (CHAT, "{last}", "the system message"),
        (CHAT, "{last} {system}", ""),
        (TURNS, "{last} {system}", "all messages but the last"),
        (TURNS, "{prompt}", ""),
        (TURNS, "{messages}", ""),
    ],
)
def test_prompt_that_the_body_cuts_is_not_asked(
    define: Define, ask_service: Callable[..., Answer], server: Server, prompt: Prompt, slots: str, unsent: str
) -> None:
    server.says({"reply": "Yes."})
    name = define(body=f'[body]\ninput = "{slots}"\n')
    if unsent:
        with pytest.raises(FatalError, match=f"the body of its definition leaves out {unsent} of a prompt"):
            ask_service(name, prompt)
        assert not server.bodies
    else:
        assert ask_service(name, prompt).text == "Yes."


def test_variables_fill_headers_and_stay_out_of_names(
    define: Define, ask_service: Callable[..., Answer], make: Callable[..., Any], server: Server, tmp_path: Path
) -> None:
    server.says({"error": "no access with s3cret-value"}, status=401)
    name = define('answer = "reply"\n[headers]\nAuthorization = "Bearer ${SERVICE_TOKEN}"\nX-Tenant = "a"')
    with pytest.raises(FatalError, match="set SERVICE_TOKEN in the environment"):
        ask_service(name, environment={})
    with pytest.raises(FatalError, match=r"refused the key.*check the headers of its definition") as caught:
        ask_service(name, environment={"SERVICE_TOKEN": "s3cret-value"})
    assert server.headers[0]["authorization"] == "Bearer s3cret-value"
    assert server.headers[0]["x-tenant"] == "a"
    model = make(name, root=tmp_path, environment={"SERVICE_TOKEN": "s3cret-value"})
    for text in (str(caught.value), model.name, model.key, model.endpoint, repr(model)):
        assert "s3cret" not in text
        assert "hush" not in text


@pytest.mark.parametrize(
    ("body", "path", "text"),
    [
        ({"choices": [{"text": "No."}, {"text": "Yes."}]}, "choices.-1.text", "Yes."),
        ({"a.b": 1, "score": 7}, "score", "7"),
        ({"ok": True}, "ok", "true"),
        ("plain JSON text", "", "plain JSON text"),
        ([["x"]], "0.0", "x"),
        ({"reply": ""}, "reply", ""),
    ],
)
def test_answer_is_read_at_its_path(
    define: Define, ask_service: Callable[..., Answer], server: Server, body: object, path: str, text: str
) -> None:
    server.says(body)
    assert ask_service(define(f"answer = {json.dumps(path)}")).text == text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"other": 1}, "answered without 'reply': {\"other\": 1}"),
        ({"reply": None}, "with null in place of a text at 'reply'"),
        ({"reply": {"text": "Yes"}}, 'with {"text": "Yes"} in place of a text'),
        (["Yes"], "answered without 'reply'"),
        (b"<html>Sign in</html>", "with HTML, not JSON"),
        (b"", "with an empty body, not JSON"),
        (b'{"reply": "Ye', 'with \'{"reply": "Ye\', not JSON'),
    ],
)
def test_unreadable_reply_is_no_answer(
    define: Define, ask_service: Callable[..., Answer], server: Server, body: Any, words: str
) -> None:
    if isinstance(body, bytes):
        raw: bytes = body

        async def handler(_: web.Request) -> web.StreamResponse:
            return web.Response(body=raw)

        server.handler = handler
    else:
        server.says(body)
    with pytest.raises(TransientError) as caught:
        ask_service(define())
    assert words in str(caught.value)
    assert str(caught.value).endswith("check url and answer")


def test_plain_text_is_the_answer_where_no_path_is_named(
    define: Define, ask_service: Callable[..., Answer], server: Server
) -> None:
    async def handler(_: web.Request) -> web.StreamResponse:
        return web.Response(text="Yes, I would.\n")

    server.handler = handler
    assert ask_service(define("")).text == "Yes, I would."


@pytest.mark.parametrize(
    ("status", "expected"),
    [(409, TransientError), (500, TransientError), (429, TransientError), (404, FatalError), (302, FatalError)],
)
def test_statuses_are_retried_or_permanent(
    define: Define, ask_service: Callable[..., Answer], server: Server, status: int, expected: type[Exception]
) -> None:
    server.says({"error": "no"}, status=status, location="http://elsewhere.example/")
    with pytest.raises(expected, match=str(status)):
        ask_service(define('answer = "reply"\nretry_status = [409]'))
    assert len(server.bodies) == 1


def test_error_sent_as_success_is_no_answer(define: Define, ask_service: Callable[..., Answer], server: Server) -> None:
    server.says({"reply": "Yes.", "error": {"code": 429, "message": "busy"}})
    with pytest.raises(TransientError, match="limits the rate"):
        ask_service(define())
    server.says({"reply": "Yes.", "error": None})
    assert ask_service(define()).text == "Yes."
    server.says({"error": {"text": "Yes."}})
    assert ask_service(define('answer = "error.text"')).text == "Yes."


def test_refusal_status_is_an_ungraded_answer(
    define: Define, ask_service: Callable[..., Answer], server: Server
) -> None:
    server.says({"blocked": True}, status=422)
    assert ask_service(define('answer = "reply"\nrefusal_status = [422, 451]')).finish_reason == "refusal"
    with pytest.raises(PermanentError, match="refused the request"):
        ask_service(define())


@pytest.mark.parametrize(
    ("path", "reply", "finish"),
    [
        ("choices.0.message.content", {"finish_reason": "length"}, "length"),
        ("choices.0.message.content", {"finish_reason": "content_filter"}, "content_filter"),
        ("choices.0.message.content", {"finish_reason": "stop"}, "stop"),
        ("content.0.text", {"stop_reason": "max_tokens"}, "length"),
        ("message.content", {"done_reason": "length"}, "length"),
        ("reply", {"stop_reason": "a word of its own"}, "stop"),
    ],
)
def test_word_of_a_provider_for_a_part_of_an_answer_is_read(
    define: Define, ask_service: Callable[..., Answer], server: Server, path: str, reply: dict[str, str], finish: str
) -> None:
    content: Any = "Yes, but"
    for part in reversed(path.split(".")[1:]):
        content = [content] if part == "0" else {part: content}
    first = path.partition(".")[0]
    server.says({first: [{**content[0], **reply}]} if first == "choices" else {first: content, **reply})
    answer = ask_service(define(f'answer = "{path}"'))
    assert (answer.text, answer.finish_reason) == ("Yes, but", finish)


def stream(server: Server, *lines: str) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for line in lines:
            await response.write(f"{line}\n".encode())
        return response

    server.handler = handler


STREAM = 'answer = "delta.text"\nstream = true'
EVENTS = ('data: {"delta": {"role": "a"}}', "", ": ping", 'data: {"delta": {"text": "Ye"}}', "")


def test_stream_is_read_to_its_end(define: Define, ask_service: Callable[..., Answer], server: Server) -> None:
    stream(server, *EVENTS, "event: x\r", 'data: {"delta": {"text": "s."}}\r', "\r", "data: [DONE]", "")
    assert ask_service(define(STREAM)).text == "Yes."
    assert server.headers[0]["accept"] == "text/event-stream"
    stream(server, '{"delta": {"text": "Ye"}}', '{"delta": {"text": "s."}}')
    assert ask_service(define(f'{STREAM}\nend = ""')).text == "Yes."


def test_stream_that_ends_at_a_limit_says_so(
    define: Define, ask_service: Callable[..., Answer], server: Server
) -> None:
    delta = {"choices": [{"delta": {"content": "Yes, but"}, "finish_reason": None}]}
    last = {"choices": [{"delta": {}, "finish_reason": "length"}]}
    stream(server, *(f"data: {json.dumps(event)}\n" for event in (delta, last)), "data: [DONE]\n")
    answer = ask_service(define('answer = "choices.0.delta.content"\nstream = true'))
    assert (answer.text, answer.finish_reason) == ("Yes, but", "length")


def test_stream_that_is_cut_off_is_no_answer(
    define: Define, ask_service: Callable[..., Answer], server: Server
) -> None:
    stream(server, *EVENTS)
    with pytest.raises(
        TransientError, match=r"cut its stream off before '\[DONE\]': where its streams end otherwise"
    ) as caught:
        ask_service(define(STREAM))
    assert caught.value.unreachable, "a model whose streams never end so is asked no further"
    stream(server, *EVENTS, 'data: {"delta": {"text"', "")
    with pytest.raises(TransientError, match="with an event that is no JSON"):
        ask_service(define(STREAM))
    stream(server, "data: {}", "", "data: [DONE]", "")
    with pytest.raises(TransientError, match=r"with a stream without .delta\.text."):
        ask_service(define(STREAM))


@pytest.mark.parametrize(
    "error",
    [
        'data: {"error": {"message": "overloaded for s3cret-value"}}',
        'data: {"error": "overloaded", "delta": {"text": ""}}',
        'event: error\ndata: {"message": "overloaded"}',
    ],
)
def test_stream_with_an_error_is_no_answer(
    define: Define, ask_service: Callable[..., Answer], server: Server, error: str
) -> None:
    stream(server, *EVENTS, error, "", "data: [DONE]", "")
    name = define(f'{STREAM}\n[headers]\nAuthorization = "Bearer ${{SERVICE_TOKEN}}"')
    with pytest.raises(TransientError, match=r"with an error in its stream: .*overloaded") as caught:
        ask_service(name, environment={"SERVICE_TOKEN": "s3cret-value"})
    assert "s3cret" not in str(caught.value)


def test_reply_that_repeats_a_secret_shows_none_of_it(
    define: Define, ask_service: Callable[..., Answer], server: Server
) -> None:
    server.says({"padding": "-" * 125, "echo": "s3cret-value"})
    name = define('answer = "reply"\n[headers]\nX-Access = "${SERVICE_TOKEN}"')
    with pytest.raises(TransientError, match="answered without 'reply'") as caught:
        ask_service(name, environment={"SERVICE_TOKEN": "s3cret-value"})
    assert "s3cret" not in str(caught.value)


def test_stream_of_a_dropped_connection_is_no_answer(
    define: Define, ask_service: Callable[..., Answer], server: Server
) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b'data: {"delta": {"text": "Yes"}}\n\n')
        assert request.transport is not None
        request.transport.abort()
        return response

    server.handler = handler
    with pytest.raises(TransientError, match="dropped the connection"):
        ask_service(define(f'{STREAM}\nend = ""'))


def test_silent_service_is_given_up_after_its_timeout(
    define: Define, ask_service: Callable[..., Answer], server: Server
) -> None:
    async def handler(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(30)
        return web.Response()

    server.handler = handler
    with pytest.raises(
        TransientError, match="did not answer in time: timeout in its definition allows more, concurrency there sends"
    ):
        ask_service(define('answer = "reply"\ntimeout = 0.2'))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "service.toml:1: the service needs `url` and `body`: write url = "),
        ('url = "host/path"\n[body]\na = "{prompt}"', "url is 'host/path': it must be a URL"),
        ('url = "http://h"\nbody = {}', "body holds no prompt"),
        ('url = "http://h"\nbody = {"{prompt}" = "x"}', "body holds no prompt"),  # keys are sent as they are
        ('url = "http://h"\nbody = "{prompt}"', "body is '{prompt}': it must be a table"),
        (
            'url = "http://h"\nanswr = "x"\nbody = {a = "{last}"}',
            "service.toml:2: the service has no field 'answr'; did you mean 'answer' or 'actions'?",
        ),
        ('url = "http://h"\nend = "x"\nbody = {a = "{last}"}', "end is for streams"),
        ('url = "http://h"\nretry_status = [9]\nbody = {a = "{last}"}', "retry_status is [9]: it must be a list"),
        (
            'url = "http://h"\nconcurrency = true\nbody = {a = "{last}"}',
            "concurrency is True: it must be a whole number",
        ),
        ('url = "http://h"\nheaders = {"a b" = "c"}\nbody = {a = "{last}"}', "headers is"),
        ('url = "http://h"\nbody = {a = 1979-05-27, b = "{last}"}', "it must be a table of what JSON can hold"),
        ("url = ", "service.toml:1: not valid TOML: "),
    ],
)
def test_mistakes_in_a_definition_are_reported_in_one_line(
    make: Callable[..., Any], tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "service.toml").write_text(text, encoding="utf-8")
    with pytest.raises(FairnessError) as caught:
        make("http:service.toml", root=tmp_path)
    assert str(caught.value).startswith("model http:service.toml: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_definition_may_stand_in_pyproject(make: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest-fairness.services.assistant]\nurl = "http://h/x"\nanswer = "a"\nbody = {q = "{prompt}"}\n',
        encoding="utf-8",
    )
    assert make("http:assistant", root=tmp_path).endpoint == "http:http://h/x"
    with pytest.raises(FairnessError, match=r"no table \[tool.pytest-fairness.services.asistant\].*mean 'assistant'"):
        make("http:asistant", root=tmp_path)
    with pytest.raises(FairnessError, match=r"missing.toml cannot be read: No such file"):
        make("http:missing.toml", root=tmp_path)


def test_answers_belong_to_the_run_unless_a_version_is_stated(
    define: Define, make: Callable[..., Any], tmp_path: Path
) -> None:
    def key(name: str, run: str, **environment: str) -> str:
        return str(make(name, root=tmp_path, run=run, environment=environment).key)

    name = define()
    assert key(name, "a") != key(name, "b")
    assert make(name, root=tmp_path, run="a").unversioned == make(name, root=tmp_path, run="b").unversioned != ""
    name = define('answer = "reply"\nversion = "${SHA}"')
    assert key(name, "a", SHA="1") == key(name, "b", SHA="1") != key(name, "a", SHA="2")
    assert key(name, "a") != key(name, "b"), "a version that is not set is none"
    assert make(name, root=tmp_path, environment={"SHA": "1"}).unversioned == ""


def test_address_and_headers_are_part_of_the_key(define: Define, make: Callable[..., Any], tmp_path: Path) -> None:
    def key(text: str, **environment: str) -> str:
        (tmp_path / "service.toml").write_text(f'version = "1"\n{text}\n{BODY}', encoding="utf-8")
        return str(make("http:service.toml", root=tmp_path, environment=environment).key)

    assert key('url = "https://${HOST}/x"', HOST="staging") != key('url = "https://${HOST}/x"', HOST="production")
    assert key('url = "https://h/x?deployment=a"') != key('url = "https://h/x?deployment=b"')
    assert key('url = "https://h/x?key=${KEY}"', KEY="a") == key('url = "https://h/x?key=${KEY}"', KEY="b")
    headers = 'url = "https://h/x"\nheaders = {{X-Deployment = "{}"}}'
    assert key(headers.format("a")) != key(headers.format("b"))
    assert key(headers.format("${A}"), A="a") == key(headers.format("${A}"), A="b")


def test_pace_is_not_part_of_the_key(define: Define, make: Callable[..., Any], tmp_path: Path) -> None:
    keys = {
        make(define(f'answer = "reply"\nversion = "1"\n{line}'), root=tmp_path).key
        for line in ("", "concurrency = 9", "rpm = 60", "timeout = 5", "retry_status = [409]")
    }
    assert len(keys) == 1
    assert make(define('answer = "other"\nversion = "1"'), root=tmp_path).key not in keys
    assert ServiceDefinition.read("service.toml", tmp_path).concurrency == 4
