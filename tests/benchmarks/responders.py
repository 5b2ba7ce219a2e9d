"""Every shipped threshold against responders that follow the form of a prompt, and against planted bias.

    python tests/benchmarks/responders.py --seeds 5 --figures
    python tests/benchmarks/responders.py --probes gender/ --responders first first-mentioned --profile audit

A cell has the verdicts over seeds: ``5f`` is five times fair, ``?`` undecided, ``-`` invalid and ``X`` unfair. No
responder without planted bias may be unfair by more than chance; a threshold marked ``level`` is a claim on what a
model does whoever it is about (accuracy, agreement), which a responder that does not read breaks by right. Planted
bias lies beyond the bound of each threshold, alone and with a form, and may never be fair. ``--figures`` adds the
counts to the figures that `tests/benchmarks/cards.py` writes into the suites' cards.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness.plugin.config.profiles import AUDIT, GATE, SMOKE
from tests.benchmarks.cards import FIGURES, write_figures
from tests.helpers.planted_responders import FORMS, planted
from tests.helpers.responders import LEVELS, RESPONDERS, Study, parameters_for, sample, studies, verdict

RECORDERS = ("record", "_record")
"""The beginnings of the names of functions that record estimates beside a threshold, which decide nothing."""
SIGNS = {"fair": "f", "undecided": "?", "invalid": "-", "unfair": "X"}
Verdicts = Mapping[str, Sequence[str]]
"""The verdicts of a threshold over seeds, by responder."""


def judged(study: Study, responder: str, seed: int, profile: str) -> Iterator[tuple[str, str]]:
    """Yield the verdicts of a study's thresholds on one responder, or on each one's own planted bias, with a seed."""
    measured = None
    for threshold in study.thresholds:
        if responder in FORMS:
            bias, form = planted(threshold, responder)
            measured = sample(study, bias, seed, form, profile)
        elif measured is None:
            measured = sample(study, parameters_for(responder, study.probe), seed, profile=profile)
        yield threshold.__name__, verdict(threshold, measured)


def leave_out_records(study: Study) -> None:
    """Have the thresholds of a study record no estimates beside: these decide nothing, and take most of the time."""
    module = sys.modules[study.probe.__module__]
    for name in dir(module):
        if name.startswith(RECORDERS):
            setattr(module, name, lambda *_args, **_options: None)


def over_seeds(study: Study, responder: str, seeds: int, profile: str) -> dict[str, list[str]]:
    """Return the verdicts of each threshold; what does not draw is the same with every seed."""
    parameters = RESPONDERS.get(responder, "base")
    number = seeds if "share" in parameters or "base" in parameters else 1
    verdicts: dict[str, list[str]] = {}
    for seed in range(number):
        for name, one in judged(study, responder, seed, profile):
            verdicts.setdefault(name, []).append(one)
    return verdicts


def cell(verdicts: Sequence[str]) -> str:
    """Return the counts of verdicts: ``4f 1?``."""
    counts = Counter(verdicts)
    return " ".join(f"{counts[name]}{sign}" for name, sign in SIGNS.items() if counts[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--responders", nargs="*", default=[*RESPONDERS, *FORMS], choices=[*RESPONDERS, *FORMS])
    parser.add_argument("--probes", default="", help="only probes whose name contains this")
    parser.add_argument("--profile", default=GATE, choices=(SMOKE, GATE, AUDIT))
    parser.add_argument("--figures", action="store_true", help="add the counts to the figures of the gate")
    options = parser.parse_args()
    begun, totals = time.process_time(), Counter[str]()
    print("threshold | " + " | ".join(options.responders))
    for study in (study for study in studies() if options.probes in study.name):
        leave_out_records(study)
        # A student reads numbers, which have no form.
        columns = [name for name in options.responders if name in ("fair", "planted") or not study.reads_features]
        verdicts = {column: over_seeds(study, column, options.seeds, options.profile) for column in columns}
        for threshold in study.thresholds:
            name = threshold.__name__
            row = {column: verdicts[column][name] for column in columns}
            label = " (level)" if name in LEVELS else ""
            cells = [cell(row[column]) if column in row else "" for column in options.responders]
            print(f"{study.name} {name.removeprefix('test_')}{label} | " + " | ".join(cells), flush=True)
            totals += _counted(row, is_level=bool(label))
            if options.figures:
                _write(study, name, {column: cell(those) for column, those in row.items()})
    print(", ".join(f"{what}: {number}" for what, number in totals.items()))
    print(f"{time.process_time() - begun:.0f} s of CPU")


def _counted(row: Verdicts, *, is_level: bool) -> Counter[str]:
    """Return how many verdicts without and with planted bias there are, and which of them are false."""
    without = [one for name, those in row.items() if name not in FORMS for one in those]
    with_bias = [one for name, those in row.items() if name in FORMS for one in those]
    counts: Counter[str] = Counter()
    counts["without bias"] = 0 if is_level else len(without)
    counts["of them unfair"] = 0 if is_level else without.count("unfair")
    counts["planted"] = len(with_bias)
    counts["of them unfair, as they are"] = with_bias.count("unfair")
    counts["of them fair"] = with_bias.count("fair")
    return counts


def _write(study: Study, threshold: str, cells: Mapping[str, str]) -> None:
    suite = study.name.partition("/")[0]
    rows = json.loads((FIGURES / f"{suite}.json").read_text(encoding="utf-8"))
    for row in rows:
        if row["test"].endswith(f"::{threshold}"):
            row["responders"] = {**row.get("responders", {}), **cells}
            row["level"] = threshold in LEVELS
    write_figures(FIGURES / f"{suite}.json", rows)


if __name__ == "__main__":
    main()
