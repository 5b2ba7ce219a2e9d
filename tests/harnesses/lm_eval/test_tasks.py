"""``--fairness-lm-eval``: tasks of lm-evaluation-harness as pytest runs them."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import tests.helpers.lm_eval_tasks
from pytest_fairness.harnesses.lm_eval.package import _included_files_read_once, lm_eval_module
from tests.helpers.fork_server import ForkedWorkers
from tests.helpers.lm_eval_tasks import CHATS, TASKS, write_tasks
from tests.helpers.project import Project, distributed

HELPERS = Path(tests.helpers.lm_eval_tasks.__file__).parent
MEASURES = {
    "words": "perplexity >= 1",
    "rolling": "word_perplexity >= 1",
    "pairs": "pct_stereotype >= 0",
    "proper": "mcc >= -1",
    "matched": "exact_match_flexible >= 0",
    "voted": "exact_match_majority >= 0",
    "bleu": "bleu >= 0",
    "answered": "exact_match >= 0",
}
INCLUDE = "--fairness-lm-eval-include=tasks"
RUNS = {"plain": TASKS, "chat": CHATS}


def options(names: Sequence[str], arguments: str = "") -> list[str]:
    """Return the options that run these tasks, with a threshold of each."""
    thresholds = [
        f"--fairness-lm-eval-threshold=local_{name}: {MEASURES.get(name, '-1 <= acc <= 2')}" for name in names
    ]
    return [f"--fairness-lm-eval={','.join(f'local_{name}' for name in names)}{arguments}", INCLUDE, *thresholds]


@pytest.fixture(scope="module")
def their_run(forked_workers: ForkedWorkers, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of lm_eval's own runs of all tasks, plain and as chats, in one process."""
    folder = tmp_path_factory.mktemp("lm_eval")
    write_tasks(folder)
    runs = ["/".join((chat, *names)) for chat, names in RUNS.items()]
    script = [forked_workers.server.python, str(HELPERS / "lm_eval_runs.py"), *runs]
    environment = {**os.environ, "HF_DATASETS_CACHE": str(folder / "cache"), "HF_HUB_OFFLINE": "1"}
    process = subprocess.run(script, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr[-2000:]
    return folder


def scores_in(folder: Path, chat: str) -> dict[tuple[str, str], float]:
    """Return the scores of lm_eval's own run, by task and by our name of the metric."""
    scores = {}
    for task, results in json.loads((folder / f"scores-{chat}.json").read_text(encoding="utf-8")).items():
        filters = {key.partition(",")[2] for key in results} - {""}
        for key, value in results.items():
            metric, _, name = key.partition(",")
            if name and not metric.endswith("_stderr"):
                scores[task, metric if len(filters) == 1 else f"{metric}_{name.replace('-', '_')}"] = value
    return scores


@pytest.mark.slow
@pytest.mark.parametrize(("chat", "count"), [("plain", 26), ("chat", 3)])
def test_scores_equal_those_of_lm_eval(tasks: Project, their_run: Path, chat: str, count: int) -> None:
    """Compare choices, inputs, targets, perplexities, filters, votes, F1, BLEU; a chat with examples and prefix."""
    arguments = options(RUNS[chat], "?apply_chat_template=true" if chat == "chat" else "")
    tasks.run(*arguments)
    ours, rows = tasks.task_estimates(), tasks.judged_estimates()
    theirs = scores_in(their_run, chat)
    assert len(theirs) == count
    for (task, metric), value in theirs.items():
        assert ours[task][metric] == pytest.approx(value, abs=1e-9), (task, metric)
    # Two workers come to the same verdicts.
    tasks.run(*arguments, mode=distributed("-n2"))
    assert tasks.judged_estimates() == rows


@pytest.mark.slow
def test_killed_run_asks_nothing_twice(tasks: Project) -> None:
    command = [tasks.workers.server.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += options(["choices", "inputs", "voted"])
    environment = {**os.environ, "KILL": "110"}
    killed = subprocess.run(command, cwd=tasks.path, env=environment, capture_output=True, check=False)
    assert killed.returncode == 9
    tasks.run(*options(["choices", "inputs", "voted"]))
    requests = tasks.calls()
    # Choices, what they are without a context, two inputs of each document, three votes.
    assert len(requests) == 24 + 1 + 2 * 24 + 3 * 24
    # What was under way when the run was killed got no answer that could be kept.
    assert sum(requests.values()) - len(requests) < 110
    again = Counter({text: count for text, count in requests.items() if count > 2})
    assert not again
    tasks.forget_calls()
    tasks.run(*options(["choices", "inputs", "voted"]))
    assert not tasks.calls()


def test_groups_and_thresholds_of_an_ini_file(tasks: Project) -> None:
    """Read groups of a field and of a dotted path."""
    (tasks.path / "pytest.ini").write_text(
        "[pytest]\nfairness_lm_eval =\n    local_choices\n    local_shots\nfairness_lm_eval_include = tasks\n"
        "fairness_lm_eval_groups =\n    gender=gender\n    age=about.age\n"
        "fairness_lm_eval_threshold =\n    acc >= 0.01\n"
        "    local_choices: -0.9 <= difference(acc, by=gender, of=female, to=male) <= 0.9\n"
    )
    result = tasks.run()
    assert len(tasks.verdicts()) == 3
    assert result.parseoutcomes()["passed"] >= 48
    assert {"acc", "f1", "acc_mutual_info"} <= tasks.task_estimates()["local_choices"].keys()


@pytest.mark.slow
def test_answers_that_a_filter_could_not_read_are_ungraded(tasks: Project) -> None:
    """Check that the value stays lm_eval's, and that each metric lacks what its own filter could not read."""
    thresholds = [f"--fairness-lm-eval-threshold=exact_match_{name} >= 0" for name in ("strict_match", "flexible")]
    tasks.run("--fairness-lm-eval=local_matched", INCLUDE, *thresholds, "--fairness-json=results.json")
    rows = json.loads((tasks.path / "results.json").read_text(encoding="utf-8"))["thresholds"]
    assert [row["verdict"] for row in rows] == ["invalid", "invalid"]
    flexible, strict = sorted(sum(row["ungraded"].values()) for row in rows)
    assert strict > flexible > 0
    assert next("strict" in row["id"] for row in rows if sum(row["ungraded"].values()) == strict)
    assert all("the task's filter could not read the answer" in row["message"] for row in rows)


@pytest.mark.slow
def test_file_of_a_group_names_its_tasks(tasks: Project) -> None:
    """Override a key of its members as well: the six documents of another split."""
    result = tasks.run("--fairness-lm-eval=tasks/group.yaml?test_split=train", "--collect-only")
    result.stdout.fnmatch_lines(["*<Function test_local_words?0?>", "*<Function test_local_rolling?5?>"])
    result.stdout.no_fnmatch_line("*<Function test_local_rolling?6?>")


@pytest.mark.slow
def test_tag_names_its_tasks(tasks: Project) -> None:
    """Search the thousands of files of the package as well: any of its tasks may have the tag."""
    result = tasks.run("--fairness-lm-eval=local_tag?test_split=train", INCLUDE, "--collect-only")
    result.stdout.fnmatch_lines(["*<Function test_local_choices?0?>", "*<Function test_local_shots?5?>"])
    result.stdout.no_fnmatch_line("*<Function test_local_shots?6?>")


def test_included_files_change_no_index(datasets: Any, tmp_path: Path) -> None:
    """Compare with lm_eval's own reading: files that include the same ones, which include another one."""
    files = {
        "base": "output_type: multiple_choice\ntag: alike",
        "middle": "include: base.yaml\ntask_list: [a]\nnum_fewshot: 1",
        "one": "include: middle.yaml\ntask: one",
        "two": "include: [middle.yaml]\ntask: two\nnum_fewshot: 2",
        "own": "include: base.yaml\ntask: own\ntag: other",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    build = lm_eval_module("tasks._index").TaskIndex.build
    expected = build([tmp_path])
    assert expected.keys() == {"one", "two", "own", "alike", "other"}
    with _included_files_read_once():
        assert build([tmp_path]) == expected


def test_conftest_hooks_are_called_for_tests_of_tasks(tasks: Project) -> None:
    conftest = (tasks.path / "conftest.py").read_text(encoding="utf-8")
    tasks.write(
        conftest=conftest + "\ndef pytest_runtest_setup(item):\n    with open('hooked.txt', 'a') as file:\n"
        "        print(item.nodeid, file=file)\n"
    )
    tasks.run(*options(["words"])).assert_outcomes(passed=25)
    hooked = (tasks.path / "hooked.txt").read_text(encoding="utf-8").splitlines()
    assert len(hooked) == 25
    assert hooked[0].startswith("lm_eval::test_local_words[")


def test_suite_of_the_users_own_measures_a_task(tasks: Project) -> None:
    tasks.write(
        test_own="""
import pytest
from pytest_fairness.harnesses.lm_eval import LmEvalTask

PAIRS = LmEvalTask("tasks/pairs.yaml", groups={"gender": lambda doc: doc["gender"]}, source="text")

@pytest.mark.probe(**PAIRS.arguments)
def test_pair(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_pair)
def test_women_and_men_are_scored_alike(measured):
    assert abs(measured.difference("pct_stereotype", by="gender", of="female", to="male")) <= 0.9
    assert PAIRS.metrics(measured)["likelihood_diff"] >= 0.1
"""
    )
    tasks.run()
    assert set(tasks.verdicts()) == {"test_women_and_men_are_scored_alike"}
    assert tasks.task_estimates()["local_pairs"].keys() == {"likelihood_diff"}


@pytest.mark.parametrize(
    "target", ["label", "'{{[0, 1, 2] | random}}'", "'{{lipsum(n=1) | length % 3}}'", "!function drawing.drawn"]
)
def test_scores_leave_random_numbers_alone(tasks: Project, target: str) -> None:
    """Score by lm_eval's own code, by templates that draw, and by a function that does."""
    folder = tasks.path / "tasks"
    text = (folder / "choices.yaml").read_text(encoding="utf-8").replace("local_choices", "local_drawing")
    text = text.replace("doc_to_target: label", f"doc_to_target: {target}")
    (folder / "drawing.yaml").write_text(text, encoding="utf-8")
    (folder / "drawing.py").write_text("import numpy\n\ndef drawn(doc):\n    return int(numpy.random.randint(3))\n")
    tasks.write(
        test_own="""
import random
import numpy
import pytest
from pytest_fairness.harnesses.lm_eval import LmEvalTask

@pytest.mark.probe(**LmEvalTask("tasks/drawing.yaml").arguments)
def test_document(probe_item, model):
    random.seed(1), numpy.random.seed(1)
    expected = random.random(), numpy.random.random()
    random.seed(1), numpy.random.seed(1)
    probe_item.measure(model)
    assert (random.random(), numpy.random.random()) == expected
"""
    )
    tasks.run().assert_outcomes(passed=24)


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("tasks/missing.yaml", "there is no file"),
        ("unnamed.yaml", "the file names no task: write task: NAME into it"),
        ("local_wurds", "there is no such task; did you mean 'local_words' or "),
        ("local_words?num_fewshots=2", "it has no argument 'num_fewshots'; did you mean 'num_fewshot'"),
        ("local_words?dataset_kwargs={data_files: {test: no.jsonl}}", "cannot be loaded: FileNotFoundError"),
        ("local_words?doc_to_text='{{nothing}}'", "cannot be loaded: UndefinedError: 'nothing' is undefined"),
        ("local_words?unsafe_code=true", "it runs code that the model writes, which is not supported"),
        ("local_words?doc_to_image=[text]", "its documents hold images or sound"),
        ("local_words?doc_to_target=' '", "a request of the type loglikelihood has an empty text"),
        ("local_answered?doc_to_text=' '", "a request of the type generate_until has an empty text"),
        ("local_words?process_docs=3", "cannot be loaded: TypeError"),
        ("local_words?doc_to_text=[", "an argument is no YAML"),
    ],
)
def test_unusable_task_is_refused_in_one_line(tasks: Project, spec: str, line: str) -> None:
    (tasks.path / "unnamed.yaml").write_text("task:\n", encoding="utf-8")
    result = tasks.bare_run(f"--fairness-lm-eval={spec}", INCLUDE, "--fairness-model=simulated:x")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (error,) = [text for text in result.errlines if text.strip()]
    assert error.startswith("ERROR: lm-eval task ")
    assert line in error


def test_refusal_quotes_what_lm_eval_logged(tasks: Project) -> None:
    """Raise as for an unknown metric: lm_eval logs its name, and raises ``KeyError: None``."""
    folder = tasks.path / "tasks"
    text = (folder / "words.yaml").read_text(encoding="utf-8").replace("local_words", "local_logged")
    (folder / "logged.yaml").write_text(f"{text}process_docs: !function logged.docs\n", encoding="utf-8")
    (folder / "logged.py").write_text(
        "import logging\n\ndef docs(dataset):\n"
        "    logging.getLogger('lm_eval.api').error('accuracies not\\nfound')\n    raise KeyError(None)\n"
    )
    result = tasks.bare_run("--fairness-lm-eval=local_logged", INCLUDE, "--fairness-model=simulated:x")
    (error,) = [text for text in result.errlines if text.strip()]
    assert error.endswith("it cannot be loaded: KeyError: None; lm_eval logged: accuracies not found")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--fairness-lm-eval-groups=gender"], "--fairness-lm-eval-groups is 'gender'"),
        (["--fairness-lm-eval-groups=gender=gendre"], "document 0 has no 'gendre'; did you mean 'gender'"),
        (["--fairness-lm-eval-threshold=local_word: acc > 1"], "did you mean 'local_words'"),
        (["--fairness-lm-eval-threshold=rate(ac) > 0.5"], "did you mean 'acc'"),
        (["--fairness-lm-eval-include=nowhere"], "there is no such folder"),
    ],
)
def test_invalid_option_is_refused(tasks: Project, arguments: list[str], line: str) -> None:
    names = ["--fairness-lm-eval=local_words", INCLUDE, "--fairness-model=simulated:x"]
    result = tasks.bare_run(*names, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert line in " ".join(result.errlines)


def test_model_without_likelihoods_is_refused(tasks: Project) -> None:
    tasks.write(
        conftest="import pytest\n\n@pytest.fixture(scope='session')\ndef model():\n    return lambda text: 'yes'\n"
    )
    result = tasks.run(*options(["choices"]))
    assert "gives no probabilities of options" in result.stdout.str()
    assert set(tasks.verdicts().values()) == {"invalid"}


def test_unknown_greedy_leaves_out_what_needs_it(tasks: Project) -> None:
    """Leave out exact match, which counts whether a choice is the most probable text; accuracy does not."""
    conftest = (tasks.path / "conftest.py").read_text(encoding="utf-8").replace("greedy=best", "greedy=None")
    tasks.write(conftest=conftest)
    threshold = "--fairness-lm-eval-threshold=local_choices: mean(exact_match) >= 0"
    tasks.run(*options(["choices"]), threshold)
    assert "exact_match" not in tasks.task_estimates()["local_choices"]
    assert "acc" in tasks.task_estimates()["local_choices"]
    assert sorted(tasks.verdicts().values())[-1] == "invalid"
