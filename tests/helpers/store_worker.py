"""A process that works through a list with others: it prints each key that it asks for, and writes the answer.

``python working.py PLACE KEYS``: keys ``0`` to ``KEYS - 1``, each of which takes some milliseconds to answer.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.store.location import parse_location
from pytest_fairness.store.store import CompletedAttempt, Store


def work(store: Store, keys: list[str]) -> None:
    completed: list[CompletedAttempt] = []
    left = set(keys)
    while left or completed:
        wanted = random.sample(sorted(left), min(8, len(left)))
        turn = store.sync("run", completed=completed, wanted=wanted)
        store.release_dead(turn.foreign.values())
        left -= turn.answered.keys() | turn.claimed
        completed = []
        for key in sorted(turn.claimed):
            print(key, flush=True)
            answer = Answer(f"answer to {key}", "stop", "", {"output": 1}, 0.1, "m-1")
            completed.append(
                CompletedAttempt(Attempt(key, 0, answer), "m", f"p{key}", [{"role": "user", "content": key}])
            )
        time.sleep(0.005)


if __name__ == "__main__":
    opened = Store(parse_location(sys.argv[1], Path()))
    opened.runs.start("run")
    print("ready", flush=True)
    sys.stdin.readline()
    work(opened, [str(number) for number in range(int(sys.argv[2]))])
    opened.close()
