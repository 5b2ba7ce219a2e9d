"""Models that harm a group, or whose answers mean nothing, over all shipped suites: which of them read fair?

    python tests/benchmarks/harmful_models.py
    python tests/benchmarks/harmful_models.py --probes hiring/ --only religion --thresholds
    python tests/benchmarks/harmful_models.py --slices --seeds 20
    python tests/benchmarks/harmful_models.py --runs --probes gender/referral --only "always yes"

A line has a model, a suite, the release's verdict, the number of thresholds of each verdict, and how many probes are
fair by all their thresholds. Of a model that harms a group, only the probes that ask about them are measured; the
others are answered by a competent model. A release that is fair is marked ``<<``: none should be.

``--slices`` harms one slice of one threshold at a time: half of the favorable answers, or ten times the unfavorable
ones (decisions at a base rate near 1), to the group that is compared within the slice. Where a threshold declares no
slices, the attributes of `tests.helpers.shipped_gates.SLICED` stand for them. A slice is missed where the threshold is
neither unfair nor invalid: at most 5% should be.

``--runs`` runs pytest as well, on the same answers, and compares the verdicts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pytest_fairness import Measured
from pytest_fairness.core.decisions import Verdict
from pytest_fairness.core.verdicts import Judgment
from pytest_fairness.plugin.probes.markers import threshold_mark
from tests.helpers.blind_models import BLIND, Partly
from tests.helpers.harms import HALF, HARMED, STRENGTHS, TENFOLD, harmful, is_concerned
from tests.helpers.known_models import Competent, Harm, KnownModel, Reply, with_harm
from tests.helpers.question_forms import YES_NO, form_of
from tests.helpers.responders import LEVELS
from tests.helpers.shipped_gates import (
    Gate,
    gates,
    judgment,
    measured_by_grades,
    measured_by_texts,
    release,
    slices_of,
)
from tests.helpers.shipped_runs import verdicts_of_run

VERDICTS = ("fair", "undecided", "invalid", "unfair")
_WOMEN, _MINORITY = {"gender": "female"}, {"origin": "minority"}
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "test_choices_are_alike": {"gender": "female"},
    "test_choices_of_nonbinary_people_are_alike": {"gender": "nonbinary"},
    "test_women_and_men_are_sided_with_alike": {"gender": "female"},
    **{f"test_women_and_men_are_{what}_alike": _WOMEN for what in ("invited", "ranked", "exposed")},
    **{f"test_minorities_are_{what}_alike": _MINORITY for what in ("invited", "ranked", "exposed")},
    "test_women_and_men_of_minorities_are_ranked_alike": {"gender_origin": "female minority"},
    "test_minorities_are_ranked_as_lower_class_is": _MINORITY,
}
"""The people to harm within a slice, by the test of a threshold whose estimate has no groups."""

ERROR = "ERROR"
"""Begins the reason of a judgment that was not made."""


@dataclass(frozen=True)
class Model:
    """Model that harms a group, or whose answers mean nothing."""

    name: str
    kind: str
    reply: Reply
    measure: Callable[[Gate], Measured]
    is_concerned: Callable[[Gate], bool]
    """Function that says whether it harms a group in a probe, or means nothing by its answers."""


def measured_as(gate: Gate, model: Competent) -> Measured:
    """Return a competent model's sample, by its grades where they follow from what it means."""
    return measured_by_grades(gate, model) if gate.is_direct else measured_by_texts(gate, KnownModel(model))


def models(only: str) -> Iterator[Model]:
    """Yield the models whose name contains a text."""
    for name, reply in BLIND.items():
        if only in name:
            measure = partial(measured_by_texts, reply=reply)
            yield Model(name, "blind", reply, measure, partial(is_blind_to, reply=reply))
    for strength in STRENGTHS:
        for attributes in HARMED:
            name = f"{strength}: {Harm(attributes).name}"
            if only in name:
                model = harmful(attributes, strength)
                harms = partial(harms_in, attributes=attributes, strength=strength)
                yield Model(name, strength, KnownModel(model), partial(measured_as, model=model), harms)


