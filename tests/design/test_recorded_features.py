"""A user's own recorded features are a benchmark, or are refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_fairness.core import json_records
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.design.environment import EMOTIONS, GROUPS, EmotionParameters, generate, thirds
from pytest_fairness.design.recorded_features import load_recording
from pytest_fairness.design.students import CallableStudent, evaluate

FIRST = EmotionParameters(1.5, 0.3, 0.7, 0.1, False)


def arrays(**changed: Any) -> dict[str, Any]:
    """Return samples as a user would have recorded them: 60 of each group, words, voice, face and gesture."""
    batches = {group: next(generate(FIRST, n=60, group=group, seed=3)) for group in GROUPS}
    features = np.concatenate([batch.features.numpy() for batch in batches.values()])
    words, voice, other = (features[:, :, third] for third in thirds(48))
    recorded = {
        "voice": voice,
        "words": words,
        "gesture": other[:, :, 10:],
        "face": other[:, :, :10],
        "labels": np.array([EMOTIONS[label] for batch in batches.values() for label in batch.labels]),
        "groups": np.array([group for group in GROUPS for _ in range(60)]),
    }
    return {name: array for name, array in {**recorded, **changed}.items() if array is not None}


def written(folder: Path, recorded: dict[str, Any], kind: str = "npz") -> Path:
    path = folder / f"own.{kind}"
    if kind == "npz":
        np.savez(path, **recorded)
    else:
        from safetensors.numpy import save_file

        places = {
            "labels": np.array([EMOTIONS.index(name) for name in recorded["labels"]]),
            "groups": np.array([GROUPS.index(name) for name in recorded["groups"]]),
        }
        save_file({name: np.ascontiguousarray(array) for name, array in {**recorded, **places}.items()}, path)
    return path


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_recording_gives_the_outcomes_of_its_samples(tmp_path: Path, kind: str) -> None:
    recording = load_recording(written(tmp_path, arrays(), kind))
    student = CallableStudent(lambda features: features.mean(1)[:, 8:16])
    outcomes, expected = recording.evaluate(student, verification=False), evaluate(student, FIRST, n=60, seed=3)
    for group in GROUPS:
        assert outcomes[group].correct.tolist() == expected[group].correct.tolist()
        assert outcomes[group].confidence.tolist() == pytest.approx(expected[group].confidence.tolist())


def test_recording_may_have_other_groups_and_emotions(tmp_path: Path) -> None:
    labels, groups = np.array(["calm", "glad"] * 60), np.array(["deaf"] * 30 + ["hearing"] * 90)
    path = written(tmp_path, arrays(labels=labels, groups=groups))
    recording = load_recording(path, groups=("hearing", "deaf"), emotions=("glad", "calm"))
    assert recording.labels.tolist() == [1, 0] * 60
    outcomes = recording.evaluate(CallableStudent(lambda features: features[:, 0, :2]), verification=False)
    assert {group: len(outcome.correct) for group, outcome in outcomes.items()} == {"deaf": 30, "hearing": 90}


def spoilt(name: str, value: float) -> Callable[[dict[str, Any]], None]:
    def spoil(data: dict[str, Any]) -> None:
        array = data[name].astype(float)
        array[3, 2, 1] = value
        data[name] = array

    return spoil


def changed(name: str, array: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data.update({name: array})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("voice"), "has no 'voice': it needs words, voice, labels, groups"),
        (lambda data: data.pop("groups"), "has no 'groups'"),
        (spoilt("face", np.nan), "'face' is nan at sample 3, step 2, feature 1: all must be finite"),
        (spoilt("words", -np.inf), "'words' is -inf at sample 3"),
        (spoilt("voice", 1e60), "'voice' is 1e+60 at sample 3"),
        (changed("words", np.zeros((120, 16))), "'words' has shape [120, 16]: it must be [n, seq_len, size]"),
        (changed("face", np.zeros((120, 5, 0))), "'face' has shape [120, 5, 0]"),
        (
            changed("voice", np.zeros((119, 5, 16))),
            "'voice' has shape [119, 5, 16]: its n and seq_len must be [120, 5]",
        ),
        (changed("gesture", np.zeros((120, 6, 2))), "'gesture' has shape [120, 6, 2]"),
        (changed("gesture", np.full((120, 5, 2), "wave")), "'gesture' holds <U4: it must hold real numbers"),
        (changed("gesture", np.ones((120, 5, 2), complex)), "'gesture' holds complex128: it must hold real numbers"),
        (changed("labels", np.array(["joyful"] * 119)), "'labels' has shape [119]: it must be [120]"),
        (changed("labels", np.array(["joyfull"] * 120)), "'labels' has 'joyfull': did you mean 'joyful'?"),
        (changed("labels", np.full(120, 8)), "'labels' has 8: places are 0 to 7"),
        (changed("labels", np.full(120, -1)), "'labels' has -1"),
        (changed("labels", np.zeros(120)), "'labels' holds float64: it must hold names, or places from 0"),
        (changed("groups", np.array(["autistic"] * 120)), "'groups' has 'autistic'"),
        (changed("groups", np.zeros(120, int)), "has no sample of the group 'alexithymic'"),
        (changed("face", np.full((120, 5, 2), None)), "cannot be read (Object arrays cannot be loaded"),
    ],
)
def test_recording_mistakes_are_reported_in_one_line(
    tmp_path: Path, change: Callable[[Any], Any], message: str
) -> None:
    data = arrays()
    change(data)
    path = written(tmp_path, data)
    with pytest.raises(FairnessError) as caught:
        load_recording(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["own.npz", "own.safetensors", "own.npy", "own.pkl", "array.npz", "missing.npz", "missing.safetensors"]
)
def test_other_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if path.stem == "own":
        path.write_bytes(b"\x80\x04\x95nothing of the kind")
    elif path.stem == "array":
        with path.open("wb") as stream:
            np.save(stream, np.zeros(3))
    with pytest.raises(FairnessError, match=r"^[^\n]*(cannot be read|a recording is an \.npz)[^\n]*$"):
        load_recording(path)


def test_truncated_file_is_refused(tmp_path: Path) -> None:
    for kind in ("npz", "safetensors"):
        path = written(tmp_path, arrays(), kind)
        path.write_bytes(path.read_bytes()[:-200])
        with pytest.raises(FairnessError, match=r"^[^\n]*cannot be read[^\n]*$"):
            load_recording(path)


def test_recording_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, voice=np.zeros(2**18))
    monkeypatch.setattr(json_records, "_UNPACKED", 2**20)
    with pytest.raises(FairnessError, match=r"bomb.npz is packed by more than a factor of 100"):
        load_recording(path)
