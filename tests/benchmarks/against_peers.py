"""Requests a second against a bare loop of the official client and against other frameworks.

    python tests/benchmarks/against_peers.py [--prompts 2000] [--under-way 64 512] [--rounds 2]
        [--peer inspect-ai=FOLDER] [--peer lm-eval=FOLDER] [--peer deepeval=FOLDER]
        [--peer genderbench=FOLDER] [--peer promptfoo=FOLDER]

A folder is a virtual environment that has the peer (of promptfoo: one that npm has installed it
in). Each asks a local server the same prompts, which answers after 50 ms, and grades the answers:
inspect-ai and lm-eval with a task of their own, deepeval with a metric that asks the model,
promptfoo with an assertion, ours as a whole pytest process, alone and with ``-n2``. The bare loop
and genderbench's generator only ask.

Printed, of each in turn, round by round: requests a second by the server's clock, from the first
request to the last answer; seconds of the whole process, with its start; and milliseconds of CPU
for each prompt. In the end the medians, and their ratios to the bare loop.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent

BARE = """
import asyncio, sys
from openai import AsyncOpenAI

async def main(url, prompts):
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    gate = asyncio.Semaphore(64)
    async def one(number):
        async with gate:
            answer = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": f"Is case {number} approved?"}])
            return answer.choices[0].message.content
    answers = await asyncio.gather(*map(one, range(prompts)))
    assert len(answers) == prompts

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""

SUITE = """
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

def cases():
    for number in range({items}):
        yield ProbeItem(f"case-{{number:06d}}", [Prompt(f"Is case {{number}} approved?")])

@pytest.mark.probe(items=cases, grade={{"approved": YesNo()}})
def test_case(probe_item, model):
    probe_item.measure(model)
"""

SCRIPTS = {
    "bare": BARE,
    "inspect-ai": """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate
url, prompts, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
samples = [Sample(input=f"Is case {n} approved?", target="Yes") for n in range(prompts)]
task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes())
model = get_model("openai/m", base_url=url, api_key="none", responses_api=False)
(log,) = eval(task, model=model, max_connections=most, max_samples=most, display="none", log_dir="logs")
assert log.status == "success" and log.results.completed_samples == prompts, log.error
""",
    "lm-eval": """
import json, sys
from lm_eval import simple_evaluate
from lm_eval.models.openai_completions import LocalChatCompletion
url, prompts, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open("cases.jsonl", "w") as file:
    for n in range(prompts):
        print(json.dumps({"question": f"Is case {n} approved?", "answer": "Yes."}), file=file)
task = {
    "task": "approved", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": "cases.jsonl"}},
    "test_split": "test", "output_type": "generate_until", "doc_to_text": "{{question}}", "doc_to_target": "{{answer}}",
    "generation_kwargs": {"until": []}, "metric_list": [{"metric": "exact_match"}],
}
model = LocalChatCompletion(base_url=url + "/chat/completions", model="m", num_concurrent=most)
results = simple_evaluate(model, tasks=[task], apply_chat_template=True, bootstrap_iters=0)
assert len(results["samples"]["approved"]) == prompts
""",
    "deepeval": """
import os, sys
os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_DISABLE_PROGRESS_BAR": "YES"}
from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.models import GPTModel
from deepeval.test_case import LLMTestCase
url, prompts, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
model = GPTModel(model="gpt-4o-mini", base_url=url, api_key="none")
class Approved(BaseMetric):
    threshold, async_mode, include_reason, strict_mode, evaluation_model = 0.5, True, False, False, "m"
    error = reason = None
    evaluation_cost = 0
    @property
    def __name__(self):
        return "Approved"
    def measure(self, case, *args, **kwargs):
        raise NotImplementedError
    async def a_measure(self, case, *args, **kwargs):
        answer = (await model.a_generate(case.input))[0]
        self.score, self.success = float(answer == "Yes."), True
        return self.score
    def is_successful(self):
        return True
cases = [LLMTestCase(input=f"Is case {n} approved?", actual_output="-") for n in range(prompts)]
shown = DisplayConfig(show_indicator=False, print_results=False)
config = AsyncConfig(max_concurrent=most, throttle_value=0)
result = evaluate(cases, [Approved()], async_config=config, display_config=shown,
                  cache_config=CacheConfig(write_cache=False))
assert len(result.test_results) == prompts
""",
    "genderbench": """
import asyncio, sys
from genderbench.generators import OpenAiAsyncApiGenerator
url, prompts, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
async def main():
    generator = OpenAiAsyncApiGenerator(model="m", api_key="none", base_url=url, max_concurrent_tasks=most)
    answers = generator.generate([f"Is case {n} approved?" for n in range(prompts)])
    assert len(answers) == prompts
asyncio.run(main())
""",
}

PROMPTFOO = """
prompts: ['Is case {{{{n}}}} approved?']
providers: [{{id: 'openai:chat:m', config: {{apiBaseUrl: '{url}', apiKey: none}}}}]
tests: tests.json
"""


@dataclass(frozen=True)
class Cost:
    """Cost of one run."""

    rate: float
    """Requests a second."""
    wall: float
    cpu: float
    """Seconds of the whole process and its children."""


