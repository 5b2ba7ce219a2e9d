"""Errors of differences of real assessments beside those of a mixed-effects model of statsmodels.

    python tests/benchmarks/mixed.py FOLDER/*.csv
    python tests/benchmarks/mixed.py FOLDER/bloomz.csv --crossed

Per file, score and pair of groups: our error clustered by scenario over that of a random intercept per
scenario, and our two-way error over that of random intercepts for scenario and for name. Names are nested in
scenarios, which takes a second; with ``--crossed`` they are crossed, which takes minutes a line.
It ends with 1 where one lies outside 0.85 to 1.15.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

from pytest_fairness import Measured

SCORES = ("warmth_score", "competency_score")


def fitted(data: Any, score: str, *, names: str) -> float:
    """Return the standard error of the model's difference; ``names`` are "none", "nested" or "crossed"."""
    from statsmodels.formula.api import mixedlm  # type: ignore[import-untyped,unused-ignore]

    name, scenario = {"name": "0 + C(candidate_name)"}, {"scenario": "0 + C(scenario_id)"}
    structures: dict[str, dict[str, Any]] = {
        "none": {"groups": "scenario_id"},
        "nested": {"groups": "scenario_id", "re_formula": "1", "vc_formula": name},
        "crossed": {"groups": "everything", "re_formula": "0", "vc_formula": scenario | name},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a variance of names that is nearly 0 is on the boundary
        return float(
            mixedlm(f"{score} ~ x", data, **structures[names])
            .fit(method="bfgs" if names == "none" else "lbfgs")
            .bse["x"]
        )


def main() -> int:
    """Print one line a pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="tables of assessments, one a model")
    parser.add_argument("--crossed", action="store_true", help="cross names with scenarios: minutes a line")
    arguments = parser.parse_args()
    import pandas

    shares = []
    for path in arguments.files:
        table = pandas.read_csv(path)
        options: dict[str, Any] = {"item": "scenario_id", "groups": ["gender", "ethnicity"]}
        samples = [Measured.from_table(path, **options, **more) for more in ({}, {"crossed": "candidate_name"})]
        pairs = [(by, *pair) for by in options["groups"] for pair in combinations(sorted(table[by].unique()), 2)]
        for score in SCORES:
            for by, of, to in pairs:
                data = table[table[by].isin([of, to])].assign(
                    x=lambda d, by=by, of=of: (d[by] == of) * 1.0, everything=1
                )
                models = [fitted(data, score, names=n) for n in ("none", "crossed" if arguments.crossed else "nested")]
                ours = [sample.difference(score, by=by, of=of, to=to).error for sample in samples]
                shares += [own / model for own, model in zip(ours, models, strict=True)]
                print(
                    f"{path.stem:14s} {score:16s} {of:>9s} - {to:9s} by scenario {ours[0]:.5f} / {models[0]:.5f} = "
                    f"{shares[-2]:.3f}; two-way {ours[1]:.5f} / {models[1]:.5f} = {shares[-1]:.3f}",
                    flush=True,
                )
    outside = [share for share in shares if not 0.85 <= share <= 1.15]
    print(f"{len(shares)} errors, {min(shares):.3f} to {max(shares):.3f} of the model's; {len(outside)} outside")
    return int(bool(outside))


if __name__ == "__main__":
    sys.exit(main())
