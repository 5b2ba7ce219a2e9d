"""The seal of a project in a run: the parts of a threshold, their differences, and thresholds that are missing."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.decisions import OPPOSITES, Verdict
from pytest_fairness.core.digests import canonical, digest
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.core.seal_results import SealResult
from pytest_fairness.core.seals import SealedProbe, SealedThreshold
from pytest_fairness.core.source_digests import held_parts, source_digest
from pytest_fairness.core.threshold_results import ExpectedThreshold
from pytest_fairness.plugin.own_tests import find_query_fixtures
from pytest_fairness.plugin.probes.identity import get_sample, visible_fixtures
from pytest_fairness.plugin.probes.marked_tests import is_threshold
from pytest_fairness.plugin.probes.markers import threshold_mark
from pytest_fairness.plugin.samples.baseline import uses_baseline
from pytest_fairness.plugin.session.session import SESSION
from pytest_fairness.report.release import not_judged

if TYPE_CHECKING:
    from pytest_fairness.core.marks import MarkScale
    from pytest_fairness.core.overrides import BoundsOverride
    from pytest_fairness.core.verdicts import Judgment
    from pytest_fairness.plugin.probes.probe import Probe
    from pytest_fairness.plugin.samples.measurement import LazyMeasured

_CODE: pytest.StashKey[str] = pytest.StashKey()
"""The digest of a threshold's code, as it was collected: a run may fill a cache of it."""
_GRADERS: pytest.StashKey[Mapping[str, str]] = pytest.StashKey()
"""The forms of the graders that a threshold's probe declares, as they were collected: grading may fill a cache."""
_LENGTH = 16
"""The characters of a digest: enough that nobody finds other content of it in a review."""
_PAIR = re.compile(r"\('([^']*)', ")
"""The name of an attribute in the slice of a condition: ``('language', 'de')``."""
UNSEALED = "it differs from the seal"


def record_code(items: Iterable[pytest.Item]) -> None:
    """Record the code of the collected thresholds and graders, before a test of the run changes what it uses."""
    forms: dict[str, Mapping[str, str]] = {}
    for item in items:
        if is_threshold(item):
            sample = get_sample(item)
            if sample is not None and sample.probe.id not in forms:
                declared = sample.probe.arguments.get("grade")
                graders = declared.items() if isinstance(declared, Mapping) else ()
                forms[sample.probe.id] = {name: _declared_form(grader) for name, grader in graders}
            item.stash[_GRADERS] = {} if sample is None else forms[sample.probe.id]
            # A fixture may give its test a function that computes what is compared; a changed model is no change.
            names = inspect.signature(item.function).parameters.keys() - {"measured", "model", "baseline"}
            fixtures, of_model = visible_fixtures(item, sorted(names)), visible_fixtures(item, ["model"])
            functions = [fixture.func for name, fixture in sorted(fixtures.items()) if name not in of_model]
            callspec = getattr(item, "callspec", None)
            parameters = [] if callspec is None else [value for value in callspec.params.values() if callable(value)]
            item.stash[_CODE] = source_digest([item.function, *functions, *parameters])


def under_seal(item: pytest.Function, judgment: Judgment, measured: LazyMeasured) -> Judgment:
    """Return the judgment of a threshold under the seal of its project, if that has one.

    One that differs from the seal is invalid: neither fair, nor undecided in a way that a flaky mark could excuse. An
    unfair verdict stays, and so does that of a try-out, which is never fair.
    """
    seal = item.config.stash[SESSION].seal
    if seal is None:
        return judgment
    threshold, probe = sealed_threshold(item, judgment), sealed_probe(item, measured)
    if judgment.dependence is None and not uses_baseline(item):  # nothing was compared
        sealed = seal.thresholds.get(threshold.id)
        threshold = threshold if sealed is None else replace(threshold, bounds=sealed.bounds)
    differences = tuple(seal.differences(threshold, probe))
    judgment = replace(judgment, seal=SealResult(digest=seal.digest, differences=differences))
    is_tryout = judgment.verdict is Verdict.UNDECIDED and measured.is_tryout
    if not differences or is_tryout or judgment.verdict in (Verdict.UNFAIR, Verdict.INVALID):
        return judgment
    reason = f"{UNSEALED}: {'; '.join(differences)}"
    if judgment.deciding is None:
        reason = "; ".join(filter(None, (reason, judgment.reason)))
    return replace(judgment, verdict=Verdict.INVALID, sensitivity=reason, reason=reason)


def is_unsealed(judgment: Judgment) -> bool:
    """Return whether a judgment is invalid only since it differs from the seal."""
    return judgment.verdict is Verdict.INVALID and judgment.sensitivity.startswith(UNSEALED)


