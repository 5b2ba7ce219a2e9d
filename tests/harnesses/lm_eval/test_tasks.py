"""Tasks of lm-evaluation-harness as pytest runs them."""

from __future__ import annotations

import json
import os
import re
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
from tests.helpers.project import Project, distributed, failures

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
THRESHOLDS = {name: MEASURES.get(name, "-1 <= acc <= 2") for name in (*TASKS, *CHATS)}
RUNS = {"plain": TASKS, "chat": CHATS}
UNSENT = ("-W", "default:lm-eval task")
"""Let a task whose temperature is not sent warn: this project's own filter would make it an error."""


def task_class(spec: str, *thresholds: str, **arguments: object) -> str:
    """Return the source of a test module that measures a task, or those of a group."""
    return (
        "from pytest_fairness.harnesses.lm_eval import LmEvalTask\n"
        f"Test{re.sub('[^a-z]', '', spec.partition('?')[0])} = "
        f"LmEvalTask({spec!r}, **{ {'include': ['tasks'], **arguments}!r}).tests(*{thresholds!r})\n"
    )


def task_classes(names: Sequence[str], arguments: str = "") -> str:
    """Return the source of a test module that measures tasks of `tests.helpers.lm_eval_tasks`, with a threshold."""
    return "".join(task_class(f"local_{name}{arguments}", THRESHOLDS[name]) for name in names)


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
    tasks.write(test_tasks=task_classes(RUNS[chat], "?apply_chat_template=true" if chat == "chat" else ""))
    tasks.run(*UNSENT)
    ours, rows = tasks.task_estimates(), tasks.judged_estimates()
    theirs = scores_in(their_run, chat)
    assert len(theirs) == count
    for (task, metric), value in theirs.items():
        assert ours[task][metric] == pytest.approx(value, abs=1e-9), (task, metric)
    # Two workers come to the same verdicts.
    tasks.run(*UNSENT, mode=distributed("-n2"))
    assert tasks.judged_estimates() == rows


