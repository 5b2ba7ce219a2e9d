"""A folder of recordings is a benchmark: features of voices, conditions of listening, and refusals in one line."""

from __future__ import annotations

import csv
import json
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_fairness import FairnessError
from pytest_fairness.cli.main import main
from pytest_fairness.design.probes import is_held_out
from pytest_fairness.design.voice_recordings import COLUMNS, FEATURES, TABLE, read_recordings, voice_features
from tests.helpers import espeak_voices

pytest.importorskip("parselmouth", reason="recordings need parselmouth")
RATE = 16_000


def write_voice(
    path: Path, *, pitch: float = 150, semitones: float = 3, seconds: float = 0.6, loud: float = 0.3
) -> Path:
    """Write a buzzing tone whose pitch swings by so many semitones either way."""
    times = np.arange(int(seconds * RATE)) / RATE
    frequency = pitch * 2 ** (semitones / 12 * np.sin(2 * np.pi * 3 * times))
    phase = 2 * np.pi * np.cumsum(frequency) / RATE
    samples = sum(np.sin(harmonic * phase) / harmonic for harmonic in range(1, 12))
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", "not compressed"))
        file.writeframes((loud * 32767 / 2 * np.asarray(samples)).clip(-32767, 32767).astype("<i2").tobytes())
    return path


def feature(path: Path, name: str, seed: int = 0, **parameters: float) -> float:
    return float(voice_features(path, parameters, seed)[FEATURES.index(name)])


def test_features_are_those_of_the_voice(tmp_path: Path) -> None:
    low, high = write_voice(tmp_path / "low.wav"), write_voice(tmp_path / "high.wav", pitch=300, semitones=1, loud=0.6)
    octave = feature(high, "median pitch") - feature(low, "median pitch")
    assert octave == pytest.approx(12, abs=0.5)
    assert feature(low, "spread of pitch") == pytest.approx(3 / 2**0.5, abs=0.4)
    assert feature(high, "spread of pitch") == pytest.approx(1 / 2**0.5, abs=0.2)
    assert feature(high, "loudness") - feature(low, "loudness") == pytest.approx(6, abs=1)


@pytest.mark.parametrize("factor", [0.1, 0.5, 2.0])
def test_pitch_range_scales_the_movement_and_keeps_the_pitch(tmp_path: Path, factor: float) -> None:
    path = write_voice(tmp_path / "a.wav", semitones=2)
    before, after = (feature(path, "spread of pitch", pitch_range=times) for times in (1.0, factor))
    assert after == pytest.approx(factor * before, abs=0.35)
    assert feature(path, "median pitch", pitch_range=factor) == pytest.approx(feature(path, "median pitch"), abs=0.6)


