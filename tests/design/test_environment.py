"""The generator draws what the formula says, the same numbers however it is asked."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from typing import Any

import numpy as np
import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.design.environment import EMOTIONS, GROUPS, EmotionParameters, Group, generate, thirds

torch: Any = pytest.importorskip("torch", reason="the environment needs torch")

FIRST = EmotionParameters(1.5, 0.3, 0.7, 0.1, True)


def drawn(parameters: EmotionParameters = FIRST, **changes: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    arguments: dict[str, Any] = {"n": 300, "group": "neurotypical", "seed": 7, **changes}
    batches = list(generate(parameters, **arguments))
    return tuple(torch.cat([getattr(batch, name) for batch in batches]) for name in ("features", "labels", "emotions"))


@pytest.mark.parametrize("batch", [1, 7, 64, 65, 299, 1000])
def test_batch_size_does_not_change_the_samples(batch: int) -> None:
    for whole, parts in zip(drawn(), drawn(batch=batch), strict=True):
        assert torch.equal(whole, parts)


@pytest.mark.parametrize(("seq_len", "dim"), [(5, 48), (3, 50), (1, 9), (50, 768), (40, 901)])
def test_smaller_sample_is_a_prefix_of_a_larger_one(seq_len: int, dim: int) -> None:
    for more, fewer in zip(
        drawn(n=20, seq_len=seq_len, dim=dim), drawn(n=9, seq_len=seq_len, dim=dim, batch=4), strict=True
    ):
        assert torch.equal(more[:9], fewer)
    assert drawn(n=20, seq_len=seq_len, dim=dim)[0].shape == (20, seq_len, dim)


@pytest.mark.slow
def test_samples_do_not_depend_on_process_threads_or_global_seed() -> None:
    code = (
        "import hashlib, torch; torch.set_num_threads(1); torch.manual_seed(99); "
        "from pytest_fairness.design.environment import *; "
        "batch = next(generate(EmotionParameters(1.5, 0.3, 0.7, 0.1, True), n=300, group='neurotypical', seed=7)); "
        "print(batch.features.double().sum().item(), batch.labels.tolist())"
    )
    features, labels, _ = drawn()
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    total, printed = process.stdout.split(" ", 1)
    assert (float(total), json.loads(printed)) == (features.double().sum().item(), labels.tolist())


def test_generation_streams_bounded_batches() -> None:
    batches = generate(FIRST, n=10**9, seq_len=50, dim=768, group="alexithymic", seed=1)
    for batch in islice(batches, 2):
        assert batch.features.dtype == torch.float32
        assert 2**24 < batch.features.nbytes <= 2**25


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("parameters", [FIRST, EmotionParameters(0.5, 1.0, 0.3, 0.5, False)])
def test_moments_match_the_formula(parameters: EmotionParameters, group: Group) -> None:
    from tests.benchmarks.generation import one_at_a_time  # it needs torch

    n, seq_len, dim = 6_000, 2, 14
    features, _, emotions = drawn(parameters, n=n, seq_len=seq_len, dim=dim, group=group)
    generator = torch.Generator().manual_seed(3)
    rows = [one_at_a_time(parameters, group, seq_len, dim, generator) for _ in range(n)]
    theirs = [torch.stack(column).flatten(1).double().numpy() for column in zip(*rows, strict=True)]
    # Emotions, then the features of both steps: their covariances hold the whole of a normal distribution.
    ours = np.hstack([emotions.double().numpy(), features.flatten(1).double().numpy()])
    naive = np.hstack([theirs[1], theirs[0]])
    expected = np.cov(naive.T)
    spread = np.sqrt(np.diag(expected))
    assert (np.abs(ours.mean(0) - naive.mean(0)) < 5 * spread * np.sqrt(2 / n)).all()
    error = np.sqrt((np.outer(spread**2, spread**2) + expected**2) * 2 / n)
    assert (np.abs(np.cov(ours.T) - expected) < 5 * error).all()
    standard = (ours - ours.mean(0)) / ours.std(0)
    assert (np.abs((standard**4).mean(0) - 3) < 5 * np.sqrt(96 / n)).all()


def test_noise_of_different_elements_is_independent() -> None:
    # Whole blocks of draws follow one another: a seam would show as a correlation at its distance.
    features = drawn(EmotionParameters(1, 1, 0, 1, False), n=1_000, seq_len=4, dim=12)[0][:, :, 8:].flatten().double()
    noise = (features - features.mean()) / features.std()
    for lag in (1, 4, 16, 64, 256, 1024, 4096):
        correlation = (noise[lag:] * noise[:-lag]).mean().item()
        assert abs(correlation) < 5 / len(noise) ** 0.5, lag


def test_groups_of_a_seed_differ_in_prosody_scale_only() -> None:
    quiet = EmotionParameters(1.5, 0.3, 0.7, 0.0, True)
    (typical, labels, emotions), (other, others, same) = (drawn(quiet, group=group) for group in GROUPS)
    assert torch.equal(labels, others)
    assert torch.equal(emotions, same)
    semantic, prosodic, rest = thirds(48)
    assert torch.equal(typical[:, :, semantic], other[:, :, semantic])
    assert torch.equal(typical[:, :, rest], other[:, :, rest])
    mean = emotions[:, None, torch.arange(16) % 3]
    assert torch.allclose((typical[:, :, prosodic] - mean) / 5, other[:, :, prosodic] - mean, atol=1e-5)


def test_labels_are_the_octants_of_the_emotions() -> None:
    _, labels, emotions = drawn(n=1_000)
    for label, (valence, arousal, control) in zip(labels.tolist(), emotions.tolist(), strict=True):
        pleasant = EMOTIONS[label] in ("joyful", "amazed", "content", "touched")
        lively = EMOTIONS[label] in ("joyful", "amazed", "angry", "afraid")
        in_control = EMOTIONS[label] in ("joyful", "content", "angry", "disdainful")
        assert (pleasant, lively, in_control) == (valence > 0, arousal > 0, control > 0)


def test_other_seeds_give_other_samples() -> None:
    firsts = {tuple(drawn(n=1, seed=seed)[2][0].tolist()) for seed in (0, 1, 2, 2**31, 2**32 - 1)}
    assert len(firsts) == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n is 0: it must be at least 1"),
        ({"batch": 0}, "batch is 0: it must be at least 1"),
        ({"dim": 8}, "dim is 8: it must be at least 9"),
        ({"seed": -1}, "seed is -1: it must lie in 0 to 4294967295"),
        ({"seed": 2**32}, "seed is 4294967296"),
        ({"group": "alexithymc"}, "group is 'alexithymc': did you mean 'alexithymic'?"),
    ],
)
def test_invalid_generation_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(FairnessError, match=r"^[^\n]*$") as caught:
        drawn(**arguments)
    assert message in str(caught.value)


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf"), "0.5", True, None])
def test_parameters_must_be_numbers_of_at_least_0(bad: Any) -> None:
    with pytest.raises(FairnessError, match=r"semantic_strength is .*: it must be a number of at least 0"):
        EmotionParameters(1.5, 0.3, bad, 0.1, True)
    with pytest.raises(FairnessError, match="verification is 1: it must be true or false"):
        EmotionParameters(1.5, 0.3, 0.7, 0.1, 1)  # type: ignore[arg-type]
