"""Writes the figures of each shipped threshold into the card of its suite.

    python tests/benchmarks/cards.py           writes the tables
    python tests/benchmarks/cards.py --check   exits with 1 where a card would change

The figures are those of `tests/benchmarks/gates.py`, in `tests/benchmarks/figures`. The tables stand between two
comments in the cards (``README.md``) and are never written by hand.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from textwrap import wrap
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness.plugin.config.profiles import SampleSize
from tests.benchmarks.planted import CLEARLY, ON_BOUND, DetectionCount, smallest

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "tests" / "benchmarks" / "figures"
BEGIN = "<!-- written by tests/benchmarks/cards.py: do not edit -->"
END = "<!-- end of what tests/benchmarks/cards.py writes -->"

CONCLUSIONS = {
    "smoke": "that nothing is broken, and large gaps; never a fair release",
    "gate": (
        "that every value lies inside its bounds, or that one does not; a bias of twice the bound is found in at least "
        "{least} of runs, whichever threshold it is planted in"
    ),
    "audit": (
        "the same with smaller gaps, as far as more answers to the same items show them; `pytest --fairness-plan "
        "--fairness-profile audit` predicts it"
    ),
}
"""Conclusions that a run of each profile allows."""

COLUMNS = {
    "items x times": "the items of the `gate`, and how often each prompt is asked",
    "fair": "runs of a fair model with the verdict fair",
    "at twice": (
        "runs called unfair with a planted bias twice as far from a fair model's value as the bound is (for a ratio, "
        "on the logarithm); a dash, if no answers can have such a bias"
    ),
    "smallest bias found": (
        "the value of the metric that 80% of simulated runs call unfair, with the same bias in all items; *audit*: in "
        "that profile; *predicted*: by the plan, if no bias was planted"
    ),
    "false alarm": (
        "unfair at parity, with the 95% upper end (high where few samples fitted into the time), by `pytest "
        "--fairness-certify` on a simulated run; *simulated*: a fair model's runs that are unfair, if no labels can be "
        "permuted"
    ),
    "false fair": (
        "fair on the bound, with the 95% upper end, by `--fairness-certify`; *planted*: runs called fair with a bias "
        "as large as the bound"
    ),
}
"""Columns of the table of thresholds, with their meaning."""

Row = Mapping[str, Any]


def figures(suite: str) -> list[Row]:
    """Return the rows of a suite, one for each threshold, in the order of their tests."""
    rows: list[Row] = json.loads((FIGURES / f"{suite}.json").read_text(encoding="utf-8"))
    return sorted(rows, key=lambda row: row["test"].split("::")[0])


def write_figures(path: Path, rows: Sequence[Row]) -> None:
    """Write figures compactly, a line for each threshold."""
    lines = (json.dumps(row, separators=(",", ":")) for row in rows)
    path.write_text("[" + ",\n".join(lines) + "]\n", encoding="utf-8")


def whole_gate(rows: Sequence[Row]) -> float:
    """Return the share of runs in which all thresholds are fair: probes are independent of each other.

    >>> whole_gate([{"probe": "a", "fair": [True, False]}, {"probe": "b", "fair": [True, True]}])
    0.5
    """
    probes: dict[str, list[list[bool]]] = {}
    for row in rows:
        probes.setdefault(row["probe"], []).append(row["fair"])
    return prod(sum(map(all, zip(*fair, strict=True))) / len(fair[0]) for fair in probes.values())


def calls(rows: Sequence[Row]) -> int:
    """Return the calls of all probes together."""
    return sum({row["probe"]: row["calls"] for row in rows}.values())


def calls_of(rows: Sequence[Row], profile: str) -> int:
    """Return the calls of all probes in a profile; a probe's prompts are taken to be alike many in every item."""
    total = 0.0
    for row in {row["probe"]: row for row in rows}.values():
        items, repetitions = row["items"], row["repetitions"]
        calls_per_attempt = row["calls"] / items / repetitions
        if profile == "smoke":
            items, repetitions = SampleSize().drawn_items(items, profile), 1
        elif profile == "audit":
            items, repetitions = row["audit"].get("items", items), row["audit"].get("repetitions", repetitions)
        total += items * repetitions * calls_per_attempt
    return round(total)


def section(suite: str) -> str:
    """Return what a card has between the two comments."""
    rows = figures(suite)
    runs = len(rows[0]["fair"])
    lines = [
        BEGIN,
        "",
        *_paragraph(
            f"A fair model passes all {len(rows)} thresholds in {whole_gate(rows):.0%} of {runs} simulated runs, for "
            f"{calls(rows):,} calls, if its answers are as varied as the plan of the suite assumes (`sizes.py`, "
            f"`pytest suites/{suite} --fairness-plan`)."
        ),
        *_responders(rows),
        "",
        "| profile | calls | what it can conclude |",
        "|---|--:|---|",
        *(f"| `{name}` | {calls_of(rows, name):,} | {_conclusion(what, rows)} |" for name, what in CONCLUSIONS.items()),
        "",
        "| column | meaning |",
        "|---|---|",
        *(f"| {column} | {meaning} |" for column, meaning in COLUMNS.items()),
        "",
        "| threshold | bounds | items x times | fair | at twice | smallest bias found | false alarm | false fair |",
        "|---|---|--:|--:|--:|---|--:|--:|",
        *map(_line, rows),
        "",
        END,
    ]
    return "\n".join(lines)


