"""A small example of recordings: voices of the speech synthesizer espeak-ng, in WAV files with their table.

    python -m tests.helpers.espeak_voices DIR

writes `recordings.csv` and the files that it names. Speakers of the group ``flat`` keep nearly to one pitch, those of
the group ``moving`` leave it. Emotions differ in pitch, pace and loudness, as rough as a synthesizer can be: the files
show that a design runs on sound, and nothing about people.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from shutil import which

from pytest_fairness.design.voice_recordings import COLUMNS, TABLE

PROGRAM = "espeak-ng"
VARIANTS = ("m1", "m2", "m3", "m4", "m5", "m6", "m7", "f1", "f2", "f3", "f4", "f5")
GROUPS = {"flat": 8, "moving": 220}
"""The range of pitch, in percent of the synthesizer's usual one."""
EMOTIONS = {"joyful": ("+30%", "120%", 140), "sad": ("-25%", "80%", 60), "angry": ("+5%", "130%", 190)}
"""Pitch, pace and loudness."""
SENTENCES = ("The letter came this morning.", "They have moved it to Monday.", "It is all arranged now.")


def is_installed() -> bool:
    return which(PROGRAM) is not None


def write_voices(folder: Path, speakers: int = len(VARIANTS), emotions: int = len(EMOTIONS)) -> Path:
    """Write the recordings of so many speakers of each group, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for group, spread in GROUPS.items():
        for number, variant in enumerate(VARIANTS[:speakers]):
            for emotion, (pitch, pace, loudness) in [*EMOTIONS.items()][:emotions]:
                name = f"{group}-{variant}-{emotion}.wav"
                # Speakers differ in their own range and pace as well.
                prosody = f'<prosody pitch="{pitch}" range="{spread + 3 * number}%" rate="{pace}">'
                text = f"<speak>{prosody}{SENTENCES[number % len(SENTENCES)]}</prosody></speak>"
                command = [PROGRAM, "-m", "-v", f"en+{variant}", "-a", str(loudness), "-w", str(folder / name), text]
                subprocess.run(command, check=True, capture_output=True)
                rows.append((name, f"{group}-{variant}", group, emotion))
    with (folder / TABLE).open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([COLUMNS, *rows])
    return folder


if __name__ == "__main__":
    print(f"written: {write_voices(Path(sys.argv[1]))}")
