"""Training of the neural student, on generated or recorded features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pytest_fairness import FairnessError
from pytest_fairness.design.classifier import (
    Classifier,
    backward_scores,
    network,
    one_thread,
    reconstructions,
    summarize,
)
from pytest_fairness.design.environment import EMOTIONS, GROUPS, EmotionParameters, generate, thirds
from pytest_fairness.design.search_space import EMOTION

if TYPE_CHECKING:
    from torch import Generator, Tensor
    from torch.nn import ModuleDict

SETTINGS, SAMPLES = 64, 256
"""Parameters drawn for training, and samples of each group made with each."""
EPOCHS = 12
_BATCH = 256
_RATE = 2e-3
_MASKED_BLOCK, _MASKED_FEATURE = 0.15, 0.1
"""Probabilities that a whole block (words, voice, ...) or one feature of a sample is masked in training."""


def train(*, seed: int, seq_len: int = 5, dim: int = 48, settings: int = SETTINGS, epochs: int = EPOCHS) -> Classifier:
    """Train a classifier on samples generated under parameters drawn at random from the space, both groups alike.

    Everything drawn follows from ``seed``: the same seed gives the same weights on the same machine, whatever the
    number of threads. The seeds of the training samples lie in the upper half of the seeds (2^31 and above), so
    a benchmark of a smaller seed shares no sample with them.

    Args:
        seed: The seed, 0 to 2^31 - 1.
        seq_len: The number of time steps of a sample.
        dim: The number of features of a time step.
        settings: The number of parameters that are drawn.
        epochs: The number of passes over all samples.

    Raises:
        FairnessError: The seed is out of its range, or `environment.generate` refuses the shape.
    """
    import torch

    if not 0 <= seed < 2**31:
        raise FairnessError(f"the seed of a training is {seed}: it must lie in 0 to {2**31 - 1}")
    draws = np.random.default_rng(seed)
    features, labels = [], []
    for _ in range(settings):
        parameters = EmotionParameters(**dict(EMOTION.drawn(draws)))  # type: ignore[arg-type]
        for group in GROUPS:
            batch_seed = int(draws.integers(2**31, 2**32))
            for batch in generate(parameters, n=SAMPLES, seq_len=seq_len, dim=dim, group=group, seed=batch_seed):
                features.append(summarize(batch.features))
                labels.append(batch.labels)
    return _fit(torch.cat(features), torch.cat(labels), thirds(dim), seed, epochs)


def _fit(summaries: Tensor, labels: Tensor, blocks: Sequence[slice], seed: int, epochs: int) -> Classifier:
    import torch

    generator = torch.Generator().manual_seed(seed)
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        modules = network(summaries.shape[1] // 2, len(EMOTIONS)).eval()
        modules["summary"].get_buffer("running_mean").copy_(summaries.mean(0))
        modules["summary"].get_buffer("running_var").copy_(summaries.var(0, correction=0))
        with torch.no_grad():
            standard = modules["summary"](summaries)
        batches = -(-len(labels) // _BATCH)
        optimizer = torch.optim.AdamW(modules.parameters(), lr=_RATE)
        rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=epochs * batches)
        for _ in range(epochs):
            order = torch.randperm(len(labels), generator=generator)
            for begin in range(0, len(order), _BATCH):
                rows = order[begin : begin + _BATCH]
                optimizer.zero_grad()
                loss = _loss(modules, _mask(standard[rows], blocks, generator), standard[rows], labels[rows])
                loss.backward()
                optimizer.step()
                rates.step()
    return Classifier(modules.double(), EMOTIONS)


def _mask(standard: Tensor, blocks: Sequence[slice], generator: Generator) -> Tensor:
    """Return standardized summaries with random blocks and features masked: set to their mean."""
    import torch

    dim = standard.shape[1] // 2
    is_visible = torch.rand(len(standard), dim, generator=generator) >= _MASKED_FEATURE
    for block in blocks:
        is_visible[:, block] &= torch.rand(len(standard), 1, generator=generator) >= _MASKED_BLOCK
    return standard * is_visible.repeat(1, 2)


def _loss(modules: ModuleDict, masked: Tensor, standard: Tensor, labels: Tensor) -> Tensor:
    """Return the loss: of the forward reading, the reconstruction, and the contrast between emotions."""
    from torch.nn.functional import cross_entropy, mse_loss

    dim = standard.shape[1] // 2
    forwards = cross_entropy(modules["forwards"](masked), labels)
    reverse = mse_loss(reconstructions(modules)[labels], standard[:, :dim])
    contrast = cross_entropy(backward_scores(modules, masked[:, :dim]), labels)
    return forwards + reverse + contrast
