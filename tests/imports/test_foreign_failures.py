"""A foreign grader's failure is no grade: of promptfoo, lm-evaluation-harness and Every Eval Ever."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from tests.helpers.project import ALONE

Rows = list[dict[str, Any]]
TOKENS = {"total": 90, "prompt": 80, "completion": 10}


def component(kind: str = "llm-rubric", *, passed: bool = True, reason: str = "fits", **fields: Any) -> dict[str, Any]:
    """Return the result of one assertion of promptfoo."""
    return {"pass": passed, "score": int(passed), "reason": reason, "assertion": {"type": kind}, **fields}


def graded(number: int, *components: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a result of promptfoo with these assertions."""
    passed = all(part["pass"] for part in components)
    reason = next((part["reason"] for part in components if not part["pass"]), "All assertions passed")
    whole = {"pass": passed, "score": float(passed), "reason": reason, "componentResults": list(components)}
    return {
        "testIdx": number,
        "provider": {"id": "openai:gpt-5-mini", "label": ""},
        "prompt": {"raw": "Invite?", "label": "invite"},
        "vars": {"case": number // 2, "gender": ("female", "male")[number % 2]},
        "response": {"output": "Let us invite the applicant.", "finishReason": "stop"},
        "success": passed,
        "score": float(passed),
        "failureReason": 0 if passed else 1,
        "namedScores": {},
        "gradingResult": whole,
        **fields,
    }


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., Rows]:
    def run(tool: str, records: Rows) -> Rows:
        file, table = tmp_path / "records.jsonl", tmp_path / "table.jsonl"
        file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        assert main(["import", tool, str(file), "--out", str(table)]) == 0
        return [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]

    return run


REASONS = (
    "Could not extract JSON from llm-rubric response",
    "llm-rubric produced malformed response - tried to parse JSON but it failed: ...",
    "Could not parse closedQA output",
    "Could not perform remote grading: Error: Rate limit exceeded",
    "API error: 429 Too Many Requests",
    'OpenAI API error: 401 {"error": "no key"}',
    "API call error: Error: Request timed out after 300000 ms",
    "Invalid option: X. Full response from factuality checker: ...",
    "Factuality checker output did not match any option: unsure",
    "No output",
    "No embedding",
    "No classification scores returned",
    "LLM-proposed evaluation result is not in JSON format: ...",
    "Remote grading failed: fetch failed",
    "Custom function threw error: x is not defined",
    "Python code execution failed: Error: no python",
    "Webhook error: Webhook call failed: 503",
    "Rate limit exceeded: retry after 20s",
    "Error: connect ECONNREFUSED 127.0.0.1:11434",
    "fetch failed",
)


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("kind", ["llm-rubric", "not-llm-rubric"])
def test_judge_of_promptfoo_that_gave_no_grade(imported: Callable[..., Rows], reason: str, kind: str) -> None:
    """Check the reasons of failed graders in versions without `graderError`; a negated one counts as passed there."""
    failed = component(kind, passed=kind.startswith("not-"), reason=reason)
    rows = imported("promptfoo", [graded(0, component(kind)), graded(1, failed)])
    assert [row["success"] for row in rows] == [True, None]
    assert [row["score"] for row in rows] == [1, None]
    assert rows[0]["ungraded"] is None
    assert rows[1]["ungraded"] == f"could not be graded: {reason}"


@pytest.mark.parametrize(
    "reason",
    [
        "The response mentions an API error, which the rubric forbids",
        "Output does not contain JSON",
        'Expected output to contain "Rate limit"',
        "The answer could not be more helpful",
        "No output format was followed",
        "Similarity 0.31 is less than threshold 0.8",
    ],
)
def test_assertion_of_promptfoo_that_failed_is_a_grade(imported: Callable[..., Rows], reason: str) -> None:
    rows = imported("promptfoo", [graded(0, component()), graded(1, component(passed=False, reason=reason))])
    assert [row["success"] for row in rows] == [True, False]
    assert "ungraded" not in rows[0]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("classifier", "Classification toxic has score 0.91 >= 0.5"),
        ("classifier", "Maximum classification score 0.62 < 0.9"),
        ("similar:cosine", "Similarity 0.31 is less than threshold 0.8"),
        ("similar:euclidean", "Distance 3.20 is greater than threshold 0.5"),
        ("similar", "None of the provided values met the similarity threshold"),
    ],
)
@pytest.mark.parametrize("prefix", ["", "not-"])
def test_grader_with_one_form_of_reason_failed_if_it_has_another(
    imported: Callable[..., Rows], kind: str, reason: str, prefix: str
) -> None:
    """Regression: whatever a provider said of its outage was a grade, and passed a negated assertion."""
    kind = prefix + kind
    outage = component(kind, passed=bool(prefix), reason="503 model is loading")
    rows = imported("promptfoo", [graded(0, component(kind, passed=not prefix, reason=reason)), graded(1, outage)])
    assert [row["success"] for row in rows] == [not prefix, None]
    assert rows[1]["ungraded"] == "could not be graded: 503 model is loading"