def sealed_threshold(item: pytest.Function, judgment: Judgment) -> SealedThreshold:
    """Return the parts of a threshold, with the bounds of a judgment."""
    from pytest_fairness.plugin.judgment.evaluation import threshold_design
    from pytest_fairness.plugin.judgment.threshold_rows import threshold_title

    session, design, sample = item.config.stash[SESSION], threshold_design(item), get_sample(item)
    override = session.overrides.of(item)
    scale = override.scale or threshold_mark(item.function).scale
    return SealedThreshold(
        id=sealed_id(item),
        title=threshold_title(item),
        probe="" if sample is None else sample.probe.id,
        # those of a test with a baseline are in its code: a seal has no baseline to evaluate it on
        bounds=_format_override(override.bounds) if uses_baseline(item) else format_bounds(judgment),
        slices=tuple(sorted(design.slices)),
        excluded=tuple(sorted(f"{by}={group}" for by, groups in design.exclude.items() for group in groups)),
        scale=_format_scale(scale),
        baseline=session.settings.baseline or "" if uses_baseline(item) else "",
        code=item.stash.get(_CODE, ""),
    )


def format_bounds(judgment: Judgment) -> tuple[str, ...]:
    """Return the conditions that a threshold checks, sorted: ``ratio(hired; gender: woman/man) >= 0.8``."""
    needs = {} if judgment.dependence is None else judgment.dependence.needs
    conditions = {_format_condition(key.rpartition(" #")[0], is_needed=needed) for key, needed in needs.items()}
    overridden = {
        f"{comparison.estimate.metric} {comparison.op} {comparison.bound!r} by pyproject.toml"
        for comparison in judgment.comparisons
        if comparison.instead_of is not None
    }
    return tuple(sorted(conditions | overridden))


def _format_override(bounds: BoundsOverride | None) -> tuple[str, ...]:
    """Return the bounds of ``pyproject.toml``: ``ratio(hired; gender: woman/man): 0.8 to 1.25 by pyproject.toml``."""
    spans = {} if bounds is None else bounds.spans
    return tuple(
        sorted(f"{name or 'all'}: {low!r} to {high!r} by pyproject.toml" for name, (low, high) in spans.items())
    )


def _format_condition(name: str, *, is_needed: bool) -> str:
    """Return a condition as it must hold, given its name in an evaluation.

    >>> _format_condition("rate(hired) [('language', 'de')] >= 0.8", is_needed=False)
    "rate(hired) where language='de' < 0.8"
    """
    subject, op, bound = name.rsplit(" ", 2)
    if not is_needed:
        subject, op = (f"not {subject}", op) if subject.startswith("mark of") else (subject, OPPOSITES[op])
    metric, _, slices = subject.rpartition(" [")
    where = _PAIR.sub(r"\1=", slices.removesuffix("]")).replace("), ", ", ").removesuffix(")")
    return f"{metric}{' where ' * bool(where)}{where} {op} {bound}"


def _format_scale(scale: MarkScale | None) -> str:
    """Return the ranges of a scale: ``A 0.9 to 1.11, B 0.8 to 1.25``; empty without one."""
    ranges = {} if scale is None else {mark: getattr(scale, mark) for mark in "ABC"}
    return ", ".join(
        f"{mark} {' or '.join(f'{low:.15g} to {high:.15g}' for low, high in spans)}" for mark, spans in ranges.items()
    )


def sealed_id(item: pytest.Item) -> str:
    """Return the id of a threshold in a seal: that of its test, with its parameters that are no model."""
    base = f"{item.nodeid.removesuffix(item.name)}{getattr(item, 'originalname', None) or item.name}"
    callspec: Any = getattr(item, "callspec", None)
    if callspec is None:
        return base
    hidden = {"model_name", "model", "measured", *find_query_fixtures(item)}
    parameters = [
        f"{name}={value if isinstance(value, str | int | float | None) else callspec.indices[name]}"
        for name, value in sorted(callspec.params.items())
        if name not in hidden
    ]
    return f"{base}[{', '.join(parameters)}]" if parameters else base


def sealed_probe(item: pytest.Item, measured: LazyMeasured) -> SealedProbe:
    """Return the parts of a threshold's probe."""
    probe = measured.probe
    look = measured.look
    sizes = [
        f"{counted(size.items, 'item')}, {counted(size.repetitions, 'repetition')}, {counted(size.attempts, 'attempt')}"
        for size in look.plan
    ]
    drawn = "\n".join([*(item.id for item in probe.items), "", *(item.id for item in probe.reserve)])
    arguments = probe.arguments
    return SealedProbe(
        id=probe.id,
        items=f"{counted(len(probe.designed_items), 'item')}: {probe.content_digest}",
        sample=(*sizes, f"order: {digest(drawn)[:_LENGTH]}"),
        graders=tuple(f"{name}: {text}" for name, text in sorted(_graders(item, measured).items())),
        rubrics=tuple(_rubrics(measured.graders)),
        controls=tuple(sorted(map(str, map(_format_control, probe.controls)))),
        analysis=tuple(_analysis(probe, arguments)),
    )