def test_noise_depends_on_the_seed_and_hides_the_voice(tmp_path: Path) -> None:
    path = write_voice(tmp_path / "a.wav")
    first, again, other = (voice_features(path, {"noise_level": 0.5}, seed) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist() != other.tolist()
    assert feature(path, "center", noise_level=1.0) > feature(path, "center") + 0.5


def test_sound_that_is_too_short_is_refused(tmp_path: Path) -> None:
    path = write_voice(tmp_path / "a.wav", seconds=0.06)
    with pytest.raises(FairnessError, match=r"a\.wav is too short"):
        voice_features(path, {}, 0)


def test_sound_without_a_pitch_is_heard_and_silence_is_refused(tmp_path: Path) -> None:
    hiss = tmp_path / "hiss.wav"
    for path, samples in (
        (hiss, np.random.default_rng(0).integers(-9000, 9000, RATE // 2)),
        (tmp_path / "no.wav", np.zeros(RATE)),
    ):
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", "not compressed"))
            file.writeframes(samples.astype("<i2").tobytes())
    assert np.isfinite(voice_features(hiss, {"pitch_range": 0.5}, 0)).all()
    with pytest.raises(FairnessError, match=r"no\.wav is silent"):
        voice_features(tmp_path / "no.wav", {}, 0)


def write_table(folder: Path, rows: list[tuple[str, ...]]) -> Path:
    with (folder / TABLE).open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([COLUMNS, *rows])
    return folder


@pytest.fixture
def voices(tmp_path: Path) -> Path:
    """Return a folder of 20 speakers: the glad speak high, the sad low, and the flat group moves its pitch little."""
    rows: list[tuple[str, ...]] = []
    for number in range(20):
        group = "flat" if number % 2 else "moving"
        for emotion, pitch in (("joyful", 240 + 2 * number), ("sad", 130 + 2 * number)):
            name = f"{number}-{emotion}.wav"
            write_voice(tmp_path / name, pitch=pitch, semitones=0.3 if group == "flat" else 3, seconds=0.4)
            rows.append((name, f"speaker-{number}", group, emotion))
    return write_table(tmp_path, rows)


def test_reader_reads_speakers_that_it_was_not_trained_on(voices: Path) -> None:
    benchmark = read_recordings(voices)
    assert benchmark.groups == ("moving", "flat")
    parameters = {"pitch_range": 1.0, "noise_level": 0.0, "heard": 1.0}
    for measure in (benchmark, benchmark.held_out):
        figures = measure(parameters, [1])
        assert figures["accuracy"].value > 0.9
        assert figures["accuracy_ratio"].value == pytest.approx(1, abs=0.2)
    halves = {is_held_out(one.speaker) for one in benchmark.recordings}
    assert halves == {True, False}
    assert benchmark({**parameters, "noise_level": 1.0}, [1])["accuracy"].value < 1


def test_command_designs_on_a_folder(
    voices: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(voices)
    options = ["--recordings", ".", "--iterations", "2", "--target", "1.3", "--designer", "rs-ppr"]
    assert main(["design", *options, "--out", "made.json"]) == 0
    assert "ratios are of moving to flat; fresh figures are of speakers held out" in capsys.readouterr().out
    made = json.loads((voices / "made.json").read_text(encoding="utf-8"))
    assert made["recordings"] == 40
    assert made["figures"]["accuracy_ratio"]["value"] > 0
    assert set(made["parameters"]) == {"pitch_range", "noise_level", "heard"}
    assert len((voices / "made.jsonl").read_text(encoding="utf-8").splitlines()) == 3
    assert main(["design", *options, "--out", "made.json"]) == 2
    assert "continue it by --resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a.wav", "x", "flat", "")], r"recordings\.csv:2 has no emotion"),
        ([("no.wav", "x", "flat", "sad")], r"recordings\.csv:2: .*no\.wav is no file"),
        ([("a.wav", "x", "flat", "sad"), ("a.wav", "x", "moving", "sad")], "speaker 'x' is of 'moving' and of 'flat'"),
        ([("a.wav", "x", "flat", "sad")], "the recordings are of 1 group: there must be two"),
        ([("a.wav", "x", "flat", "sad"), ("a.wav", "y", "moving", "sad")], "each half needs both groups"),
        ([], "has no rows"),
    ],
)
def test_fault_of_a_table_is_reported_with_its_line(tmp_path: Path, rows: list[Any], message: str) -> None:
    write_voice(tmp_path / "a.wav")
    with pytest.raises(FairnessError, match=message):
        read_recordings(write_table(tmp_path, rows))


def test_file_that_is_no_sound_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_text("no sound", encoding="utf-8")
    with pytest.raises(FairnessError, match=r"a\.wav cannot be read as a voice"):
        voice_features(tmp_path / "a.wav", {}, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--student", "linear"], "--recordings with --student"),
        (["--samples", "5"], "--recordings with --samples"),
        (["--compare"], "--recordings with --compare"),
        (["--objective", "front"], "name target or worst"),
        ([], "recordings.csv cannot be read"),
    ],
)
def test_options_that_do_not_fit_recordings_are_refused(
    tmp_path: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "made.json")]
    assert main(["design", "--recordings", str(tmp_path), *out, *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not espeak_voices.is_installed(), reason="needs espeak-ng, a package of Debian")
def test_synthesized_voices_are_designed_on(tmp_path: Path) -> None:
    folder = espeak_voices.write_voices(tmp_path / "voices", speakers=10, emotions=2)
    spreads = {
        group: np.mean([feature(path, "spread of pitch") for path in sorted(folder.glob(f"{group}-*.wav"))[:6]])
        for group in espeak_voices.GROUPS
    }
    assert spreads["moving"] > 1.5 * spreads["flat"]
    out = ["--out", str(tmp_path / "made.json")]
    assert main(["design", "--recordings", str(folder), "--iterations", "1", *out]) == 0
    made = json.loads((tmp_path / "made.json").read_text(encoding="utf-8"))
    assert made["groups"] == ["flat", "moving"]
    assert made["figures"]["accuracy"]["value"] > 0.5
