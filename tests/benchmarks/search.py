"""Detection rate and calls of the search for the one word that flips a decision; its reports on fair models.

    python tests/benchmarks/search.py --seeds 50

Each seed draws the vocabulary's word, the model's draws and hypothesis' own. The fair models decide on every
text with the same probability, each repetition by itself. Every run uses the generation and shrinker of hypothesis.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from statistics import median
from typing import Any

from hypothesis import strategies as st

from pytest_fairness import Prompt
from pytest_fairness.search import counterfactual_pairs
from tests.helpers.flip_searches import CountingModel, run

WORDS = [
    "archery", "astronomy", "baking", "ballet", "baseball", "basketball", "bowling", "boxing", "calligraphy",
    "camping", "canoeing", "carpentry", "cello", "chess", "choir", "climbing", "cooking", "cricket", "cycling",
    "dancing", "darts", "drawing", "drums", "embroidery", "fencing", "fishing", "football", "gardening", "golf",
    "guitar", "gymnastics", "hiking", "hockey", "judo", "juggling", "karate", "knitting", "lacrosse", "origami",
    "painting", "photography", "pottery", "reading", "rowing", "rugby", "running", "sailing", "skiing", "squash",
    "swimming",
]  # fmt: skip
ONE = "The candidate has worked in accounts for six years. Outside work: {hobby}. Should they be invited? Yes or no."
TWO = "{name} has worked in accounts for {years} years. Outside work, {they} {likes|like} {hobby}. Invite {them}?"
MANY = "The candidate lists these words about themselves: {words}. Should they be invited? Yes or no."
NAMES = {"Emily Walsh": "female", "James Novak": "male", "Robin Hay": "nonbinary", "Maria Lopez": "female"}
SPACES: dict[str, tuple[str, dict[str, Any]]] = {
    "one word": (ONE, {"hobby": WORDS}),
    "three slots": (TWO, {"name": NAMES, "years": [str(number) for number in range(2, 12)], "hobby": WORDS}),
    "1 to 120 words": (MANY, {"words": st.lists(st.sampled_from(WORDS), min_size=1, max_size=120)}),
    "120 words": (MANY, {"words": st.lists(st.sampled_from(WORDS), min_size=120, max_size=120)}),
}


def words_of(prompt: Prompt) -> set[str]:
    return {word.strip(".,?:") for word in prompt.text.split()}


def flipping(word: str, noise: float) -> Callable[[str, float], str]:
    def decides(text: str, draw: float) -> str:
        there = word in {part.strip(".,?:") for part in text.split()}
        return "no" if there != (draw < noise) else "yes"

    return decides


def fair(base: float) -> Callable[[str, float], str]:
    return lambda text, draw: "yes" if draw < base else "no"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--examples", type=int, default=100, help="hypothesis' max_examples")
    parser.add_argument("--spaces", nargs="+", choices=SPACES, default=list(SPACES))
    given_ = parser.parse_args()
    for space in given_.spaces:
        pairs = counterfactual_pairs(*SPACES[space])
        for noise in (0.0, 0.02, 0.05, 0.1):
            detected, small, same, calls = 0, 0, 0, []
            for number in range(given_.seeds):
                chance = random.Random(f"{space}/{noise}/{number}")
                word = chance.choice(WORDS)
                model = CountingModel(flipping(word, noise), chance)
                flip, pair = run(model, pairs, number, given_.examples)
                calls.append(model.calls)
                if flip is not None:
                    apart = words_of(flip.left) ^ words_of(flip.right)
                    detected += word in apart and model.calls < 200
                    small += word in apart and len(apart) <= 2
                    same += pair is not None and pair.prompts[0].text == flip.left.text
            print(
                f"{space:>15}, {noise:4.0%} noise: found in under 200 calls {detected}/{given_.seeds}, "
                f"shrunk to one word {small}, hypothesis' example the same {same}; calls: median {median(calls):.0f}, "
                f"worst {max(calls)}",
                flush=True,
            )
    for space in given_.spaces:
        pairs = counterfactual_pairs(*SPACES[space])
        for base in (0.5, 0.7, 0.9, 0.98):
            false, calls = 0, []
            for number in range(given_.seeds):
                model = CountingModel(fair(base), random.Random(f"fair/{space}/{base}/{number}"))
                flip, _ = run(model, pairs, number, given_.examples)
                false += flip is not None
                calls.append(model.calls)
            print(
                f"{space:>15}, fair at {base:.0%}: reported {false}/{given_.seeds}; "
                f"calls: median {median(calls):.0f}, worst {max(calls)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
