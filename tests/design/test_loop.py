"""The loop: what it proposes, keeps, stops at, goes on from and explains."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_fairness import FairnessError
from pytest_fairness.design import (
    EMOTION,
    BestOfLearned,
    BestOfTarget,
    Design,
    Front,
    Iteration,
    LinearReader,
    NumericParameter,
    OneOf,
    Optimizer,
    Proposal,
    RandomReplay,
    Space,
    Switch,
    Target,
    Whole,
    Worst,
    design,
    explained,
)
from pytest_fairness.design.designers.protocol import Task
from pytest_fairness.design.environment import EmotionParameters
from pytest_fairness.design.objectives import front_of
from pytest_fairness.design.search_space import Point

ONE = Space({"x": NumericParameter(0, 2, "the ratio itself")}, start={"x": 2.0})


def itself(point: Point, seeds: Sequence[int]) -> dict[str, Any]:
    return {"accuracy_ratio": point["x"]}


def exact(point: Point, seeds: Sequence[int]) -> dict[str, float]:
    """Return the figures of a linear reader in closed form."""
    parameters = EmotionParameters(**point)  # type: ignore[arg-type]
    ours, theirs = (LinearReader().exact_accuracy(parameters, group) for group in ("alexithymic", "neurotypical"))
    return {"accuracy_ratio": ours / theirs, "accuracy": (ours + theirs) / 2, "calibration_error": 1 - theirs}


class Scripted:
    """Designer that proposes a list of points, in order."""

    name = "told"

    def __init__(self, *points: Point | None) -> None:
        self.points = list(points)
        self.seen: list[int] = []

    def propose(self, task: Task, history: Sequence[Iteration], draws: np.random.Generator) -> Proposal:
        self.seen.append(len(history))
        return Proposal(self.points.pop(0), "as told", ("refused",))


def test_design_starts_with_the_method_parameters() -> None:
    assert list(EMOTION.start.values()) == [1.5, 0.3, 0.7, 0.1, True]


def test_design_stops_under_the_threshold_with_the_best() -> None:
    result = design(itself, ONE, designer=Scripted({"x": 1.3}, {"x": 0.98}, {"x": 1.0}))
    assert [iteration.loss for iteration in result.iterations] == pytest.approx([1.0, 0.3, 0.02])
    assert result.best.number == 3
    assert result.converged == 3
    assert result.best.reasoning == "as told"


def test_design_stops_at_the_last_iteration_with_the_best() -> None:
    result = design(itself, ONE, designer=Scripted({"x": 1.2}, {"x": 1.6}), iterations=3)
    assert (len(result.iterations), result.best.number, result.converged) == (3, 2, None)


def test_skipped_proposal_is_recorded_and_costs_an_iteration() -> None:
    designer = Scripted(None, {"x": 1.01})
    result = design(itself, ONE, designer=designer)
    assert result.iterations[1] == Iteration(2, None, "as told", ("refused",))
    assert designer.seen == [1, 2]
    assert "1 of 3 proposals were skipped: the record says why" in explained(result)


def test_proposal_outside_the_space_is_refused() -> None:
    with pytest.raises(
        FairnessError, match="told proposed what is not in the space: x is 3: it must be a number from 0"
    ):
        design(itself, ONE, designer=Scripted({"x": 3.0}))


def test_winner_is_evaluated_again_on_fresh_seeds() -> None:
    evaluated: list[tuple[int, ...]] = []

    def noisy(point: Point, seeds: Sequence[int]) -> dict[str, float]:
        evaluated.append(tuple(seeds))
        return {"accuracy_ratio": 1.1 + float(np.mean([np.random.default_rng(seed).normal(0, 0.1) for seed in seeds]))}

    gaps = []
    for seed in range(20):
        evaluated.clear()
        result = design(noisy, ONE, designer=BestOfTarget(), threshold=1e-9, iterations=15, seed=seed, fresh=200)
        searched = {seed for seeds in evaluated[:-1] for seed in seeds}
        assert len(searched) == 15
        assert evaluated[-1] == result.fresh_seeds
        assert searched.isdisjoint(result.fresh_seeds)
        gaps.append((result.best.loss, result.fresh_losses[0]))
    seen, true = np.array(gaps).mean(axis=0)
    assert seen < 0.03
    assert true == pytest.approx(0.1, abs=0.01)


def of(path: Path, **options: Any) -> Design:
    return design(exact, EMOTION, designer=RandomReplay(), iterations=6, threshold=1e-9, record=path, **options)


def test_stopped_design_resumes_to_the_same_end(tmp_path: Path) -> None:
    path = tmp_path / "design.jsonl"
    whole = of(path)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(lines) == 7
    path.write_text("".join(lines[:4]) + lines[4][:30], encoding="utf-8")  # killed while it wrote
    seen: list[int] = []
    again = of(path, resume=True, on_iteration=lambda iteration: seen.append(iteration.number))
    assert seen == [4, 5, 6]
    assert [iteration.document() for iteration in again.iterations] == [
        iteration.document() for iteration in whole.iterations
    ]
    assert path.read_text(encoding="utf-8") == "".join(lines)


def test_each_iteration_is_written_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "design.jsonl"
    lines: list[dict[str, Any]] = []

    def last(_: Iteration) -> None:
        lines.append(json.loads(path.read_text(encoding="utf-8").splitlines()[-1]))

    of(path, on_iteration=last)
    assert [line["iteration"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert lines[0]["reasoning"] == "the first parameters"
    assert set(lines[0]["figures"]["accuracy_ratio"]) == {"value", "low", "high", "seeds_low", "seeds_high"}


def test_record_of_another_design_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "design.jsonl"
    of(path)
    with pytest.raises(
        FairnessError, match=r"is there already: continue it by --resume, or name another file by --out$"
    ):
        of(path)
    with pytest.raises(FairnessError, match=r"is the record of another design, by its seed: name another file$"):
        of(path, resume=True, seed=1)
    path.write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(FairnessError, match="is the record of another design"):
        of(path, resume=True)


def test_objective_requires_its_figures() -> None:
    with pytest.raises(FairnessError, match="the benchmark gives no 'accuracy', which the objective needs"):
        design(itself, ONE, objective=Worst(0.8))
    with pytest.raises(FairnessError, match="a figure is 'much': it must be a number"):
        design(lambda point, seeds: {"accuracy_ratio": "much"}, ONE)


def test_figure_without_a_value_cannot_win() -> None:
    with pytest.raises(FairnessError, match="none of 2 proposals could be evaluated"):
        design(lambda point, seeds: {"accuracy_ratio": float("nan")}, ONE, designer=Scripted({"x": 1.0}), iterations=2)


def test_explanation_describes_the_best_parameters() -> None:
    lines = explained(design(exact, EMOTION, designer=BestOfTarget(), iterations=8, threshold=1e-9))
    assert any(line.startswith("  prosody ratio = ") for line in lines)
    assert any("; chosen in " in line and "of 8 iterations" in line for line in lines)
    assert any(line.startswith("gap under 10%: in iteration ") for line in lines)


def test_optimizer_finds_a_target() -> None:
    steps = []
    for seed in range(3):
        result = design(exact, EMOTION, objective=Target(1.1), iterations=15, threshold=0.02, seed=seed)
        steps.append(len(result.iterations) if result.best.loss < 0.02 else 99)
    assert np.median(steps) <= 8


@pytest.mark.slow
def test_optimizer_finds_the_worst_case() -> None:
    draws = np.random.default_rng(0)
    worst = Worst(0.85)
    seen = [exact(EMOTION.drawn(draws), ()) for _ in range(4000)]
    optimum = 1 - min(float(worst.losses({k: np.array(v) for k, v in arguments.items()})[0]) for arguments in seen)
    result = design(exact, EMOTION, objective=worst, iterations=14)
    assert 1 - result.best.loss >= 0.95 * optimum
    assert result.best.figures["accuracy"].value >= 0.85


@pytest.mark.slow
def test_several_objectives_give_a_pareto_front() -> None:
    result = design(exact, EMOTION, objective=Front(target=1.1), iterations=8)
    losses = np.array([iteration.losses for iteration in result.iterations])
    assert losses.shape == (8, 3)
    assert {iteration.number for iteration in result.front} == {1 + index for index in front_of(losses.T)}
    for iteration in result.front:
        assert not any(np.all(other <= iteration.losses) and np.any(other < iteration.losses) for other in losses)


@pytest.mark.slow
def test_learned_designer_improves_on_chance() -> None:
    """Check that proposals beat chance once the model has learned, on a loss that follows one parameter."""
    numbers: dict[str, Any] = {name: NumericParameter(0, 1, name) for name in ("a", "b", "c")}
    space = Space(numbers, dict.fromkeys(numbers, 0.5))
    after = []
    for seed in range(2):
        result = design(
            lambda point, seeds: {"accuracy_ratio": 1 + float(point["a"])},
            space,
            designer=BestOfLearned(),
            iterations=9,
            threshold=1e-9,
            seed=seed,
        )
        after += [iteration.loss for iteration in result.iterations[5:]]
    assert np.mean(after) < 0.3


def test_replay_designer_returns_to_good_points() -> None:
    result = design(itself, ONE, designer=RandomReplay(), iterations=30, threshold=1e-9)
    replayed = [iteration for iteration in result.iterations if iteration.reasoning.startswith("near")]
    drawn = [iteration for iteration in result.iterations if iteration.reasoning == "drawn at random"]
    assert 8 <= len(replayed) <= 22
    assert np.median([iteration.loss for iteration in replayed]) < np.median([iteration.loss for iteration in drawn])


def test_space_validates_values() -> None:
    space = Space(
        {
            "years": Whole(2, 15, "of experience"),
            "evidence": OneOf(("portfolio", "certificate", "none"), "in the CV"),
            "gap": Switch("in the CV"),
        },
        start={"years": 5, "evidence": "none", "gap": False},
    )
    draws = np.random.default_rng(1)
    points = [space.drawn(draws) for _ in range(300)]
    assert all(space.wrong(point) == [] for point in points)
    assert all(space.wrong(space.near(point, 0.3, draws)) == [] for point in points)
    assert {point["years"] for point in points} == set(range(2, 16))
    assert space.coordinates(points).shape == (300, 5)
    assert space.wrong({"years": 5.0, "evidence": "lies", "gap": 1, "age": 3}) == [
        "years is 5.0: it must be a whole number from 2 to 15",
        "evidence is 'lies': it must be one of portfolio, certificate, none",
        "gap is 1: it must be true or false",
        "'age' is no parameter; known: evidence, gap, years",
    ]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "0.7", None, 2.1, -0.1])
def test_number_parameter_refuses_values_out_of_range(value: object) -> None:
    assert ONE.wrong({"x": value})


def test_designer_names_are_unique() -> None:
    assert len({designer.name for designer in (Optimizer(), RandomReplay(), BestOfTarget(), BestOfLearned())}) == 4