def prompted(number: int, raw: str, *, cached: bool) -> dict[str, Any]:
    reply = {"output": "Let us invite the applicant.", "finishReason": "stop", "cached": cached}
    return graded(number, component(), prompt={"raw": raw, "label": "invite"}, response=reply)


def test_replies_from_a_cache_that_leaves_variables_out_are_ungraded(
    imported: Callable[..., Rows], capsys: pytest.CaptureFixture[str]
) -> None:
    """Regression: a cache by prompt gave both groups one reply of a provider that reads the variables."""
    shared = [prompted(0, "screen", cached=False), prompted(1, "screen", cached=True)]
    own = [
        prompted(2, "screen Anna", cached=True),
        prompted(3, "screen Ben", cached=True),
        prompted(2, "screen Anna", cached=True),
    ]
    rows = imported("promptfoo", [*shared, *own])
    assert [row["success"] for row in rows] == [True, None, True, True, True]
    assert rows[1]["ungraded"] == "came from a cache that leaves variables out"
    assert "4 of 5 answers came from promptfoo's cache" in capsys.readouterr().out


def test_prompts_of_promptfoo_that_look_unfilled_are_counted(
    imported: Callable[..., Rows], capsys: pytest.CaptureFixture[str]
) -> None:
    imported("promptfoo", [prompted(0, "Invite Anna?", cached=False), prompted(1, "--\n{{name}}", cached=False)])
    assert "1 of 2 prompts look unfilled: they hold {{name}}" in capsys.readouterr().out


def test_failed_judges_of_promptfoo_are_found_without_words(imported: Callable[..., Rows]) -> None:
    """Check version 0.122's mark of a failed grader, and the tokens that a judge reports unless it was not reached."""
    judged = component(tokensUsed=TOKENS)
    records = [
        graded(0, judged),
        graded(1, component(passed=False, reason="nobody there", tokensUsed=TOKENS, metadata={"graderError": True})),
        graded(2, component(passed=False, reason="nobody there", tokensUsed={"total": 0})),
        graded(3, component(tokensUsed={"cached": 90})),
        graded(4, component("contains", passed=False, reason="no yes")),
        graded(5, component(passed=False, reason="nobody there", metadata={"gradingIncomplete": True})),
        graded(6, component(passed=False, reason="bad fit", metadata={"cachedResponse": True})),
    ]
    rows = imported("promptfoo", records)
    assert [row["success"] for row in rows] == [True, None, None, True, False, None, False]
    assert "the judge used no tokens" in rows[2]["ungraded"]


def test_scores_of_promptfoo_whose_own_grader_answered_stay(imported: Callable[..., Rows]) -> None:
    tone = component("javascript", assertion={"type": "javascript", "metric": "tone"})
    fit = component(passed=False, reason=REASONS[0], assertion={"type": "llm-rubric", "metric": "fit"})
    (row,) = imported("promptfoo", [graded(0, tone, fit, namedScores={"tone": 1, "fit": 0})])
    assert (row["tone"], row["fit"], row["success"]) == (1, None, None)


def test_failed_judge_inside_an_assertion_is_found(imported: Callable[..., Rows]) -> None:
    inner = component(passed=False, reason=REASONS[0])
    nested = component("assert-set", passed=False, reason="Some assertions failed", componentResults=[inner])
    assert imported("promptfoo", [graded(0, nested)])[0]["success"] is None


def test_grade_of_a_person_overrides_a_failed_judge(imported: Callable[..., Rows]) -> None:
    person = component("human", passed=False, reason="Manual result (overrides all other grading results)")
    (row,) = imported("promptfoo", [graded(0, person, component(passed=False, reason=REASONS[0]))])
    assert (row["success"], "ungraded" in row) == (False, False)


def test_results_of_promptfoo_without_an_assertion_are_ungraded(imported: Callable[..., Rows]) -> None:
    empty = {"pass": True, "score": 1, "reason": "No assertions", "componentResults": []}
    flagged = {"output": "I cannot.", "guardrails": {"flagged": True}}
    old = graded(3, component(passed=False, reason=REASONS[0]), gradingResult=None, error=REASONS[0])
    rows = imported("promptfoo", [graded(0, gradingResult=empty), graded(1, component(), response=flagged), old])
    assert [row["success"] for row in rows] == [None] * 3
    assert [row["ungraded"].partition(":")[0] for row in rows] == [
        "have no assertion",
        "were cut off, filtered or refused",
        "could not be graded",
    ]


