"""A designed benchmark, frozen into one file that reproduces it on any machine."""

from __future__ import annotations

import base64
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError, ProbeItem, Prompt
from pytest_fairness.design.classifier import Classifier
from pytest_fairness.design.closed_form import LinearReader
from pytest_fairness.design.descriptions import prompts
from pytest_fairness.design.emotion import EmotionBenchmark
from pytest_fairness.design.environment import EMOTIONS, GROUPS, EmotionParameters, generate
from pytest_fairness.design.loop import Design
from pytest_fairness.design.records import BenchmarkFigure, Figures, seed_of, write_design_file
from pytest_fairness.design.search_space import EMOTION, Point
from pytest_fairness.design.students import Student
from pytest_fairness.extending import did_you_mean
from pytest_fairness.extending import json_text as json

SCHEMA = 1
EXACT = 1e-6
"""The relative difference that figures may have on another processor: sums in another order differ by up to 1e-8."""
ITEMS = 400
"""Pairs of samples in the gate: enough for a ratio of 0.9 between bounds of 0.8 and 1.2."""
WIDE, NARROW = 0.5, 0.15
"""Least absolute value of a clear emotion, and of one near to another: 23% and 32% of standard normal ones."""
_WRITTEN = ("parameters", "student", "seeds", "samples", "items_seed", "target", "seq_len", "dim", "search")
"""The fields that the file holds unchanged."""


@dataclass(frozen=True)
class Frozen:
    """Parameters, seeds, student and figures of a designed emotion benchmark.

    ``seeds`` are the fresh ones, on which ``figures`` were taken with ``samples`` a neurotype each. The gate's
    items come from ``items_seed``, which neither the search nor that evaluation has seen.
    """

    parameters: Point
    student: Mapping[str, Any]
    seeds: Sequence[int]
    samples: int
    items_seed: int
    figures: Figures
    target: float = 1.0
    seq_len: int = 5
    dim: int = 48
    search: Mapping[str, Any] = field(default_factory=dict)
    """Origin of the design: designer, objective, iterations, and the loss in the search."""

    @classmethod
    def of(cls, result: Design, benchmark: EmotionBenchmark, model: str = "") -> Frozen:
        """Return the winner of a design; ``model`` names the language model that was the student.

        Raises `FairnessError` for a student that cannot be stored in a file.
        """
        student = {"kind": "model", "name": model} if model else student_to_json(benchmark.student)
        best = result.best
        if best.parameters is None:
            raise FairnessError("a design without parameters cannot be frozen")
        searched = {seed for iteration in result.iterations for seed in iteration.seeds}
        items_seed = next(
            seed
            for number in range(len(searched) + len(result.fresh_seeds) + 1)
            if (seed := seed_of(result.seed, "gate", number)) not in searched.union(result.fresh_seeds)
        )
        search = {
            "designer": result.designer,
            "objective": repr(result.task.objective),
            "seed": result.seed,
            "iterations": len(result.iterations),
            "best": best.number,
            "loss": best.loss,
            "seeds": sorted(searched),
            "front": [
                {"parameters": dict(iteration.parameters or {}), "losses": list(iteration.losses)}
                for iteration in result.front
            ],
        }
        sizes: dict[str, Any] = {"target": benchmark.target, "seq_len": benchmark.seq_len, "dim": benchmark.dim}
        design = (best.parameters, student, tuple(result.fresh_seeds), benchmark.samples, items_seed)
        return cls(*design, result.fresh, search=search, **sizes)

    def write(self, path: Path) -> None:
        """Write the benchmark as JSON. Raises `FairnessError` where it cannot be written."""
        document = {
            "schema": SCHEMA,
            "benchmark": "emotion",
            **{name: getattr(self, name) for name in _WRITTEN},
            "figures": {name: figure.document() for name, figure in self.figures.items()},
        }
        write_design_file(path, json.dumps(document, indent=1, allow_nan=False) + "\n")

    @classmethod
    def read(cls, path: Path) -> Frozen:
        """Read what `write` wrote. Raises `FairnessError`, in one line, for any other file."""
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if (document["schema"], document["benchmark"]) != (SCHEMA, "emotion"):
                raise FairnessError(f"{path} is no emotion benchmark of schema {SCHEMA}: freeze it again")
            wrong = EMOTION.wrong(document["parameters"])
            if wrong:
                raise FairnessError(f"{path}: {'; '.join(wrong)}")
            figures = {name: BenchmarkFigure.read(figure) for name, figure in document["figures"].items()}
            return cls(figures=figures, **{name: document[name] for name in _WRITTEN})
        except OSError as error:
            raise FairnessError(f"{path} cannot be read: {error.strerror}: freeze a design first") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = " ".join(repr(error).split())[:200]
            raise FairnessError(f"{path} is no frozen benchmark ({reason}): write it with design --out") from error

    def chosen(self) -> EmotionParameters:
        """Return the parameters, as the generator takes them."""
        return EmotionParameters(**self.parameters)  # type: ignore[arg-type]  # the space has checked the values

    def made_student(self) -> Student:
        """Return the student in the file. Raises `FairnessError` where the file has only a model's name."""
        return student_from_json(self.student)

    def again(self) -> Figures:
        """Return the figures of a new evaluation of the file's student."""
        benchmark = EmotionBenchmark(self.made_student(), self.samples, self.seq_len, self.dim, self.target)
        return benchmark(self.parameters, self.seeds)

    def differences(self) -> list[str]:
        """Return lines about figures of a new evaluation that differ from those of the file; empty where none does."""
        again = self.again()
        return [
            f"{name} is {again[name].value:.6f}, in the file {figure.value:.6f}"
            for name, figure in self.figures.items()
            if not math.isclose(again[name].value, figure.value, rel_tol=EXACT, abs_tol=EXACT)
        ]

    def described_items(self, count: int = ITEMS) -> Iterator[ProbeItem]:
        """Yield items for language models: pairs of descriptions with the same words in the voices of both neurotypes.

        The prompts' ``metadata["label"]`` is the correct emotion, ``groups["neurotype"]`` the neurotype of the voice.
        The item's ``metadata["margin"]`` is its distance from the nearest other emotion: wide, middle or narrow. It is
        the same for both voices, and a reader should be surer of an emotion that is far from others.
        """
        chosen = self.chosen()
        prompts_by_group = {
            group: [
                prompt
                for batch in self._batches(group, count)
                for prompt in prompts(
                    batch.features, verification=chosen.verification, labels=batch.labels, group=group
                )
            ]
            for group in GROUPS
        }
        for index, margin in enumerate(self._margins(count)):
            pair = [prompts_by_group[group][index] for group in GROUPS]
            item = self._item(index)
            yield ProbeItem(
                item,
                [Prompt(prompt.messages, prompt.groups, {**prompt.metadata, "item": item}) for prompt in pair],
                metadata={"margin": margin},
            )

    def feature_items(self, count: int = ITEMS) -> Iterator[ProbeItem]:
        """Yield the same items for students that read features: a prompt is the sample's index and group, as JSON."""
        labels = [int(label) for batch in self._batches(GROUPS[0], count) for label in batch.labels]
        for index, (label, margin) in enumerate(zip(labels, self._margins(count), strict=True)):
            yield ProbeItem(
                self._item(index),
                [
                    Prompt(
                        json.dumps({"sample": index, "neurotype": group}),
                        {"neurotype": group},
                        {"label": EMOTIONS[label]},
                    )
                    for group in GROUPS
                ],
                metadata={"margin": margin},
            )

    def readings(self, student: Student, count: int = ITEMS) -> dict[tuple[str, int], dict[str, Any]]:
        """Return a student's readings of the gate's items, by neurotype and index: emotion, confidence, verified."""
        verification = bool(self.parameters["verification"])
        grades: dict[tuple[str, int], dict[str, Any]] = {}
        for group in GROUPS:
            index = 0
            for batch in self._batches(group, count):
                reading = student.read(batch.features, verification=verification)
                verified = None if reading.verified is None else reading.verified.tolist()
                for row, (label, sure) in enumerate(
                    zip(reading.labels.tolist(), reading.confidence.tolist(), strict=True)
                ):
                    values = {"emotion": EMOTIONS[label] if label >= 0 else None, "confidence": sure}
                    grades[group, index] = values | ({} if verified is None else {"verified": verified[row]})
                    index += 1
        return grades

    def _batches(self, group: Any, count: int) -> Iterator[Any]:
        sizes = {"seq_len": self.seq_len, "dim": self.dim}
        return generate(self.chosen(), n=count, group=group, seed=self.items_seed, **sizes)

    def _margins(self, count: int) -> Iterator[str]:
        for batch in self._batches(GROUPS[0], count):
            for smallest in batch.emotions.abs().amin(1).tolist():
                yield "wide" if smallest >= WIDE else "narrow" if smallest < NARROW else "middle"

    def _item(self, index: int) -> str:
        return f"{self.items_seed}-{index:04}"


