"""lm-evaluation-harness's own runs of tasks, in a process of their own: ``lm_eval_runs.py CHAT/TASK/... ...``.

Each writes ``scores-CHAT.json``: the results of its tasks, by lm_eval's names.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import lm_eval.evaluator
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

sys.path.insert(0, ".")
import hashed  # type: ignore[import-not-found]


class HashedLM(LM):  # type: ignore[misc]
    """The model of `hashed`; answers to equal contexts are repetitions."""

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        return [hashed.likelihood(*request.args) for request in requests]

    def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
        return [hashed.likelihood("", request.args[0])[0] for request in requests]

    def generate_until(self, requests: list[Any]) -> list[str]:
        repetitions: Counter[str] = Counter()
        answers = []
        for request in requests:
            context, settings = request.args
            text = hashed.answer(context, repetitions[context])
            repetitions[context] += 1
            for sequence in settings["until"]:
                text = text.split(sequence)[0]
            answers.append(text)
        return answers

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return str(hashed.template(chat_history))

    def chat_template(self, chat_template: Any = False) -> str:
        return ""

    @property
    def tokenizer_name(self) -> str:
        return "hashed"


def evaluate(chat: str, *names: str) -> None:
    """Evaluate tasks, as a chat if ``chat`` is "chat", and write their results."""
    lm_eval.evaluator.add_env_info = lambda results: None  # it lists all packages by pip, which takes a second
    manager = TaskManager(include_defaults=False, include_path="tasks")
    settings: dict[str, Any] = {"apply_chat_template": chat == "chat", "bootstrap_iters": 0, "log_samples": False}
    tasks = [f"local_{name}" for name in names]
    # A seed of torch would import it.
    results = simple_evaluate(HashedLM(), tasks=tasks, task_manager=manager, torch_random_seed=None, **settings)
    Path(f"scores-{chat}.json").write_text(json.dumps(results["results"], default=str), encoding="utf-8")


if __name__ == "__main__":
    for run in sys.argv[1:]:
        evaluate(*run.split("/"))
