"""Options that the selected tests do not use, which are reported."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.model_names import server_note
from pytest_fairness.plugin.config.options import OPTIONS
from pytest_fairness.plugin.config.profiles import SMOKE, smallest_sample
from pytest_fairness.plugin.config.settings import Settings
from pytest_fairness.plugin.probes.identity import get_sample
from pytest_fairness.plugin.probes.marked_tests import is_marked, is_threshold, selected_probes, uses_model_name
from pytest_fairness.plugin.probes.probe import Probe
from pytest_fairness.plugin.probes.query_fixtures import asks_models
from pytest_fairness.plugin.samples.judges import judge_models, may_use_judge_fixture
from pytest_fairness.plugin.session.session import FairnessSession

_MOST_NAMES = 3
"""The most probes that a line names."""
_SEEDED = ("sample", "plan", "certify")
"""Options whose draws use the seed."""


def check_options(fairness: FairnessSession, items: Sequence[pytest.Item]) -> list[str]:
    """Return a line for each option of the command line that some of the selected tests do not use.

    Raises:
        FairnessError: No item has an attribute of ``--fairness-where``, or no test uses ``--fairness-model``.
    """
    probes = selected_probes(items)
    _refuse_unknown_attributes(fairness.settings.where, probes)
    lines = [*_notes_on_models(fairness), *_unused_options(fairness.settings, items, probes)]
    lines += _unused_prices(fairness, probes)
    return [*lines, *_unused_adjustment(fairness, probes), *_small_samples(fairness.settings, items)]


def _notes_on_models(fairness: FairnessSession) -> Iterator[str]:
    """Yield a line on each option that names a model a second time, and on each server that a name names."""
    options: dict[str, str] = {}
    for text in fairness.settings.models:
        model = fairness.models.resolve(text).name
        option = f"--fairness-model={model if ':' in text else text}"  # the full name has no password
        if (first := options.setdefault(model, option)) != option:
            yield f"{option} is the same model as {first}: it is measured once"
    yield from dict.fromkeys(server_note(model, address) for model, address in fairness.models.servers.items())


def _small_samples(settings: Settings, items: Sequence[pytest.Item]) -> Iterator[str]:
    """Yield a line on the probes of whose samples an option leaves too little for any verdict on a threshold."""
    if not (settings.sample or settings.where or settings.profile == SMOKE) or settings.resolve:
        return
    from pytest_fairness.plugin.samples.sequential_looks import count_clusters
    from pytest_fairness.stats.validity import FEWEST_SOURCES

    thresholds = Counter(sample.probe for item in items if is_threshold(item) and (sample := get_sample(item)))
    small = {
        probe: clusters
        for probe in thresholds
        if (probe.reserve or probe.chosen) and (clusters := count_clusters(probe)) < FEWEST_SOURCES
    }
    if not small:
        return
    options = shlex.join(
        dict.fromkeys(
            option
            for probe in small
            for option in (
                *([settings.sampling] if probe.reserve else []),
                *(f"--fairness-where={value}" for value in probe.chosen),
            )
        )
    )
    probe = next(iter(small))
    names = ", ".join(other.function.__name__ for other in list(small)[:_MOST_NAMES])
    more = f" and {len(small) - _MOST_NAMES} more" if len(small) > _MOST_NAMES else ""
    judged = sum(thresholds[other] for other in small)
    declared, _ = probe.declared
    yield (
        f"{options}: {counted(judged, 'threshold')} of {names}{more} cannot be judged: an interval needs at least "
        f"{FEWEST_SOURCES} independent items or sources, and {'there is' if small[probe] == 1 else 'there are'} "
        f"{small[probe]}; {probe.function.__name__} can be fair from {smallest_sample(declared):,} of "
        f"{counted(declared, 'item')} on"
    )


def refuse_unknown_tests(fairness: FairnessSession, items: Sequence[pytest.Item]) -> None:
    """Check that every test of ``--fairness-test`` was collected.

    Raises:
        FairnessError: A test was not collected.
    """
    if not fairness.settings.tests:
        return
    collected = {item.nodeid for item in items}
    for test in fairness.settings.tests:
        if test not in collected:
            raise FairnessError(
                f"--fairness-test: no test {test!r} was collected: give the other arguments of the run as well"
            )


def _refuse_unknown_attributes(where: Mapping[str, Sequence[str]], probes: Sequence[Probe]) -> None:
    attributes = {name for probe in probes for name in probe.attributes}
    for name in where:
        if probes and name not in attributes and not any(probe.error for probe in probes):
            if any(name in prompt.groups for probe in probes for item in probe.items for prompt in item.prompts):
                raise FairnessError(
                    f"--fairness-where: {name!r} is a group of prompts, and an item is measured with all its groups: "
                    f"name an attribute of items; known: {', '.join(sorted(attributes)) or 'none'}"
                )
            raise FairnessError(
                f"--fairness-where: no item of the selected probes has an attribute {name!r}; "
                f"{did_you_mean(name, attributes)}"
            )


def _unused_options(settings: Settings, items: Sequence[pytest.Item], probes: Sequence[Probe]) -> Iterator[str]:
    given = settings.given
    for name in settings.where:
        unfiltered = [probe.function.__name__ for probe in probes if not probe.error and name not in probe.attributes]
        if unfiltered:
            yield f"--fairness-where {name}: no item of {', '.join(unfiltered)} has it, so all of them are measured"
    has_tests = any(is_marked(item) or asks_models(item) for item in items)
    unused = [option.flag_text for option in OPTIONS if option.needs_probe and option.name in given]
    if unused and not has_tests:
        yield f"{', '.join(unused)}: not used, no probe and no threshold is selected"
    if "model" in given:
        # The tests of one function in one module or class take the same fixtures.
        tests = {(item.parent, item.function): item for item in items if is_marked(item)}
        overriding = selected_probes(test for test in tests.values() if not uses_model_name(test))
        if functions := ", ".join(probe.function.__name__ for probe in overriding):
            if not any(map(uses_model_name, tests.values())):  # the verdicts would be on another model than named
                raise FairnessError(
                    f"--fairness-model is {', '.join(settings.models)}, and {functions} would test another model, that "
                    "of a `model` fixture without `model_name`: leave out the option, or write "
                    "`def model(model_name)` to make that of its name"
                )
            yield f"--fairness-model: not used by {functions}, whose `model` fixture takes no `model_name`"
    if has_tests and "baseline" in given and "baseline" not in _fixtures(items):
        yield "--fairness-baseline: not used, no selected threshold takes the fixture `baseline`"
    if (
        has_tests
        and "judge" in given
        and "judge" not in _fixtures(items)
        and not any(map(asks_models, items))
        and not any(map(may_use_judge_fixture, probes))
    ):
        yield "--fairness-judge: not used, no grader of the selected probes asks the `judge` fixture"
    for probe in probes:
        if probe.answered_for:
            yield f"--fairness-propensity: {probe.function.__name__} is asked for answers: {probe.answered_for}"
    if "seed" in given and not any(getattr(settings, name) for name in _SEEDED):
        yield "--fairness-seed: not used, nothing is drawn without --fairness-sample"


def _fixtures(items: Sequence[pytest.Item]) -> set[str]:
    return {name for item in items for name in getattr(item, "fixturenames", ())}


def _unused_adjustment(fairness: FairnessSession, probes: Sequence[Probe]) -> Iterator[str]:
    """Yield a line for each earlier run, or model of it, that adjusts no sample."""
    if not fairness.settings.adjust:
        return
    from pytest_fairness.plugin.samples.earlier_answers import load_earlier_answers

    for probe in probes:
        if not probe.reserve:
            if not probe.error:
                yield f"--fairness-adjust: not used, {probe.function.__name__} is measured whole"
            continue
        for reason in load_earlier_answers(fairness.store.runs, fairness.settings.adjust, probe, None).unused:
            yield f"--fairness-adjust: not used for {probe.function.__name__}: {reason}"


def _unused_prices(fairness: FairnessSession, probes: Sequence[Probe]) -> Iterator[str]:
    """Yield a line for each price of the command line for a model that the run does not name."""
    settings = fairness.settings
    if "price" not in settings.given or not probes:
        return
    judges = [model for probe in probes for model in judge_models(probe)]
    named = [*settings.models, *([settings.judge] if settings.judge else []), *judges]
    used = {(fairness.models.resolve(model) if isinstance(model, str) else model).name for model in named}
    for name in filter(None, settings.prices):
        if fairness.models.resolve(name).name not in used:
            yield f"--fairness-price {name}: not used, the run names no such model; {did_you_mean(name, used)}"


def _unused_folders(settings: Settings) -> Iterator[str]:
    """Yield a line for each ``--fairness-data`` of the command line that no suite has requested."""
    looked_up = settings.data.looked_up
    for suite in settings.data if "data" in settings.given else ():
        if suite not in looked_up:
            yield f"--fairness-data {suite}: not used, no suite has looked for it; {did_you_mean(suite, looked_up)}"


class UnusedFolders:
    """Hooks that report, at the end of a run, the data folders that no process has requested."""

    def __init__(self, config: pytest.Config, fairness: FairnessSession) -> None:
        self._config = config
        self._fairness = fairness

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the folders that a worker has requested."""
        self._fairness.settings.data.looked_up.update(getattr(node, "workeroutput", {}).get("fairness_data", ()))

    def pytest_sessionfinish(self) -> None:
        """Report the folders that this worker has requested."""
        output = getattr(self._config, "workeroutput", {})
        output["fairness_data"] = sorted(self._fairness.settings.data.looked_up)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write a line for each folder."""
        for line in _unused_folders(self._fairness.settings):
            terminalreporter.write_line(f"fairness: {line}", yellow=True)