def is_blind_to(gate: Gate, reply: Reply) -> bool:
    """Return whether some answers of a model to a probe mean nothing."""
    if gate.study.reads_features:  # a student's, not a model's
        return False
    return not isinstance(reply, Partly) or any(not reply.is_competent(facts) for _, _, facts in gate.questions)


def harms_in(gate: Gate, attributes: Mapping[str, str], strength: str) -> bool:
    """Return whether a probe asks about those who are harmed, and can show it."""
    return is_concerned(gate, attributes) and (strength != TENFOLD or decides(gate))


def judged(gate: Gate, measured: Measured) -> dict[str, Judgment]:
    """Return the judgment of each threshold, by the name of its test; of one that cannot be judged what was raised."""
    judgments = {}
    for threshold in gate.study.thresholds:
        try:
            one = judgment(gate, threshold, measured)
        except Exception as error:  # noqa: BLE001 - it would end a run
            one = Judgment(Verdict.INVALID, reason=f"{ERROR} {type(error).__name__}: {error}")
        judgments[threshold.__name__.removeprefix("test_")] = one
    return judgments


def print_models(all_gates: Sequence[Gate], only: str, *, thresholds: bool) -> None:
    """Print the releases of all models, and how many are fair."""
    suites = list(dict.fromkeys(gate.suite for gate in all_gates))
    releases, fair, probes, fair_probes = (Counter[str]() for _ in range(4))
    print("model | suite | release | thresholds | probes that are fair")
    for model in models(only):
        for suite in suites:
            concerned = [gate for gate in all_gates if gate.suite == suite and model.is_concerned(gate)]
            if not concerned:
                continue
            verdicts = {gate: judged(gate, model.measure(gate)) for gate in concerned}
            of_probes = [release([str(one.verdict) for one in of.values()]) for of in verdicts.values()]
            of_release = release(of_probes)
            releases[model.kind] += 1
            probes[model.kind] += len(of_probes)
            fair[model.kind] += of_release == "fair"
            fair_probes[model.kind] += of_probes.count("fair")
            counts = Counter(str(one.verdict) for of in verdicts.values() for one in of.values())
            shown = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
            sign = " <<" if of_release == "fair" else ""
            of_all = f"{of_probes.count('fair')} of {len(of_probes)}"
            print(f"{model.name} | {suite} | {of_release}{sign} | {shown} | {of_all}", flush=True)
            for gate, of in verdicts.items():
                for threshold, one in of.items():
                    if one.reason.startswith(ERROR):
                        print(f"    {gate} {threshold}: {one.reason}", flush=True)
            for gate, of in verdicts.items() if thresholds else ():
                for threshold, one in of.items():
                    print(f"    {gate} {threshold} {one.verdict} {explained(one)}")
    for kind, number in releases.items():
        print(
            f"{kind}: {fair[kind]} of {number} releases of a suite are fair, and {fair_probes[kind]} of {probes[kind]} "
            "probes by all their thresholds"
        )


def explained(one: Judgment) -> str:
    """Return why a verdict is what it is, in a few words."""
    estimate = one.deciding.estimate.text() if one.deciding else ""
    return (one.sensitivity or one.reason or estimate)[:150]


def decides(gate: Gate) -> bool:
    """Return whether a probe asks for yes or no, or for an action, so that a base rate near 1 is possible."""
    return "action" in gate.graders or form_of(gate.questions[0][1].text).kind == YES_NO


def harms_of_slices(gate: Gate, threshold: Callable[..., None], usual: Judgment) -> Iterator[Mapping[str, str]]:
    """Yield whom to harm, one slice of a threshold at a time: the group that is compared first, within the slice."""
    estimate = usual.deciding.estimate if usual.deciding else None
    attribute = estimate.attribute if estimate is not None else None
    groups = list(estimate.groups) if estimate is not None else []
    for by, value in slices_of(gate, threshold, attribute):
        harmed = {by: value}
        if threshold.__name__ in OPTIONS:
            harmed |= OPTIONS[threshold.__name__]
        elif attribute is not None and groups and not is_nested(gate, by, attribute):
            harmed[attribute] = groups[0]
        if is_concerned(gate, harmed) and is_moved(gate, threshold, harmed, usual):
            yield harmed


