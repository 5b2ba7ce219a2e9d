"""The page on traces: its example runs as it is written, and its verdicts say what such data cannot show."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from pytest_fairness.cli.main import main
from tests.helpers.project import ALONE
from tests.helpers.traces import desk_trace, desk_traces, otlp, write_lines

PAGE = Path(__file__).parents[3].joinpath("docs/traces.md").read_text(encoding="utf-8")
LIMIT = "observational data: nobody assigned groups to requests"


@pytest.mark.parametrize(
    ("refused", "verdict"), [({"female": 1, "male": 1}, "fair"), ({"female": 6, "male": 1}, "unfair")]
)
def test_example_judges_traffic_and_says_its_limit(
    pytester: pytest.Pytester, refused: dict[str, int], verdict: str
) -> None:
    write_lines(pytester.path / "traces.jsonl", map(otlp, desk_traces(400, refused)))
    ((name, content),) = re.findall(r"^`(\S+\.yaml)`:\n\n```yaml\n(.+?)```", PAGE, flags=re.MULTILINE | re.DOTALL)
    (pytester.path / name).write_text(content, encoding="utf-8")
    (commands,) = re.findall(r"```sh\n(.+?)```", PAGE, flags=re.DOTALL)
    import_command, judge_command = map(shlex.split, commands.splitlines())
    assert main(import_command[1:]) == 0
    result = pytester.runpytest(
        *ALONE, *judge_command[1:], "--fairness-json=results.json", "--fairness-report=page.html"
    )
    results = json.loads((pytester.path / "results.json").read_text(encoding="utf-8"))
    assert {row["verdict"] for row in results["thresholds"]} == {verdict}
    (shown,) = re.findall(r"```\n( competence.+?)```", PAGE, flags=re.DOTALL)
    assert shown in result.stdout.str()
    assert results["probes"][0]["remarks"][0].startswith(LIMIT)
    assert LIMIT in (pytester.path / "page.html").read_text(encoding="utf-8")


def test_graders_of_time_read_the_latency_and_failures_keep_their_reason(pytester: pytest.Pytester) -> None:
    """Check waiting women as unfair, and that what is shown of failed requests is the reason in the traces."""
    traces = list(desk_traces(400, {"female": 1, "male": 1}))
    for number, (root, *_) in enumerate(traces):
        if number % 4 == 0:
            root["endTimeUnixNano"] = str(int(root["startTimeUnixNano"]) + 500 * 10**9)
        if number % 25 == 0:
            root["status"] = {"code": 2, "message": "no desk is free"}
    write_lines(pytester.path / "traces.jsonl", map(otlp, traces))
    (pytester.path / "desk.probe.yaml").write_text(
        "table: {file: desk.jsonl, groups: [gender], grades: [calls]}\n"
        "grade:\n  wait: {answer-time: {most: 60}}\n  action: {called-tool: {}}\n"
        "thresholds:\n  wait: difference(wait, by=gender, of=female, to=male) <= 6\n"
    )
    assert main(["import", "traces", "traces.jsonl", "--out", "desk.jsonl", "--group", "gender=user.gender"]) == 0
    result = pytester.runpytest(*ALONE, "--fairness-json=results.json", "--fairness-report=none")
    (row,) = json.loads((pytester.path / "results.json").read_text(encoding="utf-8"))["thresholds"]
    assert row["verdict"] == "unfair"
    assert "failed: no desk is free" in " ".join(result.stdout.str().split())


@pytest.mark.parametrize(("unstated", "verdicts"), [(5, {"fair"}), (20, {"fair", "undecided"}), (60, {"invalid"})])
def test_verdict_needs_groups_of_most_traces(pytester: pytest.Pytester, unstated: int, verdicts: set[str]) -> None:
    traces = [
        *desk_traces(400, {"female": 1, "male": 1}),
        *(desk_trace(400 + n, None, "refuse") for n in range(unstated)),
    ]
    write_lines(pytester.path / "traces.jsonl", map(otlp, traces))
    (content,) = re.findall(r"```yaml\n(.+?)```", PAGE, flags=re.DOTALL)
    (pytester.path / "desk.probe.yaml").write_text(content, encoding="utf-8")
    assert main(["import", "traces", "traces.jsonl", "--out", "desk.jsonl", "--group", "gender=user.gender"]) == 0
    pytester.runpytest(*ALONE, "--fairness-json=results.json", "--fairness-report=none")
    rows = json.loads((pytester.path / "results.json").read_text(encoding="utf-8"))["thresholds"]
    assert {row["verdict"] for row in rows} == verdicts
    if unstated == 60:
        assert "60 of 460 answers are in no group of gender, over 10% of this traffic" in rows[0]["message"]
