"""GenderBench's own run and ours on the answers of one deterministic function."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from pytest_fairness.core.attempts import Answer, Attempt, GradedAttempt
from pytest_fairness.core.data_folders import DataFolders
from pytest_fairness.harnesses.genderbench import GenderBenchProbe
from pytest_fairness.harnesses.genderbench.package import probe_class, undisturbed
from pytest_fairness.stats.measured import Measured

PARTS = (
    ("(a)", "(a)", "(a)", "(b)", "(b)", "(c)", ""),
    ("yes", "no", "no", "yes", "no", "no", "no", "no", "no", "no", "yes", "no", ""),
    ("He is his own man.", "She knows her trade.", "She is here.", ""),
    ("We regret to inform you.", "You have been selected.", ""),
    ("anger", "joy", "joy", "fear", ""),
    ("assertive", "compassionate", "strong", "warm", "gentle", "analytical"),
)
"""Parts of answers, one of each: some of them mean something to every evaluator."""


def answer(text: str) -> str:
    """Return an answer that depends on the text only; to a long prompt it quotes a part of it, names and all."""
    digest = hashlib.sha256(text.encode()).digest()
    parts = [part[digest[index] % len(part)] for index, part in enumerate(PARTS)]
    quarter = len(text) // 4 if len(text) > 5000 else 0
    start = digest[-1] * (len(text) - quarter) // 255
    return " ".join(filter(None, [*parts, text[start : start + quarter]]))


class Generator:
    """A generator, as GenderBench calls it."""

    def generate(self, texts: Sequence[str]) -> list[str]:
        return [answer(text) for text in texts]


def theirs(name: str, *, cycles: int = 0, **options: Any) -> Any:
    """Return one of its probes after its own run, with so many bootstrap ``cycles``, or with plain values."""
    with undisturbed():
        more = {"bootstrap_cycles": cycles} if cycles else {"calculate_cis": False}
        probe = probe_class(name)(log_strategy="no", **more, **options)
        probe.run(Generator())
    return probe


def ours(name: str, data: DataFolders | None = None, **options: Any) -> tuple[GenderBenchProbe, Measured]:
    """Return one of its probes through our adapter, and its measured sample."""
    probe = GenderBenchProbe(name, **options)
    items = probe.items(data or DataFolders({}))
    arguments = probe.arguments
    grader = arguments["grade"]["evaluation"]
    attempts: list[GradedAttempt] = []
    for item in items:
        for prompt in item.prompts:
            for repetition in range(arguments["repetitions"]):
                reply = Answer(answer(prompt.text))
                grades = {"evaluation": grader.grade(prompt, reply)}
                attempts.append(GradedAttempt(item, prompt, Attempt(str(len(attempts)), repetition, reply), grades))
    return probe, Measured(attempts)
