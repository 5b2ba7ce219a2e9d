"""A folder of recordings as a benchmark to design: features of the voice, under conditions that a designer chooses."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_fairness import Estimate, FairnessError, Measured
from pytest_fairness.design.probes import is_held_out
from pytest_fairness.design.records import BenchmarkFigure, seed_of
from pytest_fairness.design.search_space import NumericParameter, Point, Space
from pytest_fairness.extending import counted

Floats = npt.NDArray[np.float64]
TABLE = "recordings.csv"
COLUMNS = ("file", "speaker", "group", "emotion")
FEATURES = (
    "median pitch",
    "spread of pitch",
    "slope of pitch",
    "voiced share",
    "loudness",
    "spread of loudness",
    "center",
)
"""Features of a voice, in their order: semitones, semitones, semitones a second, 0 to 1, dB, dB, octaves."""
FLOOR, CEILING = 75.0, 600.0
"""The range of pitch that is searched for, in Hz."""
_SHORTEST = 6.5 / FLOOR
"""Seconds without which Praat measures no loudness: 6.4 periods of the lowest pitch."""
_STEP = 0.01
"""Seconds between two measurements of the pitch."""
RECORDINGS = Space(
    {
        "pitch_range": NumericParameter(0.1, 2.0, "How far the pitch moves, times what was recorded"),
        "noise_level": NumericParameter(0.0, 1.0, "Loudness of white noise, times that of the voice"),
        "heard": NumericParameter(0.3, 1.0, "Share of a recording that is heard, from its beginning"),
    },
    start={"pitch_range": 1.0, "noise_level": 0.0, "heard": 1.0},
)
"""The conditions of listening, the same for both groups; a search starts with the recordings as they are."""


@dataclass(frozen=True, slots=True)
class VoiceRecording:
    """One row of ``recordings.csv``."""

    path: Path
    speaker: str
    group: str
    emotion: str


@dataclass(frozen=True)
class RecordedVoices:
    """A benchmark of recordings: a reader of voices is trained on half of the speakers, and reads the other half.

    The reader is a logistic regression of `FEATURES`, trained on the recordings as they are. The search evaluates it
    on one half of the speakers; `held_out` evaluates one that was trained on that half on the other. Pitch is changed
    by Praat (``praat-parselmouth``), which keeps the words and their pace.

    Args:
        recordings: The recordings, of two groups; ratios are of the group of the first to the other.
    """

    recordings: Sequence[VoiceRecording]
    _heard: dict[tuple[Path, tuple[float, ...], int], Floats] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if len(self.groups) != 2:
            raise FairnessError(f"the recordings are of {counted(len(self.groups), 'group')}: there must be two")
        for is_held, half in ((False, "searched"), (True, "held out")):
            speakers = [one for one in self.recordings if is_held_out(one.speaker) == is_held]
            groups, emotions = ({getattr(one, name) for one in speakers} for name in ("group", "emotion"))
            if len(groups) < 2 or len(emotions) < 2:
                raise FairnessError(
                    f"the half of the speakers that is {half} has {counted(len(groups), 'group')} and "
                    f"{counted(len(emotions), 'emotion')}: each half needs both groups and two emotions; add speakers"
                )

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups, in the order of their first recordings."""
        return tuple(dict.fromkeys(one.group for one in self.recordings))

    def __call__(self, parameters: Point, seeds: Sequence[int]) -> dict[str, BenchmarkFigure]:
        return self._figures(parameters, seeds, held_out=False)

    def held_out(self, parameters: Point, seeds: Sequence[int]) -> dict[str, BenchmarkFigure]:
        """Return the figures on the speakers that the search never hears."""
        return self._figures(parameters, seeds, held_out=True)

    def _figures(self, parameters: Point, seeds: Sequence[int], *, held_out: bool) -> dict[str, BenchmarkFigure]:
        reader = self._readers[held_out]
        tested = [one for one in self.recordings if is_held_out(one.speaker) == held_out]
        rows = []
        for seed in seeds:
            features = np.array([self._features(one.path, parameters, seed) for one in tested])
            shares = reader.predict_proba(features)
            readings = reader.classes_[shares.argmax(1)]
            rows += [
                {"speaker": one.speaker, "group": one.group, "correct": int(reading == one.emotion), "confidence": sure}
                for one, reading, sure in zip(tested, readings.tolist(), shares.max(1).tolist(), strict=True)
            ]
        return self._estimated(rows)

    def _estimated(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, BenchmarkFigure]:
        measured = Measured.from_rows(rows, item="speaker", groups=["group"])
        first, second = self.groups

        def mean(grade: str, *groups: str) -> float:
            return float(np.mean([row[grade] for row in rows if row["group"] in groups]))

        def ratio(grade: str) -> float:
            return mean(grade, first) / mean(grade, second) if mean(grade, second) else math.nan

        figures: dict[str, tuple[float, Estimate]] = {
            **{
                f"{name}_ratio": (ratio(grade), measured.ratio(grade, by="group", of=first, to=second))
                for name, grade in (("accuracy", "correct"), ("confidence", "confidence"))
            },
            "accuracy": (mean("correct", *self.groups), measured.rate("correct")),
            **{
                f"accuracy_{group}": (mean("correct", group), measured.where(group=group).rate("correct"))
                for group in self.groups
            },
        }
        # Of few speakers a figure has no interval, and still a value, which a search can use.
        return {
            name: BenchmarkFigure.of(value if estimate.invalid else estimate)
            for name, (value, estimate) in figures.items()
        }

    @cached_property
    def _readers(self) -> Mapping[bool, Any]:
        """The readers, by whether the speakers that they read are held out: each is trained on the others."""
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
        from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
        from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

        readers = {}
        for is_held in (False, True):
            others = [one for one in self.recordings if is_held_out(one.speaker) != is_held]
            features = np.array([self._features(one.path, {}, 0) for one in others])
            reader = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
            readers[is_held] = reader.fit(features, [one.emotion for one in others])
        return readers

    def _features(self, path: Path, parameters: Point, seed: int) -> Floats:
        key = (path, tuple(float(value) for value in parameters.values()), seed)
        if key not in self._heard:
            self._heard[key] = voice_features(path, parameters, seed)
        return self._heard[key]