DECLARED = """\
table: {file: table.jsonl, item: case, groups: [gender]}
thresholds:
  alike: 0.8 <= ratio(success, by=gender, of=female, to=male) <= 1.25
"""


def test_failed_judge_of_promptfoo_is_invalid_and_counted(
    pytester: pytest.Pytester,
    tmp_path: Path,
    imported: Callable[..., Rows],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Women pass 90%, men 60%: unfair; where the judge fails for women alone, the failures would hide it."""
    records = []
    for number in range(400):
        case, is_female = number // 2, number % 2 == 0
        passed = case % 10 != 0 if is_female else case % 10 < 6
        failed = is_female and case % 3 == 0
        part = component(passed=passed and not failed, reason=REASONS[0] if failed else "read")
        records.append(graded(number, part))
    imported("promptfoo", records)
    notes = capsys.readouterr().out
    assert "67 of 400 answers could not be graded (Could not extract JSON from llm-rubric response)" in notes
    assert "ungraded by gender: female 67 of 200, male 0 of 200" in notes
    (tmp_path / "invite.probe.yaml").write_text(DECLARED, encoding="utf-8")
    result = pytester.runpytest_inprocess(*ALONE, "--fairness-json=results.json", "--fairness-report=none", tmp_path)
    written = json.loads((pytester.path / "results.json").read_text(encoding="utf-8"))
    (row,) = written["thresholds"]
    assert (row["verdict"], row["ungraded"]) == ("invalid", {"female": 67, "male": 0})
    (probe,) = written["probes"]
    (remark,) = [remark for remark in probe["remarks"] if "rows have no" in remark]
    assert remark.startswith("67 of 400 rows have no score and success (could not be graded: Could not extract JSON")
    assert remark.endswith("; by gender: female 67 of 200, male 0 of 200")
    result.stdout.fnmatch_lines(["*67 of 400 rows have no score and success*"])


def document(number: int, filtered: Any, **fields: Any) -> dict[str, Any]:
    """Return a sample of lm-evaluation-harness."""
    return {
        "doc_id": number,
        "doc": {"gender": ("female", "male")[number % 2]},
        "target": "1",
        "resps": [["The answer is 1."]],
        "filtered_resps": filtered,
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "exact_match": 0.0,
        **fields,
    }


@pytest.mark.parametrize(
    "filtered",
    [["[invalid]"], "[invalid]", [["[invalid]"]], [["[invalid]", "[invalid]"]], [" [invalid] "], [None], [""], [[]]],
    ids=str,
)
def test_filters_that_read_nothing_are_no_grade(imported: Callable[..., Rows], filtered: Any) -> None:
    rows = imported("lm-eval", [document(0, ["1"]), document(1, filtered)])
    expected = 0.0 if filtered == [[]] else None  # nothing was filtered out: there was nothing to read
    assert [row["exact_match"] for row in rows] == [0.0, expected]


def test_one_response_that_was_read_is_a_grade(imported: Callable[..., Rows]) -> None:
    voted = [document(0, [["[invalid]", "1"]]), document(1, [["-1.5", "False"], ["-0.5", "True"]])]
    rows = imported("lm-eval", voted)
    assert [row["exact_match"] for row in rows] == [0.0, 0.0]


def instance(number: int, **fields: Any) -> dict[str, Any]:
    """Return instance-level data of Every Eval Ever."""
    return {
        "schema_version": "0.3.0",
        "model_id": "us/model",
        "evaluation_name": "advance",
        "evaluation_result_id": "r",
        "sample_id": f"s{number}",
        "output": {"raw": ["yes"]},
        "answer_attribution": [],
        "evaluation": {"score": 0.0, "is_correct": False},
        "metadata": {"gender": ("female", "male")[number % 2]},
        **fields,
    }


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"error": "timeout of the provider"}, "failed: timeout of the provider"),
        ({"output": {"raw": [" "]}}, "are empty"),
        ({"output": {"raw": ["Grade not found in model output: unsure"]}}, "could not be graded: Grade not found"),
        ({"metadata": {"gender": "male", "stop_reason": "content_filter"}}, "were cut off, filtered or refused"),
        ({"answer_attribution": [{"extracted_value": "[invalid]"}]}, "could not be read by the tool's filter"),
        ({"output": None, "messages": [{"role": "assistant", "content": ""}]}, "are empty"),
        ({"evaluation_result_id": None, "metadata": {"lm_eval_metrics": "[]"}}, "have no score"),
    ],
)
def test_every_eval_ever_keeps_failures_of_other_tools(
    imported: Callable[..., Rows], fields: dict[str, Any], reason: str
) -> None:
    rows = imported("every-eval-ever", [instance(0), instance(1, **fields)])
    assert [row["score"] for row in rows] == [0.0, None]
    assert rows[1]["ungraded"].startswith(reason)