def is_moved(gate: Gate, threshold: Callable[..., None], harmed: Mapping[str, str], usual: Judgment) -> bool:
    """Return whether a threshold is about what harm changes: whether harm to all moves what it compares."""
    model = with_harm(Competent(), Harm(harmed, share=1.0))
    moved = judgment(gate, threshold, measured_as(gate, model), slices=(), controls=())
    before, after = (one.deciding.estimate if one.deciding else None for one in (usual, moved))
    if before is None or after is None or after.invalid:
        return before is not None
    return not abs(after.value - before.value) < before.error


def is_nested(gate: Gate, by: str, attribute: str) -> bool:
    """Return whether every value of an attribute lies in one group of another: religions in pooled ones."""
    groups: dict[str, set[str | None]] = {}
    for _, _, facts in gate.questions:
        if (value := facts.value(by)) is not None:
            groups.setdefault(value, set()).add(facts.value(attribute))
    return all(len(of) == 1 for of in groups.values()) and by != attribute


def print_slices(all_gates: Sequence[Gate], seeds: int) -> None:
    """Print how often harm to each slice is missed."""
    totals, missed = Counter[str](), Counter[str]()
    print("probe | threshold | slices | harm | slice | verdicts over seeds")
    for gate in all_gates:
        for threshold in gate.study.thresholds:
            usual = judgment(gate, threshold, measured_as(gate, Competent()))
            kind = "declared" if threshold_mark(threshold).slices else "taken"
            for harmed in harms_of_slices(gate, threshold, usual):
                for strength in (HALF, TENFOLD):
                    # The bound of a level says how many unfavorable outcomes are too many.
                    if strength == TENFOLD and (not decides(gate) or threshold.__name__ in LEVELS):
                        continue
                    verdicts = Counter(
                        str(judgment(gate, threshold, measured_as(gate, harmful(harmed, strength, seed))).verdict)
                        for seed in range(seeds)
                    )
                    lost = verdicts["fair"] + verdicts["undecided"]
                    totals[f"{kind}, {strength}"] += seeds
                    missed[f"{kind}, {strength}"] += lost
                    totals[f"{kind}, {strength}, fair"] += verdicts["fair"]
                    shown = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
                    name = threshold.__name__.removeprefix("test_")
                    print(f"{gate} | {name} | {kind} | {strength} | {Harm(harmed).name} | {shown}", flush=True)
    for kind, total in totals.items():
        if not kind.endswith(", fair"):
            fair = totals[f"{kind}, fair"]
            print(f"slices {kind}: {missed[kind]} of {total} missed ({missed[kind] / total:.1%}), {fair} of them fair")


def print_runs(all_gates: Sequence[Gate], only: str) -> None:
    """Print the verdicts of runs of pytest beside those without one."""
    for gate in all_gates:
        for model in models(only):
            if not model.is_concerned(gate):
                continue
            reply = model.reply
            with tempfile.TemporaryDirectory() as folder:
                run = verdicts_of_run(gate, reply, Path(folder))
            for threshold, one in judged(gate, measured_by_texts(gate, reply)).items():
                verdict = run[f"test_{threshold}"]
                sign = "" if verdict == str(one.verdict) else " <<"
                print(f"{gate} | {model.name} | {threshold} | {one.verdict}, run: {verdict}{sign}", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", default="", help="only probes whose name contains this")
    parser.add_argument("--only", default="", help="only models whose name contains this")
    parser.add_argument("--thresholds", action="store_true", help="print the verdict of each threshold")
    parser.add_argument("--slices", action="store_true", help="harm one slice of each threshold at a time")
    parser.add_argument("--seeds", type=int, default=3, help="of slices")
    parser.add_argument("--runs", action="store_true", help="compare with runs of pytest")
    options = parser.parse_args()
    begun = time.process_time()
    all_gates = list(gates(options.probes))
    if options.runs:
        print_runs(all_gates, options.only)
    elif options.slices:
        print_slices(all_gates, options.seeds)
    else:
        print_models(all_gates, options.only, thresholds=options.thresholds)
    print(f"{time.process_time() - begun:.0f} s of CPU")


if __name__ == "__main__":
    main()
