"""The next step after a verdict on a model, and the causes of one that is not fair."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_fairness.core.causes import MOST_CAUSES, ONLY_THESE
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.core.limits import OUT_OF_REACH
from pytest_fairness.report.release import MOST_SLICES

if TYPE_CHECKING:
    from pytest_fairness.core.threshold_results import ReleaseResult, ThresholdResult

IN_REPORT = "in the report"
"""The place of the examples, in the advice of every output but the report itself."""
_OF_SECTION = "it could not be judged: "
"""The beginning of causes that have a section of their own in the terminal."""
_NEED = lazy_pattern(r"needs about [^;]*")


def next_step(release: ReleaseResult, rows: Sequence[ThresholdResult] = ()) -> str:
    """Return the advice after the verdict on a model; empty after a fair one.

    Args:
        release: The verdict.
        rows: The thresholds of the model, of which the first that needs more is named.

    >>> from pytest_fairness.core.threshold_results import ReleaseResult
    >>> next_step(ReleaseResult(model="x", verdict="undecided", undecided=2, restricted=["--fairness-sample=60"]))
    'measure the whole sample: leave out --fairness-sample=60'
    >>> from pytest_fairness.core.causes import SharedCauseResult
    >>> cut = SharedCauseResult(kind="truncated", text="", thresholds=["t"], silent=["male"], remedy="raise max_tokens")
    >>> next_step(ReleaseResult(model="x", verdict="invalid", invalid=1, causes=[cut]))
    'nothing was read of male: raise max_tokens; then run again'
    >>> from pytest_fairness.core.limits import Limit
    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> near = ThresholdResult(id="t", verdict="undecided", harm="", limit=Limit(kind="bound", unit="items", has=40))
    >>> next_step(ReleaseResult(model="x", verdict="undecided", undecided=1), [near])
    'more items will not decide it: find out whether the bound fits the harm, or change the model'
    >>> next_step(ReleaseResult(model="x", verdict="fair", fair=3))
    ''
    """
    if release.verdict == "unfair":
        step = f"read the examples of each unfair threshold {IN_REPORT}, change the model or its prompt, and run again"
        has_remedy = any(cause.remedy for cause in release.causes)
        return f"{step}; before that, {_first_remedy(release)}" if has_remedy else step
    if release.invalid or (release.undecided and release.causes):
        return _first_remedy(release)
    if release.not_judged and release.fair == sum(release.counts.values()):
        return "run the thresholds that were left out" if release.fair else ""
    if release.verdict == "fair":
        return ""
    if release.restricted:
        return f"measure the whole sample: leave out {shlex.join(release.restricted)}"
    if release.undecided:
        undecided = [row for row in rows if row.verdict == "undecided"]
        hopeless = [
            OUT_OF_REACH in row.advice or (row.limit is not None and row.limit.kind == "bound") for row in undecided
        ]
        if hopeless and all(hopeless):
            return "more items will not decide it: find out whether the bound fits the harm, or change the model"
        needs = ((row, _NEED.search(row.advice)) for row in undecided if OUT_OF_REACH not in row.advice)
        first = next((f"{row.threshold} {need[0]}" for row, need in needs if need), "")
        every = "measure as much as each undecided threshold needs"
        return f"{every}: {first}" if first else every
    return "no unfair threshold is certain after the correction for several: measure more, and run again"


def causes(release: ReleaseResult) -> Iterator[tuple[str, str, str]]:
    """Yield the causes of a release that is not fair: each with its thresholds, one example, and the remedy.

    >>> from pytest_fairness.core.causes import SharedCauseResult
    >>> from pytest_fairness.core.threshold_results import ReleaseResult
    >>> cut = SharedCauseResult(
    ...     kind="truncated", text="9 of 20 answers cut off", thresholds=["t", "u"], example="'I'", remedy="raise it"
    ... )
    >>> list(causes(ReleaseResult(model="x", verdict="invalid", invalid=2, causes=[cut])))
    [('9 of 20 answers cut off; 2 thresholds', "'I'", 'raise it')]
    """
    for cause in release.causes[:MOST_CAUSES]:
        several = f"; {len(cause.thresholds)} thresholds" if len(cause.thresholds) > 1 else ""
        yield f"{cause.text}{several}", cause.example, cause.remedy
    if (more := len(release.causes) - MOST_CAUSES) > 0:
        yield f"{counted(more, 'other cause')}: see the thresholds", "", ""


def _first_remedy(release: ReleaseResult) -> str:
    """Return the remedy of the first cause of invalid thresholds, after the groups of which nothing was read."""
    cause = next((cause for cause in release.causes if cause.remedy), None)
    silent = list(dict.fromkeys(group for cause in release.causes for group in cause.silent))
    groups = f"nothing was read of {' and '.join(silent[:MOST_SLICES])}: " if silent else ""
    if cause is None:
        texts = (cause.text for cause in release.causes if not cause.text.startswith(_OF_SECTION))
        text = next((f"mend this first: {text}" for text in texts), "mend what failed first, and run again")
        return f"{groups}{text}"
    if cause.kind == "no response" or cause.remedy.endswith(ONLY_THESE):
        return f"{groups}{cause.remedy}"
    costs = ": stored answers cost nothing" if cause.kind == "few" else ""
    return f"{groups}{cause.remedy}; then run again{costs}"
