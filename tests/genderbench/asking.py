"""GenderBench's own run and ours on the answers of one deterministic function."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_fairness.core.attempts import Answer, Attempt, GradedAttempt
from pytest_fairness.genderbench import GenderBenchProbe
from pytest_fairness.genderbench.package import probe_class, undisturbed
from pytest_fairness.stats.measured import Measured

PARTS = (
    ("(a)", "(a)", "(a)", "(b)", "(b)", "(c)", ""),
    ("yes", "no", "no", "yes", "no", "no", "no", "no", "no", "no", "yes", "no", ""),
    ("He is his own man.", "She knows her trade.", "She is here.", ""),
    ("We regret to inform you.", "You have been selected.", ""),
    ("anger", "joy", "joy", "fear", ""),
    ("assertive", "compassionate", "strong", "warm", "gentle", "analytical"),
)
"""What an answer is put together from, one of each: some of it means something to every evaluator."""


def answer(text: str) -> str:
    """An answer that the text alone decides; to a long prompt it quotes a part of it, names and all."""
    digest = hashlib.sha256(text.encode()).digest()
    said = [part[digest[place] % len(part)] for place, part in enumerate(PARTS)]
    quarter = len(text) // 4 if len(text) > 5000 else 0
    start = digest[-1] * (len(text) - quarter) // 255
    return " ".join(filter(None, [*said, text[start : start + quarter]]))


class Generator:
    """What GenderBench asks."""

    def generate(self, texts: Sequence[str]) -> list[str]:
        return [answer(text) for text in texts]


class Folder:
    """The data folder that a user names; None for one that names none."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path

    def folder(self, suite: str) -> Path | None:
        return self.path

    def hub(self, suite: str) -> bool:
        return False


def theirs(name: str, *, cycles: int = 0, **options: Any) -> Any:
    """One of its probes after its own run; ``cycles`` of its bootstrap, or none and plain values."""
    with undisturbed():
        more = {"bootstrap_cycles": cycles} if cycles else {"calculate_cis": False}
        probe = probe_class(name)(log_strategy="no", **more, **options)
        probe.run(Generator())
    return probe


def ours(name: str, data: Folder | None = None, **options: Any) -> tuple[GenderBenchProbe, Measured]:
    """One of its probes as ours, and what it measures."""
    probe = GenderBenchProbe(name, **options)
    items = probe.items(data or Folder())
    arguments = probe.arguments
    grader = arguments["grade"]["evaluation"]
    attempts: list[GradedAttempt] = []
    for item in items:
        for prompt in item.prompts:
            for repetition in range(arguments["repetitions"]):
                said = Answer(answer(prompt.text))
                grades = {"evaluation": grader.grade(prompt, said)}
                attempts.append(GradedAttempt(item, prompt, Attempt(str(len(attempts)), repetition, said), grades))
    return probe, Measured(attempts)
