"""Generator of features of emotional speech: words, prosody, and other features.

The method is that of designed benchmarks (Dsouza et al., "Automating Benchmark Design", arXiv:2510.25039),
carried over to the recognition of emotion in neurotypical and alexithymic speakers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from pytest_fairness import FairnessError
from pytest_fairness.extending import did_you_mean, is_number

if TYPE_CHECKING:
    from torch import Tensor

Floats = npt.NDArray[np.float32]
Group = Literal["neurotypical", "alexithymic"]
GROUPS: tuple[Group, Group] = ("neurotypical", "alexithymic")

EMOTIONS = ("joyful", "amazed", "content", "touched", "angry", "afraid", "disdainful", "sad")
"""Emotions by the signs of valence, arousal and control, from +++ and ++- to ---.

The octants are those of Mehrabian 1996 (exuberant, dependent, relaxed, docile, hostile, anxious,
disdainful, bored) under everyday words."""

VALUES = 3
"""Valence, arousal and control: an emotion."""
OTHER_SCALE = 0.5
_BLOCK_SAMPLES, _BLOCK_FEATURES = 64, 2**18
"""The largest blocks of random numbers. They do not depend on the batch, so neither do the numbers."""
_BATCH_BYTES = 2**25
_SEEDS = 2**32
"""torch seeds its generator with 32 bits; a longer seed would repeat a shorter one."""


@dataclass(frozen=True)
class EmotionParameters:
    """The parameters that a designer chooses; all numbers are at least 0 and finite.

    Raises `FairnessError` for another number.
    """

    prosody_variance_neurotypical: float
    prosody_variance_alexithymic: float
    """Scales of the noise in the prosody of a group (they multiply a standard normal draw)."""
    semantic_strength: float
    """Strength of the emotion in the words."""
    noise_level: float
    """Scale of the noise on every feature."""
    verification: bool
    """Whether the student verifies its readings."""

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self) if field.name != "verification"):
            value = getattr(self, name)
            if not is_number(value) or not 0 <= value < math.inf:
                raise FairnessError(f"{name} is {value!r}: it must be a number of at least 0")
        if not isinstance(self.verification, bool):
            raise FairnessError(f"verification is {self.verification!r}: it must be true or false")

    def prosody_variance(self, group: str) -> float:
        """Return the prosody variance of a group. Raises `FairnessError` for an unknown group."""
        if group not in GROUPS:
            raise FairnessError(f"group is {group!r}: {did_you_mean(group, GROUPS)}")
        return self.prosody_variance_neurotypical if group == "neurotypical" else self.prosody_variance_alexithymic


@dataclass(frozen=True)
class Batch:
    """Samples of one group."""

    features: Tensor
    """float32 [b, seq_len, dim]."""
    labels: Tensor
    """int64 [b]: indices in `EMOTIONS`."""
    emotions: Tensor
    """float32 [b, 3]: valence, arousal and control, standard normal each."""


def thirds(dim: int) -> tuple[slice, slice, slice]:
    """Return the slices of the semantic, prosodic and other dimensions; the last one has the remainder.

    >>> thirds(48)
    (slice(0, 16, None), slice(16, 32, None), slice(32, 48, None))

    Raises `FairnessError` under 9 dimensions: each of three values needs one in two thirds.
    """
    if dim < VALUES * VALUES:
        raise FairnessError(f"dim is {dim}: it must be at least {VALUES * VALUES}, three values in each third")
    size = dim // 3
    return slice(0, size), slice(size, 2 * size), slice(2 * size, dim)


def generate(
    parameters: EmotionParameters,
    *,
    n: int,
    seq_len: int = 5,
    dim: int = 48,
    group: Group,
    seed: int,
    batch: int | None = None,
) -> Iterator[Batch]:
    """Stream ``n`` samples of one group, ``batch`` at a time (default: 32 MiB of features).

    A sample's emotion is three values e: valence, arousal and control, each standard normal; its label is the
    octant that their signs give. Dimension j of the semantic and of the prosodic third carries the value
    e[j mod 3], at every step of the sequence, so that a third is three values in turn. With z and z' standard
    normal, drawn for every element, a feature is::

        semantic   e * semantic_strength                    + z' * noise_level
        prosodic   z * prosody_variance_of_the_group + e    + z' * noise_level
        other      z * 0.5                                  + z' * noise_level

    The sum of two independent normals is one normal of scale sqrt(a^2 + b^2), so one is drawn. A label of weak
    values is hard to recognize, one of strong values easy: recognition gets worse with the noise of both thirds.

    The same seed gives the same numbers for any ``batch``, any ``n`` that reaches so far and any number of
    threads. Both groups of one seed are pairs: sample i has the same emotion, the same words and the same draws,
    and differs in the scale of its prosody alone. Other seeds are independent. ``seed`` is 0 to 2^32 - 1.

    >>> first = EmotionParameters(1.5, 0.3, 0.7, 0.1, True)
    >>> [list(batch.features.shape) for batch in generate(first, n=5, group="alexithymic", seed=1, batch=3)]
    [[3, 5, 48], [2, 5, 48]]

    Raises `FairnessError` for sizes under 1, ``dim`` under 9, a seed out of range or an unknown group.
    """
    for name, size in (("n", n), ("seq_len", seq_len), ("batch", 1 if batch is None else batch)):
        if size < 1:
            raise FairnessError(f"{name} is {size}: it must be at least 1")
    if not 0 <= seed < _SEEDS:
        raise FairnessError(f"seed is {seed}: it must lie in 0 to {_SEEDS - 1}")
    size = batch or max(1, _BATCH_BYTES // (4 * seq_len * dim))
    return _stream(_Channels(parameters, group, dim), n, seq_len, dim, seed, size)


class _Channels:
    """The linear map from emotions and standard normal noise to the features of a group."""

    def __init__(self, parameters: EmotionParameters, group: Group, dim: int) -> None:
        semantic, prosodic, other = thirds(dim)
        self._values = np.zeros(dim, dtype=np.int64)
        self._gain, self._scale = np.zeros(dim, dtype=np.float32), np.zeros(dim, dtype=np.float32)
        for third, gain, noise_scale in (
            (semantic, parameters.semantic_strength, 0.0),
            (prosodic, 1.0, parameters.prosody_variance(group)),
            (other, 0.0, OTHER_SCALE),
        ):
            self._values[third] = np.arange(third.stop - third.start) % VALUES
            self._gain[third] = gain
            self._scale[third] = math.hypot(noise_scale, parameters.noise_level)

    def write(self, features: Floats, emotions: Floats, noise: Floats) -> None:
        """Write features [b, seq_len, dim] from emotions [b, 3] and noise [b, seq_len, dim]."""
        np.multiply(noise, self._scale, out=features)
        features += (emotions[:, self._values] * self._gain)[:, None, :]


def _stream(channels: _Channels, n: int, seq_len: int, dim: int, seed: int, size: int) -> Iterator[Batch]:
    # numpy scales and adds: on arrays of these sizes torch would use a second thread, and wait for it.
    import torch

    generator = torch.Generator().manual_seed(seed)
    block = max(1, min(_BLOCK_SAMPLES, _BLOCK_FEATURES // (seq_len * dim)))
    emotions, noise = torch.empty(block, VALUES), torch.empty(block, seq_len, dim)
    used = block
    for begin in range(0, n, size):
        count = min(size, n - begin)
        features, batch_emotions = torch.empty(count, seq_len, dim), torch.empty(count, VALUES)
        filled = 0
        while filled < count:
            if used == block:
                emotions.normal_(generator=generator)
                noise.normal_(generator=generator)
                used = 0
            size_taken = min(count - filled, block - used)
            source, target = slice(used, used + size_taken), slice(filled, filled + size_taken)
            batch_emotions[target] = emotions[source]
            channels.write(features[target].numpy(), emotions[source].numpy(), noise[source].numpy())
            used, filled = used + size_taken, filled + size_taken
        yield Batch(features, octants(batch_emotions), batch_emotions)


def octants(values: Tensor) -> Tensor:
    """Return the labels, int64 [b], that the signs of [b, 3] values give."""
    import torch

    return (values < 0).long() @ torch.tensor([4, 2, 1])
