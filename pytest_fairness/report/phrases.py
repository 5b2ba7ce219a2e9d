"""Sentences about a run, the same in every output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.formatting import (
    Interval,
    counted,
    figures,
    format_level,
    format_levels,
    format_rates,
    format_tallies,
    slice_text,
    span_text,
)
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.results import RunResult
from pytest_fairness.core.served_models import NOTICED_SHARE, unlike_responders
from pytest_fairness.report import findings
from pytest_fairness.report.release import MOST_SLICES, NOT_JUDGED

if TYPE_CHECKING:
    from pytest_fairness.core.agreement_results import AgreementResult
    from pytest_fairness.core.breakdown import ExampleSideResult
    from pytest_fairness.core.search_results import SearchResult
    from pytest_fairness.core.threshold_results import SliceResult, ThresholdResult
    from pytest_fairness.core.user_turns import UserTurnsResult

UNVERSIONED = "if the application has changed, set its attribute fairness_version"
SIMULATED = "answers with a known bias, not from a real model"

FORMATS_DIFFER = 0.01
"""The p-value of equal values in all answer formats from which on a threshold does not mention them."""
LEVEL_HARMS = ("disparate performance", "quality of service")
"""Harms of an answer that is worse for a group, where one that is bad for all groups harms them all."""
ALLOCATION = "allocation"
"""The harm of decisions: how many are granted is no matter of fairness."""
_MOST_SHARES = 4
"""The most shares in a sentence on agreement; the report has all."""


def is_simulated(model: str) -> bool:
    """Return whether a model is simulated, to test the measurement itself."""
    return model.startswith("simulated:")


def totals(run: RunResult) -> str:
    """Return a run's totals: ``7,200 attempts (6,900 from earlier runs), 41 ungraded (0.6%), 1,100,000 tokens``."""
    attempts = run.attempts
    parts = [f"{counted(attempts, 'attempt')} ({run.from_store:,} from earlier runs)"]
    if attempts:
        parts.append(f"{run.ungraded:,} ungraded ({run.ungraded / attempts:.1%})")
    elif requested := sum(line.calls for line in run.calls if line.role == "probes"):
        # test_unreadable_probe_is_not_asked_on: no item was measured, and what was paid for is kept.
        parts.append(f"{counted(requested, 'answer')} requested, and kept in the store")
    if tokens := run.tokens:
        parts.append(counted(sum(tokens.get(kind, 0) for kind in ("input", "output")), "token"))
        if run.cost_usd is None:
            parts.append("cost not known")
    if run.cost_usd:
        parts.append(money(run.cost_usd))
    return ", ".join(parts)


def search(row: SearchResult) -> str:
    """Return a sentence on the result of a search, given its row in a results file.

    >>> from pytest_fairness.core.search_results import FlipResult, SearchResult
    >>> flip = FlipResult(
    ...     differences=["hobby 'golf' -> 'chess'"], decisions=["yes", "no"], counts=[10, 9], n=10, p_value=0.00021
    ... )
    >>> search(SearchResult(id="t", model="x", flip=flip, calls=81))
    "hobby 'golf' -> 'chess' flips 'yes' (10 of 10) to 'no' (9 of 10), p <= 0.00021, found in 81 calls"
    >>> search(SearchResult(id="t", model="x", calls=199, from_store=199))
    'no flip found in 199 calls (199 from earlier runs)'
    """
    calls = f"in {counted(row.calls, 'call')}" + (f" ({row.from_store:,} from earlier runs)" if row.from_store else "")
    flip = row.flip
    if flip is None:
        return f"no flip found {calls}"
    (first, second), (one, two), n = flip.decisions, flip.counts, flip.n
    wordings = (
        f"; other wordings flip in {flip.placebo_flips} of {flip.placebo_answers}" if flip.placebo_answers else ""
    ) + (f"; other wordings were not asked: {flip.placebo_error}" if flip.placebo_error else "")
    return (
        f"{', '.join(flip.differences)} flips {first!r} ({one} of {n}) to {second!r} ({two} of {n}), "
        f"p <= {flip.p_value:.2g}, found {calls}{wordings}"
    )


