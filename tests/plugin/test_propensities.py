"""Propensities in a user's project: asked for once, never mixed up with answers, refused where a model has none."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest
from aiohttp import web

from pytest_fairness.planning import predictions
from tests.helpers.fork_server import set_constants
from tests.helpers.http_server import serving
from tests.helpers.project import Project, every_mode, failures, shown, unwrapped

SUITE = """
import pytest
from pytest_fairness import AnswerOptions, Choice, ProbeItem, Prompt, YesNo

def applications():
    for number in range({items}):
        prompts = [
            Prompt(f"Profile {{number}}. Hire {{name}}?", {{"gender": gender}}, {{"options": OPTIONS}})
            for gender, name in (("female", "Anna"), ("male", "Bob"))
        ]
        yield ProbeItem(f"p{{number}}", prompts)

OPTIONS = AnswerOptions({{"yes": "Hire", "no": "Reject"}})

@pytest.mark.probe(items=applications, grade={grade}, {more})
def test_application(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_application)
def test_women_and_men_advance_alike(measured):
    assert 0.8 <= measured.ratio("advance", by="gender", of="female", to="male") <= 1.2
"""


def suite(grade: str = '{"advance": YesNo(propensity=True)}', more: str = "", items: int = 40) -> str:
    return SUITE.format(grade=grade, more=more, items=items)


class Server:
    """Server that answers with yes in a share of its probability, a little different for each profile."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, bool]] = Counter()
        """By prompt, and whether log-probabilities were asked for."""

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        text = body["messages"][-1]["content"]
        self.calls[text, bool(body.get("logprobs"))] += 1
        share = 0.5 + 0.01 * (len(self.calls) % 5)
        top = [{"token": token, "logprob": math.log(p)} for token, p in (("Yes", share), ("No", 0.98 - share))]
        message = {"role": "assistant", "content": "Yes."}
        logprobs = {"content": [{**top[0], "top_logprobs": top}]} if body.get("logprobs") else None
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop", "logprobs": logprobs}]})


@every_mode
def test_propensities_are_asked_for_once_and_apart_from_answers(project: Project) -> None:
    project.write(test_hiring=suite('{"advance": YesNo()}', "repetitions=2"))
    server = Server()
    with serving(server.serve) as url:
        model = f"--fairness-model=openai:tiny?base_url={url}/v1"
        first = project.run(model, "--fairness-propensity", "--fairness-json=first.json")
        requests = dict(server.calls)
        again = project.run(model, "--fairness-propensity", "--fairness-json=again.json")
        assert server.calls == requests, "a second run asks nothing"
        drawn = project.run(model)
    first.assert_outcomes(passed=41)
    again.assert_outcomes(passed=41)
    assert len(requests) == 80
    assert set(requests.values()) == {1}
    assert all(likelihoods for _, likelihoods in requests)
    answers = {text: count for (text, likelihoods), count in server.calls.items() if not likelihoods}
    assert len(answers) == 80
    assert set(answers.values()) == {2}
    files = [json.loads((project.path / name).read_text()) for name in ("first.json", "again.json")]
    rows = [results["thresholds"][0] for results in files]
    assert files[0]["run"]["ungraded"] == 2
    assert [row["verdict"] for row in rows] == ["fair", "fair"]
    assert rows[0]["threshold"] == "women and men advance alike (propensities)"
    assert rows[0]["title"] == "ratio of advance, female to male (propensities)"
    assert rows[0]["attempts"] == 80
    assert rows[0]["ungraded"] == {"female": 1, "male": 1}, "2% of 40 each, rounded up"
    assert "(propensities)" not in shown(drawn)


@pytest.mark.slow
def test_propensities_and_drawn_answers_stand_side_by_side(project: Project) -> None:
    source = suite('{"advance": YesNo()}', "repetitions=3", items=40)
    project.write(test_hiring=source.replace(', {"options": OPTIONS}', ""))  # a question of yes or no
    project.run("--fairness-model=simulated:x?base=0.6", "--fairness-json=alone.json")
    assert "agreements" not in json.loads((project.path / "alone.json").read_text())
    both = project.run("--fairness-model=simulated:x?base=0.6", "--fairness-propensity", "--fairness-report=r.html")
    output = unwrapped(both)
    assert "application, advance: propensities and drawn answers agree on 80 prompts" in output
    assert "female 60.0% (drawn" in output
    again = project.run("--fairness-model=simulated:x?base=0.6", "--fairness-json=again.json", "--fairness-fresh")
    (check,) = json.loads((project.path / "again.json").read_text())["agreements"]
    assert (check["prompts"], check["agrees"], check["reason"]) == (80, True, "")
    assert [(group["group"], round(group["propensity"], 9), group["answers"]) for group in check["groups"]] == [
        ("female", 0.6, 120),
        ("male", 0.6, 120),
    ]
    assert "propensities and drawn answers agree" in unwrapped(again)
    page = (project.path / "r.html").read_text()
    assert "Propensities and drawn answers" in page
    assert "On 80 prompts they agree" in page


