"""Students: the closed form, the trained network with and without verification, and callables."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.design.classifier import Classifier
from pytest_fairness.design.closed_form import LinearReader
from pytest_fairness.design.environment import EMOTIONS, GROUPS, EmotionParameters, generate, thirds
from pytest_fairness.design.students import CallableStudent, EmotionReading, Student, evaluate
from pytest_fairness.design.training import train

torch: Any = pytest.importorskip("torch", reason="students need torch")

FIRST = EmotionParameters(1.5, 0.3, 0.7, 0.1, True)
HARD = EmotionParameters(2.0, 1.0, 0.3, 0.5, True)


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    return train(seed=0, settings=16, epochs=10)


@pytest.fixture(autouse=True)
def same_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("words", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize(
    ("parameters", "seq_len", "dim"),
    [(FIRST, 5, 48), (HARD, 5, 48), (HARD, 2, 50), (EmotionParameters(1, 3, 0.1, 2, False), 1, 9)],
)
def test_linear_reader_accuracy_matches_its_closed_form(
    words: float, parameters: EmotionParameters, seq_len: int, dim: int
) -> None:
    reader, n = LinearReader(words), 6_000
    for group, outcomes in evaluate(reader, parameters, n=n, seed=11, seq_len=seq_len, dim=dim).items():
        exact = reader.exact_accuracy(parameters, group, seq_len=seq_len, dim=dim)  # type: ignore[arg-type]
        assert outcomes.correct.mean() == pytest.approx(exact, abs=4.5 * math.sqrt(exact * (1 - exact) / n) + 1e-12), (
            group
        )


def test_exact_ratio_is_one_at_equal_variances() -> None:
    reader = LinearReader()
    assert reader.exact_ratio(EmotionParameters(0.8, 0.8, 0.5, 0.2, True)) == pytest.approx(1)
    ratios = [reader.exact_ratio(EmotionParameters(1, own, 0.5, 0.2, True)) for own in (0.1, 0.5, 1.0, 2.0)]
    assert ratios == sorted(ratios, reverse=True)
    assert LinearReader(1).exact_ratio(FIRST) == 1
    for quiet in (True, False):
        assert reader.exact_ratio(EmotionParameters(1.5, 0.3, 0.7, 0.1, quiet)) == reader.exact_ratio(FIRST)
    with pytest.raises(FairnessError, match=r"the weight of the words is 1\.2"):
        LinearReader(1.2)


def test_verification_of_the_linear_reader_changes_no_label() -> None:
    features = next(generate(HARD, n=500, group="neurotypical", seed=3)).features
    plain, verified = (LinearReader().read(features, verification=on) for on in (False, True))
    assert torch.equal(plain.labels, verified.labels)
    assert plain.verified is None
    assert verified.verified is not None
    assert 0.1 < verified.verified.double().mean() < 0.9


@pytest.mark.slow
def test_trained_classifier_generalizes(classifier: Classifier) -> None:
    for group, outcomes in evaluate(classifier, FIRST, n=1_500, seed=5).items():
        assert outcomes.correct.mean() > 0.87, group
        # Better than a reader of fixed weights, since it learned which third is the noisy one.
    assert evaluate(classifier, FIRST, n=1_500, seed=5)["neurotypical"].correct.mean() > LinearReader().exact_accuracy(
        FIRST, "neurotypical"
    )
    easy = [
        evaluate(classifier, parameters, n=1_500, seed=5)["neurotypical"].correct.mean() for parameters in (FIRST, HARD)
    ]
    assert easy[0] > easy[1] + 0.1
    assert easy[1] > 0.5


@pytest.mark.slow
def test_backward_reading_alone_predicts_emotions(classifier: Classifier) -> None:
    """Agreement would verify nothing if the reverse direction guessed: by chance it would agree in an eighth."""
    for group, outcomes in evaluate(classifier, FIRST, n=1_000, seed=6).items():
        assert outcomes.verified is not None
        assert outcomes.verified.mean() > 0.8, group


@pytest.mark.slow
def test_verified_readings_are_right_more_often(classifier: Classifier) -> None:
    batches = list(generate(HARD, n=4_000, group="neurotypical", seed=8))
    features, labels = torch.cat([part.features for part in batches]), torch.cat([part.labels for part in batches])
    plain, verified = (classifier.read(features, verification=on) for on in (False, True))
    assert plain.verified is None
    assert verified.verified is not None
    is_verified = verified.verified
    assert 0.5 < is_verified.double().mean() < 1
    right = (verified.labels == labels).double()
    assert right[is_verified].mean() > right[~is_verified].mean() + 0.15
    assert torch.equal(plain.labels[is_verified], verified.labels[is_verified])
    assert not torch.equal(plain.labels[~is_verified], verified.labels[~is_verified])
    assert verified.confidence[is_verified].mean() > verified.confidence[~is_verified].mean() + 0.15
    for reading in (plain, verified):
        assert ((reading.confidence > 1 / 8) & (reading.confidence <= 1)).all()


@pytest.mark.slow
def test_masked_words_or_voice_leave_accuracy_above_chance(classifier: Classifier) -> None:
    batch = next(generate(EmotionParameters(0.5, 0.5, 1.0, 0.1, False), n=800, group="neurotypical", seed=9))
    for third in thirds(48)[:2]:
        masked = batch.features.clone()
        masked[:, :, third] = 0
        right = classifier.read(masked, verification=False).labels == batch.labels
        assert right.double().mean() > 0.5, third


def test_training_depends_on_its_seed_only() -> None:
    weights = []
    for threads, seed in ((1, 4), (2, 4), (1, 5)):
        torch.set_num_threads(threads)
        torch.manual_seed(threads + seed)
        expected = torch.rand(1, generator=torch.Generator().manual_seed(threads + seed))
        weights.append(train(seed=seed, settings=1, epochs=2).modules.state_dict())
        assert torch.equal(torch.rand(1), expected)
        assert torch.get_num_threads() == threads
    first, again, other = weights
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


@pytest.mark.slow
def test_readings_do_not_depend_on_threads_or_batch(classifier: Classifier) -> None:
    features = next(generate(HARD, n=300, group="neurotypical", seed=2)).features
    readings = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        readings.append(classifier.read(features, verification=True))
    parts = [classifier.read(part, verification=True) for part in torch.tensor_split(features, 9)]
    assert torch.equal(readings[0].confidence, readings[1].confidence)
    assert torch.equal(readings[0].labels, torch.cat([part.labels for part in parts]))
    assert torch.allclose(readings[0].confidence, torch.cat([part.confidence for part in parts]), atol=1e-12, rtol=0)


@pytest.mark.slow
def test_weights_are_restored_in_another_process(classifier: Classifier, tmp_path: Path) -> None:
    path = tmp_path / "student.safetensors"
    classifier.save(path)
    assert b"pickle" not in path.read_bytes()[:4096]
    code = (
        "import sys, torch; torch.set_num_threads(1)\n"
        "from pytest_fairness.design.classifier import Classifier\n"
        "from pytest_fairness.design.environment import EmotionParameters\n"
        "from pytest_fairness.design.students import evaluate\n"
        "groups = evaluate(Classifier.load(sys.argv[1]), EmotionParameters(1.5, 0.3, 0.7, 0.1, True), n=500, seed=1)\n"
        "print(*[value for group in groups.values() for value in (group.correct.sum(), group.confidence.sum())])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    here = evaluate(classifier, FIRST, n=500, seed=1)
    expected = [value for outcomes in here.values() for value in (outcomes.correct.sum(), outcomes.confidence.sum())]
    assert [float(value) for value in process.stdout.split()] == pytest.approx(expected, rel=1e-12)
    assert Classifier.load(path).emotions == EMOTIONS


@pytest.mark.slow
def test_files_without_a_classifier_are_refused(tmp_path: Path, classifier: Classifier) -> None:
    from safetensors.torch import save_file

    other, text = tmp_path / "other.safetensors", tmp_path / "text.safetensors"
    save_file({"weight": torch.zeros(2)}, other)
    text.write_bytes(b"no weights")
    for path, message in (
        (other, "holds no weights of a classifier"),
        (text, "cannot be read as safetensors"),
        (tmp_path / "none.safetensors", "cannot be read as safetensors"),
    ):
        with pytest.raises(FairnessError, match=rf"^[^\n]*{message}[^\n]*$"):
            Classifier.load(path)
    with pytest.raises(
        FairnessError, match=r"features have shape \[2, 5, 30\]: this classifier reads \[n, seq_len, 48\]"
    ):
        classifier.read(torch.zeros(2, 5, 30), verification=False)
    with pytest.raises(FairnessError, match=r"the seed of a training is 2147483648"):
        train(seed=2**31)


def test_any_callable_from_features_to_scores_is_a_student() -> None:
    outcomes = evaluate(CallableStudent(lambda features: features[:, 0, :8] * 2), FIRST, n=200, seed=1)
    assert set(outcomes) == set(GROUPS)
    for outcome in outcomes.values():
        assert outcome.verified is None
        assert ((outcome.confidence >= 1 / 8) & (outcome.confidence <= 1)).all()
    assert isinstance(CallableStudent(len), Student)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (lambda features: features[:, 0, 0], r"scores of shape \[3\]: it must give \[3, emotions\]"),
        (lambda features: features[:1, 0], r"scores of shape \[1, 48\]"),
        (lambda features: features[:, 0] * math.nan, "scores that are not finite"),
    ],
)
def test_scores_of_a_callable_are_checked(scores: Any, message: str) -> None:
    with pytest.raises(FairnessError, match=message):
        CallableStudent(scores).read(torch.ones(3, 5, 48), verification=False)


def test_unread_samples_are_neither_right_nor_wrong() -> None:
    class Silent:
        def read(self, features: torch.Tensor, *, verification: bool) -> EmotionReading:
            labels = torch.zeros(len(features), dtype=torch.long)
            labels[::2] = -1
            return EmotionReading(labels, torch.full((len(features),), math.nan), labels == 0)

    for outcome in evaluate(Silent(), FIRST, n=10, seed=1).values():
        assert outcome.verified is not None
        assert np.isnan(outcome.correct).tolist() == np.isnan(outcome.verified).tolist() == [True, False] * 5

    class Short:
        def read(self, features: torch.Tensor, *, verification: bool) -> EmotionReading:
            return EmotionReading(torch.zeros(1), torch.zeros(len(features)))

    with pytest.raises(FairnessError, match=r"a student gave labels of shape \[1\]: it must be \[10\]"):
        evaluate(Short(), FIRST, n=10, seed=1)
