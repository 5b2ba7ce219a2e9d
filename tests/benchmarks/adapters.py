"""CPU of tasks of other harnesses as pytest tests, against the harnesses' own runs of them.

    python tests/benchmarks/adapters.py [--documents 200 1000] [--rounds 2]

Both sides answer within the process, by a hash of the text, and both start afresh: each process
imports, loads its task, asks, scores, and (ours) judges one threshold and writes its report. They
take turns. Printed: the CPU seconds of every run; in the end the least of each, their ratios, and
of two numbers of documents the fixed part of a process and the milliseconds of each document.
Again asks nothing: its answers are in the store.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.helpers.lm_eval_tasks import write_tasks  # noqa: E402

MODELS = """
import hashed
from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.propensities import Likelihoods, OptionLikelihood

class HashedModel:
    name = key = "made"
    local = True

    async def answer(self, prompt, repetition):
        return Answer(hashed.answer(hashed.template(prompt.messages), repetition))

    async def likelihoods(self, prompt, question):
        context = hashed.template(prompt.messages) if question.has_context else ""
        logs = {name: hashed.likelihood(context, text) for name, (text,) in question.options.items()}
        exact = OptionLikelihood.exact
        return Likelihoods({name: exact(log, greedy=best) for name, (log, best) in logs.items()}).answer()

    async def close(self):
        pass
"""
CONFTEST = """
import pytest
from made import HashedModel

@pytest.fixture(scope="session")
def model():
    return HashedModel()
"""
INSPECT_TASK = """
import json
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

@task
def screening():
    rows = [json.loads(line) for line in open("data.jsonl")]
    samples = [Sample(input=row["question"], target="yes", metadata={"gender": row["gender"]}) for row in rows]
    return Task(dataset=samples, solver=generate(), scorer=includes())
"""
INSPECT_RUN = """
import hashed, inspect_ai
from inspect_ai.model import ModelOutput, ModelUsage, get_model

def output(messages, tools, tool_choice, config):
    made = ModelOutput.from_content("mockllm", hashed.answer(messages[-1].text, 0))
    made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return made

model = get_model("mockllm/model", custom_outputs=output)
(log,) = inspect_ai.eval("inspect_task.py@screening", model=model, display="none", log_dir="logs")
assert log.status == "success", log.error
"""
LM_EVAL_RUN = """
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from tests.helpers.lm_eval_runs import HashedLM

manager = TaskManager(include_defaults=False, include_path="tasks")
assert simple_evaluate(HashedLM(), tasks=["local_choices"], task_manager=manager)["results"]["local_choices"]
"""
TEST_LM_EVAL = """
from pytest_fairness.harnesses.lm_eval import LmEvalTask

TestChoices = LmEvalTask("local_choices", include=["tasks"]).tests("0 <= acc <= 1")
"""
TEST_INSPECT = """
from pytest_fairness.harnesses.inspect_ai import InspectTask

TestScreening = InspectTask("inspect_task.py@screening").tests("0 <= accuracy <= 1")
"""
ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def commands() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the command of each side, by harness."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_fairness.plugin", "-p", "no:cacheprovider"]
    return {
        "lm_eval": {"theirs": [sys.executable, "lm_eval_run.py"], "ours": [*pytest, "test_lm_eval.py"]},
        "inspect_ai": {"theirs": [sys.executable, "inspect_run.py"], "ours": [*pytest, "test_inspect.py"]},
    }


def write_project(folder: Path, documents: int) -> None:
    """Write both tasks, and the models of both sides."""
    write_tasks(folder, documents)
    for name, text in (
        ("conftest", CONFTEST),
        ("made", MODELS),
        ("inspect_task", INSPECT_TASK),
        ("inspect_run", INSPECT_RUN),
        ("lm_eval_run", LM_EVAL_RUN),
        ("test_lm_eval", TEST_LM_EVAL),
        ("test_inspect", TEST_INSPECT),
    ):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")


def cpu_of(command: Sequence[str], folder: Path) -> float:
    """Return the CPU seconds of a process that ends well."""
    environment = {**os.environ, **ENVIRONMENT, "HF_DATASETS_CACHE": str(folder / "datasets")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else what is not installed is compiled in each process
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}\n{process.stdout[-2000:]}{process.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(harness: str, sides: Mapping[str, Sequence[str]], documents: int, rounds: int) -> dict[str, float]:
    """Return the least CPU seconds of each side, and of our second run over the same store."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_project(folder, documents)
        cpu_of(sides["theirs"], folder)  # builds the data set's cache, and compiles what is imported
        cpu_of(sides["ours"], folder)
        costs: dict[str, list[float]] = {"theirs": [], "ours": [], "again": []}
        for _ in range(rounds):
            for remains in (".fairness", "logs"):
                shutil.rmtree(folder / remains, ignore_errors=True)
            for side in costs:
                costs[side].append(cpu_of(sides["ours" if side == "again" else side], folder))
        for side, seconds in costs.items():
            print(f"  {harness} {documents:,} {side:7} {' '.join(f'{value:.2f}' for value in seconds)} s", flush=True)
        return {side: min(seconds) for side, seconds in costs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--harness", nargs="+", choices=list(commands()), default=list(commands()))
    options = parser.parse_args()
    for harness in options.harness:
        costs = {size: measure(harness, commands()[harness], size, options.rounds) for size in options.documents}
        for size, seconds in costs.items():
            ratios = ", ".join(f"{side} {value:.2f} s" for side, value in seconds.items())
            print(f"{harness}, {size:,} documents: {ratios}; ours / theirs {seconds['ours'] / seconds['theirs']:.2f}")
        least, most = min(costs), max(costs)
        for side in costs[most] if most > least else ():
            slope = (costs[most][side] - costs[least][side]) / (most - least)
            print(f"  {side:7} {costs[least][side] - slope * least:5.2f} s + {1000 * slope:5.2f} ms a document")


if __name__ == "__main__":
    main()