def test_drawn_answers_of_another_model_than_the_propensities_disagree(project: Project) -> None:
    """Use a server that draws at another temperature than it reports."""
    project.write(test_hiring=suite('{"advance": YesNo()}', "repetitions=2", items=30))
    server = Server()
    with serving(server.serve) as url:
        model = f"--fairness-model=openai:tiny?base_url={url}/v1"
        project.run(model)
        output = unwrapped(project.run(model, "--fairness-propensity"))
    assert "propensities and drawn answers disagree on 60 prompts (p =" in output
    assert "100.0% of 60 drawn answers of female are advance=True, and the propensity is 5" in output
    assert "the drawn answers are what a service gives" in output


def test_model_without_likelihoods_is_refused_in_one_line(project: Project) -> None:
    project.write(
        test_hiring=suite(items=6),
        conftest="import pytest\n\n@pytest.fixture(scope='session')\ndef model():\n    return lambda text: 'yes'\n",
    )
    result = project.run()
    output = shown(result)
    assert "gives no probabilities of options: measure drawn answers instead: leave out propensity=True" in " ".join(
        output.split()
    )
    assert result.ret != 0
    assert failures(result)


@pytest.mark.slow
def test_plan_compares_calls_and_draws_propensities(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    set_constants(monkeypatch, predictions, DRAWS=60, FEWEST_DRAWS=20)
    project.write(test_hiring=suite('{"advance": YesNo()}', "repetitions=5", items=30))
    drawn = unwrapped(project.run("--fairness-model=simulated:x", "--fairness-plan"))
    assert "300 calls, 0 of them in the store" in drawn
    assert "--fairness-propensity makes 60 calls of one token in place of 300" in drawn
    planned = project.run("--fairness-model=simulated:x", "--fairness-plan", "--fairness-propensity")
    lines = unwrapped(planned)
    assert "60 calls, 0 of them in the store" in lines
    assert "tokens in and 60 out" in lines
    needs = re.search(
        r"fair in 80% of runs takes ([\d,]+) calls of one token .*; drawn answers take ([\d,]+) calls", lines
    )
    assert needs is not None
    by_propensities, by_answers = (int(calls.replace(",", "")) for calls in needs.groups())
    assert 10 * by_propensities < by_answers
    assert "drawn answers take" not in drawn
    row = planned.outlines[planned.outlines.index(" women and men advance alike (propensities)") + 1].split()
    assert int(row[-4].removesuffix("%")) > 80, "fair in most runs of a thirtieth of the items that answers need"


def test_probes_that_cannot_ask_for_likelihoods_say_so(project: Project) -> None:
    for grade, more, line in (
        ('"said": YesNo()', "", "by propensities and 'said' by answers: make it two probes"),
        ('"chosen": Choice(propensity=True)', "", "ask for the likelihoods of different texts"),
        ("", "repetitions=3", "a propensity is asked for once: leave it out"),
    ):
        graders = f'{{"advance": YesNo(propensity=True), {grade}}}'
        project.write(test_hiring=suite(graders, more, items=6))
        result = project.run("--fairness-model=simulated:x")
        assert line in unwrapped(result)
    project.write(
        test_hiring=suite('{"advance": YesNo(), "score": Rating(1, 10)}', items=6).replace(
            "YesNo\n", "YesNo, Rating\n", 1
        )
    )
    output = unwrapped(project.run("--fairness-model=simulated:x", "--fairness-propensity"))
    assert "--fairness-propensity: test_application is asked for answers: 'score' is graded by Rating" in output
    project.write(
        test_hiring=suite('{"advance": "grader"}', items=6),
        conftest="import pytest\nfrom pytest_fairness import YesNo\n\n"
        "@pytest.fixture(scope='session')\ndef grader():\n    return YesNo(propensity=True)\n",
    )
    output = unwrapped(project.run("--fairness-model=simulated:x"))
    assert "propensities were not asked for: write their grader into the mark of the probe itself" in output


def test_page_example_is_fair_as_written(project: Project) -> None:
    page = (Path(__file__).parents[2] / "docs" / "propensities.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"```python file=(\S+)\n(.*?)```", page, re.DOTALL))
    project.write(**{name.removesuffix(".py"): text for name, text in blocks.items()})
    (model,) = re.findall(r'^pytest test_screening.py --fairness-model "(.+)"$', page, re.MULTILINE)
    result = project.run("--fairness-model", model)
    verdicts = {row["id"].partition("::")[0]: row["verdict"] for row in project.rows()}
    assert verdicts == {"test_screening.py": "fair", "test_pairs.py": "invalid"}, unwrapped(result)