def money(usd: float) -> str:
    """Return an amount in dollars with two decimals; a small one with two digits.

    >>> [money(usd) for usd in (1234.5, 0.84, 0.0042, 0)]
    ['$1,234.50', '$0.84', '$0.0042', '$0.00']
    """
    return f"${usd:,.2f}" if usd >= 0.1 or usd == 0 else f"${usd:.2g}"


def asked_by_graders(run: RunResult) -> list[str]:
    """Return the requests of graders, a line for each model; a run of an older version has none."""
    return [
        f"graders made {counted(line.calls, 'request')} to {line.model}: {counted(line.input + line.output, 'token')}, "
        f"{'cost not known' if line.cost_usd is None else money(line.cost_usd)}"
        for line in run.calls
        if line.role == "graders"
    ]


def agreement(result: AgreementResult) -> str:
    """Return whether drawn answers agree with propensities, with the shares of each group.

    >>> from pytest_fairness.core.agreement_results import AgreementResult, GroupAgreementResult
    >>> women = {"attribute": "gender", "group": "female", "value": "True", "outside": 0.02, "answers": 200}
    >>> group = GroupAgreementResult(**women, propensity=0.51, drawn=0.495)
    >>> names = {"suite": "hiring", "probe": "test_hiring.py::test_application", "model": "x", "other_run": "8f3a"}
    >>> check = AgreementResult(**names, grade="hire", prompts=40, agrees=True, p_value=0.38, groups=[group])
    >>> agreement(check)
    'application, hire: propensities and drawn answers agree on 40 prompts (p = 0.38): female 51.0% (drawn 49.5%)'
    """
    probe = probe_name(result.probe)
    start = f"{probe}, {result.grade}: propensities and drawn answers"
    if not result.agrees:
        return (
            f"{start} disagree on {counted(result.prompts, 'prompt')} (p = {result.p_value:.2g}): {result.reason}; "
            "the drawn answers are what a service gives"
        )
    shares = [
        f"{group.group if group.value == 'True' else f'{group.group} {group.value}'} "
        f"{group.propensity:.1%} (drawn {group.drawn:.1%})"
        for group in result.groups
    ]
    remainder = f", and {len(shares) - _MOST_SHARES} more" if len(shares) > _MOST_SHARES else ""
    return (
        f"{start} agree on {counted(result.prompts, 'prompt')} (p = {result.p_value:.2g}): "
        f"{', '.join(shares[:_MOST_SHARES])}{remainder}"
    )


def probe_name(probe: str) -> str:
    """Return the name of a probe for sentences.

    >>> probe_name("suites/hiring/test_hiring.py::test_rated_application")
    'rated application'
    """
    return probe.rpartition("::")[2].removeprefix("test_").replace("_", " ")


def failed_requests(run: RunResult) -> str:
    """Return ``12 of 1,240 requests failed (429: 9, timeout: 3)``; nothing where none did."""
    requests = sum(line.requests for line in run.calls)
    errors: dict[str, int] = {}
    for line in run.calls:
        for kind, count in line.errors.items():
            errors[kind] = errors.get(kind, 0) + count
    kinds = ", ".join(f"{kind}: {count:,}" for kind, count in sorted(errors.items(), key=lambda pair: -pair[1]))
    return f"{sum(errors.values()):,} of {requests:,} requests failed ({kinds})" if errors else ""


def promise(rows: Sequence[ThresholdResult]) -> str:
    """Return the error rates of the verdicts; nothing without verdicts."""
    rows = [row for row in rows if row.verdict != NOT_JUDGED and row.estimate.value is not None]
    if not rows:
        return ""
    share = max((row.risk for row in rows if row.risk), default=0.025)
    return f"each threshold: wrongly fair in at most {share:.1%} of runs, wrongly unfair in at most {share:.1%}"