@pytest.mark.slow
def test_killed_run_asks_nothing_twice(tasks: Project) -> None:
    command = [tasks.workers.server.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    tasks.write(test_tasks=task_classes(["choices", "inputs", "voted"]))
    environment = {**os.environ, "KILL": "110"}
    killed = subprocess.run(command, cwd=tasks.path, env=environment, capture_output=True, check=False)
    assert killed.returncode == 9
    tasks.run(*UNSENT)
    requests = tasks.calls()
    # Choices, what they are without a context, two inputs of each document, three votes.
    assert len(requests) == 24 + 1 + 2 * 24 + 3 * 24
    # What was under way when the run was killed got no answer that could be kept.
    assert sum(requests.values()) - len(requests) < 110
    again = Counter({text: count for text, count in requests.items() if count > 2})
    assert not again
    tasks.forget_calls()
    tasks.run(*UNSENT)
    assert not tasks.calls()


def test_groups_are_fields_and_dotted_paths(tasks: Project) -> None:
    difference = "-0.9 <= difference(acc, by=gender, of=female, to=male) <= 0.9"
    groups = {"gender": "gender", "age": "about.age"}
    tasks.write(test_choices=task_class("local_choices", "acc >= 0.01", difference, groups=groups))
    result = tasks.run()
    assert len(tasks.verdicts()) == 2
    assert result.parseoutcomes()["passed"] >= 24
    assert {"acc", "f1", "acc_mutual_info"} <= tasks.task_estimates()["local_choices"].keys()


@pytest.mark.slow
def test_answers_that_a_filter_could_not_read_are_ungraded(tasks: Project) -> None:
    """Check that the value stays lm_eval's, and that each metric lacks what its own filter could not read."""
    thresholds = [f"exact_match_{name} >= 0" for name in ("strict_match", "flexible")]
    tasks.write(test_matched=task_class("local_matched", *thresholds))
    tasks.run()
    rows = json.loads((tasks.path / "results.json").read_text(encoding="utf-8"))["thresholds"]
    assert [row["verdict"] for row in rows] == ["invalid", "invalid"]
    flexible, strict = sorted(sum(row["ungraded"].values()) for row in rows)
    assert strict > flexible > 0
    assert next("strict" in row["id"] for row in rows if sum(row["ungraded"].values()) == strict)
    assert all("the task's filter could not read the answer" in row["message"] for row in rows)


@pytest.mark.slow
def test_file_of_a_group_names_its_tasks(tasks: Project) -> None:
    """Override a key of its members as well: the six documents of another split."""
    tasks.write(test_group=task_class("tasks/group.yaml?test_split=train", "local_words: acc >= 0"))
    result = tasks.run("--collect-only")
    result.stdout.fnmatch_lines(["*<Function test_local_words?0?>", "*<Function test_local_rolling?5?>"])
    result.stdout.no_fnmatch_line("*<Function test_local_rolling?6?>")
    result.stdout.fnmatch_lines(["*<Function test_local_words_acc_at_least_0>"])
    result.stdout.no_fnmatch_line("*<Function test_local_rolling_acc*>")


@pytest.mark.slow
def test_tag_names_its_tasks(tasks: Project) -> None:
    """Search the thousands of files of the package as well: any of its tasks may have the tag."""
    tasks.write(test_tag=task_class("local_tag?test_split=train"))
    result = tasks.run("--collect-only")
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
    tasks.write(test_task=task_class(spec))
    result = tasks.bare_run("--fairness-model=simulated:x")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    (error,) = failures(result)["ERROR collecting test_task.py"]
    assert error.startswith("lm-eval task ")
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
    tasks.write(test_task=task_class("local_logged"))
    (error,) = failures(tasks.bare_run("--fairness-model=simulated:x"))["ERROR collecting test_task.py"]
    assert error.endswith("it cannot be loaded: KeyError: None; lm_eval logged: accuracies not found")


@pytest.mark.parametrize(
    ("thresholds", "arguments", "line"),
    [
        (["local_word: acc > 1"], {}, "did you mean 'local_words'"),
        (["rate(ac) > 0.5"], {}, "did you mean 'acc'"),
        ([], {"include": ["nowhere"]}, "there is no such folder"),
    ],
)
def test_invalid_argument_is_refused_in_one_line(
    tasks: Project, thresholds: list[str], arguments: dict[str, object], line: str
) -> None:
    tasks.write(test_task=task_class("local_words", *thresholds, **arguments))
    (error,) = failures(tasks.bare_run("--fairness-model=simulated:x"))["ERROR collecting test_task.py"]
    assert line in error


def test_unknown_group_is_named(tasks: Project) -> None:
    tasks.write(test_task=task_class("local_words", groups={"gender": "gendre"}))
    result = tasks.bare_run("--fairness-model=simulated:x")
    result.assert_outcomes(errors=1)
    assert "document 0 has no 'gendre'; did you mean 'gender'" in " ".join(result.stdout.str().split())


def test_model_without_likelihoods_is_refused(tasks: Project) -> None:
    tasks.write(
        conftest="import pytest\n\n@pytest.fixture(scope='session')\ndef model():\n    return lambda text: 'yes'\n"
    )
    tasks.write(test_task=task_classes(["choices"]))
    result = tasks.run()
    assert "gives no probabilities of options" in result.stdout.str()
    assert set(tasks.verdicts().values()) == {"invalid"}


def test_unknown_greedy_leaves_out_what_needs_it(tasks: Project) -> None:
    """Leave out exact match, which counts whether a choice is the most probable text; accuracy does not."""
    conftest = (tasks.path / "conftest.py").read_text(encoding="utf-8").replace("greedy=best", "greedy=None")
    tasks.write(conftest=conftest)
    tasks.write(test_task=task_class("local_choices", THRESHOLDS["choices"], "mean(exact_match) >= 0"))
    tasks.run()
    assert "exact_match" not in tasks.task_estimates()["local_choices"]
    assert "acc" in tasks.task_estimates()["local_choices"]
    assert sorted(tasks.verdicts().values())[-1] == "invalid"
