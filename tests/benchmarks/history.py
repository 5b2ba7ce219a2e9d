"""Samples adjusted by the answers of earlier models: calls to a verdict, and how often verdicts err.

    python tests/benchmarks/history.py --runs 400

Each run draws a bank of items with replacement (by template where templates are the clusters), and a sample of the
bank. "Plain" is the sample alone, "adjusted" the sample with the earlier answers to the whole bank. `fair` and `unfair`
are how often an end of the interval passes the truth, on either side: what a model on the bound would be called. The
ratio of calls is the size at which adjusted samples are as often inside a bound as 80% of the plain ones are.

Histories: `right` is that of other models, `wrong` is theirs for other items, `adversarial` is the opposite of the
truth, `lumpy` the truth in 3% of the items and nothing in the others, `noise` the model's own answers to other items,
`empty` the same answer to everything, `same` the model itself with 3% of its answers changed. Recorded answers come
from the folder PYTEST_FAIRNESS_DATA; where it is absent their rows are left out.

`plan` is the size that a plan made from the other models promises, over that of the plain sample, the mean of three
plans: 1 where it promises nothing. Prints a table.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness.planning.adjusted_samples import ADJUSTED_DRAWS, MOST_MEASURED, interval_width
from pytest_fairness.planning.adjusted_samples import SHARES as PLANNED
from pytest_fairness.stats.columns import Clustering, Columns
from pytest_fairness.stats.history import ClusterMap
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.selection import SampleHistory, Selection
from tests.benchmarks.history_matrices import DATA, MATRICES, Answers, Matrix

HISTORIES = ("right", "wrong", "adversarial", "lumpy", "noise", "empty", "same")
SHARES = (0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.9, 1.0, 1.2)
"""Sizes of adjusted samples that are tried, over that of the plain one."""
POWER = 0.8
LUMP = 0.03
"""The part of the items in which a lumpy history says anything."""


class Bank:
    """A bank of items drawn from a matrix, the answers of one model to it and those of its history."""

    def __init__(self, matrix: Matrix, model: str, history: str, generator: np.random.Generator) -> None:
        self.matrix, self._generator = matrix, generator
        self.bank: Selection | None = None
        models = dict(matrix.models if matrix.redraw is None else matrix.redraw(generator))
        self.rows, self.clusters = self._drawn()
        self.group = np.tile(matrix.groups, (len(self.rows), 1))
        if matrix.groups == ("either",):  # each item is of one group
            self.group = generator.permutation(np.resize(["f", "m"], len(self.rows)))[:, np.newaxis]
        self.own = {grade: values[self.rows] for grade, values in models.pop(model).items()}
        self.earlier = [{grade: values[self.rows] for grade, values in answers.items()} for answers in models.values()]
        if history == "wrong":
            order = generator.permutation(len(self.rows))
            self.earlier = [{grade: values[order] for grade, values in one.items()} for one in self.earlier]
        elif history == "adversarial":
            self.earlier = [{grade: values.max() + values.min() - values for grade, values in self.own.items()}]
        elif history == "lumpy":
            is_lumped = generator.random(len(self.rows)) < LUMP
            self.earlier = [{grade: np.where(is_lumped[:, np.newaxis], v, 0.0) for grade, v in self.own.items()}]
        elif history == "empty":
            self.earlier = [{grade: np.ones_like(values) for grade, values in self.own.items()}]
        elif history == "noise":
            coins = generator.permutation(len(self.rows))
            self.earlier = [{grade: values[coins] for grade, values in self.own.items()}]
        elif history == "same":
            changed = generator.random(len(self.rows)) < 0.03
            other = generator.permutation(len(self.rows))
            self.earlier = [{g: np.where(changed[:, np.newaxis], v[other], v) for g, v in self.own.items()}]

    def _drawn(self) -> tuple[Any, Any]:
        clusters = self.matrix.clusters
        if self.matrix.redraw is not None:
            return np.arange(len(clusters)), clusters
        names = np.unique(clusters)
        members = [np.flatnonzero(clusters == name) for name in names]
        drawn = self._generator.integers(0, len(names), len(names))
        rows = np.concatenate([members[cluster] for cluster in drawn])
        return rows, np.repeat(np.arange(len(drawn)), [len(members[cluster]) for cluster in drawn])

    def columns(self, models: Sequence[Answers], items: Any) -> Columns:
        """Return answers of models to these items as columns."""
        prompts = self.group.shape[1]
        grades = {grade: np.concatenate([one[grade][items].ravel() for one in models]) for grade in self.own}
        clusters = np.tile(np.repeat(self.clusters[items], prompts), len(models)).tolist()
        columns = Columns.from_arrays(
            clusters,
            grades,
            {"group": np.tile(self.group[items].ravel(), len(models)).tolist()},
            prompts=list(range(len(items) * prompts)) * len(models),
        )
        columns.items = Clustering(columns.sources.codes, columns.sources.size)
        return columns

    def measured(self, size: int) -> tuple[Measured, Measured]:
        """Return a sample of ``size`` items: alone, and with its history."""
        items = np.sort(self._generator.permutation(len(self.rows))[:size])
        plain = Measured.from_columns(self.columns([self.own], items))
        columns = self.columns([self.own], items)
        everything = np.arange(len(self.rows))
        self.bank = self.bank or Selection(self.columns(self.earlier, everything))
        numbers = {cluster: code for code, cluster in enumerate(dict.fromkeys(self.clusters.tolist()))}
        clusters = np.array([numbers[c] for c in dict.fromkeys(self.clusters[items].tolist())])
        chosen = np.isin(everything, items)
        sampled = np.tile(np.repeat(chosen, self.group.shape[1]), len(self.earlier)).astype(np.int64)
        adjusted = Measured.from_columns(columns)
        adjusted.selection.history = SampleHistory(
            self.bank, sampled, ClusterMap(clusters, self.bank.columns.sources.size)
        )
        return plain, adjusted


def _planned(matrix: Matrix, model: str, size: int, generator: np.random.Generator) -> float:
    """Return what a plan promises a model, as `pytest --fairness-plan` makes it from all others."""

    def others(models: Mapping[str, Answers]) -> Mapping[str, Answers]:
        return {name: answers for name, answers in models.items() if name != model}

    redraw = matrix.redraw
    rest = replace(
        matrix,
        models=others(matrix.models),
        redraw=None if redraw is None else lambda drawn: others(redraw(drawn)),
    )
    promised = 0.0
    for own in list(rest.models)[:MOST_MEASURED] if len(rest.models) > 1 else ():
        bank = Bank(rest, own, "right", generator)
        wanted = np.mean([interval_width(rest.estimate(bank.measured(size)[0])) ** 2 for _ in range(ADJUSTED_DRAWS)])
        share = 1.0
        for tried in reversed(PLANNED):
            sizes = [bank.measured(math.ceil(tried * size))[1] for _ in range(ADJUSTED_DRAWS)]
            if not np.mean([interval_width(rest.estimate(one)) ** 2 for one in sizes]) <= wanted < math.inf:
                break
            share = tried
        promised = max(promised, share)
    return float(promised) or 1.0


def _truth(matrix: Matrix, model: str) -> float:
    if matrix.truth is not None:
        return float(matrix.truth)
    bank = Bank.__new__(Bank)
    bank.matrix, bank.own = matrix, dict(matrix.models[model])
    bank.rows = np.arange(len(matrix.clusters))
    bank.clusters = np.unique(matrix.clusters, return_inverse=True)[1]
    bank.group = np.tile(matrix.groups, (len(bank.rows), 1))
    return float(matrix.estimate(Measured.from_columns(bank.columns([bank.own], bank.rows))).value)


def _row(name: str, matrix: Matrix, model: str, history: str, size: int, options: argparse.Namespace) -> str:
    truth = _truth(matrix, model)
    generator, runs = np.random.default_rng(options.seed), options.runs
    helps = (
        history in ("right", "same") and not options.errors
    )  # no fewer calls are looked for where the history says nothing
    shares = SHARES if helps else (1.0,)
    plain, ours = [], {share: [] for share in shares}  # type: ignore[var-annotated]
    used = 0
    for _ in range(runs):
        bank = Bank(matrix, model, history, generator)
        for share in shares:
            count = min(round(size * share), len(bank.rows))
            alone, adjusted = bank.measured(count)
            estimate = matrix.estimate(adjusted)
            ours[share].append((estimate.low, estimate.high))
            if share == 1.0:
                used += "earlier" in estimate.title
                one = matrix.estimate(alone)
                plain.append((one.low, one.high))
    plans = [_planned(matrix, model, size, generator) for _ in range(3)] if history == "right" and helps else []
    ends, whole = np.array(plain), np.array(ours[1.0])
    margins = np.quantile(truth - ends[:, 0], POWER), np.quantile(ends[:, 1] - truth, POWER)

    def inside(of: Any) -> float:
        return float(np.mean((of[:, 0] > truth - margins[0]) & (of[:, 1] < truth + margins[1])))

    aim = inside(ends)
    powers = [inside(np.array(ours[share])) for share in shares]
    ratio = next(
        (
            low + (high - low) * (aim - before) / (after - before) if after > before else high
            for (low, before), (high, after) in zip(
                zip((0.0, *shares), (0.0, *powers), strict=False), zip(shares, powers, strict=True), strict=False
            )
            if helps and after >= aim
        ),
        float("nan"),
    )
    misses = [np.mean(of[:, 0] > truth) for of in (ends, whole)] + [np.mean(of[:, 1] < truth) for of in (ends, whole)]
    width = np.mean(whole[:, 1] - whole[:, 0]) / np.mean(ends[:, 1] - ends[:, 0])
    return (
        f"| {name} | {model} | {history} | {size} | {ratio:.2f} | "
        f"{np.mean(plans) if plans else np.nan:.2f} | {width:.2f} | {used / runs:.0%} | "
        f"{misses[0]:.1%} / {misses[2]:.1%} | {misses[1]:.1%} / {misses[3]:.1%} | "
        f"{1 - misses[1] - misses[3]:.1%} |"
    )


def rows(options: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        "| data | model | history | items | calls, ratio | plan | width, ratio | adjusted | misses, plain | "
        "misses, adjusted | covers |"
    )
    yield "|---" * 11 + "|"
    for name, make in MATRICES.items():
        if not any(cells in name for cells in options.cells) or not (name.startswith("simulated") or DATA.is_dir()):
            continue
        matrix = make()
        size = min(options.items, len(matrix.clusters) // 2)
        for model in matrix.judged or list(matrix.models)[:: max(1, len(matrix.models) // 2)][:2]:
            for history in options.histories:
                yield _row(name, matrix, model, history, size, options)
            if matrix.redraw is not None:
                break


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--items", type=int, default=150, help="items of a plain sample")
    parser.add_argument("--cells", nargs="+", default=[""], help="only data whose name holds one of these texts")
    parser.add_argument("--histories", nargs="+", default=HISTORIES, choices=HISTORIES)
    parser.add_argument("--errors", action="store_true", help="only how often verdicts err: no ratio of calls")
    parser.add_argument("--seed", type=int, default=0)
    for line in rows(parser.parse_args()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
