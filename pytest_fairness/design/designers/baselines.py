"""Baseline designers: random search with prioritized replay, and the best of N, by the student or by a predictor.

They are those of Dsouza et al., "Automating Benchmark Design", arXiv:2510.25039, each with as many evaluations of the
student as any other designer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_fairness.design.designers.protocol import Proposal, Task, evaluated
from pytest_fairness.design.records import Iteration


class RandomReplay:
    """RS+PPR: random parameters, or with probability 0.5 parameters near some that were evaluated before.

    Replay is prioritized as in M. Jiang, E. Grefenstette and T. Rocktäschel, "Prioritized Level Replay", ICML 2021: by
    the rank of the loss, with probabilities proportional to 1/rank. The student does not change, so a replay of equal
    parameters would waste an evaluation: they are moved by a normal step of a tenth of each range (a switch flips with
    probability 0.1).
    """

    name = "rs-ppr"
    _REPLAY = 0.5
    _STEP = 0.1

    def propose(self, task: Task, history: Sequence[Iteration], draws: np.random.Generator) -> Proposal:
        points, losses = evaluated(history)
        if not points or draws.random() >= self._REPLAY:
            return Proposal(task.space.drawn(draws), "drawn at random")
        ranks = 1 + np.argsort(np.argsort(losses[:, 0]))
        index = int(draws.choice(len(points), p=(1 / ranks) / (1 / ranks).sum()))
        moved = task.space.near(points[index], self._STEP, draws)
        return Proposal(moved, f"near the parameters that are number {ranks[index]} of those seen")


class BestOfTarget:
    """BoN-TM: N candidates at random, each evaluated by the target model (the student); the best is taken."""

    name = "bon-tm"

    def propose(self, task: Task, history: Sequence[Iteration], draws: np.random.Generator) -> Proposal:  # noqa: ARG002
        return Proposal(task.space.drawn(draws), "drawn at random")


class BestOfLearned:
    """BoN-ML: of 64 random candidates the one with the least predicted loss.

    The predictor is a random forest of 100 trees, trained on all evaluations so far for each proposal. The
    first 40% of the evaluations are random, as its training data.
    """

    name = "bon-ml"
    _CANDIDATES = 64
    _TREES = 100
    _SHARE = 0.4

    def propose(self, task: Task, history: Sequence[Iteration], draws: np.random.Generator) -> Proposal:
        points, losses = evaluated(history)
        if len(points) < max(2, self._SHARE * task.iterations):
            return Proposal(task.space.drawn(draws), "drawn at random, for the predictor to learn from")
        from sklearn.ensemble import RandomForestRegressor  # type: ignore[import-untyped]

        forest = RandomForestRegressor(self._TREES, random_state=int(draws.integers(2**31)))
        forest.fit(task.space.coordinates(points), losses[:, 0])
        candidates = [task.space.drawn(draws) for _ in range(self._CANDIDATES)]
        expected = forest.predict(task.space.coordinates(candidates))
        index = int(np.argmin(expected))
        return Proposal(
            candidates[index], f"the best of {self._CANDIDATES}: a loss of {expected[index]:.3f} is expected"
        )
