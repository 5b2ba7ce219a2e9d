"""Items chosen with probabilities by their history, against a uniform sample: a method that the product does not have.

    python tests/benchmarks/chosen_items.py --runs 2000

Items are drawn by priority sampling (Duffield, Lund and Thorup 2007, Journal of the ACM 54:6): of all ways to draw a
fixed number with unequal probabilities it has weights that are exactly unbiased. An item's size mixes a floor with what
it is expected to add to the error, by the influences that it had in earlier models' estimates; estimates are weighted,
and their intervals are Student's t over items. Data and histories are those of history.py, with questions as clusters.
`calls` is the squared error over that of the uniform sample: how many calls the same precision takes. Prints a table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.history import _truth
from tests.benchmarks.history_matrices import DATA, MATRICES, Answers, Matrix

FLOORS = (0.5, 0.1)
PRIOR = 2.0
"""Models whose influences are all alike, added to those of the history."""


def _sums(matrix: Matrix, answers: Answers) -> tuple[Any, Callable[[Any], Any]]:
    """Return sums of each item, shape (items, names), and the metric as a function of their totals."""
    if "biased" in answers:
        columns = [answers[name][:, 0] for name in ("biased", "answered", "weighed")]
        return np.column_stack(columns), lambda s: (2 * s[..., 0] - s[..., 1]) / s[..., 2]
    (values,) = answers.values()
    if values.shape[1] == 2 and "hired" in answers:
        return values, lambda s: np.log(s[..., 0] / s[..., 1])
    first = values[:, 0] - values[:, 1] if values.shape[1] == 2 else values[:, 0]
    return np.column_stack([first, np.ones(len(first))]), lambda s: s[..., 0] / s[..., 1]


def _influences(sums: Any, metric: Callable[[Any], Any], weights: Any) -> Any:
    """Return what each item adds to the error of the weighted estimate, by the jackknife."""
    weighted = sums * weights[:, np.newaxis]
    whole = weighted.sum(axis=0)
    without = metric(whole - weighted)
    return (without.mean() - without) * np.sqrt((len(sums) - 1) / len(sums))


def _sizes(earlier: Any, floor: float) -> Any:
    """Return sizes of items, with mean 1: a floor, and the root mean square of their influences in earlier models."""
    squares = np.square(earlier)
    scale = squares.mean(axis=1, keepdims=True)
    squares = np.divide(squares, scale, out=np.ones_like(squares), where=scale > 0)
    expected = np.sqrt((squares.sum(axis=0) + PRIOR) / (len(earlier) + PRIOR))
    return floor + (1 - floor) * expected / expected.mean()


def _drawn(sizes: Any, count: int, generator: np.random.Generator) -> tuple[Any, Any]:
    """Return ``count`` items and one over the probability with which each was drawn."""
    priorities = sizes / generator.random(len(sizes))
    order = np.argsort(-priorities)
    chosen = order[:count]
    return chosen, np.maximum(1.0, priorities[order[count]] / sizes[chosen])


def _row(name: str, matrix: Matrix, model: str, history: str, floor: float, options: argparse.Namespace) -> str:
    generator = np.random.default_rng(options.seed)
    truth = _truth(matrix, model)
    truth = float(np.log(truth)) if "ratio" in name else truth
    estimates: dict[str, list[tuple[float, float]]] = {"uniform": [], "chosen": []}
    for _ in range(options.runs):
        models = dict(matrix.models if matrix.redraw is None else matrix.redraw(generator))
        total = len(matrix.clusters)
        rows = np.arange(total) if matrix.redraw is not None else generator.integers(0, total, total)
        count = min(options.items, total // 3)
        sums, metric = _sums(matrix, {grade: values[rows] for grade, values in models.pop(model).items()})
        earlier = []
        for answers in models.values():
            those, of = _sums(matrix, {grade: values[rows] for grade, values in answers.items()})
            earlier.append(_influences(those, of, np.ones(total)))
        influences = np.array(earlier)
        if history == "wrong":
            influences = influences[:, generator.permutation(total)]
        elif history == "adversarial":  # the items that matter are those expected to matter least
            own = np.abs(_influences(sums, metric, np.ones(total)))
            influences = (own.max() - own)[np.newaxis]
        for kind, sizes in (("uniform", np.ones(total)), ("chosen", _sizes(influences, floor))):
            items, weights = _drawn(sizes, count, generator)
            item_sums = sums[items]
            value = float(metric((item_sums * weights[:, np.newaxis]).sum(axis=0)))
            error = float(np.sqrt(np.square(_influences(item_sums, metric, weights)).sum()))
            estimates[kind].append((value, error))
    reach = -float(stdtrit(count - 1, 0.025))
    uniform, ours = (np.array(estimates[kind]) for kind in ("uniform", "chosen"))
    ratio = np.mean(np.square(ours[:, 1])) / np.mean(np.square(uniform[:, 1]))
    below, above = (np.mean(side * (truth - ours[:, 0]) > reach * ours[:, 1]) for side in (-1, 1))
    return f"| {name} | {model} | {history} | {floor} | {count} | {ratio:.2f} | {below:.1%} / {above:.1%} |"


def rows(options: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| data | model | history | floor | items | calls, ratio | misses |\n|---|---|---|---|---|---|---|"
    for name, make in MATRICES.items():
        if options.cells not in name or "template" in name or "unpaired" in name:
            continue
        if not (name.startswith("simulated") or DATA.is_dir()):
            continue
        matrix = make()
        model = next(iter(matrix.models))
        for history in ("right", "wrong", "adversarial"):
            for floor in FLOORS:
                yield _row(name, matrix, model, history, floor, options)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--items", type=int, default=150)
    parser.add_argument("--cells", default="", help="only data whose name holds this text")
    parser.add_argument("--seed", type=int, default=0)
    for line in rows(parser.parse_args()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
