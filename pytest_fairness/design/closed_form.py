"""A student whose accuracy is known in closed form: the ground truth for tests of designers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_fairness import FairnessError
from pytest_fairness.design.environment import VALUES, EmotionParameters, Group, octants, thirds
from pytest_fairness.design.students import EmotionReading

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class LinearReader:
    """Estimates each of an emotion's three values by its mean over the words and over the voice, and takes signs.

    ``words`` (0 to 1) is the weight of the words' mean, the rest that of the voice. The estimate of a value e is
    ``signal * e + noise * z`` with::

        signal   words * semantic_strength + (1 - words)
        noise^2  (words^2 * level^2 + (1 - words)^2 * (variance^2 + level^2)) / k

    where k features of a third carry the value. The signs of two centered normals that correlate by r agree with
    probability 1/2 + arcsin(r)/pi (Sheppard 1899), here 1/2 + arctan(signal/noise)/pi, and the three values are
    independent. ``verified`` is true where words and voice alone have the same label; it changes no label, so
    the accuracy does not depend on ``parameters.verification``. The confidence has a fixed slope and is not calibrated.

    >>> reader, first = LinearReader(), EmotionParameters(1.5, 0.3, 0.7, 0.1, True)
    >>> round(reader.exact_accuracy(first, "neurotypical"), 3), round(reader.exact_ratio(first), 3)
    (0.846, 1.14)

    Raises `FairnessError` for a weight that is not between 0 and 1.
    """

    words: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.words <= 1:
            raise FairnessError(f"the weight of the words is {self.words!r}: it must lie in 0 to 1")

    def read(self, features: Tensor, *, verification: bool) -> EmotionReading:
        semantic, prosodic, _ = thirds(features.shape[2])
        words, voice = value_means(features[:, :, semantic]), value_means(features[:, :, prosodic])
        estimates = self.words * words + (1 - self.words) * voice
        confidence = (4 * estimates.abs()).sigmoid().prod(1)
        verified = octants(words) == octants(voice) if verification else None
        return EmotionReading(octants(estimates), confidence, verified)

    def exact_accuracy(self, parameters: EmotionParameters, group: Group, *, seq_len: int = 5, dim: int = 48) -> float:
        """Return the expected share of correct labels."""
        size = thirds(dim)[0].stop
        level, variance = parameters.noise_level, parameters.prosody_variance(group)
        signal = self.words * parameters.semantic_strength + (1 - self.words)
        noise = math.hypot(self.words * level, (1 - self.words) * math.hypot(variance, level))
        accuracy = 1.0
        for value in range(VALUES):
            carriers = seq_len * len(range(value, size, VALUES))
            accuracy *= 0.5 + math.atan2(signal, noise / math.sqrt(carriers)) / math.pi
        return accuracy

    def exact_ratio(self, parameters: EmotionParameters) -> float:
        """Return the accuracy for alexithymic over that for neurotypical speakers."""
        return self.exact_accuracy(parameters, "alexithymic") / self.exact_accuracy(parameters, "neurotypical")


def value_means(third: Tensor) -> Tensor:
    """Return the means [n, 3], in float64, of the features [n, seq_len, size] that carry each value."""
    import torch

    means = third.double().mean(1)
    return torch.stack([means[:, value::VALUES].mean(1) for value in range(VALUES)], dim=1)
