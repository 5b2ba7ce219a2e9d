"""Predictions of a threshold's verdict before a run, from its own test on simulated samples."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.formatting import estimate_text, subject_text
from pytest_fairness.core.verdicts import Judgment, Verdict
from pytest_fairness.plugin.dry_runs.forecasts import Forecast
from pytest_fairness.plugin.dry_runs.pilot import FEWEST_SOURCES, PilotData
from pytest_fairness.plugin.evaluation import evaluate_on

if TYPE_CHECKING:
    from pytest_fairness.core.dependence import Dependence
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.stats.simulation import Gap

DRAWS = 200
"""Samples for each truth, fewer where they are large or take long."""
FEWEST_DRAWS = 40
MOST_ATTEMPTS = 400_000
"""The most attempts in all samples of one truth."""
SECONDS = 3.0
"""Seconds of computing for the samples of one truth."""
ROUNDS = 4
"""The most rounds of simulation to find the number of items that is needed."""
NEAR = 0.1
"""The distance to the wanted probability at which one correction is enough."""
DRAWN_SHARE = 0.3
"""Samples of drawn answers, which propensities are compared with, as a share of `DRAWS`."""
TELLING = (0.1, 0.97)
"""Shares of fair between which simulation corrects the normal approximation."""


@dataclass(frozen=True, slots=True)
class Rehearsals:
    """The verdicts of a threshold on simulated samples of one truth."""

    judgments: Sequence[Judgment]
    attempts: float
    """The mean number of attempts up to the last look."""

    def share(self, verdict: Verdict) -> float:
        return sum(judgment.verdict is verdict for judgment in self.judgments) / len(self.judgments)

    def likely(self, verdict: Verdict) -> float:
        """Return the share, but never quite 0 or 1: nobody knows that from so few."""
        edge = 0.5 / len(self.judgments)
        return min(max(self.share(verdict), edge), 1 - edge)

    def row(self, truth: str) -> dict[str, Any]:
        """Return the prediction as the results file has it."""
        shares = {verdict.value: self.share(verdict) for verdict in Verdict}
        return {"truth": truth, "draws": len(self.judgments), **shares, "attempts": self.attempts}


def predict(item: pytest.Function, prospect: PilotData) -> dict[str, Any]:
    """Return what is known of a threshold before its run, as builtins."""
    planned = _with_looks(item, prospect)
    mistake = next((judgment.mistake for judgment in planned.judgments if judgment.mistake), "")
    row: dict[str, Any] = {"basis": "pilot" if prospect.has_pilot else "assumptions", "cannot_pass": mistake}
    if mistake:
        return row | {
            "scenarios": [],
            "fair_draws": "",
            "needed": None,
            "drawn": None,
            "detectable": None,
            "narrow": "",
        }
    pilot = prospect.measured_pilot()
    forecast = Forecast.of(planned.judgments, None if pilot is None else evaluate_on(item, pilot))
    scenarios = [planned.row("as in the pilot" if prospect.has_pilot else "parity")]
    gap = None if prospect.has_pilot or forecast is None else forecast.gap()
    if gap is not None:
        other = _with_looks(item, prospect, gap)
        scenarios.append(other.row(f"{gap.group} at {gap.ratio:.2g} times"))
    if not planned.share(Verdict.FAIR):
        row["cannot_pass"] = _never_fair(item, prospect)
    needed = None if row["cannot_pass"] else _needed(item, prospect, forecast, planned)
    return row | {
        "scenarios": scenarios,
        "fair_draws": "".join("01"[j.verdict is Verdict.FAIR] for j in planned.judgments),
        "needed": needed,
        "drawn": None if needed is None else _needed_drawn(item, prospect),
        "detectable": None if forecast is None else forecast.detectable(),
        "narrow": "" if forecast is None else forecast.narrow_band(),
    }


def _with_looks(item: pytest.Function, prospect: PilotData, gap: Gap | None = None) -> Rehearsals:
    """Return what a threshold says at the look that decides it, or at the last of those that are planned."""

    def looked(number: int, known: Dependence | None) -> tuple[Judgment, int]:
        for look, sample in prospect.draw_looks(number, gap):
            judgment = evaluate_on(item, sample, known, None if look.of == 1 else look.strict_tail)
            known = judgment.dependence or known
            if judgment.verdict is not Verdict.UNDECIDED:
                break
        return judgment, look.size.attempts

    return _rehearsals(looked, prospect.look.plan[-1].attempts)


def _rehearsed(item: pytest.Function, draw: Callable[[int], Measured], attempts: float, share: float = 1) -> Rehearsals:
    """Return what a threshold says of runs with one look."""
    return _rehearsals(lambda number, known: (evaluate_on(item, draw(number), known), attempts), attempts, share)


def _rehearsals(
    judged: Callable[[int, Dependence | None], tuple[Judgment, float]], attempts: float, share: float = 1
) -> Rehearsals:
    until = time.process_time() + SECONDS
    wanted = min(int(DRAWS * share), max(FEWEST_DRAWS, int(MOST_ATTEMPTS / attempts)))
    judgments: list[Judgment] = []
    taken: list[float] = []
    known = None
    for number in range(wanted):
        judgment, made = judged(number, known)
        judgments.append(judgment)
        taken.append(made)
        known = judgment.dependence or known
        if len(judgments) >= FEWEST_DRAWS and time.process_time() > until:
            break
    return Rehearsals(judgments, fmean(taken))


def _never_fair(item: pytest.Function, prospect: PilotData) -> str:
    """Return why no data at all would make a threshold fair; empty where some might, or nobody can tell.

    Answers that treat all groups alike, and are as even as answers can be, are the best a model
    can give. A threshold that they leave undecided or invalid is too small or asks too much; one
    that they break asks for something else, which better answers may have.
    """
    judgments = []
    for sample in prospect.favorable():
        judgments.append(evaluate_on(item, sample))
        if judgments[-1].verdict is Verdict.FAIR:
            return ""
    undecided = [j for j in judgments if j.verdict is Verdict.UNDECIDED and j.deciding is not None]
    if undecided:
        best = min(undecided, key=_width)
        assert best.deciding is not None  # noqa: S101 - chosen above
        numbers = estimate_text(best.deciding.estimate, [c.bound for c in best.about_deciding])
        return f"equal answers to all groups leave it undecided: {subject_text(best.deciding.estimate)}: {numbers}"
    if all(j.verdict is Verdict.INVALID for j in judgments):
        reasons = Counter(_reason(j) for j in judgments)
        return reasons.most_common(1)[0][0]
    return ""


def _needed(
    item: pytest.Function, prospect: PilotData, forecast: Forecast | None, planned: Rehearsals
) -> dict[str, Any] | None:
    """Return the items for *fair* in 80% of runs: the normal approximation, corrected by simulated samples of that
    size.
    """
    from pytest_fairness.stats.power import POWER, repetitions_for, times_for

    times = None if forecast is None else forecast.times_needed()
    if forecast is None or times is None:
        return None
    known = [(1.0, planned.likely(Verdict.FAIR))]
    if TELLING[0] <= known[0][1] <= TELLING[1]:
        times = times_for(known, forecast.tail)
    for _ in range(ROUNDS):
        times = max(times, FEWEST_SOURCES / prospect.sources)
        attempts = times * prospect.attempts
        if attempts * FEWEST_DRAWS > MOST_ATTEMPTS:
            break  # too large to be rehearsed: the normal approximation is good there
        found = _rehearsed(item, partial(prospect.draw, times=times), attempts, share=0.5)
        known.append((times, found.likely(Verdict.FAIR)))
        times = times_for(known, forecast.tail)
        if abs(known[-1][1] - POWER) <= NEAR:
            break
    times = max(times, FEWEST_SOURCES / prospect.sources)
    repetitions = None if forecast.share is None or times <= 1 else repetitions_for(times, forecast.share)
    return {
        "items": math.ceil(times * len(prospect.probe.items)),
        "repetitions": None if repetitions is None else math.ceil(repetitions * prospect.repetitions),
    }


def _needed_drawn(item: pytest.Function, prospect: PilotData) -> dict[str, Any] | None:
    """Return what drawn answers need for the same, in place of the propensities that --fairness-propensity asks for."""
    drawn = prospect.with_drawn_answers()
    if drawn is None:
        return None
    planned = _rehearsed(item, drawn.draw, drawn.attempts, share=DRAWN_SHARE)
    needed = _needed(item, drawn, Forecast.of(planned.judgments, None), planned)
    if needed is None:
        return None
    calls = math.ceil(needed["items"] * drawn.attempts / len(drawn.probe.items))
    return {"items": needed["items"], "repetitions": drawn.repetitions, "calls": calls}


def _reason(judgment: Judgment) -> str:
    """Return why a sample was invalid."""
    if judgment.deciding is None:
        return judgment.reason
    estimate = judgment.deciding.estimate
    return f"{estimate.invalid or estimate.suspect}: {subject_text(estimate)}"


def _width(judgment: Judgment) -> float:
    estimate = judgment.deciding.estimate if judgment.deciding else None
    return math.inf if estimate is None or math.isnan(estimate.low) else estimate.high - estimate.low