def override_note(row: ThresholdResult) -> str:
    """Return the overrides of a threshold in pyproject.toml; empty without any.

    >>> from pytest_fairness.core.threshold_results import LooksResult, OverrideResult, ThresholdResult
    >>> override_note(ThresholdResult(id="t", own={"bounds": OverrideResult(set=[0.7, 1.4], instead_of=[0.8, 1.2])}))
    'overridden in pyproject.toml: bounds 0.7 to 1.4 (suite: 0.8 to 1.2)'
    >>> override_note(ThresholdResult(id="t", own={"slices": OverrideResult(set=[], instead_of=["language"])}))
    'overridden in pyproject.toml: slices none (suite: language)'
    """
    overrides = row.own
    parts = []
    if bounds := overrides.get("bounds"):
        now, suite = span_text(bounds.set), span_text(bounds.instead_of)
        parts.append(f"bounds {now} (suite: {suite})")
    if own_slices := overrides.get("slices"):
        parts.append(
            f"slices {', '.join(own_slices.set) or 'none'} (suite: {', '.join(own_slices.instead_of) or 'none'})"
        )
    if "scale" in overrides:
        parts.append("the scale of marks")
    if repetitions := overrides.get("repetitions"):
        parts.append(f"{counted(repetitions.set, 'repetition')} (suite: {repetitions.instead_of:,})")
    if confidence := overrides.get("confidence"):
        parts.append(f"confidence {confidence.set:.4g} (suite: {confidence.instead_of:.4g})")
    return f"overridden in pyproject.toml: {'; '.join(parts)}" if parts else ""


def tallies(row: ThresholdResult) -> str:
    """Return how often the outcome was true in the groups that a threshold compares; empty for other metrics.

    Of an odds ratio, which says nothing about its base rates, the rates where they are not those of counts.

    >>> from pytest_fairness.core.threshold_results import EstimateResult, GroupResult, ThresholdResult
    >>> groups = {
    ...     "female": GroupResult(value=0.71, attempts=100, count=71),
    ...     "male": GroupResult(value=1.0, attempts=101, ungraded=1, count=100),
    ... }
    >>> compared = EstimateResult(groups={"female": 0.71, "male": 1.0})
    >>> tallies(ThresholdResult(id="t", estimate=compared, by_group=groups))
    '71 of 100 (71.0%) for female against 100 of 100 (100.0%) for male'
    """
    if row.estimate.count is not None:
        return format_tallies({"": (row.estimate.count, row.estimate.attempts - sum(row.estimate.ungraded.values()))})
    compared = {name: row.by_group[name] for name in row.estimate.groups if name in row.by_group}
    counts = {name: (group.count, group.graded) for name, group in compared.items() if group.count is not None}
    if len(counts) == len(compared):
        return format_tallies(counts)
    return format_rates(row.estimate.groups) if row.estimate.kind is MetricKind.ODDS_RATIO else ""


def unjudged_tallies(row: ThresholdResult) -> str:
    """Return the tallies or means of an invalid threshold, as such: they were measured, and nothing follows."""
    if row.verdict != "invalid":
        return ""
    levels = tallies(row) or format_levels(row.estimate.groups)
    return f"measured, not judged: {levels}" if levels else ""


def base_rates(row: ThresholdResult) -> str:
    """Return the tallies of an odds ratio, which stand under a fair verdict as well; empty for other metrics."""
    return tallies(row) if row.estimate.kind is MetricKind.ODDS_RATIO and row.estimate.value is not None else ""


def invalid_reason(row: ThresholdResult) -> str:
    """Return why a threshold is invalid, in short: its first cause, which stands above with its remedy; or its message.

    >>> from pytest_fairness.core.causes import CauseResult
    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> cut = CauseResult(kind="truncated", finding="cut off", count=9, of=20)
    >>> invalid_reason(ThresholdResult(id="t", verdict="invalid", message="invalid: 45% ...", causes=[cut]))
    'answers cut off (9 of 20)'
    """
    return row.causes[0].label if row.causes else row.message.removeprefix("invalid: ")


def remarks(row: ThresholdResult) -> list[str]:
    """Return remarks on how a threshold was evaluated, and on the parts of its sample."""
    return [remark for remark in (*evaluation_remarks(row), slices(row)) if remark]


def evaluation_remarks(row: ThresholdResult) -> list[str]:
    """Return remarks on how a threshold was evaluated."""
    notes = override_note(row), findings.drift(row), earlier_runs(row), excluded(row), tables(row), formats(row)
    clustering = () if row.pooled else row.clustering  # which is that of the whole sample, and did not decide
    return [remark for remark in (*notes, *clustering, *user_turns(row)) if remark]


