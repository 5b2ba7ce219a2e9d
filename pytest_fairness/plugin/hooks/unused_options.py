"""Options that the selected tests do not use, which are reported."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import pytest

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.model_names import server_note
from pytest_fairness.plugin.config.profiles import SMOKE, smallest_sample
from pytest_fairness.plugin.config.project_settings import refuse_misspelled_data
from pytest_fairness.plugin.config.settings import Settings
from pytest_fairness.plugin.probes.identity import get_sample
from pytest_fairness.plugin.probes.marked_tests import is_marked, is_threshold, selected_probes, uses_model_name
from pytest_fairness.plugin.probes.probe import Probe
from pytest_fairness.plugin.session.session import FairnessSession

_MOST_NAMES = 3
"""The most probes that a line names."""


def check_options(fairness: FairnessSession, items: Sequence[pytest.Item]) -> list[str]:
    """Return a line for each option of the command line that some of the selected tests do not use.

    Raises:
        FairnessError: No item has an attribute of ``--fairness-where``, no test uses ``--fairness-model``, or the name
            of a data folder is misspelled.
    """
    probes = selected_probes(items)
    _refuse_unknown_attributes(fairness.settings.where, probes)
    refuse_misspelled_data(fairness.settings.project, fairness.settings.root)
    lines = [*_notes_on_models(fairness), *_unused_options(fairness.settings, items, probes)]
    return [*lines, *_small_samples(fairness.settings, items)]


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
    for name in settings.where:
        unfiltered = [probe.function.__name__ for probe in probes if not probe.error and name not in probe.attributes]
        if unfiltered:
            yield f"--fairness-where {name}: no item of {', '.join(unfiltered)} has it, so all of them are measured"
    if "model" in settings.given:
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
    thresholds = [item for item in items if is_threshold(item)]
    if (
        settings.baseline
        and thresholds
        and not any("baseline" in getattr(item, "fixturenames", ()) for item in thresholds)
    ):
        yield "--fairness-baseline: no selected threshold takes the fixture `baseline`, so nothing is compared with it"
    for probe in probes:
        if probe.answered_for:
            yield f"--fairness-propensity: {probe.function.__name__} is asked for answers: {probe.answered_for}"
