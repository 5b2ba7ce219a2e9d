"""What is said of a whole run, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SIMULATED = "answers of a stand-in with planted bias, not of a real model"


def is_simulated(model: str) -> bool:
    """Whether a model is the measuring instrument, and no model."""
    return model.startswith("simulated:")


def totals(run: Mapping[str, Any]) -> str:
    """``7,200 attempts (6,900 from the store), 41 ungraded (0.6%), 1,100,000 tokens``, of a results file's run."""
    attempts = run["attempts"]
    parts = [f"{attempts:,} attempts ({run['from_store']:,} from the store)"]
    if attempts:
        parts.append(f"{run['ungraded']:,} ungraded ({run['ungraded'] / attempts:.1%})")
    if tokens := run["tokens"]:
        parts.append(f"{sum(tokens.get(kind, 0) for kind in ('input', 'output')):,} tokens")
    return ", ".join(parts)


def promise(rows: Sequence[Mapping[str, Any]]) -> str:
    """What the verdicts promise, and how often at most fair values would still break the build."""
    share = max((row["risk"] for row in rows if row["risk"]), default=0.025)
    thresholds = f"{len(rows)} threshold{'s' if len(rows) > 1 else ''}"
    return (
        f"a model on or beyond a bound is called fair in at most {share:.1%} of runs, one inside is called unfair "
        f"in at most {share:.1%}; {thresholds}: at most {share * len(rows):.3g} false alarms if every value "
        "sat on its bound"
    )