def read_recordings(folder: Path | str) -> RecordedVoices:
    """Read ``recordings.csv`` of a folder: ``file`` (of a WAV file in it), ``speaker``, ``group``, ``emotion``.

    Args:
        folder: The folder.

    Raises:
        FairnessError: A column or file is missing, a cell is empty, a speaker has two groups, or the halves of the
            speakers lack a group or an emotion.
    """
    folder = Path(folder)
    table = folder / TABLE
    try:
        with table.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FairnessError(f"{table} cannot be read ({error}): it needs the columns {', '.join(COLUMNS)}") from None
    recordings: list[VoiceRecording] = []
    groups: dict[str, str] = {}
    for number, row in enumerate(rows, 2):
        empty = [name for name in COLUMNS if not (row.get(name) or "").strip()]
        if empty:
            raise FairnessError(f"{table}:{number} has no {empty[0]}: each row needs {', '.join(COLUMNS)}")
        file, speaker, group, emotion = (row[name].strip() for name in COLUMNS)
        path = folder / file
        if not path.is_file():
            raise FairnessError(f"{table}:{number}: {path} is no file")
        if groups.setdefault(speaker, group) != group:
            raise FairnessError(f"{table}:{number}: speaker {speaker!r} is of {group!r} and of {groups[speaker]!r}")
        recordings.append(VoiceRecording(path, speaker, group, emotion))
    if not recordings:
        raise FairnessError(f"{table} has no rows: name a WAV file in each")
    return RecordedVoices(recordings)


def voice_features(path: Path, parameters: Point, seed: int) -> Floats:
    """Return `FEATURES` of a WAV file, as it is heard under these parameters.

    Args:
        path: The file.
        parameters: Parameters of `RECORDINGS`; those that are left out change nothing.
        seed: The seed of the noise, together with the name of the file.

    Raises:
        FairnessError: The file cannot be read, or holds no voice.
    """
    parselmouth = _import_parselmouth()
    try:
        sound = parselmouth.Sound(str(path)).convert_to_mono()
        if (factor := float(parameters.get("pitch_range", 1.0))) != 1.0:
            sound = _with_pitch_range(sound, factor)
        heard = float(parameters.get("heard", 1.0))
        sound = sound.extract_part(to_time=sound.xmin + heard * sound.duration)
    except parselmouth.PraatError as error:
        reason = str(error).splitlines()[0]
        raise FairnessError(f"{path} cannot be read as a voice ({reason}): give a WAV file with speech") from None
    if sound.duration < _SHORTEST:
        raise FairnessError(f"{path} is too short: {_SHORTEST:.2f} seconds must be left of what is heard")
    if not sound.values.any():
        raise FairnessError(f"{path} is silent: give a WAV file with speech")
    noise = float(parameters.get("noise_level", 0.0)) * float(np.sqrt(np.mean(sound.values**2)))
    if noise:
        draws = np.random.default_rng(seed_of(seed, "noise", path.name))
        sound = parselmouth.Sound(
            sound.values + noise * draws.standard_normal(sound.values.shape), sound.sampling_frequency
        )
    return _measure(sound)


def _with_pitch_range(sound: Any, factor: float) -> Any:
    """Return a sound whose pitch moves so many times as far around its median, in semitones."""
    call = _import_parselmouth().praat.call
    manipulation = call(sound, "To Manipulation", _STEP, FLOOR, CEILING)
    tier = call(manipulation, "Extract pitch tier")
    frequencies = sound.to_pitch(pitch_floor=FLOOR, pitch_ceiling=CEILING).selected_array["frequency"]
    if not frequencies.any():  # without a pitch there is nothing that could move
        return sound
    median = float(np.median(frequencies[frequencies > 0]))
    call(tier, "Formula", f"{median} * (self / {median}) ^ {factor}")
    call([tier, manipulation], "Replace pitch tier")
    return call(manipulation, "Get resynthesis (overlap-add)")


def _measure(sound: Any) -> Floats:
    pitch = sound.to_pitch(pitch_floor=FLOOR, pitch_ceiling=CEILING)
    frequencies = pitch.selected_array["frequency"]
    is_voiced = frequencies > 0
    if is_voiced.sum() < 2:
        # In strong noise no pitch is left: a reader then hears an even voice, of which it knows the loudness only.
        semitones, times = np.zeros(2), np.arange(2.0)
    else:
        semitones, times = 12 * np.log2(frequencies[is_voiced] / 100), pitch.xs()[is_voiced]
    loudness = sound.to_intensity(minimum_pitch=FLOOR).values.ravel()
    center = sound.to_spectrum().get_center_of_gravity()
    slope = np.polyfit(times, semitones, 1)[0]
    return np.array([
        np.median(semitones), semitones.std(), slope, is_voiced.mean(), loudness.mean(), loudness.std(), np.log2(center)
    ])  # fmt: skip


def _import_parselmouth() -> Any:
    try:
        import parselmouth
    except ImportError:
        raise FairnessError("recordings need parselmouth: pip install './pytest-fairness[recordings]'") from None
    return parselmouth