def suite(folder: Path, name: str, text: str, items: int) -> Path:
    """Write a suite of this many items; return its folder."""
    path = folder / name
    path.mkdir()
    (path / "test_cases.py").write_text(text.format(items=items), encoding="utf-8")
    (path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return path


def run(command: Sequence[str], folder: Path, url: str, prompts: int, about: dict[str, str]) -> Cost | None:
    """Return the cost of one run; None where it failed or left prompts out."""
    subprocess.run(["rm", "-rf", *(str(folder / name) for name in (".fairness", "logs", ".deepeval"))], check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **about}
    )
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with urllib.request.urlopen(url.removesuffix("/v1") + "/counts") as answer:  # noqa: S310
        counts = json.load(answer)
    # promptfoo ends with 100 where a test fails, as tests do here.
    if process.returncode not in (0, 100) or counts["requests"] != prompts:
        print(f"{' '.join(command)}: {counts}\n{process.stdout[-1000:]}{process.stderr[-1000:]}")
        return None
    return Cost(prompts / counts["seconds"], wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def commands(folder: Path, url: str, options: argparse.Namespace, most: int) -> dict[str, Callable[[], Sequence[str]]]:
    """Return the command of each tool, made for each run, as the server's URL differs."""
    peers = dict(option.split("=", 1) for option in options.peer)
    runs: dict[str, Callable[[], Sequence[str]]] = {}
    for name in SCRIPTS:
        python = sys.executable if name == "bare" else str(Path(peers[name]) / "bin/python") if name in peers else None
        if python:
            script = folder / f"ask_{name}.py"  # a peer's own name would be imported in its place
            script.write_text(SCRIPTS[name].replace("Semaphore(64)", f"Semaphore({most})"), encoding="utf-8")
            runs[name] = lambda p=python, s=script: [p, str(s), url, str(options.prompts), str(most)]  # type: ignore[misc]
    if "promptfoo" in peers:
        runs["promptfoo"] = lambda: _promptfoo(folder, peers["promptfoo"], url, options.prompts, most)
    # Without the plugins of others that may be installed here, as the peers are.
    ours = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_fairness.plugin", "-p", "no:cacheprovider"]
    ours += ["--fairness-model", f"openai:m?base_url={url}", "--fairness-concurrency", str(most), "asking"]
    runs["ours"] = lambda: ours
    runs["ours -n2"] = lambda: [*ours, "-p", "xdist.plugin", "-n2"]
    return runs


def _promptfoo(folder: Path, peer: str, url: str, prompts: int, most: int) -> Sequence[str]:
    (folder / "promptfoo.yaml").write_text(PROMPTFOO.format(url=url), encoding="utf-8")
    tests = [{"vars": {"n": n}, "assert": [{"type": "contains", "value": "."}]} for n in range(prompts)]
    (folder / "tests.json").write_text(json.dumps(tests), encoding="utf-8")
    return [
        str(Path(peer) / "node_modules/.bin/promptfoo"), "eval", "-c", "promptfoo.yaml", "-j", str(most),
        "--no-cache", "--no-table", "--no-progress-bar", "--no-write",
    ]  # fmt: skip


def measure(options: argparse.Namespace, most: int) -> None:
    costs: dict[str, list[Cost]] = {}
    quiet = {
        "OPENAI_API_KEY": "none",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "HF_HUB_OFFLINE": "1",
    }
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            suite(folder, "asking", SUITE, options.prompts)
            shutil.copy(folder / "asking/pytest.ini", folder)
            names = list(commands(folder, "", options, most))
            for name in names:
                server = subprocess.Popen(
                    [sys.executable, str(HERE / "server.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
                assert server.stdout is not None
                url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
                cost = run(commands(folder, url, options, most)[name](), folder, url, options.prompts, quiet)
                server.communicate()
                if cost is None:
                    continue
                costs.setdefault(name, []).append(cost)
                milliseconds = 1000 * cost.cpu / options.prompts
                print(f"{name:12} {cost.rate:7.0f}/s {cost.wall:7.1f} s {milliseconds:6.2f} ms CPU", flush=True)
    print(f"medians, {options.prompts:,} prompts, {most} under way")
    bare, bare_wall = (statistics.median(getattr(cost, what) for cost in costs["bare"]) for what in ("rate", "wall"))
    for name, all_of in costs.items():
        rate, wall, cpu = (
            statistics.median(getattr(cost, what) for cost in all_of) for what in ("rate", "wall", "cpu")
        )
        milliseconds = 1000 * cpu / options.prompts
        print(
            f"  {name:12} {rate:7.0f}/s = {rate / bare:5.2f} of bare; {wall:6.1f} s = {wall / bare_wall:5.2f} of bare, "
            f"{milliseconds:5.2f} ms CPU",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompts", type=int, default=2000)
    parser.add_argument("--under-way", type=int, nargs="+", default=[64, 512])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=FOLDER")
    options = parser.parse_args()
    for most in options.under_way:
        measure(options, most)


if __name__ == "__main__":
    main()