def user_turns(row: ThresholdResult) -> list[str]:
    """Return sentences on the turns and on the words of a played user; of many pairs of groups, the pair that differs.

    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> from pytest_fairness.core.user_turns import UserTurnsResult
    >>> result = UserTurnsResult(grade="granted", by="sex", groups={"f": 2.0, "m": 1.9}, low=-0.1, high=0.3)
    >>> user_turns(ThresholdResult(id="t", verdict="fair", user_turns=[result]))
    ['the played user writes 2.0 turns for f and 1.9 for m (grade granted; difference -0.10 to 0.30, 95% CI)']
    """
    shown: dict[tuple[str, str], UserTurnsResult] = {}
    for turns in sorted(row.user_turns, key=lambda turns: not turns.differs):
        shown.setdefault((turns.grade, turns.unit), turns)
    return [turns.text for turns in shown.values()]


def excluded(row: ThresholdResult) -> str:
    """Return a sentence on the groups that a threshold leaves out; empty without any.

    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> excluded(ThresholdResult(id="t", excluded=["gender=nonbinary"]))
    'left out: gender nonbinary'
    """
    return f"left out: {', '.join(row.excluded).replace('=', ' ')}" if row.excluded else ""


def without_group(row: ThresholdResult) -> str:
    """Return a sentence on the answers that are in no group that a threshold compares; empty without any.

    >>> from pytest_fairness.core.attempts import SampleCounts
    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> without_group(ThresholdResult(id="t", without_group={"gender": 100}, sample=SampleCounts(attempts=300)))
    '100 of 300 answers are in no group of gender'
    """
    total = f" of {row.sample.attempts:,}" if row.sample else ""
    return "; ".join(f"{count:,}{total} answers are in no group of {name}" for name, count in row.without_group.items())


def without_groups(rows: Sequence[ThresholdResult]) -> list[str]:
    """Return one sentence on the answers that are in no group that some threshold compares; none without any.

    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> row, other = (ThresholdResult(id="t", without_group={name: 100}) for name in ("class", "age"))
    >>> without_groups([row, row]), without_groups([row, other])
    (['100 answers are in no group of class'], ['answers that are in no group: class 100, age 100'])
    """
    texts = list(dict.fromkeys(text for row in rows if (text := without_group(row))))
    if len(texts) <= 1:
        return texts
    counts: dict[str, None] = {}
    for row in rows:
        total = f" of {row.sample.attempts:,}" if row.sample else ""
        counts |= {f"{name} {count:,}{total}": None for name, count in row.without_group.items()}
    return [f"answers that are in no group: {', '.join(counts)}"]


def tables(row: ThresholdResult) -> str:
    """Return a sentence on the tables that a threshold computes from; empty where it computes from its sample.

    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> tables(ThresholdResult(id="t", tables=[90]))
    "computed from a table of 90 rows that its test reads, not from its probe's sample"
    """
    rows = " and ".join(f"a table of {counted(count, 'row')}" for count in row.tables)
    return f"computed from {rows} that its test reads, not from its probe's sample" if rows else ""


def title(row: ThresholdResult) -> str:
    """Return the title of a threshold, with the slices for which it does not hold.

    >>> from pytest_fairness.core.threshold_results import SliceResult, ThresholdResult
    >>> german = SliceResult(slice={"language": "de"}, state="unfair", value=0.31, low=0.161, high=0.523)
    >>> whole = SliceResult(slice={}, state="open", value=0.9, low=0.78, high=1.02)
    >>> row = ThresholdResult(id="t", threshold="All are let in alike", slices=[german], pooled=whole)
    >>> title(row)
    'All are let in alike: unfair where the language is de'
    """
    values: dict[str, list[str]] = {}
    for names in row.unfair_slices[:MOST_SLICES]:
        for name, value in names.items():
            values.setdefault(name, []).append(value)
    where = slice_text({name: " or ".join(of_name) for name, of_name in values.items()})
    more = len(row.unfair_slices) - MOST_SLICES
    return f"{row.threshold}: unfair where {where}{f' (and {more} more)' * (more > 0)}" if where else row.threshold


