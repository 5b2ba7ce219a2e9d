"""The default designer: Bayesian optimization, which needs no API key."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from pytest_fairness import FairnessError
from pytest_fairness.design.designers.protocol import Proposal, Task, evaluated
from pytest_fairness.design.objectives import Floats
from pytest_fairness.design.records import Iteration
from pytest_fairness.design.search_space import Point


class Optimizer:
    """A Gaussian process of scikit-learn for each figure that the objective looks at, and the expected improvement.

    The processes model the signed figures (rho itself), not the loss: ``|rho - target|`` has a kink at the optimum, and
    a process of rho knows on which side of the target a point is. The objective is computed on draws of the figures
    (R. Astudillo and P. Frazier, "Bayesian Optimization of Composite Functions", ICML 2019). Several objectives are
    weighted at random for each proposal (J. Knowles, "ParEGO", IEEE Transactions on Evolutionary Computation 10, 2006).

    Needs `./pytest-fairness[design]`.
    """

    name = "optimizer"
    _INITIAL = 4
    """Evaluations before the first model: the start, and points that fill the space."""
    _CANDIDATES = 1024
    _NEAR = 256
    _DRAWS = 128

    def propose(self, task: Task, history: Sequence[Iteration], draws: np.random.Generator) -> Proposal:
        points, losses = evaluated(history)
        finished = [iteration for iteration in history if iteration.losses and np.all(np.isfinite(iteration.losses))]
        if len(finished) < self._INITIAL:
            return Proposal(self._furthest_candidate(task, points, draws), "far from all that was seen")
        candidates = self._candidates(task, points, losses, draws)
        values, expected = self._predict(task, finished, [*candidates, *points], draws)
        weights = draws.dirichlet(np.ones(losses.shape[1]))
        # Evaluations have noise: the improvement is over the process's mean at the evaluated points.
        best = _scalarize(task.objective.losses(expected), weights)[len(candidates) :].min()
        drawn = _scalarize(task.objective.losses(values), weights)[:, : len(candidates)]
        improvement = np.maximum(best - drawn, 0).mean(axis=0)
        # Where no candidate is expected to improve, take the one with the least expected loss.
        index = int(np.argmax(improvement)) if improvement.max() > 0 else int(np.argmin(drawn.mean(axis=0)))
        figures = ", ".join(f"{name} {mean[index]:.3f}" for name, mean in expected.items())
        return Proposal(candidates[index], f"expected there: {figures}")

    def _furthest_candidate(self, task: Task, points: list[Point], draws: np.random.Generator) -> Point:
        """Return the random candidate that is furthest from all evaluated points."""
        candidates = [task.space.drawn(draws) for _ in range(self._NEAR)]
        if not points:
            return candidates[0]
        offsets = task.space.coordinates(candidates)[:, np.newaxis] - task.space.coordinates(points)
        return candidates[int(np.argmax(np.square(offsets).sum(axis=2).min(axis=1)))]

    def _candidates(self, task: Task, points: list[Point], losses: Floats, draws: np.random.Generator) -> list[Point]:
        from scipy.stats import qmc  # type: ignore[import-untyped]

        best = points[int(np.argmin(losses.sum(axis=1)))]
        shares = qmc.Sobol(len(task.space.parameters), scramble=True, seed=draws).random(self._CANDIDATES)
        steps = 10 ** draws.uniform(-2.5, -0.5, self._NEAR)
        return [*map(task.space.at, shares), *(task.space.near(best, step, draws) for step in steps)]

    def _predict(
        self, task: Task, finished: Sequence[Iteration], candidates: list[Point], draws: np.random.Generator
    ) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return draws of each figure at the candidates, shape (draws, candidates), and their means."""
        targets = task.space.coordinates(candidates)
        values: dict[str, Floats] = {}
        means: dict[str, Floats] = {}
        evaluated_points = task.space.coordinates(
            [iteration.parameters for iteration in finished if iteration.parameters is not None]
        )
        for name in task.objective.figures:
            means[name], errors = _fit_and_predict(
                evaluated_points, np.array([iteration.figures[name].value for iteration in finished]), targets
            )
            values[name] = means[name] + errors * draws.standard_normal((self._DRAWS, 1))
        return values, means


def _scalarize(losses: Floats, weights: Floats) -> Floats:
    """Return losses of several objectives as one number: the augmented Chebyshev scalarization."""
    scaled = weights.reshape(-1, *[1] * (losses.ndim - 1)) * losses
    scalar: Floats = scaled.max(axis=0) + 0.05 * scaled.sum(axis=0)
    return scalar


def _fit_and_predict(points: Floats, values: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Return means of a Gaussian process at other points, and their standard errors without the observation noise."""
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
    lengths = Matern(np.full(points.shape[1], 1.0), (0.2, 20.0), nu=2.5)
    kernel = ConstantKernel(1.0, (0.05, 20.0)) * lengths + WhiteKernel(1e-3, (1e-8, 0.3))
    process = GaussianProcessRegressor(kernel, normalize_y=True)
    # On matrices this small more threads are slower, and could change the last digits.
    with warnings.catch_warnings(), threadpool_limits(1):
        # With few points some length scales end at a bound, which is fine.
        warnings.simplefilter("ignore", ConvergenceWarning)
        process.fit(points, values)
        mean, error = process.predict(targets, return_std=True)
    noise = process.kernel_.k2.noise_level * (values.var() or 1.0)
    return mean, np.sqrt(np.maximum(error**2 - noise, 0))
