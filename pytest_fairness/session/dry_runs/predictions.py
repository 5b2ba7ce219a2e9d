"""What a threshold is going to say of a run that is not made yet: from its own test, called on drawn samples."""

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

from pytest_fairness.core.numerals import estimate_text, subject_text
from pytest_fairness.core.verdicts import Judgement, Verdict
from pytest_fairness.session.dry_runs.forecasts import Forecast
from pytest_fairness.session.dry_runs.prospects import FEWEST_SOURCES, Prospect
from pytest_fairness.session.rehearsal import rehearse

if TYPE_CHECKING:
    from pytest_fairness.core.dependence import Dependence
    from pytest_fairness.stats.measured import Measured
    from pytest_fairness.stats.simulation import Gap

DRAWS = 200
"""Samples for each truth, fewer where they are large or take long."""
FEWEST_DRAWS = 40
MOST_ATTEMPTS = 400_000
"""In all samples of one truth."""
SECONDS = 3.0
"""Of computing, for the samples of one truth."""
ROUNDS = 4
"""Of rehearsals to find the number of items that is needed."""
NEAR = 0.1
"""To the wanted probability: there one correction is enough."""
TELLING = (0.1, 0.97)
"""Shares of fair that say more of the number needed than the normal approximation does."""


@dataclass(frozen=True, slots=True)
class Rehearsals:
    """What a threshold said of samples of one truth."""

    judgements: Sequence[Judgement]
    attempts: float
    """On average, to the last look."""

    def share(self, verdict: Verdict) -> float:
        return sum(judgement.verdict is verdict for judgement in self.judgements) / len(self.judgements)

    def likely(self, verdict: Verdict) -> float:
        """The share, but never quite 0 or 1: nobody knows that from so few."""
        edge = 0.5 / len(self.judgements)
        return min(max(self.share(verdict), edge), 1 - edge)

    def row(self, truth: str) -> dict[str, Any]:
        """As the results file has it."""
        shares = {verdict.value: self.share(verdict) for verdict in Verdict}
        return {"truth": truth, "draws": len(self.judgements), **shares, "attempts": self.attempts}


def predict(item: pytest.Function, prospect: Prospect) -> dict[str, Any]:
    """What is known of a threshold before its run, as builtins."""
    planned = _with_looks(item, prospect)
    mistake = next((judgement.mistake for judgement in planned.judgements if judgement.mistake), "")
    row: dict[str, Any] = {"basis": "pilot" if prospect.has_pilot else "assumptions", "cannot_pass": mistake}
    if mistake:
        return row | {"scenarios": [], "fair_draws": "", "needed": None, "detectable": None}
    pilot = prospect.measured_pilot()
    forecast = Forecast.of(planned.judgements, None if pilot is None else rehearse(item, pilot))
    scenarios = [planned.row("as in the pilot" if prospect.has_pilot else "parity")]
    gap = None if prospect.has_pilot or forecast is None else forecast.gap()
    if gap is not None:
        other = _with_looks(item, prospect, gap)
        scenarios.append(other.row(f"{gap.group} at {gap.ratio:.2g} times"))
    if not planned.share(Verdict.FAIR):
        row["cannot_pass"] = _never_fair(item, prospect)
    return row | {
        "scenarios": scenarios,
        "fair_draws": "".join("01"[j.verdict is Verdict.FAIR] for j in planned.judgements),
        "needed": None if row["cannot_pass"] else _needed(item, prospect, forecast, planned),
        "detectable": None if forecast is None else forecast.detectable(),
    }


def _with_looks(item: pytest.Function, prospect: Prospect, gap: Gap | None = None) -> Rehearsals:
    """What a threshold says at the look that decides it, or at the last of those that are planned."""

    def looked(number: int, known: Dependence | None) -> tuple[Judgement, int]:
        for look, sample in prospect.draw_looks(number, gap):
            judgement = rehearse(item, sample, known, None if look.of == 1 else look.strict_tail)
            known = judgement.dependence or known
            if judgement.verdict is not Verdict.UNDECIDED:
                break
        return judgement, look.size.attempts

    return _rehearsals(looked, prospect.look.plan[-1].attempts)


def _rehearsed(item: pytest.Function, draw: Callable[[int], Measured], attempts: float, share: float = 1) -> Rehearsals:
    """What a threshold says of runs with one look."""
    return _rehearsals(lambda number, known: (rehearse(item, draw(number), known), attempts), attempts, share)


def _rehearsals(
    judged: Callable[[int, Dependence | None], tuple[Judgement, float]], attempts: float, share: float = 1
) -> Rehearsals:
    until = time.process_time() + SECONDS
    wanted = min(int(DRAWS * share), max(FEWEST_DRAWS, int(MOST_ATTEMPTS / attempts)))
    judgements: list[Judgement] = []
    taken: list[float] = []
    known = None
    for number in range(wanted):
        judgement, made = judged(number, known)
        judgements.append(judgement)
        taken.append(made)
        known = judgement.dependence or known
        if len(judgements) >= FEWEST_DRAWS and time.process_time() > until:
            break
    return Rehearsals(judgements, fmean(taken))


def _never_fair(item: pytest.Function, prospect: Prospect) -> str:
    """Why no data at all would make a threshold fair; empty where some might, or nobody can tell.

    Answers that treat all groups alike, and are as even as answers can be, are the best a model
    can give. A threshold that they leave undecided or invalid is too small or asks too much; one
    that they break asks for something else, which better answers may have.
    """
    judgements = []
    for sample in prospect.favourable():
        judgements.append(rehearse(item, sample))
        if judgements[-1].verdict is Verdict.FAIR:
            return ""
    undecided = [j for j in judgements if j.verdict is Verdict.UNDECIDED and j.deciding is not None]
    if undecided:
        best = min(undecided, key=_width)
        assert best.deciding is not None  # noqa: S101 - chosen above
        numbers = estimate_text(best.deciding.estimate, [c.bound for c in best.about_deciding])
        return f"equal answers to all groups leave it undecided: {subject_text(best.deciding.estimate)}: {numbers}"
    if all(j.verdict is Verdict.INVALID for j in judgements):
        reasons = Counter(_reason(j) for j in judgements)
        return reasons.most_common(1)[0][0]
    return ""


def _needed(
    item: pytest.Function, prospect: Prospect, forecast: Forecast | None, planned: Rehearsals
) -> dict[str, Any] | None:
    """Items for *fair* in 80% of runs: the normal approximation's number, corrected by rehearsals of that size."""
    from pytest_fairness.stats.planning import POWER, repetitions_for, times_for

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


def _reason(judgement: Judgement) -> str:
    """Why a sample was invalid."""
    if judgement.deciding is None:
        return judgement.reason
    estimate = judgement.deciding.estimate
    return f"{estimate.invalid or estimate.suspect}: {subject_text(estimate)}"


def _width(judgement: Judgement) -> float:
    estimate = judgement.deciding.estimate if judgement.deciding else None
    return math.inf if estimate is None or math.isnan(estimate.low) else estimate.high - estimate.low
