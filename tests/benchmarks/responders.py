"""Every shipped threshold against responders that follow the form of a prompt, and against planted bias.

    python tests/benchmarks/responders.py --seeds 5 --responders first first-mentioned --jobs 2

A cell has the verdicts over seeds: ``5f`` is five times fair, ``?`` undecided, ``-`` invalid and ``X`` unfair. No
responder but the last column, planted bias, may be unfair by more than chance; a threshold marked ``level`` is a claim
on what a model does whoever it is about (accuracy, agreement), which a responder that does not read breaks by right.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.helpers.responders import LEVELS, PLANTED, RESPONDERS, Study, parameters_for, sample, studies, verdict

SIGNS = {"fair": "f", "undecided": "?", "invalid": "-", "unfair": "X"}


def judged(job: tuple[int, str, int]) -> dict[str, str]:
    """Return the verdicts of a study's thresholds on one responder ("planted": on each one's own bias) and seed."""
    number, responder, seed = job
    study = list(studies())[number]
    if responder != "planted":
        measured = sample(study.probe, parameters_for(responder, study.probe), seed)
        return {threshold.__name__: verdict(threshold, measured) for threshold in study.thresholds}
    return {
        threshold.__name__: verdict(threshold, sample(study.probe, PLANTED[threshold.__name__], seed))
        for threshold in study.thresholds
    }


def cell(verdicts: Sequence[str]) -> str:
    """Return the counts of verdicts: ``4f 1?``."""
    counts = Counter(verdicts)
    return " ".join(f"{counts[name]}{sign}" for name, sign in SIGNS.items() if counts[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--responders", nargs="*", default=list(RESPONDERS), choices=[*RESPONDERS, []])
    parser.add_argument("--probes", default="", help="only probes whose name contains this")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-planted", action="store_true")
    given = parser.parse_args()
    columns = [*given.responders, *([] if given.no_planted else ["planted"])]
    chosen: list[tuple[int, Study]] = [
        (number, study) for number, study in enumerate(studies()) if given.probes in study.name
    ]
    begun, unfair, missed = time.monotonic(), 0, 0
    print("threshold | " + " | ".join(columns))
    with ProcessPoolExecutor(given.jobs) as pool:
        for number, study in chosen:
            # What does not draw is the same with every seed.
            jobs = [
                (number, column, seed)
                for column in columns
                for seed in range(given.seeds if "share" in RESPONDERS.get(column, "") or "base" in RESPONDERS.get(
                    column, "base") else 1)
            ]  # fmt: skip
            results = list(pool.map(judged, jobs))
            for threshold in study.thresholds:
                name = threshold.__name__
                cells = {
                    column: [result[name] for job, result in zip(jobs, results, strict=True) if job[1] == column]
                    for column in columns
                }
                responding = [one for column in given.responders for one in cells[column]]
                unfair += responding.count("unfair") * (name not in LEVELS)
                missed += len(cells.get("planted", [])) - cells.get("planted", []).count("unfair")
                label = " (level)" if name in LEVELS else ""
                print(f"{study.name} {name.removeprefix('test_')}{label} | "
                      + " | ".join(cell(cells[column]) for column in columns), flush=True)  # fmt: skip
    print(f"unfair without bias: {unfair} (levels apart); planted bias not found: {missed}; "
          f"{time.monotonic() - begun:.0f} s")  # fmt: skip


if __name__ == "__main__":
    main()