def slices(row: ThresholdResult) -> str:
    """Return a sentence on the declared slices of a threshold; empty without any.

    >>> from pytest_fairness.core.threshold_results import EstimateResult, SliceResult, ThresholdResult
    >>> german = SliceResult(slice={"language": "de"}, state="unfair", value=0.31, low=0.161, high=0.523)
    >>> dutch = SliceResult(slice={"language": "nl"}, state="no veto", reason="only 3 independent items")
    >>> whole = SliceResult(slice={}, state="open", value=0.9, low=0.78, high=1.02)
    >>> decided = EstimateResult(slice={"language": "de"})
    >>> slices(ThresholdResult(id="t", estimate=decided, slices=[german, dutch], pooled=whole))
    '0.900 (0.780 to 1.020) over all slices; no veto: language nl (only 3 independent items)'
    >>> slices(ThresholdResult(id="t", slices=[german, dutch]))
    'unfair slice: language de 0.310 (0.161 to 0.523); no veto: language nl (only 3 independent items)'
    """
    by_state: dict[str, list[SliceResult]] = {}
    for part in row.slices:
        by_state.setdefault(part.state, []).append(part)
    texts = [f"{numbers_of(row.pooled)} over all slices"] if row.pooled else []
    unfair = [
        part
        for part in by_state.get("unfair", [])
        if not (row.pooled and part.slice.items() <= row.estimate.slice.items())
    ]
    if unfair:
        named = ", ".join(f"{slice_name(part)} {numbers_of(part)}" for part in unfair)
        texts.append(f"unfair slice{'s' * (len(unfair) > 1)}: {named}")
    elif (
        row.verdict != "invalid"
        and not row.pooled
        and (tested := [part for part in row.slices if part.state in ("inside", "open")])
    ):
        attributes = ", ".join(dict.fromkeys(name for part in row.slices for name in part.slice))
        texts.append(f"no slice by {attributes} is unfair ({counted(len(tested), 'slice')})")
    # Where nothing was judged, no slice could have had a say.
    for state in ("unmeasured",) if row.verdict == "invalid" else ("unmeasured", "no veto"):
        if parts := by_state.get(state):
            few = len(parts) <= MOST_SLICES
            count = "" if few else f"{counted(len(parts), 'slice')}, among them "
            named = ", ".join(f"{slice_name(part)} ({part.reason})" for part in (parts if few else parts[:1]))
            texts.append(f"{state}: {count}{named}")
    return "; ".join(texts)


def slice_name(part: SliceResult) -> str:
    """Return the name of a slice: ``language de``."""
    return ", ".join(f"{name} {value}" for name, value in part.slice.items())


def numbers_of(part: Interval) -> str:
    """Return an estimate with its interval: ``0.310 (0.161 to 0.523)``."""
    value, low, high = figures(part)
    return f"{value} ({low} to {high})"


def outside(row: ThresholdResult) -> list[str]:
    r"""Return a sentence on each recorded estimate, and drift, outside the bounds of a threshold that is not unfair.

    >>> from pytest_fairness.core.acceptance_results import FailingEstimate
    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> german = FailingEstimate(
    ...     metric="ratio(hired)", title="ratio of hired", slice={"language": "de"}, verdict="unfair",
    ...     value=0.31, low=0.161, high=0.523, bounds=(0.8, 1.25),
    ... )
    >>> (sentence,) = outside(ThresholdResult(id="t", threshold="Hired alike", verdict="fair", outside=[german]))
    >>> print(*sentence.split(" where "), sep="\n")
    Hired alike: fair, but the recorded ratio of hired
    the language is de is 0.310 (0.161 to 0.523), outside 0.8 to 1.25
    """
    return [
        f"{row.threshold}: {row.verdict}, but the recorded {part.title or part.metric}"
        f"{f' where {where}' if where else ''} is {numbers_of(part)}, "
        f"{'outside' if None not in part.bounds else 'not'} {span_text(part.bounds)}"
        for part in row.outside
        for where in (slice_text(part.slice),)
    ] + ([text] if (text := findings.drifted(row)) else [])


def earlier_runs(row: ThresholdResult) -> str:
    """Return how often a threshold was judged before on its model; empty for its first run.

    >>> from pytest_fairness.core.threshold_results import EstimateResult, LooksResult, ThresholdResult
    >>> looks = LooksResult(run=3, earlier={"fair": 0, "unfair": 1, "undecided": 1})
    >>> earlier_runs(ThresholdResult(id="t", looks=looks, estimate=EstimateResult(confidence=0.99924)))
    'run 3 of this threshold on this model (before: 1 unfair, 1 undecided): evaluated at 99.92% confidence'
    """
    looks = row.looks
    if looks is None or looks.run == 1 or row.estimate.confidence is None:
        return ""
    if looks.tryout and row.verdict == "invalid":
        return ""
    if looks.tryout:
        return f"a try-out: evaluated at {format_level(row.estimate.confidence)} confidence"
    before = ", ".join(f"{count} {verdict}" for verdict, count in looks.earlier.items() if count)
    before = before or "other answers of the model to this probe"
    text = (
        f"run {looks.run} of this threshold on this model (before: {before}): "
        f"evaluated at {format_level(row.estimate.confidence)} confidence"
    )
    text += f"; bounds were {looks.other_bounds}" if looks.other_bounds else ""
    text += f"; the graders have changed: {looks.other_graders}" if looks.other_graders else ""
    return text + (f"; {UNVERSIONED}" if looks.unversioned else "")


