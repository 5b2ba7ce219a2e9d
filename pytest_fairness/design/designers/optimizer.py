"""The embedded designer: Bayesian optimization that needs no key."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.design.designers.protocol import Proposal, Task, evaluated
from pytest_fairness.design.objectives import Floats
from pytest_fairness.design.records import Iteration
from pytest_fairness.design.search_space import Point


class Optimizer:
    """A Gaussian process of scikit-learn for each figure that the objective looks at, and the expected improvement.

    It learns the signed figures (rho itself), not the loss: |rho - target| has a kink just where the answer lies, and a
    process of rho knows on which side of the target a point is. What the objective makes of the figures is taken over
    draws (R. Astudillo and P. Frazier, "Bayesian Optimization of Composite Functions", ICML 2019). Several ends are
    weighted at random each time (J. Knowles, "ParEGO", IEEE Transactions on Evolutionary Computation 10, 2006).

    Needs `./pytest-fairness[design]`.
    """

    name = "optimizer"
    _FIRST = 4
    """Evaluations before it learns: the start, and points that fill the space."""
    _CANDIDATES = 1024
    _NEAR = 256
    _DRAWS = 128

    def propose(self, task: Task, history: Sequence[Iteration], draws: np.random.Generator) -> Proposal:
        points, losses = evaluated(history)
        finished = [iteration for iteration in history if iteration.losses and np.all(np.isfinite(iteration.losses))]
        if len(finished) < self._FIRST:
            return Proposal(self._furthest(task, points, draws), "far from all that was seen")
        candidates = self._candidates(task, points, losses, draws)
        values, expected = self._expected(task, finished, [*candidates, *points], draws)
        weights = draws.dirichlet(np.ones(losses.shape[1]))
        # What was seen has noise: to be improved on is what the process makes of it.
        best = _weighted(task.objective.losses(expected), weights)[len(candidates) :].min()
        drawn = _weighted(task.objective.losses(values), weights)[:, : len(candidates)]
        improvement = np.maximum(best - drawn, 0).mean(axis=0)
        # Where nothing promises to improve, what is closest to it.
        index = int(np.argmax(improvement)) if improvement.max() > 0 else int(np.argmin(drawn.mean(axis=0)))
        figures = ", ".join(f"{name} {mean[index]:.3f}" for name, mean in expected.items())
        return Proposal(candidates[index], f"expected there: {figures}")

    def _furthest(self, task: Task, points: list[Point], draws: np.random.Generator) -> Point:
        """Return the random point that is furthest from those seen."""
        candidates = [task.space.drawn(draws) for _ in range(self._NEAR)]
        if not points:
            return candidates[0]
        apart = task.space.coordinates(candidates)[:, np.newaxis] - task.space.coordinates(points)
        return candidates[int(np.argmax(np.square(apart).sum(axis=2).min(axis=1)))]

    def _candidates(self, task: Task, points: list[Point], losses: Floats, draws: np.random.Generator) -> list[Point]:
        from scipy.stats import qmc  # type: ignore[import-untyped]

        best = points[int(np.argmin(losses.sum(axis=1)))]
        shares = qmc.Sobol(len(task.space.parameters), scramble=True, seed=draws).random(self._CANDIDATES)
        steps = 10 ** draws.uniform(-2.5, -0.5, self._NEAR)
        return [*map(task.space.at, shares), *(task.space.near(best, step, draws) for step in steps)]

    def _expected(
        self, task: Task, finished: Sequence[Iteration], candidates: list[Point], draws: np.random.Generator
    ) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return for each figure draws at the candidates, shape (draws, candidates), and their mean."""
        at = task.space.coordinates(candidates)
        values: dict[str, Floats] = {}
        means: dict[str, Floats] = {}
        seen = task.space.coordinates(
            [iteration.parameters for iteration in finished if iteration.parameters is not None]
        )
        for name in task.objective.figures:
            means[name], errors = _process(
                seen, np.array([iteration.figures[name].value for iteration in finished]), at
            )
            values[name] = means[name] + errors * draws.standard_normal((self._DRAWS, 1))
        return values, means


def _weighted(losses: Floats, weights: Floats) -> Floats:
    """Return losses of several ends as one number: Chebyshev's, with a little of their sum."""
    scaled = weights.reshape(-1, *[1] * (losses.ndim - 1)) * losses
    together: Floats = scaled.max(axis=0) + 0.05 * scaled.sum(axis=0)
    return together


def _process(seen: Floats, values: Floats, at: Floats) -> tuple[Floats, Floats]:
    """Return means of a Gaussian process at other points, and their errors: what another look there could teach."""
    try:
        from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]
        from sklearn.gaussian_process import GaussianProcessRegressor  # type: ignore[import-untyped]
        from sklearn.gaussian_process.kernels import (  # type: ignore[import-untyped]
            ConstantKernel,
            Matern,
            WhiteKernel,
        )
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError as missing:
        raise FairnessError("the optimizer needs scikit-learn: pip install './pytest-fairness[design]'") from missing
    lengths = Matern(np.full(seen.shape[1], 1.0), (0.2, 20.0), nu=2.5)
    kernel = ConstantKernel(1.0, (0.05, 20.0)) * lengths + WhiteKernel(1e-3, (1e-8, 0.3))
    process = GaussianProcessRegressor(kernel, normalize_y=True)
    # On matrices this small more threads cost time, and could change the last digits.
    with warnings.catch_warnings(), threadpool_limits(1):
        # Few points leave some lengths undecided: they end at a bound, which is meant.
        warnings.simplefilter("ignore", ConvergenceWarning)
        process.fit(seen, values)
        mean, error = process.predict(at, return_std=True)
    noise = process.kernel_.k2.noise_level * (values.var() or 1.0)
    return mean, np.sqrt(np.maximum(error**2 - noise, 0))