def student_to_json(student: Student) -> dict[str, Any]:
    """Return a student as JSON: a classifier with its weights, a linear reader with its one weight.

    Raises `FairnessError` for any other.
    """
    if isinstance(student, LinearReader):
        return {"kind": "linear", "words": student.words}
    if isinstance(student, Classifier):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "weights.safetensors"
            student.save(path)
            return {"kind": "classifier", "safetensors": base64.b64encode(path.read_bytes()).decode()}
    raise FairnessError(
        f"the student is a {type(student).__name__}, which no file can hold: freeze a classifier or a linear reader"
    )


def student_from_json(document: Mapping[str, Any]) -> Student:
    """Return the inverse of `student_to_json`. Raises `FairnessError` for a student that is not in the file."""
    kind = document.get("kind")
    if kind == "linear":
        return LinearReader(document["words"])
    if kind == "classifier":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "weights.safetensors"
            try:
                path.write_bytes(base64.b64decode(document["safetensors"], validate=True))
            except ValueError as error:
                raise FairnessError(f"the weights in a frozen file are damaged ({error}): freeze it again") from error
            return Classifier.load(path)
    if kind == "model":
        raise FairnessError(
            f"the student of this file is the language model {document.get('name')}: it holds no weights"
        )
    raise FairnessError(f"a frozen student is {kind!r}; {did_you_mean(str(kind), ['classifier', 'linear', 'model'])}")
