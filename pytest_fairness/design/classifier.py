"""A neural student that classifies emotions forwards, from features, and backwards, by reconstruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fairness import FairnessError
from pytest_fairness.design.environment import EMOTIONS
from pytest_fairness.design.students import EmotionReading
from pytest_fairness.extending import json_text as json

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import ModuleDict

_WIDTH = 96
_FORMAT = "pytest-fairness emotion classifier 1"


@dataclass(frozen=True)
class Classifier:
    """A trained network with bidirectional verification.

    A sample is summarized by the mean of each feature over the sequence, and by its spread. *Forwards*, a network
    reads the emotion from the summary. *Backwards*, another reconstructs the means from each emotion, and the emotion
    whose reconstruction lies nearest to the sample's own means (by a learned cosine) is read. Without verification a
    reading is the forward one and its confidence the forward softmax. With it a reading is *verified* where both
    directions agree; where they disagree the sample is read again by both together, as the emotion with the largest
    sum of the two log probabilities, and the confidence is the softmax of their mean, which is lower there.

    Reading is in float64 on one thread, so that it does not depend on the number of threads.
    `training.train` makes one; ``save`` and ``load`` keep its weights as safetensors, without pickle.
    """

    modules: ModuleDict
    emotions: Sequence[str] = EMOTIONS

    def read(self, features: Tensor, *, verification: bool) -> EmotionReading:
        """Read float [n, seq_len, dim]. Raises `FairnessError` where dim is not what it was trained on."""
        import torch

        dim = len(self.modules["summary"].get_buffer("running_mean")) // 2
        if features.ndim != 3 or features.shape[2] != dim:
            raise FairnessError(
                f"features have shape {list(features.shape)}: this classifier reads [n, seq_len, {dim}]"
            )
        with torch.inference_mode(), one_thread():
            summary = self.modules["summary"](summarize(features.double()))
            forwards = self.modules["forwards"](summary).log_softmax(1)
            if not verification:
                confidence, labels = forwards.exp().max(1)
                return EmotionReading(labels, confidence)
            backwards = backward_scores(self.modules, summary[:, :dim]).log_softmax(1)
            total = forwards + backwards
            confidence = (total / 2).softmax(1).amax(1)
            return EmotionReading(total.argmax(1), confidence, forwards.argmax(1) == backwards.argmax(1))

    def save(self, path: Path | str) -> None:
        """Write the weights and the emotions' names as safetensors."""
        from safetensors.torch import save_file

        names = {"format": _FORMAT, "emotions": json.dumps(list(self.emotions))}
        # The weights were trained in float32: nothing is lost.
        weights = {
            name: value.float() if value.is_floating_point() else value
            for name, value in self.modules.state_dict().items()
        }
        save_file(weights, path, names)

    @classmethod
    def load(cls, path: Path | str) -> Classifier:
        """Read what ``save`` wrote. Raises `FairnessError` for any other file."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "pt") as file:
                metadata = file.metadata() or {}
                weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError) as error:
            raise FairnessError(
                f"{path} cannot be read as safetensors ({error}): train and save a classifier"
            ) from None
        if metadata.get("format") != _FORMAT:
            raise FairnessError(f"{path} holds no weights of a classifier: write them with Classifier.save")
        emotions = tuple(json.loads(metadata["emotions"]))
        modules = network(len(weights["summary.running_mean"]) // 2, len(emotions)).double()
        modules.load_state_dict(weights)
        return cls(modules.eval(), emotions)


def summarize(features: Tensor) -> Tensor:
    """Return [n, 2 dim]: the mean of each feature over the sequence, and its standard deviation."""
    import torch

    return torch.cat([features.mean(1), features.std(1, correction=0)], dim=1)


def network(dim: int, emotions: int) -> ModuleDict:
    """Return the untrained network; its first weights are drawn from torch's global generator.

    ``summary`` only standardizes: its running moments are set once, from the training data.
    """
    from torch import nn

    return nn.ModuleDict(
        {
            "summary": nn.BatchNorm1d(2 * dim, affine=False),
            "forwards": nn.Sequential(
                nn.Linear(2 * dim, _WIDTH), nn.GELU(), nn.Linear(_WIDTH, _WIDTH), nn.GELU(), nn.Linear(_WIDTH, emotions)
            ),
            "backwards": nn.Sequential(nn.Linear(emotions, _WIDTH), nn.GELU(), nn.Linear(_WIDTH, dim)),
            "compared": nn.Linear(dim, _WIDTH, bias=False),
        }
    )


def backward_scores(modules: ModuleDict, means: Tensor) -> Tensor:
    """Return logits [n, emotions]: ten times the cosine between standardized means [n, dim] and each emotion's."""
    from torch.nn.functional import normalize

    observed = normalize(modules["compared"](means), dim=1)
    return 10 * observed @ normalize(modules["compared"](reconstructions(modules)), dim=1).T


def reconstructions(modules: ModuleDict) -> Tensor:
    """Return the standardized means [emotions, dim] that the network expects of each emotion."""
    import torch

    first = modules["backwards"].get_parameter("0.weight")
    expected: Tensor = modules["backwards"](torch.eye(first.shape[1], dtype=first.dtype))
    return expected


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread: sums are then deterministic, and small ones are faster."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