def first_run(rows: Sequence[ThresholdResult]) -> str:
    """Return what further runs of an application without a version cost; empty after the first run, and for others.

    >>> from pytest_fairness.core.threshold_results import EstimateResult, LooksResult, ThresholdResult
    >>> from dataclasses import replace
    >>> looks = LooksResult(unversioned=True)
    >>> estimate = EstimateResult(confidence=0.955)
    >>> row = ThresholdResult(id="t", model="function:my_app.reply", looks=looks, estimate=estimate, risk=0.025)
    >>> first_run([row]).partition(", unless ")[2]
    'you name each version: reply.fairness_version = "1"'
    >>> first_run([replace(row, model="langgraph:my_app:graph")]).endswith('each version: graph.fairness_version = "1"')
    True
    """
    for row in rows:
        looks = row.looks
        if looks is None or row.estimate.confidence is None or not row.risk or not row.model:
            continue
        if looks.unversioned and looks.run == 1 and not looks.tryout:
            from pytest_fairness.stats.sequential import run_tail

            now, *later = (format_level(1 - 2 * run_tail(run, row.risk)) for run in range(1, 5))
            name = re.split(r"[.:]", re.split("[@?]", row.model)[0])[-1]
            is_service = row.model.startswith("http:")
            line = f'version = "1" in {row.model.partition(":")[2]}' if is_service else f'{name}.fairness_version = "1"'
            return (
                f"each run after a change is judged more strictly (now at {now} confidence, then at "
                f"{', '.join(later)}), unless you name each version: {line}"
            )
    return ""


def responders(rows: Sequence[ThresholdResult]) -> list[str]:
    """Return sentences on compared groups that different models have answered, of those that are not invalid for it.

    >>> from pytest_fairness.core.threshold_results import ThresholdResult
    >>> served = {"f": {"big": 80, "mini": 20}, "m": {"big": 30, "mini": 70}}
    >>> responders([ThresholdResult(id="t", threshold="Invited alike", responders=served)])
    ['Invited alike: f was answered by big (80%) and mini (20%), and m by big (30%) and mini (70%)']
    """
    titles: dict[str, list[str]] = {}
    for row in rows:
        if row.verdict != "invalid" and (text := unlike_responders(row.responders, NOTICED_SHARE)):
            titles.setdefault(text, []).append(row.threshold)
    return [f"{'; '.join(names)}: {text}" for text, names in titles.items()]


def judges(rows: Sequence[ThresholdResult]) -> list[str]:
    """Return sentences on the judges of one model's answers, their agreement, and self-judgment; each once.

    >>> from pytest_fairness.core.threshold_results import JudgeResult, ThresholdResult
    >>> agreement = {"harm": 0.81, "kind": None}
    >>> judge = JudgeResult(grade="tone", models=["x:a", "x:b"], own=["x:a"], agreement=agreement)
    >>> for sentence in judges([ThresholdResult(id="t", suite="tone", judges=[judge])]): print(sentence)
    grade tone of suite tone: judged by x:a and x:b; Krippendorff's alpha: harm 0.81, kind not defined
    grade tone of suite tone: x:a judged its own answers
    """
    sentences: dict[str, None] = {}
    for row in rows:
        for judge in row.judges:
            grade = f"grade {judge.grade} of suite {row.suite}"
            alphas = [
                f"{name} {'not defined' if alpha is None else f'{alpha:.2f}'}"
                for name, alpha in judge.agreement.items()
            ]
            agree = f"; Krippendorff's alpha: {', '.join(alphas)}" if alphas else ""
            answers = "" if judge.answers is None else f" in {counted(judge.answers, 'answer')}"
            sentences[f"{grade}: judged by {' and '.join(judge.models)}{answers}{agree}"] = None
            sentences |= {f"{grade}: {model} judged its own answers": None for model in judge.own}
            if judge.second is not None:
                pairs = "; ".join(f"{name} {one.text}" for name, one in judge.second.consistency.items())
                number = counted(judge.second.answers, "answer")
                sentences[f"{grade}: {number} graded twice, the second time in reverse order: {pairs}"] = None
    return list(sentences)


