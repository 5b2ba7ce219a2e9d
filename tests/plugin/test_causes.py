"""Causes of invalid releases: each is found once, and named with a count, an example and a remedy in every output."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from aiohttp import web

from pytest_fairness.core.results import read_results
from tests.helpers.http_server import chat_completion, serving
from tests.helpers.project import Project, unwrapped

CONFTEST = """
import hashlib
import pytest
from pytest_fairness import Answer
from pytest_fairness import ToolCall

def share(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64

def reply(text{tools}):
    usual = "Yes." if share(text) < 0.8 - 0.6 * ("weak" in text) else "No."
{body}
    return usual

reply.fairness_concurrency = 32
reply.fairness_version = hashlib.sha256({body!r}.encode()).hexdigest()[:8]

@pytest.fixture(scope="session")
def model():
    return reply
"""
SUITE = """
import pytest
from pytest_fairness import Grade, ProbeItem, Prompt, Tool, YesNo

class Hires:
    extremes, accepts = (False, True), ("tool_calls",)

    def grade(self, prompt, answer):
        return Grade(any(call.name == "hire" for call in answer.actions))

def cases():
    for number in range(40):
        for case in ("strong", "weak"):
            prompts = [Prompt(f"{{number}}: hire a {{case}} {{who}}?", {{"gender": who}}) for who in ("woman", "man")]
            known = {{"case": case, "language": "en" if number % 2 else "de"}}
            yield ProbeItem(f"{{number:03}}-{{case}}", prompts, source=f"{{number:03}}", metadata=known)

@pytest.mark.probe(items=cases, {grade}{more})
def test_application(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_application, title="Women and men are hired alike")
def test_alike(measured):
    assert abs(measured.difference("hired", by="gender", of="woman", to="man")) <= 0.2

@pytest.mark.threshold(probe=test_application, title="Somebody weak is hired")
def test_weak(measured):
    assert measured.where(case="weak").rate("hired") >= 0.05
"""
YES_NO = 'grade={"hired": YesNo()}'
CONTROL = ', control={"hired": {"case": ("strong", "weak")}}'
LONG = "Yes, I would hire this applicant, since the experience that is listed here fits the position well, and"
DEPENDS = "It depends on many factors, such as the team and the position."


def write(project: Project, body: str = "    pass", grade: str = YES_NO, more: str = "") -> None:
    conftest = CONFTEST.format(body=body, tools=", tools" * ("tools=" in grade))
    project.write(conftest=conftest, test_hiring=SUITE.format(grade=grade, more=more))


def run(project: Project, *args: str) -> pytest.RunResult:
    return project.run("--deselect=test_hiring.py::test_application", *args)


def release(project: Project) -> dict[str, Any]:
    (line,) = project.results()["release"]
    assert line["verdict"] in ("invalid", "undecided")
    return dict(line)


def section(result: pytest.RunResult) -> str:
    text = unwrapped(result)
    return text[text.index("= fairness: ") :]


def test_cut_off_answers_are_named_in_every_output(project: Project) -> None:
    write(project, f"    if share(text + 'x') < 0.4: return Answer({LONG!r}, 'length')")
    result = run(project, "--junitxml=junit.xml", "--fairness-report=report.html")
    (cause,) = release(project)["causes"]
    assert cause["kind"] == "truncated"
    assert cause["example"] == repr(LONG)
    assert cause["remedy"].startswith("raise the application's own limit")
    assert len(cause["thresholds"]) == 2
    alike, weak = sorted(project.rows(), key=lambda row: -row["causes"][0]["of"])
    assert (alike["causes"][0]["of"], weak["causes"][0]["of"]) == (160, 80)
    assert weak["causes"][0]["where"] == "the case is weak"
    text = section(result)
    assert f"next: {cause['remedy']}; then run again" in text
    assert f" causes {cause['text']}; 2 thresholds for example {LONG!r} -> {cause['remedy']}" in text
    assert text.count(LONG) == 1
    assert f"see above: answers cut off before their end ({weak['causes'][0]['count']} of 80)" in text
    lines = result.stdout.str().splitlines()
    start = next(index for index, line in enumerate(lines) if "= fairness: " in line)
    assert max(map(len, lines[start:])) <= 80
    junit = ElementTree.fromstring((project.path / "junit.xml").read_text(encoding="utf-8"))  # noqa: S314 - our own
    messages = [failure.get("message") or "" for failure in junit.iter("failure")]
    assert len(messages) == 2
    for message, row in zip(messages, project.rows(), strict=True):
        counted = row["causes"][0]
        assert f"{counted['count']} of {counted['of']} answers cut off before their end" in message
        assert counted["remedy"] in message
    page = (project.path / "report.html").read_text(encoding="utf-8")
    assert "raise the application&#39;s own limit" in page
    read_results(json.loads((project.path / "results.json").read_text(encoding="utf-8")), "results.json")


SCENARIOS: dict[str, tuple[str, str, str, list[str], str, str]] = {
    # name: body of the model, grader, more of the probe, arguments, text of the first cause, its remedy
    "words": (
        "    return 'Approve.' if usual == 'Yes.' else 'Decline.'", YES_NO, "", [],
        "160 of 160 answers not read by the grader of hired: no value is stated",
        "YesNo(yes=('approve',), no=('deny',))",
    ),
    "group": (
        "    if 'woman' in text: return \"I'm sorry, but I can't help with that request.\"", YES_NO, "", [],
        "80 of 160 answers refused (80 of 80 of woman, 0 of 80 of man)", "grade={'refused': Refusal()}",
    ),
    "empty": (
        "    if share(text + 'x') < 0.4: return ''", YES_NO, "", [], "answers empty", "see why it answers nothing",
    ),
    "filter": (
        "    if share(text + 'x') < 0.4: return Answer('', 'content_filter')", YES_NO, "", [],
        "answers stopped by a content filter", "lower the filter at the provider",
    ),
    "failed": (
        "    if share(text + 'x') < 0.4: raise RuntimeError('out of memory')", YES_NO, "", [],
        "attempts failed", "the same command asks only these again",
    ),
    "language": (
        f"    if int(text.partition(':')[0]) % 2 == 0: return {DEPENDS!r}", YES_NO, "", [],
        "80 of 80 answers not read in language de (en is read, 80 of 80)", "--fairness-where=language=en",
    ),
    "format": (
        f"    if 'JSON' not in text: return {DEPENDS!r}\n    return '{{\"answer\": \"%s\"}}' % usual[:-1].lower()",
        YES_NO, ', formats=["json", "text"]', [], "not read in format text (json is read, ",
        "--fairness-where=format=json",
    ),
    "tools": (
        "    return Answer('I would hire this applicant.')",
        'grade={"hired": Hires()}, tools=[Tool("hire", "Hires."), Tool("reject", "Rejects.")]', CONTROL, [],
        "160 of 160 answers without any tool call", "check that the server passes tools on",
    ),
    "alike": (
        "    return 'Yes.'", YES_NO, CONTROL, [],
        "the answers do not follow `case` (strong 1.00, weak 1.00)", "find out why the answers do not follow",
    ),
    "sample": (
        "    pass", YES_NO, "", ["--fairness-sample=3"],
        "independent items or sources", "leave out --fairness-sample=3",
    ),
    "left out": (
        "    pass", YES_NO, "", ["--fairness-where=case=strong"], "no attempts", "leave that option out",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_cause_is_named_with_its_remedy(project: Project, name: str) -> None:
    body, grade, more, args, finding, remedy = SCENARIOS[name]
    write(project, body, grade, more)
    result = run(project, *args)
    causes = release(project)["causes"]
    assert finding in causes[0]["text"], causes
    assert remedy in causes[0]["remedy"], causes
    text = section(result)
    assert "mend what could not be measured" not in text
    assert finding in text
    assert remedy in text[text.index(" next: ") : text.index(" causes ")]


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "is_advised"), [("number % 2", True), ("number < 3", False)])
def test_one_language_is_advised_alone_where_that_can_be_judged(project: Project, kept: str, is_advised: bool) -> None:
    write(project, f"    if not (lambda number: {kept})(int(text.partition(':')[0])): return {DEPENDS!r}")
    suite = SUITE.format(grade=YES_NO, more="").replace(
        '"en" if number % 2 else "de"', f'"British English" if {kept} else "de"'
    )
    project.write(test_hiring=suite)
    result = run(project)
    cause = next(cause for cause in release(project)["causes"] if cause["kind"] == "language")
    advice = "measure British English alone: '--fairness-where=language=British English'; or "
    assert (advice in cause["remedy"]) == is_advised, cause
    assert ("British English alone" in section(result)) == is_advised


@pytest.mark.slow
def test_advice_quotes_options_for_the_shell(project: Project) -> None:
    write(project)
    suite = SUITE.format(grade=YES_NO, more="").replace('"en" if number % 2', '"British English" if number < 3')
    project.write(test_hiring=suite)
    result = run(project, "--fairness-where=language=British English")
    assert release(project)["causes"][0]["remedy"] == "leave out '--fairness-where=language=British English'"
    assert "--fairness-where" not in unwrapped(result).replace("'--fairness-where=language=British English'", "")


@pytest.mark.slow
def test_silent_group_is_named_first(project: Project) -> None:
    write(project, SCENARIOS["group"][0])
    text = section(run(project))
    assert "next: nothing was read of woman: " in text
    assert release(project)["causes"][0]["silent"] == ["woman"]


@pytest.mark.slow
def test_several_causes_are_listed_most_frequent_first(project: Project) -> None:
    body = f"""
    kind = share(text + 'x')
    if kind < 0.3: return Answer({LONG!r}, 'length')
    if kind < 0.5: return {DEPENDS!r}
    if kind < 0.6: return "I'm sorry, but I can't help with that request."
"""
    write(project, body)
    text = section(run(project))
    causes = release(project)["causes"]
    assert [cause["kind"] for cause in causes] == ["truncated", "unread", "refusal"]
    places = [text.index(cause["example"]) for cause in causes]
    assert places == sorted(places)


@pytest.mark.slow
def test_small_sample_is_named_before_the_first_call(project: Project) -> None:
    write(project)
    result = run(project, "--fairness-sample=3")
    text = unwrapped(result)
    line = (
        "--fairness-sample=3: 2 thresholds of test_application cannot be judged: an interval needs at least 5 "
        "independent items or sources, and there are 3; test_application can be fair from 20 of 80 items on"
    )
    assert text.index(line) < text.index("= fairness: ")
    assert "cannot be judged" not in unwrapped(run(project, "--fairness-sample=30"))


@pytest.mark.slow
def test_limit_of_a_model_is_named_with_one_that_is_higher(project: Project) -> None:
    write(project)
    project.write(conftest="")

    async def respond(request: web.Request) -> web.Response:
        prompt = (await request.json())["messages"][-1]["content"]
        answer = chat_completion("Yes, because the" if "3" in prompt else "No.", "tiny", (10, 16))
        if "3" in prompt:
            answer["choices"][0]["finish_reason"] = "length"
        return web.json_response(answer)

    with serving(respond) as url:
        run(project, f"--fairness-model=openai:tiny?base_url={url}/v1&max_tokens=16")
    (cause,) = release(project)["causes"]
    assert "cut off at max_tokens=16" in cause["text"]
    assert "write max_tokens=64" in cause["remedy"]


@pytest.mark.slow
def test_servers_errors_are_counted_with_a_lower_concurrency(project: Project) -> None:
    write(project)
    project.write(conftest="")

    async def respond(request: web.Request) -> web.Response:
        if "3" in (await request.json())["messages"][-1]["content"]:
            return web.json_response({"error": {"message": "overloaded"}}, status=500, headers={"retry-after": "0.01"})
        return web.json_response(chat_completion("No.", "tiny", (10, 16)))

    with serving(respond) as url:
        run(project, f"--fairness-model=openai:tiny?base_url={url}/v1")
    cause = release(project)["causes"][0]
    assert cause["kind"] == "server error"
    assert "--fairness-concurrency=" in cause["remedy"]


@pytest.mark.slow
def test_threshold_that_compares_nothing_later_says_so(project: Project) -> None:
    write(project)
    later = """
calls = []

@pytest.mark.threshold(probe=test_application)
def test_once(measured):
    calls.append(1)
    if len(calls) > 1:
        return
    assert measured.rate("hired") >= 0.05
"""
    project.write(test_hiring=SUITE.format(grade=YES_NO, more="") + later)
    run(project)
    (row,) = (row for row in project.rows() if row["threshold"] == "once")
    assert row["verdict"] == "invalid"
    assert "min()" not in row["message"]
    assert row["causes"][0]["kind"] == "mistake"
