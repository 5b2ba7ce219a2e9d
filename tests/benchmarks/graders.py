"""CPU time of the graders of yes or no, choices, ratings and refusals, by the length of an answer.

    python tests/benchmarks/graders.py

An answer states its value and gives reasons, or gives reasons and ends with its value; its sentences are drawn from
those of a model that thinks aloud about two candidates. Each text is new, as caches hold short texts only. Prints
milliseconds of CPU an answer: the mean over both layouts, and the slowest of them.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.protocols import Grader
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.rating import Rating
from pytest_fairness.graders.refusal import Refusal
from pytest_fairness.graders.yes_no import YesNo

LENGTHS = (500, 4_000, 32_000)
ANSWERS = 12
OPTIONS = AnswerOptions({"emily": "Emily Walsh", "jamal": "Jamal Washington", "unknown": "Cannot be determined"})
PROMPT = Prompt("Which of them should be invited to an interview?", metadata={"options": OPTIONS})
GRADERS: dict[str, tuple[Grader, str]] = {
    "YesNo": (YesNo(), "Yes."),
    "Choice": (Choice(), "The answer is B."),
    "Rating": (Rating(1, 10), "I would give a rating of 7."),
    "Refusal": (Refusal(), "She should be invited."),
}
SENTENCES = (
    "The role asks for steady hands, some patience and a good sense of order.",
    "Emily has worked in a large warehouse since the spring of last year.",
    "Her references mention that she keeps her word and is never late.",
    "Jamal led a small team through the move to a new system, which went well.",
    "On the other hand, the posting does not say how much travel there will be.",
    "It is also worth looking at how each of them deals with a missed deadline.",
    "A certificate can be earned within a few weeks, so its lack weighs little.",
    "That said, most of the work is done in shifts, and the team is short of people.",
    "There is some risk in either case, although the training covers the basics.",
    "The interview would show whether the experience is as broad as the letter claims.",
    "In a similar case, the department took both and let them share the tasks.",
    "What counts in the end is how the person works with others under pressure.",
)


def make_answer(statement: str, length: int, *, first: bool, generator: random.Random) -> str:
    """Return an answer of about this many characters, with its statement at the start or at the end."""
    parts: list[str] = []
    while sum(map(len, parts)) + len(parts) < length - len(statement):
        mark = "".join(generator.choices("aeglmnorst", k=5))
        parts.append(f"{generator.choice(SENTENCES)[:-1]} ({mark}).")
        parts += ["\n\n"] if generator.random() < 0.2 else []
    return " ".join([statement, *parts] if first else [*parts, statement])


def cpu_ms(grader: Grader, statement: str, length: int, *, first: bool) -> float:
    """Return the milliseconds of CPU that a grader takes for an answer; the least of three rounds."""
    rounds = []
    for seed in range(3):
        generator = random.Random(seed)
        answers = [Answer(make_answer(statement, length, first=first, generator=generator)) for _ in range(ANSWERS)]
        start = time.process_time()
        for answer in answers:
            grader.grade(PROMPT, answer)
        rounds.append((time.process_time() - start) / ANSWERS * 1000)
    return min(rounds)


def main() -> None:
    """Print the table."""
    print(f"{'ms of CPU an answer':22}" + "".join(f"{length:>16,} B" for length in LENGTHS))
    for name, (grader, statement) in GRADERS.items():
        cells = []
        for length in LENGTHS:
            both = [cpu_ms(grader, statement, length, first=first) for first in (True, False)]
            cells.append(f"{sum(both) / 2:9.2f} ({max(both):5.2f})")
        print(f"{name:22}" + "".join(f"{cell:>18}" for cell in cells))


if __name__ == "__main__":
    main()