def levels(rows: Sequence[ThresholdResult]) -> list[str]:
    """Return a sentence for each probe that compares groups only, though what it measures has a level.

    A level has what a service does well or badly (`LEVEL_HARMS`), a refusal, and a judge's grade. A probe of which not
    all thresholds were judged is left out.

    >>> from pytest_fairness.core.threshold_results import EstimateResult, ThresholdResult
    >>> difference = EstimateResult(metric="difference(right)", parity=0.0)
    >>> gap = {"estimate": difference, "verdict": "fair", "probe": "a.py::test_a"}
    >>> row = ThresholdResult(id="a.py::test_alike", harm="quality of service", **gap)
    >>> levels([row])
    ['a: no threshold has a floor or ceiling, so what is equally bad for all groups passes: bound a rate or mean too']
    >>> floor = ThresholdResult(id="a.py::test_floor", **gap | {"estimate": EstimateResult(metric="rate(right)")})
    >>> levels([row, floor]) + levels([ThresholdResult(id="b", harm="allocation", **gap)])
    []
    """
    by_probe: dict[str, list[ThresholdResult]] = {}
    for row in rows:
        by_probe.setdefault(row.probe, []).append(row)
    return [
        f"{probe_name(probe)}: no threshold has a floor or ceiling, so what is equally bad for all groups passes: "
        "bound a rate or mean too"
        for probe, own in by_probe.items()
        if any(map(_has_level, own)) and all(row.estimate.metric and row.estimate.parity is not None for row in own)
    ]


def _has_level(row: ThresholdResult) -> bool:
    is_refusal = any(str(fingerprint).startswith("Refusal(") for fingerprint in row.graders.values())
    return row.harm in LEVEL_HARMS or (row.harm != ALLOCATION and (is_refusal or bool(row.judges)))


def formats(row: ThresholdResult) -> str:
    """Return a sentence on a significant effect of the answer format; empty without one."""
    effect = row.formats
    if effect is None or effect.p_value is None or effect.p_value >= FORMATS_DIFFER:
        return ""
    parts = []
    for name, group in sorted(effect.by_format.items(), key=lambda part: part[1].value or 0.0):
        value, low, high = figures(group)
        parts.append(f"{name} {value} ({low} to {high})")
    return f"the answer format changes it (p = {effect.p_value:.2g}): {', '.join(parts)}"


def tally(numbers: ExampleSideResult) -> str:
    """Return the count or the mean of an outcome: ``4 of 5 answers, 1 ungraded``.

    >>> from pytest_fairness.core.breakdown import ExampleSideResult
    >>> tally(ExampleSideResult(group="", events=4, graded=5, attempts=6, mean=0.8))
    '4 of 5 answers, 1 ungraded'
    """
    graded, attempts = numbers.graded, numbers.attempts
    answers = counted(graded, "answer")
    if numbers.events is not None:
        text = f"{numbers.events:,} of {answers}"
    else:
        text = answers if numbers.mean is None else f"mean of {answers} {numbers.mean:.3g}"
    return f"{text}, {attempts - graded:,} ungraded" if attempts > graded else text


def answer_or_error(graded: GradedAttempt) -> str:
    """Return the answer, or the reason that there is none."""
    attempt = graded.attempt
    return attempt.answer.transcript if attempt.answer else f"no answer: {attempt.error or 'not in the store'}"


def grades(graded: GradedAttempt) -> str:
    """Return the grades of an attempt: ``hired: true, tone: ungraded (refusal)``."""
    return ", ".join(f"{name}: {_grade(grade)}" for name, grade in graded.grades.items())


def _grade(grade: Grade) -> str:
    if grade.ungraded:
        return f"ungraded ({grade.ungraded})"
    return str(grade.value).lower() if isinstance(grade.value, bool) else str(grade.value)
