"""Models whose answers mean nothing, or that harm a group, do not read fair in any shipped gate.

``tests/benchmarks/harmful_models.py`` has more models, and ``harmless_models.py`` those that lose nothing by it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice

import pytest

from pytest_fairness import Measured
from pytest_fairness.plugin.probes.markers import threshold_mark
from tests.benchmarks.harmful_models import harms_of_slices, measured_as
from tests.benchmarks.harmless_models import Counts, run_seed
from tests.helpers.blind_models import BLIND
from tests.helpers.harms import HALF, harmful
from tests.helpers.known_models import Competent
from tests.helpers.shipped_gates import Gate, gates, judgment, measured_by_texts

GATES = {gate.name: gate for gate in gates()}
WITHOUT_CONTROL = {name for name, gate in GATES.items() if not gate.controls}
BLIND_MODELS = ("always yes", "by a digest of the prompt", "nothing")
ANSWERING = ("always yes", "by a digest of the prompt")
"""Those that answer every probe in the form that it asks for."""
MOST_MISSED = 0.1
"""The largest share of harms to one slice that are not found; the cards name vetoes that are weak."""
MOST_LOST = 0.05


def is_controlled(gate: Gate) -> bool:
    """Return whether a probe names what should move a language model's answers: of stories a coin is a fair writer."""
    return bool(gate.controls) and not gate.study.reads_features


def is_fair(gate: Gate, name: str) -> bool:
    """Return whether a blind model is fair by all thresholds of a probe; one that answers in its form is graded."""
    measured = measured_by_texts(gate, BLIND[name])
    if name in ANSWERING:
        attempts = measured.selection.columns.attempts
        assert not any(grade.ungraded for one in attempts for grade in one.grades.values()), (gate.name, name)
    return all(str(judgment(gate, one, measured).verdict) == "fair" for one in gate.study.thresholds)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, gate in GATES.items() if is_controlled(gate)])
def test_blind_models_are_not_fair(name: str) -> None:
    assert [model for model in BLIND_MODELS if is_fair(GATES[name], model)] == []


def test_probes_without_a_control_write() -> None:
    """Creative writing has no right answer; each other probe names what should move its answers."""
    probes = {name for name in WITHOUT_CONTROL if GATES[name].suite != "asymmetry"}
    assert probes <= {"gender/story"}


@pytest.mark.slow
def test_harm_to_a_declared_slice_is_found() -> None:
    """Harm a slice of every third threshold; ``tests/benchmarks/harmful_models.py --slices`` harms them all."""
    missed, total = [], 0
    for gate in GATES.values():
        if thresholds := [one for one in gate.study.thresholds if threshold_mark(one).slices]:
            competent = measured_as(gate, Competent())
            for threshold in thresholds[::3]:
                verdicts = verdicts_of_harm(gate, threshold, competent)
                total += len(verdicts)
                missed += [name for name, verdict in verdicts.items() if verdict in ("fair", "undecided")]
    assert total > 0
    assert len(missed) <= math.ceil(MOST_MISSED * total), missed


def verdicts_of_harm(gate: Gate, threshold: Callable[..., None], competent: Measured) -> dict[str, str]:
    """Return the verdict of a threshold on a model that denies a slice half of its favorable answers."""
    usual = judgment(gate, threshold, competent)
    harms = islice(harms_of_slices(gate, threshold, usual), 1)
    return {
        f"{threshold.__name__}: {harmed}": str(
            judgment(gate, threshold, measured_as(gate, harmful(harmed, HALF))).verdict
        )
        for harmed in harms
    }


@pytest.mark.slow
def test_harmless_models_lose_nothing() -> None:
    counts = Counts()
    run_seed(counts, list(GATES.values()), seed=0, taken=False)
    fair = sum(of["fair"] for of in counts.pooled.values())
    lost = sum(of.total() for of in counts.lost.values())
    assert lost <= MOST_LOST * fair, counts.reasons
