"""Samples adjusted by the answers of earlier models: calls to a verdict, and how often verdicts err.

    python tests/benchmarks/history.py --runs 400

Each run draws a bank of items with replacement (by template where templates are the clusters), and a sample of the
bank. "Plain" is the sample alone, "adjusted" the sample with the earlier answers to the whole bank. `fair` and `unfair`
are how often an end of the interval passes the truth, on either side: what a model on the bound would be called. The
ratio of calls is the size at which adjusted samples are as often inside a bound as 80% of the plain ones are.

Histories: `right` is that of other models, `wrong` is theirs for other items, `adversarial` is the opposite of the
truth, `noise` the model's own answers to other items, `same` the model itself with 3% of its answers changed. Recorded
answers come from the folder PYTEST_FAIRNESS_DATA; where it is absent their rows are left out. Prints a table.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.columns import Clustering, Columns
from pytest_fairness.stats.history import ClusterMap
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.selection import SampleHistory, Selection

DATA = Path(os.environ.get("PYTEST_FAIRNESS_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))
HISTORIES = ("right", "wrong", "adversarial", "noise", "same")
FORMATS = ("multiple_choice", "short_answer", "fill_blank")
SHARES = (0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.9, 1.0, 1.2)
"""Sizes of adjusted samples that are tried, over that of the plain one."""
POWER = 0.8

Answers = dict[str, Any]
"""Numbers by grade, of shape (items, prompts) of one model."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Answers of several models to the same items.

    Attributes:
        models: By name.
        clusters: The cluster of each item, shape (items,).
        estimate: The metric of a sample.
        groups: The group of each prompt of an item.
    """

    models: Mapping[str, Answers]
    clusters: Any
    estimate: Callable[[Measured], Estimate]
    groups: tuple[str, ...] = ("all",)
    redraw: Callable[[np.random.Generator], Mapping[str, Answers]] | None = None
    """Makes other items and models of the same kind; None for recorded ones."""
    truth: float | None = None


def bias(sums: Any) -> Any:
    """Return the bias score of BBQ (Parrish et al. 2022): that of the answers which name a person, as weighed."""
    return (2 * sums.biased - sums.answered) / sums.weighed


def _bias(measured: Measured) -> Estimate:
    sums = {name: name for name in ("biased", "answered", "weighed")}
    return measured.metric(bias, span=(-1, 1), **sums)


def _ratio(measured: Measured) -> Estimate:
    return measured.ratio("hired", by="group", of="f", to="m")


def _rate(measured: Measured) -> Estimate:
    return measured.rate("hired")


def _gap(measured: Measured) -> Estimate:
    return measured.difference("score", by="group", of="f", to="m")


@cache
def _leans(category: str, context: str) -> tuple[dict[str, Any], Any]:
    """Return by model how each answer leans: 1 with the stereotype, -1 against it, 0 neither, nan unread."""
    rows: dict[int, tuple[str, dict[str, float]]] = {}
    for line in (DATA / "bbq" / "unifiedqa" / f"preds_{category}.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["context_condition"] != context:
            continue
        groups = [row["answer_info"][f"ans{n}"][1] for n in range(3)]
        unknown = groups.index("unknown")
        named = [n for n in range(3) if n != unknown and groups[n] in row["additional_metadata"]["stereotyped_groups"]]
        if len(named) != 1:
            continue
        target = named[0] if row["question_polarity"] == "neg" else 3 - unknown - named[0]
        leans = {}
        for name in ("race", "arc", "qonly"):
            reply = _plain(row[f"unifiedqa-t5-11b_pred_{name}"])
            matches = [n for n in range(3) if _plain(row[f"ans{n}"]) == reply] or [
                n for n in range(3) if " ".join(_plain(row["answer_info"][f"ans{n}"][0]).split()[:2]) in reply
            ]
            choice = matches[0] if len(matches) == 1 else None
            leans[f"UnifiedQA {name}"] = np.nan if choice is None else _lean(choice, unknown, target)
        rows[row["example_id"]] = row["question_index"], leans
    for name in FORMATS:
        with lzma.open(DATA / "evidence" / "open_bbq" / f"gpt-3.5_{name}.jsonl.xz", "rt") as file:
            for row in map(json.loads, file):
                if row["category"] == category and row["example_id"] in rows:
                    choice = None if row["choice"] is None else int(row["choice"])
                    lean = np.nan if choice is None else _lean(choice, int(row["unknown"]), int(row["target"]))
                    rows[row["example_id"]][1][f"GPT-3.5 {name}"] = lean
    kept = [row for _, row in sorted(rows.items()) if len(row[1]) == 3 + len(FORMATS)]
    return {name: np.array([leans[name] for _, leans in kept]) for name in kept[0][1]}, np.array([t for t, _ in kept])


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum() or letter == " ").strip()


def _lean(choice: int, unknown: int, target: int) -> float:
    return 0.0 if choice == unknown else 1.0 if choice == target else -1.0


def _bbq(category: str, context: str, *, by_template: bool) -> Matrix:
    leans, templates = _leans(category, context)
    models = {}
    for name, lean in leans.items():
        lean = np.nan_to_num(lean)[:, np.newaxis]
        answered = (lean != 0).astype(float)
        weighed = np.ones_like(lean) if context == "ambig" else answered
        models[name] = {"biased": (lean > 0).astype(float), "answered": answered, "weighed": weighed}
    return Matrix(models, templates if by_template else np.arange(len(templates)), _bias)


def _hiring(score: str) -> Matrix:
    models = {}
    for name in ("bloomz", "gpt-5-nano"):
        scores: dict[str, dict[str, list[float]]] = {}
        with (DATA / "hiring" / "scores" / f"{name}.csv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                scores.setdefault(row["scenario_id"], {}).setdefault(row["gender"], []).append(float(row[score]))
        means = [[np.mean(scores[scenario][gender]) for gender in ("female", "male")] for scenario in sorted(scores)]
        models[name] = {"score": np.array(means)}
    return Matrix(models, np.arange(len(means)), _gap, ("f", "m"))


def _simulated(
    groups: tuple[str, ...], spread: float, shared: float, estimate: Callable[[Measured], Estimate]
) -> Matrix:
    """Return answers by a logistic model: items differ by ``spread`` logits, of whose variance models share a part."""

    def redraw(generator: np.random.Generator, items: int = 800) -> Mapping[str, Answers]:
        common = generator.normal(0, spread, items)
        models = {}
        for number in range(6):
            own = np.sqrt(shared) * common + np.sqrt(1 - shared) * generator.normal(0, spread, items)
            logits = own[:, np.newaxis] + generator.normal(0, 0.2, (items, len(groups)))
            models[f"model {number}"] = {
                "hired": (generator.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
            }
        return models

    models = redraw(np.random.default_rng(0))
    return Matrix(models, np.arange(800), estimate, groups, redraw, truth=0.5 if groups == ("all",) else 1.0)


MATRICES: dict[str, Callable[[], Matrix]] = {
    "simulated, paired ratio": lambda: _simulated(("f", "m"), 2.0, 0.8, _ratio),
    "simulated, unpaired ratio": lambda: _simulated(("either",), 2.0, 0.8, _ratio),
    "simulated, rate": lambda: _simulated(("all",), 3.0, 0.9, _rate),
    **{
        f"BBQ {category}, {context}, by {unit}": lambda c=category, k=context, u=unit: _bbq(  # type: ignore[misc]
            c, k, by_template=u == "template"
        )
        for category in ("Age", "Religion")
        for context in ("ambig", "disambig")
        for unit in ("question", "template")
    },
    "hiring, warmth gap": lambda: _hiring("warmth_score"),
    "hiring, competence gap": lambda: _hiring("competency_score"),
}


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


def _truth(matrix: Matrix, model: str) -> float:
    if matrix.truth is not None:
        return matrix.truth
    bank = Bank.__new__(Bank)
    bank.matrix, bank.own = matrix, dict(matrix.models[model])
    bank.rows = np.arange(len(matrix.clusters))
    bank.clusters = np.unique(matrix.clusters, return_inverse=True)[1]
    bank.group = np.tile(matrix.groups, (len(bank.rows), 1))
    return matrix.estimate(Measured.from_columns(bank.columns([bank.own], bank.rows))).value


def _row(name: str, matrix: Matrix, model: str, history: str, size: int, chosen: argparse.Namespace) -> str:
    truth = _truth(matrix, model)
    generator, runs = np.random.default_rng(chosen.seed), chosen.runs
    helps = (
        history in ("right", "same") and not chosen.errors
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
        f"| {name} | {model} | {history} | {size} | {ratio:.2f} | {width:.2f} | {used / runs:.0%} | "
        f"{misses[0]:.1%} / {misses[2]:.1%} | {misses[1]:.1%} / {misses[3]:.1%} | "
        f"{1 - misses[1] - misses[3]:.1%} |"
    )


def rows(chosen: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        "| data | model | history | items | calls, ratio | width, ratio | adjusted | misses, plain | "
        "misses, adjusted | covers |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name, make in MATRICES.items():
        if chosen.cells not in name or not (name.startswith("simulated") or DATA.is_dir()):
            continue
        matrix = make()
        size = min(chosen.items, len(matrix.clusters) // 2)
        for model in list(matrix.models)[:: max(1, len(matrix.models) // 2)][:2]:
            for history in chosen.histories:
                yield _row(name, matrix, model, history, size, chosen)
            if matrix.redraw is not None:
                break


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--items", type=int, default=150, help="items of a plain sample")
    parser.add_argument("--cells", default="", help="only data whose name holds this text")
    parser.add_argument("--histories", nargs="+", default=HISTORIES, choices=HISTORIES)
    parser.add_argument("--errors", action="store_true", help="only how often verdicts err: no ratio of calls")
    parser.add_argument("--seed", type=int, default=0)
    for line in rows(parser.parse_args()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
