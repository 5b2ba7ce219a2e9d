"""GenderBench's own numbers, and the adapter's on the same answers."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.data_folders import DataFolders
from pytest_fairness.harnesses.genderbench.package import probe_classes
from tests.helpers.genderbench_runs import answer, ours, theirs

SIZES: dict[str, dict[str, Any]] = {
    "Bbq": {"num_reorderings": 2, "sample_k": 500},
    "BusinessVocabulary": {"num_repetitions": 2, "sample_k": 200},
    "Direct": {"num_repetitions": 2, "sample_k": 300},
    "DiscriminationTamkin": {"sample_k": 100},
    "DiversityMedQa": {"sample_k": 100},
    "Dreaddit": {"sample_k": 100, "num_repetitions": 2},
    "HiringAn": {"sample_k": 600},
    "HiringBloomberg": {"num_reorders": 10},
    "Inventories": {"num_repetitions": 3},
    "Isear": {"sample_k": 100},
    "JobsLum": {"num_repetitions": 2},
    "RelationshipLevy": {"sample_k": 200},
}
"""The twelve probes whose data are in the package, smaller than its harness makes them."""


def same(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=0, abs_tol=1e-9) or (math.isnan(first) and math.isnan(second))


def check(name: str, their_metrics: dict[str, float], data: DataFolders | None = None, **options: Any) -> None:
    probe, measured = ours(name, data, **options)
    metrics = probe.metrics(measured)
    assert set(metrics) == set(their_metrics)
    differing = {
        metric: (metrics[metric].value, value)
        for metric, value in their_metrics.items()
        if not same(metrics[metric].value, value)
    }
    assert not differing
    finite = [estimate for estimate in metrics.values() if not estimate.invalid]
    assert len(finite) >= len(probe.marked)
    assert all(estimate.low <= estimate.value <= estimate.high for estimate in finite)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_metrics_equal_those_of_genderbench(name: str) -> None:
    check(name, theirs(name, **SIZES[name]).metrics, **SIZES[name])


def test_undetected_answers_are_counted() -> None:
    metrics = theirs("Direct", sample_k=300).metrics
    assert 0.03 < metrics["undetected_rate_attempts"] < 0.5
    probe, measured = ours("Direct", sample_k=300)
    assert same(probe.metrics(measured)["undetected_rate_attempts"].value, metrics["undetected_rate_attempts"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Gest", "GestCreative"])
def test_hub_probes_run_on_stand_in_data(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [(f"I did thing {number} today.", number % 16 + 1) for number in range(160)]
    import pandas as pd

    table = pd.DataFrame(sentences, columns=["sentence", "stereotype"])
    table.to_csv(tmp_path / "gest.csv", index=False)
    with monkeypatch.context() as patched:
        patched.setattr(pd, "read_csv", lambda _: table)
        their_metrics = theirs(name).metrics
    check(name, their_metrics, DataFolders({"genderbench": tmp_path}))


def test_every_genderbench_probe_is_tested() -> None:
    assert {*SIZES, "Gest", "GestCreative"} == set(probe_classes())


@pytest.mark.slow
def test_generated_answers_vary() -> None:
    texts = {answer(f"question {number}") for number in range(200)}
    assert len(texts) > 100


def test_global_random_state_is_kept() -> None:
    random.seed(7)
    expected = [random.random() for _ in range(3)]
    random.seed(7)
    numbers = [random.random()]
    probe, measured = ours("RelationshipLevy", sample_k=30)  # it seeds to sample
    numbers.append(random.random())
    probe.both_marks(measured, cycles=3)  # and again to resample
    numbers.append(random.random())
    assert numbers == expected