def _graders(item: pytest.Item, measured: LazyMeasured) -> dict[str, str]:
    """Return the class of each grader, with a digest of its fingerprint, and of code and settings of the project's."""
    prints = measured.fingerprints
    recorded: Mapping[str, str] = item.stash.get(_GRADERS, {})
    declared = dict(recorded)
    texts: dict[str, str] = {}
    for name, grader in measured.graders.items():
        form = f"{prints.get(name)} {_grader_form(grader)}{declared.pop(name, '')}"
        texts[name] = f"{type(grader).__name__} {_short(form)}"
    return texts | {name: f"declared {_short(form)}" for name, form in declared.items() if form}


def _short(text: str) -> str:
    return digest(text)[:_LENGTH]


def _declared_form(grader: object) -> str:
    """Return the project's code in a grader and in all that it holds, and the settings that no fingerprint names."""
    lines: list[str] = []
    for part in held_parts(grader):
        code = source_digest([part])
        lines.append(code)
        if code or fingerprint_of(part) is None:
            lines += _settings(part)
    return "\n".join(filter(None, lines))


def _settings(part: Any) -> Iterator[str]:
    """Yield the attributes of an object that have a text, which is the same in every process."""
    names = [member.name for member in fields(part)] if is_dataclass(part) else sorted(getattr(part, "__dict__", ()))
    for name in names:
        try:
            yield f"{name} = {canonical(getattr(part, name, None))}"
        except (TypeError, ValueError, AttributeError, RecursionError):  # code, which `held_parts` has, or a client
            continue


def _grader_form(grader: object) -> str:
    """Return the code of a grader that is not of this package, and its fields if it is a dataclass.

    Its fingerprint is what its author says of it: a seal does not rely on that alone.
    """
    code = source_digest([grader])
    try:
        return f"{code} {canonical(grader)}" if code and is_dataclass(grader) else code
    except TypeError:  # a field has no text that is the same in every process
        return code


def _rubrics(graders: Mapping[str, Any]) -> Iterator[str]:
    for name, grader in sorted(graders.items()):
        judge = getattr(grader, "judge", grader)
        for prompt, rubric in sorted(getattr(judge, "rubrics", {}).items(), key=str):
            subject = name if prompt is None else f"{name} of {prompt}"
            yield f"{subject}: {digest(rubric.fingerprint)[:_LENGTH]}"


def _format_control(control: Any) -> str:
    least = "" if control.at_least is None else f", at least {control.at_least!r}"
    equals = "" if control.equals is None else f", equals {control.equals!r}"
    also = f", also {' '.join(control.also)}" if control.also else ""
    return f"{control.grade}: {control.by} {control.of} over {control.to}{equals}{least}{also}"


def _analysis(probe: Probe, arguments: Mapping[str, Any]) -> Iterator[str]:
    yield f"confidence {probe.confidence!r}"
    for name in ("sources", "crossed"):
        if arguments.get(name) is not None:
            yield f"{name} {arguments[name]}"
    if probe.labels:
        yield f"labels {digest(repr([sorted(label.items()) for label in probe.labels]))[:_LENGTH]}"


def explain_missing(config: pytest.Config, thresholds: Sequence[pytest.Item], skipped: Collection[str]) -> str:
    """Return the reason why a run cannot be fair, as a sealed threshold is gone; empty where none is.

    Args:
        config: The configuration of pytest.
        thresholds: All collected thresholds, selected or not.
        skipped: The files that were skipped: their thresholds are not judged.
    """
    files = {item.nodeid.partition("::")[0] for item in thresholds}
    for sealed in _uncollected(config, thresholds):
        file = sealed.id.partition("::")[0]
        if file not in skipped and _is_covered(config, file, files):
            return f"{sealed.where}: {sealed.id} is sealed, and {file} does not have it: seal again, or restore it"
    return ""


def uncollected_rows(config: pytest.Config, thresholds: Sequence[pytest.Item]) -> dict[str, ExpectedThreshold]:
    """Return a row for each sealed threshold in a file that this run does not name: it is not judged."""
    reason = not_judged("sealed, in a file that was not run", "not run")
    return {
        sealed.id: ExpectedThreshold(
            id=sealed.id,
            probe=sealed.probe,
            suite=PurePosixPath(sealed.id.partition("::")[0]).parent.name,
            threshold=sealed.title,
            location=(sealed.id.partition("::")[0], 1),
        ).unjudged(reason)
        for sealed in _uncollected(config, thresholds)
    }


def _uncollected(config: pytest.Config, thresholds: Iterable[pytest.Item]) -> list[SealedThreshold]:
    seal = config.stash[SESSION].seal
    if seal is None:
        return []
    ids = set(map(sealed_id, thresholds))
    return [sealed for name, sealed in seal.thresholds.items() if name not in ids]


def _is_covered(config: pytest.Config, file: str, files: Iterable[str]) -> bool:
    """Return whether the tests that a run names include a whole file, which may be gone."""
    if file in files:
        return True
    path = (config.rootpath / file).resolve()
    folders = (Path(config.invocation_params.dir, arg.partition("::")[0]).resolve() for arg in config.args)
    return any(path.is_relative_to(folder) for folder in folders)