def _line(row: Row) -> str:
    cells = (
        row["title"],
        _bounds(row["low"], row["high"]),
        f"{row['items']:,} x {row['repetitions']}",
        f"{sum(row['fair'])} of {len(row['fair'])}",
        _at_twice(row),
        _smallest(row),
        *_certified(row),
    )
    return f"| {' | '.join(cells)} |"


def _bounds(low: float | None, high: float | None) -> str:
    """Return bounds as they are read.

    >>> _bounds(0.8, None), _bounds(None, 0.1), _bounds(0.8, 1.25)
    ('at least 0.8', 'at most 0.1', '0.8 to 1.25')
    """
    if low is not None and high is not None:
        return f"{low:.3g} to {high:.3g}"
    return f"at least {low:.3g}" if low is not None else f"at most {high:.3g}"


def _conclusion(what: str, rows: Sequence[Row]) -> str:
    """Return what a run can conclude, with the least share that finds bias of twice the bound, if any was planted."""
    sizes = [size for row in rows if (size := _planted(row, CLEARLY))]
    if not sizes:  # without planted bias
        return what.partition("; a bias of twice")[0]
    return what.format(least=f"{min(size.unfair / size.of for size in sizes):.0%}")


def _at_twice(row: Row) -> str:
    """Return how often bias of twice the bound was found; a dash where no answers can have it."""
    size = _planted(row, CLEARLY)
    return f"{size.unfair} of {size.of}" if size else "-"


def _planted(row: Row, times: float) -> DetectionCount | None:
    """Return how often bias was found in the gate's size; None where none of that size was planted."""
    sizes = (DetectionCount(*size) for size in row.get("sizes", {}).get("gate", ()))
    return next((size for size in sizes if size.times == times), None)


def _smallest(row: Row) -> str:
    """Return the smallest bias that 80% of runs find, by profile; where none was planted, what the plan predicts."""
    sizes = {
        profile: value
        for profile, sizes in row.get("sizes", {}).items()
        if (value := smallest([DetectionCount(*size) for size in sizes])) is not None
    }
    if sizes:
        return ", ".join(f"{value:.3g}{'' if name == 'gate' else f' ({name})'}" for name, value in sizes.items())
    predicted = [value for end in ("below", "above") if (value := row.get(end)) is not None]
    return f"{', '.join(f'{value:.3g}' for value in predicted)} (predicted)" if predicted else "-"


def _responders(rows: Sequence[Row]) -> list[str]:
    """Return lines on the verdicts of responders that follow the form of a prompt, and of planted bias in its forms."""
    counts: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    for row in rows:
        for responder, cell in row.get("responders", {}).items():
            is_planted = responder.startswith("planted")
            if is_planted or not row.get("level"):
                counts[is_planted].update({part[-1]: int(part[:-1]) for part in cell.split()})
    without, planted = counts[False], counts[True]
    if not without:
        return []
    return [
        "",
        *_paragraph(
            "Responders are simulated models that follow the form of a prompt: the first option, the person mentioned "
            "first, length, yes, refusals, the answer format. Without bias, thresholds on groups call them unfair in "
            f"{without['X']} of {without.total()} verdicts, fair in {without['f']}. Planted bias, alone and with such "
            f"a form, is unfair in {planted['X']} of {planted.total()} verdicts of all thresholds, fair in "
            f"{planted['f']} (`python tests/benchmarks/responders.py`)."
        ),
    ]


def _paragraph(text: str) -> list[str]:
    return wrap(text, 120, break_long_words=False, break_on_hyphens=False)


def _certified(row: Row) -> Iterator[str]:
    checks = row["certified"].get("checks") or {}
    alarm = next((check for name, check in checks.items() if name.startswith("unfair")), None)
    yield _share(alarm) if alarm else f"{row['unfair']} of {len(row['fair'])}, simulated"
    fair = next((check for name, check in checks.items() if name.startswith("fair")), None)
    planted = _planted(row, ON_BOUND)
    yield _share(fair) if fair else f"{planted.fair} of {planted.of}, planted" if planted else "-"


def _share(check: Mapping[str, float]) -> str:
    return f"{check['share']:.1%} (at most {check['at_most']:.1%})"


def written(card: str, suite: str) -> str:
    """Return a card with the figures of its suite. Raises `ValueError` where it has no place for them."""
    before, begin, rest = card.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the card of {suite} lacks {BEGIN!r} and {END!r}")
    return f"{before}{section(suite)}{after}"


def suites() -> list[str]:
    """Return the suites that have figures."""
    return sorted(path.stem for path in FIGURES.glob("*.json"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    changed = []
    for suite in suites():
        path = ROOT / "suites" / suite / "README.md"
        card = path.read_text(encoding="utf-8")
        if (new := written(card, suite)) != card:
            changed.append(suite)
            if not options.check:
                path.write_text(new, encoding="utf-8")
    print(f"cards {'to change' if options.check else 'written'}: {', '.join(changed) or 'none'}")
    sys.exit(1 if options.check and changed else 0)


if __name__ == "__main__":
    main()
