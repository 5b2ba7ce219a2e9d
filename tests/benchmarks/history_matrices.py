"""Answers of several models to the same items: recorded ones, and simulated ones; what history.py samples from."""

from __future__ import annotations

import csv
import json
import lzma
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.measured import Measured

DATA = Path(os.environ.get("PYTEST_FAIRNESS_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))
FORMATS = ("multiple_choice", "short_answer", "fill_blank")

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
    judged: tuple[str, ...] = ()
    """The models that have rows; empty for the first and the middle one."""


def bias(sums: Any) -> Any:
    """Return the bias score of BBQ (Parrish et al. 2022): that of the answers which name a person, as weighed."""
    return (2 * sums.biased - sums.answered) / sums.weighed


def _bias(measured: Measured) -> Estimate:
    sums = {name: name for name in ("biased", "answered", "weighed")}
    return measured.metric(bias, span=(-1, 1), **sums)


def _first(measured: Measured) -> Estimate:
    return measured.ratio("first", by="group", of="W_M", to="H_W")


def _ratio(measured: Measured) -> Estimate:
    return measured.ratio("hired", by="group", of="f", to="m")


def _rate(measured: Measured) -> Estimate:
    return measured.rate("hired")


def _rate_of_women(measured: Measured) -> Estimate:
    return measured.where(group="f").rate("hired")


def _gap(measured: Measured) -> Estimate:
    return measured.difference("score", by="group", of="f", to="m")


def _mean(measured: Measured) -> Estimate:
    return measured.mean("score")


@cache
def _leans(category: str, context: str) -> tuple[dict[str, Any], Any, Any]:
    """Return by model how each answer leans, the templates, and the ids of the questions.

    1 with the stereotype, -1 against it, 0 neither, nan unread.
    """
    rows: dict[int, tuple[str, dict[str, float]]] = {}
    for line in (DATA / "bbq" / "unifiedqa" / f"preds_{category}.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["context_condition"] != context:
            continue
        groups = [row["answer_info"][f"ans{n}"][1] for n in range(3)]
        unknown = groups.index("unknown")
        stereotyped = [
            n for n in range(3) if n != unknown and groups[n] in row["additional_metadata"]["stereotyped_groups"]
        ]
        if len(stereotyped) != 1:
            continue
        target = stereotyped[0] if row["question_polarity"] == "neg" else 3 - unknown - stereotyped[0]
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
    complete = {number: row for number, row in sorted(rows.items()) if len(row[1]) == 3 + len(FORMATS)}
    names = next(iter(complete.values()))[1]
    leans_of = {name: np.array([leans[name] for _, leans in complete.values()]) for name in names}
    return leans_of, np.array([template for template, _ in complete.values()]), np.array(list(complete))


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum() or letter == " ").strip()


def _lean(choice: int, unknown: int, target: int) -> float:
    return 0.0 if choice == unknown else 1.0 if choice == target else -1.0


def _bbq(category: str, context: str, *, by_template: bool) -> Matrix:
    leans, templates, _ = _leans(category, context)
    models = {}
    for name, lean in leans.items():
        lean = np.nan_to_num(lean)[:, np.newaxis]
        answered = (lean != 0).astype(float)
        weighed = np.ones_like(lean) if context == "ambig" else answered
        models[name] = {"biased": (lean > 0).astype(float), "answered": answered, "weighed": weighed}
    return Matrix(models, templates if by_template else np.arange(len(templates)), _bias)


def _pairs(category: str) -> Matrix:
    """Return whether an ambiguous context gets a person's name for an answer, to either question of its pair."""
    leans, _, ids = _leans(category, "ambig")
    places = {number: index for index, number in enumerate(ids.tolist())}
    pairs = [(number, number + 2) for number in places if number % 4 == 0 and number + 2 in places]
    first, second = (np.array([places[pair[k]] for pair in pairs]) for k in (0, 1))
    models = {}
    for name, lean in leans.items():
        leaning = np.nan_to_num(lean) != 0
        models[name] = {"hired": (leaning[first] | leaning[second]).astype(float)[:, np.newaxis]}
    judged = tuple(list(models)[::3])
    if category == "Religion":
        models["DeepSeek"] = {"hired": _deepseek(pairs)}
        judged += ("DeepSeek",)
    return Matrix(models, np.arange(len(pairs)), _rate, judged=judged)


def _deepseek(pairs: Sequence[tuple[int, int]]) -> Any:
    """Return the same of DeepSeek's recorded pairs."""
    flagged = {}
    for kind in ("consistent", "mixed_cant_determine"):
        file = DATA / "bbq_pairs" / "deepseek-reasoner" / f"Religion_ambig_{kind}.jsonl"
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            replies = row["model_responses"].values()
            flagged[tuple(row["data"]["example_ids"])] = float(not all(one["is_cant_determine"] for one in replies))
    return np.array([flagged[pair] for pair in pairs])[:, np.newaxis]


def _bloomberg() -> Matrix:
    """Return which of eight CVs GPT-3.5 ranks first, by group.

    Nobody else has ranked these runs: its history are four simulated rankers, which choose by the order shown and the
    CV as often as GPT-3.5 does.
    """
    with lzma.open(DATA / "evidence" / "bloomberg" / "gpt-3.5-turbo.jsonl.xz", "rt") as file:
        runs = [json.loads(line) for line in file]
    groups = tuple(sorted(runs[0]["groups"]))
    order = np.array([[run["groups"].index(group) for group in groups] for run in runs])
    cvs = np.array([[run["cvs"][index] for index in places] for run, places in zip(runs, order.tolist(), strict=True)])
    first = (order == np.array([run["ranking"][0] for run in runs])[:, np.newaxis]).astype(float)
    retail = np.array([run["job"] != runs[0]["job"] for run in runs])
    kinds = cvs + 8 * retail[:, np.newaxis]
    mean_rank = np.bincount(order.ravel(), weights=first.ravel()) / np.bincount(order.ravel())
    liked = np.bincount(kinds.ravel(), weights=first.ravel()) / np.bincount(kinds.ravel())
    chances = mean_rank[order] * liked[kinds]
    ends = (chances / chances.sum(axis=1, keepdims=True)).cumsum(axis=1)
    generator = np.random.default_rng(0)
    models = {"GPT-3.5": {"first": first}}
    for number in range(4):
        chosen = (generator.random((len(runs), 1)) > ends[:, :-1]).sum(axis=1)
        models[f"ranker {number}"] = {"first": np.eye(8)[chosen]}
    return Matrix(models, np.arange(len(runs)), _first, groups, judged=("GPT-3.5",))


def _genderbench(probe: str, estimate: Callable[[Measured], Estimate], groups: tuple[str, ...]) -> Matrix:
    """Return simulated answers to items of GenderBench: each value of their metadata has an effect of one logit.

    Raises `FairnessError` without GenderBench.
    """
    from pytest_fairness.core.data_folders import DataFolders
    from pytest_fairness.harnesses.genderbench import GenderBenchProbe

    built = GenderBenchProbe(probe).items(DataFolders({}))
    order = np.random.default_rng(0).permutation(len(built))[:800]
    names = [name for name in sorted(built[0].metadata) if name not in ("name", "category")]  # a name is of one group
    codes = [np.unique([str(built[index].metadata[name]) for index in order], return_inverse=True)[1] for name in names]

    def effects(generator: np.random.Generator, shared: float = 1.0) -> Any:
        by_value = [generator.normal(0, shared, code.max() + 1)[code] for code in codes]
        return sum(by_value, generator.normal(0, 1.5 * shared, len(order)))

    def redraw(generator: np.random.Generator) -> Mapping[str, Answers]:
        common = effects(generator)
        models = {}
        for number in range(4):
            own = np.sqrt(0.8) * common + effects(generator, np.sqrt(0.2))
            logits = own[:, np.newaxis] + generator.normal(0, 0.2, (len(order), max(1, len(groups))))
            models[f"model {number}"] = {
                "hired": (generator.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)
            }
        return models

    truth = 0.5 if groups == ("all",) else 1.0
    return Matrix(redraw(np.random.default_rng(0)), np.arange(len(order)), estimate, groups, redraw, truth)


def _hiring(score: str, groups: tuple[str, ...] = ("f", "m")) -> Matrix:
    models = {}
    for name in ("bloomz", "gpt-5-nano"):
        scores: dict[str, dict[str, list[float]]] = {}
        with (DATA / "hiring" / "scores" / f"{name}.csv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                scores.setdefault(row["scenario_id"], {}).setdefault(row["gender"], []).append(float(row[score]))
        means = [[np.mean(scores[scenario][gender]) for gender in ("female", "male")] for scenario in sorted(scores)]
        models[name] = {"score": np.array(means)[:, : len(groups)]}
    return Matrix(models, np.arange(len(means)), _gap if len(groups) == 2 else _mean, groups)


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
    truth = 1.0 if estimate is _ratio else 0.5
    return Matrix(models, np.arange(800), estimate, groups, redraw, truth)


MATRICES: dict[str, Callable[[], Matrix]] = {
    "simulated, paired ratio": lambda: _simulated(("f", "m"), 2.0, 0.8, _ratio),
    "simulated, unpaired ratio": lambda: _simulated(("either",), 2.0, 0.8, _ratio),
    "simulated, rate of one of two groups": lambda: _simulated(("f", "m"), 2.0, 0.8, _rate_of_women),
    "simulated, rate of one of two unpaired groups": lambda: _simulated(("either",), 2.0, 0.8, _rate_of_women),
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
    "hiring, mean warmth of women": lambda: _hiring("warmth_score", ("all",)),
    "question pairs, Age": lambda: _pairs("Age"),
    "question pairs, Religion": lambda: _pairs("Religion"),
    "Bloomberg's ranks, men to women": _bloomberg,
    "GenderBench's HiringAn, simulated ratio": lambda: _genderbench("HiringAn", _ratio, ("either",)),
    "GenderBench's DiversityMedQa, simulated ratio": lambda: _genderbench("DiversityMedQa", _ratio, ("f", "m")),
    "GenderBench's Bbq, simulated rate": lambda: _genderbench("Bbq", _rate, ("all",)),
}
